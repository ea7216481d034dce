/* rows.c - writes findings as rows of the result's tables. */
#include "internal.h"
#include "tlmpi/analysis/collective/wait/blame.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ links */

/* Rows of slow links.  Both ranks of a link of two are named; of a larger group no trace shows which ranks
 * are at the ends of the slow part. */

typedef struct link_writing {
    const tl_findings *j;
    const tl_baseline *b;
    const tl_verdict_ranks *in;
    int64_t *scratch;
} link_writing;

/* ------------------------------------------------------------------------------------------------------------- link */

/* Fills the transfer columns for the kind and size with the largest excess: mean time of one transfer, and its
 * baseline. */
static void fill_transfer(const link_writing *w, const tl_candidate *candidate, tl_slow_link_row *row)
{
    const tl_baseline *b = w->b;
    const tl_link_ranks *link = &b->links[candidate->link];
    int64_t most = INT64_MIN;

    for (size_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        if (class->family != TL_FAMILY_TRANSFER || class->role != candidate->role)
            continue;
        int64_t own_ns, baseline_ns = tl_baseline_of(b, class, link->member, candidate->on, &own_ns, w->scratch),
                        pieces = 0;
        bool like = false;
        for (size_t i = 0; i < b->roles[class->role].n * class->steps.n; i++) {
            bool own = i / class->steps.n == link->member, on = candidate->on[class->steps.v[i % class->steps.n]];
            pieces += own && on ? class->pieces[i] : 0;
            like = like || (!own && on && class->pieces[i] > 0);
        }
        if (pieces == 0 || own_ns - baseline_ns <= most)
            continue;
        most = own_ns - baseline_ns;
        row->kind = tl_transfer_kind(class->key);
        row->bytes = tl_transfer_bytes(class->key);
        row->transfer_ns = own_ns / pieces;
        row->elsewhere_ns = baseline_ns / pieces;
        row->ratio = baseline_ns > 0 ? (double)own_ns / (double)baseline_ns : NAN;
        row->evidence = like ? TL_LINK_BY_GROUPS : TL_LINK_BY_STEPS;
    }
}

