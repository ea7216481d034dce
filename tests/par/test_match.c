/* test_match.c - collectives matched on as many procs as mpirun starts: a job that is known beforehand, its ranks dealt
 * out over the procs; memory that runs out somewhere; and participants that no trace should have. */
#include "../unit/unit.h"

#include "tlmpi/job/match.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"

#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum { RANKS = 12, ROUNDS = 60 };

static int me, all;
static tl_participants set;
static tl_exposures exposures;
static tl_tables tables;

/* Empty tables; on proc 0 a row a rank, the last four of them on a second host. */
static void begin(int32_t nranks)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_free(&tables);
    tl_participants_free(&set);
    free(exposures.v);
    exposures = (tl_exposures){ 0 };
    CU_ASSERT_FATAL(tl_tables_init(&tables, schemas, n));
    for (int32_t r = 0; me == 0 && r < nranks; r++) {
        tl_rank *row = tl_table_add(tl_tables_get(&tables, &tl_rank_schema));
        CU_ASSERT_FATAL(row != NULL);
        tl_idle *idle = tl_table_add(tl_tables_get(&tables, &tl_idle_schema));
        CU_ASSERT_FATAL(idle != NULL);
        idle->rank = r;
        idle->device = idle->late_rank = -1;
        idle->busy_ns = INT64_MAX;
        row->rank = r;
        strcpy(row->host, r < nranks - 4 ? "left" : "right");
    }
}

static bool is_mine(int32_t rank)
{
    return (rank * 5 + 1) % all == me;
}

static int32_t add_membership(int32_t rank, uint64_t members, int32_t size)
{
    CU_ASSERT_FATAL(tl_vec_room(&set.memberships));
    set.memberships.v[set.memberships.n++] = (tl_membership){ .members_key = members, .rank = rank, .size = size };
    return (int32_t)set.memberships.n - 1;
}

static tl_participant *add_part(int32_t rank, int32_t membership, int64_t start_ns, int64_t end_ns)
{
    static uint32_t uid;
    CU_ASSERT_FATAL(tl_vec_room(&set.parts));
    tl_participant *p = &set.parts.v[set.parts.n++];
    *p = (tl_participant){ .start_ns = start_ns,
                           .end_ns = end_ns,
                           .launch_ns = tl_ns_between(start_ns, 5 * US),
                           .seq = -1,
                           .bytes = 4096,
                           .rank = rank,
                           .group = membership,
                           .step = 1,
                           .nth = -1,
                           .peer = -1,
                           .uid = uid++,
                           .kind = TL_ALL_REDUCE };
    set.memberships.v[membership].n++;
    return p;
}

/* ----------------------------------------------------------------------------------------------------- a known job */

/* Round k: all ranks meet, then each four of them.  When rank r comes to the meeting, how long the transfer takes. */
static int64_t arrival_ns(int k, int meeting, int32_t rank)
{
    uint64_t state = tl_hash_mix(tl_hash_mix((uint64_t)k + 1, (uint64_t)meeting), (uint64_t)rank + 1) | 1;
    return (2 * k + meeting) * 20 * MS + (int64_t)(unit_random(&state) % (uint64_t)(9 * MS));
}

static int64_t last_ns(int k, int meeting, int32_t first, int32_t n)
{
    int64_t last = INT64_MIN;
    for (int32_t r = first; r < first + n; r++)
        last = arrival_ns(k, meeting, r) > last ? arrival_ns(k, meeting, r) : last;
    return last;
}

static int64_t end_ns(int k, int meeting, int32_t first, int32_t n)
{
    return last_ns(k, meeting, first, n) + (k % 7 + 1) * 30 * US;
}

