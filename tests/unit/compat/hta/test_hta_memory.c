/* test_hta_memory.c - memory timelines. */
#include "hta_trace.h"

static tl_status sum_up(const char *text, tl_error *err)
{
    tl_csv_folder folder = { .dir = scratch_folder };
    tl_hta_memory_timeline(scratch_text("job.raw.gz", text), &folder);
    *err = folder.error;
    return err->status;
}

static void rows_are_what_is_there_after_each_time(void)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(sum_up(" [[-1, 1, 512, 7], [ 20 ,1,256,4],[20, 3, -200, 7],\n[30, 2, -256, 4]] ", &err), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("memory_timeline.csv"),
                           "time,Parameter,Optimizer state,Input,Temporary,Activation,Gradient,Autograd,Unknown\n"
                           "20,0,0,0,0,0,0,0,512\n20,0,0,0,0,256,0,0,312\n30,0,0,0,0,0,0,0,312\n");
    CU_ASSERT_STRING_EQUAL(content("memory_timeline_summary.csv"),
                           "category,max_bytes,min_bytes,last_bytes\nParameter,0,0,0\nOptimizer state,0,0,0\nInput,0,0,0\n"
                           "Temporary,0,0,0\nActivation,256,0,0\nGradient,0,0,0\nAutograd,0,0,0\nUnknown,512,312,312\n"
                           "total,568,312,312\n");
}

static void without_entries_or_times_it_still_is_one(void)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(sum_up("[]", &err), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("memory_timeline_summary.csv"), "category,max_bytes,min_bytes,last_bytes\n");
    CU_ASSERT_EQUAL_FATAL(sum_up("[[-1, 1, 512, 0],]", &err), TL_OK); /* as in a trace, the comma is no fault */
    CU_ASSERT_PTR_NOT_NULL(strstr(content("memory_timeline.csv"), "\n-1,512,0,"));
}

static void what_is_none_is_refused_with_its_place(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "byte 0: expected a value, found the end of the text" },
        { "{\"traceEvents\": []}", "byte 0: " },
        { "[{}]", "byte 2: expected [time, action, bytes, category], whole numbers, found {}" },
        { "[[1, 2, 3]]", "byte 9: " },
        { "[[1, 2, 3, 4, 5]]", "byte 15: " },
        { "[[1, 2, 3, 4]", "byte 13: expected ',' or ']'" },
        { "[[1, 2, 3, 4]] x", "byte 15: expected the end" },
        { "[[1 1, 2, 3, 4]]", "byte 4: " },
        { "[[1.5, 2, 3, 4]]", "byte 14: " },
        { "[[1, 2, 3, \"a\"]]", "byte 14: " },
        { "[[1, , 3, 4]]", "byte 5: " },
        { "[[1.e3, 1, 3, 4]]", "byte 4: expected a digit, found 'e'" },
        { "[[007, 1, 3, 4]]", "byte 3: " },
        { "[[+1, 1, 3, 4]]", "byte 13: " },
        { "[[-, 1, 3, 4]]", "byte 3: " },
        { "[[123456789012345678901234567890123, 2, 3, 4]]", "byte 44: " },
        { "[[1, 2, 3, 8]]", "a category of memory from 0 to 7, found 8" },
        { "[[1, 2, 3, -1]]", "found -1" },
        { "[[1, 0, 3, 4]]", "byte 12: expected an action from 1 to 4, found 0" },
        { "[[1, 1, 3, 4], [2, 5, 3, 4]]", "byte 26: expected an action from 1 to 4, found 5" },
        { "[[20, 1, 3, 4], [19, 2, 3, 4]]", "byte 28: expected a time of 20 or later, as the entry before, found 19" },
        { "[[20, 1, 3, 4], [-1, 2, 3, 4]]", "expected a time of 20 or later, as the entry before, found -1" },
        { "[[1, 2, 3, 4]\x01", "byte 13: expected ',' or ']' after a value, found a byte 0x01" },
        { "[[1, 2, 9223372036854775807, 1], [1, 2, 1, 0]]", "more bytes of memory than can be counted" },
    };
    scratch_text("memory_timeline.csv", "as it was\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        tl_error err;
        CU_ASSERT_EQUAL(sum_up(cases[i].text, &err), TL_EINPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].says));
        if (strstr(err.text, cases[i].says) == NULL)
            printf("%s: %s\n", cases[i].text, err.text);
    }
    CU_ASSERT_STRING_EQUAL(content("memory_timeline.csv"), "as it was\n");
}

static const unit_test tests[] = {
    TEST(rows_are_what_is_there_after_each_time),
    TEST(without_entries_or_times_it_still_is_one),
    TEST(what_is_none_is_refused_with_its_place),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta memory", tests, COUNT(tests));
    scratch_remove();
    return status;
}
