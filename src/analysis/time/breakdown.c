/* breakdown.c - where did the time of each rank go?
 *
 *     compute   ..[====]....[===========]......
 *     comm      .....[=======]....[==]..[==]...      [==] under compute: overlapped; the rest is exposed
 *     copy      [====]....................[==].      exposed where neither computes nor communicates
 *               |<----------- wall ---------->|
 *     edges     . ^  ^ ^     ^^   ^  ^  ^  ^ ^ .     between two of them nothing changes
 *
 *     wall = compute + comm_exposed + copy_exposed + idle,   to the nanosecond
 *
 * Between two windows of the recording there is no time.  A set of instants counts once, on however many streams.  A step's row looks through a window: device work is cut to
 * the step, and wall runs from the first start to the last end of what is left.
 *
 * Of the whole trace it is also told what ran at once, in all combinations.
 *
 * Steps and devices both come from the trace, and a small file can name thousands of each: nothing here takes the time
 * or the room of their product.
 *
 *     steps    |   4   |   5   |   6   |   7   |   8   |   9   |
 *     work     ....[========================]..................
 *              measured  covered whole  measured   nothing
 */
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"

enum {
    COMPUTE,
    COMM,
    COPY,
    NSETS,
    NMIXES = 1 << NSETS, /* which of the sets hold an instant: bit 1 << COMPUTE and so on */
    FEW_ROWS = 16384     /* rows by device and step that every rank may have, however little room is left */
};

/* ------------------------------------------------------------------------------------------------- work of a device */

/* What one device did, as sets of instants. */
typedef struct work {
    tl_spans set[NSETS];       /* streams merged */
    TL_VEC(int64_t) empty;     /* instants of work of no length, ascending: they count for wall alone */
    int64_t first_ns, last_ns; /* first start, last end */
    int64_t seams_ns;          /* from the last end before a seam to the first start after it, summed */
} work;

/* Room that every measuring uses again. */
typedef struct scratch {
    tl_spans clipped[NSETS], exposed, either, exposed_copy;
} scratch;

/* The work of n > 0 kernels. */
static work collect(const tl_rank_view *view, const tl_kernel *kernels, size_t n)
{
    uint32_t *order = tl_sorted_index(n, tl_kernel_by_start, kernels);
    work w = { .first_ns = INT64_MAX, .last_ns = INT64_MIN };

    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &kernels[order[i]];
        if (i > 0 && k->start_ns > w.last_ns && tl_is_seam(view, w.last_ns, k->start_ns))
            w.seams_ns += k->start_ns - w.last_ns;
        w.first_ns = tl_ns_min(w.first_ns, k->start_ns);
        w.last_ns = tl_ns_max(w.last_ns, k->end_ns);
        if (k->end_ns > k->start_ns)
            tl_spans_add(&w.set[k->kind == TL_COMM      ? COMM
                                : k->kind == TL_COMPUTE ? COMPUTE
                                                        : COPY],
                         k->start_ns, k->end_ns);
        else
            tl_vec_push(&w.empty, k->start_ns);
    }
    free(order);
    return w;
}

/* Index of the first instant of work of no length at or after at_ns. */
static size_t first_empty(const work *w, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, w->empty.n, mid, w->empty.v[mid] < at_ns);
    return low;
}

/* The definition: the measures of three sets and the time they lie in. */
static void measure(const tl_spans set[NSETS], int64_t wall_ns, scratch *c, tl_breakdown *row)
{
    tl_spans_subtract(&c->exposed, &set[COMM], &set[COMPUTE]);
    tl_spans_union(&c->either, &set[COMPUTE], &set[COMM]);
    tl_spans_subtract(&c->exposed_copy, &set[COPY], &c->either);
    row->wall_ns = wall_ns;
    row->compute_ns = tl_spans_total(&set[COMPUTE]);
    row->comm_ns = tl_spans_total(&set[COMM]);
    row->comm_exposed_ns = tl_spans_total(&c->exposed);
    row->copy_ns = tl_spans_total(&set[COPY]);
    row->copy_exposed_ns = tl_spans_total(&c->exposed_copy);
    row->busy_ns = row->compute_ns + row->comm_exposed_ns + row->copy_exposed_ns;
    row->idle_ns = row->wall_ns - row->busy_ns;
}

