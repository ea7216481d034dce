/* test_hta_kernels.c - kernels by class and name, and annotations. */
#include "hta_trace.h"

#define TYPES  "kernel_type,sum,percentage\n"
#define TALLY  "name,sum (us),max (us),min (us),stddev,mean (us)"
#define BY_ALL TALLY ",kernel_type,rank\n"

static const char *types(const char *text)
{
    return table_of(tl_hta_kernel_types, "kernel_type_breakdown.csv", text, NULL, false);
}

/*     ts      0         1         2
 *             0123456789012345678901234
 *     7       ....AAAA....BB...........       compute 2 + 2
 *     20      ......NNNNNN.............       communication 4, both 2
 *     8       .................MMM.....       memory 3
 */
#define DRAWN                                                                                                          \
    TRACE(KERNEL("A", "7", "1", "4", "4") "," KERNEL("ncclDevKernel", "20", "2", "6", "6") ","                         \
          KERNEL("B", "7", "3", "12", "2") "," KERNEL("Memcpy DtoD", "8", "4", "17", "3") ","                          \
          KERNEL("Stream Wait Event", "8", "5", "0", "30") "," OP("host", "0", "24"))

static void each_stretch_has_the_classes_that_run_in_it(void)
{
    CU_ASSERT_STRING_EQUAL(types(DRAWN), TYPES "COMMUNICATION,4,30.8\nCOMPUTATION,4,30.8\nMEMORY,3,23.1\n"
                                               "COMPUTATION overlapping COMMUNICATION,2,15.4\n");
    CU_ASSERT_STRING_EQUAL(content("kernel_type_breakdown_no_memory.csv"),
                           TYPES "COMMUNICATION,4,40\nCOMPUTATION,4,40\n"
                                 "COMPUTATION overlapping COMMUNICATION,2,20\n");
    CU_ASSERT_STRING_EQUAL(types(TRACE(OP("host", "0", "24"))), TYPES);
    CU_ASSERT_STRING_EQUAL(types(TRACE(KERNEL("A", "0", "1", "4", "0"))), TYPES "COMPUTATION,0,\n"); /* 0 of 0 */
}

static void a_negative_duration_takes_away_what_is_not_there(void)
{
    /* 10.2 to 10.5 is -1 us from 11; while it is "away", communication alone is taken for computation. */
    CU_ASSERT_STRING_EQUAL(types(TRACE(KERNEL("ncclDevKernel", "20", "1", "8", "12") ","
                                       KERNEL("A", "7", "2", "10.2", "0.3"))),
                           TYPES "COMMUNICATION,11,91.7\nCOMPUTATION,1,8.3\n");
    CU_ASSERT_STRING_EQUAL(types(TRACE(KERNEL("A", "7", "2", "10.2", "0.3"))), TYPES);
}

static void stretches_count_whole_microseconds(void)
{
    const char *text = TRACE(KERNEL("A", "7", "1", "0.5", "1.75") "," KERNEL("B", "7", "2", "10.0", "0.75"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_kernel_types, "kernel_type_breakdown.csv", text, text, true),
                           TYPES "COMPUTATION,2,100\n");
}

static const char *kernels(const char *text, const char *text_1)
{
    return table_of(tl_hta_kernel_breakdown, "kernel_breakdown_all.csv", text, text_1, false);
}

static void kernels_stand_by_class_and_name_and_rank(void)
{
    /* An entry without dur on rank 1 makes all its durations doubles, and the columns with them. */
    const char *text = TRACE(KERNEL("b", "7", "1", "1", "2") "," KERNEL("Memset (Device)", "7", "2", "4", "1") ","
                             KERNEL("b", "7", "3", "6", "4") "," KERNEL("a", "0", "4", "12", "5") ","
                             KERNEL("ncclK", "7", "5", "20", "1") "," OP("b", "30", "7")),
               *more = TRACE(META "," KERNEL("b", "7", "1", "1", "3"));
    CU_ASSERT_STRING_EQUAL(kernels(text, NULL), BY_ALL "ncclK,1,1,1,0,1,COMMUNICATION,0\n"
                                                       "a,5,5,5,0,5,COMPUTATION,0\n"
                                                       "b,6,4,2,1.4142135623730951,3,COMPUTATION,0\n"
                                                       "Memset (Device),1,1,1,0,1,MEMORY,0\n");
    CU_ASSERT_STRING_EQUAL(kernels(text, more), BY_ALL "ncclK,1,1,1,0,1,COMMUNICATION,0\n"
                                                       "a,5,5,5,0,5,COMPUTATION,0\n"
                                                       "b,6,4,2,1.4142135623730951,3,COMPUTATION,0\n"
                                                       "b,3,3,3,0,3,COMPUTATION,1\n"
                                                       "Memset (Device),1,1,1,0,1,MEMORY,0\n");
    CU_ASSERT_STRING_EQUAL(content("kernel_breakdown_default.csv"), content("kernel_breakdown_all.csv"));
    CU_ASSERT_STRING_EQUAL(kernels(TRACE(OP("host", "0", "24")), NULL), BY_ALL);
}

