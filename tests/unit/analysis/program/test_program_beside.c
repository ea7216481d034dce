/* test_program_beside.c - copies that run beside the work of a rank, and the order of entries where streams overlap.  A column is
 * 100 us. */
#include "drawn_job.h"

/* Every entry comes after the comm that it waits for has all that it waits for itself. */
static bool in_order(const tl_program *p)
{
    for (size_t i = 0; i < p->nentries; i++) {
        const tl_entry *e = &p->entries[i];
        if (e->comm == TL_NONE)
            continue;
        const tl_comm *c = &p->comms[e->comm];
        if ((c->work != TL_NONE && c->work >= i) || (c->host != TL_NONE && c->host >= i))
            return false;
    }
    return true;
}

static int64_t work_of(const tl_program *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->nentries; i++)
        sum += p->entries[i].chain == TL_CHAIN_WORK ? p->entries[i].ns : 0;
    return sum;
}

/* d waits for the copy: the 3 columns of the gap before it are the copy's, those in which kernels ran beside it are theirs. */
static void a_copy_beside_the_work_takes_what_others_wait_for_it(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      mabcd.........",
                        "memcpy 24: MMMMMMMMM.....",
                        "compute 7: .AABBB...DDD..", NULL));
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    tl_parts parts = { { 0 } };
    tl_program_parts(p, 1, &parts);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COMPUTE], (5 + 3) * COLUMN);
    CU_ASSERT_EQUAL(parts.ns[TL_PART_COPY] + parts.ns[TL_PART_H2D], 3 * COLUMN);
    CU_ASSERT_EQUAL(work_of(p), (5 + 3 + 3) * COLUMN);
    job_free(j);
}

/* Without the copy's surplus only what waits for its end comes earlier: by three columns, not by the eight that it takes longer. */
static void kernels_beside_a_copy_end_as_early_without_it(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 3; r++)
        job_rank(j, 0, draw("host:      mabcds..........",
                            r == 0 ? "memcpy 24: MMMMMMMMM......." : "memcpy 24: M...............",
                            r == 0 ? "compute 7: .AABBB...DDD...." : "compute 7: .AABBBDDD.......",
                            r == 0 ? "comm 9:    ............SSS." : "comm 9:    .........SSSSSS.", NULL));
    job_ready(j);
    uint8_t repaired[3] = { 1, 0, 0 };
    const tl_scenario scenario = { .repaired = repaired };
    CU_ASSERT_EQUAL(tl_whatif_gain(j->whatif, &scenario, NULL), 3 * COLUMN);
    job_free(j);
}

/* The last copy is waited for when the recording ends. */
static void what_the_last_copy_takes_longer_stays(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      mab.......",
                        "memcpy 24: MMMMMMMMM.",
                        "compute 7: .AABBB....", NULL));
    job_program(j, 0);
    CU_ASSERT_EQUAL(j->programs[0].end_ns - j->programs[0].start_ns, 9 * COLUMN);
    CU_ASSERT_EQUAL(work_of(&j->programs[0]), (5 + 3) * COLUMN);
    job_free(j);
}

/* A host that waits for the copy goes on when that is done: it is work like any other. */
static void a_copy_that_the_host_waits_for_is_in_the_chain(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      ma.......b...",
                        "memcpy 24: MMMMMMMM....",
                        "compute 7: .AA......BB.", NULL));
    job_wait(j, 0, 2, 8, TL_WAIT_STREAM);
    j->waits[0].v[0].device = 0;
    j->waits[0].v[0].stream = 24;
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    size_t waits = 0;
    for (size_t i = 0; i < p->nentries; i++)
        waits += p->entries[i].wait != 0 && p->entries[i].on != TL_NONE;
    CU_ASSERT_EQUAL(waits, 1);
    CU_ASSERT_EQUAL(work_of(p), (8 + 2) * COLUMN);
    job_free(j);
}

/* The stretch of l and a ends with l, after p, which stands behind a; the host that waits for p comes after it all the same. */
static void a_host_waits_for_a_comm_after_the_work_that_this_waited_for(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      lap....b.........",
                        "compute 8: LLLLLLLLLL......",
                        "compute 7: .AA........BBBBB",
                        "compute 7: ................DDDDDDDDD",
                        "comm 9:    ...PPP..........", NULL));
    job_wait(j, 0, 3, 6, TL_WAIT_EVENT);
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    CU_ASSERT(p->comms[0].work != TL_NONE);
    CU_ASSERT(in_order(p));
    job_free(j);
}

/* b waits for p, on its own stream, and for q; what it waits for first cannot be over before p was launched. */
static void work_that_waits_for_two_comms_comes_after_both(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("host:      a....pqb.....",
                        "compute 7: AA.........BB",
                        "comm 7:    .....PPP.....",
                        "comm 9:    ......QQQQQ..", NULL));
    job_program(j, 0);
    CU_ASSERT(in_order(&j->programs[0]));
    job_free(j);
}

/* The host is a step ahead: the next batch is copied before the kernels of this one have begun. */
static void a_batch_that_is_copied_ahead_does_not_begin_a_step(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, draw("steps:     4444555555555555555",
                        "host:      abc.md.............",
                        "memcpy 24: .....M.............",
                        "compute 7: AAAAAAABBBBBCCCDDDD", NULL));
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    int64_t work[2] = { 0, 0 };
    for (size_t i = 0; i < p->nsegments; i++)
        if (p->segments[i].step >= 4)
            work[p->segments[i].step - 4] += p->segments[i].work_ns;
    CU_ASSERT_EQUAL(work[0], 15 * COLUMN);
    CU_ASSERT_EQUAL(work[1], 4 * COLUMN);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(a_copy_beside_the_work_takes_what_others_wait_for_it),
    TEST(kernels_beside_a_copy_end_as_early_without_it),
    TEST(what_the_last_copy_takes_longer_stays),
    TEST(a_copy_that_the_host_waits_for_is_in_the_chain),
    TEST(a_host_waits_for_a_comm_after_the_work_that_this_waited_for),
    TEST(work_that_waits_for_two_comms_comes_after_both),
    TEST(a_batch_that_is_copied_ahead_does_not_begin_a_step),
};

int main(void)
{
    return unit_main("program_beside", tests, COUNT(tests));
}
