/* test_whatif.c - what would have been, on drawings whose answer can be counted.  A column is 100 us; what is launched in
 * a column may start in it. */
#include "drawn_job.h"

/* R waits for a and runs beside b; c waits for both. */
static drawn_job *data_parallel(const char *late_compute, const char *late_comm)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      arbc............",
                            "compute 7: AAAABBBB......CC",
                            "comm 9:    ....RRRRRRRRRR..", NULL));
    job_rank(j, 0, draw("host:      arbc............", late_compute, late_comm, NULL));
    job_ready(j);
    return j;
}

static void steps_gain_no_more_than_the_job(void)
{
    int64_t moved[] = { 0, 40, -30, 0 }, lost[] = { 5, -9 }, saved[] = { 10, 20, -1 };
    tl_gains_to_steps(moved, 4, 10); /* what is done sooner in one is waited for in the next */
    CU_ASSERT(moved[0] == 0 && moved[1] == 10 && moved[2] == 0 && moved[3] == 0);
    tl_gains_to_steps(lost, 2, -4);
    CU_ASSERT(lost[0] == 0 && lost[1] == 0);
    tl_gains_to_steps(saved, 3, 35); /* some of it before the first step */
    CU_ASSERT(saved[0] == 10 && saved[1] == 20 && saved[2] == 0);
}

static void late_work_before_an_all_reduce_is_gained(void)
{
    drawn_job *j = data_parallel("compute 7: AAAAAAAABBBB..CC",
                                 "comm 9:    ........RRRRRR..");
    CU_ASSERT_EQUAL(job_gain(j, 2), 4);
    CU_ASSERT_EQUAL(job_gain(j, 0), 0);
    CU_ASSERT_EQUAL(job_gain(j, 1), 0);
    job_free(j);
}

static void slow_work_hidden_behind_communication_gains_nothing(void)
{
    drawn_job *j = data_parallel("compute 7: AAAABBBBBBBB..CC",
                                 "comm 9:    ....RRRRRRRRRR..");
    CU_ASSERT_EQUAL(job_gain(j, 2), 0);
    job_free(j);
}

static void a_gain_is_less_than_the_surplus_where_something_else_is_next(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      arbc............",
                        "compute 7: AAAABBBB....CC..",
                        "comm 9:    ....RRRRRRRR....", NULL));
    job_rank(j, 0, draw("host:      arbc............",
                        "compute 7: AAAAAABBBBBBBBCC",
                        "comm 9:    ......RRRRRR....", NULL));
    job_ready(j);
    /* a and b are 2 and 4 too long.  Then R would begin in 4 and end in 10; c, on both ranks, end in 12. */
    CU_ASSERT_EQUAL(job_gain(j, 1), 4);
    job_free(j);
}

