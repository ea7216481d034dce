/* match.c - the phases of matching, one after the other.
 *
 *     every proc                memberships, sightings  ->  proc 0: groups, and fates of memberships  ->  every proc
 *     procs that read ranks     participants without a key  ->  owner of their group: aligned by their ends  ->  back
 *     procs that read ranks     participants  ->  owners of their keys: collectives
 *     owners of collectives     samples  ->  owners of ties: ends  ->  every proc: clocks, agreed on bound by bound
 *     owners of collectives     collectives  ->  owners of their times, which put them through the analyses
 *     homes of ranks            time waited per pair of ranks, outside of compute  ->  sums on proc 0
 */
#include "tlmpi/job/match.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* The state that one phase hands to the next, on each proc. */
typedef struct matching {
    tl_participants *set; /* of the ranks that this proc has read; later of the keys, then the times, that it owns */
    tl_tables *tables;
    tl_group_fact *groups;
    size_t ngroups;
    tl_rank_clock *ranks;
    size_t nranks;
} matching;

static tl_job_facts facts_of(const matching *m)
{
    return (tl_job_facts){ .groups = m->groups, .ngroups = m->ngroups, .ranks = m->ranks, .nranks = m->nranks };
}

static int32_t owner_of(uint64_t key)
{
    return (int32_t)(key % (uint64_t)tl_par_nprocs());
}

/* A tl_goal: the proc to which a row moves. */
#define GOAL(name, proc)                                                                                               \
    static int32_t name(const void *row, const void *context)                                                          \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        return proc;                                                                                                   \
    }
GOAL(owner_of_key, owner_of(((const tl_participant *)row)->key))
GOAL(owner_of_tie, owner_of(((const tl_clock_sample *)row)->tie))
GOAL(owner_of_meeting, owner_of(((const tl_host_meeting *)row)->key))

/* ---------------------------------------------------------------------------------------------------------- groups */

/* Whether every rank of the job has a trace.  Unknown, thus false, for a single trace without a world size. */
static bool is_fully_traced(const matching *m, int64_t world)
{
    const tl_table *rows = tl_tables_get(m->tables, &tl_rank_schema);
    bool told = m->nranks > 1;
    for (size_t i = 0; !told && i < rows->n; i++)
        told = ((const tl_rank *)tl_table_row(rows, i))->world_size > 0;
    return told && world <= (int64_t)m->nranks;
}

/* Collective: decides ranks and process groups on proc 0, shares them with all procs, and sets the keys of participants
 * that tl_match_key can set. */
static void decide_groups(matching *m, int64_t world)
{
    tl_table *rows = tl_tables_get(m->tables, &tl_rank_schema);
    tl_membership *memberships = NULL;
    tl_sighting *mine = NULL, *sightings = NULL;
    tl_fate *fates = NULL;
    size_t nmine = 0, n = 0, nsightings = 0, before, total;
    bool first = tl_par_proc() == 0;

    if (first) {
        tl_rank_clocks_make(rows, &m->ranks, &m->nranks);
        tl_clock_rows_begin(m->ranks, m->nranks, rows, tl_tables_get(m->tables, &tl_clock_schema));
    }
    tl_par_share((void **)&m->ranks, &m->nranks, sizeof *m->ranks);
    tl_sightings_draw(m->set, &mine, &nmine);
    tl_count_before(m->set->memberships.n, &before, &total);
    for (size_t i = 0; i < nmine; i++)
        mine[i].membership += (int32_t)before; /* index among the memberships of the job */
    tl_collect_rows(m->set->memberships.v, m->set->memberships.n, sizeof *memberships, (void **)&memberships, &n);
    tl_collect_rows(mine, nmine, sizeof *mine, (void **)&sightings, &nsightings);
    if (first) {
        tl_job_facts facts = facts_of(m);
        facts.all_traced = is_fully_traced(m, world);
        tl_table *groups = tl_tables_get(m->tables, &tl_group_row_schema);
        fates = tl_calloc(n + 1, sizeof *fates);
        tl_groups_decide(memberships, n, &facts, sightings, nsightings, fates, groups, &m->groups);
        m->ngroups = groups->n;
    }
    tl_par_share((void **)&fates, &n, sizeof *fates);
    tl_par_share((void **)&m->groups, &m->ngroups, sizeof *m->groups);
    TL_EACH (tl_participant, p, m->set->participants)
        tl_match_key(p, &fates[before + (size_t)p->group]);
    free(mine);
    free(memberships);
    free(sightings);
    free(fates);
}

