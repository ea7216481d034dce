/* test_job_graph.c - the graphs of ranks made one: meetings, votes, clocks, steps. */
#include "graph_drawn.h"
#include "tlmpi/model/coll_tables.h"

/* --------------------------------------------------------------------------------------------------------- meetings */

static void two_meet_when_the_last_has_come(void)
{
    graph_job *j = graph_job_of(draw("host:      ar........",
                                     "compute 7: .A........",
                                     "comm 9:    ..RRRRRRR.", NULL),
                                draw("host:      ar........",
                                     "compute 7: .AAAA.....",
                                     "comm 9:    .....RRRRR", NULL), NULL);
    CU_ASSERT_EQUAL_FATAL(j->graph.nmeetings, 1);
    uint32_t meeting = job_meeting(j, 9); /* the first is done */
    CU_ASSERT_EQUAL(j->graph.meetings[meeting].work_ns, 4 * US);
    CU_ASSERT_EQUAL(tl_meeting_rest_ns(&j->graph, meeting), 0);
    CU_ASSERT_EQUAL(lag_of_arrival_us(j, 0, 2, meeting), 0);
    CU_ASSERT_EQUAL(lag_of_arrival_us(j, 1, 5, meeting), 0);
    uint32_t end = job_node(j, 1, TL_NODE_END, 10);
    CU_ASSERT_EQUAL(lag_to_end_us(j, meeting, 1, 10), 0);
    CU_ASSERT_EQUAL(job_open(j, 1)->nodes[end].work_ns, 0);
    CU_ASSERT_EQUAL(job_open(j, 1)->rest_ns[end], US); /* it is done later than the first */
    CU_ASSERT_EQUAL(j->graph.ranks[1].ports[0].after_meeting_ns, US);
    CU_ASSERT_EQUAL(j->graph.ranks[0].ports[0].after_meeting_ns, 0);
    graph_job_free(j);
}

static void three_meet(void)
{
    graph_job *j = graph_job_of(draw("comm 9:    ..RRRRRRR.", NULL),
                                draw("comm 9:    .....RRRR.", NULL),
                                draw("comm 9:    .RRRRRRRR.", NULL), NULL);
    CU_ASSERT_EQUAL_FATAL(j->graph.nmeetings, 1);
    CU_ASSERT_EQUAL(j->graph.meetings[1].first_edge - j->graph.meetings[0].first_edge, 3);
    CU_ASSERT_EQUAL(j->graph.meetings[0].work_ns, 4 * US);
    graph_job_free(j);
}

/* Columns of 10 us: who leaves 30 us before the last has come has not waited for it. */
static void who_leaves_before_the_last_has_come_keeps_its_time(void)
{
    graph_job *j = graph_job_of(stretched(draw("comm 9:    .RRRR.....", NULL), 10),
                                stretched(draw("comm 9:    ........RR", NULL), 10),
                                stretched(draw("comm 9:    ..RRRRRRRR", NULL), 10), NULL);
    uint32_t meeting = job_meeting(j, 100), left = job_node(j, 0, TL_NODE_END, 50);
    CU_ASSERT_EQUAL(job_open(j, 0)->nodes[left].work_ns, 40 * US);
    CU_ASSERT_EQUAL(lag_to_end_us(j, meeting, 0, 50), NO_EDGE);
    CU_ASSERT_EQUAL(j->graph.ranks[0].ports[0].meeting, TL_NONE);
    CU_ASSERT_EQUAL(job_lag_us(j, 0, job_node(j, 0, TL_NODE_ARRIVAL, 10), left), 0);
    CU_ASSERT_EQUAL(lag_of_arrival_us(j, 0, 10, meeting), 0); /* but others waited for it */
    CU_ASSERT_TRUE(j->graph.ranks[0].ports[0].awaited);
    CU_ASSERT_EQUAL(lag_to_end_us(j, meeting, 2, 100), 0);
    graph_job_free(j);
}

static void who_seems_to_leave_early_by_a_clock_error_has_met(void)
{
    graph_job *j = graph_job_of(stretched(draw("comm 9:    .RRRRRR...", NULL), 10),
                                stretched(draw("comm 9:    ........RR", NULL), 10), NULL);
    uint32_t meeting = job_meeting(j, 80); /* not before the last has come */
    CU_ASSERT_EQUAL(lag_to_end_us(j, meeting, 0, 70), -10);
    CU_ASSERT_EQUAL(j->graph.ranks[0].ports[0].after_meeting_ns, 0);
    CU_ASSERT_EQUAL(j->graph.meetings[meeting].work_ns, 0);
    graph_job_free(j);
}

