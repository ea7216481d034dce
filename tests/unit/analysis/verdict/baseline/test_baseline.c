/* test_baseline.c - what is usual among those who do the same. */
#include "graph_drawn.h"
#include "hand_graph.h"
#include <string.h>

static int64_t alike(size_t rank, size_t step)
{
    return 1000 + 0 * (int64_t)(rank + step);
}

/* ---------------------------------------------------------------------------------------------------- what is usual */

static void the_median_is_usual_and_of_two_in_the_middle_the_lesser(void)
{
    CU_ASSERT_EQUAL(tl_baseline_median((int64_t[]){ 7 }, 1), 7);
    CU_ASSERT_EQUAL(tl_baseline_median((int64_t[]){ 9, 4 }, 2), 4);
    CU_ASSERT_EQUAL(tl_baseline_median((int64_t[]){ 9, 4, 5 }, 3), 5);
    CU_ASSERT_EQUAL(tl_baseline_median((int64_t[]){ 9, 1, 9, 2 }, 4), 2);
}

enum { SCRATCH = 8 }; /* more than ranks, and than steps */

static int64_t uneven(size_t rank, size_t step)
{
    static const int64_t ns[3][3] = { { 100, 300, 200 }, { 300, 200, 100 }, { 200, 100, 900 } };
    return ns[rank][step];
}

static const tl_work_class *class_of(const tl_baseline *b, tl_family family)
{
    const tl_work_class *found = NULL;
    for (size_t c = 0; c < b->nclasses; c++)
        found = b->classes[c].family == family ? &b->classes[c] : found;
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    return found;
}

static void sums_come_before_the_median(void)
{
    hand_job *h = hand_new(3, 3, alike, uneven);
    int64_t own, scratch[SCRATCH];
    double late[9];
    hand_baseline(h);
    const tl_work_class *device = class_of(&h->baseline, TL_FAMILY_DEVICE);
    const bool all[] = { true, true, true }, first_two[] = { true, true, false };
    CU_ASSERT_EQUAL(tl_baseline_of(&h->baseline, device, 2, all, &own, scratch), 600); /* of 600, 600 and 1200 */
    CU_ASSERT_EQUAL(own, 1200);
    CU_ASSERT_EQUAL(tl_baseline_of(&h->baseline, device, 2, first_two, &own, scratch), 400);
    CU_ASSERT_EQUAL(own, 300);
    tl_lateness(&h->baseline, 0, TL_FAMILY_DEVICE, late, scratch);
    const double expected[] = { -100, 100, 0, 100, 0, -100, 0, -100, 700 };
    for (size_t i = 0; i < 9; i++)
        CU_ASSERT_EQUAL(late[i], expected[i]);
    hand_free(h);
}

static drawing *two_kernels(int a, int b)
{
    char line[2][64] = { "compute 7 gemm: ..", "compute 9 relu: .." };
    memset(line[0] + strlen(line[0]), 'A', (size_t)a);
    memset(line[1] + strlen(line[1]), 'B', (size_t)b);
    return draw("host:           ab.......", line[0], line[1], NULL);
}

/* Gemms are late by 0, 0, 3 and relus by 0, 3, 0, which does not make two of three ranks late. */
static void the_median_of_sums_is_nobodys_lateness(void)
{
    graph_job *j = graph_job_of(two_kernels(2, 2), two_kernels(2, 5), two_kernels(5, 2), NULL);
    int64_t scratch[SCRATCH];
    double late[3];
    graph_job_baseline(j);
    tl_lateness(&j->baseline, 0, TL_FAMILY_DEVICE, late, scratch);
    CU_ASSERT(late[0] == (double)(-3 * US) && late[1] == 0 && late[2] == 0);
    graph_job_free(j);
}

static void of_two_ranks_each_is_the_others_peer(void)
{
    hand_job *h = hand_new(2, 3, alike, uneven);
    int64_t scratch[SCRATCH];
    double late[6];
    hand_baseline(h);
    tl_lateness(&h->baseline, 0, TL_FAMILY_DEVICE, late, scratch);
    const double expected[] = { -200, 100, 100, 200, -100, -100 }; /* noise has both signs */
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(late[i], expected[i]);
    hand_free(h);
}