/* ------------------------------------------------------------------------------------------------------- alignment */

GOAL(owner_of_group, owner_of(tl_hash_mix((uint64_t)((const tl_align_item *)row)->group, 0)))
GOAL(home_of, ((const tl_align_item *)row)->proc)

/* Collective: sets key and peer of sends and receives with an unknown peer (tl_sends_align), on proc 0, since any two
 * ranks may be partners. */
static void align_sends(matching *m)
{
    size_t n = 0;
    tl_align_item *items = tl_sends_list(m->set, tl_par_proc(), &n);
    int64_t total = (int64_t)n;
    tl_reduce_sum(&total, 1);
    if (total > 0) {
        tl_move_rows((void **)&items, &n, sizeof *items, tl_to_first, NULL);
        tl_sends_align(items, n);
        tl_move_rows((void **)&items, &n, sizeof *items, home_of, NULL);
        tl_sends_take(items, n, m->set);
    }
    free(items);
}

/* Collective: matches participants (pairs: sends and receives) without a key by when they end.  If every participant
 * has a key, nothing is sent. */
static void align_groups(matching *m, bool pairs)
{
    int64_t *open = tl_calloc(m->ngroups + 1, sizeof *open), total = 0;
    size_t n = 0;

    tl_align_open(m->set, pairs, open);
    tl_reduce_sum(open, m->ngroups);
    for (size_t g = 0; g < m->ngroups; g++)
        total += open[g];
    if (total > 0) {
        tl_align_item *items = tl_align_list(m->set, pairs, open, tl_par_proc(), &n);
        tl_move_rows((void **)&items, &n, sizeof *items, owner_of_group, NULL);
        if (pairs) {
            tl_ways_align(items, n);
            tl_pairs_align(items, n, m->groups);
        } else {
            tl_rows_align(items, n);
        }
        tl_move_rows((void **)&items, &n, sizeof *items, home_of, NULL);
        tl_align_take(items, n, m->set);
        free(items);
    }
    free(open);
}

/* ---------------------------------------------------------------------------------------------------------- clocks */

/* Collective: replaces *all, on every proc, by the ends fitted to the samples of all procs. */
static void share_ends(const tl_clock_samples *samples, int64_t cut_ns, tl_clock_end **all, size_t *n)
{
    tl_clock_ends mine = { 0 };
    tl_clock_ends_fit(samples->v, samples->n, cut_ns, &mine);
    free(*all);
    *all = NULL;
    tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)all, n);
    free(mine.v);
    tl_par_share((void **)all, n, sizeof **all);
    tl_clock_ends_sort(*all, *n);
}

/* Collective: finds the clocks, fills the ranks' clocks and table clock, and corrects all times. */
static void find_clocks(matching *m, tl_clock_mode mode)
{
    static const tl_clock_procs procs = { tl_reduce_least, tl_reduce_sum };
    const tl_job_facts facts = facts_of(m);
    tl_clock_samples samples = { 0 };
    tl_clock_end *ends = NULL;
    size_t n = 0;

    tl_participant *v = m->set->participants.v;
    size_t nv = m->set->participants.n;
    tl_clock_stays_find(v, nv, &procs, m->ranks, m->nranks, m->groups, m->ngroups);
    tl_clock_samples_take(v, nv, &facts, &samples);
    tl_vec_move(&samples, owner_of_tie, NULL);
    share_ends(&samples, TL_TIME_UNKNOWN, &ends, &n);
    int64_t cut_ns = tl_clock_ends_cut(ends, n);
    if (cut_ns != TL_TIME_UNKNOWN)
        share_ends(&samples, cut_ns, &ends, &n);
    tl_clocks_find(v, nv, ends, n, mode, &procs, m->groups, m->ngroups, m->ranks, m->nranks);
    if (tl_par_proc() == 0)
        tl_clock_rows_fill(m->ranks, m->nranks, ends, n, tl_tables_get(m->tables, &tl_clock_schema));
    tl_clocks_correct(v, nv, &facts);
    free(samples.v);
    free(ends);
}

