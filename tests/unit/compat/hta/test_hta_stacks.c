/* test_hta_stacks.c - what stands within what: call graphs, the older call stacks, and where HTA gives up. */
#include "hta_trace.h"
#include "src/compat/hta/graph.h"

#define ON(tid, cat, name, ts, dur, args)                                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur      \
    ",\"args\":{" args "}}"

/* The parents of rows as "0:-1 1:0 2:0 ", by index. */
static const char *nested(const char *trace, tl_hta_nesting way, bool *clash)
{
    static char text[512];
    uint32_t at[32];
    tl_hta_job job = load(trace, NULL, false);
    const tl_hta_frame *frame = &job.frames.v[0];
    tl_hta_nest nest = tl_hta_nest_make(frame, way);
    int n = 0;

    CU_ASSERT_FATAL(frame->rows.n <= 32);
    for (uint32_t i = 0; i < frame->rows.n; i++)
        at[i] = i;
    tl_hta_nest_rows(&nest, at, frame->rows.n);
    CU_ASSERT_EQUAL(nest.nopened, frame->rows.n);
    text[0] = '\0';
    for (size_t i = 0; i < frame->rows.n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%u:%d ", frame->rows.v[i].index,
                      nest.node[i].parent == TL_HTA_TOP ? -1 : (int)frame->rows.v[nest.node[i].parent].index);
    if (clash != NULL)
        *clash = nest.clash;
    tl_hta_nest_free(&nest);
    tl_hta_job_free(&job);
    return text;
}

/*     0   [         ]
 *     1    [  ]              the end of 1 is the start of 2
 *     2       [  ]
 *     3   [    ]             as early as 0, and shorter: within it, 1 within that
 *     4   ..............[ ]
 */
static void rows_stand_in_those_that_are_open(void)
{
    const char *trace = TRACE(OP("a", "0", "10") "," OP("b", "1", "3") "," OP("c", "4", "3") "," OP("d", "0", "5") ","
                              OP("e", "14", "2"));

    /* The end of 3 takes off 2, which stays open longer than 3. */
    CU_ASSERT_STRING_EQUAL(nested(trace, TL_HTA_NESTED, NULL), "0:-1 1:3 2:3 3:0 4:-1 ");
    CU_ASSERT_STRING_EQUAL(nested(trace, TL_HTA_SIBLINGS, NULL), "0:-1 1:3 2:3 3:0 4:-1 ");
}

static void equal_rows_go_by_index(void)
{
    const char *trace = TRACE(OP("a", "0", "5") "," OP("b", "0", "5") "," OP("c", "0", "5"));
    CU_ASSERT_STRING_EQUAL(nested(trace, TL_HTA_NESTED, NULL), "0:-1 1:0 2:1 ");
}

/* As HTA has them: by its rules for two of three rows, and what its sort makes of them. */
static void rows_of_no_length_stand_where_hta_has_them(void)
{
    const char *at_a_start = TRACE(OP("a", "4", "5") "," OP("z", "4", "0") "," OP("y", "4", "0"));
    const char *at_an_end = TRACE(OP("a", "0", "4") "," OP("z", "4", "0") "," OP("y", "4", "0"));
    const char *at_both = TRACE(OP("a", "0", "4") "," OP("z", "4", "0") "," OP("b", "4", "4"));

    CU_ASSERT_STRING_EQUAL(nested(at_a_start, TL_HTA_NESTED, NULL), "0:-1 1:0 2:1 ");
    CU_ASSERT_STRING_EQUAL(nested(at_a_start, TL_HTA_SIBLINGS, NULL), "0:-1 1:0 2:-1 ");
    CU_ASSERT_STRING_EQUAL(nested(at_an_end, TL_HTA_NESTED, NULL), "0:-1 1:0 2:1 ");
    CU_ASSERT_STRING_EQUAL(nested(at_an_end, TL_HTA_SIBLINGS, NULL), "0:-1 1:0 2:-1 ");
    CU_ASSERT_STRING_EQUAL(nested(at_both, TL_HTA_NESTED, NULL), "0:-1 1:2 2:-1 ");
}

