/* test_windows.c - recordings that begin later than others or end earlier: which steps are whole.  A column is 1 ms. */
#include "noisy_job.h"
#include "src/analysis/verdict/stragglers/internal.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include <string.h>

enum { MS = 1000000 };

/* A rank's marks of steps, each a digit where the step begins; the last lasts to the end of the line. */
static void mark(tl_table *steps, int32_t rank, const char *line)
{
    for (const char *p = line; *p != 0; p++) {
        if (*p < '0' || *p > '9')
            continue;
        tl_step row = { .rank = rank, .step = *p - '0', .start_ns = (p - line) * MS };
        const char *next = p + 1;
        while (*next == '.')
            next++;
        row.end_ns = (next - line) * MS;
        tl_table_append(steps, &row, 1);
    }
}

/* The ranks of which health says that they begin later, and by how many ms in all; *cut: whether the first step is. */
static size_t later(const char *const *lines, size_t n, int64_t *ms, bool *cut)
{
    static const int32_t ranks[] = { 0, 1, 2, 3 };
    tl_table steps = { .schema = &tl_step_schema }, health = { .schema = &tl_health_schema };
    tl_job_graph graph = { .nranks = n };
    for (size_t r = 0; r < n; r++)
        mark(&steps, ranks[r], lines[r]);
    tl_windows_open(&steps, ranks, &graph, &health);
    *cut = graph.late.n > 0;
    free(graph.late.v);
    *ms = 0;
    for (size_t i = 0; i < health.n; i++)
        *ms += ((const tl_health *)tl_table_row(&health, i))->time_ns / MS;
    size_t count = health.n;
    tl_table_free(&steps);
    tl_table_free(&health);
    return count;
}

static void a_recording_that_opens_late_cuts_its_first_step(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "4.........5...6...7...",
                                            "4.........5...6...7...",
                                            "......4...5...6...7..." }, 3, &ms, &cut), 1);
    CU_ASSERT(cut && ms == 6);
}

/* Hosts of the others run ahead by two steps, and wait for rank 2 in the third. */
static void a_recording_that_opens_late_cuts_all_steps_until_others_wait(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "4...5...6.............7...8..",
                                            "4...5...6.............7...8..",
                                            ".............4...5...67...8.." }, 3, &ms, &cut), 3);
    CU_ASSERT(cut && ms == 3 * 13);
}

/* Rank 2 is 1 ms behind in every step. */
static void who_is_behind_in_all_steps_does_not_open_late(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "4...5...6...7....", "4...5...6...7....", ".4...5...6...7..." }, 3, &ms, &cut), 0);
    CU_ASSERT(!cut);
    CU_ASSERT_EQUAL(later((const char *[]){ "4......5...6...7....",
                                            "4......5...6...7....",
                                            "....4...5...6...7..." }, 3, &ms, &cut), 1);
    CU_ASSERT(cut && ms == 3); /* 4 ms, of which 1 is usual */
}

/* The first step that rank 2 has is the one that begins late. */
static void the_first_step_of_all_is_compared(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "3...4.........5...6...", "3...4.........5...6...", ".........4....5...6..." }, 3, &ms, &cut),
                    1);
    CU_ASSERT(cut && ms == 5);
}

/* Step 5 is not recorded: steps 6 to 8 are another window, in which rank 2 begins late. */
static void each_window_may_open_late(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "3...4...6.........7...8...",
                                            "3...4...6.........7...8...",
                                            "3...4.........6...7...8..." }, 3, &ms, &cut), 1);
    CU_ASSERT(cut && ms == 6);
}

