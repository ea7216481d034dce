/* test_job_roles.c - which ranks do the same, where nobody tells who sends to whom.
 *
 * A line for each rank, a letter for each step: what it computes in it. */
#include "unit.h"

#include "tlmpi/analysis/role.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/view.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 16 };

/* The roles as letters, that of rank 0 `a`; "" where there is one. */
static const char *roles_of(const char *const *lines, uint8_t kind, bool pair)
{
    static char text[RANKS_MAX + 1];
    int32_t ranks[RANKS_MAX];
    tl_late_row rows[RANKS_MAX];
    tl_programs programs = { 0 };
    tl_job_roles roles = { 0 };
    size_t n = 0;

    for (; lines[n] != NULL; n++) {
        size_t steps = strlen(lines[n]);
        tl_program p = { .segments = calloc(steps + 1, sizeof *p.segments), .nsegments = steps };
        if (p.segments == NULL || !tl_vec_room(&programs.of))
            abort();
        for (size_t s = 0; s < steps; s++)
            p.segments[s] = (tl_segment){ .step = (int32_t)s, .does = (uint64_t)lines[n][s] };
        programs.of.v[programs.of.n++] = (tl_rank_program){ (int32_t)n, p };
        ranks[n] = (int32_t)n;
        rows[n] = (tl_late_row){ .collective = (int64_t)n, .rank = (int32_t)n, .peer = -1, .kind = kind, .pair = pair, .fits = true };
    }
    CU_ASSERT_FATAL(tl_job_roles_find(&roles, &(tl_role_input){ rows, n, ranks, n, &programs }));
    for (size_t r = 0; r < n; r++)
        text[r] = (char)('a' + roles.of[r]);
    text[roles.several ? n : 0] = 0;
    tl_job_roles_free(&roles);
    tl_programs_free(&programs);
    return text;
}

#define ROLES(kind, pair, ...) roles_of((const char *const[]){ __VA_ARGS__, NULL }, kind, pair)

static void stages_compute_other_things(void)
{
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, false, "FFF", "FFF", "LLL", "LLL"), "aacc");
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, false, "FF", "FF", "MM", "MM", "MM", "MM", "LL", "LL"), "aaccccgg");
    /* in some steps some do more */
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, false, "FxF", "FFF", "LLL", "LLy"), "aacc");
}

static void who_does_more_than_its_peers_is_no_stage(void)
{
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, false, "FFF", "FFF", "FFF", "xxx"), "");
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, false, "FFF", "FFF", "FFF", "xxx", "xxx"), "");
}

static void where_nobody_sends_or_it_is_known_to_whom_there_is_nothing_to_ask(void)
{
    CU_ASSERT_STRING_EQUAL(ROLES(TL_ALL_REDUCE, false, "FFF", "FFF", "LLL", "LLL"), "");
    CU_ASSERT_STRING_EQUAL(ROLES(TL_SEND_RECV, true, "FFF", "FFF", "LLL", "LLL"), "");
}

static const unit_test tests[] = {
    TEST(stages_compute_other_things),
    TEST(who_does_more_than_its_peers_is_no_stage),
    TEST(where_nobody_sends_or_it_is_known_to_whom_there_is_nothing_to_ask),
};

int main(void)
{
    return unit_main("job_roles", tests, COUNT(tests));
}
