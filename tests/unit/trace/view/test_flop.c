/* test_flop.c - floating-point operations, by the shapes that operators around launches were given. */
#include "coll_view.h"

#define ARGS(dims, types, values)                                                                                      \
    "\"Input Dims\":" dims ",\"Input type\":" types ",\"Concrete Inputs\":" values
#define HALVES    "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\"]"
#define OP(name, ts, dur, args) HOST("cpu_op", name, ts, dur, args)
#define GEMM(ts, corr)          LAUNCH(ts, corr) "," KERNEL("gemm", ts, corr, "")

/* The operations of an operator that launches a kernel; -1: unknown. */
static int64_t flop_of(const char *name, const char *args)
{
    char entries[4096];
    snprintf(entries, sizeof entries, OP("%s", 10, 5, "%s") "," GEMM(12, 1), name, args);
    const tl_rank_view *v = view_of(entries, "");
    CU_ASSERT_FATAL(v->nflops <= 1);
    const int64_t flop = v->nflops > 0 ? v->flops[0].flop : -1;
    forget();
    return flop;
}

static void a_product_is_two_for_each_element_of_its_cuboid(void)
{
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5],[5,7]]", HALVES, "[\"\"]")), 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(flop_of("aten::mv", ARGS("[[3,5],[5]]", HALVES, "[]")), 2 * 3 * 5);
    CU_ASSERT_EQUAL(flop_of("aten::bmm", ARGS("[[2,3,5],[2,5,7]]", HALVES, "[]")), 2 * 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(flop_of("aten::addmm", ARGS("[[7],[3,5],[5,7]]", HALVES, "[]")), 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(flop_of("aten::baddbmm", ARGS("[[1],[2,3,5],[2,5,7]]", HALVES, "[]")), 2 * 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,0],[0,7]]", HALVES, "[]")), 0);
}

/* 8 x 8 with padding 1 and a kernel of 3 x 3: 8 x 8, and with stride 2: 4 x 4; dilated by 2 without padding: 4 x 4. */
static void a_convolution_visits_each_element_of_its_output(void)
{
#define CONV(input, weight, stride, padding, dilation, transposed)                                                     \
    flop_of("aten::convolution", ARGS("[" input "," weight ",[]]", HALVES,                                             \
                                      "[\"\",\"\",\"\",\"" stride "\",\"" padding "\",\"" dilation \
                                      "\",\"" transposed "\"]"))
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[1, 1]", "[1, 1]", "[1, 1]", "False"), 2 * 2 * 4 * 64 * 6 * 9);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"), 2 * 2 * 4 * 16 * 6 * 9);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[1, 1]", "[0, 0]", "[2, 2]", "False"), 2 * 2 * 4 * 16 * 6 * 9);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[6,1,3,3]", "[1, 1]", "[1, 1]", "[1, 1]", "False"), 2 * 2 * 6 * 64 * 1 * 9); /* groups */
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[6,4,3,3]", "[2, 2]", "[1, 1]", "[1, 1]", "True"), 2 * 2 * 6 * 64 * 4 * 9);
    CU_ASSERT_EQUAL(CONV("[2,6,10]", "[4,6,5]", "[1]", "[0]", "[1]", "False"), 2 * 2 * 4 * 6 * 6 * 5);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,9,9]", "[1, 1]", "[0, 0]", "[1, 1]", "False"), -1);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[0, 0]", "[0, 0]", "[1, 1]", "False"), -1);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[1]", "[0, 0]", "[1, 1]", "False"), -1);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "", "[0, 0]", "[1, 1]", "False"), -1);
    CU_ASSERT_EQUAL(CONV("[2,6,8,8]", "[4,6,3,3]", "[1, 1]", "[0, 0]", "[1, 1]", ""), -1);
}

static void each_gradient_of_a_convolution_is_one_more(void)
{
#define BACK(mask, transposed)                                                                                         \
    flop_of("aten::convolution_backward",                                                                              \
            ARGS("[[2,4,8,8],[2,6,9,9],[4,6,3,3]]", HALVES,                                                            \
                 "[\"\",\"\",\"\",\"[0]\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"" transposed \
                 "\",\"[0, 0]\",\"1\",\"" mask "\"]"))
    CU_ASSERT_EQUAL(BACK("[True, True, False]", "False"), 2 * 2 * (2 * 4 * 64 * 6 * 9));
    CU_ASSERT_EQUAL(BACK("[False, True, True]", "False"), 2 * (2 * 4 * 64 * 6 * 9));
    CU_ASSERT_EQUAL(BACK("[True, True, False]", "True"), 2 * 2 * (2 * 6 * 81 * 6 * 9));
    CU_ASSERT_EQUAL(BACK("", "False"), -1);
}

