/* asking.c - selects the stragglers to explain, the steps to look at, and the peers to compare with: a question, which
 * each proc answers from the work by name of its ranks.
 */
#include "tlmpi/analysis/verdict/cause.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- the question */

/* The largest number of peers in a comparison. */
enum { PEERS_MOST = 64 };

static bool is_straggler(const tl_straggler *row)
{
    return row->verdict == TL_VERDICT_STRAGGLER;
}

void tl_suspects_list(const tl_table *stragglers, uint32_t **suspects, size_t *n)
{
    *n = 0;
    *suspects = tl_malloc((stragglers->n + 1) * sizeof **suspects);
    for (uint32_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (is_straggler(row) && row->cause != TL_CAUSE_UNKNOWN && row->cause != TL_CAUSE_SLOW_LINK &&
            row->cause != TL_CAUSE_OTHER_GROUP)
            (*suspects)[(*n)++] = i;
    }
}

static int64_t role_of(const tl_cause_input *in, int32_t rank)
{
    size_t r = tl_index_of(in->ranks, in->nranks, rank);
    return r < in->nranks ? (int64_t)in->roles[r] : -1;
}

/* Lists the suspect's peers: ranks of its role or, with `any`, all ranks; stragglers only if there are no others.  A
 * suspect with marked steps is compared only with ranks that have marked steps. */
static size_t list_peers(const tl_cause_input *in, const tl_table *stragglers, const tl_straggler *suspect, bool any,
                         int32_t *peers)
{
    int64_t role = role_of(in, suspect->rank);
    size_t n = 0;
    for (int with_stragglers = 0; n == 0 && with_stragglers < 2; with_stragglers++)
        TL_ROWS (const tl_straggler, row, stragglers) {
            if (suspect->steps_from == TL_STEPS_MARKED && row->steps_from != TL_STEPS_MARKED)
                continue;
            if (row->rank != suspect->rank && (with_stragglers || !is_straggler(row)) &&
                (any || role_of(in, row->rank) == role))
                peers[n++] = row->rank;
        }
    if (n <= PEERS_MOST)
        return n;
    for (size_t i = 0; i < PEERS_MOST; i++)
        peers[i] = peers[i * n / PEERS_MOST];
    return PEERS_MOST;
}

void tl_asking_make(const tl_cause_input *in, tl_tables *tables, const tl_straggler *row, tl_asking *a)
{
    const tl_table *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    const size_t first = tl_table_from_rank(steps, row->rank), end = tl_table_from_rank(steps, row->rank + 1);
    a->ranks = tl_malloc((stragglers->n + 1) * sizeof *a->ranks);
    a->steps = tl_malloc((end - first + 1) * sizeof *a->steps);
    a->others = tl_malloc((end - first + 1) * sizeof *a->others);
    a->ranks[0] = row->rank;
    a->against = (tl_against)row->against;
    a->nranks = 1 + (row->against == TL_AGAINST_OWN_STEPS ? 0 : list_peers(in, stragglers, row, false, a->ranks + 1));
    for (size_t i = first; i < end; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged)
            continue;
        a->steps[a->nsteps++] = step->step;
        a->least_ns = tl_ns_add(a->least_ns, (int64_t)(in->least_cost * (double)step->step_ns));
    }
    for (size_t i = first; a->nranks == 1 && i < end && a->nothers < PEERS_MOST; i++) {
        const tl_blame_step *step = tl_table_row(steps, i);
        if (!step->flagged && row->pattern != TL_PATTERN_NONE)
            a->others[a->nothers++] = step->step;
    }
    if (row->steps_from != TL_STEPS_MARKED) { /* without step marks, work by name has no steps: all of it is compared */
        a->steps[0] = TL_ALL_STEPS;
        a->nsteps = 1;
        a->nothers = 0;
    }
    if (a->nranks == 1 && a->nothers < TL_MEDIAN_LEAST) {
        a->nothers = 0;
        a->against = TL_AGAINST_STAGES;
        a->nranks = 1 + list_peers(in, stragglers, row, true, a->ranks + 1);
    }
}

void tl_asking_free(tl_asking *a)
{
    if (a->told == NULL) {
        free(a->ranks);
        free(a->steps);
        free(a->others);
    }
    free(a->told);
    *a = (tl_asking){ 0 };
}

