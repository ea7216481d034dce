/* test_meta_odd.c - what is read of a document that is damaged, long, deep, or made to do harm. */
#include "meta_text.h"

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
        CU_ASSERT_EQUAL(m.rank, i == 0 ? -1 : 3);       /* without a sign after it, the 3 may be a 34 */
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
    CU_ASSERT_STRING_EQUAL(m.host, "\xEF\xBF\xBD");
    tl_meta_free(&m);
}

static void deep_nesting_is_passed_over(void)
{
    const size_t depth = 200000; /* a recursive reader needs more than 8 MB of stack */
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

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_was_read_before_a_fault_stays),
        TEST(almost_json_is_read),
        TEST(long_and_hostile_texts_are_cut_and_harmless),
        TEST(deep_nesting_is_passed_over),
        TEST(there_is_an_end_to_groups_and_ranks),
    };
    return unit_main("meta_odd", tests, COUNT(tests));
}
