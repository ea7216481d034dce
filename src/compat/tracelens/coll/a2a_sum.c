/* a2a_sum.c - all-to-all-v, summed up by process group and type. */
#include "a2a.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include <stddef.h>
#include <stdlib.h>

static int in_groups(const tl_coll_exchange *x, const tl_coll_exchange *y)
{
    int order = TL_COMPARE(x->row->group, y->row->group);
    return order != 0 ? order : TL_COMPARE(x->row->dtype, y->row->dtype);
}

static int by_group(const void *a, const void *b)
{
    const tl_coll_exchange *x = *(const tl_coll_exchange *const *)a, *y = *(const tl_coll_exchange *const *)b;
    int order = in_groups(x, y);
    return order != 0 ? order : TL_COMPARE(x->collective, y->collective);
}

/* What is known of one measure of some exchanges, without those of which it is not. */
typedef struct series {
    double *v;
    size_t n;
    double min, max;
} series;

/* `measure`: offset of a double. */
static void take_series(series *out, const tl_coll_exchange **v, size_t n, size_t measure)
{
    out->n = 0;
    out->min = out->max = NAN;
    for (size_t i = 0; i < n; i++) {
        double x = *(const double *)((const char *)v[i] + measure);
        if (isnan(x))
            continue;
        out->v[out->n++] = x;
        out->min = fmin(out->min, x);
        out->max = fmax(out->max, x);
    }
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

static void put_sum(tl_sheet *sheet, const tl_coll_exchanges *s, const tl_coll_exchange **v, size_t n, series *work)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = v[0]->row;
    double total;

    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_text(sheet, colls, row->dtype);
    take_series(work, v, n, offsetof(tl_coll_exchange, mb));
    put_spread(sheet, work, false);
    take_series(work, v, n, offsetof(tl_coll_exchange, wall));
    put_spread(sheet, work, s->whole_times);
    total = tl_pandas_sum(work->v, work->n);
    tl_sheet_number(sheet, total, s->whole_times);
    take_series(work, v, n, offsetof(tl_coll_exchange, throughput));
    put_spread(sheet, work, false);
    take_series(work, v, n, offsetof(tl_coll_exchange, imbalance));
    put_peak(sheet, work, false);
    take_series(work, v, n, offsetof(tl_coll_exchange, max_dur));
    put_peak(sheet, work, colls->whole_dur);
    take_series(work, v, n, offsetof(tl_coll_exchange, start_skew));
    put_peak(sheet, work, colls->whole_ts);
    take_series(work, v, n, offsetof(tl_coll_exchange, end_skew));
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

tl_status tl_coll_write_exchange_sums(const tl_coll_exchanges *s, const char *dir, tl_error *err)
{
    const tl_coll_exchange **v = tl_malloc((s->v.n + 1) * sizeof *v);
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
