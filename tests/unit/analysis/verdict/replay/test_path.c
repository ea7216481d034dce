/* test_path.c - the chain that decided when the job ended: what is on it, and for how long. */
#include "graph_drawn.h"

/* The parts of the path of a job from its first instant, none of them below 0; they add up to the job's time. */
static tl_path path_of(graph_job *j, int64_t end_ns)
{
    tl_path path;
    int64_t start_ns = INT64_MAX, sum = 0;

    graph_job_baseline(j);
    for (size_t r = 0; r < j->graph.nranks; r++)
        start_ns = j->graph.ranks[r].start_ns < start_ns ? j->graph.ranks[r].start_ns : start_ns;
    tl_path_of(&j->graph, j->baseline.asker, start_ns, TL_STEPS_OF_MARKS, &path);
    for (int part = 0; part < TL_NACTIVITIES; part++) {
        CU_ASSERT(path.sum.ns[part] >= 0);
        sum += path.sum.ns[part];
    }
    CU_ASSERT(path.before_ns >= 0 && path.unexplained_ns >= path.before_ns);
    CU_ASSERT_EQUAL(sum + path.before_ns, end_ns - start_ns);
    return path;
}

static void work_that_follows_is_all_on_it(void)
{
    graph_job *j = graph_job_of(draw("host:           abc..........",
                                     "compute 7 gemm: .AAABBB.CCCCC", NULL), NULL);
    tl_path path = path_of(j, 13 * US);
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_COMPUTE], 11 * US);
    tl_path_end(&path);
    graph_job_free(j);
}

/* Of a kernel that seems to run on, what is before the next one of its stream. */
static void what_runs_on_ends_where_the_next_begins(void)
{
    graph_job *j = graph_job_of(draw("host:           abc..........",
                                     "compute 7 gemm: .AAAAAAA.....",
                                     "compute 7 relu: ...BBBBBBB...",
                                     "compute 7 silu: .....CCCCCCCC", NULL), NULL);
    tl_path path = path_of(j, 13 * US);
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_COMPUTE], 12 * US);
    CU_ASSERT_EQUAL(path.own[0].ns[TL_ACTIVITY_COMPUTE], 22 * US);
    tl_path_end(&path);
    graph_job_free(j);
}

/* Collectives that overlap on a stream: the second comes before the first is done. */
static void a_meeting_ends_where_the_path_leaves_it(void)
{
    graph_job *j = graph_job_of(draw("host:    ars............",
                                     "compute 7: .AAAA.........",
                                     "comm 7:    ...RRRRRR.....",
                                     "comm 7:    ......SSSSSSSS", NULL),
                                draw("host:    ars............",
                                     "compute 7: .A............",
                                     "comm 7:    ..RRRRRRR.....",
                                     "comm 7:    .....SSSSSSSSS", NULL), NULL);
    tl_path path = path_of(j, 14 * US);
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_COMPUTE], 2 * US); /* of rank 0, until its first comm begins */
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_COMM], 11 * US);
    tl_path_end(&path);
    graph_job_free(j);
}

/* Columns of 10 us.  Rank 1 has no trace: it met rank 0 until column 7, and came to rank 2 at column 10. */
static void a_wait_for_a_rank_without_a_trace_is_communication(void)
{
    graph_job *j = graph_job_unmade(stretched(draw("comm 9:    .....RR.........", NULL), 10),
                                    stretched(draw("comm 9:    ..SSSSSSSSSS..SS", NULL), 10), NULL);
    tl_group_row rows[2] = { { .group = 0, .size = 2, .seen = 1, .ranks = "0,1" }, { .group = 1, .size = 2, .seen = 1, .ranks = "1,2" } };
    tl_table groups = { .schema = &tl_group_row_schema };
    tl_table_append(&groups, rows, 2);
    j->graphs.of.v[1].rank = j->ranks[1] = j->marked[1] = j->rows[1].rank = j->rows[2].rank = 2;
    j->rows[1].group = j->rows[2].group = 1;
    j->rows[0].fits = j->rows[1].fits = j->rows[2].fits = 0;
    tl_job_graph_input in = graph_job_input(j);
    in.groups = &groups;
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    tl_path path = path_of(j, 160 * US);
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_COMM], 90 * US);
    CU_ASSERT_EQUAL(path.untraced_ns, 30 * US);
    CU_ASSERT_EQUAL(path.sum.ns[TL_ACTIVITY_DEVICE], 20 * US); /* from the first S to the second */
    tl_path_end(&path);
    tl_table_free(&groups);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_that_follows_is_all_on_it),
        TEST(what_runs_on_ends_where_the_next_begins),
        TEST(a_meeting_ends_where_the_path_leaves_it),
        TEST(a_wait_for_a_rank_without_a_trace_is_communication),
    };
    return unit_main("critical path", tests, COUNT(tests));
}
