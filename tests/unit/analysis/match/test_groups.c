/* test_groups.c - which ranks form a group, and what makes their collectives belong together. */
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/stats.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

/* What ranks say, and what is decided. */
typedef struct job {
    tl_membership m[MOST];
    int32_t hosts[MOST];
    size_t n;
    tl_sighting seen[MOST * TL_SIGHTINGS];
    size_t nseen;
    tl_fate fates[MOST];
    tl_table groups;
    tl_group_fact *facts;
} job;

static job j;

static void begin(void)
{
    tl_table_free(&j.groups);
    free(j.facts);
    memset(&j, 0, sizeof j);
    j.groups.schema = &tl_group_row_schema;
}

static tl_membership *member(int32_t rank, uint64_t members, const char *name)
{
    tl_membership *m = &j.m[j.n];
    *m = (tl_membership){ .members_key = members,
                          .name_key = (uint64_t)name[0],
                          .rank = rank,
                          .size = 4,
                          .n = 1,
                          .nlaunched = 1,
                          .from = TL_COLL_FROM_KERNEL };
    snprintf(m->name, sizeof m->name, "%s", name);
    j.hosts[j.n++] = -1;
    return m;
}

static void decide(void)
{
    tl_error err;
    free(j.facts);
    CU_ASSERT_EQUAL_FATAL(tl_groups_decide(j.m, j.hosts, j.n, j.seen, j.nseen, j.fates, &j.groups, &j.facts, &err),
                          TL_OK);
}

static const tl_group_row *group(size_t g)
{
    CU_ASSERT_FATAL(g < j.groups.n);
    return tl_table_row(&j.groups, g);
}

static void the_same_members_are_one_group_whatever_they_call_it(void)
{
    begin();
    member(0, 77, "5");
    member(1, 77, "9");
    member(1, 78, "5");
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 2);
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[1].group);
    CU_ASSERT_EQUAL(j.fates[0].group_key, j.fates[1].group_key);
    CU_ASSERT_NOT_EQUAL(j.fates[1].group, j.fates[2].group);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->name, "5"); /* as its lowest rank has it */
    CU_ASSERT_EQUAL(group((size_t)j.fates[0].group)->seen, 2);
}

static void two_names_on_one_rank_are_two_groups(void)
{
    begin();
    member(0, 77, "5");
    member(0, 77, "6");
    member(1, 77, "6");
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 2);
    CU_ASSERT_NOT_EQUAL(j.fates[0].group, j.fates[1].group);
    CU_ASSERT_EQUAL(j.fates[1].group, j.fates[2].group);
}

static void one_rank_without_numbers_takes_them_from_all(void)
{
    begin();
    member(0, 77, "5")->nseq = 1;
    member(1, 77, "5")->nseq = 1;
    decide();
    CU_ASSERT_TRUE(j.fates[0].by_seq && j.fates[1].by_seq);
    j.m[1].nseq = 0;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_FALSE(j.fates[0].by_seq || j.fates[1].by_seq);
}

static void launches_outside_steps_count_where_all_saw_the_same(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        tl_membership *m = member(r, 77, "5");
        m->nloose = 3, m->loose_key = 1234;
    }
    decide();
    CU_ASSERT_TRUE(j.fates[0].by_loose_launch);
    j.m[1].loose_key = 1235;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_FALSE(j.fates[0].by_loose_launch);
}

/* The clock of rank 1 is 5 ms ahead; it has begun to record a step later than rank 0, and steps are not of one length. */
static void launches_that_do_not_end_together_are_not_the_same(void)
{
    static const struct {
        int64_t ends_us[3];
        int same;
    } cases[] = {
        { { 5000, 105000, 405000 }, 1 },   { { 5150, 105000, 405020 }, 1 }, /* some leave earlier than others */
        { { 5000, 105020, 405240 }, 1 },                                    /* 1 part in 10 000 is a drift */
        { { 105000, 205300, 505000 }, 0 }, { { 105000, 205000, 506000 }, 0 },
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        begin();
        for (int32_t r = 0; r < 2; r++) {
            tl_membership *m = member(r, 77, "5");
            m->nloose = m->nends = 5, m->loose_key = 1234;
            for (int i = 0; i < 3; i++)
                m->ends_ns[i] = r == 1 ? cases[c].ends_us[i] * 1000 : (const int64_t[]){ 0, 100000000, 400000000 }[i];
        }
        decide();
        CU_ASSERT_EQUAL(j.fates[0].by_loose_launch, cases[c].same);
        tl_table_free(&j.groups);
    }
}

