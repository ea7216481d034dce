/* test_whatif.c - what a job would have taken with changes that a user names: drawn, and exact. */
#include "graph_drawn.h"
#include "tlmpi/analysis/verdict/whatif.h"

/* The job, with labels, and its ranks folded. */
typedef struct asked_job {
    graph_job *j;
    tl_folded *folded;
    tl_names names;
    int64_t step_ns[16];
    tl_whatif_study study;
    int64_t clock_error_ns;
} asked_job;

/* The ranks as they are, folded. */
static void fold(asked_job *a)
{
    const tl_change none = { .kind = TL_CHANGE_NONE };
    tl_asked asked;
    a->folded = room_for(a->j->nranks, sizeof *a->folded);
    tl_asked_new(a->j->nranks, &asked);
    for (size_t r = 0; r < a->j->nranks; r++) {
        tl_bytes_put(&asked.in[r], &none, sizeof none);
        tl_bytes_put_list(&asked.in[r], NULL, 0, 1);
    }
    tl_ask_ranks(&a->j->served.asker, TL_ASK_CHANGE, &asked);
    for (size_t r = 0; r < a->j->nranks; r++) {
        uint8_t lane;
        tl_bytes_get(&asked.out[r], &lane, sizeof lane);
        tl_changed_get(&a->folded[r], &asked.out[r]);
    }
    tl_asked_free(&asked);
}

static void add(asked_job *a, const char *change)
{
    tl_error err;
    tl_whatif_sort sort = strncmp(change, "overlap ", 8) == 0        ? TL_WHATIF_OVERLAP
                          : strcmp(change, "remove-sync") == 0        ? TL_WHATIF_REMOVE_SYNC
                          : strcmp(change, "no-launch-overhead") == 0 ? TL_WHATIF_NO_LAUNCH_OVERHEAD
                                                                      : TL_WHATIF_SCALE;
    CU_ASSERT_EQUAL_FATAL(
        tl_whatif_change_read(sort, change + (sort == TL_WHATIF_OVERLAP ? 8 : 0), &a->study.changes, &err), TL_OK);
}

static void add_names(asked_job *a)
{
    TL_EACH (const tl_rank_graph, g, a->j->graphs.of)
        TL_EACH (const tl_node_label, label, g->labels->list) {
            tl_names_intern(&a->names, label->name, strlen(label->name));
            tl_names_intern(&a->names, label->operator_name, strlen(label->operator_name));
        }
}

/* Finds the answer.  Steps take end_us in all. */
static void find(asked_job *a, int64_t end_us)
{
    graph_job *j = a->j;
    tl_job_graph_input in = graph_job_input(j);
    int64_t start_ns = INT64_MAX;
    add_names(a);
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    graph_job_baseline(j);
    fold(a);
    for (size_t r = 0; r < j->nranks; r++)
        start_ns = j->graph.ranks[r].start_ns < start_ns ? j->graph.ranks[r].start_ns : start_ns;
    CU_ASSERT_FATAL(j->baseline.nsteps <= COUNT(a->step_ns));
    tl_whatif_find(&(tl_whatif_input){ .graph = &j->graph,
                                       .baseline = &j->baseline,
                                       .names = &a->names,
                                       .folded = a->folded,
                                       .step_ns = a->step_ns,
                                       .ranks = j->ranks,
                                       .start_ns = start_ns,
                                       .end_ns = end_us * US,
                                       .clock_error_ns = a->clock_error_ns },
                   &a->study);
}

static void asked_job_free(asked_job *a)
{
    for (size_t r = 0; r < a->j->nranks; r++)
        tl_folded_free(&a->folded[r]);
    free(a->folded);
    tl_whatif_free(&a->study);
    tl_names_free(&a->names);
    graph_job_free(a->j);
}

/* The time that a job, which ends at end_us, gains by one change; its critical path adds up to the rest. */
static int64_t gain_us(graph_job *j, int64_t end_us, const char *change)
{
    asked_job a = { .j = j };
    add(&a, change);
    find(&a, end_us);
    const tl_whatif_change_row *row = tl_table_row(&a.study.change_rows, 0);
    int64_t gain_ns = row->gain_ns, path_ns = 0;
    CU_ASSERT_EQUAL(a.study.change_rows.n, 1);
    CU_ASSERT_EQUAL(row->time_ns, a.study.time_ns);
    TL_ROWS (const tl_whatif_path, part, &a.study.path_rows)
        path_ns += part->time_ns;
    CU_ASSERT_EQUAL(path_ns, a.study.time_ns);
    asked_job_free(&a);
    CU_ASSERT_EQUAL(gain_ns % US, 0);
    return gain_ns / US;
}

