/* test_amount.c - what takes longer for as much work is slow, whatever pieces and names the work comes in. */
#include "graph_drawn.h"
#include "hand_graph.h"

enum { SCRATCH = 8 }; /* more than ranks, and than steps */

/* How late each rank is in each step, of a job that is freed. */
static void expect_late(graph_job *j, tl_family family, const double *us)
{
    int64_t scratch[SCRATCH];
    double late[16];
    tl_lateness(&j->baseline, 0, family, late, scratch);
    for (size_t i = 0; i < j->nranks * j->baseline.nsteps; i++)
        CU_ASSERT_DOUBLE_EQUAL(late[i], us[i] * US, 10);
}

static const double no_time[16] = { 0 };

static drawing *three_steps(const char *host, const char *gemms)
{
    return draw("steps:          111111111122222222223333333333", host, gemms, NULL);
}

static void the_same_work_in_more_pieces_is_not_more(void)
{
    static const double slow[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2 };
    graph_job *j = graph_job_of(
        three_steps("host:           a.........de........g.........", "compute 7 gemm: .AAAA......DDEE......GGGG....."),
        three_steps("host:           ab........d.........ghi.......", "compute 7 gemm: .AABB......DDDD......GGHI....."),
        three_steps("host:           abc.......de........gh........", "compute 7 gemm: .ABCC......DEEE......GGHH....."),
        three_steps("host:           a.........de........g.........", "compute 7 gemm: .AAAAAA....DDDEEE....GGGGGG..."), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_DEVICE, slow);
    expect_late(j, TL_FAMILY_ADDITIONAL, no_time);
    graph_job_free(j);
}

static void kernels_of_other_names_stand_for_each_other(void)
{
    static const double slow[] = { 0, 0, 0, 0, 0, 0, 2, 2, 2 };
    static const char host[] = "host:           ab........de........gh........";
    graph_job *j = graph_job_of(
        three_steps(host, "compute 7 gemm: .AAABB.....DDDEE.....GGGHH...."),
        draw("steps:          111111111122222222223333333333", host, "compute 7 gemm:  .AAA.......DDD.......GGG......",
             "compute 7 tuned: ....BB........EE........HH....", NULL),
        draw("steps:          111111111122222222223333333333", host, "compute 7 other: .AAAABBB...DDDDEEE...GGGGHHH..", NULL), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_DEVICE, slow);
    expect_late(j, TL_FAMILY_ADDITIONAL, no_time);
    graph_job_free(j);
}

/* Blocks of the first and the second step; each takes the square of its tenth, and the last rank a quarter more. */
static drawing *of_length(uint32_t first, uint32_t second, const char *gemms)
{
    drawing *d = draw("steps:          111111111111111111111111111111222222222222222222222222222222",
                      "host:           a.............................b.............................", gemms, NULL);
    d->kernels[0].blocks = first;
    d->kernels[1].blocks = second;
    return d;
}

static void longer_sequences_are_more_work_and_not_slower(void)
{
    static const double slow[] = { 0, 0, 0, 0, 1, 1 };
    graph_job *j = graph_job_of(
        of_length(20, 40, "compute 7 gemm: .AAAA..........................BBBBBBBBBBBBBBBB............."),
        of_length(40, 20, "compute 7 gemm: .AAAAAAAAAAAAAAAA..............BBBB........................."),
        of_length(20, 20, "compute 7 gemm: .AAAAA.........................BBBBB........................"), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_DEVICE, slow);
    graph_job_free(j);
}

/* A quarter of 16 us, though peers have nothing as long in that step. */
static void a_slow_rank_is_as_late_with_a_longer_sequence(void)
{
    static const double slow[] = { 0, 0, 0, 0, 4, 0 };
    graph_job *j = graph_job_of(
        of_length(20, 40, "compute 7 gemm: .AAAA..........................BBBBBBBBBBBBBBBB............."),
        of_length(20, 20, "compute 7 gemm: .AAAA..........................BBBB........................."),
        of_length(40, 20, "compute 7 gemm: .AAAAAAAAAAAAAAAAAAAA..........BBBB........................."), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_DEVICE, slow);
    graph_job_free(j);
}

/* Three steps, each of as many blocks; 6 and 18 are numbers three times whose logarithm is rounded. */
static drawing *as_many(uint32_t blocks, const char *gemms)
{
    drawing *d = draw("steps:          111111111111112222222222222233333333333333",
                      "host:           a.............b.............c.............", gemms, NULL);
    for (size_t i = 0; i < 3; i++)
        d->kernels[i].blocks = blocks;
    return d;
}

static void sizes_that_never_change_tell_no_power(void)
{
    static const double additional[] = { 0, 0, 0, 0, 0, 0, 8, 8, 8 };
    graph_job *j = graph_job_of(as_many(6, "compute 7 gemm: .AAAA..........BBBB..........CCCCC........"),
                                as_many(6, "compute 7 gemm: .AAAA..........BBBB..........CCCC........."),
                                as_many(18, "compute 7 gemm: .AAAAAAAAAAAA..BBBBBBBBBBBB..CCCCCCCCCCCC."), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_ADDITIONAL, additional);
    graph_job_free(j);
}

/* The kernel of each rank takes longer in turn, the copy of one rank in all steps. */
static void copies_are_compared_by_themselves(void)
{
    static const double copy[] = { 0, 0, 0, 0, 0, 0, 2, 2, 2 }, kernel[] = { 3, 0, 0, 0, 3, 0, 0, 0, 3 };
    static const char steps[] = "steps:                    111111111222222222333333333",
                      host[] = "host:                     ca.......db.......eg.......",
                      usual[] = "memcpy 8 Memcpy HtoD:     .C........D........E.......";
    graph_job *j = graph_job_of(draw(steps, host, "compute 7 gemm:           .AAAAA....BB.......GG......", usual, NULL),
                                draw(steps, host, "compute 7 gemm:           .AA.......BBBBB....GG......", usual, NULL),
                                draw(steps, host, "compute 7 gemm:           .AA.......BB.......GGGGG...",
                                     "memcpy 8 Memcpy HtoD:     .CCC......DDD......EEE.....", NULL), NULL);
    graph_job_baseline(j);
    expect_late(j, TL_FAMILY_COPY, copy);
    expect_late(j, TL_FAMILY_DEVICE, kernel);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_same_work_in_more_pieces_is_not_more),
        TEST(kernels_of_other_names_stand_for_each_other),
        TEST(longer_sequences_are_more_work_and_not_slower),
        TEST(a_slow_rank_is_as_late_with_a_longer_sequence),
        TEST(copies_are_compared_by_themselves),
        TEST(sizes_that_never_change_tell_no_power),
    };
    return unit_main("amount of work", tests, COUNT(tests));
}
