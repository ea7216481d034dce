/* test_hta_links.c - rows and the nodes of an execution trace. */
#include "hta_trace.h"
#include "tlmpi/trace/read/execution.h"

#define NODE(name, id, rf, more) "{\"name\":\"" name "\",\"id\":" id ",\"rf_id\":" rf more "}"
#define SHAPES                                                                                                         \
    ",\"op_schema\":\"f(int a, int b)\",\"inputs\":[1,{\"a\":[2]}],\"input_shapes\":[[2,3],[]],\"input_types\":[\"Int\"]," \
    "\"output_shapes\":[],\"output_types\":[\"a'b\"]"
#define NODES(pid, nodes) "{\"schema\":\"1.0.1\"," pid "\"nodes\":[" nodes "],\"finish_ts\":9}"
#define LINKED(cat, name, id) ENTRY(cat, name, "1", "2", "\"External id\":" id)
#define RUN                                                                                                            \
    TRACE(LINKED("cpu_op", "a", "5") "," LINKED("user_annotation", "b", "6") "," LINKED("kernel", "k", "5") ","          \
          LINKED("cpu_op", "c", "9") "," LINKED("cpu_op", "d", "\"5\"") "," OP("e", "3", "1"))
#define HEAD                                                                                                           \
    "index,s_name,external_id,et_node,et_node_name,op_schema,input_shapes,input_types,output_shapes,output_types\n"

/* The table of the run with these nodes, and the notes. */
static const char *linked(const char *run, const char *nodes, tl_hta_job *job)
{
    tl_hta_file file = { scratch_text("rank0.json", run), 0 };
    tl_hta_options options = { .files = &file, .nfiles = 1, .execution_trace = scratch_text("nodes.json", nodes) };

    *job = (tl_hta_job){ .zero = 0 };
    tl_hta_job_load(job, &options);
    CU_ASSERT_FALSE_FATAL(tl_csv_failed(&job->out));
    settle(job, false);
    (void)remove(scratch_path("execution_trace_links.csv"));
    CU_ASSERT_EQUAL(write_table(job, tl_hta_execution_trace_links, scratch_folder), TL_OK);
    tl_vec_room(&job->out.notes);
    job->out.notes.v[job->out.notes.n] = '\0';
    return content("execution_trace_links.csv");
}

static void rows_of_the_host_have_the_node_of_their_number(void)
{
    tl_hta_job job;
    CU_ASSERT_STRING_EQUAL(linked(RUN,
                                  NODES("\"pid\":1,", NODE("[thread]", "1", "0", ",\"x\":\"execution_trace|thread\"") ","
                                        NODE("old", "2", "5", "") "," NODE("n\\\"a", "3", "5", SHAPES) ","
                                        NODE("b", "4", "6", "")),
                                  &job),
                           HEAD "0,a,5,3,\"n\"\"a\",\"f(int a, int b)\",\"[[2, 3], []]\",['Int'],[],\"[\"\"a'b\"\"]\"\n"
                                "1,b,6,4,b,,,,,\n");
    CU_ASSERT_STRING_EQUAL(job.out.notes.v, "");
    tl_hta_job_free(&job);
}

static void nodes_of_the_newer_schema_are_read_too(void)
{
    const char *nodes =
        NODES("", "{\"id\":3,\"name\":\"a\",\"ctrl_deps\":2,\"inputs\":{\"values\":[1],\"shapes\":[[2,3],[]],"
                  "\"types\":[\"Int\"]},\"outputs\":{\"shapes\":[],\"types\":[\"a'b\"]},\"attrs\":[{\"name\":\"rf_id\","
                  "\"type\":\"uint64\",\"value\":5},{\"name\":\"op_schema\",\"value\":\"f(int a)\"}]}");
    tl_hta_job job;
    tl_exec exec = { .found = false };
    tl_error err;

    CU_ASSERT_STRING_EQUAL(linked(RUN, nodes, &job),
                           HEAD "0,a,5,3,a,f(int a),\"[[2, 3], []]\",['Int'],[],\"[\"\"a'b\"\"]\"\n");
    tl_hta_job_free(&job);
    CU_ASSERT_EQUAL(tl_exec_read(scratch_path("nodes.json"), 0, &exec, &err), TL_OK);
    CU_ASSERT_EQUAL(exec.nodes.v[0].parent, 2);
    CU_ASSERT_EQUAL(exec.nodes.v[0].texts[TL_EXEC_INPUT_SHAPES], TL_NO_NAME);
    tl_exec_free(&exec);
}