static void a_chain_of_exposed_collectives_gains_each_surplus(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      arcsetg..............",
                            "compute 7: AA...CC.....EE.....GG",
                            "comm 9:    ..RRR..SSSSS..TTTTT..", NULL));
    job_rank(j, 0, draw("host:      arcsetg..............",
                        "compute 7: AAA..CCCC...EEEEE..GG",
                        "comm 9:    ...RR....SSS.....TT..", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(job_gain(j, 2), 1 + 2 + 3);
    CU_ASSERT_EQUAL(job_gain(j, 0), 0);
    job_free(j);
}

static void hosts_that_do_not_wait_bound_the_gain(void)
{
    drawn_job *j = job_late_host(false);
    CU_ASSERT_EQUAL(job_gain(j, 2), 0);
    job_free(j);
}

static void hosts_that_wait_for_their_device_come_earlier_with_it(void)
{
    drawn_job *j = job_late_host(true);
    CU_ASSERT_EQUAL(job_gain(j, 2), 4);
    CU_ASSERT_EQUAL(job_gain(j, 1), 0);
    job_free(j);
}

/* Rank 2 alone waits for a before it launches r: only who repairs the kind of call in which it waits has it launch earlier. */
static void a_needless_wait_belongs_to_the_call_that_waits(void)
{
    static const tl_part part_of[] = {
        [TL_WAIT_DEVICE] = TL_PART_SYNC, [TL_WAIT_STREAM] = TL_PART_SYNC,    [TL_WAIT_EVENT] = TL_PART_SYNC,
        [TL_WAIT_COPY] = TL_PART_H2D,    [TL_WAIT_FREE] = TL_PART_ALLOCATOR,
    };
    uint8_t repaired[] = { 0, 0, 1 };

    for (int kind = 0; kind < TL_WAIT_QUEUE; kind++) {
        drawn_job *j = job_new();
        for (int r = 0; r < 2; r++)
            job_rank(j, 0, draw("host:      a...rc.....",
                                "compute 7: AAAA.....CC",
                                "comm 9:    ....RRRRR..", NULL));
        job_rank(j, 0, draw("host:      a......rc..",
                            "compute 7: AAAA.....CC",
                            "comm 9:    .......RR..", NULL));
        job_wait(j, 2, 1, 4, (tl_wait_kind)kind);
        job_ready(j);
        for (int part = 0; part < TL_NPARTS; part++) {
            tl_scenario one = { .repaired = repaired, .parts = 1U << part };
            double gain = columns(tl_whatif_gain(j->whatif, &one, NULL)); /* the wait ends a rounding early */
            CU_ASSERT_DOUBLE_EQUAL(gain, part == (int)part_of[kind] ? 3 : 0, 0.02);
        }
        CU_ASSERT_DOUBLE_EQUAL(job_gain(j, 2), 3, 0.02);
        job_free(j);
    }
}

static void a_gain_belongs_to_the_part_that_was_too_long(void)
{
    uint8_t repaired[] = { 0, 0, 1 };
    tl_scenario host = { .repaired = repaired, .parts = 1U << TL_PART_HOST };
    tl_scenario work = { .repaired = repaired, .parts = 1U << TL_PART_COMPUTE };
    tl_parts surplus;

    drawn_job *j = job_late_host(true);
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &host, NULL)), 4);
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &work, NULL)), 0);
    job_free(j);

    j = data_parallel("compute 7: AAAAAAAABBBB..CC",
                      "comm 9:    ........RRRRRR..");
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &host, NULL)), 0);
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &work, NULL)), 4);
    job_free(j);

    j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("steps:     333333333333",
                            "host:      armc........",
                            "compute 7: AAA.......CC",
                            "memcpy 7:  .....MM.....",
                            "comm 9:    ...RR..SSS..", NULL));
    job_rank(j, 0, draw("steps:     333333333333",
                        "host:      armc........",
                        "compute 7: AAA.......CC",
                        "memcpy 7:  .....MMMM...",
                        "comm 9:    ...RR....S..", NULL));
    job_ready(j);
    tl_whatif_surplus(j->whatif, 2, 0, &surplus);
    CU_ASSERT_EQUAL(columns(surplus.ns[TL_PART_COPY]), 2);
    CU_ASSERT_EQUAL(columns(surplus.ns[TL_PART_COMPUTE]), 0);
    CU_ASSERT_EQUAL(columns(surplus.ns[TL_PART_HOST]), 0);
    CU_ASSERT_EQUAL(job_gain(j, 2), 2);
    job_free(j);
}

/* Two replicas of two stages: A and B go forward through the first, E and H through the second; then G and I go back through
 * the second, C and D through the first.  P and Q are sent up, X and Y down. */
static drawn_job *pipeline(bool slow)
{
    drawn_job *j = job_new();
    j->pairs = "PQXY";
    job_rank(j, 0, draw("host:      apbqxcydz.................",
                        "compute 7: AABB......CCCC..DDDD......",
                        "comm 9:    ..P.Q.....................",
                        "comm 10:   ....XXXXXXYYYYYY..........",
                slow ? "comm 11:   ....................ZZZZZZ"
                     : "comm 11:   ....................ZZ....", NULL));
    job_rank(j, 1, draw("host:      pegxqhiyz.................",
                        "compute 7: ...EEGGGGHHIIII...........",
                        "comm 9:    PPP.Q.....................",
                        "comm 10:   .........X.....Y..........",
                slow ? "comm 11:   ...............ZZZZZZZZZZZ"
                     : "comm 11:   ...............ZZZZZZZ....", NULL));
    if (slow) {
        job_rank(j, 0, draw("host:      apbqxcydz.................",
                            "compute 7: AABB........CCCC....DDDD..",
                            "comm 9:    ..P.Q.....................",
                            "comm 10:   ....XXXXXXXXYYYYYYYY......",
                            "comm 11:   ........................ZZ", NULL));
        job_rank(j, 1, draw("host:      pegxqhiyz.................",
                            "compute 7: ...EEGGGGGGHHIIIIII.......",
                            "comm 9:    PPP.Q.....................",
                            "comm 10:   ...........X.......Y......",
                            "comm 11:   ...................ZZZZZZZ", NULL));
    } else {
        job_rank(j, 0, draw("host:      apbqxcydz.................",
                            "compute 7: AABB......CCCC..DDDD......",
                            "comm 9:    ..P.Q.....................",
                            "comm 10:   ....XXXXXXYYYYYY..........",
                            "comm 11:   ....................ZZ....", NULL));
        job_rank(j, 1, draw("host:      pegxqhiyz.................",
                            "compute 7: ...EEGGGGHHIIII...........",
                            "comm 9:    PPP.Q.....................",
                            "comm 10:   .........X.....Y..........",
                            "comm 11:   ...............ZZZZZZZ....", NULL));
    }
    j->replica[2] = j->replica[3] = 1;
    job_ready(j);
    return j;
}

