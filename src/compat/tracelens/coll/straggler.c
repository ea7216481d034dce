/* straggler.c - which rank the others waited for, by its waits: who waits least came last. */
#include "sync.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

/* Place of a rank among s->ranks. */
static size_t place_of(const tl_coll_syncs *s, int64_t rank)
{
    const int64_t *at = bsearch(&rank, s->ranks.v, s->ranks.n, sizeof rank, by_number);
    return (size_t)(at - s->ranks.v);
}

/* A rank, over the collectives above. */
typedef struct standing {
    int64_t rank;
    size_t order; /* of its first appearance: decides who was last where two came at once */
    double waits, durs;
    uint64_t n, last, first;
} standing;

static int least_wait_first(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    double p = tl_python_round(x->waits, 1), q = tl_python_round(y->waits, 1);
    return p != q ? TL_COMPARE(p, q) : TL_COMPARE(x->rank, y->rank);
}

static void count(const tl_coll_syncs *s, standing *v)
{
    size_t nseen = 0;

    for (size_t i = 0; i < s->v.n; i++) {
        const tl_coll_sync *one = &s->v.v[i];
        standing *last = NULL;
        double least = INFINITY;
        for (size_t k = 0; k < tl_coll_nrows(s->colls, one->collective); k++) {
            const tl_coll_row *row = tl_coll_nth(s->colls, one->collective, k);
            standing *r = &v[place_of(s, row->rank)];
            double wait = tl_coll_wait(one, row);
            if (r->n++ == 0)
                r->order = nseen++;
            r->waits += wait;
            if (wait < least || (wait == least && r->order < last->order)) {
                least = wait;
                last = r;
            }
        }
        if (last != NULL)
            last->last++;
        v[place_of(s, one->earliest)].first++;
    }
}

tl_status tl_coll_write_stragglers(const tl_coll_syncs *s, const char *dir, tl_error *err)
{
    standing *v = tl_calloc(s->ranks.n + 1, sizeof *v);
    tl_sheet sheet;

    if (v == NULL)
        return tl_fail_memory(err, "the waits of ranks");
    for (size_t i = 0; i < s->ranks.n; i++)
        v[i].rank = s->ranks.v[i];
    count(s, v);
    for (size_t i = 0, k = 0; i < s->colls->rows.n; i++) {
        const tl_coll_row *row = &s->colls->rows.v[i];
        while (k < s->ranks.n && v[k].rank < row->rank)
            k++;
        if (k < s->ranks.n && v[k].rank == row->rank)
            v[k].durs += row->dur;
    }
    qsort(v, s->ranks.n, sizeof *v, least_wait_first);
    tl_status st = tl_sheet_open(&sheet, dir, "nccl_straggler_summary.csv", NULL, err);
    if (st != TL_OK)
        goto done;
    tl_sheet_head(&sheet, "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,"
                          "pct_arrived_last,num_collectives,total_nccl_dur_us");
    tl_coll_head_nodes(&sheet, s->colls, "node_id");
    tl_sheet_end_row(&sheet);
    for (size_t i = 0; i < s->ranks.n; i++) {
        tl_sheet_int(&sheet, v[i].rank);
        tl_sheet_real(&sheet, tl_python_round(v[i].waits, 1));
        tl_sheet_real(&sheet, tl_python_round(v[i].waits / (double)v[i].n, 1));
        tl_sheet_int(&sheet, (int64_t)v[i].last);
        tl_sheet_int(&sheet, (int64_t)v[i].first);
        tl_sheet_real(&sheet, tl_python_round(100.0 * (double)v[i].last / (double)s->v.n, 1));
        tl_sheet_int(&sheet, (int64_t)s->v.n);
        tl_sheet_real(&sheet, tl_python_round(v[i].durs, 1));
        tl_coll_put_node(&sheet, s->colls, v[i].rank);
        tl_sheet_end_row(&sheet);
    }
    st = tl_sheet_close(&sheet, err);
done:
    free(v);
    return st;
}