static void one_rank_or_one_step_tells_nothing(void)
{
    int64_t ms;
    bool cut;
    CU_ASSERT_EQUAL(later((const char *[]){ "4...5...6..." }, 1, &ms, &cut), 0);
    CU_ASSERT_EQUAL(later((const char *[]){ "4........", "....4...." }, 2, &ms, &cut), 0);
    CU_ASSERT_EQUAL(later((const char *[]){ "4...5...", "........" }, 2, &ms, &cut), 0);
    CU_ASSERT_EQUAL(later((const char *[]){ "4...5.......", "......6...7." }, 2, &ms, &cut), 0); /* none in common */
    CU_ASSERT(!cut);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static const tl_health *row_of(const tl_table *health, int32_t rank, int32_t step)
{
    for (size_t i = 0; i < health->n; i++) {
        const tl_health *row = tl_table_row(health, i);
        if (row->rank == rank && row->step == step)
            return row;
    }
    return NULL;
}

/* Rank 1 lacks the first of four steps, rank 2 the last. */
static void steps_that_a_rank_lacks_are_left_out(void)
{
    hand_job *h = hand_new(3, 4, usual_host, usual_device);
    tl_table ranks = { .schema = &tl_rank_schema }, health = { .schema = &tl_health_schema };
    for (int32_t r = 0; r < 3; r++)
        tl_table_append(&ranks, &(tl_rank){ .rank = r, .last_ns = (r == 2 ? 3 : 4) * MS }, 1);
    memmove(h->graph.ranks[1].steps, h->graph.ranks[1].steps + 1, 3 * sizeof *h->graph.ranks[1].steps);
    h->graph.ranks[1].nsteps = h->graph.ranks[2].nsteps = 3;
    h->graph.ranks[1].start_ns = h->graph.ranks[0].start_ns + MS;
    hand_baseline(h);
    CU_ASSERT(h->baseline.cut[0] && !h->baseline.cut[1] && !h->baseline.cut[2] && h->baseline.cut[3]);
    tl_windows_rows(&h->baseline, (const int64_t[]){ MS, MS, MS, MS }, h->ranks, &ranks, &health);
    CU_ASSERT_EQUAL(health.n, 4);
    CU_ASSERT(row_of(&health, -1, 0)->defect == TL_DEFECT_NOT_WHOLE && row_of(&health, -1, 3)->defect == TL_DEFECT_NOT_WHOLE);
    CU_ASSERT_EQUAL(row_of(&health, 1, 0)->defect, TL_DEFECT_BEGINS_LATER);
    CU_ASSERT_DOUBLE_EQUAL((double)row_of(&health, 1, 0)->time_ns / MS, 1, 0.01);
    CU_ASSERT_EQUAL(row_of(&health, 2, 3)->defect, TL_DEFECT_ENDS_EARLIER);
    CU_ASSERT_EQUAL(row_of(&health, 2, 3)->time_ns, MS);
    CU_ASSERT(tl_step_is_left_out(&health, 3) && !tl_step_is_left_out(&health, 2));
    tl_table_free(&ranks);
    tl_table_free(&health);
    hand_free(h);
}

/* Steps 3 and 4 are not recorded, and rank 1 lacks the window after them: nothing before it is cut. */
static void a_window_that_a_rank_lacks_is_left_out(void)
{
    hand_job *h = hand_new(3, 4, usual_host, usual_device);
    tl_table ranks = { .schema = &tl_rank_schema }, health = { .schema = &tl_health_schema };
    for (int32_t r = 0; r < 3; r++) {
        tl_table_append(&ranks, &(tl_rank){ .rank = r, .last_ns = 4 * MS }, 1);
        for (size_t s = 2; s < 4; s++)
            h->graph.ranks[r].steps[s] += 3;
    }
    h->graph.ranks[1].nsteps = 2;
    hand_baseline(h);
    CU_ASSERT(!h->baseline.cut[0] && !h->baseline.cut[1] && h->baseline.cut[2] && h->baseline.cut[3]);
    CU_ASSERT(!h->baseline.left_out[1] && h->baseline.left_out[2] && h->baseline.left_out[3]);
    tl_windows_rows(&h->baseline, (const int64_t[]){ MS, MS, 2 * MS, 3 * MS }, h->ranks, &ranks, &health);
    CU_ASSERT_EQUAL(health.n, 2);
    CU_ASSERT(tl_step_is_left_out(&health, 5) && tl_step_is_left_out(&health, 6) && !tl_step_is_left_out(&health, 1));
    CU_ASSERT_EQUAL(tl_whole_steps_ns(&health, 7 * MS), 2 * MS);
    tl_table_free(&ranks);
    tl_table_free(&health);
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_recording_that_opens_late_cuts_its_first_step),
        TEST(a_recording_that_opens_late_cuts_all_steps_until_others_wait),
        TEST(who_is_behind_in_all_steps_does_not_open_late),
        TEST(the_first_step_of_all_is_compared),
        TEST(each_window_may_open_late),
        TEST(one_rank_or_one_step_tells_nothing),
        TEST(steps_that_a_rank_lacks_are_left_out),
        TEST(a_window_that_a_rank_lacks_is_left_out),
    };
    return unit_main("recordings that begin or end apart", tests, COUNT(tests));
}
