/* test_participants.c - the how-many-eth of its kind: with and without launches, steps, groups and sequence numbers. */
#include "draw.h"
#include "tlmpi/analysis/collective/match.h"
#include "unit.h"
#include <string.h>

static tl_participants set;

static void collect(drawing *d)
{
    tl_participants_collect(&d->view, &set);
}

static void forget(drawing *d)
{
    tl_participants_free(&set);
    drawing_free(d);
}

/* The participant that starts in that column. */
static const tl_participant *at(int column)
{
    static const tl_participant none;
    for (size_t i = 0; i < set.participants.n; i++)
        if (set.participants.v[i].start_ns == column * US)
            return &set.participants.v[i];
    CU_FAIL("nobody starts there");
    return &none;
}

static const tl_membership *of(const tl_participant *p)
{
    return &set.memberships.v[p->group];
}

static void those_with_a_launch_are_counted_step_by_step(void)
{
    drawing *d = draw("steps:  ....4444444444445555555", "host:   ....b..c........d......",
                      "comm 9: AA....BB..CC......DDD..", NULL);
    collect(d);
    CU_ASSERT_EQUAL(at(0)->nth, -1); /* launched before the window */
    CU_ASSERT_EQUAL(at(6)->nth, 0);
    CU_ASSERT_EQUAL(at(6)->step, 4);
    CU_ASSERT_EQUAL(at(10)->nth, 1);
    CU_ASSERT_EQUAL(at(18)->nth, 0);
    CU_ASSERT_EQUAL(at(18)->step, 5);
    CU_ASSERT_EQUAL(set.memberships.n, 1);
    CU_ASSERT_EQUAL(of(at(6))->n, 4);
    CU_ASSERT_EQUAL(of(at(6))->nlaunched, 3);
    CU_ASSERT_EQUAL(of(at(6))->nloose, 0);
    CU_ASSERT_TRUE(of(at(6))->inferred);
    forget(d);
}

/* The host's order is the program's, which all ranks share; streams may overtake each other. */
static void the_order_of_launch_counts(void)
{
    drawing *d = draw("host:   ab.......", "comm 9: ......AA.", "comm 8: ...BB....", NULL);
    d->view.ngroups = 1;
    d->groups[0] = (tl_group){ .members_key = 77, .name = TL_NO_NAME, .desc = TL_NO_NAME, .size = 2 };
    d->colls[0].group = d->colls[1].group = 0;
    collect(d);
    CU_ASSERT_EQUAL(at(6)->nth, 0);
    CU_ASSERT_EQUAL(at(3)->nth, 1);
    forget(d);
}

static void kinds_are_counted_apart(void)
{
    drawing *d = draw("host:   abc......", "comm 9: ..AA.BBCC", NULL);
    d->view.ngroups = 1;
    d->groups[0] = (tl_group){ .members_key = 77, .name = TL_NO_NAME, .desc = TL_NO_NAME, .size = 2 };
    for (int i = 0; i < 3; i++)
        d->colls[i].group = 0;
    d->colls[1].kind = TL_ALL_GATHER;
    collect(d);
    CU_ASSERT_EQUAL(at(2)->nth, 0);
    CU_ASSERT_EQUAL(at(5)->nth, 0);
    CU_ASSERT_EQUAL(at(7)->nth, 1);
    CU_ASSERT_EQUAL(of(at(2))->nloose, 3);
    CU_ASSERT_EQUAL(of(at(2))->nends, 3);
    CU_ASSERT_EQUAL(of(at(2))->ends_ns[0], at(2)->end_ns);
    CU_ASSERT_EQUAL(of(at(2))->ends_ns[1], at(5)->end_ns);
    CU_ASSERT_EQUAL(of(at(2))->ends_ns[2], at(7)->end_ns);
    forget(d);
}