/* The measures over [from_ns, to_ns), with the work cut to it. */
static void measure_in(const work *w, int64_t from_ns, int64_t to_ns, scratch *c, tl_breakdown *row)
{
    size_t i = first_empty(w, from_ns), j = first_empty(w, to_ns);
    int64_t first = i < j ? w->empty.v[i] : INT64_MAX, last = i < j ? w->empty.v[j - 1] : INT64_MIN;

    for (int s = 0; s < NSETS; s++) {
        const tl_spans *set = &c->clipped[s];
        tl_spans_clip(&c->clipped[s], &w->set[s], from_ns, to_ns);
        if (set->n == 0)
            continue;
        first = tl_ns_min(first, set->v[0].start_ns);
        last = tl_ns_max(last, set->v[set->n - 1].end_ns);
    }
    measure(c->clipped, first <= last ? last - first : 0, c, row);
}

/* The same for `ns` of time that all has this mix of work; mix is not 0. */
static void measure_mix(unsigned mix, int64_t ns, tl_breakdown *row)
{
    bool compute = mix & 1u << COMPUTE, comm = mix & 1u << COMM, copy = mix & 1u << COPY;
    row->wall_ns = row->busy_ns = ns;
    row->compute_ns = compute ? ns : 0;
    row->comm_ns = comm ? ns : 0;
    row->comm_exposed_ns = comm && !compute ? ns : 0;
    row->copy_ns = copy ? ns : 0;
    row->copy_exposed_ns = copy && !compute && !comm ? ns : 0;
}

/* Returns the first instant at or after at_ns at which a set begins or ends or work of no length lies, INT64_MAX without
 * one; *mix: the mix at at_ns, which is that up to there unless there is at_ns itself. */
static int64_t next_edge(const work *w, int64_t at_ns, unsigned *mix)
{
    size_t i = first_empty(w, at_ns);
    int64_t edge = i < w->empty.n ? w->empty.v[i] : INT64_MAX;
    *mix = 0;
    for (int s = 0; s < NSETS; s++) {
        const tl_spans *set = &w->set[s];
        size_t at = 0; /* to the first that ends at or after the instant */
        TL_BISECT(at, set->n, mid, set->v[mid].end_ns < at_ns);
        if (at == set->n)
            continue;
        *mix |= (unsigned)(set->v[at].start_ns <= at_ns) << s;
        edge = tl_ns_min(edge, set->v[at].start_ns >= at_ns ? set->v[at].start_ns : set->v[at].end_ns);
    }
    return edge;
}

/* The n-th bound of a set: starts and ends by turns; INT64_MAX past the last. */
static int64_t bound_of(const tl_spans *set, size_t n)
{
    if (n / 2 == set->n)
        return INT64_MAX;
    return n % 2 == 0 ? set->v[n / 2].start_ns : set->v[n / 2].end_ns;
}

/* Adds how long each mix lasted between the first start and the last end; 0 is idle time. */
static void add_mixes(const work *w, int64_t ns[NMIXES])
{
    size_t passed[NSETS] = { 0 };
    unsigned mix = 0;

    for (int64_t now_ns = w->first_ns, next_ns; now_ns < w->last_ns; now_ns = next_ns) {
        next_ns = w->last_ns;
        for (int s = 0; s < NSETS; s++) {
            bool turns = bound_of(&w->set[s], passed[s]) == now_ns;
            mix ^= (unsigned)turns << s;
            passed[s] += turns;
            next_ns = tl_ns_min(next_ns, bound_of(&w->set[s], passed[s]));
        }
        ns[mix] = tl_ns_add(ns[mix], next_ns - now_ns);
    }
    ns[0] -= w->seams_ns;
}

/* ----------------------------------------------------------------------------------------------------------- a rank */

/* How many devices have each mix from here on; the running sum over the steps tells it for a step. */
typedef struct mixes {
    uint32_t n[NMIXES];
} mixes;

/* A rank being worked on. */
typedef struct rank_rows {
    const tl_rank_view *view;
    scratch scratch;
    tl_breakdown *sums;        /* over devices: the whole trace, then each step */
    mixes *runs;               /* for each step: devices whose run begins there, less those whose run has ended */
    bool several;              /* devices have rows of their own */
    tl_table devices, by_step; /* whole traces; steps in which the device worked, as long as they are not too many */
    size_t most_by_step;
    bool too_many;
    int64_t mix_ns[NMIXES];
} rank_rows;

