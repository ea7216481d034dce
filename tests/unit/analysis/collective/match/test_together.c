/* test_together.c - where the participants of one collective end, and what ties them. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/model/coll.h"
#include "unit.h"

static void a_collective_ends_where_group_or_key_change(void)
{
    const tl_participant p[] = {
        { .group = 1, .key = 5 }, { .group = 1, .key = 5 }, { .group = 1, .key = 6 }, { .group = 2, .key = 6 }
    };
    CU_ASSERT_EQUAL(tl_participants_end(p, 4, 0), 2);
    CU_ASSERT_EQUAL(tl_participants_end(p, 4, 2), 3);
    CU_ASSERT_EQUAL(tl_participants_end(p, 4, 3), 4);
    CU_ASSERT_EQUAL(tl_participants_end(p, 1, 0), 1);
}

static void two_that_name_each_other_exchange_or_send_a_message(void)
{
    tl_participant p[] = { { .rank = 0, .peer = 3, .kind = TL_SEND_RECV },
                           { .rank = 3, .peer = 0, .kind = TL_SEND_RECV } };
    CU_ASSERT_TRUE(tl_participants_meet(p, 2));
    CU_ASSERT_EQUAL(tl_participants_sender(p, 2), -1);
    p[0].kind = TL_RECV;
    p[1].kind = TL_SEND;
    CU_ASSERT_FALSE(tl_participants_meet(p, 2));
    CU_ASSERT_EQUAL(tl_participants_sender(p, 2), 1);
    p[1].peer = 2;
    CU_ASSERT_EQUAL(tl_participants_sender(p, 2), -1);
}

static void all_of_a_meeting_synchronise(void)
{
    tl_participant p[] = { { .rank = 0, .peer = TL_NO_PEER, .kind = TL_ALL_REDUCE },
                           { .rank = 1, .peer = TL_NO_PEER, .kind = TL_ALL_REDUCE },
                           { .rank = 2, .peer = TL_NO_PEER, .kind = TL_ALL_REDUCE } };
    CU_ASSERT_TRUE(tl_participants_meet(p, 3));
    p[2].kind = TL_BROADCAST;
    CU_ASSERT_FALSE(tl_participants_synchronise(p, 3));
    CU_ASSERT_FALSE(tl_participants_meet(p, 3));
}

static void both_ends_agree_who_sends(void)
{
    CU_ASSERT_TRUE(tl_is_sender(TL_SEND, 3, 1));
    CU_ASSERT_FALSE(tl_is_sender(TL_RECV, 1, 3));
    CU_ASSERT_TRUE(tl_is_sender(TL_SEND_RECV, 1, 3));
    CU_ASSERT_FALSE(tl_is_sender(TL_SEND_RECV, 3, 1));
    CU_ASSERT_TRUE(tl_is_point_to_point(TL_RECV));
    CU_ASSERT_FALSE(tl_is_point_to_point(TL_ALL_TO_ALL));
}

static const unit_test tests[] = {
    TEST(a_collective_ends_where_group_or_key_change),
    TEST(two_that_name_each_other_exchange_or_send_a_message),
    TEST(all_of_a_meeting_synchronise),
    TEST(both_ends_agree_who_sends),
};

int main(void)
{
    return unit_main("together", tests, COUNT(tests));
}
