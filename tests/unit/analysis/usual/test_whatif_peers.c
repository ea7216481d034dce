/* test_whatif_peers.c - with whom a rank is compared, and what of its work therefore counts as too long.  A column is 100 us; what
 * is launched in a column may start in it. */
#include "drawn_job.h"

/* Rank 2 also meets rank 3, twice: what it does before R cannot be compared piece by piece, what it does after R can. */
static void a_rank_with_other_collectives_is_compared_by_its_sums_between_those_of_all(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("steps:     5555555555555555",
                            "host:      arb.............",
                            "compute 7: AAAA..........BB",
                            "comm 9:    ....RRRRRRRRRR..", NULL));
    job_rank(j, 0, draw("steps:     5555555555555555",
                        "host:      axcyrb..........",
                        "compute 7: AAAA.CCCC.....BB",
                        "comm 9:    ............RR..",
                        "comm 10:   ....X....YYY....", NULL));
    job_rank(j, 1, draw("steps:     5555555555555555",
                        "host:      xy..............",
                        "comm 10:   XXXXXYYYYYYY....", NULL));
    job_ready(j);
    const tl_whatif_facts *facts = tl_whatif_facts_of(j->whatif);
    CU_ASSERT_EQUAL(facts->compared, 2);
    CU_ASSERT_EQUAL(facts->by_sums, 1);
    CU_ASSERT_EQUAL(facts->uncompared, 1);
    /* Up to R 8 columns of work against 4: each piece shrinks to half; A ends in 2, C in 5, Y in 8. */
    double gain = job_gain(j, 2);
    CU_ASSERT(gain > 3.99 && gain < 4.01);
    job_free(j);
}

static void a_rank_alone_in_its_role_is_compared_with_its_other_steps(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("steps:     11223344..........",
                        "host:      abcdefgh..........",
                        "compute 7: AA..CC..EE....GG..",
                        "comm 9:    ..BB..DD..FFFF..HH", NULL));
    job_rank(j, 1, draw("steps:     11223344..........",
                        "host:      abcdefgh..........",
                        "compute 7: AA..CC..EEEE..GG..",
                        "comm 9:    ..BB..DD....FF..HH", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(tl_whatif_facts_of(j->whatif)->by_steps, 8);
    CU_ASSERT_EQUAL(job_gain(j, 1), 2);
    CU_ASSERT_EQUAL(job_gain(j, 0), 0);
    job_free(j);
}

/* All is marked as step 2, but the recordings of the first two end in it, and that of the last goes on for longest. */
static void recordings_that_end_in_turn_make_nobody_late(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("steps:     22222222222222",
                            "host:      ar............",
                            "compute 7: AA............",
                            "comm 9:    ..RR..........", NULL));
    job_rank(j, 0, draw("steps:     22222222222222",
                        "host:      arbs..........",
                        "compute 7: AA..BB........",
                        "comm 9:    ..RR..SS......", NULL));
    job_rank(j, 0, draw("steps:     22222222222222",
                        "host:      arbsct........",
                        "compute 7: AA..BB..CC....",
                        "comm 9:    ..RR..SS..TTTT", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 3)), 0);
    CU_ASSERT_EQUAL(job_gain(j, 3), 0);
    job_free(j);
}

/* Three stages of a rank each, the last with kernels of its own.  All do twice as much in step 3, and the last one two columns more than that, of which half
 * a column is a quarter of what all do more. */
static void what_all_stages_have_more_of_is_nobodys_surplus(void)
{
    drawn_job *j = job_new();
    for (int32_t r = 0; r < 2; r++)
        job_rank(j, r, draw("steps:     11223344............",
                            "host:      abcdefgh............",
                            "compute 7: AA..CC..EEEE....GG..",
                            "comm 9:    ..BB..DD....FFFF..HH", NULL));
    job_rank(j, 2, draw("steps:     11223344............",
                        "host:      wbxdyfzh............",
                        "compute 7: WW..XX..YYYYYY..ZZ..",
                        "comm 9:    ..BB..DD......FF..HH", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 0);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 1)), 0);
    CU_ASSERT_EQUAL(2 * columns(tl_whatif_all_surplus(j->whatif, 2)), 3);
    job_free(j);
}

/* The third rank is slow in every step, which its other steps do not show; the first two, stages of their own or two of one,
 * run the same kernels.  What the last one runs nobody else does. */
