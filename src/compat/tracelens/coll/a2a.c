/* a2a.c - all-to-all-v: each rank sends what it likes to each, so that sizes are summed up, and waits are
 * not. */
#include "a2a.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static double gb_per_s(double mb, double us)
{
    return us > 0 ? mb / 1024 / (us / 1e6) : NAN;
}

static tl_coll_exchange measure(const tl_colls *colls, size_t collective)
{
    size_t n = tl_coll_nrows(colls, collective);
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    tl_coll_exchange x = { .collective = collective,
                           .row = row,
                           .most = NAN,
                           .least = NAN,
                           .max_dur = row->dur,
                           .min_dur = row->dur,
                           .first_start = row->ts,
                           .last_end = row->ts + row->dur };
    double last_start = row->ts, first_end = row->ts + row->dur, largest = NAN, durs = 0;

    for (size_t k = 0; k < n; k++) {
        const tl_coll_row *r = tl_coll_nth(colls, collective, k);
        double mb = tl_coll_in_mb(colls, r), rate = mb > 0 ? gb_per_s(mb, r->dur) : NAN;
        x.mb += mb;
        x.nelems += r->in_nelems != TL_COLL_NO_NUMBER ? (double)r->in_nelems : NAN;
        largest = fmax(largest, mb); /* of a number and NaN, the number */
        x.most = fmax(x.most, rate);
        x.least = fmin(x.least, rate);
        x.max_dur = fmax(x.max_dur, r->dur);
        x.min_dur = fmin(x.min_dur, r->dur);
        durs += r->dur;
        x.first_start = fmin(x.first_start, r->ts);
        last_start = fmax(last_start, r->ts);
        first_end = fmin(first_end, r->ts + r->dur);
        x.last_end = fmax(x.last_end, r->ts + r->dur);
    }
    x.wall = x.last_end - x.first_start;
    x.throughput = gb_per_s(x.mb, x.wall);
    x.imbalance = x.mb > 0 ? largest / (x.mb / (double)n) : NAN;
    x.mean_dur = durs / (double)n;
    x.start_skew = last_start - x.first_start;
    x.end_skew = x.last_end - first_end;
    return x;
}

/* What is unknown stands after. */
static int most_first(const void *a, const void *b)
{
    const tl_coll_exchange *x = a, *y = b;
    if (isnan(x->mb) != isnan(y->mb))
        return isnan(x->mb) ? 1 : -1;
    return x->mb != y->mb && !isnan(x->mb) ? TL_COMPARE(y->mb, x->mb) : TL_COMPARE(x->collective, y->collective);
}

static bool collect(tl_coll_exchanges *s)
{
    const tl_colls *colls = s->colls;

    for (size_t c = 0; c < colls->ncollectives; c++) {
        if (!tl_text_is(tl_names_text(&colls->texts, tl_coll_nth(colls, c, 0)->name), "all_to_allv"))
            continue;
        if (!tl_vec_room(&s->v))
            return false;
        s->v.v[s->v.n++] = measure(colls, c);
        if (!tl_coll_ranks_add(&s->ranks, colls, c))
            return false;
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    if (s->v.n == 0)
        return true;
    qsort(s->v.v, s->v.n, sizeof *s->v.v, most_first);
    tl_coll_ranks_distinct(&s->ranks);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ a row each */

static void put_rank(tl_sheet *sheet, const tl_colls *colls, const tl_coll_row *row)
{
    bool there = row != NULL;
    tl_sheet_number(sheet, there ? row->ts : NAN, there && colls->whole_ts);
    tl_sheet_number(sheet, there ? row->dur : NAN, there && colls->whole_dur);
    tl_coll_put_number(sheet, there ? row->in_nelems : TL_COLL_NO_NUMBER, colls->whole_in);
    tl_coll_put_number(sheet, there ? row->out_nelems : TL_COLL_NO_NUMBER, colls->whole_out);
    tl_sheet_real(sheet, there ? tl_coll_in_mb(colls, row) : NAN);
    tl_sheet_real(sheet, there ? tl_coll_out_mb(colls, row) : NAN);
    tl_coll_put_text(sheet, colls, there ? row->in_split : TL_NO_NAME);
    tl_coll_put_text(sheet, colls, there ? row->out_split : TL_NO_NAME);
}

static void put_exchange(tl_sheet *sheet, const tl_coll_exchanges *s, const tl_coll_exchange *x)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = x->row;

    tl_coll_put_id(sheet, colls, row);
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->ranks);
    tl_coll_put_text(sheet, colls, row->name);
    tl_coll_put_number(sheet, row->group_size, colls->whole_group_size);
    tl_coll_put_text(sheet, colls, row->dtype);
    tl_coll_put_number(sheet, row->stream, colls->whole_stream);
    tl_sheet_real(sheet, x->mb);
    tl_sheet_number(sheet, x->nelems, colls->whole_in);
    tl_sheet_number(sheet, x->wall, s->whole_times);
    tl_sheet_number(sheet, x->max_dur, colls->whole_dur);
    tl_sheet_number(sheet, x->min_dur, colls->whole_dur);
    tl_sheet_real(sheet, x->mean_dur);
    tl_sheet_real(sheet, x->throughput);
    tl_sheet_real(sheet, x->most);
    tl_sheet_real(sheet, x->least);
    tl_sheet_real(sheet, x->imbalance);
    tl_sheet_number(sheet, x->start_skew, colls->whole_ts);
    tl_sheet_number(sheet, x->end_skew, s->whole_times);
    for (size_t i = 0, k = 0; i < s->ranks.n; i++)
        put_rank(sheet, colls, tl_coll_row_of(colls, x->collective, s->ranks.v[i], &k));
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        row = tl_coll_row_of(colls, x->collective, s->ranks.v[i], &k);
        tl_sheet_number(sheet, row != NULL ? row->ts - x->first_start : NAN, row != NULL && colls->whole_ts);
        tl_sheet_number(sheet, row != NULL ? x->last_end - (row->ts + row->dur) : NAN, row != NULL && s->whole_times);
    }
    tl_coll_put_span(sheet, colls, x->row->ranks);
    tl_sheet_end_row(sheet);
}

