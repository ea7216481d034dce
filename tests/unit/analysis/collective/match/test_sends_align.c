/* test_sends_align.c - sends and receives that say nothing of their other end are paired by when they end. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/sort.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

enum { MESSAGES = 60, MOST = 4 * MESSAGES };

typedef struct job {
    tl_align_item items[MOST];
    size_t n;
} job;

/* One end of a message on a stream of a rank. */
static void add(job *j, int32_t rank, int32_t stream, int64_t start_ns, int64_t end_ns)
{
    j->items[j->n] = (tl_align_item){ .lone = j->n + 1, .start_ns = start_ns, .end_ns = end_ns, .group = stream,
                                     .rank = rank, .peer = TL_NO_PEER };
    j->n++;
}

/* Messages of a chain of three ranks; the clock of the last is off by so much.  Rank 1 has a stream for each neighbour, or
 * one for both. */
static void chain(job *j, int64_t off_ns, bool one_stream)
{
    uint64_t seed = 3;
    memset(j, 0, sizeof *j);
    for (int i = 0; i < MESSAGES; i++) {
        int64_t at = i * 1000 * US + unit_below(&seed, 300000), next = at + 300 * US + unit_below(&seed, 200000);
        add(j, 0, 24, at - 20 * US, at);
        add(j, 1, 22, at - 200 * US, at + unit_below(&seed, 1000));
        add(j, 1, one_stream ? 22 : 24, next - 20 * US, next);
        add(j, 2, 22, next - 400 * US + off_ns, next + off_ns + unit_below(&seed, 1000));
    }
}

static int by_number(const void *a, const void *b)
{
    return TL_ORDER((const tl_align_item *)a, (const tl_align_item *)b, lone);
}

static void check_chain(int64_t off_ns, bool one_stream)
{
    static job j;
    chain(&j, off_ns, one_stream);
    tl_sends_align(j.items, j.n);
    qsort(j.items, j.n, sizeof *j.items, by_number);
    for (size_t i = 0; i < j.n; i += 2) {
        int32_t from = i % 4 == 0 ? 0 : 1;
        CU_ASSERT_EQUAL(j.items[i].peer, from + 1);
        CU_ASSERT_EQUAL(j.items[i + 1].peer, from);
        CU_ASSERT_NOT_EQUAL(j.items[i].key, 0);
        CU_ASSERT_EQUAL(j.items[i].key, j.items[i + 1].key);
    }
}

static void neighbours_of_a_chain_are_found(void)
{
    check_chain(0, false);
    check_chain(0, true);
    check_chain(1700 * US, false);
    check_chain(-1700 * US, true);
}

/* Of three that end together now this one comes last, now that one: no two of them have it to themselves. */
static void ends_of_all_to_alls_stay_as_they_are(void)
{
    static job j;
    uint64_t seed = 5;
    memset(&j, 0, sizeof j);
    for (int i = 0; i < MESSAGES; i++)
        for (int32_t rank = 0; rank < 3; rank++) {
            int64_t start_ns = i * 1000 * US + unit_below(&seed, 400000);
            add(&j, rank, 20, start_ns, i * 1000 * US + 420 * US + unit_below(&seed, 2000));
        }
    tl_sends_align(j.items, j.n);
    for (size_t i = 0; i < j.n; i++) {
        CU_ASSERT_EQUAL(j.items[i].peer, TL_NO_PEER);
        CU_ASSERT_EQUAL(j.items[i].key, 0);
    }
}

/* Two pipelines whose stages are tensor parallel groups of two: all four ends of the two messages of a moment are
 * within 4 us, those of one message within 1 us, and which ones are sends is known. */