/* All of the kernel is exposed, and a gap of another device lasts as long; its second half alone is asked for. */
static void add_candidates(const tl_participant *p)
{
    int64_t ns = tl_ns_between(p->end_ns, p->start_ns);
    CU_ASSERT_FATAL(tl_vec_room(&exposures));
    exposures.v[exposures.n++] = (tl_exposure){ .to_ns = ns, .ns = ns, .rank = p->rank, .uid = p->uid };
    tl_gap_peer *row = tl_table_add(tl_tables_get(&tables, &tl_gap_peer_schema));
    CU_ASSERT_FATAL(row != NULL);
    *row = (tl_gap_peer){ .rank = p->rank,
                          .device = 1,
                          .start_ns = p->start_ns,
                          .from_ns = tl_ns_sum(p->start_ns, ns / 2),
                          .peer_ns = ns - ns / 2,
                          .late_rank = -1,
                          .evidence = TL_PEER_SYNC,
                          .collective = -1,
                          .awaited_uid = (int32_t)p->uid,
                          .awaited_ns = p->start_ns };
}

enum { BY_LAUNCH, BY_SEQ, BY_ENDS };

/* The parts of this proc's ranks.  ahead_ns: how far the second host's clock is ahead. */
static void deal_out(int rule, int64_t ahead_ns)
{
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (!is_mine(r))
            continue;
        int64_t ahead = r < RANKS - 4 ? 0 : ahead_ns;
        int32_t membership[2] = { add_membership(r, 7000, RANKS), add_membership(r, (uint64_t)(8000 + r / 4), 4) };
        for (int k = 0; k < ROUNDS; k++)
            for (int meeting = 0; meeting < 2; meeting++) {
                int32_t first = meeting == 0 ? 0 : r / 4 * 4, n = meeting == 0 ? RANKS : 4;
                tl_participant *p = add_part(r, membership[meeting], arrival_ns(k, meeting, r) + ahead,
                                             end_ns(k, meeting, first, n) + ahead);
                tl_membership *m = &set.memberships.v[membership[meeting]];
                p->nth = rule == BY_ENDS ? -1 : k;
                p->launch_ns = rule == BY_ENDS ? TL_TIME_UNKNOWN : p->launch_ns;
                p->seq = rule == BY_SEQ ? 1000 + k : -1;
                m->nlaunched += rule != BY_ENDS;
                m->nseq += rule == BY_SEQ;
                add_candidates(p);
            }
    }
}

/* All rows of a table of scope COLLECTIVE, on proc 0. */
static void *gather_rows(const tl_schema *schema, size_t *n)
{
    void *rows = NULL;
    const tl_table *table = tl_tables_get(&tables, schema);
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_collect_rows(table->rows, table->n, schema->row_size, &rows, n, NULL, &err), TL_OK);
    return rows;
}

static void check_collective(const tl_collective_row *c, const tl_arrival *a, int64_t number)
{
    int k = (int)(c->s_first_ns / (40 * MS)), meeting = (int)(c->s_first_ns / (20 * MS) % 2);
    int32_t first = meeting == 0 ? 0 : a->rank, n = meeting == 0 ? RANKS : 4;
    int64_t waits = 0, last = last_ns(k, meeting, first, n);

    CU_ASSERT_EQUAL(c->collective, number);
    CU_ASSERT_EQUAL(c->n, n);
    CU_ASSERT_EQUAL(c->state, TL_COLL_WHOLE);
    CU_ASSERT_EQUAL(c->suspect, TL_SUSPECT_NOTHING);
    CU_ASSERT_EQUAL(c->group, meeting == 0 ? 0 : 1 + first / 4);
    CU_ASSERT_EQUAL(c->s_last_ns, last);
    CU_ASSERT_EQUAL(c->e_first_ns, end_ns(k, meeting, first, n));
    for (int32_t i = 0; i < c->n; i++) {
        CU_ASSERT_EQUAL(a[i].collective, number);
        CU_ASSERT_EQUAL(a[i].rank, first + i);
        CU_ASSERT_EQUAL(a[i].start_ns, arrival_ns(k, meeting, first + i));
        CU_ASSERT_EQUAL(a[i].wait_ns, last - arrival_ns(k, meeting, first + i));
        waits += a[i].wait_ns;
    }
    CU_ASSERT_EQUAL(c->wait_sum_ns, waits);
}

