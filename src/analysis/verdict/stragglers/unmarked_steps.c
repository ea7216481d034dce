/* unmarked_steps.c - steps without marks: of a job without any marks, from the period of its collectives; of single
 * ranks without marks, from the collectives that they share with marked ranks.
 *
 * If no rank marks steps:
 *
 *     the rank with most collectives, in order of launch      a b . . . c | a b . . . c | a b . . . c
 *     steps begin with the first collective if periods fill the recording, except in pipelines; else after the
 *     collective with most ranks, at its longest pause                              0             1
 *     a collective without that rank has the step of the next known collective of its lowest rank
 *
 * If some ranks mark steps, a collective with one of them has its step.  Any other collective has the step of the next
 * known collective of its lowest rank.
 *
 * Collectives are in order of launch, since on several streams they may start in any order.  A collective has one step
 * for all its ranks; the work of a rank before a collective is in that step, too.
 */
#include "tlmpi/analysis/verdict/stragglers/step.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sequence_period.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

enum { FEWEST_STEPS = 2, UNKNOWN = INT32_MIN };

/* A rank's part in a collective. */
typedef struct participation {
    uint32_t turn, row, nkernels; /* nkernels: number of kernels that the rank computed since its previous collective */
} participation;

typedef struct numbering {
    tl_late_row *rows;
    size_t nrows;
    tl_arena arena;
    uint32_t *collective_of; /* [nrows] */
    int32_t *step_of;        /* [ncollectives <= nrows] */
    const tl_rank_graphs *graphs;
    size_t *first;                 /* [ngraphs + 1]: first participation of each rank */
    participation *participations; /* by rank, in order of launch */
    tl_map row_of;                 /* (rank, uid) */
} numbering;

static void numbering_free(numbering *n)
{
    tl_map_free(&n->row_of);
    tl_arena_free(&n->arena);
}

static uint64_t kernel_key(int32_t rank, uint32_t uid)
{
    return (uint64_t)(uint32_t)rank << 32 | uid;
}

TL_SORT_BY(by_turn, participation, turn, row)

static void list_parts(numbering *n)
{
    size_t ngraphs = n->graphs->of.n, ncollectives = 0, ntaken = 0;

    n->collective_of = tl_arena_take(&n->arena, n->nrows, sizeof *n->collective_of);
    n->step_of = tl_arena_take(&n->arena, n->nrows, sizeof *n->step_of);
    n->first = tl_arena_take(&n->arena, ngraphs + 1, sizeof *n->first);
    n->participations = tl_arena_take(&n->arena, n->nrows, sizeof *n->participations);
    for (size_t i = 0; i < n->nrows; i++) {
        const tl_late_row *row = &n->rows[i];
        ncollectives += i == 0 || row->collective != row[-1].collective;
        n->collective_of[i] = (uint32_t)ncollectives - 1;
        n->step_of[ncollectives - 1] = UNKNOWN;
        if (row->fits)
            tl_map_put(&n->row_of, kernel_key(row->rank, row->uid), (uint32_t)i);
    }
    for (size_t g = 0; g < ngraphs; g++) {
        const tl_rank_graph *of = &n->graphs->of.v[g];
        n->first[g] = ntaken;
        for (size_t i = 0; i < of->ncomms; i++) {
            const tl_node_comm *c = &of->comms[i];
            uint32_t row = tl_map_get(&n->row_of, kernel_key(of->rank, c->uid));
            if (row != TL_MAP_NONE && ntaken < n->nrows)
                n->participations[ntaken++] = (participation){ .turn = c->turn, .row = row, .nkernels = c->nwork };
        }
        if (ntaken - n->first[g] > 1)
            qsort(n->participations + n->first[g], ntaken - n->first[g], sizeof *n->participations, by_turn);
    }
    n->first[ngraphs] = ntaken;
}

/* -------------------------------------------------------------------------------------------------------- one rank */

/* Returns the participations of the rank with the most, *nown of them; ties go to the lowest rank. */
static const participation *choose_rank(const numbering *n, size_t *nown)
{
    const participation *own = n->participations;
    *nown = 0;
    for (size_t g = 0; g < n->graphs->of.n; g++)
        if (n->first[g + 1] - n->first[g] > *nown) {
            *nown = n->first[g + 1] - n->first[g];
            own = n->participations + n->first[g];
        }
    return own;
}

