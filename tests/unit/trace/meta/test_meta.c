/* test_meta.c - what a trace says about itself, in every spelling that has been met. */
#include "meta_text.h"

static bool ranks_are(const tl_pg_config *g, const int32_t *ranks, size_t n)
{
    return g->nranks == n && (n == 0 || memcmp(g->ranks, ranks, n * sizeof *ranks) == 0);
}

static void a_document_of_kineto_is_understood(void)
{
    tl_meta m;
    static const int32_t two[] = { 0, 1 };
    CU_ASSERT_EQUAL(
        parse("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n"
              "    {\"id\": 0, \"name\": \"NVIDIA H100\", \"numSms\": 132},\n"
              "    {\"id\": 1, \"name\": \"another\"}],\n"
              "  \"distributedInfo\": {\"backend\": \"cpu:gloo,cuda:nccl\", \"rank\": 3, \"world_size\": 8,\n"
              "    \"pg_count\": 2, \"pg_config\": [\n"
              "      {\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"pg_size\": 2, \"ranks\": [0, 1]},\n"
              "      {\"pg_name\": 7, \"ranks\": []}], \"nccl_version\": \"2.21.5\"},\n"
              "  \"displayTimeUnit\": \"ms\", \"host_name\": \"node-17\",\n"
              "  \"baseTimeNanoseconds\": 1767189312000000000,\n"
              "  \"traceEvents\": [],\n  \"traceName\": \"/tmp/x.json\"}",
              &m),
        TL_OK);
    CU_ASSERT_EQUAL(m.rank, 3);
    CU_ASSERT_EQUAL(m.world_size, 8);
    CU_ASSERT_TRUE(m.has_base);
    CU_ASSERT_EQUAL(m.base_ns, INT64_C(1767189312000000000));
    CU_ASSERT_EQUAL(m.ndevices, 2);
    CU_ASSERT_STRING_EQUAL(m.device, "NVIDIA H100");
    CU_ASSERT_STRING_EQUAL(m.backend, "cpu:gloo,cuda:nccl");
    CU_ASSERT_STRING_EQUAL(m.host, "node-17");
    CU_ASSERT_STRING_EQUAL(m.trace_name, "/tmp/x.json");
    CU_ASSERT_FALSE(m.has_schema || m.has_nodes);
    CU_ASSERT_EQUAL_FATAL(m.groups.n, 2);
    CU_ASSERT_STRING_EQUAL(m.groups.v[0].name, "0");
    CU_ASSERT_STRING_EQUAL(m.groups.v[0].desc, "default_pg");
    CU_ASSERT(ranks_are(&m.groups.v[0], two, 2));
    CU_ASSERT_STRING_EQUAL(m.groups.v[1].name, "7");
    CU_ASSERT_PTR_NULL(m.groups.v[1].desc);
    CU_ASSERT_EQUAL(m.groups.v[1].nranks, 0);
    tl_meta_free(&m);
    CU_ASSERT_EQUAL(m.rank, -1);
}

static void an_empty_document_says_nothing(void)
{
    tl_meta m;
    CU_ASSERT_EQUAL(parse("{}", &m), TL_OK);
    CU_ASSERT(m.rank == -1 && m.world_size == -1 && m.ndevices == -1 && !m.has_base && m.base_ns == 0);
    CU_ASSERT(m.device[0] == 0 && m.backend[0] == 0 && m.host[0] == 0 && m.trace_name[0] == 0 && m.groups.n == 0);
    tl_meta_free(&m);
    CU_ASSERT_EQUAL(parse("{\"deviceProperties\": []}", &m), TL_OK);
    CU_ASSERT_EQUAL(m.ndevices, 0);
    tl_meta_free(&m);
}

static void numbers_may_be_texts(void)
{
    static const struct {
        const char *text;
        int64_t rank;
    } cases[] = {
        { "5", 5 }, { "\"5\"", 5 }, { "5.0", 5 }, { "-1", -1 }, { "5.5", -1 }, { "\"five\"", -1 }, { "\"\"", -1 },
        { "null", -1 }, { "true", -1 }, { "[5]", -1 }, { "{\"rank\": 5}", -1 }, { "4294967296", -1 },
        { "99999999999999999999", -1 }, { "2147483647", 2147483647 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        tl_meta m;
        snprintf(text, sizeof text, "{\"distributedInfo\": {\"rank\": %s, \"world_size\": 2}}", cases[i].text);
        CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
        CU_ASSERT_EQUAL(m.rank, cases[i].rank);
        CU_ASSERT_EQUAL(m.world_size, 2);
        tl_meta_free(&m);
    }
    tl_meta m;
    CU_ASSERT_EQUAL(parse("{\"baseTimeNanoseconds\": \"1767189312000000001\"}", &m), TL_OK);
    CU_ASSERT_EQUAL(m.base_ns, INT64_C(1767189312000000001));
    tl_meta_free(&m);
    CU_ASSERT_EQUAL(parse("{\"baseTimeNanoseconds\": 2305843009213693951}", &m), TL_OK);
    CU_ASSERT_EQUAL(m.base_ns, TL_BASE_LIMIT - 1);
    tl_meta_free(&m);
    /* With a ts and a dur of the largest such a base would overflow. */
    static const char *const none[] = { "2305843009213693952", "4611686018427387904", "9223372036854775807", "99999999999999999999", "-1" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"baseTimeNanoseconds\": %s}", none[i]);
        CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
        CU_ASSERT_FALSE(m.has_base);
        tl_meta_free(&m);
    }
}