static graph_job *two_kernels(void)
{
    return graph_job_unmade(draw("host:           ab..........",
                                 "compute 7 gemm: .AAAAAA.....",
                                 "compute 7 relu: .......BBBBB", NULL), NULL);
}

static void work_of_a_name_takes_its_time_times_a_factor(void)
{
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "name~gem+:0.5"), 3);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "name=relu:0"), 5);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "kind=compute,name!=relu:0.5"), 3);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "kind=compute:1"), 0);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "kind=compute:2"), -11);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "name=gemm,rank=0-2:0.5"), 3);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "name=gemm,rank!=0:0.5"), 0);
    CU_ASSERT_EQUAL(gain_us(two_kernels(), 12, "kind=copy:0"), 0);
}

/* Both ranks come at column 3 and 5, and leave at 9. */
static graph_job *a_meeting(void)
{
    return graph_job_unmade(draw("host:      ar..........",
                                 "compute 7: .AA.........",
                                 "comm 7:    ...RRRRRR...", NULL),
                            draw("host:      ar..........",
                                 "compute 7: .AAAA.......",
                                 "comm 7:    .....RRRR...", NULL), NULL);
}

static void waiting_is_shorter_than_the_last_has_come(void)
{
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "rank=1,kind=compute:0.5"), 2);
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "rank=1,kind=compute:0"), 2); /* then rank 0 is the last */
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "rank=0,kind=compute:0"), 0);
}

static void a_transfer_is_scaled_if_all_members_have_it_selected(void)
{
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "kind=all_reduce:0.5"), 2);
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "kind=comm:0"), 4);
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "kind=comm,rank=1:0"), 0);
    CU_ASSERT_EQUAL(gain_us(a_meeting(), 9, "kind=all_gather:0"), 0);
}

static void a_transfer_that_stays_is_told(void)
{
    asked_job a = { .j = a_meeting() };
    add(&a, "kind=comm,rank=1:0");
    find(&a, 9);
    const tl_whatif_change_row *row = tl_table_row(&a.study.change_rows, 0);
    CU_ASSERT_EQUAL(row->own_ns, 0);
    CU_ASSERT_EQUAL(row->left_ns, 4 * US);
    asked_job_free(&a);
}

/* The transfer takes 2, and rank 1 leaves 3 later. */
static void what_a_rank_takes_after_the_first_end_is_its_own(void)
{
    asked_job a = { .j = graph_job_unmade(draw("host:      r.............",
                                               "comm 7:    .RRRRRR.......", NULL),
                                          draw("host:      ....r.........",
                                               "comm 7:    .....RRRRR....", NULL), NULL) };
    add(&a, "kind=comm,rank=1:0");
    find(&a, 10);
    const tl_whatif_change_row *row = tl_table_row(&a.study.change_rows, 0);
    CU_ASSERT_EQUAL(row->own_ns, 3 * US);
    CU_ASSERT_EQUAL(row->gain_ns, 3 * US);
    CU_ASSERT_EQUAL(row->left_ns, 2 * US);
    CU_ASSERT_EQUAL(a.study.unmatched_ns, 0);
    asked_job_free(&a);
}

/* Nothing tells the waiting from the transfer: no other rank's part of it is here. */
/* By how much steps may be wrong besides what the path leaves unexplained, ns. */
static int64_t unsure_ns(graph_job *j, int64_t end_us, int64_t clock_error_ns, const char *change)
{
    asked_job a = { .j = j, .clock_error_ns = clock_error_ns };
    add(&a, change);
    find(&a, end_us);
    int64_t ns = a.study.unsure_ns;
    asked_job_free(&a);
    return ns;
}

static graph_job *a_meeting_in_a_step(void)
{
    return graph_job_unmade(draw("steps:     444444444444",
                                 "host:      ar..........",
                                 "compute 7: .AA.........",
                                 "comm 7:    ...RRRRRR...", NULL),
                            draw("steps:     444444444444",
                                 "host:      ar..........",
                                 "compute 7: .AAAA.......",
                                 "comm 7:    .....RRRR...", NULL), NULL);
}