static void attention_is_two_products_and_five_in_the_backward_pass(void)
{
#define SDPA(q, k, v, causal)                                                                                          \
    flop_of("aten::_scaled_dot_product_flash_attention",                                                               \
            ARGS("[" q "," k "," v "]", HALVES, "[\"\",\"\",\"\",\"0.\",\"" causal "\",\"False\"]"))
    CU_ASSERT_EQUAL(SDPA("[2,3,5,8]", "[2,3,7,8]", "[2,3,7,6]", "False"), 2 * 2 * 3 * 5 * 7 * (8 + 6));
    CU_ASSERT_EQUAL(SDPA("[2,3,5,8]", "[2,1,5,8]", "[2,1,5,8]", "True"), 2 * 2 * 3 * (1 + 2 + 3 + 4 + 5) * 16);
    CU_ASSERT_EQUAL(SDPA("[2,3,5,8]", "[2,3,7,8]", "[2,3,7,8]", "True"), -1); /* which corner is not told */
    CU_ASSERT_EQUAL(SDPA("[2,3,5,8]", "[2,3,7,8]", "[2,3,7,8]", ""), -1);
    CU_ASSERT_EQUAL(SDPA("[6,5,8]", "[6,7,8]", "[6,7,8]", "False"), -1);
    CU_ASSERT_EQUAL(flop_of("aten::_scaled_dot_product_flash_attention_backward",
                            ARGS("[[2,3,5,6],[2,3,5,8],[2,3,7,8],[2,3,7,6]]", HALVES,
                                 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"5\",\"7\","
                                 "\"0.\",\"False\"]")),
                    2 * 2 * 3 * 5 * 7 * (3 * 8 + 2 * 6));
}

static void what_does_not_fit_is_unknown(void)
{
    CU_ASSERT_EQUAL(flop_of("aten::mm", ""), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[],[]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5],[6,7]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::bmm", ARGS("[[2,3,5],[4,5,7]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,-5],[-5,7]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5.5],[5.5,7]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[4294967296,4294967296],[4294967296,7]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5],[5,7]]", "[\"long\",\"long\"]", "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[3,5],[5,7]]", "[\"float\",\"c10::Half\"]", "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("[[1,1,1,1,1,1,1,1,1],[1,1]]", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::mm", ARGS("\"[[3,5],[5,7]]\"", HALVES, "[]")), -1);
    CU_ASSERT_EQUAL(flop_of("aten::add", ARGS("[[3,5],[3,5]]", HALVES, "[]")), -1);
}

#define MM ARGS("[[3,5],[5,7]]", HALVES, "[]")
#define NCONV                                                                                                          \
    ARGS("[[2,6,8],[4,6,3]]", HALVES, "[\"\",\"\",\"\",\"[1]\",\"[1]\",\"[1]\",\"False\"]")

/*     aten::convolution   [===================================]
 *     aten::convolution     [============================]
 *     cudnn_convolution       [====]        [====]
 *     launch                     1    2        3              4 */
static void of_operators_around_each_other_the_innermost_counts(void)
{
    const tl_rank_view *v =
        view_of(OP("aten::convolution", 10, 40, NCONV) "," OP("aten::convolution", 11, 30, NCONV) "," OP(
                    "aten::cudnn_convolution", 13, 5, "") "," GEMM(15, 1) "," GEMM(20, 2) ","
                    OP("aten::cudnn_convolution", 25, 5, "") "," GEMM(27, 3) "," GEMM(45, 4) ","
                    OP("aten::mm", 60, 9, MM) "," LAUNCH(62, 9) "," OP("aten::mm", 70, 9, MM) "," GEMM(72, 5), "");
    CU_ASSERT_EQUAL_FATAL(v->nflops, 4); /* without launch 4 of the outer, and the mm without a kernel */
    CU_ASSERT_EQUAL(v->flops[0].flop, 2 * 2 * 4 * 8 * 6 * 3);
    CU_ASSERT_EQUAL(v->flops[1].flop, 0); /* counted at the first launch */
    CU_ASSERT_EQUAL(v->flops[2].flop, 0);
    CU_ASSERT_EQUAL(v->flops[3].flop, 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(v->flops[0].op, 1);
    CU_ASSERT_EQUAL(v->flops[2].op, 1);
    CU_ASSERT_EQUAL(v->flops[0].precision, TL_F16);
    size_t near = 0;
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_PTR_EQUAL(tl_flop_of(v, v->flops[i].launch, &near), &v->flops[i]);
    CU_ASSERT_PTR_NULL(tl_flop_of(v, v->flops[2].launch + 1, &near));
    CU_ASSERT_PTR_NULL(tl_flop_of(v, TL_NONE, &near));
    CU_ASSERT_PTR_EQUAL(tl_flop_of(v, v->flops[0].launch, &near), &v->flops[0]);
    forget();
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_product_is_two_for_each_element_of_its_cuboid),
        TEST(a_convolution_visits_each_element_of_its_output),
        TEST(each_gradient_of_a_convolution_is_one_more),
        TEST(attention_is_two_products_and_five_in_the_backward_pass),
        TEST(what_does_not_fit_is_unknown),
        TEST(of_operators_around_each_other_the_innermost_counts),
    };
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("flop", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
