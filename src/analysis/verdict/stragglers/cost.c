/* cost.c - the gain of repairing a set of candidates: one replay per set, of the job's graph folded to the nodes that
 * repairs change. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* The time, ns, that a candidate's repair takes off the work of a node; TL_GONE: the node's second edge is dropped. */
typedef struct reduction {
    uint32_t node;     /* of the folded rank, of the job net, and of the folded job net, in turn */
    uint32_t activity; /* tl_activity_kind; of a link COMM */
    int64_t ns;
} reduction;

/* Time, ns, subtracted from the lag of a dropped edge, so that the edge never delays its node. */
#define GONE_NS (INT64_MAX / 2)

typedef struct reduction_list {
    TL_VEC(reduction) of;
} reduction_list;

struct tl_costing {
    const tl_baseline *b;
    const tl_findings *findings;
    size_t ncandidates;
    tl_arena arena;
    reduction_list *reductions; /* by candidate */
    tl_net net;
    bool *repaired;   /* by candidate: its repair is applied to the net */
    int64_t *done_ns; /* [net.n] of the last replay */
    int64_t *ends_ns; /* [nsteps] unchanged */
    int64_t end_ns;   /* of the job, unchanged */
};

static void add_reduction(reduction_list *list, uint32_t node, uint32_t activity, int64_t ns)
{
    tl_vec_push(&list->of, (reduction){ node, activity, ns });
}

