/* straggler.c - which rank the others waited for, by its waits: who waits least came last. */
#include "sync.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"

/* Place of a rank among s->ranks. */
static size_t place_of(const tl_coll_syncs *s, int64_t rank)
{
    size_t at = 0;
    TL_BISECT(at, s->ranks.n, mid, s->ranks.v[mid] < rank);
    return at;
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
            if (last == NULL || wait < least || (wait == least && r->order < last->order)) {
                least = wait;
                last = r;
            }
        }
        if (last != NULL)
            last->last++;
        v[place_of(s, one->earliest)].first++;
    }
}

static tl_cell tenths(double x)
{
    return tl_real(tl_python_round(x, 1));
}

void tl_coll_write_stragglers(const tl_coll_syncs *s, tl_csv_folder *folder)
{
    standing *v = tl_calloc(s->ranks.n, sizeof *v);
    tl_csv csv = tl_csv_open(folder, "nccl_straggler_summary.csv", NULL);

    for (size_t i = 0; i < s->ranks.n; i++)
        v[i].rank = s->ranks.v[i];
    count(s, v);
    for (size_t i = 0; i < s->colls->rows.n; i++) {
        const tl_coll_row *row = &s->colls->rows.v[i];
        size_t at = place_of(s, row->rank);
        if (at < s->ranks.n && v[at].rank == row->rank)
            v[at].durs += row->dur;
    }
    qsort(v, s->ranks.n, sizeof *v, least_wait_first);
    tl_csv_head(&csv, "rank,total_wait_time_us,mean_wait_time_us,times_arrived_last,times_arrived_first,"
                      "pct_arrived_last,num_collectives,total_nccl_dur_us");
    tl_coll_end_head(&csv, s->colls, TL_COLL_NODE);
    for (size_t i = 0; i < s->ranks.n; i++) {
        TL_CELLS(&csv, tl_int(v[i].rank), tenths(v[i].waits), tenths(v[i].waits / (double)v[i].n),
                 tl_int((int64_t)v[i].last), tl_int((int64_t)v[i].first),
                 tenths(100.0 * (double)v[i].last / (double)s->v.n), tl_int((int64_t)s->v.n), tenths(v[i].durs));
        tl_coll_end_row(&csv, s->colls, TL_COLL_NODE, v[i].rank, TL_NO_NAME);
    }
    free(v);
    tl_csv_close(&csv);
}