static void a_stage_is_compared_with_stages_that_compute_the_same(void)
{
    for (int32_t stages = 1; stages <= 2; stages++) {
        drawn_job *j = job_new();
        for (int32_t r = 0; r < 2; r++)
            job_rank(j, r % stages, draw("steps:     11111111222222222.",
                                         "host:      ar......ar........",
                                         "compute 7: AA......AA........",
                                         "comm 9:    ..RRRRRR..RRRRRRR.", NULL));
        job_rank(j, 2, draw("steps:     11111111222222222.",
                            "host:      ar......ar........",
                            "compute 7: AAAAAA..AAAAAAA...",
                            "comm 9:    ......RR.......RR.", NULL));
        job_rank(j, 3, draw("steps:     11111111222222222.",
                            "host:      acr.....acr.......",
                            "compute 7: AAACC...AAACC.....",
                            "comm 9:    .....RRR.....RRRR.", NULL));
        job_ready(j);
        /* 7 columns to 5, which the last stage needs anyway; the hosts begin step 2 when they do */
        CU_ASSERT_EQUAL(job_gain(j, 2), 2);
        CU_ASSERT_EQUAL(job_gain(j, 3), 0);
        CU_ASSERT_EQUAL(job_gain(j, 0), 0);
        job_free(j);
    }
}

/* Stages of a pipeline, of which the second takes A half as long again in every step, and D longer than the others C. */
static void add_stage(drawn_job *j, int32_t role, bool slow, bool more)
{
    drawing *d = !slow  ? draw("steps:     1111111111112222222222222",
                               "host:      acr.........acr..........",
                               "compute 7: AAAAC.......AAAAC........",
                               "comm 9:    .....RRRRRR......RRRRRRR.", NULL)
                 : more ? draw("steps:     1111111111112222222222222",
                               "host:      aedr........aedr.........",
                               "compute 7: AAAAEEDDD...AAAAEEDDD....",
                               "comm 9:    .........RR..........RRR.", NULL)
                        : draw("steps:     1111111111112222222222222",
                               "host:      adr.........adr..........",
                               "compute 7: AAAAAADDD...AAAAAADDD....",
                               "comm 9:    .........RR..........RRR.", NULL);
    job_rank(j, role, d);
    for (size_t k = 0; k < d->view.nkernels; k++)
        if (d->kernels[k].kind == TL_COMM)
            d->kernels[k].collective = TL_SEND_RECV;
}

/* That A takes longer is too long.  That D takes longer than C is how the model was cut; so is that it runs E as well. */
static void stages_are_compared_by_the_kernels_that_they_share(void)
{
    for (int more = 0; more < 2; more++) {
        drawn_job *j = job_new();
        add_stage(j, 0, false, false);
        add_stage(j, 1, true, more != 0);
        add_stage(j, 2, false, false);
        job_ready(j);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 1)), more ? 0 : 4);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 0);
        CU_ASSERT_EQUAL(job_gain(j, 1), more ? 0 : 2); /* the hosts begin step 2 when they do */
        job_free(j);
    }
}

static void of_two_stages_that_differ_neither_is_known_to_be_slow(void)
{
    drawn_job *j = job_new();
    add_stage(j, 0, false, false);
    add_stage(j, 1, true, false);
    job_ready(j);
    CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 1)), 0);
    job_free(j);
}

/* What seems an all-to-all of all ranks is what each stage sends to the next, where nobody tells to whom: who stays in it for
 * longer waits.  Ranks of one role stay for what they are sent more. */
static void who_stays_longer_in_what_stages_send_each_other_waits(void)
{
    for (int stages = 0; stages < 2; stages++) {
        drawn_job *j = job_new();
        for (int r = 0; r < 4; r++) {
            drawing *d = draw("host:      arb.........",
                              r == 3 ? "compute 7: AA........BB" : "compute 7: AA....BB....",
                              r == 3 ? "comm 9:    ..RRRRRRRR.." : "comm 9:    ..RRRR......", NULL);
            job_rank(j, stages ? r / 2 : 0, d);
        }
        for (size_t r = 0; r < j->nranks; r++)
            job_program(j, r);
        job_match(j);
        j->collectives[0].loose = true;
        tl_whatif_input in = job_input(j);
        CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
        CU_ASSERT_EQUAL(job_gain(j, 3), stages ? 0 : 4);
        job_free(j);
    }
}

/* Two ranks of a stage that both take too long: a slow host, where they are one, or else how the model was cut. */
static void several_ranks_of_a_stage_are_slow_alike_only_as_a_host(void)
{
    static const uint32_t none[] = { 0, 0, 0, 0 }, own[] = { 0, 1, 1, 2 }, apart[] = { 0, 1, 2, 2 }, shared[] = { 0, 1, 1, 1 };
    const uint32_t *const hosts[] = { NULL, none, own, apart, shared };
    for (size_t i = 0; i < COUNT(hosts); i++) {
        drawn_job *j = job_new();
        add_stage(j, 0, false, false);
        add_stage(j, 1, true, false);
        add_stage(j, 1, true, false);
        add_stage(j, 2, false, false);
        for (size_t r = 0; r < j->nranks; r++)
            job_program(j, r);
        job_match(j);
        tl_whatif_input in = job_input(j);
        in.hosts = hosts[i];
        CU_ASSERT_EQUAL_FATAL(tl_whatif_new(&in, &j->whatif, NULL), TL_OK);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 1)), hosts[i] == own ? 4 : 0);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 2)), hosts[i] == own ? 4 : 0);
        job_free(j);
    }
}

