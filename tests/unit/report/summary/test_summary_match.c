/* test_summary_match.c - what the summary says of collectives, and how far they can be trusted. */
#include "src/report/summary/match.h"
#include "summary_job.h"
#include "tlmpi/model/coll_tables.h"

static tl_quality quality[TL_NCHECKS];

static void count_of(job *j, tl_quality_check check, int64_t n, int64_t of, int64_t worst_ns)
{
    j->s.quality = quality;
    quality[j->s.nquality++] = (tl_quality){ .check = (uint8_t)check, .count = n, .of = of, .worst_ns = worst_ns };
}

static void matched_collectives_have_a_line(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 27, 27, 0);
    count_of(j, TL_CHECK_BY_LAUNCH, 108, 108, 0);
    count_of(j, TL_CHECK_ALONE, 0, 108, 0);
    count_of(j, TL_CHECK_END_TOGETHER, 12, 12, 113400);
    count_of(j, TL_CHECK_CLOCKS, 1, 4, 0);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Collectives: 27 of 27 matched, by launch; ends agree within 113 us; 1 clock.\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "Not matched"));
    CU_ASSERT_PTR_NULL(strstr(text, "Clocks:"));
    free(text);
    free(j);
}

static void what_does_not_fit_is_said(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 20, 27, 0);
    count_of(j, TL_CHECK_MISSING, 2, 27, 0);
    count_of(j, TL_CHECK_UNMATCHED, 1, 27, 0);
    count_of(j, TL_CHECK_KIND, 3, 27, 0);
    count_of(j, TL_CHECK_SIZE, 1, 27, 0);
    count_of(j, TL_CHECK_BY_SEQ, 50, 108, 0);
    count_of(j, TL_CHECK_BY_PAIR, 50, 108, 0);
    count_of(j, TL_CHECK_BY_ENDTIME, 7, 108, 0);
    count_of(j, TL_CHECK_ALONE, 1, 108, 0);
    count_of(j, TL_CHECK_CLOCKS, 2, 4, 3000000);
    count_of(j, TL_CHECK_SHIFTED, 2, 4, 3000000);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "20 of 27 matched, by seq, pair and endtime; 2 clocks,\n  3000 us apart.\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Not matched: 2 with a rank missing, 1 alone, 4 suspect (kind, size); see table\n  quality.\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Clocks: the times of 2 ranks were shifted, by up to 3000 us; see table clock.\n"));
    free(text);
    quality[j->s.nquality - 1].count = 1;
    quality[j->s.nquality - 1].worst_ns = INT64_C(18000000000000);
    text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Clocks: the times of 1 rank were shifted, by up to 18000 s; see table clock.\n"));
    free(text);
    free(j);
}

static void clocks_that_nothing_compares_are_no_distance_apart(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 20, 27, 0);
    count_of(j, TL_CHECK_ALONE, 1, 108, 0);
    count_of(j, TL_CHECK_CLOCKS, 2, 4, 0);
    tl_answers answers = { .trust.untied = true };
    j->s.answers = &answers;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_say_matching(out, &j->s);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "2 clocks, not all of which anything compares"));
    free(text);
    free(j);
}

static void one_rank_alone_is_not_compared(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 0, 17, 0);
    count_of(j, TL_CHECK_ALONE, 17, 17, 0);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Collectives: 17, of one rank each: there is nobody to compare with.\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "matched"));
    free(text);
    quality[0].of = 0;                           /* a job without any says nothing */
    text = summary_of(j);
    CU_ASSERT_PTR_NULL(strstr(text, "Collectives"));
    free(text);
    free(j);
}

static const unit_test tests[] = {
    TEST(matched_collectives_have_a_line),
    TEST(what_does_not_fit_is_said),
    TEST(clocks_that_nothing_compares_are_no_distance_apart),
    TEST(one_rank_alone_is_not_compared),
};

int main(void)
{
    return unit_main("summary of matching", tests, COUNT(tests));
}
