/* tracelens_a2a.c - all-to-all-v: each rank sends what it likes to each, so that sizes are summed up, and waits are
 * not. */
#include "python.h"
#include "tracelens_coll.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* One collective.  Times in us, NaN where unknown. */
typedef struct exchange {
    size_t collective;
    const tl_coll_row *row; /* the first rank's */
    double mb, nelems, wall, throughput, most, least, imbalance;
    double max_dur, min_dur, mean_dur;
    double first_start, last_end, start_skew, end_skew;
} exchange;

typedef struct exchanging {
    const tl_colls *colls;
    TL_VEC(exchange) v;    /* most data first */
    TL_VEC(int64_t) ranks; /* that take part, ascending */
    bool whole_times;
} exchanging;

static double gb_per_s(double mb, double us)
{
    return us > 0 ? mb / 1024 / (us / 1e6) : NAN;
}

static exchange measure(const tl_colls *colls, size_t collective)
{
    size_t n = tl_coll_nrows(colls, collective);
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    exchange x = { .collective = collective,
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

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

/* What is unknown stands behind. */
static int most_first(const void *a, const void *b)
{
    const exchange *x = a, *y = b;
    if (isnan(x->mb) != isnan(y->mb))
        return isnan(x->mb) ? 1 : -1;
    return x->mb != y->mb && !isnan(x->mb) ? TL_COMPARE(y->mb, x->mb) : TL_COMPARE(x->collective, y->collective);
}

static bool collect(exchanging *s)
{
    const tl_colls *colls = s->colls;
    size_t n = 0;

    for (size_t c = 0; c < colls->ncollectives; c++) {
        if (!tl_text_is(tl_names_text(&colls->texts, tl_coll_nth(colls, c, 0)->name), "all_to_allv"))
            continue;
        if (!tl_vec_room(&s->v))
            return false;
        s->v.v[s->v.n++] = measure(colls, c);
        for (size_t k = 0; k < tl_coll_nrows(colls, c); k++) {
            if (!tl_vec_room(&s->ranks))
                return false;
            s->ranks.v[s->ranks.n++] = tl_coll_nth(colls, c, k)->rank;
        }
    }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    if (s->v.n == 0)
        return true;
    qsort(s->v.v, s->v.n, sizeof *s->v.v, most_first);
    qsort(s->ranks.v, s->ranks.n, sizeof *s->ranks.v, by_number);
    for (size_t i = 0; i < s->ranks.n; i++)
        if (n == 0 || s->ranks.v[i] != s->ranks.v[n - 1])
            s->ranks.v[n++] = s->ranks.v[i];
    s->ranks.n = n;
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

/* The row of the i-th rank, NULL where it takes no part; *k counts those that do. */
static const tl_coll_row *row_of(const exchanging *s, const exchange *x, size_t i, size_t *k)
{
    const tl_coll_row *row =
        *k < tl_coll_nrows(s->colls, x->collective) ? tl_coll_nth(s->colls, x->collective, *k) : NULL;
    if (row == NULL || row->rank != s->ranks.v[i])
        return NULL;
    ++*k;
    return row;
}

static void put_exchange(tl_sheet *sheet, const exchanging *s, const exchange *x)
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
        put_rank(sheet, colls, row_of(s, x, i, &k));
    for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
        row = row_of(s, x, i, &k);
        tl_sheet_number(sheet, row != NULL ? row->ts - x->first_start : NAN, row != NULL && colls->whole_ts);
        tl_sheet_number(sheet, row != NULL ? x->last_end - (row->ts + row->dur) : NAN, row != NULL && s->whole_times);
    }
    tl_coll_put_span(sheet, colls, x->row->ranks);
    tl_sheet_end_row(sheet);
}

static void put_exchanges(tl_sheet *sheet, const exchanging *s)
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

static tl_status write_exchanges(const exchanging *s, const char *dir, tl_error *err)
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

/* ------------------------------------------------------------------------------------------------------------ sums */

static int in_groups(const exchange *x, const exchange *y)
{
    int order = TL_COMPARE(x->row->group, y->row->group);
    return order != 0 ? order : TL_COMPARE(x->row->dtype, y->row->dtype);
}

static int by_group(const void *a, const void *b)
{
    const exchange *x = *(const exchange *const *)a, *y = *(const exchange *const *)b;
    int order = in_groups(x, y);
    return order != 0 ? order : TL_COMPARE(x->collective, y->collective);
}

/* What is known of one number of some exchanges, without those of which it is not. */
typedef struct series {
    double *v;
    size_t n;
    double min, max;
} series;

static void take_series(series *out, const exchange **v, size_t n, double (*value)(const exchange *))
{
    out->n = 0;
    out->min = out->max = NAN;
    for (size_t i = 0; i < n; i++) {
        double x = value(v[i]);
        if (isnan(x))
            continue;
        out->v[out->n++] = x;
        out->min = fmin(out->min, x);
        out->max = fmax(out->max, x);
    }
}

static double data(const exchange *x)
{
    return x->mb;
}

static double wall(const exchange *x)
{
    return x->wall;
}

static double throughput(const exchange *x)
{
    return x->throughput;
}

static double imbalance(const exchange *x)
{
    return x->imbalance;
}

static double max_dur(const exchange *x)
{
    return x->max_dur;
}

static double start_skew(const exchange *x)
{
    return x->start_skew;
}

static double end_skew(const exchange *x)
{
    return x->end_skew;
}

static void put_spread(tl_sheet *sheet, const series *s, bool whole)
{
    tl_sheet_real(sheet, tl_pandas_mean(s->v, s->n));
    tl_sheet_real(sheet, tl_pandas_std(s->v, s->n));
    tl_sheet_number(sheet, s->min, whole);
    tl_sheet_number(sheet, s->max, whole);
}

static void put_peak(tl_sheet *sheet, const series *s, bool whole)
{
    tl_sheet_real(sheet, tl_pandas_mean(s->v, s->n));
    tl_sheet_number(sheet, s->max, whole);
}

static void put_sum(tl_sheet *sheet, const exchanging *s, const exchange **v, size_t n, series *work)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = v[0]->row;
    double total;

    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->dtype);
    take_series(work, v, n, data);
    put_spread(sheet, work, false);
    take_series(work, v, n, wall);
    put_spread(sheet, work, s->whole_times);
    total = tl_pandas_sum(work->v, work->n);
    tl_sheet_number(sheet, total, s->whole_times);
    take_series(work, v, n, throughput);
    put_spread(sheet, work, false);
    take_series(work, v, n, imbalance);
    put_peak(sheet, work, false);
    take_series(work, v, n, max_dur);
    put_peak(sheet, work, colls->whole_dur);
    take_series(work, v, n, start_skew);
    put_peak(sheet, work, colls->whole_ts);
    take_series(work, v, n, end_skew);
    put_peak(sheet, work, s->whole_times);
    tl_sheet_int(sheet, (int64_t)n);
    tl_coll_put_text(sheet, colls, row->ranks);
    tl_coll_put_text(sheet, colls, row->name);
    tl_coll_put_number(sheet, row->group_size, colls->whole_group_size);
    tl_sheet_real(sheet, total / 1000);
    tl_sheet_end_row(sheet);
}

