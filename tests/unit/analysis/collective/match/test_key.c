/* test_key.c - the key of a participant: what makes kernels of several ranks one collective. */
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"

static const tl_fate plain_fate = { .group_key = 5, .by_loose_launch = 1 }, seq_fate = { .group_key = 5, .by_seq = 1 };

static tl_participant subseq(int32_t rank)
{
    return (
        tl_participant){ .rank = rank, .seq = -1, .step = 4, .nth = 2, .peer = -1, .kind = TL_ALL_REDUCE, .uid = 9 };
}

static void rules_come_in_order(void)
{
    tl_participant p = subseq(0), q = subseq(1);
    tl_match_key(&p, &plain_fate);
    tl_match_key(&q, &plain_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_LAUNCH);
    CU_ASSERT_EQUAL(p.key, q.key);
    q.nth = 3;
    tl_match_key(&q, &plain_fate);
    CU_ASSERT_NOT_EQUAL(p.key, q.key);

    p.seq = q.seq = 70; /* numbers count, launches may differ */
    tl_match_key(&p, &seq_fate);
    tl_match_key(&q, &seq_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_SEQ);
    CU_ASSERT_EQUAL(p.key, q.key);
    q.subseq = 1;
    tl_match_key(&q, &seq_fate);
    CU_ASSERT_NOT_EQUAL(p.key, q.key);

    p.seq = p.nth = -1;
    tl_match_key(&p, &seq_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_NOTHING);
    CU_ASSERT_EQUAL(p.key, 0);
    CU_ASSERT_NOT_EQUAL(tl_own_key(&p), 0);
    CU_ASSERT_NOT_EQUAL(tl_own_key(&p), tl_own_key(&q));
}

static void outside_a_step_ranks_must_have_launched_alike(void)
{
    tl_participant p = subseq(0);
    p.step = -1;
    tl_match_key(&p, &plain_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_LAUNCH);
    tl_match_key(&p, &seq_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_NOTHING);
}

static void a_send_meets_the_receive_of_its_receiver(void)
{
    tl_participant send = subseq(3), recv = subseq(7), back = subseq(3);
    send.kind = TL_SEND, send.peer = 7, send.seq = 1;
    recv.kind = TL_RECV, recv.peer = 3, recv.seq = 8; /* each rank counts its own */
    back.kind = TL_RECV, back.peer = 7;
    tl_match_key(&send, &seq_fate);
    tl_match_key(&recv, &seq_fate);
    tl_match_key(&back, &seq_fate);
    CU_ASSERT_EQUAL(send.rule, TL_BY_PAIR);
    CU_ASSERT_EQUAL(send.key, recv.key);
    CU_ASSERT_NOT_EQUAL(send.key, back.key);
    recv.nth = 3;
    tl_match_key(&recv, &seq_fate);
    CU_ASSERT_NOT_EQUAL(send.key, recv.key);
    send.peer = recv.peer = TL_PEER_UNKNOWN; /* to and from nobody knows whom: only their ends may tell */
    send.seq = recv.seq;
    tl_match_key(&send, &seq_fate);
    tl_match_key(&recv, &seq_fate);
    CU_ASSERT_EQUAL(send.rule, TL_BY_NOTHING);
    CU_ASSERT_EQUAL(send.key, 0);
    CU_ASSERT_EQUAL(recv.key, 0);
    send.peer = 7, send.nth = -1; /* the how-many-eth it is nobody knows */
    tl_match_key(&send, &seq_fate);
    CU_ASSERT_NOT_EQUAL(send.key, 0);
}

/* Both at once: counted by what the lower sends to the upper. */
static void who_sends_and_receives_meets_who_does_both(void)
{
    tl_participant low = subseq(3), high = subseq(7), send = subseq(3);
    low.kind = high.kind = TL_SEND_RECV;
    send.kind = TL_SEND;
    low.peer = send.peer = 7, high.peer = 3;
    tl_match_key(&low, &seq_fate);
    tl_match_key(&high, &seq_fate);
    tl_match_key(&send, &seq_fate);
    CU_ASSERT_EQUAL(low.rule, TL_BY_PAIR);
    CU_ASSERT_EQUAL(low.key, high.key);
    CU_ASSERT_EQUAL(low.key, send.key);
    high.subseq = 2; /* of another step */
    tl_match_key(&high, &seq_fate);
    CU_ASSERT_NOT_EQUAL(low.key, high.key);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(rules_come_in_order),
        TEST(outside_a_step_ranks_must_have_launched_alike),
        TEST(a_send_meets_the_receive_of_its_receiver),
        TEST(who_sends_and_receives_meets_who_does_both),
    };
    return unit_main("key", tests, COUNT(tests));
}