/* ------------------------------------------------------------------------------------------------ nobody is like it */

/* The third of four steps is twice as heavy for all, and in the second the first rank takes 500 ns longer. */
static int64_t heavier(size_t rank, size_t step)
{
    return (int64_t)(rank + 1) * 100 * (step == 2 ? 2 : 1) + (rank == 0 && step == 1 ? 500 : 0);
}

static void who_is_alone_is_held_against_its_other_steps(void)
{
    tl_late_row rows[16];
    hand_job *h = hand_new(4, 4, alike, heavier);
    const char *const groups[] = { "p 0 1", "p 1 2", "p 2 3", "c 0 1 2 3" };
    const double expected[] = { 0, 500, 0, 0 };
    const bool second[] = { false, true, false, false }, all[] = { true, true, true, true };
    int64_t own, scratch[SCRATCH];
    double late[4];
    size_t nrows = 0;

    for (int32_t g = 0; g < 4; g++)
        nrows += hand_group(rows + nrows, g, groups[g]);
    tl_baseline_make(&h->graph, &h->served.asker, h->ranks, rows, nrows, &h->baseline);
    CU_ASSERT_EQUAL_FATAL(h->baseline.roles[0].n, 1);
    tl_lateness(&h->baseline, 0, TL_FAMILY_DEVICE, late, scratch);
    for (size_t s = 0; s < 4; s++)
        CU_ASSERT_DOUBLE_EQUAL(late[s], expected[s], 1e-6);
    const tl_work_class *device = NULL;
    for (size_t c = 0; c < h->baseline.nclasses; c++)
        if (h->baseline.classes[c].role == 0 && h->baseline.classes[c].family == TL_FAMILY_DEVICE)
            device = &h->baseline.classes[c];
    CU_ASSERT_PTR_NOT_NULL_FATAL(device);
    CU_ASSERT_EQUAL(tl_baseline_of(&h->baseline, device, 0, second, &own, scratch), 100);
    CU_ASSERT_EQUAL(own, 600);
    CU_ASSERT_EQUAL(tl_baseline_of(&h->baseline, device, 0, all, &own, scratch), own); /* nothing is left to compare
                                                                                        * with */
    hand_free(h);
}

/* ------------------------------------------------------------------------------------------------------------ waits */

static void waits_that_peers_do_not_have_make_a_host_late(void)
{
    for (int npeers = 1; npeers <= 2; npeers++) {
        drawing *peers[2] = { NULL };
        for (int i = 0; i < npeers; i++)
            peers[i] = stretched(draw("launch 1 cudaLaunchKernel: a.b............",
                                      "compute 7 gemm:            ..AAAAA........",
                                      "compute 7 relu:            .......BBB.....", NULL), 10);
        drawing *waits = stretched(draw("launch 1 cudaLaunchKernel:    a.......b......",
                                        "call 1 cudaStreamSynchronize: .======........",
                                        "compute 7 gemm:               ..AAAAA........",
                                        "compute 7 relu:               ..........BBB..", NULL), 10);
        graph_job *j = graph_job_of(waits, peers[0], peers[1], NULL);
        int64_t scratch[SCRATCH];
        double late[3];
        graph_job_baseline(j);
        tl_lateness(&j->baseline, 0, TL_FAMILY_WAIT, late, scratch);
        CU_ASSERT(late[0] >= 50 * US && late[1] <= 0);
        graph_job_free(j);
    }
}

/* Peers have two pieces, of 10 ns together, or none. */
static void pieces_are_counted(void)
{
    CU_ASSERT_EQUAL(tl_additional(18, 3, 10, 2), 6);  /* the other two are 2 longer */
    CU_ASSERT_EQUAL(tl_additional(18, 2, 10, 2), 0);
    CU_ASSERT_EQUAL(tl_additional(5, 1, 10, 2), -5);
    CU_ASSERT_EQUAL(tl_additional(7, 1, 0, 0), 7);    /* others have none */
    CU_ASSERT_EQUAL(tl_additional(0, 0, 10, 2), -10);
    CU_ASSERT_EQUAL(tl_additional(0, 0, 0, 0), 0);
}

