/* test_rounds.c - rows of ranks against a reference, in rounds. */
#include "tlmpi/analysis/match/align.h"
#include "unit.h"
#include <stdlib.h>

enum { MS = 1000000, MOST = 64 };

static tl_participant participants[MOST];
static size_t nparticipants;

/* One of group 0 that ends then; key 0: it is open. */
static void ends(int32_t rank, int64_t ms, uint64_t key)
{
    participants[nparticipants] = (tl_participant){ .key = key,
                                      .start_ns = (ms - 1) * MS,
                                      .end_ns = ms * MS,
                                      .bytes = 8 * ms,
                                      .rank = rank,
                                      .peer = TL_NO_PEER,
                                      .uid = (uint32_t)nparticipants,
                                      .kind = TL_ALL_REDUCE };
    nparticipants++;
}

/* The reference of a round; -1: there is none. */
static int32_t reference(const tl_align_rows *rows, bool first, tl_align_references *out)
{
    tl_align_tallies tallies = { 0 };
    out->n = 0;
    tl_align_count(rows, &tallies);
    tl_align_choose(tallies.v, tallies.n, first, out);
    free(tallies.v);
    CU_ASSERT_FATAL(out->n <= 1);
    return out->n == 1 ? out->v[0].rank : -1;
}

/* Rank 1 has most keys; rank 0 has only open ones, rank 2 one that neither has and no other: in the second round nobody
 * is left whom a reference would serve. */
static void those_without_a_key_take_that_of_the_reference(void)
{
    tl_align_rows rows;
    tl_align_references references = { 0 };
    tl_align_sents sent = { 0 };
    tl_align_groups groups = { 0 };
    nparticipants = 0;
    for (int64_t ms = 10; ms < 60; ms += 10) {
        ends(0, ms, 0);
        ends(1, ms, ms == 30 ? 0 : (uint64_t)ms);
    }
    ends(2, 77, 0);

    tl_align_rows_make(&rows, participants, nparticipants);
    CU_ASSERT_EQUAL(reference(&rows, true, &references), 1);
    tl_align_need(&rows, &references, &groups);
    tl_align_offer(&rows, &references, &sent);
    CU_ASSERT_EQUAL(groups.n, 1);
    CU_ASSERT_EQUAL(sent.n, 5);
    tl_align_round(&rows, &references, &sent);
    for (size_t i = 0; i + 1 < nparticipants; i += 2) {
        CU_ASSERT_NOT_EQUAL(participants[i].key, 0);
        CU_ASSERT_EQUAL(participants[i].key, participants[i + 1].key); /* also the one that was open on both */
        CU_ASSERT_EQUAL(participants[i].rule, TL_BY_ENDTIME);
    }
    CU_ASSERT_EQUAL(participants[nparticipants - 1].key, 0);
    CU_ASSERT_EQUAL(reference(&rows, false, &references), -1);
    tl_align_rows_free(&rows);
    free(references.v);
    free(sent.v);
    free(groups.v);
}

/* What the first reference has not, two others may have in common: the one of them with most, of equals the lower
 * rank. */
static void the_next_reference_has_most_that_are_open(void)
{
    tl_align_rows rows;
    tl_align_references references = { 0 };
    nparticipants = 0;
    for (int64_t ms = 10; ms < 60; ms += 10) {
        ends(0, ms, (uint64_t)ms);
        ends(1, ms + 3, 0);
        ends(2, ms + 3, 0);
    }
    tl_align_rows_make(&rows, participants, nparticipants);
    CU_ASSERT_EQUAL(reference(&rows, true, &references), 0);
    CU_ASSERT_EQUAL(reference(&rows, false, &references), 1);
    tl_align_rows_free(&rows);
    free(references.v);
}

static const unit_test tests[] = {
    TEST(those_without_a_key_take_that_of_the_reference),
    TEST(the_next_reference_has_most_that_are_open),
};

int main(void)
{
    return unit_main("rounds", tests, COUNT(tests));
}