static void put_exchanges(tl_sheet *sheet, const tl_coll_exchanges *s)
{
    for (size_t i = 0; i < s->v.n; i++)
        put_exchange(sheet, s, &s->v.v[i]);
}

static void put_rank_words(tl_sheet *sheet, int64_t rank, const char *const *what, size_t n)
{
    char word[64];
    for (size_t i = 0; i < n; i++) {
        snprintf(word, sizeof word, "rank_%lld_%s", (long long)rank, what[i]);
        tl_sheet_words(sheet, word);
    }
}

static tl_status write_exchanges(const tl_coll_exchanges *s, const char *dir, tl_error *err)
{
    static const char *const head[] = {
        "collective_id",
        "Process Group Name",
        "Process Group Ranks",
        "Collective name",
        "Group size",
        "dtype",
        "stream",
        "total data communicated (MB)",
        "total nelems communicated",
        "wall_time (us)",
        "max_rank_dur (us)",
        "min_rank_dur (us)",
        "avg_rank_dur (us)",
        "throughput (GB/s)",
        "max_rank_throughput (GB/s)",
        "min_rank_throughput (GB/s)",
        "size_imbalance",
        "skew in start time",
        "skew in end time",
    };
    static const char *const own[] = { "ts",
                                       "dur",
                                       "In msg nelems",
                                       "Out msg nelems",
                                       "In msg size (MB)",
                                       "Out msg size (MB)",
                                       "In split size",
                                       "Out split size" };
    static const char *const skews[] = { "skew in start time", "skew in end time" };
    tl_sheet sheet;
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_all2allv.csv", NULL, err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        tl_sheet_words(&sheet, head[i]);
    for (size_t i = 0; i < s->ranks.n; i++)
        put_rank_words(&sheet, s->ranks.v[i], own, sizeof own / sizeof own[0]);
    for (size_t i = 0; i < s->ranks.n; i++)
        put_rank_words(&sheet, s->ranks.v[i], skews, 2);
    tl_coll_head_nodes(&sheet, s->colls, "node_span");
    tl_sheet_end_row(&sheet);
    tl_sheet_look(&sheet);
    put_exchanges(&sheet, s);
    tl_sheet_write(&sheet);
    put_exchanges(&sheet, s);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_coll_write_all_to_all(const tl_colls *colls, const char *dir, tl_error *err)
{
    tl_coll_exchanges s = { .colls = colls };
    tl_status st = collect(&s) ? TL_OK : tl_fail_memory(err, "collectives of all ranks");

    if (st == TL_OK && s.v.n > 0) {
        st = write_exchanges(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_exchange_sums(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_heat(colls, dir, err);
    }
    free(s.v.v);
    free(s.ranks.v);
    return st;
}
