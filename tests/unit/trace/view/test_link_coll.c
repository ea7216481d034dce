/* test_link_coll.c - what communication carries and between whom: from arguments, operators, annotations and names. */
#include "scratch.h"
#include "tlmpi/trace/view.h"
#include "unit.h"

static tl_trace trace;
static tl_linked linked;

/* Reads the entries as a run does, and links them.  `more` stands behind the array. */
static const tl_rank_view *view_of(const char *entries, const char *more)
{
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_rules rules = { 0 };
    tl_error err = { 0 };
    char text[16384];

    snprintf(text, sizeof text, "{\"traceEvents\": [%s]%s}", entries, more);
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("coll.json", text), &options, &trace, &err), TL_OK);
    CU_ASSERT_EQUAL_FATAL(tl_link(&trace, &rules, 3, &linked, &err), TL_OK);
    return &linked.view;
}

static void forget(void)
{
    tl_linked_free(&linked);
    tl_trace_free(&trace);
}

static const tl_coll *coll(const tl_rank_view *v, size_t kernel)
{
    CU_ASSERT_FATAL(kernel < v->nkernels && v->kernels[kernel].kind == TL_COMM && v->kernels[kernel].coll < v->ncolls);
    return &v->colls[v->kernels[kernel].coll];
}

static const tl_group *group(const tl_rank_view *v, size_t kernel)
{
    CU_ASSERT_FATAL(coll(v, kernel)->group < v->ngroups);
    return &v->groups[coll(v, kernel)->group];
}

#define KERNEL(name, ts, corr, args)                                                                                   \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts ",\"dur\":1,"             \
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":" #corr args "}}"
#define HOST(cat, name, ts, dur, args)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":99,\"tid\":98,\"ts\":" #ts ",\"dur\":" #dur       \
    ",\"args\":{" args "}}"
#define LAUNCH(ts, corr) HOST("cuda_runtime", "cudaLaunchKernel", ts, 1, "\"correlation\":" #corr)
#define NCCL             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
#define GROUP(name, ranks, size)                                                                                       \
    "\"Process Group Name\":\"" name "\",\"Process Group Ranks\":\"" ranks "\",\"Group size\":" #size

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

static void a_send_has_its_receiver_and_a_receive_its_sender(void)
{
    const tl_rank_view *v =
        view_of(KERNEL("ncclDevKernel_SendRecv", 1, 1,
                       ",\"Collective name\":\"send\",\"dtype\":\"Float\",\"In msg nelems\":4,\"Dst "
                       "Rank\":6") "," KERNEL("ncclDevKernel_SendRecv", 5, 2,
                                              ",\"Collective "
                                              "name\":\"recv\",\"dtype\":\"Float\",\"Out msg "
                                              "nelems\":3,\"Src Rank\":2"),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_SEND);
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 6);
    CU_ASSERT_EQUAL(coll(v, 0)->src, -1);
    CU_ASSERT_EQUAL(coll(v, 0)->bytes, 16);
    CU_ASSERT_EQUAL(coll(v, 1)->src, 2);
    CU_ASSERT_EQUAL(coll(v, 1)->bytes, 12);
    forget();
}

#define SENDRECV      "ncclDevKernel_SendRecv"
#define PIPE          GROUP("3", "[1, 3, 5, 7]", 4)
#define SPOKEN(name)  HOST("user_annotation", name, 10, 9, "") "," LAUNCH(12, 1) "," KERNEL(SENDRECV, 50, 1, "," PIPE)
#define NAMELESS(ann) HOST("user_annotation", ann, 10, 9, "") "," LAUNCH(12, 1) "," KERNEL(SENDRECV, 50, 1, "")