/* --------------------------------------------------------------------------------------------------------- by time */

/* Number of arrival times that each proc samples; borders between procs are chosen from all samples. */
enum { SAMPLES = 128 };

/* Collective: returns times that split the collectives of all procs into nprocs shares of about equal size, the same on
 * every proc.  Results do not depend on them: the order of all collectives is the same. */
static int64_t *choose_borders(const tl_collective_run *runs, size_t n, size_t *nborders)
{
    int64_t sample[SAMPLES], *all = NULL, *borders = NULL;
    size_t nsample = n < SAMPLES ? n : SAMPLES, nall = 0, nprocs = (size_t)tl_par_nprocs();

    for (size_t i = 0; i < nsample; i++)
        sample[i] = runs[i * n / nsample].first_arrival_ns;
    tl_collect_rows(sample, nsample, sizeof *sample, (void **)&all, &nall);
    *nborders = nall > 0 ? nprocs - 1 : 0;
    if (tl_par_proc() == 0) {
        tl_ns_sort(all, nall);
        borders = tl_calloc(nprocs, sizeof *borders);
        for (size_t p = 0; p < *nborders; p++)
            borders[p] = all[(p + 1) * nall / nprocs];
    }
    free(all);
    tl_par_share((void **)&borders, nborders, sizeof *borders);
    return borders;
}

/* Returns this proc's collectives, ascending by time; the caller frees them. */
static tl_collective_run *list_runs(const matching *m, size_t *n)
{
    tl_collective_run *runs;
    tl_participants_sort(m->set->participants.v, m->set->participants.n);
    tl_runs_make(m->set->participants.v, m->set->participants.n, &runs, n);
    tl_runs_by_time(runs, *n);
    return runs;
}

/* Collective: moves collectives to procs by first arrival.  Returns this proc's, ascending by time (the caller frees
 * them); *first: the job-wide number of the first one. */
static tl_collective_run *move_by_time(matching *m, size_t *n, int64_t *first)
{
    tl_collective_run *runs = list_runs(m, n);
    size_t nborders = 0, before, total, *participants_n = &m->set->participants.n;

    if (tl_par_nprocs() > 1) {
        int64_t *borders = choose_borders(runs, *n, &nborders);
        int32_t *to = tl_malloc((*participants_n + 1) * sizeof *to);
        for (size_t r = 0; r < *n; r++) {
            size_t proc = 0;
            TL_BISECT(proc, nborders, mid, borders[mid] <= runs[r].first_arrival_ns);
            for (size_t i = 0; i < runs[r].n; i++)
                to[runs[r].first + i] = (int32_t)proc;
        }
        void *moved = NULL;
        tl_participant *mine = m->set->participants.v;
        tl_par_shuffle(mine, *participants_n, sizeof *mine, to, &moved, participants_n);
        m->set->participants.v = moved;
        m->set->participants.cap = *participants_n;
        free(mine);
        free(to);
        free(borders);
        free(runs);
        runs = list_runs(m, n);
    }
    tl_count_before(*n, &before, &total);
    *first = (int64_t)before;
    return runs;
}

/* Runs every analysis on every collective of this proc, ascending by time. */
static void run_analyses(matching *m, tl_late_rows *late)
{
    const tl_job_facts facts = facts_of(m);
    size_t n = 0;
    int64_t first = 0;
    tl_collective_run *runs = move_by_time(m, &n, &first);

    for (size_t r = 0; r < n; r++) {
        tl_collective_view c = tl_collective_of_run(m->set->participants.v, &runs[r], &facts);
        c.number = first + (int64_t)r;
        for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
            if ((*a)->per_collective != NULL)
                (*a)->per_collective(&c, m->tables);
        tl_late_rows_add(late, &c);
    }
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->fold != NULL)
            (*a)->fold(m->tables);
    free(runs);
}