static void bubbles_of_a_pipeline_are_nobodys_fault(void)
{
    drawn_job *j = pipeline(false);
    for (size_t r = 0; r < j->nranks; r++)
        CU_ASSERT_EQUAL(job_gain(j, r), 0);
    CU_ASSERT_EQUAL(columns(tl_whatif_run(j->whatif, &(tl_scenario){ .ideal = true }, NULL)), 22);
    job_free(j);
}

static void a_slow_stage_is_found_among_its_peers(void)
{
    drawn_job *j = pipeline(true);
    CU_ASSERT_EQUAL(columns(tl_whatif_facts_of(j->whatif)->simulated_ns), 26);
    CU_ASSERT_EQUAL(job_gain(j, 3), 4);
    for (size_t r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(job_gain(j, r), 0);
    job_free(j);
}

static drawn_job *slow_link(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      arbzc.........",
                            "compute 7: AAA......BB..C",
                            "comm 9:    ...RRRRRR..ZZ.", NULL));
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      asbzc.........",
                            "compute 7: AAA..BB......C",
                            "comm 9:    ...SS..ZZZZZZ.", NULL));
    job_ready(j);
    return j;
}

static void a_slow_link_is_repaired_by_the_median_of_transfers_like_it(void)
{
    drawn_job *j = slow_link();
    uint8_t links[DRAWN_COMMS] = { 0 }, everybody[DRAWN_RANKS] = { 1, 1, 1, 1 };
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = everybody }, NULL)), 0);
    for (size_t c = 0; c < j->ncollectives; c++)
        links[c] = j->letters[c] == 'R';
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &(tl_scenario){ .links = links }, NULL)), 4);
    for (size_t c = 0; c < j->ncollectives; c++)
        links[c] = j->letters[c] != 'R';
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &(tl_scenario){ .links = links }, NULL)), 0);
    CU_ASSERT_EQUAL(columns(tl_whatif_run(j->whatif, &(tl_scenario){ .ideal = true }, NULL)), 10);
    job_free(j);
}

static drawn_job *one_bad_step(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("steps:     1111111122222222222333333",
                        "host:      arc.....dsf........gti...",
                        "compute 7: AA..CC..DD.....FF..GG..II",
                        "comm 9:    ..RR......SSSSS......TT..", NULL));
    job_rank(j, 0, draw("steps:     1111111122222222222333333",
                        "host:      arc.....dsf........gti...",
                        "compute 7: AA..CC..DDDDD..FF..GG..II",
                        "comm 9:    ..RR.........SS......TT..", NULL));
    for (size_t r = 0; r < 2; r++) {
        job_wait(j, r, 3, 6, TL_WAIT_STREAM);
        job_wait(j, r, 11, 17, TL_WAIT_STREAM);
    }
    job_ready(j);
    return j;
}