static void clocks_count_where_another_rank_comes_last(void)
{
    CU_ASSERT_EQUAL(unsure_ns(a_meeting_in_a_step(), 9, 3, "rank=1,kind=compute:0.75"), 0);
    CU_ASSERT_EQUAL(unsure_ns(a_meeting_in_a_step(), 9, 3, "rank=1,kind=compute:0"), 3);
}

/* Rank 1 computes for less time in step 5: it comes 2 us earlier there, and may have begun step 4 earlier. */
static void how_far_apart_ranks_begin_is_told(void)
{
    graph_job *j = graph_job_unmade(draw("steps:     44445555555555555555",
                                         "host:      ar..bs..............",
                                         "compute 7: .A......B...........",
                                         "comm 7:    ..RRRRRR.SSSSSS.....", NULL),
                                    draw("steps:     ...44445555555555555",
                                         "host:      ...ar..bs...........",
                                         "compute 7: ....A...BBBB........",
                                         "comm 7:    .....RRR....SSS.....", NULL), NULL);
    CU_ASSERT_EQUAL(unsure_ns(j, 15, 0, "rank=1,step=5,kind=compute:0.5"), 2 * US);
}

/* Kernels take 6 us beside communication and 5 us alone; without a of rank 1, 7 us of them are no longer beside it. */
static void what_kernels_lose_beside_communication_is_told(void)
{
    graph_job *j = graph_job_unmade(draw("steps:          44444444444444444445555555555555555555",
                                         "host:           rab................scd................",
                                         "compute 7 gemm: ..AAAAAA...............CCCCC..........",
                                         "compute 7 gemm: ........BBBBBB..............DDDDD.....",
                                         "comm 9:         .RRRRRRRRRRRRR......SSS...............", NULL),
                                    draw("steps:          44444444444444444445555555555555555555",
                                         "host:           ar.................s..................",
                                         "compute 7:      .AAAAAAAAA............................",
                                         "comm 7:         ..........RRRR......SSS...............", NULL), NULL);
    CU_ASSERT_EQUAL(unsure_ns(j, 33, 0, "rank=1,kind=compute:0"), 1276); /* 7 us * ln(6 / 5) */
}

static void unmatched_communication_is_scaled_whole_and_told(void)
{
    asked_job a = { .j = graph_job_unmade(draw("host:      r.......",
                                               "comm 7:    .RRRRRR.", NULL), NULL) };
    add(&a, "kind=comm:0.5");
    find(&a, 7);
    CU_ASSERT_EQUAL(((const tl_whatif_change_row *)tl_table_row(&a.study.change_rows, 0))->gain_ns, 3 * US);
    CU_ASSERT_EQUAL(a.study.unmatched_ns, 6 * US);
    asked_job_free(&a);
}

/* b waits for r by a recorded event or by custom; a and b take 3 and 4, r takes 4. */
static graph_job *an_exposed_collective(void)
{
    return graph_job_unmade(draw("host:      arb.........",
                                 "compute 7: .AAA....BBBB",
                                 "comm 9:    ....RRRR....", NULL),
                            draw("host:      arb.........",
                                 "compute 7: .AAA....BBBB",
                                 "comm 9:    ....RRRR....", NULL), NULL);
}

static graph_job *on_one_stream(void)
{
    return graph_job_unmade(draw("host:      arb.........",
                                 "compute 7: .AAA....BBBB",
                                 "comm 7:    ....RRRR....", NULL),
                            draw("host:      arb.........",
                                 "compute 7: .AAA....BBBB",
                                 "comm 7:    ....RRRR....", NULL), NULL);
}

static void what_overlaps_is_waited_for_no_longer(void)
{
    CU_ASSERT_EQUAL(gain_us(an_exposed_collective(), 12, "overlap kind=all_reduce"), 4);
    CU_ASSERT_EQUAL(gain_us(on_one_stream(), 12, "overlap kind=all_reduce"), 4); /* b still comes after a */
    CU_ASSERT_EQUAL(gain_us(on_one_stream(), 12, "overlap kind=broadcast"), 0);
}

/* One after the other on a stream: c waits for neither. */
static void collectives_that_overlap_stay_in_order(void)
{
    graph_job *j = graph_job_unmade(draw("host:      arsb..........",
                                         "compute 7: .AA.......BBBB",
                                         "comm 9:    ...RRR........",
                                         "comm 9:    ......SSSS....", NULL),
                                    draw("host:      arsb..........",
                                         "compute 7: .AA.......BBBB",
                                         "comm 9:    ...RRR........",
                                         "comm 9:    ......SSSS....", NULL), NULL);
    CU_ASSERT_EQUAL(gain_us(j, 14, "overlap kind=all_reduce"), 4); /* s still ends at 10 */
}