static void add_step_row(rank_rows *r, const tl_breakdown *row)
{
    if (!r->several || r->too_many || row->wall_ns == 0)
        return;
    r->too_many = r->by_step.n >= r->most_by_step;
    if (r->too_many)
        tl_table_free(&r->by_step);
    else
        tl_table_append(&r->by_step, row, 1);
}

static tl_breakdown row_of(const rank_rows *r, int32_t device, size_t step)
{
    return (tl_breakdown){ .rank = r->view->rank, .device = device, .step = r->view->steps[step].number };
}

static void device_rows(rank_rows *r, const work *w, int32_t device)
{
    const tl_rank_view *view = r->view;
    tl_breakdown row = { .rank = view->rank, .device = device, .step = -1 };
    measure(w->set, w->last_ns - w->first_ns - w->seams_ns, &r->scratch, &row);
    if (r->several)
        tl_table_append(&r->devices, &row, 1);
    tl_row_add(&tl_breakdown_schema, &r->sums[0], &row);
    add_mixes(w, r->mix_ns);
    for (size_t i = 0, to; i < view->nsteps; i = to) {
        unsigned mix;
        int64_t edge = next_edge(w, view->steps[i].start_ns, &mix);
        to = i; /* to the first step that ends after the edge: nothing begins or ends in the steps before */
        TL_BISECT(to, view->nsteps, mid, view->steps[mid].end_ns <= edge);
        if (to == i) {
            row = row_of(r, device, i);
            measure_in(w, view->steps[i].start_ns, view->steps[i].end_ns, &r->scratch, &row);
            tl_row_add(&tl_breakdown_schema, &r->sums[++to], &row);
            add_step_row(r, &row);
            continue;
        }
        r->runs[i].n[mix] += mix != 0;
        r->runs[to].n[mix] -= mix != 0;
        for (size_t s = i; mix != 0 && s < to && r->several && !r->too_many; s++) {
            row = row_of(r, device, s);
            measure_mix(mix, view->steps[s].end_ns - view->steps[s].start_ns, &row);
            add_step_row(r, &row);
        }
    }
}

/* To the sums of the steps, what the runs through them are. */
static void add_runs(rank_rows *r)
{
    mixes now = { { 0 } };
    for (size_t i = 0; i < r->view->nsteps; i++) {
        const tl_step_window *step = &r->view->steps[i];
        for (unsigned mix = 1; mix < NMIXES; mix++) {
            tl_breakdown row = { 0 };
            int64_t ns;
            now.n[mix] += r->runs[i].n[mix];
            if (now.n[mix] == 0)
                continue;
            if (__builtin_mul_overflow((int64_t)now.n[mix], step->end_ns - step->start_ns, &ns))
                ns = INT64_MAX;
            measure_mix(mix, ns, &row);
            tl_row_add(&tl_breakdown_schema, &r->sums[i + 1], &row);
        }
    }
}

static void add_mix_rows(tl_table *table, int32_t rank, const int64_t ns[NMIXES])
{
    int64_t all_ns = 0;
    for (unsigned mix = 0; mix < NMIXES; mix++)
        all_ns = tl_ns_add(all_ns, ns[mix]);
    for (unsigned mix = 0; mix < NMIXES; mix++) {
        const tl_mix row = { rank, (uint8_t)mix, ns[mix], (double)ns[mix] / (double)all_ns };
        if (ns[mix] != 0)
            tl_table_append(table, &row, 1);
    }
}