/* Groups by size, named before inferred; and the same whoever is asked first. */
static void numbers_do_not_depend_on_the_order_of_ranks(void)
{
    tl_fate first[MOST];
    for (int way = 0; way < 2; way++) {
        begin();
        for (int32_t i = 0; i < 8; i++) {
            int32_t rank = way == 0 ? i : 7 - i;
            member(rank, 1000, "all")->size = 8;
            member(rank, (uint64_t)(50 + rank / 2), "tp")->size = 2;
        }
        j.m[0].inferred = 0;
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, 5);
        CU_ASSERT_EQUAL(group(0)->size, 8);
        for (size_t i = 0; i < j.n; i++) {
            size_t rank = (size_t)j.m[i].rank, at = rank * 2 + i % 2;
            if (way == 0)
                first[at] = j.fates[i];
            CU_ASSERT_EQUAL(j.fates[i].group, first[at].group);
            CU_ASSERT_EQUAL(j.fates[i].group_key, first[at].group_key);
            CU_ASSERT_EQUAL(j.fates[i].group, i % 2 == 0 ? 0 : 1 + (int32_t)rank / 2);
        }
    }
}

static void hosts_say_where_a_group_lies(void)
{
    begin();
    for (int32_t r = 0; r < 4; r++)
        member(r, 77, "5");
    static const struct {
        int32_t hosts[4], size, nhosts;
        tl_node_span span;
    } cases[] = {
        { { 3, 3, 3, 3 }, 4, 1, TL_SPAN_INTRA_NODE }, { { 3, 3, 4, 3 }, 4, 2, TL_SPAN_INTER_NODE },
        { { 3, 3, -1, 3 }, 4, -1, TL_SPAN_UNKNOWN },  { { 3, 3, 3, 3 }, 8, 1, TL_SPAN_UNKNOWN },
        { { 3, 4, 3, 4 }, 8, 2, TL_SPAN_INTER_NODE }, { { 3, 3, 3, 3 }, -1, 1, TL_SPAN_INTRA_NODE },
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        memcpy(j.hosts, cases[c].hosts, sizeof cases[c].hosts);
        for (size_t i = 0; i < 4; i++)
            j.m[i].size = cases[c].size;
        tl_table_free(&j.groups);
        decide();
        CU_ASSERT_EQUAL(group(0)->span, cases[c].span);
        CU_ASSERT_EQUAL(group(0)->hosts, cases[c].nhosts);
    }
}

/* The k-th collective of a rank ended then. */
static void saw(int32_t membership, uint64_t item, int64_t end_ns)
{
    j.seen[j.nseen++] =
        (tl_sighting){ .item = item, .start_ns = end_ns - 50000000, .end_ns = end_ns, .membership = membership };
}

/* Four ranks of an inferred group: 0 and 2 end together, 1 and 3 do, at other times.  Clocks may be apart. */
static void those_who_do_not_end_together_are_parted(void)
{
    static const int64_t clock[] = { 0, 0, 5000000000, -70000 };
    begin();
    for (int32_t r = 0; r < 4; r++) {
        member(r, 900, "")->inferred = 1;
        j.m[r].size = -1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(r, k, (int64_t)k * 10000000 + clock[r] + (r % 2 == 1 ? (int64_t)(k * k % 7) * 1000000 : 0) + r * 9000);
    }
    decide();
    CU_ASSERT_EQUAL_FATAL(j.groups.n, 2);
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[2].group);
    CU_ASSERT_EQUAL(j.fates[1].group, j.fates[3].group);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, "0,2");
    CU_ASSERT_EQUAL(group(0)->size, -1);
    CU_ASSERT_EQUAL(group(0)->seen, 2);
}

/* Pairs that end nearly together; but now and then 2 and 3 come when 0 and 1 have left. */
static void who_comes_when_others_have_left_is_of_another_group(void)
{
    for (int missing = 0; missing < 2; missing++) {
        begin();
        for (int32_t r = 0; r < 4; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 20; k++) {
                int64_t late = r / 2 * (int64_t)(k % 4) * 60000;
                saw(r, k, (int64_t)k * 10000000 + late + r * 3000);
                j.seen[j.nseen - 1].start_ns = j.seen[j.nseen - 1].end_ns - (missing && k % 4 == 3 ? 30000 : 400000);
            }
        }
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, missing ? 2 : 1);
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, missing ? "0,1" : "0-3");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[2].group)->ranks, missing ? "2,3" : "0-3");
        tl_table_free(&j.groups);
    }
}

/* The same, but it is 1 that is late, for which 0 waits: only 2 and 3 have left when 1 comes.  Pairs keep step to some
 * 15 us, those of the second half, a stage of its own, to 100 us with the first. */
