/* kernel.c - which kernels take the time, on each rank and over all?
 *
 *     device   [ a ][  b  ][ a ]..[b]        a: 2, b: 2; the one with the more time stands first
 */
#include "over_ranks.h"
#include "places.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- of one rank */

/* One name and kind; its durations are ns[first, first + n). */
typedef struct slot {
    uint32_t kernel; /* one of them */
    size_t first, n;
} slot;

typedef struct slots {
    TL_VEC(slot) v;
    uint32_t *of; /* each kernel's */
    int64_t *ns;
} slots;

static void slots_free(slots *s)
{
    free(s->v.v);
    free(s->of);
    free(s->ns);
}

/* The slot of each kernel, and how many each has. */
static void find_slots(slots *s, const tl_rank_view *view)
{
    tl_map map = { 0 };

    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        uint64_t key = (uint64_t)k->name * TL_NKINDS + k->kind;
        uint32_t at = tl_map_get(&map, key);
        if (at == TL_MAP_NONE || s->v.v == NULL) {
            at = (uint32_t)s->v.n;
            tl_map_put(&map, key, at);
            tl_vec_room(&s->v);
            s->v.v[s->v.n++] = (slot){ .kernel = (uint32_t)i };
        }
        slot *mine = &s->v.v[at];
        mine->n++;
        s->of[i] = at;
    }
    tl_map_free(&map);
}

static void slots_fill(slots *s, const tl_rank_view *view)
{
    size_t first = 0;

    s->of = tl_malloc(view->nkernels * sizeof *s->of);
    s->ns = tl_malloc(view->nkernels * sizeof *s->ns);
    find_slots(s, view);
    for (size_t k = 0; k < s->v.n; k++) {
        s->v.v[k].first = first;
        first += s->v.v[k].n;
        s->v.v[k].n = 0;
    }
    for (size_t i = 0; i < view->nkernels; i++) {
        slot *mine = &s->v.v[s->of[i]];
        s->ns[mine->first + mine->n++] = view->kernels[i].end_ns - view->kernels[i].start_ns;
    }
}

static void add_rows(const tl_rank_view *view, const slots *s, tl_table *table)
{
    static const char *const measures[] = { "total_ns", NULL };
    size_t from = table->n;
    int64_t all = 0;

    tl_table_reserve(table, s->v.n);
    for (size_t k = 0; k < s->v.n; k++) {
        const slot *mine = &s->v.v[k];
        const tl_kernel *first = &view->kernels[mine->kernel];
        const tl_spread d = tl_spread_of(s->ns + mine->first, mine->n);
        tl_kernel_row *row = tl_table_add(table);
        *row = (tl_kernel_row){
            .rank = view->rank,
            .name = first->name,
            .kind = first->kind,
            .unclassified = first->unclassified,
            .count = (int64_t)mine->n,
            .total_ns = d.total,
            .mean_ns = d.mean,
            .std_ns = d.std,
            .min_ns = d.min,
            .p25_ns = d.p25,
            .median_ns = d.median,
            .p75_ns = d.p75,
            .max_ns = d.max,
        };
        all = tl_ns_add(all, d.total);
    }
    for (size_t i = from; i < table->n; i++) {
        tl_kernel_row *row = tl_table_row(table, i);
        row->share = all > 0 ? (double)row->total_ns / (double)all : NAN;
    }
    tl_places_number(table, from, view->names, measures);
}

static void kernel_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    slots s = { 0 };
    (void)config;
    slots_fill(&s, view);
    add_rows(view, &s, tl_tables_get(out, &tl_kernel_row_schema));
    slots_free(&s);
}

/* -------------------------------------------------------------------------------------------------- over all ranks */

static void add_sum(void *arg, const tl_over_ranks *of, tl_table *out)
{
    const int64_t *all_ns = arg;
    const tl_kernel_row *first = of->rows[0], *most = first, *least = first;
    tl_kernel_ranks *sum = tl_table_add(out);

    *sum = (tl_kernel_ranks){
        .name = first->name, .kind = first->kind, .unclassified = first->unclassified, TL_OF_ALL_RANKS(of)
    };
    for (int32_t i = 0; i < of->ranks; i++) {
        const tl_kernel_row *row = of->rows[i];
        sum->total_ns = tl_ns_add(sum->total_ns, row->total_ns);
        most = row->count > most->count ? row : most;
        least = row->count < least->count ? row : least;
        of->room[i] = row->count;
    }
    sum->mean_ns = (double)sum->total_ns / (double)sum->count;
    sum->share = *all_ns > 0 ? (double)sum->total_ns / (double)*all_ns : NAN;
    sum->most_rank = most->count > least->count ? most->rank : -1;
    sum->most_count = most->count;
    sum->median_count = tl_lower_median(of->room, (size_t)of->ranks);
    sum->std_rank_ns = of->std_ns;
    sum->apart = of->apart;
    memcpy(sum->apart_ranks, of->apart_ranks, sizeof sum->apart_ranks);
}

static void kernel_reduce(tl_tables *job)
{
    static const char *const measures[] = { "total_ns", NULL };
    const tl_table *kernels = tl_tables_get(job, &tl_kernel_row_schema);
    int64_t all_ns = 0;

    for (size_t i = 0; i < kernels->n; i++)
        all_ns = tl_ns_add(all_ns, ((const tl_kernel_row *)tl_table_row(kernels, i))->total_ns);
    tl_over_ranks_add(kernels, job->names, add_sum, &all_ns, measures, tl_tables_get(job, &tl_kernel_ranks_schema));
}

TL_TABLE_DEFINE_AS(kernel_row, "kernel", TL_KERNEL_FIELDS, TL_SCOPE_RANK, "device work by name",
                   "Which kernels take the time on a rank, and how long do they take?");
static const tl_schema *const tables[] = { &tl_kernel_row_schema, &tl_kernel_ranks_schema, NULL };

const tl_analysis tl_kernel_analysis = {
    .name = "kernel",
    .question = "Which kernels take the time?",
    .tables = tables,
    .per_rank = kernel_per_rank,
    .reduce = kernel_reduce,
};