static void a_step_has_its_own_gain(void)
{
    drawn_job *j = one_bad_step();
    const tl_whatif_facts *facts = tl_whatif_facts_of(j->whatif);
    uint8_t repaired[] = { 0, 1 };
    int64_t ns[3];

    CU_ASSERT_EQUAL_FATAL(facts->nsteps, 3);
    CU_ASSERT_EQUAL(facts->steps[0], 1);
    CU_ASSERT_EQUAL(facts->compared, 6);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 1)), 3);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 0);
    CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = repaired }, ns)), 3);
    CU_ASSERT_EQUAL(columns(ns[0]), 0);
    CU_ASSERT_EQUAL(columns(ns[1]), 3);
    CU_ASSERT_EQUAL(columns(ns[2]), 0);
    for (int step = 1; step <= 3; step++) {
        tl_scenario one = { .repaired = repaired, .in_steps = true, .first_step = step, .last_step = step };
        CU_ASSERT_EQUAL(columns(tl_whatif_gain(j->whatif, &one, NULL)), step == 2 ? 3 : 0);
    }
    CU_ASSERT_EQUAL(columns(tl_whatif_run(j->whatif, &(tl_scenario){ 0 }, ns)), 25);
    CU_ASSERT_EQUAL(columns(ns[0]), 6);
    CU_ASSERT_EQUAL(columns(ns[1]), 11);
    CU_ASSERT_EQUAL(columns(ns[2]), 8);
    job_free(j);
}

static void one_rank_may_keep_its_own_times_in_the_ideal(void)
{
    drawn_job *j = data_parallel("compute 7: AAAAAAAABBBB..CC",
                                 "comm 9:    ........RRRRRR..");
    int64_t ideal = tl_whatif_run(j->whatif, &(tl_scenario){ .ideal = true }, NULL);
    CU_ASSERT_EQUAL(columns(ideal), 12);
    for (int r = 0; r < 3; r++) {
        uint8_t own[] = { r == 0, r == 1, r == 2 };
        int64_t ns = tl_whatif_run(j->whatif, &(tl_scenario){ .ideal = true, .own = own }, NULL);
        CU_ASSERT_EQUAL(columns(ns), r == 2 ? 16 : 12);
    }
    job_free(j);
}

static void clocks_may_differ_by_what_the_caller_knows(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      arc.........",
                        "compute 7: AA......CC..",
                        "comm 9:    ..RRRRRR....", NULL));
    job_rank(j, 0, draw("host:      .......arc.........",
                        "compute 7: .......AAAAAA..CC..",
                        "comm 9:    .............RR....", NULL));
    j->offset_ns[1] = -7 * COLUMN;
    job_ready(j);
    CU_ASSERT_EQUAL(columns(tl_whatif_facts_of(j->whatif)->measured_ns), 10);
    CU_ASSERT_EQUAL(job_gain(j, 1), 4);
    job_free(j);
}

/* Each rank would wait in its first collective until the other has left its own. */
static void collectives_that_contradict_each_other_are_taken_apart(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      ras...",
                        "compute 7: ..AA..",
                        "comm 9:    RR..SS", NULL));
    job_rank(j, 0, draw("host:      sar...",
                        "compute 7: ..AA..",
                        "comm 9:    SS..RR", NULL));
    for (size_t r = 0; r < 2; r++)
        job_program(j, r);
    job_match(j);
    tl_whatif_input in = job_input(j);
    CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
    const tl_whatif_facts *facts = tl_whatif_facts_of(j->whatif);
    CU_ASSERT_EQUAL(facts->nalone, 2);
    CU_ASSERT_EQUAL(facts->state, TL_WHATIF_OK);
    CU_ASSERT_EQUAL(facts->simulated_ns, facts->measured_ns);
    job_free(j);
}

/* Sent before the other was ready to receive: the sender goes on, and sends again before the first has been received. */
static void who_has_left_early_does_not_wait(void)
{
    drawn_job *j = job_new();
    j->pairs = "PQ";
    job_rank(j, 0, draw("host:      paqb........",
                        "compute 7: ..AA..BB....",
                        "comm 9:    PP..QQ......", NULL));
    job_rank(j, 1, draw("host:      ..c..p..q...",
                        "compute 7: ..CCCCCCCC..",
                        "comm 9:    .....P..Q...", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(tl_whatif_facts_of(j->whatif)->nalone, 0);
    job_free(j);
}

static void a_replay_that_is_far_off_is_refused(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      ar........",
                        "compute 7: AAAA......",
                        "comm 9:    ....RRRRRR", NULL));
    job_rank(j, 0, draw("host:      ar........",
                        "compute 7: AAAA......",
                        "comm 9:    ....RRRRRR", NULL));
    for (size_t r = 0; r < 2; r++)
        job_program(j, r);
    job_match(j);
    j->programs[1].end_ns += COLUMN;
    tl_whatif_input in = job_input(j);
    CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
    CU_ASSERT_EQUAL(tl_whatif_facts_of(j->whatif)->state, TL_WHATIF_ERROR);
    tl_path path;
    CU_ASSERT_EQUAL(tl_critical_path(j->whatif, &path, NULL), TL_EINPUT);
    job_free(j);
}

