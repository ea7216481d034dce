/* test_size.c - how large messages are, by the shapes that operators around their launches were given. */
#include "coll_view.h"

#define SHAPES(dims, types)     "\"Input Dims\":" dims ",\"Input type\":" types
#define REDUCE(ts, corr)        KERNEL("ncclDevKernel_AllReduce_Sum_f16_RING_LL", ts, corr, "")
#define GATHER(ts, corr)        KERNEL("ncclDevKernel_AllGather_RING_LL", ts, corr, "")
#define EXCHANGE(ts, corr)      KERNEL("ncclDevKernel_SendRecv", ts, corr, "")

static const tl_coll *only(const char *entries)
{
    static tl_coll found;
    const tl_rank_view *v = view_of(entries, "");
    CU_ASSERT_EQUAL_FATAL(v->ncolls, 1);
    found = v->colls[0];
    forget();
    return &found;
}

#define CHECK_SIZE(coll, nbytes, source)                                                                               \
    do {                                                                                                               \
        const tl_coll *c_ = (coll);                                                                                    \
        CU_ASSERT_EQUAL(c_->bytes, (nbytes));                                                                          \
        CU_ASSERT_EQUAL(c_->size_from, (source));                                                                      \
    } while (0)

static void an_annotation_tells_what_goes_in(void)
{
    const tl_coll *c = only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[4, 2048, 4096]]", "[\"c10::Half\"]"))
                            "," LAUNCH(12, 1) "," REDUCE(50, 1));
    CHECK_SIZE(c, 67108864, TL_SIZE_FROM_ANNOTATION);
    CU_ASSERT_EQUAL(c->in_nelems, 33554432);
    CU_ASSERT_EQUAL(c->dtype, tl_hash_bytes("Half", 4));
    CHECK_SIZE(only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[]]", "[\"float\"]")) "," LAUNCH(12, 1) "," REDUCE(
                   50, 1)),
               4, TL_SIZE_FROM_ANNOTATION); /* a tensor without dimensions has an element */
    CHECK_SIZE(only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[0, 7]]", "[\"float\"]")) "," LAUNCH(
                   12, 1) "," REDUCE(50, 1)),
               0, TL_SIZE_FROM_ANNOTATION);
    CHECK_SIZE(only(HOST("user_annotation", "nccl:all_reduce", 11, 5,
                         SHAPES("[[3], [2,2]]", "[\"float\", \"float\"]")) "," LAUNCH(12, 1) "," REDUCE(50, 1)),
               28, TL_SIZE_FROM_ANNOTATION);
    CHECK_SIZE(only(HOST("user_annotation", "nccl:recv 0<-1", 11, 5, SHAPES("[[3]]", "[\"double\"]")) "," LAUNCH(
                   12, 1) "," EXCHANGE(50, 1)),
               24, TL_SIZE_FROM_ANNOTATION);
}

static void what_is_not_told_is_not_guessed(void)
{
#define OF_DIMS(dims, types)                                                                                           \
    only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES(dims, types)) "," LAUNCH(12, 1) "," REDUCE(50, 1))
    CHECK_SIZE(OF_DIMS("[]", "[]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7]]", "[\"my::Type\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7]]", "[]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7], [7]]", "[\"float\", \"c10::Half\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7, -1]]", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[4294967296, 4294967296]]", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7.5]]", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("{\"a\": [7]}", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[[[[[[[7]]]]]]]]", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("\"[[7]]\"", "[\"float\"]"), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(OF_DIMS("[[7]]", "[\"TensorList\"]"), -1, TL_SIZE_UNKNOWN); /* of which type? */
    CHECK_SIZE(only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[7]]", "[\"float\"]")) "," LAUNCH(
                   20, 1) "," REDUCE(50, 1)),
               -1, TL_SIZE_UNKNOWN); /* launched when it was over */
}

