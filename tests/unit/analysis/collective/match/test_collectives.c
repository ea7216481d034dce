/* test_collectives.c - participants to collectives: order, who is there, what does not fit. */
#include "meet.h"
#include "tlmpi/analysis/collective/wait.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* The one collective of a drawing. */
static tl_collective_view view_of(meeting *m)
{
    tl_collective_run *runs = NULL;
    size_t n = 0;
    tl_participants_sort(m->participants, m->nparticipants);
    tl_runs_make(m->participants, m->nparticipants, &runs, &n);
    CU_ASSERT_EQUAL_FATAL(n, 1);
    tl_collective_view c = tl_collective_of_run(m->participants, runs, &m->facts);
    free(runs);
    return c;
}

static void participants_of_one_key_lie_together_by_rank(void)
{
    meeting *m = meet("0: AA..BB", "1: BB..AA", "2: .AA.BB", NULL);
    tl_collective_run *runs = NULL;
    size_t n = 0;
    tl_participants_sort(m->participants, m->nparticipants);
    tl_runs_make(m->participants, m->nparticipants, &runs, &n);
    CU_ASSERT_EQUAL_FATAL(n, 2);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_EQUAL(m->participants[i].rank, (int32_t)(i % 3));
        CU_ASSERT_EQUAL(m->participants[i].key, i < 3 ? 'A' : 'B');
    }
    CU_ASSERT_EQUAL(runs[0].first_arrival_ns, 0);
    CU_ASSERT_EQUAL(runs[1].first_arrival_ns, 0);
    m->participants[0].start_ns = 9 * US; /* A now begins later than B */
    m->participants[2].start_ns = 9 * US;
    m->participants[1].start_ns = 9 * US;
    free(runs);
    tl_runs_make(m->participants, m->nparticipants, &runs, &n);
    tl_runs_by_time(runs, n);
    CU_ASSERT_EQUAL(runs[0].first, 3);
    CU_ASSERT_EQUAL(runs[1].first, 0);
    free(runs);
    meeting_free(m);
}