static void what_does_not_fit_meets_nobody(void)
{
    graph_job *j = graph_job_unmade(draw("comm 9:    ..RRRRRRR.", NULL), draw("comm 9:    .....RRRR.", NULL), NULL);
    j->rows[1].fits = 0;
    graph_job_make(j);
    CU_ASSERT_EQUAL(j->graph.nmeetings, 0);
    CU_ASSERT_EQUAL(job_at(j, 0, TL_NODE_END, 9)->work_ns, 7 * US);
    graph_job_free(j);
}

static void a_send_meets_its_receive(void)
{
    graph_job *j = graph_job_unmade(draw("comm 9:    ..SSSS..RR", NULL), draw("comm 9:    ....SS..RR", NULL),
                                    draw("comm 9:    ........RR", NULL), NULL);
    for (size_t i = 0; i < j->nrows; i++) {
        j->rows[i].kind = TL_SEND_RECV;
        j->rows[i].pair = 1;
    }
    graph_job_make(j);
    CU_ASSERT_EQUAL(j->graph.nmeetings, 2);
    CU_ASSERT_EQUAL(j->graph.meetings[job_meeting(j, 6)].work_ns, 2 * US);
    graph_job_free(j);
}

/* Columns of 10 us.  Rank 1 has no trace: it waits for rank 0, and then rank 2 waits for it, 80 us longer than its
 * transfers take. */
static void who_has_no_trace_comes_from_where_it_waited_for_somebody(void)
{
    graph_job *j = graph_job_unmade(stretched(draw("comm 9:    .....RR.........", NULL), 10),
                                    stretched(draw("comm 9:    ..SSSSSSSSSS..SS", NULL), 10), NULL);
    tl_group_row rows[2] = { { .group = 0, .size = 2, .seen = 1, .ranks = "0,1" }, { .group = 1, .size = 2, .seen = 1, .ranks = "1,2" } };
    tl_table groups = { .schema = &tl_group_row_schema };

    tl_table_append(&groups, rows, 2);
    j->graphs.of.v[1].rank = j->ranks[1] = j->marked[1] = j->rows[1].rank = j->rows[2].rank = 2;
    j->rows[1].group = j->rows[2].group = 1;
    j->rows[0].fits = j->rows[1].fits = j->rows[2].fits = 0; /* one rank is none */
    tl_job_graph_input in = graph_job_input(j);
    in.groups = &groups;
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    graph_job_is_exact(j);
    CU_ASSERT_EQUAL_FATAL(j->graph.nmeetings, 3);
    CU_ASSERT_EQUAL(lag_to_meeting_us(j, TL_NONE, job_meeting(j, 70), job_meeting(j, 120)), 30);
    tl_table_free(&groups);
    graph_job_free(j);
}

/* ------------------------------------------------------------------------------------------------------------ votes */

/* Two steps of one program; in `odd` the communication of the second has begun before the computing is done.  Columns
 * of 10 us. */
static drawing *voter(bool odd)
{
    return stretched(draw("steps:          1111111111111111111122222222222222222222",
                          "host:           ar..................bs..................",
                          "compute 7 gemm: .AAAAA...............BBBBBBBBB..........",
                          odd ? "comm 9 ring:    ......RRRRRR...........SSSSSSSSSSSS....."
                              : "comm 9 ring:    ......RRRRRR..................SSSSS.....", NULL), 10);
}

static void what_is_impossible_once_is_nowhere(void)
{
    graph_job *j = graph_job_of(voter(false), voter(false), NULL);
    uint32_t work = job_node(j, 0, TL_NODE_WORK, 60), arrival = job_node(j, 0, TL_NODE_ARRIVAL, 60);
    CU_ASSERT_EQUAL(j->graph.nvoted, 0);
    CU_ASSERT_EQUAL(job_lag_us(j, 0, work, arrival), 0);
    graph_job_free(j);
    j = graph_job_of(voter(false), voter(true), NULL);
    work = job_node(j, 0, TL_NODE_WORK, 60);
    arrival = job_node(j, 0, TL_NODE_ARRIVAL, 60);
    CU_ASSERT_EQUAL(j->graph.nvoted, 3); /* both of rank 0, and that of rank 1 which was possible */
    CU_ASSERT_EQUAL(job_lag_us(j, 0, work, arrival), NO_EDGE);
    graph_job_free(j);
}

/* A, R after it, and B: as soon as R ends; later, where it is launched later; or beside R.  Columns of 10 us. */
static drawing *receiver(char how)
{
    return stretched(draw("steps:          1111111111111111111111111111",
                          how == 'l' ? "host:           ar...............b.........."
                                     : "host:           arb.........................",
                          how == 'l'   ? "compute 7 gemm: .AAAA.............BBBBB....."
                          : how == 'b' ? "compute 7 gemm: .AAAA..BBBBB................"
                                       : "compute 7 gemm: .AAAA......BBBBB............",
                          "comm 9 recv:    .....RRRRRR.................", NULL), 10);
}

