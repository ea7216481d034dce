/* test_contention.c - kernels that take longer because communication runs beside them.  A column is 100 us. */
#include "drawn_job.h"

/* All kernels that compute are of one name. */
static drawing *of_one_name(drawing *d)
{
    uint32_t name = TL_NO_NAME;
    for (size_t i = 0; i < d->view.nkernels; i++) {
        tl_kernel *k = &d->kernels[i];
        name = k->kind == TL_COMPUTE && name == TL_NO_NAME ? k->name : name;
        k->name = k->kind == TL_COMPUTE ? name : k->name;
    }
    return d;
}

/* B, C and D take 6 columns beside R, where A, E and F take 5. */
static drawing *waits(void)
{
    return of_one_name(draw("host:      arbcdefs........................................",
                            "compute 7: AAAAABBBBBBCCCCCCDDDDDDEEEEEFFFFF...............",
                            "comm 9:    .....RRRRRRRRRRRRRRRRRR.........................",
                            "comm 10:   .................................SSSSSSSSSSSSSSS", NULL));
}

static drawing *comes_late(void)
{
    return of_one_name(draw("host:      arbcdefs........................................",
                            "compute 7: AAAAAAAAAAAAAAAAAAAAAABBBBBCCCCCDDDDDEEEEEFFFFF.",
                            "comm 9:    ......................R.........................",
                            "comm 10:   ...............................................S", NULL));
}

static void what_kernels_take_longer_beside_communication_is_measured(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, waits());
    job_program(j, 0);
    const tl_program *p = &j->programs[0];
    int64_t beside_ns = 0;
    for (size_t i = 0; i < p->nsegments; i++)
        beside_ns += p->segments[i].beside_ns;
    CU_ASSERT_EQUAL(beside_ns, 18 * COLUMN);
    CU_ASSERT_EQUAL(p->comms[0].beside_ns, 18 * COLUMN);
    CU_ASSERT_EQUAL(p->comms[0].beside_until_ns, 18 * COLUMN);
    CU_ASSERT_EQUAL(p->comms[1].beside_ns, 0);
    CU_ASSERT_DOUBLE_EQUAL(p->contention, 1 / 5.5, 0.001);
    CU_ASSERT(p->contention_error < 0.01);
    job_free(j);
}

/* Nobody marks steps: A, of 5 columns, and B, of 10, take 6 and 12 beside R when the two return for the second time. */
static void what_returns_is_compared_where_no_step_is_marked(void)
{
    drawn_job *j = job_new();
    drawing *d = draw("compute 7: AAAAABBBBBBBBBBAAAAAABBBBBBBBBBBBAAAAABBBBBBBBBBAAAAABBBBBBBBBB",
                      "comm 9:    ...............RRRRRRRRRRRRRRRRRR..............................", NULL);
    job_rank(j, 0, d);
    d->view.nsteps = 0;
    job_program(j, 0);
    CU_ASSERT_DOUBLE_EQUAL(j->programs[0].contention, 0.19, 0.02); /* of the mean: a fifth of that of those without R */
    CU_ASSERT(j->programs[0].contention_error < 0.01);
    job_free(j);
}

/* Kernels of one name may be larger ones. */
static void kernels_of_another_length_tell_nothing(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, of_one_name(draw("host:      arbcdef...........................",
                                    "compute 7: AAAAABBBBBBBBCCCCCCCCDDDDDDDDEEEEE",
                                    "comm 9:    .....RRRRRRRRRRRRRRRRRRRRRRRR.....", NULL)));
    job_program(j, 0);
    CU_ASSERT(isinf(j->programs[0].contention_error));
    job_free(j);
}

/* Without its delay of 17 columns rank 2 ends in 30, and the others, whose kernels do without R but for its transfer, hardly
 * later; with what they took beside it they would end in 33. */
static void who_waits_for_less_time_computes_for_less_time(void)
{
    drawn_job *j = job_new();
    job_rank(j, 0, waits());
    job_rank(j, 0, waits());
    job_rank(j, 0, comes_late());
    job_ready(j);
    double gain = job_gain(j, 2);
    CU_ASSERT(gain > 16 && gain <= 17);
    CU_ASSERT_DOUBLE_EQUAL(job_gain(j, 0), 0, 0.01);
    job_free(j);
}

/* What ranks 0 and 1 take longer beside R hides none of what rank 2 takes longer for A and B: 11 and 3 columns. */
static void contention_is_no_surplus(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, of_one_name(draw("host:      arbcdefs........................................",
                                        "compute 7: AAAAABBBBBBCCCCCCDDDDDEEEEEFFFFF................",
                                        "comm 9:    .....RRRRRRRRRRRR...............................",
                                        "comm 10:   ................................SSSSSSSSSSSSS...", NULL)));
    job_rank(j, 0, of_one_name(draw("host:      arbcdefs........................................",
                                    "compute 7: AAAAAAAAAAAAAAAABBBBBBBBCCCCCDDDDDEEEEEFFFFF....",
                                    "comm 9:    ................R...............................",
                                    "comm 10:   ............................................S...", NULL)));
    job_ready(j);
    CU_ASSERT_DOUBLE_EQUAL((double)tl_whatif_all_surplus(j->whatif, 0) / (double)COLUMN, 0, 0.01);
    CU_ASSERT_DOUBLE_EQUAL((double)tl_whatif_all_surplus(j->whatif, 2) / (double)COLUMN, 11 + 3, 0.5);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(what_kernels_take_longer_beside_communication_is_measured),
    TEST(what_returns_is_compared_where_no_step_is_marked),
    TEST(kernels_of_another_length_tell_nothing),
    TEST(who_waits_for_less_time_computes_for_less_time),
    TEST(contention_is_no_surplus),
};

int main(void)
{
    return unit_main("contention", tests, COUNT(tests));
}
