/* test_program.c - one rank as a program, on drawings.  A column is 100 us. */
#include "drawn_job.h"
#include "many_kernels.h"

typedef struct one {
    drawn_job *job;
    const tl_program *p;
} one;

static one program_of(drawing *d)
{
    drawn_job *j = job_new();
    job_rank(j, 0, d);
    job_program(j, 0);
    return (one){ j, &j->programs[0] };
}

/* Entries of a chain, as text: "3" is an entry of 3 columns, "3@9" one that may not end before column 9 by its launch (5 us
 * of latency are 0.05 columns), "+r" one that waits for comm r. */
static const char *chain_of(one o, tl_chain chain)
{
    static char text[2][512];
    char *to = text[chain];
    size_t n = 0, size = sizeof text[0];
    int64_t launch_ns[256] = { 0 }, host_ns = o.p->start_ns;

    to[0] = 0;
    for (size_t i = 0; i < o.p->nentries; i++) {
        const tl_entry *e = &o.p->entries[i];
        if (e->chain == TL_CHAIN_HOST)
            launch_ns[i] = host_ns += e->ns;
        if (e->chain != (uint8_t)chain)
            continue;
        n += (size_t)snprintf(to + n, size - n, "%s%g", n > 0 ? " " : "", (double)e->ns / (double)COLUMN);
        if (e->on != TL_NONE && chain == TL_CHAIN_WORK)
            n += (size_t)snprintf(to + n, size - n, "@%g", (double)(launch_ns[e->on] + e->gate_ns) / (double)COLUMN);
        if (e->comm != TL_NONE)
            n += (size_t)snprintf(to + n, size - n, "+%c",
                                  (char)o.job->ranks[0]->kernels[o.p->comms[e->comm].kernel].correlation);
    }
    return to;
}

static void kernels_in_a_row_are_one_entry(void)
{
    one o = program_of(draw("host:      abcd..........",
                            "compute 7: AAABBCCCDDDDD", NULL));
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "13@13");
    CU_ASSERT_EQUAL(o.p->nsegments, 2); /* before the step, and in it */
    CU_ASSERT_EQUAL(o.p->segments[1].work_ns, 13 * COLUMN);
    CU_ASSERT_EQUAL(o.p->end_ns - o.p->start_ns, 13 * COLUMN);
    job_free(o.job);
}

static void a_late_launch_is_the_hosts_time_and_not_the_works(void)
{
    one o = program_of(draw("host:      ab......c....",
                            "compute 7: AAABB...CCCCC", NULL));
    tl_parts parts = { { 0 } };
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "5@5 5@13");
    CU_ASSERT_EQUAL(o.p->segments[1].host_ns, 8 * COLUMN);
    tl_program_parts(o.p, 1, &parts);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COMPUTE], 10 * COLUMN);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_HOST], 3 * COLUMN);
    job_free(o.job);
}

/* b could not start before its call was done. */
static void a_launch_that_takes_long_is_the_hosts_time(void)
{
    drawing *d = draw("host:      ab...........", "compute 7: AAA.....BBBBB", NULL);
    drawn_job *j = job_new();
    job_rank(j, 0, d);
    d->launches[1].end_ns = 8 * COLUMN;
    job_program(j, 0);
    one o = { j, &j->programs[0] };
    tl_parts parts = { { 0 } };
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "3@3 5@13");
    CU_ASSERT_EQUAL(o.p->segments[1].host_ns, 8 * COLUMN);
    tl_program_parts(o.p, 1, &parts);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_HOST], 5 * COLUMN);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_DEVICE], 0);
    job_free(j);
}

/* The pause before r is the host's while it was on the way to r, though the work that it delayed counts behind r. */
static void lateness_is_charged_where_the_host_was(void)
{
    one o = program_of(draw("host:      a......rb....",
                            "compute 7: AAA.......BBB",
                            "comm 9:    .......RRR...", NULL));
    tl_parts before = { { 0 } }, behind = { { 0 } };
    CU_ASSERT_EQUAL_FATAL(o.p->nsegments, 3);
    tl_program_parts(o.p, 1, &before);
    tl_program_parts(o.p, 2, &behind);
    CU_ASSERT_EQUAL(before.ns[TL_PART_HOST], 4 * COLUMN);
    CU_ASSERT_EQUAL(behind.ns[TL_PART_HOST], 0);
    CU_ASSERT_EQUAL(behind.ns[TL_PART_COMPUTE], 3 * COLUMN);
    job_free(o.job);
}

