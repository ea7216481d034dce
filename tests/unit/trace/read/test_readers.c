/* test_readers.c - which reader a file has: the first of the table that claims it, else the last. */
#include "scratch.h"
#include "tlmpi/trace/read/reader.h"
#include "unit.h"
#include <sys/stat.h>

static size_t nasked, nhead; /* how often `claims_lines` was asked, and what it was shown last */

/* A format of lines, known by its first word. */
static bool claims_lines(const char *path, tl_text head)
{
    (void)path;
    nasked++;
    nhead = head.n;
    return head.n >= 6 && memcmp(head.p, "events", 6) == 0;
}

static bool claims_ending(const char *path, tl_text head)
{
    (void)head;
    size_t n = strlen(path);
    return n > 6 && strcmp(path + n - 6, ".jsonl") == 0;
}

static const tl_reader lines = { .name = "lines", .claims = claims_lines };
static const tl_reader by_name = { .name = "by name", .claims = claims_ending };
static const tl_reader rest = { .name = "rest" };
static const tl_reader *const table[] = { &lines, &by_name, &rest, NULL };

static const char *reader_of(const char *path)
{
    return tl_reader_among(table, path)->name;
}

static void the_first_that_claims_it_has_it(void)
{
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_text("a.json", "events\n1 2 3\n")), "lines");
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_text("a.jsonl", "events\n1 2 3\n")), "lines");
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_text("b.jsonl", "{}\n")), "by name");
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_text("b.json", "{}\n")), "rest");
    CU_ASSERT_EQUAL(nhead, 3);
}

static void no_more_than_a_head_is_shown(void)
{
    char text[20000];

    memset(text, ' ', sizeof text);
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_write("long.json", text, sizeof text)), "rest");
    CU_ASSERT_EQUAL(nhead, 4096);
}

/* What cannot be opened, or only once, goes by its name. */
static void what_has_no_head_goes_by_its_name(void)
{
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_path("absent.json")), "rest");
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_path("absent.jsonl")), "by name");
    CU_ASSERT_EQUAL_FATAL(mkfifo(scratch_path("pipe.json"), 0600), 0);
    CU_ASSERT_STRING_EQUAL(reader_of(scratch_path("pipe.json")), "rest");
    CU_ASSERT_EQUAL(nhead, 0);
}

static void where_there_is_one_nothing_is_asked(void)
{
    static const tl_reader *const alone[] = { &lines, NULL };

    nasked = 0;
    CU_ASSERT_STRING_EQUAL(tl_reader_among(alone, scratch_text("b.json", "{}"))->name, "lines");
    CU_ASSERT_EQUAL(nasked, 0);
}

/* So that nothing is left without a reader, and no folder is searched for nothing. */
static void the_table_ends_with_one_that_takes_all(void)
{
    const tl_reader *const *reader = tl_readers;

    CU_ASSERT_PTR_NOT_NULL_FATAL(*reader);
    for (; *reader != NULL; reader++) {
        CU_ASSERT_PTR_NOT_NULL((*reader)->endings[0]);
        if (reader[1] == NULL)
            CU_ASSERT((*reader)->claims("x", (tl_text){ "?", 1 }));
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_first_that_claims_it_has_it),        TEST(no_more_than_a_head_is_shown),
        TEST(what_has_no_head_goes_by_its_name),      TEST(where_there_is_one_nothing_is_asked),
           TEST(the_table_ends_with_one_that_takes_all),
    };
    int failed = scratch_make() || unit_main("readers", tests, COUNT(tests));
    return scratch_remove() || failed;
}
