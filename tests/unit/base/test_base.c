/* test_base.c - memory, errors, text and the log. */
#include "capture.h"
#include "unit.h"

#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit status of a process of its own; its standard error is closed. */
static int status_of(void (*act)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        act();
        _exit(0);
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t many = SIZE_MAX / 2; /* too many for the compiler to see */

static void zero_too_many(void)
{
    free(tl_calloc(many, 3));
}

static void grow_too_far(void)
{
    int *v = NULL;
    size_t cap = 0;
    tl_grow((void **)&v, &cap, many, sizeof *v);
}

static void fail_the_second(void)
{
    tl_mem_fail_after(2);
    free(tl_malloc(1));
    free(tl_malloc(1));
}

static void end_by(int status)
{
    _exit(status + 1);
}

static void end_otherwise(void)
{
    tl_mem_on_failure(end_by);
    fail_the_second();
}

static void memory_that_is_out_ends_the_run(void)
{
    CU_ASSERT_EQUAL(status_of(zero_too_many), 70);
    CU_ASSERT_EQUAL(status_of(grow_too_far), 70);
    CU_ASSERT_EQUAL(status_of(fail_the_second), 70);
    CU_ASSERT_EQUAL(status_of(end_otherwise), 71);
}

static void what_is_too_large_does_not_fit(void)
{
    CU_ASSERT_TRUE(tl_mem_fits(1));
    CU_ASSERT_FALSE(tl_mem_fits(many));
}

static void nothing_is_memory_too(void)
{
    void *a = tl_calloc(0, 8), *b = tl_malloc(0);
    free(a);
    free(b);
}

static void a_growing_array_keeps_its_elements(void)
{
    TL_VEC(int) vec = { 0 };
    size_t moves = 0, cap = 0;

    for (int i = 0; i < 100000; i++) {
        tl_vec_room(&vec);
        vec.v[vec.n++] = i;
        moves += cap != vec.cap;
        cap = vec.cap;
    }
    for (int i = 0; i < 100000; i++)
        CU_ASSERT_EQUAL(vec.v[i], i);
    CU_ASSERT(moves < 20);
    free(vec.v);
}

static void a_copy_ends_where_it_was_cut(void)
{
    char *copy = tl_strndup("kernel", 4);
    CU_ASSERT_STRING_EQUAL(copy, "kern");
    free(copy);
}

static void an_error_is_one_line(void)
{
    tl_error err = { 0 };
    CU_ASSERT_EQUAL(tl_fail(&err, TL_EINPUT, "%s: %s\n", "a\nb", "gone"), TL_EINPUT);
    CU_ASSERT_EQUAL(err.status, TL_EINPUT);
    CU_ASSERT_STRING_EQUAL(err.text, "a b: gone");
    CU_ASSERT_EQUAL(tl_fail(NULL, TL_EUSAGE, "nobody listens"), TL_EUSAGE);

    tl_fail(&err, TL_EOUTPUT, "rank %d: %s", 3, err.text);
    CU_ASSERT_STRING_EQUAL(err.text, "rank 3: a b: gone");

    char longer[3000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    tl_fail(&err, TL_EINPUT, "%s", longer);
    CU_ASSERT_EQUAL(strlen(err.text), sizeof err.text - 1);

    CU_ASSERT_EQUAL(tl_fail_memory(&err, "names"), TL_ENOMEM);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "names"));
}

static void a_needle_is_found_anywhere(void)
{
    CU_ASSERT(tl_text_has(TL_TEXT("aaab"), "aab"));
    CU_ASSERT(tl_text_has(TL_TEXT("aab"), "aab"));
    CU_ASSERT(tl_text_has(TL_TEXT("a\0b"), "b"));
    CU_ASSERT(tl_text_has(TL_TEXT(""), ""));
    CU_ASSERT_FALSE(tl_text_has(TL_TEXT("aa"), "aab"));
    CU_ASSERT_FALSE(tl_text_has(TL_TEXT("abab"), "abc"));
    CU_ASSERT_FALSE(tl_text_has((tl_text){ NULL, 0 }, "a"));
    CU_ASSERT_FALSE(tl_text_has((tl_text){ "needle", 3 }, "needle"));
    CU_ASSERT(tl_text_is(TL_TEXT("kernel"), "kernel"));
    CU_ASSERT_FALSE(tl_text_is(TL_TEXT("kernels"), "kernel"));
    CU_ASSERT(tl_text_starts(TL_TEXT("kernels"), "kernel"));
    CU_ASSERT_FALSE(tl_text_starts(TL_TEXT("kern"), "kernel"));
}

static void a_list_is_read_item_by_item(void)
{
    static const char *const items[] = { "0", "8", "...", "29" };
    tl_text list = TL_TEXT("[0, 8,\t..., 29]"), nothing = { NULL, 0 }, item;
    for (size_t i = 0; i < COUNT(items); i++) {
        CU_ASSERT(tl_text_next(&list, &item));
        CU_ASSERT(tl_text_is(item, items[i]));
    }
    CU_ASSERT_FALSE(tl_text_next(&list, &item));
    CU_ASSERT_FALSE(tl_text_next(&nothing, &item));
}