static int as_sorted(const void *a, const void *b)
{
    const tl_participant *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

/* Whatever order they come in. */
static void sorting_is_sorting(void)
{
    uint64_t state = 7;
    tl_participant participants[500], wanted[500];
    for (int round = 0; round < 20; round++) {
        size_t n = unit_below(&state, COUNT(participants));
        memset(participants, 0, sizeof participants);
        for (size_t i = 0; i < n; i++)
            participants[i] = (tl_participant){ .key = unit_below(&state, 5),
                                                .group = (int32_t)unit_below(&state, 2),
                                                .rank = (int32_t)unit_below(&state, 4),
                                                .start_ns = (int64_t)unit_below(&state, 3),
                                                .uid = (uint32_t)i };
        memcpy(wanted, participants, sizeof wanted);
        qsort(wanted, n, sizeof *wanted, as_sorted);
        tl_participants_sort(participants, n);
        for (size_t i = 0; i < n; i++)
            CU_ASSERT_EQUAL(participants[i].uid, wanted[i].uid);
    }
}

static void who_is_missing_names_the_state(void)
{
    static const struct {
        const char *other;
        int32_t size, seen;
        tl_coll_state state;
    } cases[] = {
        { "1: AA", 2, 2, TL_COLL_WHOLE },     { "1: AA", 8, 2, TL_COLL_PARTIAL }, /* six ranks have no trace */
        { "1: AA", 8, 3, TL_COLL_MISSING },                                       /* one has, and is not there */
        { "1: AA", -1, 2, TL_COLL_PARTIAL },                                      /* who has no trace may be in it */
        { "1: ..", 2, 2, TL_COLL_UNMATCHED }, { "1: ..", 2, 1, TL_COLL_PARTIAL },
        { "1: ..", -1, 1, TL_COLL_PARTIAL },  { "1: ..", 1, 1, TL_COLL_WHOLE },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet("0: AA", cases[i].other, NULL);
        m->group.size = cases[i].size;
        m->group.seen = cases[i].seen;
        CU_ASSERT_EQUAL(view_of(m).state, cases[i].state);
        meeting_free(m);
    }
}

/* SendRecv kernels that name no partner: of a group that has collectives one of them, of others anybody may send to anybody. */
static void who_sends_to_whom_must_be_known(void)
{
    static const struct {
        const char *other;
        int32_t size, seen;
        uint8_t inferred, collects, all_traced;
        tl_coll_state state;
    } cases[] = {
        { "1: AA", 2, 2, 1, 1, 1, TL_COLL_WHOLE },      { "1: AA", 2, 2, 1, 0, 1, TL_COLL_PARTIAL },
        { "1: AA", 2, 2, 0, 0, 1, TL_COLL_WHOLE },      { "1: AA", 4, 2, 0, 0, 0, TL_COLL_PARTIAL },
        { "1: ..", -1, 1, 1, 0, 1, TL_COLL_UNMATCHED }, { "1: ..", -1, 1, 1, 0, 0, TL_COLL_PARTIAL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet("0: AA", cases[i].other, NULL);
        m->group = (tl_group_fact){ .size = cases[i].size,
                                    .seen = cases[i].seen,
                                    .inferred = cases[i].inferred,
                                    .collects = cases[i].collects,
                                    .all_traced = cases[i].all_traced };
        for (size_t p = 0; p < m->nparticipants; p++)
            m->participants[p].kind = TL_SEND_RECV;
        CU_ASSERT_EQUAL(view_of(m).state, cases[i].state);
        meeting_free(m);
    }
}

static void a_pair_is_two(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", "2: ....", NULL);
    m->participants[0].kind = TL_RECV, m->participants[0].peer = 1, m->participants[0].rule = TL_BY_PAIR;
    m->participants[1].kind = TL_SEND, m->participants[1].peer = 0, m->participants[1].rule = TL_BY_PAIR;
    tl_collective_view c = view_of(m);
    CU_ASSERT_EQUAL(c.state, TL_COLL_WHOLE);
    CU_ASSERT_EQUAL(c.suspect, TL_SUSPECT_NOTHING);
    CU_ASSERT_EQUAL(c.rule, TL_BY_PAIR);
    CU_ASSERT_EQUAL(c.size, 2);
    CU_ASSERT_EQUAL(c.kind, TL_SEND_RECV);
    m->nparticipants = 1;
    CU_ASSERT_EQUAL(view_of(m).state, TL_COLL_UNMATCHED);
    CU_ASSERT_EQUAL(view_of(m).kind, TL_RECV);
    m->participants[0].peer = 9; /* a rank without a trace */
    CU_ASSERT_EQUAL(view_of(m).state, TL_COLL_PARTIAL);
    meeting_free(m);
}

static void what_ranks_disagree_on_is_suspect(void)
{
    for (int what = 0; what < 5; what++) {
        meeting *m = meet("0: AAAA", "1: ..AA", NULL);
        for (int i = 0; i < 2; i++)
            m->participants[i].bytes = 8, m->participants[i].dtype = 5;
        m->participants[1].kind = what == TL_SUSPECT_KIND ? TL_ALL_GATHER : TL_ALL_REDUCE;
        m->participants[1].dtype = what == TL_SUSPECT_DTYPE ? 6 : 5;
        m->participants[1].bytes = what == TL_SUSPECT_SIZE ? 9 : 8;
        m->participants[1].rank = what == TL_SUSPECT_TWICE ? 0 : 1;
        CU_ASSERT_EQUAL(view_of(m).suspect, what);
        meeting_free(m);
    }
}

static void what_a_rank_does_not_tell_contradicts_nothing(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", "2: ..AA", NULL);
    m->participants[0].kind = TL_COLL_UNKNOWN;
    m->participants[1].bytes = 8, m->participants[2].dtype = 6;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    CU_ASSERT_EQUAL(view_of(m).kind, TL_ALL_REDUCE);
    m->participants[2].kind = TL_BROADCAST; /* two that tell, after one that does not */
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_KIND);
    m->participants[2].kind = TL_ALL_REDUCE;
    m->participants[2].bytes = 9;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_SIZE);
    meeting_free(m);
}