/* Outside any step the order of kinds decides whether ranks saw the same. */
static void another_order_of_kinds_is_another_key(void)
{
    uint64_t key[2];
    for (int way = 0; way < 2; way++) {
        drawing *d = draw("host:   ab.......", "comm 9: ..AA.BB..", NULL);
        d->view.ngroups = 1;
        d->groups[0] = (tl_group){ .members_key = 77, .name = TL_NO_NAME, .desc = TL_NO_NAME };
        d->colls[0].group = d->colls[1].group = 0;
        d->colls[way].kind = TL_ALL_GATHER;
        collect(d);
        key[way] = set.memberships.v[0].loose_key;
        forget(d);
    }
    CU_ASSERT_NOT_EQUAL(key[0], key[1]);
}

static void a_kernel_without_group_belongs_to_the_one_its_stream_serves(void)
{
    drawing *d = draw("comm 7: AA..BB...", "comm 9: ..CC.DD..", NULL);
    d->view.ngroups = 2;
    d->groups[0] = (tl_group){ .members_key = 70, .name = TL_NO_NAME, .desc = TL_NO_NAME };
    d->groups[1] = (tl_group){ .members_key = 71, .name = TL_NO_NAME, .desc = TL_NO_NAME };
    d->colls[1].group = 0; /* B; A has none */
    d->colls[2].group = 0; /* stream 9 serves two */
    d->colls[3].group = 1;
    collect(d);
    CU_ASSERT_EQUAL(at(0)->group, at(4)->group);
    CU_ASSERT_EQUAL(of(at(0))->members_key, 70);
    CU_ASSERT_EQUAL(of(at(5))->members_key, 71);
    forget(d);
}

/* Two streams without metadata, and two families on one of them: three groups, which every rank numbers alike. */
static void stream_and_family_stand_for_a_group(void)
{
    drawing *d = draw("comm 7: AA..BB...", "comm 9: ..CC.DD..", NULL);
    d->colls[1].kind = TL_ALL_TO_ALL;
    d->kernels[1].collective = TL_ALL_TO_ALL;
    collect(d);
    CU_ASSERT_EQUAL(set.memberships.n, 3);
    CU_ASSERT_NOT_EQUAL(of(at(0))->members_key, of(at(4))->members_key);
    CU_ASSERT_NOT_EQUAL(of(at(0))->members_key, of(at(2))->members_key);
    CU_ASSERT_EQUAL(at(2)->group, at(5)->group);
    tl_participants first = set;
    set = (tl_participants){ 0 };
    for (int i = 0; i < 4; i++) /* another rank, whose streams have other numbers */
        d->kernels[i].stream += 13;
    collect(d);
    CU_ASSERT_EQUAL(of(at(0))->members_key, first.memberships.v[first.participants.v[0].group].members_key);
    tl_participants_free(&first);
    forget(d);
}

/* All-to-alls are made of sends and receives: one whose launch is lost is known by its kernel's name alone. */
static void an_all_to_all_is_of_the_family_of_sends(void)
{
    drawing *d = draw("comm 7: AA..BB...", NULL);
    d->kernels[0].collective = d->colls[0].kind = TL_SEND_RECV;
    d->kernels[1].collective = d->colls[1].kind = TL_ALL_TO_ALL;
    collect(d);
    CU_ASSERT_EQUAL(at(0)->group, at(4)->group);
    forget(d);
}

static void kernels_of_one_number_have_parts_in_order_of_start(void)
{
    drawing *d = draw("comm 7: ..AA..BB...", "comm 9: CC..DD.....", NULL);
    d->view.ngroups = 1;
    d->groups[0] = (tl_group){ .members_key = 70, .name = TL_NO_NAME, .desc = TL_NO_NAME };
    for (int i = 0; i < 4; i++) {
        d->colls[i].group = 0;
        d->colls[i].seq = 5;
    }
    d->colls[1].seq = 6; /* B */
    collect(d);
    CU_ASSERT_EQUAL(at(0)->subseq, 0);
    CU_ASSERT_EQUAL(at(2)->subseq, 1);
    CU_ASSERT_EQUAL(at(4)->subseq, 2);
    CU_ASSERT_EQUAL(at(6)->subseq, 0);
    forget(d);
}

