/* test_hta_owners.c - under which annotation and operator kernels ran. */
#include "hta_table.h"

#define ON(pid, tid, cat, name, ts, dur, args)                                                                         \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur  \
    ",\"args\":{" args "}}"
#define NOTE(tid, name, ts, dur) ON("0", tid, "gpu_user_annotation", name, ts, dur, "")
#define WORK(tid, name, ts, dur) ON("0", tid, "kernel", name, ts, dur, "\"stream\":7,\"correlation\":1")

/*     step         [0,           20)
 *     optimizer        [5,   12)
 *     a..d      1-3, 4-6, 11-13, 12-14;  e touches the step's end;  f is of no length and inside
 */
#define NOTES                                                                                                          \
    NOTE("7", "optimizer", "5", "7") "," NOTE("7", "step", "0", "20") "," WORK("7", "c", "11", "2") ","                \
    WORK("7", "a", "1", "2") "," WORK("7", "b", "4", "2") "," WORK("7", "d", "12", "2") "," WORK("7", "e", "20", "2")   \
    "," WORK("7", "f", "6", "0") "," WORK("8", "elsewhere", "2", "2")

static void the_shortest_that_overlaps_has_the_kernel(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_kernels_of_annotations, TRACE(NOTES), NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("gpu_kernels_with_user_annotation.csv"),
                           "2,11,2,7,7,optimizer,0\n3,1,2,7,7,step,0\n4,4,2,7,7,optimizer,0\n5,12,2,7,7,step,0\n"
                           "6,20,2,7,7,,0\n7,6,0,7,7,optimizer,0\n8,2,2,7,8,,0\n");
    CU_ASSERT_STRING_EQUAL(rows_of("gpu_kernels_by_user_annotation.csv"), "0,,2,4\n0,optimizer,3,4\n0,step,2,4\n");
}

static void kernels_of_the_same_times_have_one_annotation(void)
{
    make(tl_hta_kernels_of_annotations, TRACE(NOTE("7", "one", "0", "9") "," NOTE("8", "two", "0", "20") ","
                                              WORK("7", "a", "1", "2") "," WORK("8", "b", "1", "2") "," WORK("9", "c", "1", "2")
                                              "," WORK("7", "d", "1", "3")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("gpu_kernels_with_user_annotation.csv"),
                           "2,1,2,7,7,two,0\n3,1,2,7,8,two,0\n4,1,2,7,9,two,0\n5,1,3,7,7,one,0\n");
}

static void a_negative_duration_is_a_note(void)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_kernels_of_annotations,
                                       TRACE(NOTE("7", "one", "0", "9") "," WORK("7", "a", "1.2", "0.5")), NULL),
                                  "rank 0: rounding has made durations negative"));
    CU_ASSERT_STRING_EQUAL(rows_of("gpu_kernels_with_user_annotation.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_kernels_of_annotations, TRACE(WORK("7", "a", "1", "2")), NULL),
                                  "no rank has annotations"));
}

/* Many kernels under many annotations that nest: each step of the search is one of log n. */
static void ten_thousand_that_nest_are_quick(void)
{
    enum { N = 10000 };
    char *text = malloc((size_t)N * 2 * 128);
    size_t at = (size_t)sprintf(text, "{\"traceEvents\": [");
    for (int i = 0; i < N; i++)
        at += (size_t)sprintf(text + at, NOTE("7", "n%d", "%d", "%d") "," WORK("7", "k", "%d", "1") "%s", i % 10, i,
                              2 * N - 2 * i, i, i + 1 < N ? "," : "]}");
    CU_ASSERT_STRING_EQUAL(make(tl_hta_kernels_of_annotations, text, NULL), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("gpu_kernels_by_user_annotation.csv"), "0,n9,1000,1000\n"));
    free(text);
}

/*     linear  [0,              40)
 *     addmm     [5,      20)           launches 1 at 8, 2 at 12
 *     linear                     [50, 60)   launches 3 at 52
 */
#define OPS                                                                                                            \
    OP("aten::linear", "0", "40") "," OP("aten::addmm", "5", "15") "," LAUNCH("1", "8", "2") "," LAUNCH("2", "12", "2") \
    "," OP("aten::linear", "50", "10") "," LAUNCH("3", "52", "2") "," KERNEL("k1", "7", "1", "18", "2") ","             \
    KERNEL("k2", "7", "2", "21", "2") "," KERNEL("k1", "7", "3", "60", "2") "," LAUNCH("4", "30", "5") ","              \
    KERNEL("k1", "7", "4", "61", "1")

static void an_operator_has_its_launches_and_their_kernels(void)
{
    CU_ASSERT_STRING_EQUAL(make(tl_hta_op_delays, TRACE(OPS), NULL), "");
    CU_ASSERT_STRING_EQUAL(rows_of("aten_op_kernels_and_delay.csv"),
                           "0,aten::linear,k1,2,16,19.5\n0,aten::addmm,k1 -> k2,1,3,10\n");
}

static void of_operators_that_start_at_once_the_first_is_taken(void)
{
    make(tl_hta_op_delays, TRACE(OP("aten::a", "0", "40") "," OP("aten::b", "0", "30") "," LAUNCH("1", "8", "2") ","
                                 KERNEL("k", "7", "1", "18", "2")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("aten_op_kernels_and_delay.csv"), "0,aten::a,k,1,8,10\n");
}

static void sequences_descend_by_their_text(void)
{
    make(tl_hta_op_delays,
         TRACE(OP("x", "0", "1") "," OP("aten::a", "1", "9") "," LAUNCH("1", "2", "1") "," LAUNCH("2", "4", "1") ","
               OP("aten::a", "11", "9") "," LAUNCH("3", "12", "1") "," OP("aten::a", "21", "9") "," LAUNCH("4", "22", "1") ","
               KERNEL("k", "7", "1", "30", "1") "," KERNEL("m", "7", "2", "31", "1") "," KERNEL("k", "7", "3", "32", "1") ","
               KERNEL("k ", "7", "4", "33", "1")), NULL);
    CU_ASSERT_STRING_EQUAL(rows_of("aten_op_kernels_and_delay.csv"),
                           "0,aten::a,k -> m,1,1,28\n0,aten::a,k ,1,1,11\n0,aten::a,k,1,1,20\n");
}

static void a_launch_without_one_kernel_is_a_note(void)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_op_delays, TRACE(OPS), TRACE(OPS "," LAUNCH("5", "31", "1"))),
                                  "rank 1: a launch has no kernel, or more than one"));
    CU_ASSERT_PTR_NOT_NULL(strstr(rows_of("aten_op_kernels_and_delay.csv"), "0,aten::addmm"));
    CU_ASSERT_PTR_NOT_NULL(strstr(make(tl_hta_op_delays, TRACE(LAUNCH("5", "31", "1")), NULL),
                                  "rank 0: no aten operator launches"));
    CU_ASSERT_STRING_EQUAL(rows_of("aten_op_kernels_and_delay.csv"), "(no file)");
}

static const unit_test tests[] = {
    TEST(the_shortest_that_overlaps_has_the_kernel),
    TEST(kernels_of_the_same_times_have_one_annotation),
    TEST(a_negative_duration_is_a_note),
    TEST(ten_thousand_that_nest_are_quick),
    TEST(an_operator_has_its_launches_and_their_kernels),
    TEST(of_operators_that_start_at_once_the_first_is_taken),
    TEST(sequences_descend_by_their_text),
    TEST(a_launch_without_one_kernel_is_a_note),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta owners", tests, COUNT(tests));
    scratch_remove();
    return status;
}