static void an_all_to_all_may_be_uneven_and_named_by_its_kernel(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", NULL);
    m->participants[0].kind = TL_SEND_RECV, m->participants[1].kind = TL_ALL_TO_ALL;
    m->participants[0].bytes = 5, m->participants[1].bytes = 6;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    CU_ASSERT_EQUAL(view_of(m).kind, TL_ALL_TO_ALL);
    m->participants[1].kind = TL_ALL_REDUCE;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_KIND);
    meeting_free(m);
}

/* 600 us between the end of one and the start of the other, or between two ends 1,400 us apart. */
static void what_cannot_be_one_collective_in_time_is_suspect(void)
{
    meeting *m = meet("0: A", "1: A", NULL);
    m->participants[1].start_ns = m->participants[0].end_ns + 600 * US;
    m->participants[1].end_ns = m->participants[1].start_ns + 100 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_WAIT);
    m->ranks[1].clock = 1; /* another clock, sure to 40 us */
    m->ranks[1].sigma_ns = 40 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    m->participants[1].start_ns = 0;
    m->participants[1].end_ns = 1400 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_ENDS);
    m->participants[1].kind = m->participants[0].kind = TL_ALL_TO_ALL;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    meeting_free(m);
}

/* Sends and receives of a pipeline whose kernels say no more: 6 ms apart they are no collective of all. */
static void what_nobody_names_must_at_least_be_near(void)
{
    meeting *m = meet("0: A", "1: A", NULL);
    m->participants[0].kind = m->participants[1].kind = TL_SEND_RECV;
    m->participants[1].end_ns += 4000 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    m->participants[1].end_ns += 2000 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_ENDS);
    m->participants[1].start_ns += 5500 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_WAIT);
    m->participants[0].kind = TL_ALL_TO_ALL; /* as one of them knows */
    m->participants[0].bytes = 5000, m->participants[1].bytes = 6000;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    m->participants[1].bytes = 5000; /* each gets something from the other: both have come before either is done */
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_WAIT);
    meeting_free(m);
}

/* The receiver came first, or the sender did, or both send; where a third takes part it is no pair. */
static void a_pair_waits_for_its_sender_or_its_receiver(void)
{
    static const struct {
        tl_collective early, late;
        tl_wait_state state;
    } cases[] = {
        { TL_RECV, TL_SEND, TL_WAIT_LATE_SENDER },
        { TL_SEND, TL_RECV, TL_WAIT_LATE_RECEIVER },
        { TL_SEND_RECV, TL_SEND_RECV, TL_WAIT_LATE_PARTNER },
        { TL_RECV, TL_SEND_RECV, TL_WAIT_LATE_SENDER },
        { TL_ALL_REDUCE, TL_ALL_REDUCE, TL_WAIT_LATE_RANK },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet("0: AAAA", "1: ..AA", NULL);
        m->participants[0].kind = (uint8_t)cases[i].early, m->participants[1].kind = (uint8_t)cases[i].late;
        tl_collective_view c = view_of(m);
        CU_ASSERT_EQUAL(tl_wait_state_of(&c), cases[i].state);
        meeting_free(m);
    }
}

static void a_wait_is_booked_once(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", "2: .AAA", NULL);
    m->participants[0].kind = m->participants[1].kind = m->participants[2].kind = TL_SEND_RECV;
    tl_collective_view c = view_of(m);
    CU_ASSERT_EQUAL(tl_wait_state_of(&c), TL_WAIT_LATE_RANK);
    c.uncertainty_ns = 2 * US;
    CU_ASSERT_EQUAL(tl_wait_state_of(&c), TL_WAIT_INCONCLUSIVE);
    c.suspect = TL_SUSPECT_SIZE;
    CU_ASSERT_EQUAL(tl_wait_state_of(&c), TL_WAIT_SUSPECT);
    c.n = 1;
    CU_ASSERT_EQUAL(tl_wait_state_of(&c), TL_WAIT_NONE);
    meeting_free(m);
}