static void the_fault_has_its_byte(void)
{
    static const struct {
        const char *text, *fault;
        bool cut;
    } cases[] = {
        { "{\"nodes\":[{\"id\":1]", "byte 17: expected ',' or '}'", false },
        { "{\"nodes\":[", "byte 10: expected a value or ']'", true },
        { "", "byte 0: expected a value", true },
        { "{\"nodes\":[]} {}", "byte 13: expected the end of the file", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_exec exec = { .found = false };
        tl_error err;
        CU_ASSERT_EQUAL(tl_exec_read(scratch_text("nodes.json", cases[i].text), 0, &exec, &err), TL_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(exec.fault, cases[i].fault));
        CU_ASSERT(exec.damaged && exec.cut == cases[i].cut);
        tl_exec_free(&exec);
    }
}

static void what_cannot_be_linked_is_a_note(void)
{
    static const struct {
        const char *nodes, *why;
    } cases[] = {
        { NODES("", NODE("a", "1", "50", "")), "not all among" },
        { NODES("\"pid\":77,", NODE("a", "1", "5", "")), "no trace has a row of its process" },
        { NODES("", ""), "no node has" },
        { NODES("", "{\"name\":\"new\",\"id\":1,\"attrs\":[{\"name\":\"rf\",\"value\":5}]}"), "no node has" },
        { "{\"other\":{\"nodes\":[" NODE("a", "1", "5", "") "]}}", "no node has" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_hta_job job;
        CU_ASSERT_STRING_EQUAL(linked(RUN, cases[i].nodes, &job), "(no file)");
        CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, cases[i].why));
        CU_ASSERT(job.incomplete);
        tl_hta_job_free(&job);
    }
}

/* The nodes of threads are not looked at for the range. */
static void the_nodes_of_threads_are_none_of_the_run(void)
{
    tl_hta_job job;
    CU_ASSERT_STRING_EQUAL(linked(TRACE(LINKED("cpu_op", "a", "5")),
                                  NODES("", NODE("[pytorch|profiler|execution_trace|thread]", "1", "0", "") ","
                                        NODE("a", "3", "5", "")),
                                  &job),
                           HEAD "0,a,5,3,a,,,,,\n");
    tl_hta_job_free(&job);
}

static void what_is_left_of_a_damaged_file_is_used(void)
{
    const char *whole = NODES("", NODE("a", "3", "5", "") "," NODE("b", "4", "6", SHAPES));
    for (size_t n = 0; n < strlen(whole); n++) {
        char cut[512];
        tl_hta_job job;
        snprintf(cut, sizeof cut, "%.*s", (int)n, whole);
        (void)linked(RUN, cut, &job);
        CU_ASSERT_PTR_NOT_NULL(strstr(job.out.notes.v, "damaged"));
        CU_ASSERT(job.incomplete);
        tl_hta_job_free(&job);
        snprintf(cut, sizeof cut, "%.*s\x01%s", (int)n, whole, whole + n);
        (void)linked(RUN, cut, &job);
        tl_hta_job_free(&job);
    }
}

static void an_execution_trace_is_known_by_its_nodes(void)
{
    CU_ASSERT(tl_exec_is(scratch_text("x.json", NODES("", ""))));
    CU_ASSERT_FALSE(tl_exec_is(scratch_text("x.json", RUN)));
    CU_ASSERT_FALSE(tl_exec_is(scratch_text("x.json", "{\"nodes\": {}}")));
    CU_ASSERT_FALSE(tl_exec_is(scratch_text("x.json", "{\"a\": [\"nodes\", []]}")));
    CU_ASSERT_FALSE(tl_exec_is(scratch_text("x.json", "nodes")));
    CU_ASSERT_FALSE(tl_exec_is(scratch_path("not there")));
}

static const unit_test tests[] = {
    TEST(rows_of_the_host_have_the_node_of_their_number),
    TEST(nodes_of_the_newer_schema_are_read_too),
    TEST(the_fault_has_its_byte),
    TEST(what_cannot_be_linked_is_a_note),
    TEST(the_nodes_of_threads_are_none_of_the_run),
    TEST(what_is_left_of_a_damaged_file_is_used),
    TEST(an_execution_trace_is_known_by_its_nodes),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta links", tests, COUNT(tests));
    scratch_remove();
    return status;
}