static void an_operator_tells_both_ends(void)
{
    const tl_coll *c =
        only(HOST("cpu_op", "c10d::_allgather_base_", 10, 9,
                  SHAPES("[[1024], [16], []]", "[\"signed char\", \"signed char\", \"\"]")) "," HOST("user_annotation", "nccl:_all_gather_base", 11, 5, SHAPES("[[16]]", "[\"signed char\"]")) "," LAUNCH(12, 1) "," GATHER(50, 1));
    CHECK_SIZE(c, 1024, TL_SIZE_FROM_OPERATOR);
    CU_ASSERT_EQUAL(c->in_nelems, 16);
    CU_ASSERT_EQUAL(c->out_nelems, 1024);
    /* The list says how many, the annotation of what. */
    CHECK_SIZE(only(HOST("cpu_op", "record_param_comms", 10, 9, SHAPES("[[[5], [2, 2]], []]", "[\"TensorList\", \"Scalar\"]")) "," HOST(
                   "user_annotation", "nccl:all_to_all", 11, 5, SHAPES("[[5]]", "[\"long\"]")) "," LAUNCH(12, 1) "," EXCHANGE(50, 1)),
               72, TL_SIZE_FROM_OPERATOR);
    /* The annotation of an all-to-all of lists has its first tensor alone. */
    CHECK_SIZE(only(HOST("cpu_op", "c10d::alltoall_", 10, 9, SHAPES("[[], []]", "[\"TensorList\", \"TensorList\"]")) "," HOST(
                   "user_annotation", "nccl:all_to_all", 11, 5, SHAPES("[[5]]", "[\"long\"]")) "," LAUNCH(12, 1) "," EXCHANGE(50, 1)),
               -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(only(HOST("cpu_op", "c10d::reduce_scatter_", 10, 9,
                         SHAPES("[[[2]], [[4, 2]], []]", "[\"TensorList\", \"TensorList\", \"\"]")) "," HOST(
                   "user_annotation", "nccl:reduce_scatter", 11, 5, SHAPES("[]", "[\"c10::BFloat16\"]")) "," LAUNCH(
                   12, 1) "," KERNEL("ncclDevKernel_ReduceScatter", 50, 1, "")),
               -1, TL_SIZE_UNKNOWN); /* shapes and types that do not go together tell no type */
}

static void in_an_all_gather_each_rank_gives_as_much(void)
{
#define GATHERED(more)                                                                                                 \
    only(HOST("cpu_op", "record_param_comms", 10, 9, "\"Process Group Name\":\"0\"" more) "," HOST(                    \
        "user_annotation", "nccl:all_gather", 11, 5, SHAPES("[[16]]", "[\"int\"]")) "," LAUNCH(12, 1) "," GATHER(50, 1))
    CHECK_SIZE(GATHERED(",\"Group size\":8"), 512, TL_SIZE_FROM_ANNOTATION);
    CHECK_SIZE(GATHERED(""), -1, TL_SIZE_UNKNOWN);
}

static void arguments_come_first(void)
{
    CHECK_SIZE(only(HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[7]]", "[\"float\"]")) "," LAUNCH(
                   12, 1) "," KERNEL("ncclDevKernel_AllReduce", 50, 1,
                                     ",\"Collective name\":\"allreduce\",\"dtype\":\"Half\",\"In msg nelems\":3")),
               6, TL_SIZE_FROM_KERNEL);
    CHECK_SIZE(only(HOST("cpu_op", "record_param_comms", 10, 9,
                         "\"Collective name\":\"allreduce\",\"dtype\":\"Half\",\"In msg nelems\":3," SHAPES("[[[7]]]", "[\"TensorList\"]")) "," LAUNCH(
                   12, 1) "," KERNEL("ncclDevKernel_AllReduce", 50, 1, "")),
               6, TL_SIZE_FROM_OPERATOR);
    CHECK_SIZE(only(LAUNCH(12, 1) "," REDUCE(50, 1)), -1, TL_SIZE_UNKNOWN);
}

static void an_operator_of_several_tells_of_none(void)
{
    const tl_rank_view *v = view_of(
        HOST("user_annotation", "nccl:all_reduce", 11, 5, SHAPES("[[7]]", "[\"float\"]")) "," LAUNCH(12, 1) "," LAUNCH(
            14, 2) "," REDUCE(50, 1) "," REDUCE(60, 2) "," HOST("user_annotation", "nccl:all_reduce", 21, 5,
                                                                SHAPES("[[8]]", "[\"float\"]")) "," LAUNCH(22,
                                                                                                            3) "," REDUCE(70, 3),
        "");
    CHECK_SIZE(coll(v, 0), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(coll(v, 1), -1, TL_SIZE_UNKNOWN);
    CHECK_SIZE(coll(v, 2), 32, TL_SIZE_FROM_ANNOTATION);
    forget();
}

/* What it is inside of does something else. */
static void an_operator_of_another_kind_tells_nothing(void)
{
    CHECK_SIZE(only(HOST("cpu_op", "c10d::allgather_", 9, 20, SHAPES("[[[9]], [[9]]]", "[\"TensorList\", \"TensorList\"]")) "," HOST(
                   "user_annotation", "nccl:_broadcast_oop", 11, 5, SHAPES("[[3]]", "[\"int\"]")) "," LAUNCH(12, 1) "," KERNEL("ncclDevKernel_Broadcast", 50, 1, "")),
               12, TL_SIZE_FROM_ANNOTATION);
}

static void types_have_one_name_and_size(void)
{
    CU_ASSERT_STRING_EQUAL(tl_dtype_name(tl_dtype_of_type(TL_TEXT("long int"))), "Long");
    CU_ASSERT_STRING_EQUAL(tl_dtype_name(tl_dtype_of_type(TL_TEXT("long"))), "Long");
    CU_ASSERT_STRING_EQUAL(tl_dtype_name(tl_dtype_of_type(TL_TEXT("c10::Float8_e5m2"))), "Float8_e5m2");
    CU_ASSERT_EQUAL(tl_dtype_of_type(TL_TEXT("Scalar")), 0);
    CU_ASSERT_EQUAL(tl_dtype_of_type(TL_TEXT("")), 0);
    CU_ASSERT_STRING_EQUAL(tl_dtype_name(0), "");
    CU_ASSERT_STRING_EQUAL(tl_dtype_name(200), "");
    CU_ASSERT_EQUAL(tl_dtype_bytes(TL_TEXT("")), -1);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(an_annotation_tells_what_goes_in),
        TEST(what_is_not_told_is_not_guessed),
        TEST(an_operator_tells_both_ends),
        TEST(in_an_all_gather_each_rank_gives_as_much),
        TEST(arguments_come_first),
        TEST(an_operator_of_several_tells_of_none),
        TEST(an_operator_of_another_kind_tells_nothing),
        TEST(types_have_one_name_and_size),
    };
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("size", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