#define SPREAD(of) of "_mean," of "_std," of "_min," of "_max,"
#define PEAK(of)   of "_mean," of "_max,"

static tl_status write_summary(const exchanging *s, const char *dir, tl_error *err)
{
    const exchange **v = tl_malloc((s->v.n + 1) * sizeof *v);
    series work = { .v = tl_malloc((s->v.n + 1) * sizeof *work.v) };
    tl_sheet sheet;
    tl_status st;

    if (v == NULL || work.v == NULL) {
        st = tl_fail_memory(err, "sums of collectives");
        goto done;
    }
    st = tl_sheet_open(
        &sheet, dir, "nccl_summary_all2allv.csv",
        "Process Group Name,dtype," SPREAD("total data communicated (MB)")
            SPREAD("wall_time (us)") "Total wall_time (us)," SPREAD("throughput (GB/s)") PEAK("size_imbalance")
                PEAK("max_rank_dur (us)") PEAK("skew in start time") PEAK(
                    "skew in end time") "count,Process Group Ranks,Collective name,Group size,Total wall_time (ms)",
        err);
    if (st != TL_OK)
        goto done;
    for (size_t i = 0; i < s->v.n; i++)
        v[i] = &s->v.v[i];
    qsort(v, s->v.n, sizeof *v, by_group);
    for (size_t i = 0, next; i < s->v.n; i = next) {
        for (next = i + 1; next < s->v.n && in_groups(v[i], v[next]) == 0;)
            next++;
        put_sum(&sheet, s, &v[i], next - i, &work);
    }
    st = tl_sheet_close(&sheet, err);
done:
    free(v);
    free(work.v);
    return st;
}

tl_status tl_coll_write_all_to_all(const tl_colls *colls, const char *dir, tl_error *err)
{
    exchanging s = { .colls = colls };
    tl_status st = collect(&s) ? TL_OK : tl_fail_memory(err, "collectives of all ranks");

    if (st == TL_OK && s.v.n > 0) {
        st = write_exchanges(&s, dir, err);
        if (st == TL_OK)
            st = write_summary(&s, dir, err);
        if (st == TL_OK)
            st = tl_coll_write_heat(colls, dir, err);
    }
    free(s.v.v);
    free(s.ranks.v);
    return st;
}
