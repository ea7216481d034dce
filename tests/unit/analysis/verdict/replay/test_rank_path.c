/* test_rank_path.c - what the time of one rank is bound by: the path is drawn below the timeline, a letter a column.
 *
 *     c  host     l  from a launch to its work     k  from work to the next     =  compute     m  communication
 *     o  copy     s  synchronisation               w  another rank has not come  u  unexplained
 */
#include "graph_drawn.h"
#include <string.h>

static const char letters[] = { [TL_BOUND_CPU] = 'c',     [TL_BOUND_LAUNCH] = 'l', [TL_BOUND_KERNEL_KERNEL] = 'k',
                                [TL_BOUND_COMPUTE] = '=', [TL_BOUND_COMM] = 'm',   [TL_BOUND_COPY] = 'o',
                                [TL_BOUND_INPUT] = 'i',   [TL_BOUND_SYNC] = 's',   [TL_BOUND_PEER] = 'w',
                                [TL_BOUND_UNEXPLAINED] = 'u' };

static tl_path path_of(graph_job *j)
{
    tl_path path;
    graph_job_baseline(j);
    tl_path_of(&j->graph, j->baseline.asker, 0, TL_STEPS_OF_MARKS, &path);
    return path;
}

static void draw_piece(char *line, size_t n, tl_bound bound, int64_t start_ns, int64_t end_ns, int64_t us)
{
    for (int64_t at = start_ns; at < end_ns; at += us * US)
        if (at >= 0 && (size_t)(at / US / us) < n)
            line[at / US / us] = letters[bound];
}

/* The path of a rank, whose columns are `us` long, and its sums: they are as long as the path. */
static void expect_path(const tl_path *path, size_t rank, int64_t us, const char *wanted)
{
    const tl_rank_path *p = &path->ranks[rank];
    char line[DRAWN + 1] = { 0 };
    int64_t sum = 0, length = p->pieces[0].end_ns - p->pieces[p->npieces - 1].start_ns;
    memset(line, '.', DRAWN);
    for (size_t i = 0; i < p->npieces; i++) {
        const tl_path_piece *piece = &p->pieces[i];
        int64_t met_ns = piece->port != TL_NONE ? piece->met_ns : piece->start_ns;
        CU_ASSERT(piece->end_ns > piece->start_ns);
        CU_ASSERT(i == 0 || piece->end_ns == p->pieces[i - 1].start_ns);
        draw_piece(line, DRAWN, TL_BOUND_PEER, piece->start_ns, met_ns, us);
        draw_piece(line, DRAWN, (tl_bound)piece->bound, met_ns, piece->end_ns, us);
    }
    for (int bound = 0; bound < TL_NBOUNDS; bound++)
        sum += p->steps[0].sum.ns[bound];
    CU_ASSERT_EQUAL(sum, length);
    for (size_t n = DRAWN; n > 0 && line[n - 1] == '.'; n--)
        line[n - 1] = 0;
    CU_ASSERT_STRING_EQUAL(line, wanted);
    if (strcmp(line, wanted) != 0)
        fprintf(stderr, "rank %zu: %s\nwanted: %s\n", rank, line, wanted);
}

static void expect_alone(drawing *d, int64_t us, const char *wanted)
{
    graph_job *j = graph_job_of(stretched(d, us), NULL);
    tl_path path = path_of(j);
    expect_path(&path, 0, us, wanted);
    tl_path_end(&path);
    graph_job_free(j);
}

static void a_host_that_is_late_is_the_path(void)
{
    expect_alone(draw("host:           a.......b....",
                      "compute 7 gemm: ...AA......BB", NULL), 10, ".ccccccccll==");
}

static void a_device_that_is_behind_is_the_path(void)
{
    expect_alone(draw("host:           abc..........",
                      "compute 7 gemm: .AAABBB.CCCCC", NULL), 10, "l======k=====");
}

static void a_wait_for_the_device_is_the_work_it_waits_for(void)
{
    expect_alone(draw("launch 1 cudaLaunchKernel:     a...............b...",
                      "call 1 cudaDeviceSynchronize:  ...=============....",
                      "compute 7:                     ..AAAAAAAAAAAA....BB", NULL), 10, ".l============sscl==");
}

static void a_call_that_waits_for_nothing_is_synchronisation(void)
{
    expect_alone(draw("launch 1 cudaLaunchKernel:     a..............b....",
                      "call 1 cudaDeviceSynchronize:  .........====.......",
                      "compute 7:                     .AA.............BBBB", NULL), 100, "cccccccccssssccc====");
}

static void a_copy_that_blocks_is_waited_for(void)
{
    expect_alone(draw("launch 1 cudaMemcpy:       .mmmmmmmmmm......",
                      "launch 1 cudaLaunchKernel: ..............a..",
                      "compute 7:                 ...............AA",
                      "memcpy 8 Memcpy DtoH:      ...MMMMMMM.......", NULL), 10, ".lloooooooscccc==");
}

