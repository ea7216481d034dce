/* a2a.c - all-to-all-v: each rank sends what it likes to each, so that sizes are summed up, and waits are not; and the bytes
 * that each rank sent to each. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/tracelens/coll.h"
#include <stdlib.h>

/* One collective.  Times in us, NaN where unknown. */
typedef struct exchange {
    size_t collective;
    uint32_t group, dtype;  /* of the first rank's row */
    const tl_coll_row *row; /* the first rank's */
    double mb, nelems, wall, throughput, most, least, imbalance;
    double max_dur, min_dur, mean_dur;
    double first_start, last_end, start_skew, end_skew;
} exchange;

TL_ORDER_BY(by_group, exchange, group, dtype)
TL_ORDER_BY(by_group_and_order, exchange, group, dtype, collective)

typedef struct exchanges {
    const tl_colls *colls;
    TL_VEC(exchange) v;  /* most data first */
    tl_coll_ranks ranks; /* that take part, ascending */
    bool whole_times;
} exchanges;

static double gb_per_s(double mb, double us)
{
    return us > 0 ? mb / 1024 / (us / 1e6) : NAN;
}

static exchange measure(const tl_colls *colls, size_t collective)
{
    size_t n = tl_coll_nrows(colls, collective);
    const tl_coll_row *row = tl_coll_nth(colls, collective, 0);
    exchange x = { .collective = collective,
                   .group = row->group,
                   .dtype = row->dtype,
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
    const exchange *x = a, *y = b;
    if (isnan(x->mb) != isnan(y->mb))
        return isnan(x->mb) ? 1 : -1;
    return x->mb != y->mb && !isnan(x->mb) ? TL_COMPARE(y->mb, x->mb) : TL_COMPARE(x->collective, y->collective);
}

static void collect(exchanges *s)
{
    const tl_colls *colls = s->colls;

    for (size_t c = 0; c < colls->ncollectives; c++)
        if (tl_text_is(tl_coll_name(colls, c), "all_to_allv")) {
            tl_vec_push(&s->v, measure(colls, c));
            tl_coll_ranks_add(&s->ranks, colls, c);
        }
    s->whole_times = colls->whole_ts && colls->whole_dur;
    if (s->v.n > 0)
        qsort(s->v.v, s->v.n, sizeof *s->v.v, most_first);
    s->ranks.n = tl_ns_distinct(s->ranks.v, s->ranks.n);
}

/* ------------------------------------------------------------------------------------------------------ a row each */

static void write_exchanges(const exchanges *s, tl_csv_folder *folder)
{
    const tl_colls *colls = s->colls;
    tl_csv csv = tl_csv_open(folder, "nccl_all2allv.csv", NULL);

    tl_csv_head(&csv, "collective_id,Process Group Name,Process Group Ranks,Collective name,Group size,dtype,stream,"
                      "total data communicated (MB),total nelems communicated,wall_time (us),max_rank_dur (us),"
                      "min_rank_dur (us),avg_rank_dur (us),throughput (GB/s),max_rank_throughput (GB/s),"
                      "min_rank_throughput (GB/s),size_imbalance,skew in start time,skew in end time");
    tl_coll_head_ranks(&csv, &s->ranks,
                       "ts,dur,In msg nelems,Out msg nelems,In msg size (MB),Out msg size (MB),In split size,"
                       "Out split size");
    tl_coll_head_ranks(&csv, &s->ranks, "skew in start time,skew in end time");
    tl_coll_end_head(&csv, colls, TL_COLL_SPAN);
    TL_EACH (const exchange, x, s->v) {
        tl_coll_put_id(&csv, colls, x->row);
        tl_coll_put_kind(&csv, colls, x->row);
        TL_CELLS(&csv, tl_coll_number(x->row->stream, colls->whole_stream), x->mb,
                 tl_number(x->nelems, colls->whole_in), tl_number(x->wall, s->whole_times),
                 tl_number(x->max_dur, colls->whole_dur), tl_number(x->min_dur, colls->whole_dur), x->mean_dur,
                 x->throughput, x->most, x->least, x->imbalance, tl_number(x->start_skew, colls->whole_ts),
                 tl_number(x->end_skew, s->whole_times));
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = tl_coll_row_of(colls, x->collective, s->ranks.v[i], &k);
            if (r == NULL)
                TL_CELLS(&csv, tl_blank(), tl_blank(), tl_blank(), tl_blank(), tl_blank(), tl_blank(), "", "");
            else
                TL_CELLS(&csv, tl_number(r->ts, colls->whole_ts), tl_number(r->dur, colls->whole_dur),
                         tl_coll_number(r->in_nelems, colls->whole_in), tl_coll_number(r->out_nelems, colls->whole_out),
                         tl_coll_in_mb(colls, r), tl_coll_out_mb(colls, r), tl_coll_text(colls, r->in_split),
                         tl_coll_text(colls, r->out_split));
        }
        for (size_t i = 0, k = 0; i < s->ranks.n; i++) {
            const tl_coll_row *r = tl_coll_row_of(colls, x->collective, s->ranks.v[i], &k);
            TL_CELLS(&csv, tl_number(r != NULL ? r->ts - x->first_start : NAN, colls->whole_ts),
                     tl_number(r != NULL ? x->last_end - (r->ts + r->dur) : NAN, s->whole_times));
        }
        tl_coll_end_row(&csv, colls, TL_COLL_SPAN, 0, x->row->ranks);
    }
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------ sums by process group and type */

static void put_peak(tl_csv *csv, tl_group_stats s, bool whole)
{
    TL_CELLS(csv, s.mean, tl_number(s.max, whole));
}

static void put_spread(tl_csv *csv, tl_group_stats s, bool whole)
{
    TL_CELLS(csv, s.mean, s.std, tl_number(s.min, whole), tl_number(s.max, whole));
}

static void put_sum(tl_csv *csv, const exchanges *s, const uint32_t *order, size_t n)
{
    const tl_colls *colls = s->colls;
    const exchange *all = s->v.v;
    const tl_coll_row *row = all[order[0]].row;
    const tl_group_stats wall = TL_STATS(order, n, all, wall);

    TL_CELLS(csv, tl_coll_text(colls, row->group), tl_coll_text(colls, row->dtype));
    put_spread(csv, TL_STATS(order, n, all, mb), false);
    put_spread(csv, wall, s->whole_times);
    TL_CELLS(csv, tl_number(wall.sum, s->whole_times));
    put_spread(csv, TL_STATS(order, n, all, throughput), false);
    put_peak(csv, TL_STATS(order, n, all, imbalance), false);
    put_peak(csv, TL_STATS(order, n, all, max_dur), colls->whole_dur);
    put_peak(csv, TL_STATS(order, n, all, start_skew), colls->whole_ts);
    put_peak(csv, TL_STATS(order, n, all, end_skew), s->whole_times);
    TL_ROW(csv, n, tl_coll_text(colls, row->ranks), tl_coll_text(colls, row->name),
           tl_coll_number(row->group_size, colls->whole_group_size), wall.sum / 1000);
}

#define SPREAD(of) of "_mean," of "_std," of "_min," of "_max,"
#define PEAK(of)   of "_mean," of "_max,"

static void write_sums(const exchanges *s, tl_csv_folder *folder)
{
    const size_t n = s->v.n;
    uint32_t *order = tl_sorted_index(n, by_group_and_order, s->v.v);
    tl_csv csv = tl_csv_open(
        folder, "nccl_summary_all2allv.csv",
        "Process Group Name,dtype," SPREAD("total data communicated (MB)")
            SPREAD("wall_time (us)") "Total wall_time (us)," SPREAD("throughput (GB/s)") PEAK("size_imbalance")
                PEAK("max_rank_dur (us)") PEAK("skew in start time") PEAK(
                    "skew in end time") "count,Process Group Ranks,Collective name,Group size,Total wall_time (ms)");

    csv.as_is = true;
    TL_GROUPS (from, to, order, n, by_group, s->v.v) {
        put_sum(&csv, s, order + from, to - from);
    }
    free(order);
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------------ what each sent to each */

typedef TL_VEC(int64_t) numbers;

/* "[256, 512, 768]" to *split.  False: it is no list of whole numbers. */
static bool read_split(numbers *split, tl_text text)
{
    split->n = 0;
    if (text.n < 2 || text.p[0] != '[' || text.p[text.n - 1] != ']')
        return false;
    for (const char *p = text.p + 1, *end = text.p + text.n - 1, *comma; p < end; p = comma + 1) {
        int64_t number;
        comma = memchr(p, ',', (size_t)(end - p));
        comma = comma != NULL ? comma : end;
        const char *to = comma;
        while (p < to && *p == ' ')
            p++;
        while (to > p && to[-1] == ' ')
            to--;
        if (!tl_decimal_to_int(p, (size_t)(to - p), &number))
            return false;
        tl_vec_push(split, number);
    }
    return true;
}

/* What the rank at hand sent to the j-th of its group. */
typedef struct flow {
    double mb;
    int64_t n;
} flow;

static void write_heat(const tl_colls *colls, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "nccl_all2allv_heatmap.csv", "src_rank,dst_rank,total_sent_MB,avg_sent_MB,count");
    const tl_coll_row *rows = colls->rows.v;
    numbers split = { 0 };
    TL_VEC(flow) to = { 0 };
    bool any = false;

    for (size_t i = 0; i < colls->rows.n; i++) {
        const tl_coll_row *row = &rows[i];
        if (tl_text_is(tl_names_text(&colls->texts, row->name), "all_to_allv") &&
            read_split(&split, tl_names_text(&colls->texts, row->in_split)) && (int64_t)split.n == row->group_size &&
            !isnan(tl_coll_mb(colls, row, 1)))
            for (size_t k = 0; k < split.n; k++) {
                if (k == to.n)
                    tl_vec_push(&to, (flow){ 0 });
                to.v[k].mb += tl_coll_mb(colls, row, split.v[k]);
                to.v[k].n++;
            }
        if (i + 1 < colls->rows.n && rows[i + 1].rank == row->rank)
            continue;
        any |= to.n > 0;
        TL_EACH (const flow, f, to)
            TL_ROW(&csv, row->rank, f - to.v, f->mb, f->mb / (double)f->n, f->n);
        to.n = 0;
    }
    tl_csv_end(&csv, any);
    free(split.v);
    free(to.v);
}

void tl_coll_write_all_to_all(const tl_colls *colls, tl_csv_folder *folder)
{
    exchanges s = { .colls = colls };

    collect(&s);
    if (s.v.n > 0) {
        write_exchanges(&s, folder);
        write_sums(&s, folder);
        write_heat(colls, folder);
    }
    free(s.v.v);
    free(s.ranks.v);
}