/* From 10.2 to 10.5 lies no full microsecond: the row starts at 11 and is -1 long. */
static void a_negative_row_ends_before_it_starts(void)
{
    const char *trace = TRACE(OP("a", "0.0", "9.9") "," OP("n", "10.2", "0.3") "," OP("b", "12.0", "2.0"));
    bool clash = true;

    CU_ASSERT_STRING_EQUAL(nested(trace, TL_HTA_NESTED, &clash), "0:-1 1:-1 2:1 ");
    CU_ASSERT_FALSE(clash);
    CU_ASSERT_STRING_EQUAL(nested(trace, TL_HTA_SIBLINGS, NULL), "0:-1 1:-1 2:-1 ");

    const char *meet = TRACE(OP("n", "10.2", "0.3") "," OP("z", "10.9", "0.3"));
    (void)nested(meet, TL_HTA_NESTED, &clash);
    CU_ASSERT(clash);
    (void)nested(meet, TL_HTA_SIBLINGS, &clash);
    CU_ASSERT_FALSE(clash);
}

static tl_hta_job tables(const char *text, const char *text_1, bool ns)
{
    tl_hta_job job = load(text, text_1, ns);

    settle(&job, true);
    scratch_remove_tree(scratch_path("out"));
    CU_ASSERT_EQUAL(mkdir(scratch_path("out"), 0777), 0);
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_call_graphs, scratch_path("out")), TL_OK);
    CU_ASSERT_EQUAL(write_table(&job, tl_hta_call_stacks, scratch_path("out")), TL_OK);
    return job;
}

#define HEAD "index,depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end\n"
#define THREADS "rank,pid,tid,label,stack_index,stack_root,count\n"

/*     0   1   [ aten::mm         ]          of thread 1; all times 100 later
 *     1   1    [ launch ]
 *     2   s7           [ kernel     ]       its launch is 1
 *     3   s7                         [ k ]  of the same launch
 *     4   s0             [ k ]              stream 0: in no graph
 *     5   s7               [ k ]            nobody has launched it
 */
static void kernels_count_for_all_above_them(void)
{
    tl_hta_job job = tables(TRACE(OP("aten::mm", "100", "12") "," LAUNCH("7", "101", "5") ","
                                  KERNEL("k", "7", "7", "107", "9") "," KERNEL("k", "7", "7", "118", "2") ","
                                  KERNEL("k", "0", "7", "108", "1") "," KERNEL("k", "7", "8", "109", "1")),
                            NULL, false);

    CU_ASSERT_STRING_EQUAL(content("out/callgraph_rank0.csv"), HEAD "0,0,2,-1,2,11,113,7,120\n"
                                                                    "1,1,1,0,2,11,113,7,120\n");
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_by_depth_rank0.csv"), "depth,events,num_kernels,kernel_dur_sum,dur\n"
                                                                        "0,1,2,11,12\n"
                                                                        "1,1,2,11,5\n");
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), THREADS "0,1,1,aten::mm,0,-1,1\n");
    /* The kernels stand on the thread of the host here: it is taken for a stream's. */
    CU_ASSERT_STRING_EQUAL(content("out/callstack_old_rank0.csv"), "index,depth,parent\n0,,\n1,,\n");
    CU_ASSERT_STRING_EQUAL(content("out/callstack_old_by_depth_rank0.csv"), "depth,events,dur\n");
    tl_hta_job_free(&job);
}

/* The second row of thread 9 lies in no step. */
static void the_backward_thread_goes_under_the_steps(void)
{
#define BACKWARD(second)                                                                                               \
    TRACE(ON("2", "user_annotation", "ProfilerStep#5", "0", "10", "") ","                                              \
          ON("9", "cpu_op", "autograd::engine", "2", "3", "") "," ON("9", "cpu_op", "inner", "3", "1", "") ","         \
          ON("9", "cpu_op", "late", second, "3", "") "," ON("0", "cpu_op", "nobody", "1", "1", ""))
    tl_hta_job job = tables(BACKWARD("20"), NULL, false);
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_rank0.csv"), HEAD "0,0,3,-2,0,0,0,-1,-1\n"
                                                                    "1,1,2,0,0,0,0,-1,-1\n"
                                                                    "2,2,1,1,0,0,0,-1,-1\n"
                                                                    "3,0,1,-9,0,0,0,-1,-1\n"
                                                                    "4,-1,-1,-1,0,0,0,-1,-1\n");
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), THREADS "0,1,2,main,0,-2,1\n0,1,9,bwd,1,-9,1\n");
    CU_ASSERT_STRING_EQUAL(content("out/callstack_old_rank0.csv"), "index,depth,parent\n0,0,-1\n1,0,-1\n2,1,1\n3,0,-1\n4,0,-1\n");
    tl_hta_job_free(&job);

    job = tables(BACKWARD("6"), NULL, false); /* now all of it */
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), THREADS "0,1,2,main,0,-2,1\n0,1,9,bwd,1,-2,2\n");
    tl_hta_job_free(&job);
}