static void breakdown_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_breakdown_schema);
    size_t ndevices = 0;
    (void)config;
    for (size_t i = 0; i < view->nkernels; i = tl_device_end(view, i))
        ndevices++;
    rank_rows r = { .view = view,
                    .several = ndevices > 1,
                    .devices = { .schema = &tl_breakdown_schema },
                    .by_step = { .schema = &tl_breakdown_schema },
                    .most_by_step = view->nkernels + view->nsteps + ndevices,
                    .sums = tl_calloc(view->nsteps + 1, sizeof *r.sums),
                    .runs = tl_calloc(view->nsteps + 1, sizeof *r.runs) };

    r.most_by_step = r.most_by_step > FEW_ROWS ? r.most_by_step : FEW_ROWS;
    for (size_t i = 0; i <= view->nsteps; i++)
        r.sums[i] = (tl_breakdown){ .rank = view->rank, .device = -1, .step = i > 0 ? view->steps[i - 1].number : -1 };
    for (size_t from = 0, to; from < view->nkernels; from = to) {
        to = tl_device_end(view, from);
        work w = collect(view, view->kernels + from, to - from);
        device_rows(&r, &w, view->kernels[from].device);
        for (int s = 0; s < NSETS; s++)
            tl_spans_free(&w.set[s]);
        free(w.empty.v);
    }
    add_runs(&r);
    tl_table_append(table, r.devices.rows, r.devices.n);
    tl_table_append(table, r.by_step.rows, r.by_step.n);
    tl_table_append(table, r.sums, view->nsteps + 1);
    tl_table_sort(table);
    add_mix_rows(tl_tables_get(out, &tl_mix_schema), view->rank, r.mix_ns);
    for (int s = 0; s < NSETS; s++)
        tl_spans_free(&r.scratch.clipped[s]);
    tl_spans_free(&r.scratch.exposed);
    tl_spans_free(&r.scratch.either);
    tl_spans_free(&r.scratch.exposed_copy);
    tl_table_free(&r.devices);
    tl_table_free(&r.by_step);
    free(r.sums);
    free(r.runs);
}

/* Adds a row for each rank over all steps that every rank has whole, where the others are left out. */
static void add_whole_steps(tl_table *table, const tl_table *health)
{
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map left_out = { 0 };

    TL_ROWS (const tl_health, row, health)
        if (row->rank == -1 && row->done == TL_REMEDY_LEFT_OUT)
            tl_map_put(&left_out, (uint64_t)row->step, 0);
    TL_ROWS (const tl_breakdown, row, table) {
        tl_breakdown *sum = sums.n > 0 ? tl_table_row(&sums, sums.n - 1) : NULL;
        if (left_out.n == 0 || row->device != -1 || row->step < 0 ||
            tl_map_get(&left_out, (uint64_t)row->step) != TL_MAP_NONE)
            continue;
        if (sum == NULL || sum->rank != row->rank) {
            sum = tl_table_add(&sums);
            *sum = (tl_breakdown){ .rank = row->rank, .device = -1, .step = TL_WHOLE_STEPS };
        }
        tl_row_add(&tl_breakdown_schema, sum, row);
    }
    tl_table_append(table, sums.rows, sums.n);
    tl_table_free(&sums);
    tl_map_free(&left_out);
}

/* Rows of the whole job: for the whole trace and for each step the sum over ranks. */
static void breakdown_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_breakdown_schema), *mix_rows = tl_tables_get(job, &tl_mix_schema);
    int64_t mix_ns[NMIXES] = { 0 };
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map index_of = { 0 };

    add_whole_steps(table, tl_tables_get(job, &tl_health_schema));
    TL_ROWS (const tl_breakdown, row, table) {
        uint64_t key = (uint64_t)(int64_t)row->step;
        if (row->device != -1)
            continue;
        if (tl_map_get(&index_of, key) == TL_MAP_NONE) {
            tl_map_put(&index_of, key, (uint32_t)sums.n);
            *(tl_breakdown *)tl_table_add(&sums) = (tl_breakdown){ .rank = -1, .device = -1, .step = row->step };
        }
        tl_row_add(&tl_breakdown_schema, tl_table_row(&sums, tl_map_get(&index_of, key)), row);
    }
    TL_ROWS (const tl_mix, row, mix_rows)
        mix_ns[row->running] = tl_ns_add(mix_ns[row->running], row->time_ns);
    tl_table_append(table, sums.rows, sums.n);
    tl_table_sort(table);
    add_mix_rows(mix_rows, -1, mix_ns);
    tl_table_sort(mix_rows);
    tl_table_free(&sums);
    tl_map_free(&index_of);
}

const tl_analysis tl_breakdown_analysis = {
    .name = "breakdown",
    .question = "Where did the time of each rank go?",
    .tables = TL_SCHEMAS(&tl_breakdown_schema, &tl_mix_schema),
    .per_rank = breakdown_per_rank,
    .reduce = breakdown_reduce,
};