static int64_t lag_of_late_receiver(drawing *first, drawing *second)
{
    graph_job *j = graph_job_of(first, receiver('l'), second, NULL);
    int64_t lag = job_lag_us(j, 1, job_node(j, 1, TL_NODE_END, 110), job_node(j, 1, TL_NODE_WORK, 230));
    graph_job_free(j);
    return lag;
}

static void what_follows_communication_of_a_kind_waits_for_it_where_it_came_long_before(void)
{
    CU_ASSERT_EQUAL(lag_of_late_receiver(receiver('s'), receiver('s')), 0);
    CU_ASSERT_EQUAL(lag_of_late_receiver(receiver('l'), receiver('l')), NO_EDGE); /* nothing shows it */
    CU_ASSERT_EQUAL(lag_of_late_receiver(receiver('s'), receiver('b')), NO_EDGE); /* it cannot be */
}

/* ----------------------------------------------------------------------------------------------------------- clocks */

static drawing *clocked(void)
{
    return draw("host:      ar......b.....s......c...",
                "compute 7: .AA......BBBB..........CC",
                "comm 9:    ...RRRR.......SSSS.......", NULL);
}

static void a_clock_that_is_off_is_shifted_like_its_collectives(void)
{
    graph_job *j = graph_job_unmade(clocked(), clocked(), NULL);
    for (size_t i = 0; i < j->nrows; i++)
        if (j->rows[i].rank == 1) {
            j->rows[i].start_ns += 1000 * US;
            j->rows[i].end_ns += 1000 * US;
        }
    for (size_t i = 0; i < j->nrows; i++)
        if (j->rows[i].rank == 0) /* and so that they meet */
            j->rows[i].end_ns += 1000 * US;
    graph_job_make(j);
    job_node(j, 0, TL_NODE_WORK, 3);
    job_node(j, 1, TL_NODE_WORK, 1003);
    job_node(j, 1, TL_NODE_WORK, 1025);
    job_node(j, 1, TL_NODE_LAUNCH, 1000);
    graph_job_free(j);
}

/* The clock loses 1 ns a microsecond: 3 at the first collective, 14 at the second; 0 at the beginning, 25 at the
 * end. */
static void a_clock_that_drifts_is_followed_beyond_its_collectives(void)
{
    graph_job *j = graph_job_unmade(clocked(), clocked(), NULL);
    for (size_t i = 0; i < j->nrows; i++)
        if (j->rows[i].rank == 1) {
            j->rows[i].start_ns += j->rows[i].start_ns / 1000;
            j->rows[i].end_ns += j->rows[i].end_ns / 1000;
        }
    graph_job_make(j);
    const tl_open_rank *a = job_open(j, 0), *b = job_open(j, 1);
    CU_ASSERT_EQUAL_FATAL(a->n, b->n);
    for (uint32_t v = 0; v < a->n; v++)
        CU_ASSERT_EQUAL(b->nodes[v].done_ns, a->nodes[v].done_ns + a->nodes[v].done_ns / 1000);
    graph_job_free(j);
}

/* 1 us between the collectives, and one of them rounded up by a nanosecond: an hour later that would be 3.6 s. */
static void rounding_is_not_a_drift(void)
{
    drawing *d[2];
    for (int i = 0; i < 2; i++) {
        d[i] = draw("host:      a.rs......b", /* b is launched an hour later */
                    "compute 7: .A.......BB",
                    "comm 9:    ...R.......",
                    "comm 9:    ....S......", NULL);
        for (size_t k = 0; k < d[i]->view.nkernels; k++)
            if (d[i]->kernels[k].start_ns == 9 * US) {
                d[i]->kernels[k].start_ns += INT64_C(3600000000) * US;
                d[i]->kernels[k].end_ns += INT64_C(3600000000) * US;
            }
    }
    graph_job *j = graph_job_unmade(d[0], d[1], NULL);
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].start_ns += j->rows[i].rank == 1 && j->rows[i].start_ns == 4 * US;
    graph_job_make(j);
    const tl_open_rank *a = job_open(j, 0), *b = job_open(j, 1);
    CU_ASSERT_EQUAL_FATAL(a->n, b->n);
    for (uint32_t v = 0; v < a->n; v++)
        CU_ASSERT(b->nodes[v].done_ns - a->nodes[v].done_ns <= US);
    graph_job_free(j);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void a_rank_without_marks_has_the_steps_of_its_collectives(void)
{
    graph_job *j = graph_job_unmade(draw("steps:     111111111111222222222222",
                                         "host:      ar..........bs..........",
                                         "compute 7: .AA..........BB.........",
                                         "comm 9:    ...RRRR........SSSS.....", NULL),
                                    draw("host:      ar...c......bs....d.....",
                                         "compute 7: .AA...CC.....BB....DD...",
                                         "comm 9:    ...RRRR........SSSS.....", NULL), NULL);
    j->nmarked = 1;
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].step = j->rows[i].collective == 0 ? 1 : 2;
    graph_job_make(j);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 3)->step, 1);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 8)->step, 2);  /* after the first collective */
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 15)->step, 2);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 21)->step, 2); /* after the last */
    CU_ASSERT_EQUAL(job_at(j, 0, TL_NODE_WORK, 3)->step, 1);
    graph_job_free(j);
}