/* The second stage launches B late, because it is slow or waits for A, which the first does not.  How slow it was is not asked of
 * the first step. */
static void a_stage_launches_no_more_slowly_and_waits_no_more_often_than_others(void)
{
    for (int waits = 0; waits < 2; waits++) {
        drawn_job *j = job_new();
        job_rank(j, 0, draw("steps:     1111111111122222222222",
                            "host:      ab.r.......ab.r.......",
                            "compute 7: AABB.......AABB.......",
                            "comm 9:    ....RRRRR......RRRRR..", NULL));
        job_rank(j, 1, draw("steps:     1111111111122222222222",
                            "host:      a..br......a..br......",
                            "compute 7: AA.BB......AA.BB......",
                            "comm 9:    .....RRRR.......RRRR..", NULL));
        for (int at = 0; waits && at < 20; at += 11)
            job_wait(j, 1, at + 1, at + 2, TL_WAIT_STREAM);
        for (size_t r = 0; r < 2; r++)
            job_wait(j, r, 6, 9, TL_WAIT_STREAM);
        job_ready(j);
        double gain = job_gain(j, 1);
        CU_ASSERT(waits ? gain > 1.97 && gain < 2 : gain > 0.99 && gain < 1.01);
        CU_ASSERT_EQUAL(job_gain(j, 0), 0);
        job_free(j);
    }
}

/* V and T are sent: the stages in the middle, which wait for A where those at the ends do not, send twice as often, or no
 * more often. */
static void who_sends_more_often_may_wait_more_often(void)
{
    uint8_t middle[] = { 0, 1, 1, 0 };
    for (int more = 0; more < 2; more++) {
        drawn_job *j = job_new();
        for (int32_t stage = 0; stage < 4; stage++) {
            bool end = stage == 0 || stage == 3;
            drawing *d = draw("steps:     1111111111122222222222",
                        end ? "host:      ab.r..t....ab.r..t...."
                     : more ? "host:      a..brvt....a..brvt...."
                            : "host:      a..br.t....a..br.t....",
                        end ? "compute 7: AABB.......AABB......."
                            : "compute 7: AA.BB......AA.BB......",
                        end ? "comm 9:    ....RRRRR......RRRRR.."
                            : "comm 9:    .....RRRR.......RRRR..",
                end || !more ? "comm 10:   ......T..........T...."
                            : "comm 10:   .....VT.........VT....", NULL);
            job_rank(j, stage, d);
            for (size_t k = 0; k < d->view.nkernels; k++)
                if (d->kernels[k].correlation == 'v' || d->kernels[k].correlation == 't')
                    d->kernels[k].collective = TL_SEND;
            for (int at = 0; at < 20; at += 11) {
                if (!end)
                    job_wait(j, (size_t)stage, at + 1, at + 2, TL_WAIT_STREAM);
                job_wait(j, (size_t)stage, at + 7, at + 9, TL_WAIT_STREAM);
            }
        }
        job_ready(j);
        double gain = columns(tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = middle }, NULL));
        CU_ASSERT(more ? gain == 0 : gain > 0.9);
        job_free(j);
    }
}

/* Behind the last step rank 2 did two columns more than the others until the end of both recordings, or four more because its
 * own goes on for four. */
static void who_is_recorded_for_longer_did_not_do_more(void)
{
    for (int longer = 0; longer < 2; longer++) {
        drawn_job *j = job_new();
        for (int r = 0; r < 2; r++)
            job_rank(j, 0, draw("steps:     22222222.......",
                                "host:      arbs.......c...",
                                "compute 7: AA..BB.....CC..",
                                "comm 9:    ..RR..SS.......", NULL));
        job_rank(j, 0, draw("steps:     22222222.......",
                            "host:      arbs.....c.....",
                   longer ? "compute 7: AA..BB...CCCCCC"
                          : "compute 7: AA..BB...CCCC..",
                            "comm 9:    ..RR..SS.......", NULL));
        job_ready(j);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 2)), 2);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 0);
        job_free(j);
    }
}

/* The first stage copies to its device what nobody else needs. */
static void a_stage_that_alone_is_fed_is_not_slow(void)
{
    drawn_job *j = job_new();
    for (int32_t r = 0; r < 3; r++)
        job_rank(j, r, draw("steps:     11111111222222222.",
                            "host:      ar......ar........",
                            "compute 7: AA......AA........",
                            "comm 9:    ..RRRRRR..RRRRRRR.", NULL));
    job_rank(j, 3, draw("steps:                  11111111222222222.",
                        "host:                   mar.....mar.......",
                        "memcpy 7 Memcpy HtoD:   MMMM....MMMMM.....",
                        "compute 7:              ....AA.......AA...",
                        "comm 9:                 ......RR.......RR.", NULL));
    job_ready(j);
    CU_ASSERT_EQUAL(job_gain(j, 3), 0);
    job_free(j);
}

