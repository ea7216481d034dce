/* test_meta.c - what a trace says about itself, in every spelling that has been met. */
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/meta.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tl_error err;

static tl_status parse(const char *text, tl_meta *meta)
{
    *meta = (tl_meta)TL_META_INIT;
    err = (tl_error){ 0 };
    return tl_meta_parse(text, strlen(text), meta, &err);
}

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

static void what_was_read_before_a_fault_stays(void)
{
    static const char *const endings[] = { "",         "\"pg", ", \"x\": [[",     ", \"x\": }",
                                           ", \"\xff", ", 5",  ", \"a\" \"b\"}}", "]" };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char text[128];
        tl_meta m;
        snprintf(text, sizeof text, "{\"baseTimeNanoseconds\": 12, \"distributedInfo\": {\"rank\": 3%s", endings[i]);
        if (i == 1)
            snprintf(text, sizeof text, "{\"baseTimeNanoseconds\": 12, \"distributedInfo\": {\"rank\": 3, %s",
                     endings[i]);
        CU_ASSERT_EQUAL(parse(text, &m), TL_EINPUT);
        CU_ASSERT_EQUAL(m.base_ns, 12);
        CU_ASSERT_EQUAL(m.rank, i == 0 ? -1 : 3);       /* without a sign behind it, the 3 may be a 34 */
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "byte "));
        CU_ASSERT_PTR_NULL(strchr(err.text, '\n'));
        tl_meta_free(&m);
    }
    tl_meta m;
    CU_ASSERT_EQUAL(parse("", &m), TL_EINPUT);
    CU_ASSERT_EQUAL(parse("nonsense", &m), TL_EINPUT);
    m = (tl_meta)TL_META_INIT;
    CU_ASSERT_EQUAL(tl_meta_parse(NULL, 0, &m, NULL), TL_EINPUT);
}

static void almost_json_is_read(void)
{
    static const char *const oddities[] = {
        "\"x\": NaN", "\"x\": inf", "\"x\": -inf", "\"x\": Infinity", "\"x\": N/A", "\"x\": \"a\tb\nc\x01\"",
        "\"x\": \"\xff\xfe\"", "\"x\": [1, 2,]", "\"\x02\": 1", "\"x\": \"C:\\Users\"",
    };
    for (size_t i = 0; i < sizeof oddities / sizeof oddities[0]; i++) {
        char text[256];
        tl_meta m;
        snprintf(text, sizeof text,
                 "\xEF\xBB\xBF{%s, \"distributedInfo\": {\"rank\": 3, \"pg_config\": [{\"ranks\": [4]}]},"
                 " \"deviceProperties\": [{}]}\n",
                 oddities[i]);
        CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
        CU_ASSERT_EQUAL(m.rank, 3);
        CU_ASSERT_EQUAL(m.ndevices, 1);
        CU_ASSERT_EQUAL(m.groups.n, 1);
        tl_meta_free(&m);
    }
}

static void long_and_hostile_texts_are_cut_and_harmless(void)
{
    static char text[4096];
    tl_meta m;
    strcpy(text, "{\"deviceProperties\": [{\"name\": \"");
    for (int i = 0; i < 300; i++)
        strcat(text, "\xC3\xA4");
    strcat(text, "\"}], \"distributedInfo\": {\"backend\": \"a\\u001b[31m\\u0000b\"}, \"host_name\": \"\xff\"}");
    CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
    CU_ASSERT_EQUAL(strlen(m.device), 62);              /* 31 whole characters fit in 63 bytes */
    CU_ASSERT_PTR_NULL(strchr(m.backend, '\x1b'));
    CU_ASSERT_STRING_EQUAL(m.host, "?");
    tl_meta_free(&m);
}

static void deep_nesting_is_passed_over(void)
{
    const size_t depth = 1000000;
    static const char head[] = "{\"distributedInfo\": {\"rank\": 3, \"x\": ", tail[] = ", \"world_size\": 4}}";
    char *text = malloc(sizeof head + sizeof tail + 2 * depth);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    strcpy(text, head);
    memset(text + strlen(head), '[', depth);
    memset(text + strlen(head) + depth, ']', depth);
    strcpy(text + strlen(head) + 2 * depth, tail);
    tl_meta m;
    CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
    CU_ASSERT_EQUAL(m.rank, 3);
    CU_ASSERT_EQUAL(m.world_size, 4);
    tl_meta_free(&m);
    text[strlen(head) + depth] = '\0';
    CU_ASSERT_EQUAL(parse(text, &m), TL_EINPUT);
    CU_ASSERT_EQUAL(m.rank, 3);
    tl_meta_free(&m);
    free(text);
}