/* What ends in collectives of no step lies before all steps, or after them. */
static void what_is_of_no_step_is_before_or_behind_all(void)
{
    const char *const host = "host:      ar...bs...ct..d......", *const work = "compute 7: .AA...BB...CC..DD....",
                      *const comm = "comm 9:    ...RR...SS...TT......";
    graph_job *j = graph_job_unmade(draw(host, work, comm, NULL), draw(host, work, comm, NULL), NULL);
    j->nmarked = 0;
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].step = j->rows[i].collective == 1 ? 0 : -1;
    graph_job_make(j);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 3)->step, -1);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 8)->step, 0);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 13)->step, TL_STEP_AFTER);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 17)->step, TL_STEP_AFTER);
    graph_job_free(j);
}

/* Rank 0 alone marks steps: of what begins in column 3 the first, in column 15 the second. */
static void make_marked(graph_job *j)
{
    j->nmarked = 1;
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].step = j->rows[i].start_ns == 3 * US ? 1 : j->rows[i].start_ns == 15 * US ? 2 : -1;
    graph_job_make(j);
}

/* What nobody else takes part in has no step of its own: it goes with the next that has one. */
static void work_before_an_unmatched_collective_goes_with_the_next(void)
{
    graph_job *j = graph_job_unmade(draw("steps:     111111111111222222222222",
                                         "host:      .r..........s...........",
                                         "comm 9:    ...RRRR........SSSS.....", NULL),
                                    draw("host:      .r..cq......s...........",
                                         "compute 7: .......CC...............",
                                         "comm 9:    ...RRRR..QQ....SSSS.....", NULL), NULL);
    make_marked(j);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 9)->step, 2);
    graph_job_free(j);
}

static void work_behind_the_last_matched_collective_is_of_its_step(void)
{
    graph_job *j = graph_job_unmade(draw("steps:     111111111111111111111111",
                                         "host:      .r..........s...........",
                                         "comm 9:    ...RRRR........SSSS.....", NULL),
                                    draw("host:      .r..........s......cq...",
                                         "compute 7: ....................CC..",
                                         "comm 9:    ...RRRR........SSSS...QQ", NULL), NULL);
    make_marked(j);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_WORK, 22)->step, 2);
    CU_ASSERT_EQUAL(job_at(j, 1, TL_NODE_END, 24)->step, 2);
    graph_job_free(j);
}

/* ------------------------------------------------------------------------------------------------------------ edges */

static void a_rank_without_a_graph_has_no_nodes(void)
{
    graph_job *j = graph_job_of(draw("comm 9:    ..RRRRRRR.", NULL), draw("steps:     1111111111", NULL),
                                draw("compute 7: ....A", NULL), NULL);
    CU_ASSERT_TRUE(tl_job_graph_has(&j->graph, 0));
    CU_ASSERT_FALSE(tl_job_graph_has(&j->graph, 1));
    CU_ASSERT_EQUAL(job_open(j, 1)->n, 0);
    CU_ASSERT_EQUAL(j->graph.nmeetings, 0);
    CU_ASSERT_EQUAL(job_open(j, 0)->n, 2);
    CU_ASSERT_EQUAL(job_open(j, 2)->n, 1);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(two_meet_when_the_last_has_come),
        TEST(three_meet),
        TEST(who_leaves_before_the_last_has_come_keeps_its_time),
        TEST(who_seems_to_leave_early_by_a_clock_error_has_met),
        TEST(what_does_not_fit_meets_nobody),
        TEST(a_send_meets_its_receive),
        TEST(who_has_no_trace_comes_from_where_it_waited_for_somebody),
        TEST(what_is_impossible_once_is_nowhere),
        TEST(what_follows_communication_of_a_kind_waits_for_it_where_it_came_long_before),
        TEST(a_clock_that_is_off_is_shifted_like_its_collectives),
        TEST(a_clock_that_drifts_is_followed_beyond_its_collectives),
        TEST(rounding_is_not_a_drift),
        TEST(a_rank_without_marks_has_the_steps_of_its_collectives),
        TEST(what_is_of_no_step_is_before_or_behind_all),
        TEST(work_before_an_unmatched_collective_goes_with_the_next),
        TEST(work_behind_the_last_matched_collective_is_of_its_step),
        TEST(a_rank_without_a_graph_has_no_nodes),
    };
    return unit_main("the graph of a job", tests, COUNT(tests));
}
