/* types.c - how long the classes of kernels ran, alone and over each other.
 *
 *     computation     ....[######]......[##)
 *     communication   .......[######]......
 *     both                   [##)
 *
 * Each stretch counts in whole microseconds, what is beyond is lost.  A row of duration -1 takes its class away before
 * it comes: what HTA then names may be a class that is not there.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/compat/hta/frame/spans.h"
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

static void add_edges(edges *all, const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_hta_class class, int bit)
{
    tl_hta_spans spans = tl_hta_spans_of(frame, symbols, class);

    for (size_t i = 0; i < spans.n; i++) {
        tl_vec_push(all, (edge){ spans.v[i].ts, bit });
        tl_vec_push(all, (edge){ spans.v[i].end, -bit });
    }
    free(spans.v);
}

static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const edge *all = context;
    return TL_COMPARE(all[a].ts, all[b].ts);
}

static void add_rank(sums *s, const tl_hta_frame *frame, const tl_hta_symbols *symbols, bool copies)
{
    edges all = { 0 };
    int running = 0;

    add_edges(&all, frame, symbols, TL_HTA_COMPUTATION, COMPUTE);
    add_edges(&all, frame, symbols, TL_HTA_COMMUNICATION, COMM);
    if (copies)
        add_edges(&all, frame, symbols, TL_HTA_MEMORY, COPY);
    uint32_t *order = tl_sorted_index(all.n, by_ts, all.v);
    for (size_t i = 0; i < all.n; i++) {
        running += all.v[order[i]].bit;
        if (running <= 0)
            continue;
        s->seen[running] = true;
        s->us[running] += i + 1 < all.n ? trunc(all.v[order[i + 1]].ts - all.v[order[i]].ts) : 0;
    }
    free(order);
    free(all.v);
}

/* The longest first; of equal ones the one whose label comes first. */
static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const sums *s = context;
    return TL_COMPARE(s->us[sets[b].set], s->us[sets[a].set]);
}

static void write_types(tl_hta_job *job, const char *table, bool copies)
{
    sums s = { 0 };
    double total = 0;
    tl_csv csv = tl_csv_open(&job->out, table, "kernel_type,sum,percentage");

    TL_EACH (const tl_hta_frame, frame, job->frames)
        add_rank(&s, frame, &job->symbols, copies);
    uint32_t *order = tl_sorted_index(NLABELS, by_time, &s);
    for (size_t i = 0; i < NLABELS; i++)
        total += s.us[sets[i].set];
    for (size_t i = 0; i < NLABELS; i++) {
        double us = s.us[sets[order[i]].set];
        if (s.seen[sets[order[i]].set])
            TL_ROW(&csv, sets[order[i]].label, tl_number(us, true), rint(100 * us / total * 10) / 10);
    }
    free(order);
    tl_csv_close(&csv);
}

void tl_hta_kernel_types(tl_hta_job *job)
{
    write_types(job, "kernel_type_breakdown.csv", true);
    write_types(job, "kernel_type_breakdown_no_memory.csv", false);
}