static void a_late_one_is_missed_by_others_though_its_mate_waits(void)
{
    for (int late = 0; late < 2; late++) {
        begin();
        for (int32_t r = 0; r < 8; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 20; k++) {
                bool waits = late && r / 2 == 0 && k % 5 == 0;
                int64_t step_ns = (int64_t)k * 10000000 + r / 4 * (int64_t)(k * 7 % 5) * 100000;
                saw(r, k, step_ns + (int64_t)(k * (uint64_t)(r / 2 + 2) % 4) * 15000 + (waits ? 900000 : 0));
                j.seen[j.nseen - 1].start_ns = j.seen[j.nseen - 1].end_ns - (waits && r == 1 ? 30000 : 1500000);
            }
        }
        decide();
        CU_ASSERT_EQUAL_FATAL(j.groups.n, late ? 4 : 1);
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, late ? "0,1" : "0-7");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[7].group)->ranks, late ? "6,7" : "0-7");
        tl_table_free(&j.groups);
    }
}

/* Ranks 0 and 1 are one stage of a pipeline, 2 and 3 the next: each reduces its gradients, always 12 ms after the
 * other, and then all do something together.  The hosts' clocks are 3 ms apart. */
static void stages_that_are_always_the_same_time_apart_are_no_group(void)
{
    begin();
    for (int32_t r = 0; r < 4; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(2 * r, k, (int64_t)k * 50000000 + r / 2 * (3000000 - 12000000 + (int64_t)(k * k % 5) * 30000));
        member(r, 901, "")->inferred = 1;
        for (uint64_t k = 1; k <= 10; k++)
            saw(2 * r + 1, k, (int64_t)k * 50000000 + 4000000 + r / 2 * 3000000 + r * 4000);
    }
    decide();
    CU_ASSERT_EQUAL_FATAL(j.groups.n, 3);
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, "0,1");
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[4].group)->ranks, "2,3");
    CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, "0-3");
    for (size_t i = 0; i < j.nseen; i++) /* without what they do together nobody would know */
        if (j.seen[i].membership % 2 == 1)
            j.seen[i].item = 1000 + (uint64_t)j.seen[i].membership * 100 + i;
    tl_table_free(&j.groups);
    decide();
    CU_ASSERT_EQUAL(j.fates[0].group, j.fates[4].group);
}

/* The clocks of six ranks agree when they reduce the loss.  But 0 and 1 are always done last with the gradients, and
 * each of the others 0.5 ms before the one before it: behind a slow link of their ring they are.  In pairs, they are
 * stages. */
static void a_slow_ring_lets_its_ranks_go_one_after_another(void)
{
    for (int stages = 0; stages < 2; stages++) {
        begin();
        for (int32_t r = 0; r < 6; r++) {
            int64_t early_ns = stages ? r / 2 * 1000000 : r < 2 ? 0 : (r - 1) * 500000;
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 10; k++)
                saw(2 * r, k, (int64_t)k * 50000000 - early_ns + r * (int64_t)(k % 5) * 1000);
            member(r, 901, "")->inferred = 1;
            for (uint64_t k = 1; k <= 10; k++)
                saw(2 * r + 1, k, (int64_t)k * 50000000 + 4000000 + r * (int64_t)(k % 2) * 100);
        }
        decide();
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, stages ? "0,1" : "0-5");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, "0-5");
        tl_table_free(&j.groups);
    }
}

/* Four pairs reduce in step with each other: all end within some 30 us, each pair within one.  When all reduce the norm
 * they end within one: it is not the clocks.  Where they never do that, the pairs may be hosts.  In a ring each is
 * steady with the one before it and the one behind. */
static void groups_in_step_are_told_by_how_steadily_they_end(void)
{
    enum { TOLD, NO_NORM, RING, CASES };
    for (int what = 0; what < CASES; what++) {
        begin();
        for (int32_t r = 0; r < 8; r++) {
            member(r, 900, "")->inferred = 1;
            for (uint64_t k = 1; k <= 20; k++) {
                int64_t pair = (int64_t)(k * (uint64_t)(r / 2 * 7 + 3) * 2654435761U >> 8 & 63) * 1000;
                int64_t place = (int64_t)(k * 40503U >> 4 & 31) * 1000 * r;
                saw(2 * r, k, (int64_t)k * 10000000 + (what == RING ? place : pair) + r % 2 * 12000);
            }
            member(r, 901, "")->inferred = 1;
            for (uint64_t k = 1; k <= 10; k++)
                saw(2 * r + 1, what == NO_NORM ? 1000 + (uint64_t)r * 100 + k : k, (int64_t)k * 20000000 + r * 500);
        }
        decide();
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[0].group)->ranks, what == TOLD ? "0,1" : "0-7");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[14].group)->ranks, what == TOLD ? "6,7" : "0-7");
        CU_ASSERT_STRING_EQUAL(group((size_t)j.fates[1].group)->ranks, "0-7");
        tl_table_free(&j.groups);
    }
}