static graph_job *a_sync(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:    a.......................b.........",
                      "compute 7:                    .AAAAAAAAAAAAAAAAAAAAA............",
                      "compute 7:                    .........................BBBBBBBBB",
                      "call 1 cudaDeviceSynchronize: ..=====================...........", NULL);
    return graph_job_unmade(stretched(d, 2), NULL);
}

static void a_call_that_waited_comes_back_at_once(void)
{
    /* It takes 20 us and then 2 us of the host, so b is launched at 28, and follows a at 44. */
    CU_ASSERT_EQUAL(gain_us(a_sync(), 68, "remove-sync"), 6);
}

/* The call waits from 4 until a ends at 44, and returns at 50; b is launched at 56. */
static graph_job *a_free(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a..........................b.........",
                      "compute 7:                 .AAAAAAAAAAAAAAAAAAAAA...............",
                      "compute 7:                 ............................BBBBBBBBB",
                      "call 1 cudaFree:           ..=======================............", NULL);
    return graph_job_unmade(stretched(d, 2), NULL);
}

static void a_call_that_frees_goes_with_its_wait(void)
{
    static const struct {
        const char *change;
        int64_t gain_ns, own_ns, left_ns;
    } expected[] = { { "kind=allocator:0", 12 * US, 51 * US, 0 }, /* b follows a */
                     { "kind=allocator:0.5", 5500, 11 * US, 40 * US } };
    for (size_t i = 0; i < COUNT(expected); i++) {
        asked_job a = { .j = a_free() };
        add(&a, expected[i].change);
        find(&a, 74);
        const tl_whatif_change_row *row = tl_table_row(&a.study.change_rows, 0);
        CU_ASSERT_EQUAL(row->gain_ns, expected[i].gain_ns);
        CU_ASSERT_EQUAL(row->own_ns, expected[i].own_ns);
        CU_ASSERT_EQUAL(row->left_ns, expected[i].left_ns);
        asked_job_free(&a);
    }
}

static graph_job *a_late_launch(void)
{
    return graph_job_unmade(draw("host:      a.....b.....",
                                 "compute 7: .AA....BBBBB", NULL), NULL);
}

static void hosts_take_no_time_between_launches(void)
{
    /* a begins as it is launched, b follows it. */
    CU_ASSERT_EQUAL(gain_us(a_late_launch(), 12, "no-launch-overhead"), 5);
    CU_ASSERT_EQUAL(gain_us(a_late_launch(), 12, "kind=host:0.5"), 3);
}

static void several_changes_are_told_alone_and_together(void)
{
    asked_job a = { .j = two_kernels() };
    add(&a, "name=gemm:0.5");
    add(&a, "kind=compute:0.5");
    find(&a, 12);
    static const int64_t gains_ns[] = { 3000, 5500, 6500 }; /* together: then b waits for its launch */
    CU_ASSERT_EQUAL_FATAL(a.study.change_rows.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const tl_whatif_change_row *row = tl_table_row(&a.study.change_rows, i);
        CU_ASSERT_EQUAL(row->place, i < 2 ? (int32_t)i + 1 : 0);
        CU_ASSERT_EQUAL(row->gain_ns, gains_ns[i]);
    }
    CU_ASSERT_EQUAL(((const tl_whatif_change_row *)tl_table_row(&a.study.change_rows, 1))->own_ns, 11 * US);
    asked_job_free(&a);
}

static void the_name_of_most_gain_stands_first(void)
{
    asked_job a = { .j = two_kernels(), .study = { .top = 1 } };
    find(&a, 12);
    const tl_whatif_top *row = tl_table_row(&a.study.top_rows, 0);
    CU_ASSERT_EQUAL_FATAL(a.study.top_rows.n, 1);
    CU_ASSERT_EQUAL(row->of, TL_WHATIF_OF_KERNEL);
    CU_ASSERT_STRING_EQUAL(row->name, "gemm");
    CU_ASSERT_EQUAL(row->gain_ns, 6 * US / 10);
    asked_job_free(&a);
}

