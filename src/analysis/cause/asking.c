/* asking.c - the question about a suspect and its peers, answered from the work by name of a proc's ranks. */
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

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
        if (runs->n == 0 || runs->v[runs->n - 1].rank != rank) {
            tl_vec_push(runs, (tl_rank_run){ rank, i, i });
        }
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
    uint32_t at = tl_map_get(&a->index_of, key);

    if (at == TL_MAP_NONE) {
        at = (uint32_t)a->found.n;
        tl_vec_room(&a->found);
        tl_map_put(&a->index_of, key, at);
        a->found.v[a->found.n++] =
            (tl_cause_row){ .name = name, .rank = rank, .kind = d->kind, .activity = d->activity, .frame = d->frame };
    }
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
    for (size_t r = 0; r < runs->n; r++) {
        const tl_rank_run *run = &runs->v[r];
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