static void texts_are_ordered_byte_by_byte(void)
{
    CU_ASSERT(tl_text_compare(TL_TEXT("a"), TL_TEXT("b")) < 0);
    CU_ASSERT(tl_text_compare(TL_TEXT("ab"), TL_TEXT("a")) > 0);
    CU_ASSERT(tl_text_compare(TL_TEXT("B"), TL_TEXT("a")) < 0);
    CU_ASSERT(tl_text_compare(TL_TEXT("\xc3\xa4"), TL_TEXT("z")) > 0);
    CU_ASSERT(tl_text_compare(TL_TEXT("a\0b"), TL_TEXT("a\0c")) < 0);
    CU_ASSERT_EQUAL(tl_text_compare(TL_TEXT("ab"), TL_TEXT("ab")), 0);
    CU_ASSERT_EQUAL(tl_text_compare((tl_text){ NULL, 0 }, TL_TEXT("")), 0);
}

static void utf8_ends_at_the_first_byte_that_is_not(void)
{
    static const struct {
        const char *text;
        size_t valid;
    } cases[] = {
        { "", 0 },
        { "plain ascii, longer than eight bytes", 36 },
        { "caf\xc3\xa9", 5 },
        { "caf\xc3", 3 },                      /* cut */
        { "12345678\x80", 8 },                 /* a follower without a leader */
        { "\xc0\x80", 0 },                     /* 0 in two bytes */
        { "\xc1\xbf", 0 },
        { "\xe0\x9f\xbf", 0 },                 /* two bytes would do */
        { "\xe0\xa0\x80", 3 },
        { "\xed\x9f\xbf", 3 },
        { "\xed\xa0\x80", 0 },                 /* a surrogate */
        { "\xef\xbf\xbf", 3 },
        { "\xf0\x8f\xbf\xbf", 0 },             /* three bytes would do */
        { "\xf0\x90\x80\x80", 4 },
        { "\xf4\x8f\xbf\xbf", 4 },
        { "\xf4\x90\x80\x80", 0 },             /* above U+10FFFF */
        { "\xf5\x80\x80\x80", 0 },
        { "a\xf0\x90\x80" "b", 1 },
        { "\xe2\x82\xac\xe2\x28\xa1", 3 },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        CU_ASSERT_EQUAL(tl_text_utf8((tl_text){ cases[i].text, strlen(cases[i].text) }), cases[i].valid);
}

static bool prints_as(const char *text, size_t room, const char *shown)
{
    char out[64];
    memset(out, '#', sizeof out);
    tl_printable(out, room, text);
    return strcmp(out, shown) == 0 && out[room] == '#';
}

static void what_is_shown_cannot_move_the_cursor(void)
{
    CU_ASSERT(prints_as("plain", 16, "plain"));
    CU_ASSERT(prints_as("\x1b[2J\r\n\t\x7f", 16, "?[2J????"));
    CU_ASSERT(prints_as("\xc2\x9b" "2J", 16, "?2J"));           /* an escape sequence to some terminals */
    CU_ASSERT(prints_as("caf\xc3\xa9 \xe2\x82\xac", 16, "caf\xc3\xa9 \xe2\x82\xac"));
    CU_ASSERT(prints_as("a\xff\xfe" "b\xc3", 16, "a??b?"));
    CU_ASSERT(prints_as("caf\xc3\xa9", 5, "caf"));              /* no half characters */
    CU_ASSERT(prints_as("caf\xc3\xa9", 6, "caf\xc3\xa9"));
    CU_ASSERT(prints_as("a\xe2\x80\xae" "b\xd8\x9c", 16, "a?b?")); /* U+202E and U+061C turn the direction of text */
    CU_ASSERT(prints_as("abc", 1, ""));
    CU_ASSERT(prints_as("abc", 3, "ab"));
}

static void a_warning_is_one_harmless_line(void)
{
    capture_begin();
    tl_warn("%s: \x1b[31m%d", "a.json", 3);
    tl_warn("second\n");
    tl_log_enable(false);
    tl_warn("nobody wants to know");
    tl_log_enable(true);
    CU_ASSERT_STRING_EQUAL(capture_end(), "tlmpi: warning: a.json: ?[31m3\ntlmpi: warning: second\n");
}

static const unit_test tests[] = {
    TEST(memory_that_is_out_ends_the_run),
    TEST(what_is_too_large_does_not_fit),
    TEST(nothing_is_memory_too),
    TEST(a_growing_array_keeps_its_elements),
    TEST(a_copy_ends_where_it_was_cut),
    TEST(an_error_is_one_line),
    TEST(a_needle_is_found_anywhere),
    TEST(a_list_is_read_item_by_item),
    TEST(texts_are_ordered_byte_by_byte),
    TEST(utf8_ends_at_the_first_byte_that_is_not),
    TEST(what_is_shown_cannot_move_the_cursor),
    TEST(a_warning_is_one_harmless_line),
};

int main(void)
{
    return unit_main("base", tests, COUNT(tests));
}