/* Kernels k01, k02 and so on of these durations; `also` comes first. */
static const char *lot(const char *also, const int *durs, size_t n)
{
    static char text[8192];
    int at = snprintf(text, sizeof text, "{\"traceEvents\": [%s", also);
    for (size_t i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%02zu\",\"pid\":1,\"tid\":1,\"ts\":%zu,\"dur\":%d,"
                       "\"args\":{\"stream\":7}}", i > 0 || also[0] != '\0' ? "," : "", i + 1, 100 * i, durs[i]);
    snprintf(text + at, sizeof text - (size_t)at, "]}");
    return text;
}

static void more_than_ten_names_are_lumped_and_lose_their_statistics(void)
{
    /* Totals 12 23 33 42 50 57 63 68 72 75 77 78; their 0.8-quantile is 74.4: k10, k11 and k12 are others. */
    static const int durs[] = { 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };
    const char *text = lot(KERNEL("k01", "7", "1", "50", "0"), durs, 12);

    CU_ASSERT_PTR_NOT_NULL(strstr(kernels(text, NULL), "\nk01,12,12,0,8.48528137423857,6,COMPUTATION,0\n"));
    const char *lumped = content("kernel_breakdown_default.csv");
    CU_ASSERT_PTR_NOT_NULL(strstr(lumped, BY_ALL "k01,12,12,12,0,12,COMPUTATION,0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(lumped, "\nk09,4,4,4,0,4,COMPUTATION,0\nothers,6,3,1,1,2,COMPUTATION,0\n"));
}

static void of_equal_sums_the_last_in_order_are_lumped(void)
{
    /* Totals 1 to 11, the quantile is 9. */
    static const int durs[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    CU_ASSERT_PTR_NOT_NULL(strstr(kernels(lot("", durs, 11), NULL), "\nk11,1,1,1,0,1,COMPUTATION,0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(content("kernel_breakdown_default.csv"), "\nk09,1,1,1,0,1,COMPUTATION,0\n"
                                                                           "others,2,1,1,0,1,COMPUTATION,0\n"));
}

static void a_kernel_that_is_called_others_is_lumped_with_them(void)
{
    /* Totals 100 110 119 127 134 140 145 149 152 154 155, the quantile is 152. */
    static const int durs[] = { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };
    (void)kernels(lot(KERNEL("others", "7", "1", "50", "100"), durs, 10), NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(content("kernel_breakdown_default.csv"), "\nothers,103,100,1,"));
}

static void annotations_stand_by_rank_and_name(void)
{
#define NOTE(name, ts, dur) ENTRY("user_annotation", name, ts, dur, "")
    const char *file = "cpu_user_annotation_breakdown.csv",
               *text = TRACE(NOTE("b", "1", "2") "," NOTE("a", "2", "1") "," NOTE("b", "3", "4")),
               *more = TRACE(NOTE("a", "1", "3"));
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_user_annotations, file, text, more, false),
                           TALLY ",rank\na,1,1,1,0,1,0\nb,6,4,2,1.4142135623730951,3,0\na,3,3,3,0,3,1\n");
    CU_ASSERT_STRING_EQUAL(content("gpu_user_annotation_breakdown.csv"), "(no file)");
    CU_ASSERT_STRING_EQUAL(table_notes, "gpu_user_annotation_breakdown: all ranks: no row of this category, where HTA "
                                        "has no table\n");

    /* Nothing is left of the category: a table without rows. */
    CU_ASSERT_STRING_EQUAL(table_of(tl_hta_user_annotations, "gpu_user_annotation_breakdown.csv",
                                    TRACE(STEP("5", "1", "2") "," STEP("6", "3", "2") ","
                                          ENTRY("gpu_user_annotation", "a", "4", "1", "")), NULL, false),
                           TALLY ",rank\n");
}

static const unit_test tests[] = {
    TEST(each_stretch_has_the_classes_that_run_in_it),
    TEST(a_negative_duration_takes_away_what_is_not_there),
    TEST(stretches_count_whole_microseconds),
    TEST(kernels_stand_by_class_and_name_and_rank),
    TEST(more_than_ten_names_are_lumped_and_lose_their_statistics),
    TEST(of_equal_sums_the_last_in_order_are_lumped),
    TEST(a_kernel_that_is_called_others_is_lumped_with_them),
    TEST(annotations_stand_by_rank_and_name),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta kernels", tests, COUNT(tests));
    scratch_remove();
    return status;
}