static void add_link(const link_writing *w, const tl_candidate *u, int32_t number, tl_slow_link_row *row,
                     int32_t *ranks)
{
    const tl_link_ranks *link = &w->b->links[u->link];
    *row = (tl_slow_link_row){ .link = number,
                               .group = link->group,
                               .excess_ns = u->late_ns,
                               .z = u->z,
                               .pattern = (uint8_t)u->shape.pattern,
                               .first_step = tl_step_number(w->b, u->shape.first),
                               .last_step = tl_step_number(w->b, u->shape.last),
                               .p_value = u->p,
                               .gain_ns = u->solo_gain_ns };
    for (uint32_t i = 0; i < link->n; i++)
        ranks[i] = w->in->ranks[w->b->link_members[link->first + i]];
    tl_ranks_text(ranks, link->n, row->ranks, sizeof row->ranks);
    fill_transfer(w, u, row);
    row->rank = link->n == 2 ? ranks[0] : -1;
    row->peer = link->n == 2 ? ranks[1] : -1;
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

static tl_straggler *row_of(const link_writing *w, tl_table *stragglers, size_t rank)
{
    return tl_table_row(stragglers, stragglers->n - w->in->nranks + rank);
}

/* Names a rank for its slow link, unless it is named already for another cause with at least half of the link's gain,
 * or for a link with at least the same gain. */
static void name_rank(const link_writing *w, const tl_slow_link_row *link, const tl_candidate *candidate,
                      tl_straggler *row)
{
    size_t nup = 0, nfull = 0;
    const int64_t gain_ns = candidate->solo_gain_ns;
    if (row->verdict == TL_VERDICT_STRAGGLER &&
        row->gain_ns >= (row->cause == TL_CAUSE_SLOW_LINK ? gain_ns : gain_ns / 2))
        return;
    for (size_t s = 0; s < w->b->nsteps; s++) {
        nup += candidate->on[s];
        nfull += !w->b->cut[s];
    }
    row->verdict = TL_VERDICT_STRAGGLER;
    row->cause = row->largest_cause = TL_CAUSE_SLOW_LINK;
    row->cause_share = 1;
    row->pattern = link->pattern;
    row->first_step = link->first_step;
    row->last_step = link->last_step;
    row->share_steps = nfull > 0 ? (double)nup / (double)nfull : NAN;
    row->z = candidate->z;
    row->p_value = candidate->p;
    row->gain_ns = gain_ns;
    row->slowdown = tl_slowdown_of(w->j, gain_ns);
    snprintf(row->reason, sizeof row->reason, "%s of %.30s takes %.1f times as long as %s (p %.1e)",
             tl_collective_labels[link->kind], link->ranks, link->ratio,
             link->evidence == TL_LINK_BY_GROUPS ? "on links like it" : "in other steps", candidate->p);
}

static void write_links(const link_writing *w, tl_tables *tables)
{
    tl_table *links = tl_tables_get(tables, &tl_slow_link_row_schema);
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int32_t *ranks = tl_malloc((w->b->graph->nranks + 1) * sizeof *ranks), number = 0;

    TL_EACH (const tl_candidate, candidate, w->j->candidates) {
        tl_slow_link_row row;
        if (!candidate->needed || candidate->link == TL_NONE)
            continue;
        const tl_link_ranks *link = &w->b->links[candidate->link];
        add_link(w, candidate, number++, &row, ranks);
        tl_table_append(links, &row, 1);
        for (uint32_t i = 0; link->n == 2 && i < link->n; i++)
            name_rank(w, &row, candidate, row_of(w, stragglers, w->b->link_members[link->first + i]));
    }
    free(ranks);
    if (number > 0)
        tl_whatif_add(w->j, TL_SCENARIO_LINKS, -1, w->j->links_ns, whatif);
}

/* Appends the rows of link, and the parts of straggler and whatif about links, after the rows of ranks. */
static void link_rows(const tl_findings *j, const tl_baseline *b, const tl_verdict_ranks *in, tl_tables *tables)
{
    tl_arena arena = { 0 };
    link_writing w = { .j = j,
                       .b = b,
                       .in = in,
                       .scratch = tl_arena_take(&arena, b->nlinks + b->graph->nranks + b->nsteps, sizeof *w.scratch) };
    write_links(&w, tables);
    tl_arena_free(&arena);
}

/* Summary of a rank's candidates. */
typedef struct rank_candidates {
    bool *on; /* [nsteps] a candidate is late */
    bool any, slight, drifts;
    int64_t solo_gain_ns; /* largest solo gain of a candidate, ns */
    double z, p;
} rank_candidates;

typedef struct writing {
    const tl_findings *j;
    const tl_baseline *b;
    const tl_verdict_ranks *in;
    tl_arena arena;
    size_t *index;    /* [nsteps] steps that have rows: their indices among the baseline's steps */
    int32_t *numbers; /* [nsteps] */
    size_t nsteps;
    rank_candidates all, needed; /* of the current rank: all its candidates, and the needed ones */
    const tl_table *groups;
    int64_t *delay_cost_ns; /* [ranks * nsteps] */
} writing;

/* Lists the steps that have a number; if no step has one, the whole time as one step. */
static void list_steps(writing *w)
{
    const tl_baseline *b = w->b;
    for (size_t s = 0; s < b->nsteps; s++)
        if (b->steps[s] >= 0 && b->steps[s] != TL_STEP_AFTER) {
            w->index[w->nsteps] = s;
            w->numbers[w->nsteps++] = b->steps[s];
        }
    if (w->nsteps == 0 && b->nsteps > 0) {
        w->index[0] = 0;
        w->numbers[w->nsteps++] = -1;
    }
}

/* ------------------------------------------------------------------------------------------------------- candidates */

static void new_rank_candidates(writing *w, rank_candidates *out)
{
    out->on = tl_arena_take(&w->arena, w->b->nsteps, sizeof *out->on);
}

static void clear(const writing *w, rank_candidates *out)
{
    memset(out->on, 0, w->b->nsteps * sizeof *out->on);
    *out = (rank_candidates){ .on = out->on, .z = NAN, .p = NAN };
}

/* Returns what a role's ranks are compared with by default: its own other steps if the role has one rank, the other
 * stage if the role is two inner stages, else peers. */
static tl_against against_of(const tl_baseline *b, uint32_t role)
{
    return b->roles[role].n == 1       ? TL_AGAINST_OWN_STEPS
           : tl_is_two_stages(b, role) ? TL_AGAINST_STAGES
                                       : TL_AGAINST_PEERS;
}

static void add_candidate(const writing *w, const tl_candidate *candidate, bool slight, rank_candidates *to)
{
    for (size_t s = 0; s < w->b->nsteps; s++) {
        to->on[s] = to->on[s] || candidate->on[s];
    }
    to->any = true;
    to->slight = to->slight || slight;
    to->drifts = to->drifts || candidate->shape.pattern == TL_PATTERN_DRIFTING;
    to->solo_gain_ns = tl_ns_max(to->solo_gain_ns, candidate->solo_gain_ns);
    to->z = fmax(to->z, candidate->z); /* fmax ignores NAN */
    to->p = fmin(to->p, candidate->p);
}

/* Adds the rank's candidates among candidates[n], which ascend by rank. */
static void add_candidates(writing *w, size_t rank, const tl_candidate *candidates, size_t n, bool slight)
{
    size_t u = 0;
    TL_BISECT(u, n, mid, candidates[mid].rank < rank);
    for (; u < n && candidates[u].rank == rank; u++) {
        add_candidate(w, &candidates[u], slight, &w->all);
        if (candidates[u].needed)
            add_candidate(w, &candidates[u], slight, &w->needed);
    }
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void add_steps(const writing *w, size_t rank, tl_straggler *straggler, tl_table *blame_step)
{
    for (size_t i = 0; i < w->nsteps; i++) {
        size_t s = w->index[i], at = rank * w->b->nsteps + s;
        const tl_blame_step row = { .rank = w->in->ranks[rank],
                                    .step = w->numbers[i],
                                    .blame_ns = w->delay_cost_ns[rank * w->nsteps + i],
                                    .excess_ns = tl_ns_min(w->j->late_ns[at], w->j->step_ns[s]),
                                    .z = w->j->z[at],
                                    .flagged = w->needed.on[s],
                                    .gain_ns = w->j->rank_step_ns[at] > 0 ? w->j->rank_step_ns[at] : 0,
                                    .step_ns = w->j->step_ns[s] };
        straggler->blame_ns += row.blame_ns;
        tl_table_append(blame_step, &row, 1);
    }
}

/* --------------------------------------------------------------------------------------------------------- patterns */

/* Fills the pattern of the steps of all needed candidates of a rank. */
static void put_pattern(const writing *w, tl_straggler *row)
{
    tl_shape shape;
    tl_put_pattern(w->b, w->needed.on, w->needed.drifts, &shape, &row->share_steps);
    row->pattern = (uint8_t)shape.pattern;
    row->first_step = shape.nup > 0 ? tl_step_number(w->b, shape.first) : -1;
    row->last_step = shape.nup > 0 ? tl_step_number(w->b, shape.last) : -1;
}

static size_t full_steps(const writing *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->nsteps; i++)
        n += !w->b->cut[w->index[i]];
    return n;
}

static size_t judged_steps(const writing *w, size_t rank)
{
    size_t n = 0;
    for (size_t i = 0; i < w->nsteps; i++)
        n += !w->b->cut[w->index[i]] && !tl_is_unjudged(w->b, rank, w->index[i]);
    return n;
}

/* A rank's number of late full steps and of full steps, and its gain as a share of the time of the steps in which it is
 * late. */
typedef struct lateness {
    size_t nup, nfull;
    double share;
} lateness;

static lateness lateness_of(const writing *w, const rank_candidates *candidates, int64_t gain_ns)
{
    lateness l = { .nfull = full_steps(w) };
    int64_t span = 0;
    for (size_t i = 0; i < w->nsteps; i++)
        l.nup += candidates->on[w->index[i]];
    for (size_t s = 0; s < w->b->nsteps; s++)
        span += candidates->on[s] ? w->j->step_ns[s] : 0;
    l.share = span > 0 ? (double)gain_ns / (double)span : 0;
    return l;
}

static void write_reason(const writing *w, tl_straggler *row)
{
    lateness l = lateness_of(w, &w->needed, row->gain_ns);
    bool seconds = row->gain_ns >= 1000000000;
    snprintf(row->reason, sizeof row->reason,
             "it is late in %zu of %zu steps; repaired, the job takes %.3f %s less (p = %.1e)", l.nup, l.nfull,
             (double)row->gain_ns / (seconds ? 1e9 : 1e6), seconds ? "s" : "ms", row->p_value);
}

/* Writes the reason of a rank that is late but not needed; its cost is the largest solo gain of its candidates. */
static void write_costless_reason(const writing *w, tl_straggler *row)
{
    lateness l = lateness_of(w, &w->all, w->all.solo_gain_ns);
    snprintf(row->reason, sizeof row->reason, "it is late in %zu of %zu steps, which costs %s %.2f %% of %s", l.nup,
             l.nfull, w->all.slight ? "at most" : "only", 100 * l.share, l.nup == 1 ? "it" : "them");
}

/* Whether the rank is the only traced one in a group of unknown size: no trace shows the waits of the other members. */
static bool meets_unknown(const writing *w, size_t rank)
{
    TL_ROWS (const tl_group_row, row, w->groups) {
        int32_t only = -1;
        if (row->size <= 0 && row->seen == 1 && tl_ranks_of_text(row->ranks, sizeof row->ranks, &only, 1) == 1 &&
            only == w->in->ranks[rank])
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

tl_straggler tl_straggler_empty(int32_t rank, const char *reason)
{
    tl_straggler row = { .rank = rank,
                         .z = NAN,
                         .share_steps = NAN,
                         .first_step = -1,
                         .last_step = -1,
                         .p_value = NAN,
                         .cause_share = NAN,
                         .gain_ns = -1,
                         .slowdown = NAN };
    snprintf(row.reason, sizeof row.reason, "%s", reason);
    return row;
}

static void add_rank(writing *w, size_t rank, tl_table *blame_step, tl_table *straggler)
{
    tl_straggler row = tl_straggler_empty(w->in->ranks[rank], "it is late in no step by more than chance explains");
    row.late_count = w->in->late_counts[rank];
    row.share_steps = 0;
    row.cause = (uint8_t)w->j->causes[rank].cause;
    row.largest_cause = (uint8_t)w->j->causes[rank].largest;
    row.cause_share = w->j->causes[rank].share;
    row.gain_ns = w->j->rank_ns[rank];
    row.against = (uint8_t)against_of(w->b, w->b->role_of[rank]);

    clear(w, &w->all);
    clear(w, &w->needed);
    add_candidates(w, rank, w->j->candidates.v, w->j->candidates.n, false);
    add_candidates(w, rank, w->j->slight.v, w->j->slight.n, true);
    if (w->needed.any) {
        row.verdict = TL_VERDICT_STRAGGLER;
        row.z = w->needed.z;
        row.p_value = w->needed.p;
        if (row.gain_ns >= 0)
            row.slowdown = tl_slowdown_of(w->j, row.gain_ns);
        put_pattern(w, &row);
        write_reason(w, &row);
    } else if (w->all.any && meets_unknown(w, rank)) {
        lateness l = lateness_of(w, &w->all, 0);
        snprintf(row.reason, sizeof row.reason,
                 "it is late in %zu of %zu steps, and communicates with ranks that are not known: what that costs is "
                 "unknown",
                 l.nup, l.nfull);
        row.verdict = TL_VERDICT_INCONCLUSIVE;
    } else if (w->all.any) {
        write_costless_reason(w, &row);
    } else if (!tl_job_graph_has(w->b->graph, rank)) {
        snprintf(row.reason, sizeof row.reason,
                 "its time stamps are too far apart to be right, so it is left out of the simulation");
        row.verdict = TL_VERDICT_INCONCLUSIVE;
    } else if (w->b->roles[w->b->role_of[rank]].n < 2) {
        snprintf(row.reason, sizeof row.reason,
                 "it has no peer that is known to do the same, and is not late compared with its own other steps");
        row.verdict = TL_VERDICT_INCONCLUSIVE;
    } else if (judged_steps(w, rank) == 0) {
        snprintf(row.reason, sizeof row.reason, "in each step, some work that was launched is not in the trace");
        row.verdict = TL_VERDICT_INCONCLUSIVE;
    } else if (full_steps(w) == 1) {
        snprintf(row.reason, sizeof row.reason, "there is a single step, which cannot tell a delay from chance");
        row.verdict = TL_VERDICT_INCONCLUSIVE;
    }
    add_steps(w, rank, &row, blame_step);
    tl_table_append(straggler, &row, 1);
}

/* Writes tables critical_path, path_sum and path, and the unexplained time of the job's path into the unchanged row of
 * whatif.  Time before the path counts only as far as it exceeds the leading steps that are not judged. */
static void write_path(const writing *w, tl_tables *tables)
{
    tl_path path;
    int64_t unjudged_ns = 0;
    for (size_t s = 0; s < w->b->nsteps && (w->b->cut[s] || w->b->edge[s]); s++)
        unjudged_ns = tl_ns_add(unjudged_ns, w->j->step_ns[s]);
    tl_path_of(w->b->graph, w->b->asker, w->j->start_ns, TL_STEPS_OF_MARKS, &path);
    tl_path_rows(&path, w->in->ranks, w->in->nranks, tables);
    tl_whatif_row *unchanged =
        tl_whatif_row_of(tl_tables_get(tables, &tl_whatif_row_schema), TL_SCENARIO_UNCHANGED, -1);
    if (unchanged != NULL) {
        unchanged->unexplained_ns = path.unexplained_ns - tl_ns_min(path.before_ns, unjudged_ns);
        unchanged->model_error = (double)w->j->error_ns / (double)tl_ns_max(w->j->time_ns, 1);
    }
    tl_path_end(&path);
}

static void write(writing *w, tl_tables *tables)
{
    tl_table *blame_step = tl_tables_get(tables, &tl_blame_step_schema);
    tl_table *straggler = tl_tables_get(tables, &tl_straggler_schema);
    tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    size_t named = 0;
    tl_whatif_add(w->j, TL_SCENARIO_UNCHANGED, -1, 0, whatif);

    for (size_t r = 0; r < w->in->nranks; r++) {
        add_rank(w, r, blame_step, straggler);
        if (w->j->rank_ns[r] < 0)
            continue;
        named++;
        tl_whatif_add(w->j, TL_SCENARIO_RANK, w->in->ranks[r], w->j->rank_ns[r], whatif);
    }
    for (size_t u = 0; u < w->j->candidates.n; u++)
        named += w->j->candidates.v[u].needed && w->j->candidates.v[u].link != TL_NONE;
    if (named > 1)
        tl_whatif_add(w->j, TL_SCENARIO_SUSPECTS, -1, w->j->joint_gain_ns, whatif);
    write_path(w, tables);
}

/* Adds the rows of a late rank without a trace; the columns about its own work stay unknown. */
static void add_untraced(const writing *w, const tl_untraced *u, tl_tables *tables)
{
    tl_straggler row =
        tl_straggler_empty(u->rank, "it has no trace: those that it meets have long come when it all goes on");
    row.verdict = TL_VERDICT_STRAGGLER;
    row.z = u->z;
    row.share_steps = u->share;
    row.pattern = (uint8_t)u->shape.pattern;
    row.first_step = tl_step_number(w->b, u->shape.first);
    row.last_step = tl_step_number(w->b, u->shape.last);
    row.p_value = u->p;
    row.gain_ns = u->gain_ns;
    row.slowdown = tl_slowdown_of(w->j, u->gain_ns);
    row.steps_from = TL_STEPS_MET;
    tl_table_append(tl_tables_get(tables, &tl_straggler_schema), &row, 1);
    tl_whatif_add(w->j, TL_SCENARIO_RANK, u->rank, u->gain_ns, tl_tables_get(tables, &tl_whatif_row_schema));
    for (size_t i = 0; i < w->nsteps; i++) {
        size_t s = w->index[i];
        const tl_blame_step step = { .rank = u->rank,
                                     .step = w->numbers[i],
                                     .excess_ns = tl_ns_min(u->late_ns[s], w->j->step_ns[s]),
                                     .z = NAN,
                                     .flagged = u->on[s],
                                     .gain_ns = tl_ns_max(0, u->step_ns[s]),
                                     .step_ns = w->j->step_ns[s] };
        tl_table_append(tl_tables_get(tables, &tl_blame_step_schema), &step, 1);
    }
}

void tl_verdict_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                     tl_tables *tables)
{
    writing w = { .j = findings, .b = baseline, .in = ranks, .groups = tl_tables_get(tables, &tl_group_row_schema) };
    w.index = tl_arena_take(&w.arena, baseline->nsteps, sizeof *w.index);
    w.numbers = tl_arena_take(&w.arena, baseline->nsteps, sizeof *w.numbers);
    new_rank_candidates(&w, &w.all);
    new_rank_candidates(&w, &w.needed);
    list_steps(&w);
    w.delay_cost_ns = tl_arena_zeroed(&w.arena, ranks->nranks * w.nsteps, sizeof *w.delay_cost_ns);
    tl_delay_costs_by_step(tl_tables_get(tables, &tl_blame_schema), ranks->ranks, ranks->nranks, w.numbers, w.nsteps,
                           w.delay_cost_ns);
    tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    write(&w, tables);
    link_rows(findings, baseline, ranks, tables);
    tl_scenario_rows(findings, baseline, ranks, tables);
    for (size_t i = 0; i < findings->untraced.n; i++)
        add_untraced(&w, &findings->untraced.v[i], tables);
    tl_table_sort(whatif);
    tl_table_sort(tl_tables_get(tables, &tl_blame_step_schema));
    tl_arena_free(&w.arena);
}