static void sends_are_counted_by_receiver(void)
{
    drawing *d = draw("steps:  444444444", "host:   abc......", "comm 7: ..AA.BBCC", NULL);
    for (int i = 0; i < 3; i++) {
        d->colls[i].kind = TL_SEND;
        d->colls[i].p2p = true;
        d->colls[i].dst = i == 1 ? 4 : 3;
        d->colls[i].seq = i;
    }
    collect(d);
    CU_ASSERT_EQUAL(at(2)->peer, 3);
    CU_ASSERT_EQUAL(at(5)->nth, 0);
    CU_ASSERT_EQUAL(at(5)->peer, 4);
    CU_ASSERT_EQUAL(at(7)->nth, 1);
    CU_ASSERT_EQUAL(of(at(2))->nlaunched, 0); /* they have a rule of their own */
    tl_participants_free(&set);
    d->view.nsteps = 0; /* who marks no steps cannot say which is the first */
    for (int i = 0; i < 3; i++)
        d->kernels[i].step = -1;
    collect(d);
    CU_ASSERT_EQUAL(at(2)->nth, -1);
    CU_ASSERT_EQUAL(at(2)->subseq, TL_UNCOUNTED);
    forget(d);
}

/* A, C and D go to rank 3, B and C come from there: C does both at once. */
static void what_goes_both_ways_counts_both_ways(void)
{
    drawing *d = draw("steps:  444444444444", "host:   abcd........", "comm 7: ..AA.BBCC.DD", NULL);
    static const tl_collective kinds[] = { TL_SEND, TL_RECV, TL_SEND_RECV, TL_SEND };
    for (int i = 0; i < 4; i++) {
        d->colls[i].kind = (uint8_t)kinds[i];
        d->colls[i].p2p = true;
        d->colls[i].dst = kinds[i] != TL_RECV ? 3 : -1;
        d->colls[i].src = kinds[i] != TL_SEND ? 3 : -1;
    }
    collect(d);
    CU_ASSERT_EQUAL(at(2)->nth, 0);
    CU_ASSERT_EQUAL(at(5)->nth, 0);
    CU_ASSERT_EQUAL(at(7)->peer, 3);
    CU_ASSERT_EQUAL(at(7)->nth, 1); /* of what rank 0 sends, for it is the lower of the two */
    CU_ASSERT_EQUAL(at(10)->nth, 2);
    tl_participants_free(&set);
    d->view.rank = 9;
    collect(d);
    CU_ASSERT_EQUAL(at(7)->nth, 1); /* of what rank 3 sends: one came before */
    d->colls[2].p2p = false;
    d->colls[2].from = TL_COLL_FROM_KERNEL; /* an all-to-all, for all that is known: the first of its kind */
    tl_participants_free(&set);
    collect(d);
    CU_ASSERT_EQUAL(at(7)->peer, TL_NO_PEER);
    CU_ASSERT_EQUAL(at(7)->nth, 0);
    d->colls[2].from = TL_COLL_FROM_NAME; /* nothing says so: among sends and receives it is some that go together */
    tl_participants_free(&set);
    collect(d);
    CU_ASSERT_EQUAL(at(7)->peer, TL_PEER_UNKNOWN);
    d->colls[2].p2p = true;
    d->colls[2].dst = d->colls[2].src = -1; /* a batch to nobody knows whom is counted nowhere */
    tl_participants_free(&set);
    collect(d);
    CU_ASSERT_EQUAL(at(7)->peer, TL_PEER_UNKNOWN);
    CU_ASSERT_EQUAL(at(7)->nth, -1);
    forget(d);
}