static int32_t last_rank(int k, int meeting, int32_t first, int32_t n)
{
    int32_t last = first;
    for (int32_t r = first; r < first + n; r++)
        last = arrival_ns(k, meeting, r) > arrival_ns(k, meeting, last) ? r : last;
    return last;
}

/* What each rank waited, as gaps and as sums.  ahead_ns: as it was dealt out. */
static void check_peers(int64_t ahead_ns)
{
    size_t n, at = 0;
    tl_gap_peer *rows = gather_rows(&tl_gap_peer_schema, &n);
    const tl_table *idle = tl_tables_get(&tables, &tl_idle_schema);

    for (int32_t r = 0; me == 0 && r < RANKS; r++) {
        int64_t waits = 0, peers = 0;
        for (int k = 0; k < ROUNDS; k++)
            for (int meeting = 0; meeting < 2; meeting++) {
                int32_t first = meeting == 0 ? 0 : r / 4 * 4, many = meeting == 0 ? RANKS : 4;
                int64_t start = arrival_ns(k, meeting, r), ns = end_ns(k, meeting, first, many) - start;
                int64_t wait = last_ns(k, meeting, first, many) - start;
                waits += wait;
                if (wait <= ns / 2)
                    continue; /* the second half is transfer */
                CU_ASSERT_FATAL(at < n);
                CU_ASSERT_EQUAL(rows[at].rank, r);
                CU_ASSERT_EQUAL(rows[at].start_ns, start + (r < RANKS - 4 ? 0 : ahead_ns)); /* the rank's own clock */
                CU_ASSERT_EQUAL(rows[at].peer_ns, wait - ns / 2);
                CU_ASSERT_EQUAL(rows[at].late_rank, last_rank(k, meeting, first, many));
                peers += rows[at++].peer_ns;
            }
        const tl_idle *row = tl_table_row(idle, (size_t)r);
        CU_ASSERT_EQUAL(row->waiting_ns, waits);
        CU_ASSERT_EQUAL(row->peer_ns, peers);
        CU_ASSERT(row->late_rank >= 0 && row->late_rank != r);
    }
    CU_ASSERT(me != 0 || at == n);
    free(rows);
}

static void check_known_job(tl_match_rule rule)
{
    size_t n, narrivals, at = 0;
    tl_collective_row *c = gather_rows(&tl_collective_row_schema, &n);
    tl_arrival *a = gather_rows(&tl_arrival_schema, &narrivals);

    if (me == 0) {
        CU_ASSERT_EQUAL(n, 4 * ROUNDS);
        CU_ASSERT_EQUAL(narrivals, 2 * ROUNDS * RANKS);
        for (size_t i = 0; i < n && at + (size_t)c[i].n <= narrivals; at += (size_t)c[i].n, i++) {
            CU_ASSERT(i == 0 || c[i].s_first_ns >= c[i - 1].s_first_ns);
            CU_ASSERT_EQUAL(c[i].match_rule, rule);
            check_collective(&c[i], &a[at], (int64_t)i);
        }
        CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_group_row_schema)->rows == NULL, false);
        CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_clock_schema)->n, RANKS);
    }
    free(c);
    free(a);
}

static void match(tl_clock_mode mode)
{
    tl_late_rows late = { 0 };
    tl_error err = { 0 };
    CU_ASSERT_EQUAL_FATAL(tl_match_run(&set, &exposures, mode, &tables, &late, &err), TL_OK);
    CU_ASSERT_PTR_NULL(set.parts.v);
    CU_ASSERT_PTR_NULL(exposures.v);
    free(late.v);
}

static void by_launch_everybody_meets_whom_he_met(void)
{
    deal_out(BY_LAUNCH, 0);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_LAUNCH);
    check_peers(0);
}

