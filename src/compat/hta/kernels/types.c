/* types.c - how long the classes of kernels ran, alone and over each other.
 *
 *     computation     ....[######]......[##)
 *     communication   .......[######]......
 *     both                   [##)
 *
 * Each stretch counts in whole microseconds, what is beyond is lost.  A row of duration -1 takes its class away before
 * it comes: what HTA then names may be a class that is not there.
 */
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/hta/frame/spans.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

enum { COMPUTE = 1, COMM = 2, COPY = 4, NSETS = 8 };
#define OVER " overlapping "

/* The sets of classes in the order of their labels. */
static const struct {
    int set;
    const char *label;
} sets[] = {
    { COMM, "COMMUNICATION" },
    { COMM | COPY, "COMMUNICATION" OVER "MEMORY" },
    { COMPUTE, "COMPUTATION" },
    { COMPUTE | COMM, "COMPUTATION" OVER "COMMUNICATION" },
    { COMPUTE | COMM | COPY, "COMPUTATION" OVER "COMMUNICATION" OVER "MEMORY" },
    { COMPUTE | COPY, "COMPUTATION" OVER "MEMORY" },
    { COPY, "MEMORY" },
};
#define NLABELS (sizeof sets / sizeof sets[0])

/* A class begins, or ends where the bit is negative. */
typedef struct edge {
    double ts;
    int bit;
} edge;

typedef TL_VEC(edge) edges;

typedef struct sums {
    bool seen[NSETS];
    double us[NSETS];
} sums;

static bool add_edges(edges *all, const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_hta_class class, int bit)
{
    tl_hta_spans spans = { 0 };
    bool ok = tl_hta_spans_of(&spans, frame, symbols, class);

    for (size_t i = 0; i < spans.n && ok; i++) {
        ok = tl_vec_room(all);
        if (ok)
            all->v[all->n++] = (edge){ spans.v[i].ts, bit };
        ok = ok && tl_vec_room(all);
        if (ok)
            all->v[all->n++] = (edge){ spans.v[i].end, -bit };
    }
    free(spans.v);
    return ok;
}

static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const edge *all = context;
    return TL_COMPARE(all[a].ts, all[b].ts);
}

/* False: memory is out. */
static bool add_rank(sums *s, const tl_hta_frame *frame, const tl_hta_symbols *symbols, bool copies)
{
    edges all = { 0 };
    uint32_t *order = NULL;
    int running = 0;
    bool ok = add_edges(&all, frame, symbols, TL_HTA_COMPUTATION, COMPUTE) &&
              add_edges(&all, frame, symbols, TL_HTA_COMMUNICATION, COMM) &&
              (!copies || add_edges(&all, frame, symbols, TL_HTA_MEMORY, COPY));

    if (ok) {
        order = tl_malloc(all.n * sizeof *order);
        ok = order != NULL;
    }
    for (size_t i = 0; i < all.n && ok; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, all.n, by_ts, all.v);
    for (size_t i = 0; i < all.n && ok; i++) {
        running += all.v[order[i]].bit;
        if (running <= 0)
            continue;
        s->seen[running] = true;
        s->us[running] += i + 1 < all.n ? trunc(all.v[order[i + 1]].ts - all.v[order[i]].ts) : 0;
    }
    free(order);
    free(all.v);
    return ok;
}

static tl_status write_types(tl_hta_job *job, const char *dir, const char *table, bool copies, tl_error *err)
{
    sums s = { 0 };
    size_t order[NLABELS], n = 0;
    double total = 0;
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, table, "kernel_type,sum,percentage", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++)
        if (!add_rank(&s, &job->frames.v[i], &job->symbols, copies)) {
            tl_sheet_abandon(&csv);
            return tl_fail_memory(err, "the classes of a rank");
        }
    for (size_t i = 0; i < NLABELS; i++) {
        if (!s.seen[sets[i].set])
            continue;
        size_t at = n++;
        for (; at > 0 && s.us[sets[i].set] > s.us[sets[order[at - 1]].set]; at--)
            order[at] = order[at - 1];
        order[at] = i;
        total += s.us[sets[i].set];
    }
    for (size_t i = 0; i < n; i++) {
        double us = s.us[sets[order[i]].set];
        tl_sheet_words(&csv, sets[order[i]].label);
        tl_sheet_number(&csv, us, true);
        tl_sheet_real(&csv, rint(100 * us / total * 10) / 10);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_kernel_types(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_status st = write_types(job, dir, "kernel_type_breakdown.csv", true, err);
    if (st == TL_OK)
        st = write_types(job, dir, "kernel_type_breakdown_no_memory.csv", false, err);
    return st;
}
