/* test_link_peer.c - whom a send goes to and a receive comes from, one by one and in batches. */
#include "coll_view.h"

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

/* Rank 3 is place 3 of the group: 3->5 is to its place 5, 3->9 to rank 9, since the group has no place 9. */
static void a_number_that_is_no_place_is_a_rank(void)
{
    static const struct {
        const char *entries;
        int32_t dst;
    } cases[] = {
#define OF_SIX "," GROUP("3", "[0, 1, 2, 3, 5, 9]", 6)
        { HOST("user_annotation", "nccl:send 3->5", 10, 9, "") "," LAUNCH(12, 1) "," KERNEL(SENDRECV, 50, 1, OF_SIX), 9 },
        { HOST("user_annotation", "nccl:send 3->9", 10, 9, "") "," LAUNCH(12, 1) "," KERNEL(SENDRECV, 50, 1, OF_SIX), 9 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CU_ASSERT_EQUAL(coll(view_of(cases[i].entries, ""), 0)->dst, cases[i].dst);
        forget();
    }
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
        TEST(a_send_has_its_receiver_and_a_receive_its_sender),
        TEST(annotations_call_ranks_by_their_places_in_the_group_or_by_their_numbers),
        TEST(places_are_those_of_the_sorted_ranks),
        TEST(a_number_that_is_no_place_is_a_rank),
        TEST(who_is_in_no_group_is_one_of_two),
        TEST(who_sends_and_who_receives_is_known_by_both_ranks),
        TEST(of_two_the_other_is_the_other_one),
        TEST(a_batch_is_what_stands_before_its_launch),
        TEST(annotations_before_the_launch_are_a_batch_as_well),
    };
    int failed = scratch_make() || unit_main("link_peer", tests, COUNT(tests));
    return scratch_remove() || failed;
}