static drawing *counted(const char *host, const char *gemms)
{
    return draw("steps:          111111111122222222223333333333", host, gemms, NULL);
}

static drawing *two_a_step(void)
{
    return counted("host:           ab........ab........ab........", "compute 7 gemm: .AABB......AABB......AABB.....");
}

/* Rank 3 has two more in step 2; rank 4 launches one of step 3 in step 2 already. */
static graph_job *counted_job(void)
{
    return graph_job_of(two_a_step(), two_a_step(), two_a_step(),
                        counted("host:           ab........abcd......ab........", "compute 7 gemm: .AABB......AABBCCDD..AABB....."),
                        counted("host:           ab........aba........b........", "compute 7 gemm: .AABB......AABBAA.....BB......"), NULL);
}

static void kernels_that_peers_do_not_have_are_additional(void)
{
    graph_job *j = counted_job();
    int64_t scratch[SCRATCH];
    double late[15];
    graph_job_baseline(j);
    CU_ASSERT_EQUAL_FATAL(j->baseline.nsteps, 3);
    tl_lateness(&j->baseline, 0, TL_FAMILY_ADDITIONAL, late, scratch);
    for (size_t i = 0; i < 12; i++)
        CU_ASSERT_EQUAL(late[i], i == 10 ? 4.0 * US : 0);
    tl_lateness(&j->baseline, 0, TL_FAMILY_DEVICE, late, scratch);
    for (size_t i = 0; i < 15; i++)
        CU_ASSERT_EQUAL(late[i], 0);
    graph_job_free(j);
}

/* ---------------------------------------------------------------------------------------------------------- classes */

/* What all nodes of a rank that is open have of a class in a step, and how many there are. */
static int64_t sum_of(const tl_baseline *b, size_t rank, const tl_changes *c, uint32_t class, size_t step, uint32_t *pieces)
{
    int64_t ns = 0;
    *pieces = 0;
    for (uint32_t v = 0; v < c->open.n; v++)
        if (class_at(b, rank, c, v) == class && c->step_of[v] == step) {
            ns += c->open.nodes[v].work_ns;
            ++*pieces;
        }
    return ns;
}

static void each_node_is_in_the_cell_of_its_class_and_step(void)
{
    graph_job *j = counted_job();
    graph_job_baseline(j);
    const tl_baseline *b = &j->baseline;
    tl_changes *ranks = ranks_open(b);
    for (size_t r = 0; r < j->nranks; r++)
        tl_changes_compare(&ranks[r]);
    for (uint32_t k = 0; k < b->nclasses; k++) {
        const tl_work_class *class = &b->classes[k];
        CU_ASSERT_EQUAL(tl_class_find(b, (tl_family)class->family, class->role, class->key), k);
        for (size_t r = 0; class->family != TL_FAMILY_WAIT && r < j->nranks; r++)
            for (size_t s = 0; s < b->nsteps; s++) {
                uint32_t pieces;
                int64_t ns = sum_of(b, r, &ranks[r], k, s, &pieces);
                bool like = b->role_of[r] == class->role;
                size_t cell = like ? tl_class_cell(class, b->index_in_role[r], s) : SIZE_MAX;
                CU_ASSERT_EQUAL(ns, cell != SIZE_MAX ? class->ns[cell] : 0);
                CU_ASSERT_EQUAL(pieces, cell != SIZE_MAX ? class->pieces[cell] : 0);
                CU_ASSERT(cell != SIZE_MAX || pieces == 0);
            }
    }
    CU_ASSERT_EQUAL(tl_class_find(b, TL_FAMILY_DEVICE, 0, 12345), TL_NONE);
    for (size_t s = 0; s < b->nsteps; s++)
        CU_ASSERT_EQUAL(tl_step_index(b->steps, b->nsteps, b->steps[s]), s);
    CU_ASSERT_EQUAL(tl_step_index(b->steps, b->nsteps, 99), 0);
    for (size_t r = 0; r < j->nranks; r++) /* three steps of two kernels of 2 us; rank 3 has two more */
        CU_ASSERT_EQUAL(b->compute_ns[r], (r == 3 ? 16 : 12) * US);
    ranks_close(b, ranks);
    graph_job_free(j);
}

