/* peers.c - what ranks waited for each other outside of compute, from the procs that know when to the one that
 * sums.
 *
 *     procs that have read ranks     candidates: parts of gaps, exposed communication, collectives of hosts
 *     owners of host collectives     answers: which rank waited how long for which
 *     owners of collectives          answers of the same kind
 *     homes of ranks                 candidates and answers meet: rows of gap_peer, sums
 *     proc 0                         sums into idle and idle_summary
 *
 * The home of a rank is a function of its place among the ranks, so that homes one after the other have them in order.
 */
#include "peers.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

static int32_t home_of(const tl_job_facts *facts, int32_t rank)
{
    const tl_rank_clock *clock = tl_rank_clock_of(facts, rank);
    return clock != NULL ? (int32_t)((size_t)(clock - facts->ranks) * (size_t)tl_par_nprocs() / facts->nranks) : 0;
}

static int32_t home_of_answer(const void *row, const void *facts)
{
    return home_of(facts, ((const tl_peer_answer *)row)->rank);
}

static int32_t home_of_exposure(const void *row, const void *facts)
{
    return home_of(facts, ((const tl_exposure *)row)->rank);
}

static int32_t home_of_row(const void *row, const void *facts)
{
    return home_of(facts, ((const tl_gap_peer *)row)->rank);
}

static int32_t owner_of_meeting(const void *row, const void *none)
{
    (void)none;
    return (int32_t)(((const tl_host_meeting *)row)->key % (uint64_t)tl_par_nprocs());
}

/* Collective.  The answers of this proc's collectives, and of the collectives of hosts that it owns. */
static void find_answers(const tl_job_facts *facts, tl_table *rows, const tl_late_rows *late, tl_peer_answers *out)
{
    tl_host_meetings meetings = { 0 };

    tl_host_meetings_take(rows, facts, &meetings);
    tl_vec_move(&meetings, owner_of_meeting, NULL);
    tl_host_meetings_match(meetings.v, meetings.n, facts, out);
    tl_late_rows_answer(late, out);
    free(meetings.v);
}

void tl_match_peers(const tl_job_facts *facts, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables)
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
        tl_peers_enter(all_sums, nsums, tl_tables_get(tables, &tl_idle_schema),
                       tl_tables_get(tables, &tl_idle_summary_schema));
        tl_exposed_enter(all_exposed, nexposed, tl_tables_get(tables, &tl_exposed_schema),
                         tl_tables_get(tables, &tl_breakdown_schema));
    }
    free(answers.v);
    free(sums.v);
    free(exposed.v);
    free(all_sums);
    free(all_exposed);
}