static void so_they_do_by_number(void)
{
    deal_out(BY_SEQ, 0);
    match(TL_CLOCK_NONE);
    check_known_job(TL_BY_SEQ);
}

static void so_they_do_by_ends_alone(void)
{
    deal_out(BY_ENDS, 0);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_ENDTIME);
}

static void a_clock_that_is_ahead_is_set_back(void)
{
    deal_out(BY_SEQ, 77 * MS);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_SEQ);
    check_peers(77 * MS);
    const tl_table *clocks = tl_tables_get(&tables, &tl_clock_schema);
    for (size_t i = 0; me == 0 && i < clocks->n; i++) {
        const tl_clock *c = tl_table_row(clocks, i);
        CU_ASSERT_EQUAL(c->offset_ns, i < RANKS - 4 ? 0 : 77 * MS);
        CU_ASSERT_EQUAL(c->applied, i >= RANKS - 4);
        CU_ASSERT_EQUAL(c->anchors, i < RANKS ? 2 * ROUNDS : 0);
    }
}

/* Nothing names the group, and rank 3 begins to record two rounds after the others, in the middle of a step. */
static void who_begins_to_record_later_is_of_the_group(void)
{
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (!is_mine(r))
            continue;
        int32_t membership = add_membership(r, 7000, -1);
        set.memberships.v[membership].inferred = 1;
        for (int k = r == 3 ? 2 : 0; k < ROUNDS; k++) {
            tl_participant *p = add_part(r, membership, arrival_ns(k, 0, r), end_ns(k, 0, 0, RANKS));
            p->step = k < 5 ? -1 : k / 5;
            p->nth = k < 5 && r == 3 ? k - 2 : k % 5;
            set.memberships.v[membership].nlaunched++;
        }
    }
    match(TL_CLOCK_AUTO);
    const tl_table *groups = tl_tables_get(&tables, &tl_group_row_schema);
    int32_t most = 0;
    for (size_t i = 0; me == 0 && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        most = row->seen > most ? row->seen : most;
    }
    CU_ASSERT(me != 0 || most == RANKS);
}

/* ------------------------------------------------------------------------------------------------------- no memory */

/* On one proc the k-th allocation fails: all hear of it, and nobody hangs; until k is beyond them all.  Of a crowd, which
 * takes long to agree, fewer k. */
static void without_memory_all_give_up_together(void)
{
    bool done = false;
    for (size_t k = 1; !done && k < 4000; k += all <= 3 && k < 60 ? 1 : 1 + k / 5) {
        tl_late_rows late = { 0 };
        tl_error err = { 0 };
        deal_out(k % 2 == 0 ? BY_ENDS : BY_LAUNCH, 0);
        if (me == all - 1)
            tl_mem_fail_after(k);
        tl_status st = tl_match_run(&set, &exposures, TL_CLOCK_AUTO, &tables, &late, &err);
        tl_mem_fail_after(0);
        free(late.v);
        CU_ASSERT(st == TL_OK || st == TL_ENOMEM);
        CU_ASSERT(st == TL_OK || strstr(err.text, "memory") != NULL);
        done = st == TL_OK && k > 20;
        CU_ASSERT_EQUAL(tl_par_agree(st, NULL), st);
    }
    CU_ASSERT_TRUE(done);
}

/* ---------------------------------------------------------------------------------------------------------- absurd */

static int64_t absurd_time(uint64_t *state)
{
    switch (unit_below(state, 5)) {
    case 0:
        return INT64_MAX - 1;
    case 1:
        return INT64_MIN + 2;
    case 2:
        return 0;
    default:
        return (int64_t)(unit_random(state) >> 2) - (INT64_MAX >> 2);
    }
}