/* Returns the first collective with known bytes, 0 if there is none: collectives launched before the recording began
 * lack metadata that others of their kind have. */
static size_t first_known(const numbering *n, const participation *own, size_t nown)
{
    for (size_t i = 0; i < nown; i++)
        if (n->rows[own[i].row].bytes >= 0)
            return i;
    return 0;
}

/* Returns the number of ranks in the collective of the row. */
static size_t count_ranks(const numbering *n, uint32_t row)
{
    size_t from = row, to = row + 1;
    while (from > 0 && n->collective_of[from - 1] == n->collective_of[row])
        from--;
    while (to < n->nrows && n->collective_of[to] == n->collective_of[row])
        to++;
    return to - from;
}

/* A position in a period.  met: the largest number of ranks in the collective before it; pause_ns: mean pause of the
 * rank there, ns. */
typedef struct seam {
    size_t at, met;
    double pause_ns;
} seam;

static seam seam_at(const numbering *n, const participation *own, size_t nown, size_t period, size_t at)
{
    seam s = { .at = at };
    size_t count = 0;
    for (size_t i = at > 0 ? at : period; i < nown; i += period, count++) {
        int64_t ns = tl_ns_between(n->rows[own[i].row].start_ns, n->rows[own[i - 1].row].end_ns);
        size_t met = count_ranks(n, own[i - 1].row);
        s.pause_ns += ns > 0 ? (double)ns : 0;
        s.met = met > s.met ? met : s.met;
    }
    s.pause_ns = count > 0 ? s.pause_ns / (double)count : -1;
    return s;
}

/* Returns the position in a period at which steps begin: the first if periods fill the recording, since a profiler's
 * schedule records whole steps, but not of a pipeline: there the first stage may be micro-batches ahead, in a step that
 * the last stage has not begun.  Else the position after the collective with the most ranks: work after such a
 * collective is in one step on all its ranks; of several, the one with the longest mean pause after it. */
static size_t find_seam(const numbering *n, const participation *own, size_t nown, size_t period)
{
    seam best = { .pause_ns = -1 };
    bool whole = nown % period == 0;
    for (size_t i = 0; i < period; i++)
        whole = whole && !tl_is_point_to_point((tl_collective)n->rows[own[i].row].kind);
    if (whole)
        return 0;
    for (size_t at = 0; at < period; at++) {
        seam s = seam_at(n, own, nown, period, at);
        if (s.met > best.met || (s.met == best.met && s.pause_ns > best.pause_ns))
            best = s;
    }
    return best.at;
}

/* What distinguishes the collectives of a rank, from the least on.  BY_SIZE adds the bytes of synchronising
 * collectives: the bytes of others may depend on the data.  BY_KERNELS and BY_LATER_KERNELS add the approximate number
 * of kernels that the rank ran before: it marks the first collective of a step, which follows the optimizer.
 * BY_LATER_KERNELS skips the first quarter, since the first steps may do more. */
enum { BY_KIND, BY_SIZE, BY_LATER_KERNELS, BY_KERNELS };

/* Returns the number of binary digits of n: a step with a few more kernels, as for logging, is the same as the
 * others. */
static uint64_t binary_digits(uint32_t n)
{
    uint64_t digits = 0;
    for (; n > 0; n >>= 1)
        digits++;
    return digits;
}

static uint64_t token_of(const numbering *n, const participation *p, int by)
{
    const tl_late_row *row = &n->rows[p->row];
    bool told = by >= BY_SIZE && tl_is_synchronising((tl_collective)row->kind);
    uint64_t token =
        tl_hash_mix(tl_hash_mix(row->kind, told ? (uint64_t)row->bytes : 0), (uint64_t)(uint32_t)row->group);
    return by >= BY_LATER_KERNELS ? tl_hash_mix(token, binary_digits(p->nkernels)) : token;
}