tl_repair tl_repair_of(const tl_candidate *u)
{
    return (tl_repair){ .rank = u->link != TL_NONE ? u->link : u->rank,
                        .family = u->family,
                        .drifts = u->shape.pattern == TL_PATTERN_DRIFTING,
                        .on = u->on };
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

/* Returns the end index of the rank's candidates; `first` is their first index. */
static size_t candidates_end(const tl_costing *c, size_t first)
{
    size_t to = first;
    while (to < c->ncandidates && c->findings->candidates.v[to].rank == c->findings->candidates.v[first].rank)
        to++;
    return to;
}

static void put_plans(const tl_costing *c, size_t first, size_t end, tl_bytes *out)
{
    size_t n = end - first;
    tl_bytes_put(out, &n, sizeof n);
    for (size_t u = first; u < end; u++) {
        const tl_repair repair = tl_repair_of(&c->findings->candidates.v[u]);
        tl_repair_plan plan;
        tl_repair_plan_make(c->b, &repair, &plan);
        tl_repair_plan_put(&plan, out);
        tl_repair_plan_free(&plan);
    }
}

static unsigned families_of(const tl_costing *c, size_t first)
{
    unsigned families = 0;
    for (size_t u = first; u < candidates_end(c, first); u++)
        families |= 1U << c->findings->candidates.v[u].family;
    return families;
}

/* Returns the activity that a candidate's time counts as.  Host time around waits (launches) counts as SYNC (COMPUTE)
 * only if the rank also has a late candidate of family WAIT (ADDITIONAL); else as HOST. */
static uint32_t activity_of(const tl_candidate *candidate, uint32_t activity, unsigned families)
{
    bool host = candidate->family == TL_FAMILY_HOST;
    if (host && activity == TL_ACTIVITY_SYNC && (families >> TL_FAMILY_WAIT & 1U) == 0)
        return TL_ACTIVITY_HOST;
    if (host && activity == TL_ACTIVITY_COMPUTE && (families >> TL_FAMILY_ADDITIONAL & 1U) == 0)
        return TL_ACTIVITY_HOST;
    return activity;
}

static void read_reductions(tl_costing *c, size_t first, tl_bytes *in, tl_folded *folded)
{
    const unsigned families = families_of(c, first);
    tl_reduction *list = NULL;
    size_t n;
    tl_bytes_get_list(in, (void **)&list, &n, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        size_t u = first + list[i].candidate;
        add_reduction(&c->reductions[u], list[i].node,
                      activity_of(&c->findings->candidates.v[u], list[i].activity, families), list[i].ns);
    }
    free(list);
    tl_folded_get(folded, in);
}

/* Asks the procs for the reductions of each rank's candidates, and for the rank folded to the nodes that these change.
 * No two candidates reduce the same node or edge, so each candidate's reductions are found once. */
static void find_rank_reductions(tl_costing *c, tl_folded *folded)
{
    const tl_candidate *candidates = c->findings->candidates.v;
    tl_asked asked;
    tl_asked_new(c->b->graph->nranks, &asked);
    for (size_t u = 0; u < c->ncandidates && candidates[u].rank != TL_NONE; u = candidates_end(c, u))
        put_plans(c, u, candidates_end(c, u), &asked.in[candidates[u].rank]);
    tl_ask_ranks(c->b->asker, TL_ASK_CANDIDATES, &asked);
    for (size_t u = 0; u < c->ncandidates && candidates[u].rank != TL_NONE; u = candidates_end(c, u)) {
        read_reductions(c, u, &asked.out[candidates[u].rank], &folded[candidates[u].rank]);
        tl_bytes_free(&asked.out[candidates[u].rank]);
    }
    tl_asked_free(&asked);
}

/* ---------------------------------------------------------------------------------------------------------- job net */

static void reduce_link(tl_costing *c, size_t candidate, const tl_folded *changed, const tl_job_net *job_net)
{
    const tl_repair repair = tl_repair_of(&c->findings->candidates.v[candidate]);
    tl_transfer_list list = { 0 };
    tl_repair_link(c->b, &repair, &list);
    TL_EACH (const tl_transfer_less, less, list) {
        uint32_t node = job_net->meetings + less->of;
        if (less->rank != TL_NONE) {
            const tl_folded *folded = tl_folded_of(c->findings->folded, changed, less->rank);
            node = job_net->base[less->rank] + folded->end_node[less->of];
        }
        add_reduction(&c->reductions[candidate], node, TL_ACTIVITY_COMM, less->ns);
    }
    free(list.v);
}

static void reduce_job_net(tl_costing *c, const tl_folded *changed, const tl_job_net *job_net)
{
    const tl_candidate *candidates = c->findings->candidates.v;
    for (size_t u = 0; u < c->ncandidates; u++) {
        if (candidates[u].rank == TL_NONE) {
            reduce_link(c, u, changed, job_net);
            continue;
        }
        for (size_t i = 0; i < c->reductions[u].of.n; i++)
            c->reductions[u].of.v[i].node += job_net->base[candidates[u].rank];
    }
}

static void mark_reduction(const tl_net *net, const reduction *t, uint8_t *marks)
{
    tl_fold_mark_put(&marks[t->node], t->ns != TL_GONE ? TL_FOLD_WORK : TL_FOLD_EDGES);
    for (uint32_t e = net->first_edge[t->node]; t->ns == TL_GONE && e < net->first_edge[t->node + 1]; e++)
        tl_fold_mark_put(&marks[net->from[e]], TL_FOLD_KEEP);
}

/* Folds the net to the nodes that repairs may change. */
static void fold_net(tl_costing *c, const tl_job_net *job_net)
{
    uint8_t *marks = tl_calloc(job_net->net.n + 1, sizeof *marks);
    uint32_t *number_of = tl_malloc((job_net->net.n + 1) * sizeof *number_of);
    for (size_t u = 0; u < c->ncandidates; u++)
        for (size_t i = 0; i < c->reductions[u].of.n; i++)
            mark_reduction(&job_net->net, &c->reductions[u].of.v[i], marks);
    tl_net_fold(&job_net->net, marks, NULL, &c->net, number_of);
    for (size_t u = 0; u < c->ncandidates; u++)
        for (size_t i = 0; i < c->reductions[u].of.n; i++)
            c->reductions[u].of.v[i].node = number_of[c->reductions[u].of.v[i].node];
    free(marks);
    free(number_of);
}

static void make_net(tl_costing *c)
{
    size_t nranks = c->b->graph->nranks;
    tl_folded *changed = tl_calloc(nranks + 1, sizeof *changed);
    tl_job_net job_net = { 0 };
    find_rank_reductions(c, changed);
    tl_job_net_make(c->b, c->findings->folded, changed, &job_net);
    reduce_job_net(c, changed, &job_net);
    fold_net(c, &job_net);
    for (size_t r = 0; r < nranks; r++)
        tl_folded_free(&changed[r]);
    free(changed);
    tl_job_net_free(&job_net);
}

tl_costing *tl_costing_new(const tl_baseline *b, const tl_findings *findings)
{
    tl_costing *c = tl_calloc(1, sizeof *c);
    c->b = b;
    c->findings = findings;
    c->ncandidates = findings->candidates.n;
    c->reductions = tl_arena_zeroed(&c->arena, c->ncandidates, sizeof *c->reductions);
    c->repaired = tl_arena_zeroed(&c->arena, c->ncandidates, sizeof *c->repaired);
    c->ends_ns = tl_arena_take(&c->arena, b->nsteps, sizeof *c->ends_ns);
    make_net(c);
    c->done_ns = tl_arena_take(&c->arena, c->net.n, sizeof *c->done_ns);
    c->end_ns = tl_net_replay(&c->net, c->done_ns);
    tl_net_step_ends(&c->net, c->done_ns, c->ends_ns);
    return c;
}

void tl_costing_free(tl_costing *c)
{
    if (c == NULL)
        return;
    for (size_t u = 0; c->reductions != NULL && u < c->ncandidates; u++)
        free(c->reductions[u].of.v);
    tl_arena_free(&c->arena);
    tl_net_free(&c->net);
    free(c);
}

/* ------------------------------------------------------------------------------------------------------------- cost */

static void apply_reduction(tl_net *net, const reduction *t, int64_t sign)
{
    if (t->ns == TL_GONE)
        net->lag_ns[net->first_edge[t->node] + 1] -= sign * GONE_NS;
    else
        net->own_ns[t->node] -= sign * t->ns;
}

static bool is_in_part(const tl_candidate *candidate, const reduction *t, const tl_cost_part *part)
{
    if (part == NULL || (part->rank != TL_NONE && candidate->rank != part->rank))
        return true;
    bool in = (part->families >> candidate->family & 1U) != 0 && (part->activities >> t->activity & 1U) != 0;
    return in != part->without;
}

bool tl_cost_has_part(const tl_costing *c, const bool *chosen, const tl_cost_part *part)
{
    const tl_cost_part within = { part->rank, part->families, part->activities, false };
    for (size_t u = 0; u < c->ncandidates; u++)
        for (size_t i = 0; chosen[u] && c->findings->candidates.v[u].rank == part->rank && i < c->reductions[u].of.n;
             i++)
            if (is_in_part(&c->findings->candidates.v[u], &c->reductions[u].of.v[i], &within))
                return true;
    return false;
}

/* Makes the net that of the chosen repairs; changes only candidates that differ from the previous call. */
static void apply_chosen(tl_costing *c, const bool *chosen)
{
    for (size_t u = 0; u < c->ncandidates; u++) {
        for (size_t i = 0; chosen[u] != c->repaired[u] && i < c->reductions[u].of.n; i++)
            apply_reduction(&c->net, &c->reductions[u].of.v[i], chosen[u] ? 1 : -1);
        c->repaired[u] = chosen[u];
    }
}

/* Applies (sign 1) or undoes (-1) the reductions of repaired candidates outside of the part. */
static void apply_outside_part(tl_costing *c, const tl_cost_part *part, int64_t sign)
{
    for (size_t u = 0; part != NULL && u < c->ncandidates; u++) {
        const tl_candidate *candidate = &c->findings->candidates.v[u];
        bool whole = !c->repaired[u] || (part->rank != TL_NONE && candidate->rank != part->rank);
        for (size_t i = 0; !whole && i < c->reductions[u].of.n; i++)
            if (!is_in_part(candidate, &c->reductions[u].of.v[i], part))
                apply_reduction(&c->net, &c->reductions[u].of.v[i], sign);
    }
}

int64_t tl_cost_of_part(tl_costing *c, const bool *chosen, const tl_cost_part *part)
{
    apply_chosen(c, chosen);
    apply_outside_part(c, part, -1);
    int64_t end = tl_net_replay(&c->net, c->done_ns);
    apply_outside_part(c, part, 1);
    return c->findings->whole_ns - tl_net_whole_ns(&c->net, c->b, c->done_ns, c->findings->start_ns, end);
}

int64_t tl_cost_of(tl_costing *c, const bool *chosen)
{
    return tl_cost_of_part(c, chosen, NULL);
}

void tl_step_gains(const int64_t *ends_ns, size_t n, int64_t *step_ns)
{
    int64_t before = 0;
    for (size_t s = 0; s < n; s++) {
        int64_t gained = ends_ns[s] - step_ns[s];
        step_ns[s] = gained - before;
        before = gained;
    }
}

void tl_cost_by_step(const tl_costing *c, int64_t *step_ns)
{
    tl_net_step_ends(&c->net, c->done_ns, step_ns);
    tl_step_gains(c->ends_ns, c->b->nsteps, step_ns);
}