/* Everything that participants may say, at its limits: each of them is in one row all the same. */
static void absurd_participants_are_counted(void)
{
    size_t total = 0;
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        uint64_t state = 99 + (uint64_t)r;
        size_t n = 200 + unit_below(&state, 100);
        total += n;
        if (!is_mine(r))
            continue;
        int32_t membership[3];
        for (int g = 0; g < 3; g++) {
            membership[g] = add_membership(r, (uint64_t)g, g == 0 ? -1 : INT32_MAX);
            set.memberships.v[membership[g]].inferred = g == 0;
        }
        for (size_t i = 0; i < n; i++) {
            int64_t start = absurd_time(&state), end = absurd_time(&state);
            tl_participant *p = add_part(r, membership[unit_below(&state, 3)], start, end > start ? end : start);
            p->launch_ns = unit_below(&state, 2) ? TL_TIME_UNKNOWN : absurd_time(&state);
            p->seq = unit_below(&state, 2) ? -1 : (int64_t)(unit_random(&state) >> 1);
            p->bytes = unit_below(&state, 2) ? INT64_MAX : -1;
            p->nth = unit_below(&state, 2) ? -1 : (int32_t)unit_below(&state, 9);
            p->step = unit_below(&state, 2) ? -1 : INT32_MAX;
            p->peer = unit_below(&state, 2) ? -1 : (int32_t)unit_below(&state, 20);
            p->kind = (uint8_t)(1 + unit_below(&state, TL_NCOLLECTIVES - 1));
            add_candidates(p);
        }
    }
    match(TL_CLOCK_FORCE);
    size_t n, narrivals;
    tl_collective_row *c = gather_rows(&tl_collective_row_schema, &n);
    tl_arrival *a = gather_rows(&tl_arrival_schema, &narrivals);
    int64_t counted = 0;
    for (size_t i = 0; i < n; i++)
        counted += c[i].n;
    CU_ASSERT(me != 0 || (narrivals == total && counted == (int64_t)total));
    free(c);
    free(a);
}

static void a_job_without_communication_is_a_job(void)
{
    begin(RANKS);
    match(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_collective_row_schema)->n, 0);
    CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_clock_schema)->n, me == 0 ? RANKS : 0);
    begin(0);
    match(TL_CLOCK_AUTO);
    begin(0);
}

static const unit_test tests[] = {
    TEST(by_launch_everybody_meets_whom_he_met),
    TEST(so_they_do_by_number),
    TEST(so_they_do_by_ends_alone),
    TEST(a_clock_that_is_ahead_is_set_back),
        TEST(who_begins_to_record_later_is_of_the_group),
    TEST(without_memory_all_give_up_together),
    TEST(absurd_participants_are_counted),
    TEST(a_job_without_communication_is_a_job),
};

/* The one argument is the number of procs that there must be. */
int main(int argc, char **argv)
{
    bool started = argc == 2 && CU_initialize_registry() == CUE_SUCCESS;
    CU_pSuite suite = started ? CU_add_suite("match", NULL, NULL) : NULL;
    for (size_t i = 0; i < COUNT(tests) && suite != NULL; i++)
        if (CU_add_test(suite, tests[i].claim, tests[i].check) == NULL)
            suite = NULL;
    tl_par_start(&argc, &argv);
    me = tl_par_proc();
    all = tl_par_nprocs();
    if (suite == NULL || strtol(argv[1], NULL, 10) != all) {
        fprintf(stderr, "proc %d: %d procs, or no test could be added\n", me, all);
        tl_par_abort(1);
    }
    if (me == 0) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        CU_basic_run_tests();
    } else {
        CU_run_all_tests();
        for (CU_pFailureRecord f = CU_get_failure_list(); f != NULL; f = f->pNext)
            fprintf(stderr, "proc %d of %d: line %u: %s\n", me, all, f->uiLineNumber, f->strCondition);
    }
    bool failed = CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() != COUNT(tests);
    failed = tl_par_agree(failed ? TL_EINTERNAL : TL_OK, NULL) != TL_OK;
    tl_tables_free(&tables);
    tl_participants_free(&set);
    CU_cleanup_registry();
    tl_par_end();
    return failed;
}
