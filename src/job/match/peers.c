/* peers.c - what ranks waited for each other outside of compute, from the procs that know when to the one that
 * sums.
 *
 *     procs that have read ranks     candidates: parts of gaps, exposed communication, collectives of hosts
 *     owners of host collectives     answers: who waited how long for whom
 *     owners of collectives          answers likewise
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

/* Collective.  *n rows of `size` bytes at *rows go where to[] says, which is NULL when memory is out; freed, as are the
 * rows, whose place those that have come take. */
static tl_status move(void **rows, size_t *n, size_t size, int32_t *to, tl_error *err)
{
    void *moved = NULL;
    size_t nmoved = 0;
    if (tl_par_nprocs() == 1) { /* they are where they belong */
        free(to);
        return TL_OK;
    }
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "who waited for whom"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(*rows, *n, size, to, &moved, &nmoved, err);
    free(to);
    if (st != TL_OK)
        return st;
    free(*rows);
    *rows = moved;
    *n = nmoved;
    return TL_OK;
}

static tl_status move_answers(const tl_matching *m, tl_peer_answers *answers, tl_error *err)
{
    int32_t *to = tl_malloc((answers->n + 1) * sizeof *to);
    for (size_t i = 0; to != NULL && i < answers->n; i++)
        to[i] = home_of(m, answers->v[i].rank);
    tl_status st = move((void **)&answers->v, &answers->n, sizeof *answers->v, to, err);
    answers->cap = answers->n;
    return st;
}

static tl_status move_exposures(const tl_matching *m, tl_exposures *exposures, tl_error *err)
{
    int32_t *to = tl_malloc((exposures->n + 1) * sizeof *to);
    for (size_t i = 0; to != NULL && i < exposures->n; i++)
        to[i] = home_of(m, exposures->v[i].rank);
    tl_status st = move((void **)&exposures->v, &exposures->n, sizeof *exposures->v, to, err);
    exposures->cap = exposures->n;
    return st;
}

static tl_status move_rows(const tl_matching *m, tl_table *rows, tl_error *err)
{
    int32_t *to = tl_malloc((rows->n + 1) * sizeof *to);
    for (size_t i = 0; to != NULL && i < rows->n; i++)
        to[i] = home_of(m, ((const tl_gap_peer *)tl_table_row(rows, i))->rank);
    tl_status st = move((void **)&rows->rows, &rows->n, rows->schema->row_size, to, err);
    rows->cap = rows->n;
    return st;
}

/* --------------------------------------------------------------------------------------------------------- answers */

/* Collective.  The answers of this proc's collectives, and of the collectives of hosts that it owns. */
static tl_status find_answers(const tl_matching *m, tl_table *rows, const tl_late_rows *late, tl_peer_answers *out,
                              tl_error *err)
{
    const tl_job_facts facts = { .ranks = m->ranks, .nranks = m->nranks };
    tl_host_meetings meetings = { 0 };
    int32_t *to = NULL;

    if (tl_host_meetings_take(rows, &facts, &meetings))
        to = tl_malloc((meetings.n + 1) * sizeof *to);
    for (size_t i = 0; to != NULL && i < meetings.n; i++)
        to[i] = (int32_t)(meetings.v[i].key % (uint64_t)tl_par_nprocs());
    tl_status st = move((void **)&meetings.v, &meetings.n, sizeof *meetings.v, to, err);
    if (st == TL_OK) {
        bool ok = tl_host_meetings_match(meetings.v, meetings.n, &facts, out) && tl_late_rows_answer(late, out);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "who waited for whom"), err);
    }
    free(meetings.v);
    return st;
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* Collective.  What is at home here to rows, and its sums to proc 0. */
static tl_status settle(tl_table *rows, tl_peer_answers *answers, tl_tables *tables, tl_error *err)
{
    tl_peer_sums sums = { 0 };
    tl_peer_sum *all = NULL;
    size_t nall = 0;

    tl_peer_answers_sort(answers->v, answers->n);
    bool ok = tl_peers_cut(rows, answers->v, answers->n) && tl_peers_sum(rows, &sums);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "who waited for whom"), err);
    if (st == TL_OK)
        st = tl_collect_rows(sums.v, sums.n, sizeof *sums.v, (void **)&all, &nall, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0)
        tl_peers_enter(all, nall, tl_tables_get(tables, &tl_idle_schema),
                       tl_tables_get(tables, &tl_idle_summary_schema));
    free(sums.v);
    free(all);
    return st;
}

/* Collective.  Exposed communication of the ranks that are at home here, to proc 0. */
static tl_status sum_exposed(const tl_exposures *exposures, const tl_peer_answers *answers, tl_tables *tables,
                             tl_error *err)
{
    tl_exposed_parts here = { 0 };
    void *parts = NULL;
    size_t n = 0;

    bool ok = tl_exposed_sum(exposures->v, exposures->n, answers->v, answers->n, &here);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "exposed communication by group"), err);
    if (st == TL_OK)
        st = tl_collect_rows(here.v, here.n, sizeof *here.v, &parts, &n, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0 &&
        !tl_exposed_enter(parts, n, tl_tables_get(tables, &tl_exposed_schema),
                          tl_tables_get(tables, &tl_breakdown_schema)))
        st = tl_fail_memory(err, "exposed communication by group");
    free(here.v);
    free(parts);
    return tl_par_agree(st, err);
}

tl_status tl_match_peers(const tl_matching *m, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables,
                         tl_error *err)
{
    tl_table *rows = tl_tables_get(tables, &tl_gap_peer_schema);
    tl_peer_answers answers = { 0 };

    tl_status st = find_answers(m, rows, late, &answers, err);
    if (st == TL_OK)
        st = move_answers(m, &answers, err);
    if (st == TL_OK)
        st = move_exposures(m, exposures, err);
    if (st == TL_OK)
        st = move_rows(m, rows, err);
    if (st == TL_OK)
        st = settle(rows, &answers, tables, err);
    if (st == TL_OK)
        st = sum_exposed(exposures, &answers, tables, err);
    free(answers.v);
    return st;
}