static void lists_of_ranks_may_be_texts(void)
{
    static const int32_t ranks[] = { 0, 1, 2, 30 };
    static const char *const spellings[] = {
        "[0, 1, 2, 30]", "[\"0\", \"1\", 2.0, 30]", "\"[0, 1, 2, 30]\"", "\"[0,1,2,30]\"", "\"[0, 1, 2, ..., 30]\"",
        "\"[0, 1, 2, 30, ...]\"", "\"0 1 2 30\"", "[0, 1, -5, 2, [9], {\"ranks\": [8]}, null, 30]", "\"[0, 1, 2, 30\"",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char text[256];
        tl_meta m;
        snprintf(text, sizeof text, "{\"distributedInfo\": {\"pg_config\": [{\"ranks\": %s, \"pg_name\": \"x\"}]}}",
                 spellings[i]);
        CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
        CU_ASSERT_EQUAL_FATAL(m.groups.n, 1);
        CU_ASSERT(ranks_are(&m.groups.v[0], ranks, 4));
        CU_ASSERT_STRING_EQUAL(m.groups.v[0].name, "x");
        tl_meta_free(&m);
    }
}

static void groups_may_be_a_map(void)
{
    tl_meta m;
    static const int32_t low[] = { 0, 1 }, high[] = { 2, 3 };
    CU_ASSERT_EQUAL(
        parse("{\"distributedInfo\": {\"pg_config\": {\"\\u0061\": {\"ranks\": [0, 1], \"pg_desc\": \"d\"},"
              " \"b\": [2, 3], \"c\\n\": \"[0,\\u00201]\", \"d\": {\"pg_name\": \"e\"}, \"f\": 4, \"g\": null}}}",
              &m),
        TL_OK);
    CU_ASSERT_EQUAL_FATAL(m.groups.n, 4);
    CU_ASSERT_STRING_EQUAL(m.groups.v[0].name, "a");
    CU_ASSERT_STRING_EQUAL(m.groups.v[0].desc, "d");
    CU_ASSERT(ranks_are(&m.groups.v[0], low, 2));
    CU_ASSERT_STRING_EQUAL(m.groups.v[1].name, "b");
    CU_ASSERT(ranks_are(&m.groups.v[1], high, 2));
    CU_ASSERT_STRING_EQUAL(m.groups.v[2].name, "c\n");
    CU_ASSERT(ranks_are(&m.groups.v[2], low, 2));
    CU_ASSERT_STRING_EQUAL(m.groups.v[3].name, "e");
    tl_meta_free(&m);
}

static void of_equal_keys_the_last_counts(void)
{
    tl_meta m;
    static const int32_t last[] = { 4 };
    CU_ASSERT_EQUAL(
        parse("{\"distributedInfo\": {\"rank\": 1, \"rank\": 2, \"pg_config\": [{\"ranks\": [1]}, {\"ranks\": [2]}],"
              " \"pg_config\": [{\"pg_name\": \"a\", \"pg_name\": \"b\", \"ranks\": [3, 3], \"ranks\": [4]}]},"
              " \"deviceProperties\": [{}, {}, {}], \"deviceProperties\": [{\"name\": \"y\"}]}",
              &m),
        TL_OK);
    CU_ASSERT_EQUAL(m.rank, 2);
    CU_ASSERT_EQUAL(m.ndevices, 1);
    CU_ASSERT_STRING_EQUAL(m.device, "y");
    CU_ASSERT_EQUAL_FATAL(m.groups.n, 1);
    CU_ASSERT_STRING_EQUAL(m.groups.v[0].name, "b");
    CU_ASSERT(ranks_are(&m.groups.v[0], last, 1));
    tl_meta_free(&m);
}

static void the_first_rank_that_is_told_counts(void)
{
    tl_meta m;
    CU_ASSERT_EQUAL(parse("{\"distributedInfo\": {\"world_size\": 3}, \"distributedInfo\": {\"rank\": 1, \"world_size\": 4},"
                          " \"traceEvents\": [], \"distributedInfo\": {\"rank\": 5, \"world_size\": 16, \"pg_config\": [{}]}}",
                          &m),
                    TL_OK);
    CU_ASSERT_EQUAL(m.rank, 1);
    CU_ASSERT_EQUAL(m.world_size, 4);
    CU_ASSERT_EQUAL(m.groups.n, 0);
    tl_meta_free(&m);
}