static void nothing_is_received_before_it_is_sent(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", NULL);
    m->participants[0].peer = 1, m->participants[0].rule = TL_BY_PAIR;
    m->participants[1].peer = 0, m->participants[1].rule = TL_BY_PAIR;
    m->participants[1].start_ns += 700 * US;
    m->participants[1].end_ns += 700 * US;
    m->participants[0].kind = TL_SEND, m->participants[1].kind = TL_RECV; /* sent into a buffer: that may be */
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    m->participants[0].kind = TL_RECV, m->participants[1].kind = TL_SEND;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_WAIT);
    meeting_free(m);
}

/* The group is on two hosts, the pair on one of them. */
static void a_pair_lies_where_its_two_ranks_are(void)
{
    meeting *m = meet("0: AA", "1: AA", "2: ..", NULL);
    m->group.span = TL_SPAN_INTER_NODE;
    CU_ASSERT_EQUAL(view_of(m).span, TL_SPAN_INTER_NODE);
    m->participants[0].peer = 1, m->participants[1].peer = 0;
    m->participants[0].rule = m->participants[1].rule = TL_BY_PAIR;
    CU_ASSERT_EQUAL(view_of(m).span, TL_SPAN_INTRA_NODE);
    m->ranks[1].host = 1;
    CU_ASSERT_EQUAL(view_of(m).span, TL_SPAN_INTER_NODE);
    m->ranks[1].host = -1;
    CU_ASSERT_EQUAL(view_of(m).span, TL_SPAN_UNKNOWN);
    meeting_free(m);
}

static void clocks_matter_where_there_are_several(void)
{
    meeting *m = meet("0: AAAA", "1: ..AA", NULL);
    m->ranks[0].offset_ns = 70, m->ranks[0].sigma_ns = 10;
    m->ranks[1].offset_ns = -30, m->ranks[1].sigma_ns = 20;
    CU_ASSERT_EQUAL(view_of(m).uncertainty_ns, 0);
    m->ranks[1].clock = 1;
    CU_ASSERT_EQUAL(view_of(m).uncertainty_ns, 70);
    m->ranks[0].applied = m->ranks[1].applied = 1;
    CU_ASSERT_EQUAL(view_of(m).uncertainty_ns, 20);
    m->ranks[1].component = 1;
    CU_ASSERT_EQUAL(view_of(m).uncertainty_ns, 20); /* on one host, it may be one clock */
    m->ranks[1].host = 1;
    CU_ASSERT_EQUAL(view_of(m).uncertainty_ns, TL_CLOCK_UNTIED_NS);
    m->participants[0].end_ns = m->participants[1].start_ns - 1000000 * US; /* which clocks that far apart explain */
    m->participants[0].start_ns = m->participants[0].end_ns - 1000 * US;
    CU_ASSERT_EQUAL(view_of(m).suspect, TL_SUSPECT_NOTHING);
    meeting_free(m);
}

/* Times that a damaged trace makes up. */
static void absurd_times_overflow_nothing(void)
{
    meeting *m = meet("0: AAAA", "1: AAAA", NULL);
    m->participants[0].start_ns = m->participants[0].end_ns = INT64_MIN + 5;
    m->participants[1].start_ns = m->participants[1].end_ns = INT64_MAX - 5;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->suspect, TL_SUSPECT_WAIT);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->wait_ns, 0);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->end_spread_ns, INT64_MAX);
    meeting_free(m);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(participants_of_one_key_lie_together_by_rank),
        TEST(sorting_is_sorting),
        TEST(who_is_missing_names_the_state),
        TEST(who_sends_to_whom_must_be_known),
        TEST(a_pair_is_two),
        TEST(what_ranks_disagree_on_is_suspect),
        TEST(what_a_rank_does_not_tell_contradicts_nothing),
        TEST(an_all_to_all_may_be_uneven_and_named_by_its_kernel),
        TEST(what_cannot_be_one_collective_in_time_is_suspect),
        TEST(what_nobody_names_must_at_least_be_near),
        TEST(a_pair_waits_for_its_sender_or_its_receiver),
        TEST(a_wait_is_booked_once),
        TEST(nothing_is_received_before_it_is_sent),
        TEST(a_pair_lies_where_its_two_ranks_are),
        TEST(clocks_matter_where_there_are_several),
        TEST(absurd_times_overflow_nothing),
    };
    return unit_main("collectives", tests, COUNT(tests));
}