static void a_gap_that_nothing_explains_stays(void)
{
    one o = program_of(draw("host:      abc..........",
                            "compute 7: AAABB...CCCCC", NULL));
    tl_parts parts = { { 0 } };
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "13@13");
    tl_program_parts(o.p, 1, &parts);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COMPUTE], 10 * COLUMN);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_DEVICE], 3 * COLUMN);
    job_free(o.job);
}

static void work_waits_for_the_collective_that_kept_it_waiting(void)
{
    one o = program_of(draw("host:      arbc.........",
                            "compute 7: AAABB...CCCCC",
                            "comm 9:    ...RRRRR.....", NULL));
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "3@3 2@4.05 5@8.05+r");
    CU_ASSERT_EQUAL(o.p->ncomms, 1);
    CU_ASSERT_EQUAL(o.p->entries[o.p->comms[0].work].ns, 3 * COLUMN);
    CU_ASSERT_EQUAL(o.p->comms[0].lag_ns, 0);
    job_free(o.job);
}

/* Starts and durations are rounded one by one: a collective may seem to end just after what waited for it began, and
 * after the next one on its stream. */
static void what_is_rounded_still_waited(void)
{
    drawing *d = draw("host:      arsbc..........",
                      "compute 7: AAABB.....CCCC",
                      "comm 9:    ...RRR........",
                      "comm 9:    ......SSSS....", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        d->kernels[i].end_ns += d->kernels[i].kind == TL_COMM ? 1 : 0;
    one o = program_of(d);
    CU_ASSERT_EQUAL_FATAL(o.p->ncomms, 2);
    CU_ASSERT_EQUAL(o.p->comms[1].previous, 0);
    CU_ASSERT_EQUAL(o.p->entries[o.p->nentries - 1].comm, 1);
    job_free(o.job);
}

static void work_that_was_launched_before_a_collective_does_not_wait_for_it(void)
{
    one o = program_of(draw("host:      abcr.........",
                            "compute 7: AAABB...CCCCC",
                            "comm 9:    ...RRRRR.....", NULL));
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "13@13");
    job_free(o.job);
}

static void one_stream_is_in_order(void)
{
    one o = program_of(draw("host:      arb..........",
                            "compute 7: AAA.....BBBBB",
                            "comm 7:    ...RRRR......", NULL));
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "3@3 6@8.05+r"); /* with the column that nothing explains */
    job_free(o.job);
}

/* The all-gathers begin while work runs that had been launched before them, as soon as their stream is free. */
static void what_is_gathered_ahead_waits_for_no_work(void)
{
    one o = program_of(draw("host:      gahbicjd.........",
                            "compute 7: ..AAAABBBBCCCCDDD",
                            "comm 9:    GGHH.IIIJJ.......", NULL));
    for (size_t i = 0; i < o.p->ncomms; i++)
        CU_ASSERT_EQUAL(o.p->comms[i].work, TL_NONE);
    CU_ASSERT_EQUAL(o.p->comms[1].previous, 0);
    job_free(o.job);
}

/* As above, but the last could have begun long before, and begins as soon as the work launched before it has ended. */
static void who_gathers_ahead_may_wait_for_work_now_and_then(void)
{
    one o = program_of(draw("host:      gahbk..........",
                            "compute 7: ..AAAABBBB.....",
                            "comm 9:    GGHH......KKK..", NULL));
    CU_ASSERT_EQUAL_FATAL(o.p->ncomms, 3);
    CU_ASSERT_EQUAL(o.p->comms[1].work, TL_NONE);
    CU_ASSERT_NOT_EQUAL_FATAL(o.p->comms[2].work, TL_NONE);
    CU_ASSERT_EQUAL(o.p->entries[o.p->comms[2].work].chain, TL_CHAIN_WORK);
    CU_ASSERT_EQUAL(o.p->comms[2].lag_ns, 0);
    job_free(o.job);

    /* A column later it was not the work that let it go. */
    o = program_of(draw("host:      gahbk..........",
                        "compute 7: ..AAAABBBB.....",
                        "comm 9:    GGHH.......KKK.", NULL));
    CU_ASSERT_EQUAL(o.p->comms[2].work, TL_NONE);
    job_free(o.job);
}