static void work_waits_for_another_stream(void)
{
    expect_alone(draw("host:       ab..............",
                      "compute 7:  .AAAAAA.........",
                      "compute 9:  ........BBBBBBBB", NULL), 10, "l======k========");
}

static void what_starts_long_after_all_else_is_unexplained(void)
{
    expect_alone(draw("host:       ab..............",
                      "compute 7:  .AAAA......BBBBB", NULL), 1000, "l====uuuuuu=====");
}

static void a_graph_is_launched_once_for_all_its_work(void)
{
    expect_alone(draw("host:        a.............",
                      "compute 7:  .AAA..AA......",
                      "compute 9:  ....AA..AAA...", NULL), 10, "l==========");
}

static void a_rank_waits_for_the_last_to_come(void)
{
    graph_job *j = graph_job_of(stretched(draw("host:      a.r.............",
                                               "compute 7: .AA.............",
                                               "comm 9:    ....RRRRRRRRRRRR", NULL), 10),
                                stretched(draw("host:      a..r...........",
                                               "compute 7: .AAAAAAA........",
                                               "comm 9:    .........RRRRRRR", NULL), 10), NULL);
    tl_path path = path_of(j);
    expect_path(&path, 0, 10, "ccclwwwwwmmmmmmm");
    expect_path(&path, 1, 10, "l=======kmmmmmmm");
    CU_ASSERT_EQUAL(path.ranks[0].steps[0].peer, 1);
    CU_ASSERT_EQUAL(path.ranks[1].steps[0].peer, -1);
    tl_path_end(&path);
    graph_job_free(j);
}

/* From the end of the one that is done last back over the meeting to the rank that came last. */
static void the_path_of_the_job_goes_on_where_a_rank_waits(void)
{
    graph_job *j = graph_job_of(stretched(draw("host:      a.r..b..........",
                                               "compute 7: .AA.........BBBB",
                                               "comm 9:    ....RRRRRRRR....", NULL), 10),
                                stretched(draw("host:      a..r...........",
                                               "compute 7: .AAAAAAA........",
                                               "comm 9:    .........RRR....", NULL), 10), NULL);
    tl_path path = path_of(j);
    const tl_path_piece *p = path.job.pieces;
    expect_path(&path, 0, 10, "ccclwwwwwmmm====");
    CU_ASSERT_EQUAL_FATAL(path.job.npieces, 6);
    CU_ASSERT(p[0].bound == TL_BOUND_COMPUTE && p[0].peer == 0 && p[0].start_ns == 120 * US && p[0].end_ns == 160 * US);
    CU_ASSERT(p[1].bound == TL_BOUND_COMM && p[1].peer == 0 && p[1].start_ns == 90 * US && p[1].end_ns == 120 * US);
    CU_ASSERT(p[2].bound == TL_BOUND_KERNEL_KERNEL && p[2].peer == 1 && p[2].start_ns == 80 * US);
    CU_ASSERT(p[3].bound == TL_BOUND_COMPUTE && p[3].peer == 1 && p[3].start_ns == 10 * US && p[3].end_ns == 80 * US);
    tl_path_end(&path);
    graph_job_free(j);
}

/* The path of the device goes on while the host is a step ahead: it is cut at the windows. */
static void a_step_has_what_lies_in_its_window(void)
{
    graph_job *j = graph_job_of(stretched(draw("steps:     44444455555566666666",
                                               "host:      abcd................",
                                               "compute 7: .AAABBBCCCCDDDD.....", NULL), 10), NULL);
    tl_path path = path_of(j);
    const tl_path_step *steps = path.ranks[0].steps;
    expect_path(&path, 0, 10, "c==============ccccc");
    CU_ASSERT_EQUAL_FATAL(path.ranks[0].nsteps, 4);
    for (int s = 1; s < 4; s++) {
        int64_t sum = 0;
        CU_ASSERT_EQUAL(steps[s].step, 3 + s);
        for (int bound = 0; bound < TL_NBOUNDS; bound++)
            sum += steps[s].sum.ns[bound];
        CU_ASSERT_EQUAL(sum, (s < 3 ? 60 : 80) * US);
    }
    CU_ASSERT_EQUAL(steps[2].sum.ns[TL_BOUND_COMPUTE], 60 * US);
    CU_ASSERT_EQUAL(steps[3].sum.ns[TL_BOUND_COMPUTE], 30 * US);
    tl_path_end(&path);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_host_that_is_late_is_the_path),
        TEST(a_device_that_is_behind_is_the_path),
        TEST(a_wait_for_the_device_is_the_work_it_waits_for),
        TEST(a_call_that_waits_for_nothing_is_synchronisation),
        TEST(a_copy_that_blocks_is_waited_for),
        TEST(work_waits_for_another_stream),
        TEST(what_starts_long_after_all_else_is_unexplained),
        TEST(a_graph_is_launched_once_for_all_its_work),
        TEST(a_rank_waits_for_the_last_to_come),
        TEST(the_path_of_the_job_goes_on_where_a_rank_waits),
        TEST(a_step_has_what_lies_in_its_window),
    };
    return unit_main("path of a rank", tests, COUNT(tests));
}