/* Step 4 has two sends.  Of the one before it, in which the recording begins, there is one left: the second.  The one
 * after the last is the first of its step. */
static void sends_before_the_first_step_are_the_last_of_theirs(void)
{
    drawing *d = draw("steps:  ....4444444.....", "host:   a...b..c....d...", "comm 7: .AA..BB.CC...DD.", NULL);
    for (int i = 0; i < 4; i++) {
        d->colls[i].kind = TL_SEND;
        d->colls[i].p2p = true;
        d->colls[i].dst = 3;
    }
    collect(d);
    CU_ASSERT_EQUAL(at(1)->nth, 1);
    CU_ASSERT_EQUAL(at(1)->subseq, 3);
    CU_ASSERT_EQUAL(at(5)->nth, 0);
    CU_ASSERT_EQUAL(at(5)->subseq, 4);
    CU_ASSERT_EQUAL(at(8)->nth, 1);
    CU_ASSERT_EQUAL(at(13)->nth, 0);
    CU_ASSERT_EQUAL(at(13)->subseq, 5);
    forget(d);
    d = draw("steps:  ......4444444.....", "host:   a.b.c......", "comm 7: .A.B..C....", NULL);
    for (int i = 0; i < 3; i++) {
        d->colls[i].kind = TL_SEND;
        d->colls[i].p2p = true;
        d->colls[i].dst = 3;
    }
    d->steps[0].start_ns = 4 * US;
    d->kernels[2].step = 4;
    collect(d);
    CU_ASSERT_EQUAL(at(1)->nth, -1); /* more than any step has: nobody knows which */
    CU_ASSERT_EQUAL(at(3)->nth, -1);
    CU_ASSERT_EQUAL(at(6)->nth, 0);
    forget(d);
}

/* Every step sends to 3 and receives from 5.  The recording begins when two of step 4, and one of step 3, are still
 * queued. */
static void what_was_launched_before_the_recording_is_what_comes_there_in_a_step(void)
{
    drawing *d = draw("steps:  .......55555556666666..", "host:   .......s.r....t.u......",
                      "comm 7: AABBCC..SSRR....TTUU...", NULL);
    for (int i = 0; i < 7; i++) {
        bool sends = i % 2 == 1;
        d->colls[i].p2p = i >= 3;
        d->colls[i].kind = i < 3 ? TL_SEND_RECV : sends ? TL_SEND : TL_RECV;
        d->colls[i].dst = i >= 3 && sends ? 3 : -1;
        d->colls[i].src = i >= 3 && !sends ? 5 : -1;
    }
    collect(d);
    CU_ASSERT_EQUAL(at(0)->kind, TL_RECV);
    CU_ASSERT_EQUAL(at(0)->peer, 5);
    CU_ASSERT_EQUAL(at(0)->subseq, 3);
    CU_ASSERT_EQUAL(at(2)->kind, TL_SEND);
    CU_ASSERT_EQUAL(at(2)->peer, 3);
    CU_ASSERT_EQUAL(at(2)->subseq, 4);
    CU_ASSERT_EQUAL(at(2)->nth, 0);
    CU_ASSERT_EQUAL(at(4)->kind, TL_RECV);
    CU_ASSERT_EQUAL(at(4)->subseq, 4);
    CU_ASSERT_EQUAL(at(8)->subseq, 5);
    d->colls[5].p2p = false; /* the stream has something else, too: nobody knows */
    d->colls[5].kind = TL_ALL_REDUCE;
    tl_participants_free(&set);
    collect(d);
    CU_ASSERT_EQUAL(at(2)->kind, TL_SEND_RECV);
    CU_ASSERT_EQUAL(at(2)->peer, TL_NO_PEER);
    forget(d);
}

