/* test_marked.c - whose marks of steps count.
 *
 * A line a rank, two characters a collective: the group, a or b, and the step of the rank's own mark; dots: the rank is
 * not in it. */
#include "tlmpi/analysis/verdict/stragglers/step.h"
#include "unit.h"
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 8, ROWS_MAX = 128 };

/* The step of a collective is that of most of its ranks, of equally many that of the lowest. */
static int32_t step_of(const char *const *lines, size_t nranks, size_t at)
{
    int32_t best = -1;
    size_t most = 0;
    for (size_t r = 0; r < nranks; r++) {
        size_t n = 0;
        for (size_t q = 0; q < nranks && lines[r][at] != '.'; q++)
            n += lines[q][at] == lines[r][at] && lines[q][at + 1] == lines[r][at + 1];
        if (n > most) {
            most = n;
            best = lines[r][at + 1] - '0';
        }
    }
    return best;
}

/* The ranks whose marks count, as digits. */
static const char *marked_of(const char *const *lines)
{
    static tl_late_row rows[ROWS_MAX];
    static char text[RANKS_MAX + 1];
    tl_table steps = { .schema = &tl_step_schema };
    size_t nranks = 0, nrows = 0, n;
    int32_t *marked;

    while (lines[nranks] != NULL)
        nranks++;
    for (size_t r = 0; r < nranks; r++) {
        const tl_step row = { .rank = (int32_t)r, .step = 1, .start_ns = 0, .end_ns = 1 };
        tl_table_append(&steps, &row, 1);
    }
    for (size_t at = 0; lines[0][at] != 0; at += 2)
        for (size_t r = 0; r < nranks; r++)
            if (lines[r][at] != '.')
                rows[nrows++] = (tl_late_row){ .collective = (int64_t)at,
                                               .group = lines[r][at] - 'a',
                                               .rank = (int32_t)r,
                                               .step = step_of(lines, nranks, at),
                                               .own_step = lines[r][at + 1] - '0',
                                               .fits = 1 };
    tl_marked_list(&steps, rows, nrows, &marked, &n);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('0' + marked[i]);
    text[n] = 0;
    free(marked);
    tl_table_free(&steps);
    return text;
}

#define MARKED(...) marked_of((const char *const[]){ __VA_ARGS__, NULL })

static void ranks_that_agree_are_all_marked(void)
{
    CU_ASSERT_STRING_EQUAL(MARKED("a1a2a3", "a1a2a3", "a1a2a3"), "012");
}

static void who_numbers_otherwise_than_most_is_not(void)
{
    CU_ASSERT_STRING_EQUAL(MARKED("a4a5a6", "a1a2a3", "a1a2a3"), "12");
    CU_ASSERT_STRING_EQUAL(MARKED("a1a2a3", "a1a2a3", "a1a3a3"), "012"); /* one mark is off */
}

static void in_a_group_of_its_own_kind_a_rank_agrees_for_nothing(void)
{
    CU_ASSERT_STRING_EQUAL(MARKED("a1....a2....", /* */
                                  "a1....a2....", "a1....a2....", "a7b7b7a8b8b8", "a7b7b7a8b8b8"),
                           "012");
}

/* A collective is of the step that most of its ranks tell. */
static void most_ranks_tell_the_step_of_a_collective(void)
{
    static const int32_t told[][4] = { { 4, 4, 9, 4 }, { 9, 4, 4, 4 }, { 9, 9, 4, 4 }, { -1, -1, 5, -1 }, { -1, -1, -1, -1 } };
    static const int32_t step[] = { 4, 4, 9, 5, -1 };
    const tl_job_facts facts = { .ranks = NULL };

    for (size_t i = 0; i < COUNT(step); i++) {
        tl_participant parts[4] = { { 0 } };
        for (int32_t r = 0; r < 4; r++)
            parts[r] = (tl_participant){ .rank = r, .step = told[i][r], .peer = TL_NO_PEER, .end_ns = 10 };
        const tl_collective_run run = { .first = 0, .n = 4 };
        CU_ASSERT_EQUAL(tl_collective_of_run(parts, &run, &facts).step, step[i]);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ranks_that_agree_are_all_marked),
        TEST(who_numbers_otherwise_than_most_is_not),
        TEST(in_a_group_of_its_own_kind_a_rank_agrees_for_nothing),
        TEST(most_ranks_tell_the_step_of_a_collective),
    };
    return unit_main("marked", tests, COUNT(tests));
}
