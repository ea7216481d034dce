/* test_grammar.c - where a text stops being JSON; and that this is what the careful reader of entries says, too. */
#include "tlmpi/trace/event/fields.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/json.h"
#include "unit.h"
#include <stdlib.h>

/* How many bytes of the text are taken; *over: the value ends there. */
static size_t taken(const char *text, size_t n, bool *over)
{
    tl_grammar g = { 0 };
    size_t k = tl_grammar_run(&g, text, n);
    *over = tl_grammar_is_over(&g);
    tl_grammar_free(&g);
    return k;
}

/* The '!' in a case stands before the byte that cannot be there; without one the text is a value. */
static void a_fault_has_its_byte(void)
{
    static const char *const cases[] = {
        "{}",
        "{\"a\":[1,-2.5e+3,{\"b\":\"c\\\"}\"}],\"d\":true}",
        "[ ]",
        "{\"a\": nan(0x1), \"b\": -inf, \"c\": N/A, \"d\": +5, \"e\": [1,], \"f\": {\"g\": 1,},}",
        "{,}",
        "[,]",
        "{\"a\":!}",
        "{\"a\"!,1}",
        "{\"a\":1!\"b\":2}",
        "{\"a\":1,!1:2}",
        "{\"a\":\"un\"!quoted\" b\"}",
        "{\"a\":[1,2!}",
        "{\"a\":{\"b\":1!]}",
        "{\"a\":12!ab}",
        "{\"a\":0!1}",
        "{\"a\":1.!}",
        "{\"a\":1.5!.2}",
        "{\"a\":1e!}",
        "{\"a\":1e+!x}",
        "{\"a\":-!,\"b\":1}",
        "{\"a\":+!+5}",
        "{\"a\":!.5}",
        "{\"a\":1,!,\"b\":1}",
        "{\"a\":x!@}",
        "{\"a\":\v1\f}",
        "!@",
        "{!\x01}",
        "{\"a\x01\xff\\q\":1}",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *mark = strchr(cases[i], '!');
        size_t at = mark != NULL ? (size_t)(mark - cases[i]) : strlen(cases[i]);
        char whole[128];
        bool over;
        snprintf(whole, sizeof whole, "%.*s%s", (int)at, cases[i], mark != NULL ? mark + 1 : "");
        size_t n = taken(whole, strlen(whole), &over);
        CU_ASSERT_EQUAL(n, at);
        CU_ASSERT_EQUAL(over, mark == NULL);
        if (n != at || over != (mark == NULL))
            printf("\n%s: %zu\n", cases[i], n);
    }
}

static void it_says_what_it_wants(void)
{
    static const struct {
        const char *text, *wants;
    } cases[] = {
        { "{\"a\" ", "':' after a key" },
        { "{\"a\": ", "a value" },
        { "{\"a\": 12", "',' or '}' after a value" },
        { "[\"x\"", "',' or ']' after a value" },
        { "{\"a\": 1,", "a key or '}'" },
        { "[", "a value or ']'" },
        { "[1.", "a digit" },
        { "[,", "']'" },
        { "{} ", "the end of the text" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_grammar g = { 0 };
        (void)tl_grammar_run(&g, cases[i].text, strlen(cases[i].text));
        CU_ASSERT_STRING_EQUAL(tl_grammar_wants(&g), cases[i].wants);
        tl_grammar_free(&g);
    }
}

static void brackets_are_kept_to_any_depth(void)
{
    size_t n = 1000000;
    char *text = malloc(2 * n);
    bool over;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, '[', n);
    memset(text + n, ']', n);
    CU_ASSERT_EQUAL(taken(text, 2 * n, &over), 2 * n);
    CU_ASSERT_TRUE(over);
    text[2 * n - 70] = '}';
    CU_ASSERT_EQUAL(taken(text, 2 * n, &over), 2 * n - 70);
    free(text);
}

/* Texts made of the tokens that JSON is made of: the grammar takes an object whole exactly if yajl does, after the
 * repair. */
static void it_takes_what_the_careful_reader_takes(void)
{
    static const char *const bits[] = { "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "1", "-", "+", ".", "e", "0", "nan", "N/A",
                                        "true", " ", "\\", "\x01", "\xff", "{\"a\":", "1,", "\"b\":2", "}", "]", "\v", "@" };
    tl_yajl_scratch scratch = { 0 };
    tl_fields fields;
    uint64_t seed = 7;
    int agreed = 0;

    for (int round = 0; round < 200000; round++) {
        char text[256] = "{", repaired[1024];
        for (unsigned k = unit_below(&seed, 12); k > 0; k--)
            strcat(text, bits[unit_below(&seed, COUNT(bits))]);
        strcat(text, unit_below(&seed, 2) ? "}" : "]}");
        size_t n = strlen(text), consumed;
        bool over;
        size_t to = taken(text, n, &over);
        if (over && to < n)             /* an entry ends with its brace */
            continue;
        bool read = tl_event_read_yajl(&scratch, (tl_text){ text, n }, &fields, &consumed);
        if (!read)
            read = tl_event_read_yajl(&scratch, (tl_text){ repaired, tl_repair_json(text, n, repaired) }, &fields, &consumed);
        CU_ASSERT_EQUAL(over, read);
        if (over != read)
            printf("\n%s: the grammar %d, yajl %d\n", text, over, read);
        agreed += over && read;
    }
    CU_ASSERT(agreed > 1000);
    tl_yajl_scratch_free(&scratch);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_fault_has_its_byte),
        TEST(it_says_what_it_wants),
        TEST(brackets_are_kept_to_any_depth),
        TEST(it_takes_what_the_careful_reader_takes),
    };
    return unit_main("grammar", tests, COUNT(tests));
}