/* The recording begins in step 1, and what S is only one of the two has on record: they are compared all the same. */
static void what_was_launched_before_the_recording_may_be_anything(void)
{
    static const uint8_t kinds[] = { TL_ALL_REDUCE, TL_COLL_UNKNOWN, TL_ALL_GATHER };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        drawn_job *j = job_new();
        job_rank(j, 0, draw("steps:     ....22222222",
                            "host:      arbsct......",
                            "compute 7: AA..BB...CC.",
                            "comm 9:    ..RR..SSS..T", NULL));
        job_rank(j, 0, draw("steps:     ....22222222",
                            "host:      arbsct......",
                            "compute 7: AA..BBBB.CC.",
                            "comm 9:    ..RR....S..T", NULL));
        for (size_t k = 0; k < j->ranks[0]->view.nkernels; k++)
            if (j->ranks[0]->kernels[k].correlation == 's')
                j->ranks[0]->kernels[k].collective = kinds[i];
        job_ready(j);
        uint8_t repaired[] = { 0, 1 };
        tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = repaired }, NULL);
        tl_parts sum;
        tl_whatif_surplus(j->whatif, 1, 0, &sum);
        CU_ASSERT_EQUAL(sum.ns[TL_PART_COMPUTE], 0); /* none in step 2 */
        double gain = job_gain(j, 1);
        CU_ASSERT_EQUAL(gain, kinds[i] == TL_ALL_GATHER ? 0 : 2);
        job_free(j);
    }
}

/* Slow ranks, and two that are not or one: alone each is compared with its like, too, as all are where one is left. */
static void who_is_repaired_together_is_compared_with_who_is_not(void)
{
    for (int quick = 1; quick <= 2; quick++) {
        drawn_job *j = job_new();
        uint8_t repaired[4 + 1] = { 0 };
        int64_t step_ns[1];
        for (int r = 0; r <= quick; r++) {
            job_rank(j, 0, draw("steps:     111111111111",
                                "host:      ar..........",
                                "compute 7: AAAAAAAA....",
                                "comm 9:    ........RRRR", NULL));
            repaired[r] = 1;
        }
        for (int r = 0; r < quick; r++)
            job_rank(j, 0, draw("steps:     111111111111",
                                "host:      ar..........",
                                "compute 7: AAAA........",
                                "comm 9:    ....RRRRRRRR", NULL));
        job_ready(j);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 2);
        int64_t gain_ns = tl_whatif_gain(j->whatif, &(tl_scenario){ .repaired = repaired }, NULL);
        CU_ASSERT_EQUAL(columns(gain_ns), quick == 2 ? 4 : 2);
        tl_whatif_step_surplus(j->whatif, 0, true, step_ns);
        CU_ASSERT_EQUAL(columns(step_ns[0]), quick == 2 ? 4 : 2);
        tl_whatif_step_surplus(j->whatif, 0, false, step_ns);
        CU_ASSERT_EQUAL(columns(step_ns[0]), 2);
        CU_ASSERT_EQUAL(columns(tl_whatif_all_surplus(j->whatif, 0)), 2);
        job_free(j);
    }
}

static const unit_test tests[] = {
    TEST(who_is_repaired_together_is_compared_with_who_is_not),
    TEST(a_rank_with_other_collectives_is_compared_by_its_sums_between_those_of_all),
    TEST(a_rank_alone_in_its_role_is_compared_with_its_other_steps),
    TEST(who_is_recorded_for_longer_did_not_do_more),
    TEST(what_was_launched_before_the_recording_may_be_anything),
    TEST(recordings_that_end_in_turn_make_nobody_late),
    TEST(what_all_stages_have_more_of_is_nobodys_surplus),
    TEST(a_stage_is_compared_with_stages_that_compute_the_same),
    TEST(a_stage_that_alone_is_fed_is_not_slow),
    TEST(a_stage_launches_no_more_slowly_and_waits_no_more_often_than_others),
    TEST(who_sends_more_often_may_wait_more_often),
    TEST(stages_are_compared_by_the_kernels_that_they_share),
    TEST(of_two_stages_that_differ_neither_is_known_to_be_slow),
    TEST(who_stays_longer_in_what_stages_send_each_other_waits),
    TEST(several_ranks_of_a_stage_are_slow_alike_only_as_a_host),
};

int main(void)
{
    return unit_main("whatif_peers", tests, COUNT(tests));
}