static void a_comm_may_wait_for_another(void)
{
    one o = program_of(draw("host:      ars..........",
                            "compute 7: AAA..........",
                            "comm 9:    ...RRRR......",
                            "comm 10:   .......SSS...", NULL));
    CU_ASSERT_EQUAL_FATAL(o.p->ncomms, 2);
    CU_ASSERT_EQUAL(o.p->comms[1].after, 0);
    CU_ASSERT_EQUAL(o.p->comms[1].previous, TL_NONE);
    CU_ASSERT_EQUAL(o.p->comms[1].lag_ns, 0);
    job_free(o.job);
}

/* What seems to end just after the other has begun, for both are rounded, was waited for, too. */
static void a_comm_waits_for_another_that_rounding_ends_late(void)
{
    drawing *d = draw("host:      ars..........",
                      "compute 7: AAA..........",
                      "comm 9:    ...RRRR......",
                      "comm 10:   .......SSS...", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        d->kernels[i].end_ns += d->kernels[i].kind == TL_COMM ? 1 : 0;
    one o = program_of(d);
    CU_ASSERT_EQUAL_FATAL(o.p->ncomms, 2);
    CU_ASSERT_EQUAL(o.p->comms[1].after, 0);
    job_free(o.job);
}

static void a_host_that_waits_is_as_late_as_its_device(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      ab......c....",
                        "compute 7: AAABBB...CCCC", NULL));
    job_wait(j, 0, 2, 7, TL_WAIT_STREAM);
    job_wait(j, 0, 9, 12, TL_WAIT_STREAM); /* nothing ended in it: it waited for something else */
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    size_t waits = 0;
    for (size_t i = 0; i < p->nentries; i++) {
        const tl_entry *e = &p->entries[i];
        if (e->chain != TL_CHAIN_HOST || e->on == TL_NONE)
            continue;
        waits++;
        CU_ASSERT_EQUAL(p->entries[e->on].ns, 6 * COLUMN);
        CU_ASSERT_EQUAL(e->gate_ns, 1 * COLUMN - 1000); /* what is rounded */
    }
    CU_ASSERT_EQUAL(waits, 1);
    CU_ASSERT_EQUAL(p->segments[1].host_ns, (2 + 1) * COLUMN + 1000); /* up to the wait, and from it to c */
    job_free(j);
}

/* The host waits for stream 7, which waits for p on stream 9 (no kernel of its own tells so): the wait ends with p, long
 * after b, or where there is no b.  Where b ends as late, b will do; and what ends before the wait does by more than a host
 * takes to go on was not waited for. */
static void a_stream_may_wait_for_another(void)
{
    static const struct {
        const char *host, *compute, *comm;
        bool for_comm;
    } cases[] = {
        { "host:      abp.......c..", "compute 7: AABB.......CC", "comm 9:    ...PPPPPPP...", true },
        { "host:      ..p.......c..", "compute 7: ...........CC", "comm 9:    ...PPPPPPP...", true },
        { "host:      abp.......c..", "compute 7: AABBBBBBB..CC", "comm 9:    ...PPPPPPP...", false },
        { "host:      abp.......c..", "compute 7: AABB.......CC", "comm 9:    ...PP........", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        drawn_job *j = job_new();
        size_t waits = 0;
        job_rank(j, 0, draw(cases[i].host, cases[i].compute, cases[i].comm, NULL));
        job_wait(j, 0, 3, 10, TL_WAIT_STREAM);
        j->waits[0].v[0].device = 0;
        j->waits[0].v[0].stream = 7;
        job_program(j, 0);
        const tl_program *p = &j->programs[0];
        for (size_t e = 0; e < p->nentries; e++)
            if (p->entries[e].wait != 0) {
                waits++;
                CU_ASSERT_EQUAL(p->entries[e].comm != TL_NONE, cases[i].for_comm);
                CU_ASSERT_EQUAL(p->entries[e].on != TL_NONE, !cases[i].for_comm);
            }
        CU_ASSERT_EQUAL(waits, 1);
        job_free(j);
    }
}

/* A step begins when the wait at the end of the one before it is over, or a rounding before. */
static void a_wait_belongs_to_the_step_that_it_ends(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("steps:     55555556666666",
                        "host:      ab......c.....",
                        "compute 7: AAABBB...CCCC.", NULL));
    job_wait(j, 0, 2, 7, TL_WAIT_STREAM);
    j->waits[0].v[0].end_ns++;
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    size_t waits = 0;
    for (size_t i = 0; i < p->nentries; i++)
        if (p->entries[i].wait != 0) {
            waits++;
            CU_ASSERT_EQUAL(p->entries[i].segment, 1);
        }
    CU_ASSERT_EQUAL(waits, 1);
    CU_ASSERT(p->segments[1].host_ns <= 2 * COLUMN + 1000);
    job_free(j);
}