/* ------------------------------------------------------------------------------------------------------ the answer */

static void add_numbers(tl_map *map, const int32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tl_map_put(map, (uint64_t)(int64_t)numbers[i], 1);
}

/* Returns a number that stands for the suspect's other step at index `at`; no rank has such a number. */
static int32_t number_of_other(uint32_t at)
{
    return -2 - (int32_t)at;
}

void tl_rank_runs_list(const tl_work_by_name *work_by_name, tl_rank_runs *runs)
{
    for (size_t i = 0; i < work_by_name->rows.n; i++) {
        int32_t rank = work_by_name->rows.v[i].rank;
        if (runs->n == 0 || runs->v[runs->n - 1].rank != rank)
            tl_vec_push(runs, (tl_rank_run){ rank, i, i });
        runs->v[runs->n - 1].end = i + 1;
    }
}

/* Returns the rank of a row if its step is in the question, number_of_other if its step is an "other" step; INT32_MIN:
 * neither. */
static int32_t rank_in_question(const tl_named_work *d, const tl_map *steps, const tl_map *others)
{
    uint32_t other = tl_map_get(others, (uint64_t)(int64_t)d->step);
    if (tl_map_get(steps, (uint64_t)(int64_t)d->step) != TL_MAP_NONE ||
        tl_map_get(steps, (uint64_t)(int64_t)TL_ALL_STEPS) != TL_MAP_NONE)
        return d->rank;
    return other != TL_MAP_NONE ? number_of_other(other) : INT32_MIN;
}

static int64_t product_of(int64_t x, size_t n)
{
    int64_t product;
    return __builtin_mul_overflow(x, (int64_t)n, &product) ? x : product;
}

/* One proc's answer: a row for each name of each rank. */
typedef struct answering {
    const tl_work_by_name *work_by_name;
    const tl_asking *of;
    tl_map steps, others, index_of;
    TL_VEC(tl_cause_row) found;
} answering;

/* Returns the row of a name of a rank, adding it if it is new. */
static tl_cause_row *row_for(answering *a, const tl_named_work *d, int32_t rank)
{
    uint64_t name = a->work_by_name->names.v[d->name].key;
    uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)(int64_t)rank, d->kind), name);
    const uint32_t at = tl_map_number(&a->index_of, key, a->found.n);

    if (at >= a->found.n)
        tl_vec_push(
            &a->found,
            (tl_cause_row){ .name = name, .rank = rank, .kind = d->kind, .activity = d->activity, .frame = d->frame });
    return &a->found.v[at];
}

static void add_named_work(answering *a, const tl_named_work *d)
{
    int32_t rank = rank_in_question(d, &a->steps, &a->others);
    if (rank == INT32_MIN)
        return;
    tl_cause_row *row = row_for(a, d, rank);
    size_t n_times = rank == d->rank ? 1 : a->of->nsteps;
    row->ns = tl_ns_add(row->ns, product_of(d->ns, n_times));
    row->size = tl_ns_add(row->size, product_of(d->size, n_times));
    row->count += d->count * (uint32_t)n_times;
    row->depth = d->depth > row->depth ? d->depth : row->depth;
}

void tl_asking_answer(const tl_work_by_name *work_by_name, const tl_rank_runs *runs, const tl_asking *of,
                      tl_cause_row **rows, size_t *n)
{
    tl_map ranks = { 0 };
    answering a = { .work_by_name = work_by_name, .of = of };
    add_numbers(&ranks, of->ranks, of->nranks);
    add_numbers(&a.steps, of->steps, of->nsteps);

    for (uint32_t i = 0; i < of->nothers; i++)
        tl_map_put(&a.others, (uint64_t)(int64_t)of->others[i], i);
    TL_EACH (const tl_rank_run, run, *runs) {
        bool asked = tl_map_get(&ranks, (uint64_t)(int64_t)run->rank) != TL_MAP_NONE;
        for (size_t i = run->first; asked && i < run->end; i++)
            add_named_work(&a, &work_by_name->rows.v[i]);
    }
    tl_map_free(&ranks);
    tl_map_free(&a.steps);
    tl_map_free(&a.others);
    tl_map_free(&a.index_of);
    *rows = a.found.v;
    *n = a.found.n;
}