/* Without collectives the device has work in few of the steps. */
static void a_class_has_cells_for_steps_with_work_alone(void)
{
    graph_job *j = counted_job();
    graph_job_baseline(j);
    const tl_baseline *b = &j->baseline;
    size_t nrare = 0;
    for (size_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        nrare += class->family == TL_FAMILY_DEVICE && class->steps.n < b->nsteps;
        for (size_t k = 0; k < class->steps.n; k++) {
            uint32_t pieces = 0;
            for (size_t i = 0; i < b->roles[class->role].n; i++)
                pieces += class->pieces[i * class->steps.n + k];
            CU_ASSERT(pieces > 0);
            CU_ASSERT(k == 0 || class->steps.v[k] > class->steps.v[k - 1]);
        }
        CU_ASSERT_EQUAL(tl_class_cell(class, 0, b->nsteps), SIZE_MAX);
    }
    CU_ASSERT_EQUAL(nrare, 1);
    graph_job_free(j);
}

static int64_t uneven_host(size_t rank, size_t step)
{
    return 1000 * (int64_t)(rank + 1) + (int64_t)step;
}

/* Before each launch but the first of all, which is a source: of three ranks the one in the middle. */
static void a_piece_of_a_host_usually_takes_what_it_takes_its_role(void)
{
    hand_job *h = hand_new(3, 3, uneven_host, alike);
    hand_baseline(h);
    tl_changes *ranks = ranks_open(&h->baseline);
    for (size_t r = 0; r < 3; r++) {
        tl_changes_compare(&ranks[r]);
        for (size_t s = 0; s < 3; s++) {
            CU_ASSERT_EQUAL(ranks[r].baseline_ns[s * HAND_NODES], s > 0 ? 2000 + (int64_t)s : 0);
            CU_ASSERT_EQUAL(ranks[r].baseline_ns[s * HAND_NODES + 1], 0); /* not of a host */
        }
    }
    ranks_close(&h->baseline, ranks);
    hand_free(h);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void a_step_that_a_rank_has_not_from_its_beginning_is_cut(void)
{
    graph_job *j = graph_job_of(draw("steps:     1111111122222222",
                                     "host:      ar......bs......",
                                     "compute 7: .AA......BB.....",
                                     "comm 9:    ...RR......SS...", NULL),
                                draw("steps:     .......222222222",
                                     "host:      ar......bs......",
                                     "compute 7: .AA......BB.....",
                                     "comm 9:    ...RR......SS...", NULL), NULL);
    graph_job_baseline(j);
    const tl_baseline *b = &j->baseline;
    CU_ASSERT_EQUAL_FATAL(b->nsteps, 3);
    CU_ASSERT(b->steps[0] == -1 && b->steps[1] == 1 && b->steps[2] == 2);
    CU_ASSERT(b->cut[0] && b->cut[1] && !b->cut[2]);
    graph_job_free(j);
}

static void without_steps_all_is_one(void)
{
    graph_job *j = graph_job_of(draw("host:      ab......",
                                     "compute 7: .AABB...", NULL), NULL);
    graph_job_baseline(j);
    CU_ASSERT_EQUAL(j->baseline.nsteps, 1);
    CU_ASSERT(!j->baseline.cut[0]);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_median_is_usual_and_of_two_in_the_middle_the_lesser),
        TEST(sums_come_before_the_median),
        TEST(the_median_of_sums_is_nobodys_lateness),
        TEST(of_two_ranks_each_is_the_others_peer),
        TEST(who_is_alone_is_held_against_its_other_steps),
        TEST(waits_that_peers_do_not_have_make_a_host_late),
        TEST(pieces_are_counted),
        TEST(kernels_that_peers_do_not_have_are_additional),
        TEST(each_node_is_in_the_cell_of_its_class_and_step),
        TEST(a_class_has_cells_for_steps_with_work_alone),
        TEST(a_piece_of_a_host_usually_takes_what_it_takes_its_role),
        TEST(a_step_that_a_rank_has_not_from_its_beginning_is_cut),
        TEST(without_steps_all_is_one),
    };
    return unit_main("what is usual", tests, COUNT(tests));
}