static void two_collectives_in_common_contradict_nothing(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 4; k++)
            if (k <= 2 || r == 0)
                saw(r, k, (int64_t)k * 10000000 + r * (int64_t)k * 1000000);
    }
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 1);
    CU_ASSERT_STRING_EQUAL(group(0)->ranks, "0,1");
}

static void an_outlier_does_not_part_a_group(void)
{
    begin();
    for (int32_t r = 0; r < 2; r++) {
        member(r, 900, "")->inferred = 1;
        for (uint64_t k = 1; k <= 9; k++)
            saw(r, k, (int64_t)k * 10000000 + (r == 1 && k % 3 == 0 ? 4000000 : 0));
    }
    decide();
    CU_ASSERT_EQUAL(j.groups.n, 1);
}

/* ------------------------------------------------------------------------------------------------------------ keys */

static const tl_fate plain_fate = { .group_key = 5, .by_loose_launch = 1 }, seq_fate = { .group_key = 5, .by_seq = 1 };

static tl_participant part(int32_t rank)
{
    return (
        tl_participant){ .rank = rank, .seq = -1, .step = 4, .nth = 2, .peer = -1, .kind = TL_ALL_REDUCE, .uid = 9 };
}

static void rules_come_in_order(void)
{
    tl_participant p = part(0), q = part(1);
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
    q.part = 1;
    tl_match_key(&q, &seq_fate);
    CU_ASSERT_NOT_EQUAL(p.key, q.key);

    p.seq = p.nth = -1;
    tl_match_key(&p, &seq_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_NOTHING);
    CU_ASSERT_EQUAL(p.key, 0);
    CU_ASSERT_NOT_EQUAL(tl_lone_key(&p), 0);
    CU_ASSERT_NOT_EQUAL(tl_lone_key(&p), tl_lone_key(&q));
}

static void outside_a_step_ranks_must_have_launched_alike(void)
{
    tl_participant p = part(0);
    p.step = -1;
    tl_match_key(&p, &plain_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_LAUNCH);
    tl_match_key(&p, &seq_fate);
    CU_ASSERT_EQUAL(p.rule, TL_BY_NOTHING);
}

static void a_send_meets_the_receive_of_its_receiver(void)
{
    tl_participant send = part(3), recv = part(7), back = part(3);
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
    tl_participant low = part(3), high = part(7), send = part(3);
    low.kind = high.kind = TL_SEND_RECV;
    send.kind = TL_SEND;
    low.peer = send.peer = 7, high.peer = 3;
    tl_match_key(&low, &seq_fate);
    tl_match_key(&high, &seq_fate);
    tl_match_key(&send, &seq_fate);
    CU_ASSERT_EQUAL(low.rule, TL_BY_PAIR);
    CU_ASSERT_EQUAL(low.key, high.key);
    CU_ASSERT_EQUAL(low.key, send.key);
    high.part = 2; /* of another step */
    tl_match_key(&high, &seq_fate);
    CU_ASSERT_NOT_EQUAL(low.key, high.key);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_same_members_are_one_group_whatever_they_call_it),
        TEST(two_names_on_one_rank_are_two_groups),
        TEST(one_rank_without_numbers_takes_them_from_all),
        TEST(launches_outside_steps_count_where_all_saw_the_same),
        TEST(launches_that_do_not_end_together_are_not_the_same),
        TEST(numbers_do_not_depend_on_the_order_of_ranks),
        TEST(hosts_say_where_a_group_lies),
        TEST(those_who_do_not_end_together_are_parted),
        TEST(who_comes_when_others_have_left_is_of_another_group),
        TEST(a_late_one_is_missed_by_others_though_its_mate_waits),
        TEST(groups_in_step_are_told_by_how_steadily_they_end),
        TEST(stages_that_are_always_the_same_time_apart_are_no_group),
        TEST(a_slow_ring_lets_its_ranks_go_one_after_another),
        TEST(two_collectives_in_common_contradict_nothing),
        TEST(an_outlier_does_not_part_a_group),
        TEST(rules_come_in_order),
        TEST(outside_a_step_ranks_must_have_launched_alike),
        TEST(a_send_meets_the_receive_of_its_receiver),
        TEST(who_sends_and_receives_meets_who_does_both),
    };
    int failed = unit_main("groups", tests, COUNT(tests));
    tl_table_free(&j.groups);
    free(j.facts);
    return failed;
}
