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
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------- moving */

static int32_t home_of(const tl_matching *m, int32_t rank)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    const tl_rank_clock *rank_clock = tl_rank_clock_of(&facts, rank);
    return rank_clock != NULL ? (int32_t)((size_t)(rank_clock - m->ranks) * (size_t)tl_par_nprocs() / m->nranks) : 0;
}

/* Collective.  *n rows of `size` bytes at *rows go where to[] says, which is; freed, as are the rows, whose place those
 * that have come take. */
static void move(void **rows, size_t *n, size_t size, int32_t *to)
{
    void *moved = NULL;
    size_t nmoved = 0;
    if (tl_par_nprocs() == 1) { /* they are where they belong */
        free(to);
        return;
    }
    tl_par_shuffle(*rows, *n, size, to, &moved, &nmoved);
    free(to);
    free(*rows);
    *rows = moved;
    *n = nmoved;
}

static void move_answers(const tl_matching *m, tl_peer_answers *answers)
{
    int32_t *to = tl_malloc((answers->n + 1) * sizeof *to);
    for (size_t i = 0; i < answers->n; i++)
        to[i] = home_of(m, answers->v[i].rank);
    move((void **)&answers->v, &answers->n, sizeof *answers->v, to);
    answers->cap = answers->n;
}

static void move_exposures(const tl_matching *m, tl_exposures *exposures)
{
    int32_t *to = tl_malloc((exposures->n + 1) * sizeof *to);
    for (size_t i = 0; i < exposures->n; i++)
        to[i] = home_of(m, exposures->v[i].rank);
    move((void **)&exposures->v, &exposures->n, sizeof *exposures->v, to);
    exposures->cap = exposures->n;
}

static void move_rows(const tl_matching *m, tl_table *rows)
{
    int32_t *to = tl_malloc((rows->n + 1) * sizeof *to);
    for (size_t i = 0; i < rows->n; i++)
        to[i] = home_of(m, ((const tl_gap_peer *)tl_table_row(rows, i))->rank);
    move((void **)&rows->rows, &rows->n, rows->schema->row_size, to);
    rows->cap = rows->n;
}

/* --------------------------------------------------------------------------------------------------------- answers */

/* Collective.  The answers of this proc's collectives, and of the collectives of hosts that it owns. */
static void find_answers(const tl_matching *m, tl_table *rows, const tl_late_rows *late, tl_peer_answers *out)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    tl_host_meetings meetings = { 0 };
    int32_t *to = NULL;

    tl_host_meetings_take(rows, &facts, &meetings);
    to = tl_malloc((meetings.n + 1) * sizeof *to);
    for (size_t i = 0; i < meetings.n; i++)
        to[i] = (int32_t)(meetings.v[i].key % (uint64_t)tl_par_nprocs());
    move((void **)&meetings.v, &meetings.n, sizeof *meetings.v, to);
    tl_host_meetings_match(meetings.v, meetings.n, &facts, out);
    tl_late_rows_answer(late, out);
    free(meetings.v);
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* Collective.  What is at home here to rows, and its sums to proc 0. */
static void settle(tl_table *rows, tl_peer_answers *answers, tl_tables *tables)
{
    tl_peer_sums sums = { 0 };
    tl_peer_sum *all = NULL;
    size_t nall = 0;

    tl_peer_answers_sort(answers->v, answers->n);
    tl_peers_cut(rows, answers->v, answers->n);
    tl_peers_sum(rows, &sums);
    tl_collect_rows(sums.v, sums.n, sizeof *sums.v, (void **)&all, &nall, NULL);
    if (tl_par_proc() == 0)
        tl_peers_enter(all, nall, tl_tables_get(tables, &tl_idle_schema),
                       tl_tables_get(tables, &tl_idle_summary_schema));
    free(sums.v);
    free(all);
}

/* Collective.  Exposed communication of the ranks that are at home here, to proc 0. */
static void sum_exposed(const tl_exposures *exposures, const tl_peer_answers *answers, tl_tables *tables)
{
    tl_exposed_parts here = { 0 };
    void *parts = NULL;
    size_t n = 0;

    tl_exposed_sum(exposures->v, exposures->n, answers->v, answers->n, &here);
    tl_collect_rows(here.v, here.n, sizeof *here.v, &parts, &n, NULL);
    if (tl_par_proc() == 0)
        tl_exposed_enter(parts, n, tl_tables_get(tables, &tl_exposed_schema),
                         tl_tables_get(tables, &tl_breakdown_schema));
    free(here.v);
    free(parts);
}

void tl_match_peers(const tl_matching *m, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables)
{
    tl_table *rows = tl_tables_get(tables, &tl_gap_peer_schema);
    tl_peer_answers answers = { 0 };

    find_answers(m, rows, late, &answers);
    move_answers(m, &answers);
    move_exposures(m, exposures);
    move_rows(m, rows);
    settle(rows, &answers, tables);
    sum_exposed(exposures, &answers, tables);
    free(answers.v);
}