/* Steps that lie in each other: the first in the file takes a row; backward passes are asked before steps. */
static void the_first_step_in_the_file_takes_a_row(void)
{
    tl_hta_job job = tables(TRACE(ON("2", "user_annotation", "ProfilerStep#5", "0", "90", "") ","
                                  ON("2", "user_annotation", "## backward ##", "10", "40", "") ","
                                  ON("2", "user_annotation", "## backward ##", "5", "60", "") ","
                                  ON("9", "cpu_op", "autograd::a", "20", "3", "") ","
                                  ON("9", "cpu_op", "autograd::b", "6", "3", "") ","
                                  ON("9", "cpu_op", "autograd::c", "70", "3", "")),
                            NULL, false);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/callgraph_rank0.csv"), "\n3,3,1,1,0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/callgraph_rank0.csv"), "\n4,2,1,2,0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("out/callgraph_rank0.csv"), "\n5,0,1,-9,0"));
    tl_hta_job_free(&job);
}

static void threads_of_all_ranks_are_numbered(void)
{
    tl_hta_job job = tables(TRACE(ON("-5", "cpu_op", "b", "0", "1", "") "," ON("-7", "cpu_op", "a", "0", "1", "")),
                            TRACE(ON("3", "cpu_op", "\\\"q\\\", r", "0", "1", "")), false);
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), THREADS "0,1,-7,a,0,-7,1\n0,1,-5,b,1,-5,1\n"
                                                                         "1,1,3,\"\"\"q\"\", r\",2,-3,1\n");
    tl_hta_job_free(&job);
}

static void what_hta_refuses_is_not_written(void)
{
    tl_hta_job job = tables(TRACE(OP("n", "10.2", "0.3") "," OP("z", "10.9", "0.3")), NULL, false);
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_rank0.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, "callgraph: rank 0: "));
    CU_ASSERT_STRING_EQUAL(content("out/callstack_old_rank0.csv"), "index,depth,parent\n0,0,-1\n1,0,-1\n");
    tl_hta_job_free(&job);

    job = tables(TRACE(OP("n", "10.2", "0.3") "," OP("z", "10.9", "0.3")), NULL, true);
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_by_depth_rank0.csv"),
                           "depth,events,num_kernels,kernel_dur_sum,dur\n0,2,0,0,0.6\n");
    tl_hta_job_free(&job);

    job = tables(TRACE(ON("\"stream 7\"", "cpu_op", "x", "1", "1", "")), TRACE(OP("y", "1", "1")), false);
    CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, "a text"));
    CU_ASSERT_STRING_EQUAL(content("out/callgraph_threads.csv"), THREADS "1,1,1,y,0,-1,1\n");
    CU_ASSERT_STRING_EQUAL(content("out/callstack_old_rank0.csv"), "index,depth,parent\n0,0,-1\n");
    tl_hta_job_free(&job);
}

/* 300,000 rows, each within the one before. */
static void deep_stacks_take_no_stack(void)
{
    const size_t n = 300000, size = n * 120 + 100;
    char *text = malloc(size);
    size_t at = (size_t)snprintf(text, size, "{\"traceEvents\": [");
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":%zu,\"dur\":%zu}",
                               i > 0 ? "," : "", i, 2 * (n - i));
    snprintf(text + at, size - at, "]}");
    tl_hta_job job = tables(text, NULL, false);
    tl_hta_job_free(&job);
    free(text);

    char last[64] = "";
    FILE *csv = fopen(scratch_path("out/callgraph_by_depth_rank0.csv"), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(csv);
    while (fgets(last, sizeof last, csv) != NULL)
        ;
    fclose(csv);
    CU_ASSERT_STRING_EQUAL(last, "299999,1,0,0,2\n");
}

static const unit_test tests[] = {
    TEST(rows_stand_in_those_that_are_open),
    TEST(equal_rows_go_by_index),
    TEST(rows_of_no_length_stand_where_hta_has_them),
    TEST(a_negative_row_ends_before_it_starts),
    TEST(kernels_count_for_all_above_them),
    TEST(the_backward_thread_goes_under_the_steps),
    TEST(the_first_step_in_the_file_takes_a_row),
    TEST(threads_of_all_ranks_are_numbered),
    TEST(what_hta_refuses_is_not_written),
    TEST(deep_stacks_take_no_stack),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta stacks", tests, COUNT(tests));
    scratch_remove();
    return status;
}