static void a_base_that_is_none_is_noted(void)
{
    static const struct {
        const char *text;
        bool bad, has;
    } cases[] = {
        { "{\"baseTimeNanoseconds\": 7}", false, true },
        { "{\"baseTimeNanoseconds\": \"7\"}", false, true },
        { "{\"x\": {\"baseTimeNanoseconds\": -5}}", false, false },
        { "{\"baseTimeNanoseconds\": -5}", true, false },
        { "{\"baseTimeNanoseconds\": 99999999999999999999}", true, false },
        { "{\"baseTimeNanoseconds\": \"soon\"}", true, false },
        { "{\"baseTimeNanoseconds\": null}", true, false },
        { "{\"baseTimeNanoseconds\": [1]}", true, false },
        { "{\"baseTimeNanoseconds\": {\"x\": 1}}", true, false },
        { "{\"baseTimeNanoseconds\": NaN}", true, false },
        { "{\"baseTimeNanoseconds\": -5, \"baseTimeNanoseconds\": 7}", false, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_meta m;
        (void)parse(cases[i].text, &m);
        CU_ASSERT_EQUAL(m.bad_base, cases[i].bad);
        CU_ASSERT_EQUAL(m.has_base, cases[i].has);
        tl_meta_free(&m);
    }
}

static void versions_of_libraries_are_told(void)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        { "{}", "" },
        { "{\"cuda_runtime_version\": 12040, \"cuda_driver_version\": 12090, \"cupti_version\": 22, \"distributedInfo\": "
          "{\"nccl_version\": \"2.21.5\"}}",
          "CUDA 12.4, CUDA driver 12.9, NCCL 2.21.5, CUPTI 22" },
        { "{\"hip_runtime_version\": 60443483, \"hip_driver_version\": 60443483, \"nccl_version\": \"of no group\"}",
          "HIP 6.4.43483, HIP driver 6.4.43483" },
        { "{\"pytorch_version\": \"2.7.0+cu126\", \"cuda_runtime_version\": \"12.6\"}", "PyTorch 2.7.0+cu126, CUDA 12.6" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_meta m;
        char told[256];
        CU_ASSERT_EQUAL(parse(cases[i].text, &m), TL_OK);
        tl_meta_libraries(&m, told, sizeof told);
        CU_ASSERT_STRING_EQUAL(told, cases[i].told);
        tl_meta_libraries(&m, told, 8);
        CU_ASSERT_EQUAL(strlen(told), strlen(cases[i].told) < 7 ? strlen(cases[i].told) : 7);
        tl_meta_free(&m);
    }
}

static void keys_count_only_where_they_belong(void)
{
    tl_meta m;
    CU_ASSERT_EQUAL(
        parse("{\"rank\": 9, \"world_size\": 9, \"metadata\": {\"distributedInfo\": {\"rank\": 8}, \"schema\": 1,"
              " \"nodes\": [], \"host_name\": \"no\", \"baseTimeNanoseconds\": 5},"
              " \"x\": [[{\"distributedInfo\": {\"rank\": 7}}]], \"distributedInfo\": {\"more\": {\"rank\": 6},"
              " \"traceName\": \"no\", \"pg_configs\": [{\"pg_name\": \"no\"}], \"hostname\": \"yes\"}}",
              &m),
        TL_OK);
    CU_ASSERT(m.rank == -1 && m.world_size == -1 && !m.has_base && !m.has_schema && !m.has_nodes && m.groups.n == 0);
    CU_ASSERT_STRING_EQUAL(m.trace_name, "");
    CU_ASSERT_STRING_EQUAL(m.host, "yes");
    tl_meta_free(&m);
    CU_ASSERT_EQUAL(parse("{\"schema\": \"1.0.1\", \"nodes\": [{}]}", &m), TL_OK);
    CU_ASSERT_TRUE(m.has_schema && m.has_nodes);
    tl_meta_free(&m);
    CU_ASSERT_EQUAL(parse("[{\"distributedInfo\": {\"rank\": 7}}]", &m), TL_OK);
    CU_ASSERT_EQUAL(m.rank, -1);
    tl_meta_free(&m);
}

/* A tail is read into what the head has told. */
static void a_rank_that_another_text_told_stays(void)
{
    static const char tail[] = "{\"distributedInfo\": {\"rank\": 6, \"world_size\": 9}, \"baseTimeNanoseconds\": 7}";
    tl_meta m;
    CU_ASSERT_EQUAL(parse("{\"distributedInfo\": {\"rank\": 5, \"world_size\": 8}}", &m), TL_OK);
    CU_ASSERT_EQUAL(tl_meta_parse(tail, strlen(tail), &m, NULL), TL_OK);
    CU_ASSERT_EQUAL(m.rank, 5);
    CU_ASSERT_EQUAL(m.world_size, 8);
    CU_ASSERT_EQUAL(m.base_ns, 7);
    tl_meta_free(&m);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_document_of_kineto_is_understood),
        TEST(an_empty_document_says_nothing),
        TEST(numbers_may_be_texts),
        TEST(lists_of_ranks_may_be_texts),
        TEST(groups_may_be_a_map),
        TEST(of_equal_keys_the_last_counts),
        TEST(the_first_rank_that_is_told_counts),
        TEST(a_base_that_is_none_is_noted),
        TEST(keys_count_only_where_they_belong),
        TEST(versions_of_libraries_are_told),
        TEST(a_rank_that_another_text_told_stays),
    };
    return unit_main("meta", tests, COUNT(tests));
}
