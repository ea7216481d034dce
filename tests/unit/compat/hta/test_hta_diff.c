/* test_hta_diff.c - HTA's trace diff. */
#include "hta_trace.h"

#define HEAD                                                                                                           \
    "control_counts,control_total_duration,test_counts,test_total_duration,diff_counts,diff_duration,"                 \
    "counts_change_categories\n"

/* Compares two traces; the failure's status. */
static tl_status compare(const char *control, const char *test, tl_hta_parameters p)
{
    tl_hta_file files[] = { { scratch_text("a.json", control), 0 }, { scratch_text("b.json", test), 3 } };
    char folder[64];
    bool incomplete;
    tl_error err;

    snprintf(folder, sizeof folder, "%s", scratch_folder);
    tl_hta_options a = { .files = &files[0], .nfiles = 1, .out_dir = folder, .parameters = &p }, b = a;
    b.files = &files[1];
    return tl_compat_hta_diff(&a, &b, &incomplete, &err);
}

/*     control   step 5   add 3 us, add 2 us, copy 1 us     step 6   mul
 *     test      step 1   add 4 us, mul 1 us
 */
#define BEFORE                                                                                                         \
    TRACE(STEP("5", "100", "10") "," OP("add", "101", "3") "," OP("copy", "104", "1") "," OP(                          \
        "add", "105", "2") "," STEP("6", "110", "10") "," OP("mul", "111", "7"))
#define AFTER TRACE(STEP("1", "50", "10") "," OP("mul", "51", "1") "," OP("add", "53", "4"))

static void what_one_has_alone_is_zero_on_the_other_side(void)
{
    CU_ASSERT_EQUAL_FATAL(compare(BEFORE, AFTER, tl_hta_defaults), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("compare_all.csv"), "name," HEAD "ProfilerStep#5,1,10,0,0,-1,-10,-\n"
                                                       "add,2,5,1,4,-1,-1,-\n"
                                                       "copy,1,1,0,0,-1,-1,-\n"
                                                       "ProfilerStep#1,0,0,1,10,1,10,+\n"
                                                       "mul,0,0,1,1,1,1,+\n");
    CU_ASSERT_STRING_EQUAL(content("ops_diff_cpu.csv"), "change,name\nadded,ProfilerStep#1\nadded,mul\n"
                                                        "deleted,ProfilerStep#5\ndeleted,copy\ndecreased,add\n");
    CU_ASSERT_STRING_EQUAL(content("compare_gpu.csv"), "name," HEAD);
}

static void steps_and_ranks_may_be_chosen(void)
{
    tl_hta_parameters p = tl_hta_defaults;
    tl_range six = { 6, 9 }, three = { 3, 3 }, four = { 4, 4 };
    p.control_iteration = (tl_ranges){ .v = &six, .n = 1 };
    p.test_rank = (tl_ranges){ .v = &three, .n = 1 };
    CU_ASSERT_EQUAL_FATAL(compare(BEFORE, BEFORE, p), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("ops_diff_cpu.csv"), "change,name\nadded,ProfilerStep#5\nadded,add\nadded,copy\n"
                                                        "deleted,ProfilerStep#6\ndeleted,mul\n");
    p.test_rank.v = &four;
    CU_ASSERT_EQUAL(compare(BEFORE, BEFORE, p), TL_EUSAGE);
    p.test_rank.v = &three;
    p.control_iteration.v = &four;
    CU_ASSERT_EQUAL(compare(BEFORE, BEFORE, p), TL_EUSAGE);
}

/* Short names make one row of two. */
static void names_that_are_short_alike_are_added_up(void)
{
#define SHORTS TRACE(STEP("5", "100", "10") "," OP("void f<int>(int)", "101", "3") "," OP("f", "105", "2"))
    CU_ASSERT_EQUAL_FATAL(compare(SHORTS, SHORTS, tl_hta_defaults), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("compare_all_short.csv"),
                           "short_name," HEAD "ProfilerStep#5,1,10,1,10,0,0,=\nf,2,5,2,5,0,0,=\n");
}

static void stream_0_is_in_no_step(void)
{
#define AMD                                                                                                            \
    TRACE(STEP("5", "100", "10") "," LAUNCH("1", "101", "1") "," KERNEL("k", "0", "1", "103", "2") "," OP("k", "107",  \
                                                                                                          "1"))
    CU_ASSERT_EQUAL_FATAL(compare(AMD, AMD, tl_hta_defaults), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("compare_gpu.csv"), "name," HEAD);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(content("notes.txt"), "compare_gpu: test: rank 3: 1 rows on stream 0 are in no step"));
}

static void without_steps_there_is_nothing_to_compare(void)
{
    static const char none[] = TRACE(OP("add", "1", "2")),
                      odd[] = TRACE(STEP("5 of 9", "1", "5") "," OP("add", "1", "2"));
    CU_ASSERT_EQUAL(compare(AFTER, none, tl_hta_defaults), TL_EINPUT);
    CU_ASSERT_EQUAL(compare(odd, AFTER, tl_hta_defaults), TL_EINPUT);
    CU_ASSERT_EQUAL(compare(AFTER, TRACE(""), tl_hta_defaults), TL_EINPUT);
}

static const unit_test tests[] = {
    TEST(what_one_has_alone_is_zero_on_the_other_side), TEST(steps_and_ranks_may_be_chosen),
    TEST(names_that_are_short_alike_are_added_up),      TEST(stream_0_is_in_no_step),
    TEST(without_steps_there_is_nothing_to_compare),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta diff", tests, COUNT(tests));
    scratch_remove();
    return status;
}