/* Numbers the steps of the collectives of one rank. */
static void number_one(numbering *n, size_t *nsteps)
{
    size_t nown, period = 0;
    const participation *own = choose_rank(n, &nown);
    size_t known = first_known(n, own, nown);
    uint64_t *tokens = tl_malloc((nown + 1) * sizeof *tokens);
    int64_t *times_ns = tl_malloc((nown + 1) * sizeof *times_ns);

    for (int by = BY_KERNELS; period == 0 && by >= BY_KIND; by--) {
        size_t from = known + (by == BY_LATER_KERNELS ? (nown - known) / 4 : 0); /* the first steps may do more */
        for (size_t i = from; i < nown; i++) {
            tokens[i - from] = token_of(n, &own[i], by);
            times_ns[i - from] = n->rows[own[i].row].start_ns;
        }
        tl_sequence_period(tokens, times_ns, nown - from, &period);
    }
    if (period > 0) {
        size_t begin = known + find_seam(n, own + known, nown - known, period);
        *nsteps = (nown - begin) / period;
        for (size_t i = 0; *nsteps >= FEWEST_STEPS && i < nown; i++) {
            bool in = i >= begin && (i - begin) / period < *nsteps;
            n->step_of[n->collective_of[own[i].row]] = in ? (int32_t)((i - begin) / period) : -1;
        }
    }
    free(tokens);
    free(times_ns);
}

/* ------------------------------------------------------------------------------------------------------- all ranks */

/* Gives a collective without a step the step of the next known collective on one of its ranks, round by round until
 * nothing changes. */
static void spread(numbering *n)
{
    size_t ngraphs = n->graphs->of.n;
    bool changed = true;
    for (size_t round = 0; changed && round < ngraphs; round++) {
        changed = false;
        for (size_t g = 0; g < ngraphs; g++) {
            int32_t next = UNKNOWN;
            for (size_t i = n->first[g + 1]; i-- > n->first[g];) {
                int32_t *step = &n->step_of[n->collective_of[n->participations[i].row]];
                changed = changed || (*step == UNKNOWN && next != UNKNOWN);
                next = *step != UNKNOWN ? *step : next;
                *step = next;
            }
        }
    }
    for (size_t i = 0; i < n->nrows; i++)
        n->rows[i].step = n->step_of[n->collective_of[i]] != UNKNOWN ? n->step_of[n->collective_of[i]] : -1;
}

void tl_unmarked_number(tl_late_row *rows, size_t nrows, const tl_rank_graphs *graphs, size_t *nsteps)
{
    numbering n = { .rows = rows, .nrows = nrows, .graphs = graphs };

    *nsteps = 0;
    tl_mem_indexable(nrows);
    list_parts(&n);
    number_one(&n, nsteps);
    if (*nsteps >= FEWEST_STEPS)
        spread(&n);
    else
        *nsteps = 0;
    numbering_free(&n);
}

/* -------------------------------------------------------------------------------------------- some ranks mark steps */

/* Sets the steps of collectives with a marked rank; -1 where it launched outside of its steps.  Collectives of unmarked
 * ranks alone stay UNKNOWN.  Returns whether an unmarked rank shares a collective that has a step. */
static bool take_marked(numbering *n, const int32_t *marked, size_t nmarked)
{
    bool any = false;
    for (size_t i = 0; i < n->nrows; i++) {
        const tl_late_row *row = &n->rows[i];
        int32_t *step = &n->step_of[n->collective_of[i]];
        if (tl_index_of(marked, nmarked, row->rank) == nmarked)
            continue;
        if (row->own_step >= 0 && (*step < 0 || row->own_step == row->step))
            *step = row->own_step;
        else if (*step == UNKNOWN)
            *step = -1;
    }
    for (size_t i = 0; i < n->nrows; i++)
        any = any || (n->rows[i].fits && n->step_of[n->collective_of[i]] >= 0 &&
                      tl_index_of(marked, nmarked, n->rows[i].rank) == nmarked);
    return any;
}

void tl_unmarked_follow(tl_late_row *rows, size_t nrows, const int32_t *marked, size_t nmarked,
                        const tl_rank_graphs *graphs, bool *follow)
{
    numbering n = { .rows = rows, .nrows = nrows, .graphs = graphs };

    tl_mem_indexable(nrows);
    list_parts(&n);
    *follow = take_marked(&n, marked, nmarked);
    if (*follow)
        spread(&n);
    numbering_free(&n);
}
