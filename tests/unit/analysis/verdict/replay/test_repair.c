/* test_repair.c - exact repair: what a rank has more than its peers, taken off, gives the job that is drawn beside
 * it. */
#include "graph_drawn.h"
#include <string.h>

/* A rank with that repaired; rank_close ends it. */
static tl_changes repaired(const graph_job *j, const tl_repair *repair)
{
    tl_changes changes = { 0 };
    rank_open(&j->baseline, repair->rank, &changes);
    repair_apply(&j->baseline, repair, &changes);
    return changes;
}

/* What the node of that kind that was done then takes, in ns. */
static int64_t work_of(const tl_changes *c, tl_node_kind kind, int64_t done_us)
{
    uint32_t v = node_among(c->open.nodes, 0, c->open.n, kind, done_us * US);
    CU_ASSERT_NOT_EQUAL_FATAL(v, TL_NONE);
    return c->open.nodes[v].work_ns - c->less_ns[v];
}

/* When the job ends, in microseconds, with a rank's family repaired in all steps; TL_NFAMILIES: with nothing
 * repaired. */
static int64_t end_with(const graph_job *j, uint32_t rank, tl_family family)
{
    bool on[16];
    memset(on, 1, sizeof on);
    tl_changes *ranks = ranks_open(&j->baseline);
    if (family < TL_NFAMILIES)
        repair_apply(&j->baseline, &(tl_repair){ .rank = rank, .family = (uint8_t)family, .on = on }, &ranks[rank]);
    int64_t end = ranks_end(&j->baseline, ranks);
    ranks_close(&j->baseline, ranks);
    return end / US;
}

/* Ranks that are as they should be but for the last. */
static graph_job *job_with(drawing *(*peer)(int end), drawing *(*faulty)(void), int npeers, int end)
{
    graph_job *j = npeers == 1   ? graph_job_of(peer(end), faulty(), NULL)
                   : npeers == 2 ? graph_job_of(peer(end), peer(end), faulty(), NULL)
                                 : graph_job_of(peer(end), peer(end), peer(end), faulty(), NULL);
    graph_job_baseline(j);
    return j;
}

/* What ends when it is healthy, and when it is not, with what is repaired. */
static void expect(drawing *(*peer)(int end), drawing *(*faulty)(void), int healthy, int late, tl_family family)
{
    for (int npeers = 1; npeers <= 3; npeers++) {
        uint32_t rank = (uint32_t)npeers;
        graph_job *j = job_with(peer, faulty, npeers, late);
        CU_ASSERT_EQUAL(end_with(j, rank, TL_NFAMILIES), late);
        CU_ASSERT_EQUAL(end_with(j, rank, family), healthy);
        CU_ASSERT_EQUAL(end_with(j, rank, family == TL_FAMILY_HOST ? TL_FAMILY_DEVICE : TL_FAMILY_HOST), late);
        CU_ASSERT_EQUAL(end_with(j, 0, TL_FAMILY_DEVICE), late); /* who is usual has nothing to be repaired */
        CU_ASSERT_EQUAL(end_with(j, 0, TL_FAMILY_HOST), late);
        graph_job_free(j);
    }
}

/* "R" from one column to another. */
static const char *meeting_line(int from, int to)
{
    static char line[96];
    int n = snprintf(line, sizeof line, "comm 9:    ");
    for (int i = 0; i < to; i++)
        line[n++] = i < from ? '.' : 'R';
    line[n] = 0;
    return line;
}

/* The healthy job ends in column 12. */
static drawing *peer(int end)
{
    return draw("host:           abr.........",
                "compute 7 gemm: ..AAA.......",
                "compute 7 relu: .....BBB....", meeting_line(9, end), NULL);
}

static drawing *longer_kernel(void)
{
    return draw("host:           abr.............",
                "compute 7 gemm: ..AAAAAAA.......",
                "compute 7 relu: .........BBB....",
                "comm 9:         .............RRR", NULL);
}

static void a_kernel_that_takes_longer(void)
{
    expect(peer, longer_kernel, 12, 16, TL_FAMILY_DEVICE);
}

static drawing *late_launch(void)
{
    return draw("host:           a..........br.......",
                "compute 7 gemm: ..AAA...............",
                "compute 7 relu: .............BBB....",
                "comm 9:         .................RRR", NULL);
}

static void a_host_that_pauses(void)
{
    expect(peer, late_launch, 12, 20, TL_FAMILY_HOST);
}

static drawing *additional_kernel(void)
{
    return draw("host:           axbr...........",
                "compute 7 gemm: ..AAA..........",
                "compute 7 gemm: .....XXX.......",
                "compute 7 relu: ........BBB....",
                "comm 9:         ............RRR", NULL);
}

static void a_kernel_that_others_do_not_have(void)
{
    expect(peer, additional_kernel, 12, 15, TL_FAMILY_ADDITIONAL);
}

/* Columns of 10 us; the healthy job ends in column 19. */
static drawing *long_peer(int end)
{
    return stretched(draw("launch 1 cudaLaunchKernel: abr................",
                          "compute 7 gemm: ..AAAAAAAAAA.......",
                          "compute 7 relu: ............BBB....", meeting_line(16, end / 10), NULL), 10);
}