/* Their arguments tell how many ranks take part, and nothing else of the group. */
static void told_sizes_tell_groups_without_a_name_apart(void)
{
    drawing *d = draw("host:   abcd.....", "comm 9: AABBCCDD.", NULL);
    const int32_t sizes[] = { 8, 2, 8, -1 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        d->colls[i].group_size = sizes[i];
    collect(d);
    CU_ASSERT_EQUAL(set.memberships.n, 3);
    CU_ASSERT_EQUAL(of(at(0))->size, 8);
    CU_ASSERT_EQUAL(of(at(2))->size, 2);
    CU_ASSERT_PTR_EQUAL(of(at(4)), of(at(0)));
    CU_ASSERT_EQUAL(of(at(6))->size, -1);
    forget(d);
}

static void a_second_rank_adds_its_own_memberships(void)
{
    drawing *d = draw("comm 7: AA..BB...", NULL);
    collect(d);
    d->view.rank = 1;
    collect(d);
    CU_ASSERT_EQUAL(set.participants.n, 4);
    CU_ASSERT_EQUAL(set.memberships.n, 2);
    CU_ASSERT_EQUAL(set.memberships.v[1].rank, 1);
    CU_ASSERT_EQUAL(set.participants.v[2].group, 1);
    CU_ASSERT_EQUAL(set.participants.v[2].rank, 1);
    forget(d);
}

static void ranks_read_as_people_write_them(void)
{
    static const struct {
        int32_t ranks[12];
        size_t n;
        const char *text;
    } cases[] = {
        { { 0 }, 0, "" },
        { { 5 }, 1, "5" },
        { { 0, 1 }, 2, "0,1" },
        { { 0, 1, 2, 3 }, 4, "0-3" },
        { { 0, 8, 16, 24 }, 4, "0-24/8" },
        { { 0, 1, 2, 7, 9, 11, 40 }, 7, "0-2,7-11/2,40" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[32];
        tl_ranks_text(cases[i].ranks, cases[i].n, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
        int32_t back[8];
        CU_ASSERT_EQUAL(tl_ranks_of_text(text, sizeof text, back, COUNT(back)), cases[i].n);
        CU_ASSERT_EQUAL(memcmp(back, cases[i].ranks, cases[i].n * sizeof *back), 0);
        CU_ASSERT(cases[i].n == 0 || tl_ranks_of_text(text, sizeof text, back, cases[i].n - 1) == 0);
    }
    static const int32_t odd[] = { 100, 201, 303, 406, 510, 615, 721 };
    char text[17] = "";
    tl_ranks_text(odd, COUNT(odd), text, 16);
    CU_ASSERT_STRING_EQUAL(text, "100,201,303,...");
    static const char *const none[] = { "100,201,303,...", "", "a", "3-1", "0-8/0", "1,,2", "1 2", "99999999999", "-1" };
    for (size_t i = 0; i < COUNT(none); i++) {
        int32_t back[16];
        CU_ASSERT_EQUAL(tl_ranks_of_text(none[i], strlen(none[i]), back, COUNT(back)), 0);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(those_with_a_launch_are_counted_step_by_step),
        TEST(the_order_of_launch_counts),
        TEST(kinds_are_counted_apart),
        TEST(another_order_of_kinds_is_another_key),
        TEST(a_kernel_without_group_belongs_to_the_one_its_stream_serves),
        TEST(stream_and_family_stand_for_a_group),
        TEST(an_all_to_all_is_of_the_family_of_sends),
        TEST(kernels_of_one_number_have_parts_in_order_of_start),
        TEST(sends_are_counted_by_receiver),
        TEST(what_goes_both_ways_counts_both_ways),
        TEST(sends_before_the_first_step_are_the_last_of_theirs),
        TEST(what_was_launched_before_the_recording_is_what_comes_there_in_a_step),
        TEST(told_sizes_tell_groups_without_a_name_apart),
        TEST(a_second_rank_adds_its_own_memberships),
        TEST(ranks_read_as_people_write_them),
    };
    return unit_main("participants", tests, COUNT(tests));
}