/* ------------------------------------------------------------------------------------------------ waits between ranks
 *
 *     procs that have read ranks     candidates: parts of gaps, exposed communication, collectives of hosts
 *     owners of host collectives     answers: the time that one rank waited for another
 *     owners of collectives          answers of the same kind
 *     homes of ranks                 candidates and answers: rows of gap_peer, sums
 *     proc 0                         sums into idle and idle_summary
 *
 * The home proc of a rank ascends with the rank, so the rows of all homes, in order of procs, ascend by rank.
 */
static int32_t home_of_rank(const tl_job_facts *facts, int32_t rank)
{
    const tl_rank_clock *clock = tl_rank_clock_of(facts, rank);
    return clock != NULL ? (int32_t)((size_t)(clock - facts->ranks) * (size_t)tl_par_nprocs() / facts->nranks) : 0;
}

GOAL(home_of_answer, home_of_rank(context, ((const tl_peer_answer *)row)->rank))
GOAL(home_of_exposure, home_of_rank(context, ((const tl_exposure *)row)->rank))
GOAL(home_of_row, home_of_rank(context, ((const tl_gap_peer *)row)->rank))

/* Collective: finds the answers of this proc's collectives, and of the host collectives that it owns. */
static void find_answers(const tl_job_facts *facts, tl_table *rows, const tl_late_rows *late, tl_peer_answers *out)
{
    tl_host_meetings meetings = { 0 };

    tl_host_meetings_take(rows, facts, &meetings);
    tl_vec_move(&meetings, owner_of_meeting, NULL);
    tl_host_meetings_match(meetings.v, meetings.n, facts, out);
    tl_late_rows_answer(late, out);
    free(meetings.v);
}

/* Collective: turns candidate rows of gap_peer into final ones, ascending over all procs; on proc 0 adds their sums to
 * idle and idle_summary, and the waiting part of `exposures` to exposed and breakdown. */
static void match_peers(const tl_job_facts *facts, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables)
{
    tl_table *rows = tl_tables_get(tables, &tl_gap_peer_schema);
    tl_peer_answers answers = { 0 };
    tl_peer_sums sums = { 0 };
    tl_exposed_parts exposed = { 0 };
    void *all_sums = NULL, *all_exposed = NULL;
    size_t nsums = 0, nexposed = 0;

    find_answers(facts, rows, late, &answers);
    tl_vec_move(&answers, home_of_answer, facts);
    tl_vec_move(exposures, home_of_exposure, facts);
    tl_move_rows((void **)&rows->rows, &rows->n, rows->schema->row_size, home_of_row, facts);
    rows->cap = rows->n;

    tl_peer_answers_sort(answers.v, answers.n);
    tl_peers_cut(rows, answers.v, answers.n);
    tl_peers_sum(rows, &sums);
    tl_exposed_sum(exposures->v, exposures->n, answers.v, answers.n, &exposed);
    tl_collect_rows(sums.v, sums.n, sizeof *sums.v, &all_sums, &nsums);
    tl_collect_rows(exposed.v, exposed.n, sizeof *exposed.v, &all_exposed, &nexposed);
    if (tl_par_proc() == 0) {
        tl_peers_enter(all_sums, nsums, tl_tables_get(tables, &tl_idle_summary_schema));
        tl_exposed_enter(all_exposed, nexposed, tl_tables_get(tables, &tl_exposed_schema),
                         tl_tables_get(tables, &tl_breakdown_schema));
    }
    free(answers.v);
    free(sums.v);
    free(exposed.v);
    free(all_sums);
    free(all_exposed);
}

void tl_match_run(tl_participants *set, tl_exposures *exposures, int64_t world, tl_clock_mode mode, tl_tables *tables,
                  tl_late_rows *late)
{
    matching m = { .set = set, .tables = tables };

    align_sends(&m);
    decide_groups(&m, world);
    align_groups(&m, true);
    align_groups(&m, false);
    tl_key_unmatched(m.set->participants.v, m.set->participants.n);
    tl_vec_move(&m.set->participants, owner_of_key, NULL);
    tl_participants_sort(m.set->participants.v, m.set->participants.n);
    find_clocks(&m, mode);
    run_analyses(&m, late);
    tl_participants_free(set);
    const tl_job_facts facts = facts_of(&m);
    match_peers(&facts, exposures, late, tables);
    free(m.groups);
    free(m.ranks);
    free(exposures->v);
    *exposures = (tl_exposures){ 0 };
}