static void nothing_is_nothing(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      a", NULL));
    job_program(j, 0);
    tl_whatif_input in = job_input(j);
    CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
    CU_ASSERT_EQUAL(tl_whatif_facts_of(j->whatif)->state, TL_WHATIF_EMPTY);
    CU_ASSERT_EQUAL(job_gain(j, 0), 0);
    job_free(j);
}

static void what_does_not_exist_is_refused(void)
{
    drawn_job *j = slow_link();
    tl_whatif *w;
    tl_whatif_input in = job_input(j);
    for (int fault = 0; fault < 6; fault++) {
        tl_whatif_member member = j->members[0];
        tl_entry entry = j->programs[0].entries[1];
        uint32_t n = j->collectives[0].n;
        if (fault == 0)
            j->members[0].rank = 4;
        if (fault == 1)
            j->members[0].comm = 2;
        if (fault == 2)
            j->members[0] = j->members[1];
        if (fault == 3)
            j->collectives[0].n = 100;
        if (fault == 4)
            j->programs[0].entries[1].on = 1;
        if (fault == 5)
            j->programs[0].entries[1].comm = 2;
        CU_ASSERT_EQUAL(tl_whatif_new(&in, &w, NULL), TL_EINTERNAL);
        CU_ASSERT_PTR_NULL(w);
        j->members[0] = member;
        j->programs[0].entries[1] = entry;
        j->collectives[0].n = n;
    }
    CU_ASSERT_EQUAL(tl_whatif_new(&in, &w, NULL), TL_OK);
    tl_whatif_free(w);
    job_free(j);
}

static void without_memory_there_is_no_answer(void)
{
    drawn_job *j = one_bad_step();
    tl_whatif_input in = job_input(j);
    tl_status status = TL_ENOMEM;
    for (size_t n = 1; status == TL_ENOMEM && n < 500; n++) {
        tl_whatif *w;
        tl_mem_fail_after(n);
        status = tl_whatif_new(&in, &w, NULL);
        tl_mem_fail_after(0);
        CU_ASSERT((status == TL_OK) == (w != NULL));
        CU_ASSERT(status == TL_OK || status == TL_ENOMEM);
        tl_whatif_free(w);
    }
    CU_ASSERT_EQUAL(status, TL_OK);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(steps_gain_no_more_than_the_job),
    TEST(late_work_before_an_all_reduce_is_gained),
    TEST(slow_work_hidden_behind_communication_gains_nothing),
    TEST(a_gain_is_less_than_the_surplus_where_something_else_is_next),
    TEST(a_chain_of_exposed_collectives_gains_each_surplus),
    TEST(hosts_that_do_not_wait_bound_the_gain),
    TEST(hosts_that_wait_for_their_device_come_earlier_with_it),
    TEST(a_needless_wait_belongs_to_the_call_that_waits),
    TEST(a_gain_belongs_to_the_part_that_was_too_long),
    TEST(bubbles_of_a_pipeline_are_nobodys_fault),
    TEST(a_slow_stage_is_found_among_its_peers),
    TEST(a_slow_link_is_repaired_by_the_median_of_transfers_like_it),
    TEST(a_step_has_its_own_gain),
    TEST(one_rank_may_keep_its_own_times_in_the_ideal),
    TEST(clocks_may_differ_by_what_the_caller_knows),
    TEST(collectives_that_contradict_each_other_are_taken_apart),
    TEST(who_has_left_early_does_not_wait),
    TEST(a_replay_that_is_far_off_is_refused),
    TEST(nothing_is_nothing),
    TEST(what_does_not_exist_is_refused),
    TEST(without_memory_there_is_no_answer),
};

int main(void)
{
    return unit_main("whatif", tests, COUNT(tests));
}