static void segments_end_with_collectives_and_steps(void)
{
    one o = program_of(draw("steps:     444444455555555",
                            "host:      arb....csd.....",
                            "compute 7: AAABB..CCC..DDD",
                            "comm 9:    ...RR.....SS...", NULL));
    CU_ASSERT_EQUAL_FATAL(o.p->nsegments, 6); /* before, 4 to r, 4, 5 to s, 5, after */
    static const int step[] = { -1, 4, 4, 5, 5, -1 }, work[] = { 0, 3, 2, 3, 3, 0 }, host[] = { 0, 1, 6, 1, 7, 0 };
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(o.p->segments[i].step, step[i]);
        CU_ASSERT_EQUAL(o.p->segments[i].work_ns, work[i] * COLUMN);
        CU_ASSERT_EQUAL(o.p->segments[i].host_ns, host[i] * COLUMN);
    }
    CU_ASSERT_EQUAL(o.p->comms[0].segment, 1);
    CU_ASSERT_EQUAL(o.p->comms[1].segment, 3);
    job_free(o.job);
}

/* The device is behind: X was launched before the recording began, in a step before. */
static void what_was_launched_before_the_recording_is_no_work_of_its_first_step(void)
{
    one o = program_of(draw("steps:     55555555566666",
                            "host:      .a........b...",
                            "compute 7: XXXXAA....BB..", NULL));
    CU_ASSERT_EQUAL_FATAL(o.p->nsegments, 3);
    CU_ASSERT_EQUAL(o.p->segments[0].step, -1);
    CU_ASSERT_EQUAL(o.p->segments[0].work_ns, 4 * COLUMN);
    CU_ASSERT_EQUAL(o.p->segments[1].step, 5);
    CU_ASSERT_EQUAL(o.p->segments[1].work_ns, 2 * COLUMN);
    job_free(o.job);
}

static void without_launches_the_device_alone_tells(void)
{
    one o = program_of(draw("compute 7: AAABB....CCCCC",
                            "comm 9:    ...RRRRRR.....", NULL));
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "3 2 5+r");
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_HOST), "0"); /* the step */
    CU_ASSERT_EQUAL(o.p->entries[o.p->comms[0].work].ns, 3 * COLUMN);
    job_free(o.job);
}

static void streams_of_work_are_one_chain(void)
{
    one o = program_of(draw("host:      abc..........",
                            "compute 7: AAAA.........",
                            "compute 8: ..BBBBB......",
                            "memcpy 11: .......CC....", NULL));
    tl_parts parts = { { 0 } };
    CU_ASSERT_STRING_EQUAL(chain_of(o, TL_CHAIN_WORK), "9@9");
    tl_program_parts(o.p, 1, &parts);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COMPUTE], 7 * COLUMN);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COPY], 2 * COLUMN);
    job_free(o.job);
}

/* A launch that took long while nothing had ended for long did not wait for room, whatever it did. */
static void who_waits_for_room_goes_on_when_work_makes_it(void)
{
    static const struct {
        int from, to;
        bool waits;
    } cases[] = { { 5, 8, true }, { 14, 17, false } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        drawn_job *j = job_new();
        job_rank(j, 0, draw("host:      abcd.................e",
                            "compute 7: AAABBCCC..........DDDEEEE", NULL));
        job_wait(j, 0, cases[i].from, cases[i].to, TL_WAIT_QUEUE);
        job_program(j, 0);
        bool waits = false;
        for (size_t e = 0; e < j->programs[0].nentries; e++)
            waits = waits || j->programs[0].entries[e].wait != 0;
        CU_ASSERT_EQUAL(waits, cases[i].waits);
        job_free(j);
    }
}

