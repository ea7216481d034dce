/* test_link_coll.c - what communication carries and in which group: from arguments, operators, annotations and
 * names. */
#include "coll_view.h"

#define NCCL             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"

static void the_kernels_arguments_come_first_and_the_operator_adds_to_them(void)
{
    const tl_rank_view *v =
        view_of(HOST("cpu_op", "record_param_comms", 10, 9,
                     "\"Collective name\":\"broadcast\",\"dtype\":\"Float\",\"In msg nelems\":7,\"Seq\":5,"
                     "\"Process Group Name\":\"9\",\"Global rank start\":4,\"Global rank stride\":2,\"Group "
                     "size\":3") "," LAUNCH(12, 1) "," KERNEL("mystery", 50, 1,
                                                              ",\"Collective "
                                                              "name\":\"allreduce\",\"dtype\":\"BFloat16\",\"In "
                                                              "msg nelems\":100"),
                "");
    const tl_coll *c = coll(v, 0);
    CU_ASSERT_EQUAL(c->kind, TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(v->kernels[0].collective, TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(c->from, TL_COLL_FROM_KERNEL);
    CU_ASSERT_EQUAL(c->in_nelems, 100);
    CU_ASSERT_EQUAL(c->bytes, 200);
    CU_ASSERT_EQUAL(c->seq, 5);
    const tl_group *g = group(v, 0);
    CU_ASSERT_TRUE(g->complete);
    CU_ASSERT_EQUAL_FATAL(g->nmembers, 3);
    CU_ASSERT_EQUAL(g->members[0], 4);
    CU_ASSERT_EQUAL(g->members[2], 8);
    forget();
}

static void the_operator_speaks_where_the_kernel_is_silent(void)
{
    const tl_rank_view *v =
        view_of(HOST("cpu_op", "c10d::x", 9, 20, "") "," HOST(
                    "cpu_op", "record_param_comms", 10, 9,
                    "\"Collective name\":\"_allgather_base\",\"dtype\":\"Half\","
                    "\"In msg nelems\":10,\"Out msg nelems\":40," GROUP(
                        "1", "[0, 1, 2, 3]", 4)) "," LAUNCH(12, 1) "," KERNEL("ncclDevKernel_Generic", 50, 1, ""),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_ALL_GATHER);
    CU_ASSERT_EQUAL(coll(v, 0)->from, TL_COLL_FROM_OPERATOR);
    CU_ASSERT_EQUAL(coll(v, 0)->bytes, 80);
    CU_ASSERT_EQUAL(group(v, 0)->size, 4);
    forget();
}

static void the_annotation_names_what_the_kernels_name_does_not(void)
{
    const tl_rank_view *v = view_of(
        HOST("cpu_op", "record_param_comms", 10, 20, "") "," HOST(
            "user_annotation", "nccl:all_to_all", 11, 5,
            "") "," LAUNCH(12, 1) "," LAUNCH(25, 2) "," KERNEL("ncclDevKernel_SendRecv", 50, 1,
                                                               "") "," KERNEL("ncclDevKernel_SendRecv", 60, 2, ""),
        "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_ALL_TO_ALL);
    CU_ASSERT_EQUAL(coll(v, 0)->from, TL_COLL_FROM_ANNOTATION);
    CU_ASSERT_EQUAL(coll(v, 0)->group, TL_NONE);
    CU_ASSERT_EQUAL(coll(v, 1)->kind, TL_SEND_RECV); /* launched when the annotation was over */
    CU_ASSERT_EQUAL(coll(v, 1)->from, TL_COLL_FROM_NAME);
    CU_ASSERT_EQUAL(v->ngroups, 0);
    forget();
}

static void an_operator_that_is_over_is_stepped_over(void)
{
    const tl_rank_view *v =
        view_of(HOST("cpu_op", "c10d::allreduce_", 10, 40,
                     "") "," HOST("user_annotation", "nccl:broadcast", 11, 2,
                                  "") "," HOST("user_annotation", "nccl:reduce", 14, 2,
                                               "") "," LAUNCH(20, 1) "," KERNEL("ncclDevKernel_Generic", 50, 1, ""),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_ALL_REDUCE);
    forget();
}

static void an_operator_of_another_thread_says_nothing(void)
{
    const tl_rank_view *v =
        view_of("{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"nccl:broadcast\",\"pid\":99,\"tid\":97,\"ts\":10,"
                "\"dur\":20}," LAUNCH(12, 1) "," KERNEL("ncclDevKernel_Generic", 50, 1, ""),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_COLL_UNKNOWN);
    forget();
}

static void compute_has_no_part_in_a_collective(void)
{
    const tl_rank_view *v = view_of(KERNEL("volta_sgemm", 1, 1, "") "," KERNEL(NCCL, 5, 2, ""), "");
    CU_ASSERT_EQUAL(v->kernels[0].kind, TL_COMPUTE);
    CU_ASSERT_EQUAL(v->ncolls, 1);
    CU_ASSERT_EQUAL(coll(v, 1)->kind, TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(coll(v, 1)->bytes, -1);
    forget();
}

static void a_group_is_its_members_in_any_order_and_one_name(void)
{
    const tl_rank_view *v = view_of(
        KERNEL(NCCL, 1, 1, "," GROUP("1", "[3, 1, 2]", 3)) "," KERNEL(
            NCCL, 5, 2, "," GROUP("1", "[1,2,3]", 3)) "," KERNEL(NCCL, 9, 3,
                                                                 "," GROUP("2", "[1, 2, 3]",
                                                                           3)) "," KERNEL(NCCL, 13, 4,
                                                                                          "," GROUP("1", "[1, 2]", 2)),
        "");
    CU_ASSERT_EQUAL(v->ngroups, 3);
    CU_ASSERT_EQUAL(coll(v, 0)->group, coll(v, 1)->group);
    CU_ASSERT_NOT_EQUAL(coll(v, 0)->group, coll(v, 2)->group);
    CU_ASSERT_EQUAL(group(v, 0)->members_key, group(v, 2)->members_key);
    CU_ASSERT_NOT_EQUAL(group(v, 0)->members_key, group(v, 3)->members_key);
    CU_ASSERT_EQUAL(group(v, 0)->members[0], 1);
    forget();
}

#define SHOWN                                                                                                          \
    "0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, "  \
    "58"
#define REST "60, 62"

/* The same 32 ranks: written out, cut with the configuration, cut with a stride. */
static void a_list_that_was_cut_is_completed(void)
{
    const tl_rank_view *v =
        view_of(KERNEL(NCCL, 1, 1, "," GROUP("w", "[" SHOWN ", " REST "]", 32)) "," KERNEL(
                    NCCL, 5, 2,
                    "," GROUP("w", "[" SHOWN ", ...]",
                              32)) "," KERNEL(NCCL, 9, 3,
                                              ",\"Global rank start\":0,\"Global rank stride\":2," GROUP(
                                                  "x", "[" SHOWN ", ...]", 32)),
                ", \"distributedInfo\": {\"rank\": 3, \"world_size\": 64, \"pg_config\": [{\"pg_name\": \"w\", "
                "\"ranks\": [" SHOWN ", " REST "]}]}");
    CU_ASSERT_EQUAL(coll(v, 0)->group, coll(v, 1)->group);
    CU_ASSERT_EQUAL(group(v, 0)->members_key, group(v, 2)->members_key);
    CU_ASSERT_TRUE(group(v, 2)->complete);
    CU_ASSERT_EQUAL(group(v, 2)->nmembers, 32);
    forget();
}

static void a_group_as_large_as_the_job_is_the_job(void)
{
    const tl_rank_view *v = view_of(
        KERNEL(NCCL, 1, 1, "," GROUP("0", "[0, 1, ...]", 40)) "," KERNEL(NCCL, 5, 2, "," GROUP("0", "[0, 7, ...]", 6)),
        ", \"distributedInfo\": {\"rank\": 3, \"world_size\": 40}");
    CU_ASSERT_EQUAL(v->world_size, 40);
    CU_ASSERT_TRUE(group(v, 0)->complete);
    CU_ASSERT_EQUAL(group(v, 0)->nmembers, 40);
    CU_ASSERT_FALSE(group(v, 1)->complete); /* six ranks, two of them shown */
    CU_ASSERT_EQUAL(group(v, 1)->size, 6);
    CU_ASSERT_EQUAL(group(v, 1)->nmembers, 2);
    forget();
}

/* A configuration or a stride that contradicts what is shown is not believed. */
static void what_is_shown_is_not_contradicted(void)
{
    const tl_rank_view *v =
        view_of(KERNEL(NCCL, 1, 1, ",\"Global rank start\":0,\"Global rank stride\":3," GROUP("a", "[0, 2, ...]", 3)),
                ", \"distributedInfo\": {\"pg_config\": [{\"pg_name\": \"a\", \"ranks\": [0, 1, 3]}]}");
    CU_ASSERT_FALSE(group(v, 0)->complete);
    forget();
}

/* What cannot be completed is known by what is known; another size or name is another group. */
static void an_unfinished_list_is_told_apart_by_size_and_name(void)
{
    const tl_rank_view *v = view_of(
        KERNEL(NCCL, 1, 1, "," GROUP("a", "[0, 2, ...]", 50)) "," KERNEL(
            NCCL, 5, 2, "," GROUP("a", "[0, 2, ...]", 51)) "," KERNEL(NCCL, 9, 3, "," GROUP("b", "[0, 2, ...]", 50)),
        "");
    CU_ASSERT_NOT_EQUAL(group(v, 0)->members_key, group(v, 1)->members_key);
    CU_ASSERT_NOT_EQUAL(group(v, 0)->members_key, group(v, 2)->members_key);
    forget();
}

static void a_monstrous_stride_costs_nothing(void)
{
    const tl_rank_view *v =
        view_of(KERNEL(NCCL, 1, 1,
                       ",\"Global rank start\":0,\"Global rank stride\":4000000000000000000," GROUP(
                           "a", "[0, ...]", 9)) "," KERNEL(NCCL, 5, 2,
                                                           ",\"Global rank start\":0,\"Global rank stride\":1," GROUP(
                                                               "b", "[0, ...]", 9000000000000000000)),
                "");
    CU_ASSERT_FALSE(group(v, 0)->complete);
    CU_ASSERT_FALSE(group(v, 1)->complete);
    CU_ASSERT_EQUAL(group(v, 1)->size, -1);
    forget();
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_kernels_arguments_come_first_and_the_operator_adds_to_them),
        TEST(the_operator_speaks_where_the_kernel_is_silent),
        TEST(the_annotation_names_what_the_kernels_name_does_not),
        TEST(an_operator_that_is_over_is_stepped_over),
        TEST(an_operator_of_another_thread_says_nothing),
        TEST(compute_has_no_part_in_a_collective),
        TEST(a_group_is_its_members_in_any_order_and_one_name),
        TEST(a_list_that_was_cut_is_completed),
        TEST(a_group_as_large_as_the_job_is_the_job),
        TEST(what_is_shown_is_not_contradicted),
        TEST(an_unfinished_list_is_told_apart_by_size_and_name),
        TEST(a_monstrous_stride_costs_nothing),
    };
    int failed = scratch_make() || unit_main("link_coll", tests, COUNT(tests));
    return scratch_remove() || failed;
}
