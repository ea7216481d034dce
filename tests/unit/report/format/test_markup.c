/* test_markup.c - texts of traces in a page: what may not stand there as it is. */
#include "tlmpi/report/format/words.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <stdlib.h>

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

static char *markup(tl_text text)
{
    char *out = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&out, &size);
    tl_put_markup(memory, text);
    (void)fclose(memory);
    char *copy = tl_strndup(out, size);
    free(out);
    return copy;
}

static void expect(const char *text, size_t n, const char *what)
{
    char *out = markup((tl_text){ text, n });
    CU_ASSERT_STRING_EQUAL(out, what);
    if (strcmp(out, what) != 0)
        fprintf(stderr, "expected: %s\nfound:    %s\n", what, out);
    free(out);
}

#define EXPECT(literal, what) expect(literal, sizeof(literal) - 1, what)

static void what_means_something_is_escaped(void)
{
    EXPECT("gemm<\"a\", 'b'> & c", "gemm&lt;&quot;a&quot;, &#39;b&#39;&gt; &amp; c");
    EXPECT("</title><script>x()</script>", "&lt;/title&gt;&lt;script&gt;x()&lt;/script&gt;");
    EXPECT("&amp;", "&amp;amp;");
    EXPECT("", "");
}

static void what_does_not_show_is_replaced(void)
{
    EXPECT("a\tb\nc\x7f", "a" BAD "b" BAD "c" BAD);
    EXPECT("\0x", BAD "x");
    EXPECT("\xC2\x9B", BAD); /* C1: begins an escape sequence */
    EXPECT("\xE2\x80\xAE"
           "x",
           BAD "x");             /* turns the direction */
    EXPECT("\xEF\xBF\xBF", BAD); /* XML forbids it */
    EXPECT("\xF0\x9F\xBF\xBE", BAD);
}

static void bytes_that_are_no_character_are_replaced_one_by_one(void)
{
    EXPECT("\xFF\xC3(", BAD BAD "(");
    EXPECT("\xE2\x82", BAD BAD);         /* cut */
    EXPECT("\xED\xA0\x80", BAD BAD BAD); /* a surrogate */
    EXPECT("\xC0\xBC", BAD BAD);         /* '<' in two bytes */
    EXPECT("\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80", "\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80");
}

static void a_text_needs_no_zero(void)
{
    const char cell[4] = { 'a', '<', 'b', 'c' };
    char *out = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&out, &size);
    tl_put_markup(memory, (tl_text){ cell, sizeof cell });
    (void)fclose(memory);
    CU_ASSERT_STRING_EQUAL(out, "a&lt;bc");
    free(out);
}

/* Whatever the bytes are: no tag, no reference but ours, and UTF-8. */
static void any_bytes_are_harmless(void)
{
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char text[16];
        size_t n = unit_below(&state, (unsigned)sizeof text + 1);
        for (size_t i = 0; i < n; i++)
            text[i] = unit_below(&state, 3) == 0 ? "<>&\"'\xC2\xE2\xF0\x80\xBF"[unit_below(&state, 10)]
                                                 : (char)unit_below(&state, 256);
        char *out = markup((tl_text){ text, n });
        CU_ASSERT_EQUAL(tl_text_utf8((tl_text){ out, strlen(out) }), strlen(out));
        CU_ASSERT_PTR_NULL(strpbrk(out, "<>\"'\n\t\x1b"));
        for (const char *p = strchr(out, '&'); p != NULL; p = strchr(p + 1, '&'))
            CU_ASSERT_TRUE(strncmp(p, "&amp;", 5) == 0 || strncmp(p, "&lt;", 4) == 0 || strncmp(p, "&gt;", 4) == 0 ||
                           strncmp(p, "&quot;", 6) == 0 || strncmp(p, "&#39;", 5) == 0);
        free(out);
    }
}

static const unit_test tests[] = {
    TEST(what_means_something_is_escaped),
    TEST(what_does_not_show_is_replaced),
    TEST(bytes_that_are_no_character_are_replaced_one_by_one),
    TEST(a_text_needs_no_zero),
    TEST(any_bytes_are_harmless),
};

int main(void)
{
    return unit_main("markup", tests, COUNT(tests));
}
