/* test_json.c - what stands in an object or array, as it is written. */
#include "tlmpi/trace/text/json.h"
#include "unit.h"

static tl_text text(const char *words)
{
    return (tl_text){ words, strlen(words) };
}

/* "key=value;" for each member. */
static const char *members(const char *json)
{
    static char out[512];
    tl_text rest = tl_json_inside(text(json)), key, value;
    int n = 0;

    out[0] = '\0';
    while (tl_json_member(&rest, &key, &value) && n < 400)
        n += snprintf(out + n, sizeof out - (size_t)n, "%.*s=%.*s;", (int)key.n, key.p, (int)value.n, value.p);
    return out;
}

static const char *elements(const char *json)
{
    static char out[512];
    tl_text rest = tl_json_inside(text(json)), value;
    int n = 0;

    out[0] = '\0';
    while (tl_json_element(&rest, &value) && n < 400)
        n += snprintf(out + n, sizeof out - (size_t)n, "%.*s;", (int)value.n, value.p);
    return out;
}

static void members_come_in_their_order(void)
{
    CU_ASSERT_STRING_EQUAL(members("{}"), "");
    CU_ASSERT_STRING_EQUAL(members("{\"a\":1}"), "a=1;");
    CU_ASSERT_STRING_EQUAL(members("{ \"a\" : -1.5e3 ,\n\"b\":\"x, }\\\" y\",\"\":null}"), "a=-1.5e3;b=\"x, }\\\" y\";=null;");
    CU_ASSERT_STRING_EQUAL(members("{\"a\":{\"b\":[1,{\"c\":\"]}\"}]},\"d\":[]}"), "a={\"b\":[1,{\"c\":\"]}\"}]};d=[];");
    CU_ASSERT_STRING_EQUAL(elements("[1,[2,3] , \"a,b\",{\"c\":4},true]"), "1;[2,3];\"a,b\";{\"c\":4};true;");
    CU_ASSERT_STRING_EQUAL(elements("[]"), "");
}

static void what_is_none_has_no_members(void)
{
    static const char *const odd[] = { "", "{", "}", "[1]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"}", "\"{}\"", "{:}" };
    for (size_t i = 0; i < COUNT(odd); i++)
        CU_ASSERT_STRING_EQUAL(members(odd[i]), "");
    CU_ASSERT_STRING_EQUAL(members("{\"a\":1,\"b}"), "a=1;");
    CU_ASSERT_STRING_EQUAL(members("{\"a\":[1,\"b\":2}"), "a=[1,\"b\":2;");
}

static void a_value_is_found_by_its_key(void)
{
    const tl_text object = text("{\"a\":1,\"b\":{\"a\":2},\"a\":\"3\"}");
    CU_ASSERT(tl_text_is(tl_json_value(object, "a"), "\"3\""));
    CU_ASSERT(tl_text_is(tl_json_string(tl_json_value(object, "a")), "3"));
    CU_ASSERT(tl_text_is(tl_json_value(tl_json_value(object, "b"), "a"), "2"));
    CU_ASSERT(tl_text_is(tl_json_value(object, "c"), ""));
    CU_ASSERT(tl_text_is(tl_json_string(text("3")), ""));
    CU_ASSERT(tl_text_is(tl_json_string(text("\"")), ""));
}

static const unit_test tests[] = {
    TEST(members_come_in_their_order),
    TEST(what_is_none_has_no_members),
    TEST(a_value_is_found_by_its_key),
};

int main(void)
{
    return unit_main("json", tests, COUNT(tests));
}