static void there_is_an_end_to_groups_and_ranks(void)
{
    const size_t many = 70000, more = (size_t)17 << 20;
    char *text = malloc(2 * more + 4096);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    tl_meta m;

    size_t n = (size_t)sprintf(text, "{\"distributedInfo\": {\"pg_config\": [{}");
    for (size_t i = 1; i < many; i++)
        n += (size_t)sprintf(text + n, ",{\"ranks\":[1]}");
    strcpy(text + n, "], \"rank\": 3}}");
    CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
    CU_ASSERT_EQUAL(m.groups.n, 65536);
    CU_ASSERT_EQUAL(m.rank, 3);
    tl_meta_free(&m);

    n = (size_t)sprintf(text, "{\"distributedInfo\": {\"pg_config\": [{\"ranks\": [0");
    for (size_t i = 1; i < more; i++, n += 2)
        memcpy(text + n, ",1", 2);
    strcpy(text + n, "]}, {\"ranks\": [2]}], \"rank\": 3}}");
    CU_ASSERT_EQUAL(parse(text, &m), TL_OK);
    CU_ASSERT_EQUAL_FATAL(m.groups.n, 2);
    CU_ASSERT_EQUAL(m.groups.v[0].nranks, (size_t)16 << 20);
    CU_ASSERT_EQUAL(m.groups.v[1].nranks, 0);
    CU_ASSERT_EQUAL(m.rank, 3);
    tl_meta_free(&m);
    free(text);
}

static void one_object_may_stand_alone(void)
{
    static const char text[] = "{\"rank\": 5, \"world_size\": \"6\", \"pg_config\": [{\"pg_name\": \"0\"}]}";
    tl_meta m = TL_META_INIT;
    CU_ASSERT_EQUAL(tl_meta_parse_distributed(text, strlen(text), &m, NULL), TL_OK);
    CU_ASSERT_EQUAL(m.rank, 5);
    CU_ASSERT_EQUAL(m.world_size, 6);
    CU_ASSERT_EQUAL(m.groups.n, 1);
    CU_ASSERT_EQUAL(tl_meta_parse_distributed(text, strlen(text) - 1, &m, NULL), TL_EINPUT);
    CU_ASSERT_EQUAL(m.rank, 5);
    tl_meta_free(&m);
}

static void no_memory_is_said_and_nothing_leaks(void)
{
    static const char text[] =
        "{\"x\": NaN, \"distributedInfo\": {\"pg_config\": {\"a\": [0, 1], \"b\": {\"pg_name\": \"c\","
        " \"pg_desc\": \"d\", \"ranks\": \"[1]\"}}}}";
    int failed = 0;
    for (size_t k = 1; k < 40; k++) {
        tl_meta m = TL_META_INIT;
        err = (tl_error){ 0 };
        tl_mem_fail_after(k);
        tl_status st = tl_meta_parse(text, strlen(text), &m, &err);
        tl_mem_fail_after(0);
        CU_ASSERT(st == TL_OK || (st == TL_ENOMEM && err.status == TL_ENOMEM));
        failed += st != TL_OK;
        tl_meta_free(&m);
    }
    CU_ASSERT(failed > 5 && failed < 39);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("meta", NULL, NULL);
    CU_ADD_TEST(s, a_document_of_kineto_is_understood);
    CU_ADD_TEST(s, an_empty_document_says_nothing);
    CU_ADD_TEST(s, numbers_may_be_texts);
    CU_ADD_TEST(s, lists_of_ranks_may_be_texts);
    CU_ADD_TEST(s, groups_may_be_a_map);
    CU_ADD_TEST(s, of_equal_keys_the_last_counts);
    CU_ADD_TEST(s, the_first_rank_that_is_told_counts);
    CU_ADD_TEST(s, a_base_that_is_none_is_noted);
    CU_ADD_TEST(s, keys_count_only_where_they_belong);
    CU_ADD_TEST(s, what_was_read_before_a_fault_stays);
    CU_ADD_TEST(s, almost_json_is_read);
    CU_ADD_TEST(s, long_and_hostile_texts_are_cut_and_harmless);
    CU_ADD_TEST(s, deep_nesting_is_passed_over);
    CU_ADD_TEST(s, there_is_an_end_to_groups_and_ranks);
    CU_ADD_TEST(s, one_object_may_stand_alone);
    CU_ADD_TEST(s, no_memory_is_said_and_nothing_leaks);
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