/* On each rank relu takes longest; but rank 1 works after rank 0, so that the job has gemm twice. */
static void work_of_several_ranks_counts_where_one_waits_for_the_other(void)
{
    asked_job a = { .j = graph_job_unmade(draw("host:           abr........................",
                                               "compute 7 gemm: .AAAAAA....................",
                                               "compute 7 relu: .......BBBBBBBBBB..........",
                                               "comm 7:         .................RRRR......", NULL),
                                          draw("host:           rc.........................",
                                               "comm 7:         .RRRRRRRRRRRRRRRRRRRR......",
                                               "compute 7 gemm: .....................CCCCCC", NULL), NULL),
                    .study = { .top = 1 } };
    find(&a, 27);
    const tl_whatif_top *row = tl_table_row(&a.study.top_rows, 0);
    CU_ASSERT_EQUAL_FATAL(a.study.top_rows.n, 1);
    CU_ASSERT_STRING_EQUAL(row->name, "gemm");
    CU_ASSERT_EQUAL(row->gain_ns, 12 * US / 10);
    asked_job_free(&a);
}

/* A name is looked up as it is, though it reads like more conditions. */
static void a_name_may_read_like_conditions(void)
{
    asked_job a = { .j = graph_job_unmade(draw("host:                  a......",
                                               "compute 7 f,step=x(~: .AAAAAA", NULL), NULL),
                    .study = { .top = 9 } };
    find(&a, 7);
    const tl_whatif_top *row = tl_table_row(&a.study.top_rows, 0);
    CU_ASSERT_EQUAL_FATAL(a.study.top_rows.n, 1);
    CU_ASSERT_STRING_EQUAL(row->name, "f,step=x(~");
    CU_ASSERT_EQUAL(row->gain_ns, 6 * US / 10);
    asked_job_free(&a);
}

static void what_is_no_change_is_refused(void)
{
    static const char *const wrong[] = { "", "gemm:0.5", "name~gemm", "name~gemm:", "name~gemm:-1", "name~gemm:nan", "name~gemm:1001",
                                         "name~(:1",
                                         "kind=gemm:1", "rank=x:1", "rank~1:1", "colour=red:1", "name=a,:1" };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        tl_whatif_changes changes = { 0 };
        tl_error err;
        bool holds = i == COUNT(wrong) - 1; /* a comma may stand in a name */
        CU_ASSERT_EQUAL(tl_whatif_change_read(TL_WHATIF_SCALE, wrong[i], &changes, &err), holds ? TL_OK : TL_EUSAGE);
        tl_whatif_changes_free(&changes);
    }
}

static void a_name_may_have_commas_and_colons(void)
{
    const tl_node_label label = { .name = "void at::native::f<4, int>(int, rank)", .operator_name = "aten::mm", .annotation = "",
                                  .kind = TL_COMPUTE, .collective = TL_COLL_NONE };
    tl_whatif_changes changes = { 0 };
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_whatif_change_read(TL_WHATIF_SCALE, "name=void at::native::f<4, int>(int, rank),operator~^aten::mm$:.5",
                                                &changes, &err), TL_OK);
    CU_ASSERT(tl_whatif_selects(&changes.v[0], 0, &label));
    CU_ASSERT_EQUAL(changes.v[0].factor, 0.5);
    CU_ASSERT_EQUAL(changes.v[0].conditions.n, 2);
    tl_whatif_changes_free(&changes);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_of_a_name_takes_its_time_times_a_factor),
        TEST(waiting_is_shorter_than_the_last_has_come),
        TEST(a_transfer_is_scaled_if_all_members_have_it_selected),
        TEST(a_transfer_that_stays_is_told),
        TEST(clocks_count_where_another_rank_comes_last),
        TEST(how_far_apart_ranks_begin_is_told),
        TEST(what_kernels_lose_beside_communication_is_told),
        TEST(what_a_rank_takes_after_the_first_end_is_its_own),
        TEST(unmatched_communication_is_scaled_whole_and_told),
        TEST(what_overlaps_is_waited_for_no_longer),
        TEST(collectives_that_overlap_stay_in_order),
        TEST(a_call_that_waited_comes_back_at_once),
        TEST(a_call_that_frees_goes_with_its_wait),
        TEST(hosts_take_no_time_between_launches),
        TEST(several_changes_are_told_alone_and_together),
        TEST(the_name_of_most_gain_stands_first),
        TEST(work_of_several_ranks_counts_where_one_waits_for_the_other),
        TEST(a_name_may_read_like_conditions),
        TEST(what_is_no_change_is_refused),
        TEST(a_name_may_have_commas_and_colons),
    };
    return unit_main("what-if", tests, COUNT(tests));
}