static drawing *needless_wait(void)
{
    return stretched(draw("launch 1 cudaLaunchKernel:    a...........br.......",
                          "call 1 cudaStreamSynchronize: .===========.........",
                          "compute 7 gemm:               ..AAAAAAAAAA.........",
                          "compute 7 relu:               ..............BBB....",
                          "comm 9:                       ..................RRR", NULL), 10);
}

static void a_wait_that_others_do_not_have(void)
{
    expect(long_peer, needless_wait, 190, 210, TL_FAMILY_WAIT);
}

/* What the repaired host of the last rank takes before the launch that is done then, in ns. */
static int64_t host_work(const graph_job *j, int64_t done_us)
{
    const bool on[] = { true };
    tl_changes c = repaired(j, &(tl_repair){ .rank = (uint32_t)j->nranks - 1, .family = TL_FAMILY_HOST, .on = on });
    int64_t work = work_of(&c, TL_NODE_LAUNCH, done_us);
    rank_close(&c);
    return work;
}

static void a_host_is_repaired_where_it_takes_longer(void)
{
    graph_job *j = job_with(peer, late_launch, 2, 20);
    CU_ASSERT_EQUAL(host_work(j, 12), 1 * US); /* of 11 */
    CU_ASSERT_EQUAL(host_work(j, 13), 1 * US); /* as it was */
    graph_job_free(j);
}

/* It launches x besides; what it launches of a, b and r is told from that. */
static drawing *late_launch_with_another(void)
{
    return draw("host:           ax..........br.......",
                "compute 7 gemm: ..AAA................",
                "compute 7 sync: .....X...............",
                "compute 7 relu: ..............BBB....",
                "comm 9:         ..................RRR", NULL);
}

static void a_host_that_launches_something_besides_is_repaired_where_it_takes_longer(void)
{
    graph_job *j = job_with(peer, late_launch_with_another, 2, 21);
    CU_ASSERT_EQUAL(host_work(j, 13), 1 * US); /* of 11 */
    CU_ASSERT_EQUAL(host_work(j, 14), 1 * US); /* as it was */
    graph_job_free(j);
}

/* Pieces of 6 and 1, 1 and 6, 8 and 10: usual are 7 of all of them, but 6 of each.  What is over these, 2 and 4, does
 * not make up the 11 that are too much. */
static void where_that_is_not_enough_all_of_the_host_is_repaired(void)
{
    graph_job *j = graph_job_of(draw("host:      a.....bc....................",
                                     "compute 7: ..AAAAAAAAAAAAAAAAAAAAAAAABC", NULL),
                                draw("host:      ab.....c....................",
                                     "compute 7: ..AAAAAAAAAAAAAAAAAAAAAAAABC", NULL),
                                draw("host:      a.......b.........c.........",
                                     "compute 7: ..AAAAAAAAAAAAAAAAAAAAAAAABC", NULL), NULL);
    graph_job_baseline(j);
    CU_ASSERT_EQUAL(host_work(j, 9) + host_work(j, 19), 7 * US);
    CU_ASSERT_EQUAL(host_work(j, 9), 8 * US - 4888); /* 11 * 8 / 18 */
    graph_job_free(j);
}

/* Of three steps only one is repaired. */
static drawing *three_steps(bool slow)
{
    return slow ? draw("steps:          1111111111222222222222223333333333..",
                       "host:           ar........bs............ct..........",
                       "compute 7 gemm: .AAA.......BBBBBBB.......CCCCCC.....",
                       "comm 9:         .....RR............SS...........TT..", NULL)
                : draw("steps:          1111111111222222222222223333333333..",
                       "host:           ar........bs............ct..........",
                       "compute 7 gemm: .AAA.......BBB...........CCC........",
                       "comm 9:         .....RR........SSSSSS.......TTTTTT..", NULL);
}

static void steps_are_repaired_by_themselves(void)
{
    graph_job *j = graph_job_of(three_steps(false), three_steps(false), three_steps(true), NULL);
    graph_job_baseline(j);
    bool on[] = { false, true, false };
    CU_ASSERT_EQUAL_FATAL(j->baseline.nsteps, 3);
    tl_changes c = repaired(j, &(tl_repair){ .rank = 2, .family = TL_FAMILY_DEVICE, .on = on });
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 18), 3 * US);
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 31), 6 * US);
    rank_close(&c);
    /* A ramp is repaired step by step: each of them to what it takes others. */
    on[0] = on[2] = true;
    c = repaired(j, &(tl_repair){ .rank = 2, .family = TL_FAMILY_DEVICE, .drifts = true, .on = on });
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 4), 3 * US);
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 18), 3 * US);
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 31), 3 * US);
    tl_changes_reset(&c);
    CU_ASSERT_EQUAL(work_of(&c, TL_NODE_WORK, 18), 7 * US);
    rank_close(&c);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_kernel_that_takes_longer),
        TEST(a_host_that_pauses),
        TEST(a_kernel_that_others_do_not_have),
        TEST(a_wait_that_others_do_not_have),
        TEST(a_host_is_repaired_where_it_takes_longer),
        TEST(a_host_that_launches_something_besides_is_repaired_where_it_takes_longer),
        TEST(where_that_is_not_enough_all_of_the_host_is_repaired),
        TEST(steps_are_repaired_by_themselves),
    };
    return unit_main("repairs", tests, COUNT(tests));
}