static void sends_are_paired_with_receives_where_peers_end_together(void)
{
    static job j;
    uint64_t seed = 7;
    memset(&j, 0, sizeof j);
    for (int i = 0; i < MESSAGES; i++)
        for (int32_t rank = 0; rank < 4; rank++) {
            int64_t pair_ns = i * 1000 * US + (rank % 2) * ((i * 5) % 7 - 3) * US;
            add(&j, rank, 28, pair_ns - 40 * US - unit_below(&seed, 300000), pair_ns + unit_below(&seed, 1000));
            j.items[j.n - 1].sends = rank < 2 ? 1 : -1;
        }
    tl_sends_align(j.items, j.n);
    for (size_t i = 0; i < j.n; i++) {
        CU_ASSERT_EQUAL(j.items[i].peer, (j.items[i].rank + 2) % 4);
        CU_ASSERT_NOT_EQUAL(j.items[i].key, 0);
    }
}

/* A message, one each way and one back, a millisecond apart; the clock of rank 0 is as far ahead.
 *
 *     rank 0     s   b   r        s, r: send, receive; b: both at once
 *     rank 1     r   b   s        seen in time of rank 0:    . s b r
 *                                                            r b s .
 *
 * Rank 0's b ends even nearer to rank 1's r, a millisecond too far away, than s does. */
static void two_ranks_have_one_distance_of_clocks(void)
{
    static const int8_t sends[] = { 1, 0, -1 };
    static job j;
    memset(&j, 0, sizeof j);
    for (int i = 0; i < MESSAGES / 3; i++)
        for (int k = 0; k < 3; k++) {
            const int64_t at_ns = i * 5000 * US + (i * 37 % 11) * 30 * US + k * 1000 * US;
            for (int32_t rank = 0; rank < 2; rank++) {
                const int64_t end_ns = at_ns + (rank == 0 ? 1000 * US : 0) + (k == 0 && rank == 0 ? i % 3 * US : 0);
                add(&j, rank, 24, end_ns - 15 * US, end_ns);
                j.items[j.n - 1].sends = rank == 0 ? sends[k] : (int8_t)-sends[k];
            }
        }
    tl_sends_align(j.items, j.n);
    qsort(j.items, j.n, sizeof *j.items, by_number);
    for (size_t i = 0; i < j.n; i += 2) {
        CU_ASSERT_NOT_EQUAL(j.items[i].key, 0);
        CU_ASSERT_EQUAL(j.items[i].key, j.items[i + 1].key);
    }
}

/* How many of two participants of a group, of these kinds and without a peer, may be paired by their ends. */
static size_t listed(bool inferred, tl_collective first, tl_collective second)
{
    tl_membership m = { .inferred = inferred };
    tl_participant p[] = { { .kind = (uint8_t)first, .peer = TL_PEER_UNKNOWN }, { .kind = (uint8_t)second, .peer = TL_PEER_UNKNOWN } };
    const tl_participants set = { .participants = { .v = p, .n = 2 }, .memberships = { .v = &m, .n = 1 } };
    size_t n;
    free(tl_sends_list(&set, 0, &n));
    return n;
}

/* Of a group that the trace names all are sends or receives. */
static void a_trace_may_name_the_group_and_no_peers(void)
{
    CU_ASSERT_EQUAL(listed(true, TL_SEND_RECV, TL_SEND_RECV), 2);
    CU_ASSERT_EQUAL(listed(false, TL_SEND, TL_RECV), 2);
    CU_ASSERT_EQUAL(listed(false, TL_SEND, TL_SEND_RECV), 0);
    CU_ASSERT_EQUAL(listed(false, TL_SEND, TL_ALL_REDUCE), 0);
}

int main(void)
{
    static const unit_test tests[] = { TEST(neighbours_of_a_chain_are_found), TEST(ends_of_all_to_alls_stay_as_they_are),
                                       TEST(sends_are_paired_with_receives_where_peers_end_together),
                                       TEST(two_ranks_have_one_distance_of_clocks),
                                       TEST(a_trace_may_name_the_group_and_no_peers) };
    return unit_main("sends align", tests, COUNT(tests));
}