/* The rank is 3, which has place 1 in its pipeline. */
static void annotations_call_ranks_by_their_places_in_the_group_or_by_their_numbers(void)
{
    static const struct {
        const char *entries;
        tl_collective kind;
        int32_t src, dst;
    } cases[] = {
        { SPOKEN("nccl:send 1->2"), TL_SEND, -1, 5 },  { SPOKEN("nccl:recv 1<-0"), TL_RECV, 1, -1 },
        { SPOKEN("nccl:send 3->5"), TL_SEND, -1, 5 },  { SPOKEN("nccl:recv 3<-1"), TL_RECV, 1, -1 },
        { SPOKEN("nccl:send 2->1"), TL_SEND, -1, -1 }, /* neither calls rank 3 so */
        { SPOKEN("nccl:send 1->9"), TL_SEND, -1, -1 }, { SPOKEN("nccl:send 1"), TL_SEND, -1, -1 },
        { SPOKEN("nccl:send 1->"), TL_SEND, -1, -1 },  { SPOKEN("nccl:send 1->12345678901"), TL_SEND, -1, -1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tl_rank_view *v = view_of(cases[i].entries, "");
        CU_ASSERT_EQUAL(coll(v, 0)->kind, cases[i].kind);
        CU_ASSERT_EQUAL(coll(v, 0)->src, cases[i].src);
        CU_ASSERT_EQUAL(coll(v, 0)->dst, cases[i].dst);
        CU_ASSERT_TRUE(coll(v, 0)->p2p);
        forget();
    }
}

/* Rank 3 is place 2 of [0, 2, 4, 3]: of the sorted ranks. */
static void places_are_those_of_the_sorted_ranks(void)
{
    const tl_rank_view *v = view_of(HOST("user_annotation", "nccl:send 2->3", 10, 5, "") "," LAUNCH(12, 1) "," KERNEL(
                                        SENDRECV, 50, 1, "," GROUP("3", "[0, 2, 4, 3]", 4)),
                                    "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 4);
    forget();
}

/* Rank 3 is place 3 of both groups, and 3->5 could be either; but 3->1 is by rank alone, and 3->4 by place. */
static void what_fits_both_is_what_the_others_of_its_group_are(void)
{
#define BOTH(first, ranks)                                                                                             \
    HOST("user_annotation", first, 10, 5, "")                                                                          \
    "," LAUNCH(12, 1) "," HOST("user_annotation", "nccl:send 3->5", 20, 5, "") "," LAUNCH(22, 2) "," KERNEL(           \
        SENDRECV, 50, 1, "," GROUP("3", ranks, 6)) "," KERNEL(SENDRECV, 60, 2, "," GROUP("3", ranks, 6))
    const tl_rank_view *v = view_of(BOTH("nccl:send 3->9", "[0, 1, 2, 3, 5, 9]"), "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 9);
    CU_ASSERT_EQUAL(coll(v, 1)->dst, 5);
    forget();
    v = view_of(BOTH("nccl:send 3->4", "[0, 1, 2, 3, 5, 9]"), "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 5);
    CU_ASSERT_EQUAL(coll(v, 1)->dst, 9);
    forget();
}

/* By place 5 is two places on, by rank one. */
static void what_fits_both_alone_is_the_nearer_neighbour(void)
{
    const tl_rank_view *v = view_of(HOST("user_annotation", "nccl:send 3->5", 10, 5, "") "," LAUNCH(12, 1) "," KERNEL(
                                        SENDRECV, 50, 1, "," GROUP("3", "[0, 1, 2, 3, 5, 9]", 6)),
                                    "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 5);
    forget();
    v = view_of(HOST("user_annotation", "nccl:send 3->4", 10, 5,
                     "") "," LAUNCH(12, 1) "," KERNEL(SENDRECV, 50, 1, "," GROUP("3", "[0, 1, 2, 3, 9, 11, 4]", 7)),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 4); /* the same either way: the ranks are sorted */
    forget();
}

static void who_is_in_no_group_is_one_of_two(void)
{
    const tl_rank_view *v = view_of(NAMELESS("nccl:recv 3<-8"), "");
    CU_ASSERT_EQUAL(coll(v, 0)->src, 8);
    CU_ASSERT_EQUAL(group(v, 0)->size, 2);
    CU_ASSERT_EQUAL_FATAL(group(v, 0)->nmembers, 2);
    CU_ASSERT_EQUAL(group(v, 0)->members[0], 3);
    CU_ASSERT_EQUAL(group(v, 0)->members[1], 8);
    forget();
    v = view_of(NAMELESS("nccl:recv 1<-0"), ""); /* places of nobody knows what group */
    CU_ASSERT_EQUAL(coll(v, 0)->src, -1);
    CU_ASSERT_EQUAL(coll(v, 0)->group, TL_NONE);
    forget();
}

static void who_sends_and_who_receives_is_known_by_both_ranks(void)
{
    const tl_rank_view *v =
        view_of(KERNEL(SENDRECV, 50, 1, ",\"Src Rank\":3,\"Dst Rank\":6") "," KERNEL(
                    SENDRECV, 60, 2, ",\"Src Rank\":6,\"Dst Rank\":3") "," KERNEL(SENDRECV, 70, 3,
                                                                                  ",\"Src Rank\":6,\"Dst Rank\":7"),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_SEND);
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 6);
    CU_ASSERT_EQUAL(coll(v, 1)->kind, TL_RECV);
    CU_ASSERT_EQUAL(coll(v, 1)->src, 6);
    CU_ASSERT_EQUAL(coll(v, 2)->kind, TL_SEND_RECV); /* not this rank's */
    forget();
}

static void of_two_the_other_is_the_other_one(void)
{
    const tl_rank_view *v =
        view_of(KERNEL(SENDRECV, 50, 1, ",\"Collective name\":\"send\"," GROUP("8", "[3, 11]", 2)) "," KERNEL(
                    SENDRECV, 60, 2, ",\"Collective name\":\"recv\"," GROUP("9", "[5, 11]", 2)),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 11);
    CU_ASSERT_EQUAL(coll(v, 0)->src, -1);
    CU_ASSERT_EQUAL(coll(v, 1)->src, -1); /* rank 3 is none of them */
    forget();
}

#define BATCHED(more, name)                                                                                            \
    HOST("cpu_op", "record_param_comms", 10, 2,                                                                        \
         "\"Collective name\":\"send\",\"dtype\":\"Half\",\"In msg "                                                   \
         "nelems\":8,\"Dst Rank\":5," PIPE)                                                                            \
    "," HOST("cpu_op", "record_param_comms", 14, 2, "\"Collective name\":\"recv\"," more PIPE) "," HOST(               \
        "user_annotation", name, 18, 5, "") "," LAUNCH(20, 1) "," KERNEL(SENDRECV, 50, 1, "")

/* Nothing is around the launch but the word that several were launched. */
static void a_batch_is_what_stands_before_its_launch(void)
{
    const tl_rank_view *v = view_of(BATCHED("\"Src Rank\":5,", "nccl:coalesced"), "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_SEND_RECV);
    CU_ASSERT_TRUE(coll(v, 0)->p2p);
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 5);
    CU_ASSERT_EQUAL(coll(v, 0)->src, 5);
    CU_ASSERT_EQUAL(coll(v, 0)->bytes, 16);
    CU_ASSERT_EQUAL(coll(v, 0)->from, TL_COLL_FROM_OPERATOR);
    CU_ASSERT_EQUAL(group(v, 0)->size, 4);
    forget();
    v = view_of(BATCHED("\"Src Rank\":1,", "nccl:coalesced"), ""); /* with two ranks: no pair */
    CU_ASSERT_TRUE(coll(v, 0)->p2p);
    CU_ASSERT_EQUAL(coll(v, 0)->dst, -1);
    CU_ASSERT_EQUAL(coll(v, 0)->src, -1);
    forget();
    v = view_of(BATCHED("\"Src Rank\":5,", "nccl:all_to_all"), ""); /* the launch is of something else */
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_ALL_TO_ALL);
    CU_ASSERT_FALSE(coll(v, 0)->p2p);
    forget();
    v = view_of(NAMELESS("nccl:coalesced"), "");
    CU_ASSERT_EQUAL(coll(v, 0)->kind, TL_SEND_RECV);
    CU_ASSERT_TRUE(coll(v, 0)->p2p);
    forget();
}

static void annotations_before_the_launch_are_a_batch_as_well(void)
{
    const tl_rank_view *v =
        view_of(HOST("user_annotation", "nccl:send 3->5", 4, 4, "") "," LAUNCH(6, 2) "," HOST(
                    "user_annotation", "nccl:send 3->7", 10, 2,
                    "") "," HOST("user_annotation", "nccl:recv 3<-7", 13, 2,
                                 "") "," LAUNCH(20, 1) "," KERNEL(SENDRECV, 40, 2, "") "," KERNEL(SENDRECV, 50, 1, ""),
                "");
    CU_ASSERT_EQUAL(coll(v, 0)->dst, 5); /* launched by itself: no part of the batch */
    CU_ASSERT_EQUAL(coll(v, 1)->kind, TL_SEND_RECV);
    CU_ASSERT_EQUAL(coll(v, 1)->dst, 7);
    CU_ASSERT_EQUAL(coll(v, 1)->src, 7);
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
        TEST(a_send_has_its_receiver_and_a_receive_its_sender),
        TEST(annotations_call_ranks_by_their_places_in_the_group_or_by_their_numbers),
        TEST(places_are_those_of_the_sorted_ranks),
        TEST(what_fits_both_is_what_the_others_of_its_group_are),
        TEST(what_fits_both_alone_is_the_nearer_neighbour),
        TEST(who_is_in_no_group_is_one_of_two),
        TEST(who_sends_and_who_receives_is_known_by_both_ranks),
        TEST(of_two_the_other_is_the_other_one),
        TEST(a_batch_is_what_stands_before_its_launch),
        TEST(annotations_before_the_launch_are_a_batch_as_well),
    };
    int failed = scratch_make() || unit_main("link_coll", tests, COUNT(tests));
    return scratch_remove() || failed;
}