/* ---------------------------------------------------------------------------------------------------- many kernels */

static size_t entries_of(const many *m)
{
    tl_activity activity = { 0 };
    tl_host_waits waits = { 0 };
    tl_program p;
    if (!draw_activity(&activity, &m->view, NULL, 0) || tl_program_make(&m->view, &activity, &waits, &p, NULL) != TL_OK)
        abort();
    size_t n = p.nentries;
    tl_program_free(&p);
    tl_activity_free(&activity);
    return n;
}

static void a_program_grows_with_collectives_not_with_kernels(void)
{
    many queued = many_kernels(20000, 10 * US), hungry = many_kernels(20000, 90 * US);
    CU_ASSERT(entries_of(&queued) < 20 * 4);
    CU_ASSERT(entries_of(&hungry) < 20 * 30); /* each of its gaps is a pause of the host; a few are kept apart */
    many_free(&queued);
    many_free(&hungry);
}

static void absurd_times_give_no_program(void)
{
    many m = many_kernels(10, 10 * US);
    m.kernels[9].end_ns = INT64_MAX;
    CU_ASSERT_EQUAL(entries_of(&m), 0);
    m.kernels[0].start_ns = INT64_MIN + 1;
    CU_ASSERT_EQUAL(entries_of(&m), 0);
    many_free(&m);
}

static void without_memory_there_is_no_program(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("steps:     444444455555555",
                        "host:      arb....csd.....",
                        "compute 7: AAABB..CCC..DDD",
                        "comm 9:    ...RR.....SS...", NULL));
    job_wait(j, 0, 3, 6, TL_WAIT_DEVICE);
    tl_activity activity = { 0 };
    CU_ASSERT_FATAL(draw_activity(&activity, &j->ranks[0]->view, NULL, 0));
    tl_status status = TL_ENOMEM;
    for (size_t n = 1; status == TL_ENOMEM && n < 200; n++) {
        tl_program p;
        tl_mem_fail_after(n);
        status = tl_program_make(&j->ranks[0]->view, &activity, &j->waits[0], &p, NULL);
        tl_mem_fail_after(0);
        tl_program_free(&p);
    }
    CU_ASSERT_EQUAL(status, TL_OK);
    tl_activity_free(&activity);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(kernels_in_a_row_are_one_entry),
    TEST(a_late_launch_is_the_hosts_time_and_not_the_works),
    TEST(a_launch_that_takes_long_is_the_hosts_time),
    TEST(lateness_is_charged_where_the_host_was),
    TEST(a_gap_that_nothing_explains_stays),
    TEST(work_waits_for_the_collective_that_kept_it_waiting),
    TEST(what_is_rounded_still_waited),
    TEST(work_that_was_launched_before_a_collective_does_not_wait_for_it),
    TEST(one_stream_is_in_order),
    TEST(what_is_gathered_ahead_waits_for_no_work),
    TEST(who_gathers_ahead_may_wait_for_work_now_and_then),
    TEST(a_comm_may_wait_for_another),
    TEST(a_comm_waits_for_another_that_rounding_ends_late),
    TEST(a_host_that_waits_is_as_late_as_its_device),
    TEST(a_stream_may_wait_for_another),
    TEST(a_wait_belongs_to_the_step_that_it_ends),
    TEST(segments_end_with_collectives_and_steps),
    TEST(what_was_launched_before_the_recording_is_no_work_of_its_first_step),
    TEST(without_launches_the_device_alone_tells),
    TEST(streams_of_work_are_one_chain),
    TEST(a_program_grows_with_collectives_not_with_kernels),
    TEST(absurd_times_give_no_program),
    TEST(without_memory_there_is_no_program),
    TEST(who_waits_for_room_goes_on_when_work_makes_it),
};

int main(void)
{
    return unit_main("program", tests, COUNT(tests));
}
