/* sync_sum.c - collectives in which ranks wait for the last one, summed up by what they are: name, type and
 * size. */
#include "sync.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include <stddef.h>
#include <stdlib.h>

/* What is missing is a group of its own. */
static int in_groups(const tl_coll_sync *x, const tl_coll_sync *y)
{
    int order = TL_COMPARE(x->row->name, y->row->name);
    order = order != 0 ? order : TL_COMPARE(x->row->dtype, y->row->dtype);
    return order != 0 ? order : TL_COMPARE(x->row->in_nelems, y->row->in_nelems);
}

static int by_group(const void *a, const void *b)
{
    const tl_coll_sync *x = *(const tl_coll_sync *const *)a, *y = *(const tl_coll_sync *const *)b;
    int order = in_groups(x, y);
    return order != 0 ? order : TL_COMPARE(x, y);
}

typedef struct sum {
    const tl_coll_sync **v;
    size_t n;
    double total; /* of the latencies */
} sum;

static int largest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    return x->total != y->total ? TL_COMPARE(y->total, x->total) : TL_COMPARE(x->v[0], y->v[0]);
}

/* Mean, median, smallest and largest of what is known of a measure: the offset of a double. */
static void put_statistics(tl_sheet *sheet, const tl_coll_syncs *s, const sum *g, size_t measure, bool whole)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        double x = *(const double *)((const char *)g->v[i] + measure);
        if (!isnan(x))
            s->work[n++] = x;
    }
    tl_sheet_real(sheet, tl_pandas_mean(s->work, n));
    tl_sheet_real(sheet, tl_numpy_median(s->work, n)); /* sorts them */
    tl_sheet_number(sheet, n > 0 ? s->work[0] : NAN, whole);
    tl_sheet_number(sheet, n > 0 ? s->work[n - 1] : NAN, whole);
}

static void put_sum(tl_sheet *sheet, const tl_coll_syncs *s, const sum *g)
{
    const tl_colls *colls = s->colls;
    const tl_coll_row *row = g->v[0]->row;
    int64_t size = TL_COLL_NO_NUMBER;
    double mb = NAN;

    for (size_t i = 0; i < g->n; i++) {
        size = size == TL_COLL_NO_NUMBER ? g->v[i]->row->group_size : size;
        mb = isnan(mb) ? g->v[i]->mb : mb;
    }
    tl_sheet_text(sheet, row->name != TL_NO_NAME ? tl_names_text(&colls->texts, row->name) : TL_TEXT("Unknown"));
    tl_sheet_text(sheet, row->dtype != TL_NO_NAME ? tl_names_text(&colls->texts, row->dtype) : TL_TEXT("Unknown"));
    if (row->in_nelems != TL_COLL_NO_NUMBER)
        tl_coll_put_number(sheet, row->in_nelems, colls->whole_in);
    else
        tl_sheet_words(sheet, "Unknown");
    tl_coll_put_text(sheet, colls, row->group);
    tl_coll_put_number(sheet, size, colls->whole_group_size);
    tl_sheet_real(sheet, mb);
    put_statistics(sheet, s, g, offsetof(tl_coll_sync, latency), colls->whole_dur);
    put_statistics(sheet, s, g, offsetof(tl_coll_sync, start_skew), colls->whole_ts);
    put_statistics(sheet, s, g, offsetof(tl_coll_sync, end_skew), s->whole_times);
    if (s->has_bandwidth) {
        put_statistics(sheet, s, g, offsetof(tl_coll_sync, algo), false);
        put_statistics(sheet, s, g, offsetof(tl_coll_sync, bus), false);
    }
    tl_sheet_int(sheet, (int64_t)g->n);
    tl_sheet_real(sheet, g->total / 1000);
    tl_sheet_end_row(sheet);
}

#define STATISTICS(of) of "_mean," of "_median," of "_min," of "_max,"

static tl_status write_sums(const tl_coll_syncs *s, const sum *sums, size_t n, const char *dir, tl_error *err)
{
    tl_sheet sheet;
    char header[1024];

    snprintf(header, sizeof header, "%s%s%s",
             "Collective name,dtype,In msg nelems,Process Group Name,Group size,Full msg size (MB)," STATISTICS(
                 "comm_latency") STATISTICS("skew in start time") STATISTICS("skew in end time"),
             s->has_bandwidth ? STATISTICS("algo bw (GB/s)") STATISTICS("bus bw (GB/s)") : "",
             "count,Total comm latency (ms)");
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_summary_implicit_sync.csv", header, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        put_sum(&sheet, s, &sums[i]);
    return tl_sheet_close(&sheet, err);
}

tl_status tl_coll_write_sync_sums(const tl_coll_syncs *s, const char *dir, tl_error *err)
{
    const tl_coll_sync **v = tl_malloc((s->v.n + 1) * sizeof *v);
    TL_VEC(sum) sums = { 0 };
    bool ok = v != NULL;
    tl_status st;

    for (size_t i = 0; ok && i < s->v.n; i++)
        v[i] = &s->v.v[i];
    if (ok)
        qsort(v, s->v.n, sizeof *v, by_group);
    for (size_t i = 0, next; ok && i < s->v.n; i = next) {
        for (next = i + 1; next < s->v.n && in_groups(v[i], v[next]) == 0;)
            next++;
        ok = tl_vec_room(&sums);
        if (!ok)
            break;
        sum *g = &sums.v[sums.n++];
        *g = (sum){ .v = &v[i], .n = next - i };
        for (size_t k = 0; k < g->n; k++)
            g->total += g->v[k]->latency;
    }
    if (ok && sums.n > 0)
        qsort(sums.v, sums.n, sizeof *sums.v, largest_first);
    st = ok ? write_sums(s, sums.v, sums.n, dir, err) : tl_fail_memory(err, "sums of collectives");
    free(v);
    free(sums.v);
    return st;
}
