/* test_untraced_arrivals.c - when ranks without a trace came.  Columns of 10 us. */
#include "graph_drawn.h"
#include "tlmpi/model/coll_tables.h"
#include <string.h>

/* Whether groups say what they are for: what these ranks have in common. */
static bool described;

/* Groups of ranks of whom some have no trace. */
static void make(graph_job *j, const char *const *ranks, const int32_t *sizes, size_t n)
{
    tl_table groups = { .schema = &tl_group_row_schema };
    tl_job_graph_input in = graph_job_input(j);
    for (size_t i = 0; i < n; i++) {
        tl_group_row row = { .group = (int32_t)i, .size = sizes[i] };
        memcpy(row.ranks, ranks[i], strlen(ranks[i]));
        memcpy(row.description, ranks[i], described ? strlen(ranks[i]) : 0);
        tl_table_append(&groups, &row, 1);
    }
    in.groups = &groups;
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    graph_job_is_exact(j);
    tl_table_free(&groups);
}

/* Rank 2 has no trace.  It is in what rank 0 is in alone, then in what rank 1 is in alone; both of these meet in T, V
 * or A.  Of each one stream or two. */
static graph_job *linked_beside(const char *zero, const char *zero_beside, const char *one, const char *one_beside)
{
    graph_job *j = graph_job_unmade(stretched(draw(zero, zero_beside, NULL), 10),
                                    stretched(draw(one, one_beside, NULL), 10), NULL);
    for (size_t i = 0; i < j->nrows; i++) {
        bool both = (i > 0 && j->rows[i - 1].collective == j->rows[i].collective) ||
                    (i + 1 < j->nrows && j->rows[i + 1].collective == j->rows[i].collective);
        j->rows[i].group = both ? 2 : j->rows[i].rank;
        j->rows[i].fits = both;
    }
    return j;
}

static graph_job *linked(const char *zero, const char *one)
{
    return linked_beside(zero, NULL, one, NULL);
}

static const char *const link_ranks[] = { "0,2", "1-2", "0-1", "0,3" };
static const int32_t link_sizes[] = { 2, 2, 2, 2 };

/* The least time from one meeting to another, by when these are done. */
static int64_t lag_from(const graph_job *j, int64_t from, int64_t to)
{
    return lag_to_meeting_us(j, TL_NONE, job_meeting(j, from * 10), job_meeting(j, to * 10));
}

static int64_t lag_between(const char *zero, const char *one, int64_t from, int64_t to)
{
    graph_job *j = linked(zero, one);
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    int64_t lag = lag_from(j, from, to);
    graph_job_free(j);
    return lag;
}

/* Rank 0 needs 30 us from its first to its second, rank 1 60. */
static void it_comes_as_soon_as_those_that_do_the_same(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR...TTTTTTTTTTTTTTT", "comm 9: ..........SSSS......TTTT", 6, 14), 30);
}

static void it_comes_no_later_than_it_can_have_come(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR...TTTTTTTTTTTTTTT", "comm 9: .......SSSS......TTTTTTT", 6, 11), 10);
}

/* The transfer takes 30 us longer than others do, or 80; the untraced rank is expected 70 us before the other one
 * came. */
static void a_transfer_is_longer_rather_than_that_somebody_was_late_by_far_more(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR...TTTTTTTTTTTTTTTTTTTTTTTTTTT",
                                "comm 9: ................SSSSSSS.........TTTT", 6, 23),
                    30);
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR...TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT",
                                "comm 9: ................SSSSSSSSSSSS........TTTT", 6, 28),
                    180);
}

/* Collectives are in order of their letters. */
static void it_comes_from_what_ended_last_whichever_is_listed_first(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..SSSS...AAAAAAAAAAAAAAA", "comm 9: ..........RRRR......AAAA", 6, 14), 30);
}

/* Rank 0 waits for rank 1 for 70 of 160 us; rank 1 needs 120. */
static void nobody_is_expected_to_wait(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR..VVVVVVVVVVV...TTTTTTTTTTTTTTTTTT",
                                "comm 9: ...............VVVV.SSSS............TTTT", 6, 24),
                    90);
}

/* V is between rank 0 and 3, which has no trace either. */
static void nobody_is_expected_to_wait_for_another_without_a_trace(void)
{
    graph_job *j = linked("comm 9: ..RRRR..VVVVVVVVVVV...TTTT", "comm 9: ............SSSS......TTTT");
    for (size_t i = 0; i < j->nrows; i++)
        if (j->rows[i].collective == 3) {
            j->rows[i].group = 3;
            j->rows[i].fits = false;
        }
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    CU_ASSERT_EQUAL(lag_from(j, 6, 16), 50);
    graph_job_free(j);
}

/* One that has come from there itself shows what it waited for. */
static void nobody_is_needed_where_one_that_does_the_same_is_there(void)
{
    graph_job *j = graph_job_unmade(stretched(draw("comm 9: ..RRRR........SSSS", NULL), 10),
                                    stretched(draw("comm 9: ..RRRR...SSSSSSSSS", NULL), 10), NULL);
    make(j, &(const char *){ "0-2" }, &(int32_t){ 3 }, 1);
    CU_ASSERT_EQUAL(lag_from(j, 6, 18), NO_EDGE);
    graph_job_free(j);
}

/* While rank 0 waits in V it comes to T all the same: 30 us after R. */
static void who_waits_on_another_stream_goes_on_meanwhile(void)
{
    graph_job *j = linked_beside("comm 9: ..RRRR...TTTTTTTTTTTTTTT", "comm 8: .......VVVVVVVVVVVVVVVVV",
                                 "comm 9: ..........SSSS......TTTT", "comm 8: ......................VV");
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    CU_ASSERT_EQUAL(lag_from(j, 6, 14), 30);
    graph_job_free(j);
}

/* T of rank 0 waits for Q, and on its stream for R: so does S, whichever of the two is done last. */
static void it_waits_for_all_that_those_wait_for_that_do_the_same(void)
{
    graph_job *j = linked_beside("comm 9: ..RRRR......TTTTTTTTTTTTTTTT", "comm 8: ...QQQQQQQQ.................",
                                 "comm 9: ..............SSSS......TTTT", NULL);
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    CU_ASSERT_EQUAL(lag_from(j, 11, 18), 10);
    CU_ASSERT_EQUAL(lag_from(j, 6, 18), 10);
    graph_job_free(j);
}

/* T of rank 1 waits for its second alone, T of rank 0 for its first as well. */
static void it_does_not_wait_for_what_one_of_two_waits_for_alone(void)
{
    graph_job *j = linked_beside("comm 9: ..RRRR......TTTTTTTTTT", "comm 8: ...QQQQQQQQ...........",
                                 "comm 9: NN.OO.............TTTT", NULL);
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    CU_ASSERT_EQUAL(lag_from(j, 2, 11), NO_EDGE);
    CU_ASSERT_NOT_EQUAL(lag_from(j, 5, 11), NO_EDGE);
    graph_job_free(j);
}

/* 0 is below 1, 2 and 3, and 4 above them; 2 has no trace, and only what goes between it and 4 is seen.  4 sends, but
 * in the collective of that number. */
static graph_job *pipeline(const char *four, int64_t received)
{
    static const int32_t of[] = { 0, 1, 3, 4 };
    graph_job *j = graph_job_unmade(stretched(draw("comm 9: .SSUU...............", NULL), 10),
                                    stretched(draw("comm 9: .SS..TT...RRRRRRRRRR", NULL), 10),
                                    stretched(draw("comm 9: ...UU..VV.......RRRR", NULL), 10),
                                    stretched(draw(four, NULL), 10), NULL);
    for (size_t r = 0; r < 4; r++)
        j->graphs.of.v[r].rank = j->ranks[r] = j->marked[r] = of[r];
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].rank = of[j->rows[i].rank];
    for (size_t i = 1; i < j->nrows; i++) { /* after R */
        tl_late_row *row = &j->rows[i],
                    *other = i + 1 < j->nrows && row[1].collective == row->collective ? row + 1 : NULL;
        if (row->collective == 0)
            continue;
        row->kind = TL_SEND_RECV;
        row->own_kind = row->rank == 0 || (row->rank == 4 && row->collective != received) ? TL_SEND : TL_RECV;
        row->peer = other != NULL ? other->rank : 2;
        row->fits = other != NULL;
        if (other == NULL)
            continue;
        row->pair = other->pair = 1;
        other->kind = TL_SEND_RECV;
        other->own_kind = other->rank == 4 ? TL_SEND : TL_RECV;
        other->peer = row->rank;
        i++;
    }
    make(j, &(const char *){ "1-3" }, &(int32_t){ 3 }, 1);
    return j;
}

/* It is the first that 4 sends to 2, but the second of 1 and 3. */
static void what_goes_to_another_side_is_something_else(void)
{
    graph_job *j = pipeline("comm 9: .....TTVVWW.........", -1);
    CU_ASSERT_EQUAL(lag_from(j, 11, 20), 30);
    graph_job_free(j);
}

/* ... although what 4 receives of it stands before that. */
static void what_goes_the_other_way_is_something_else(void)
{
    graph_job *j = pipeline("comm 9: .....TTVVXX...WW....", 5);
    CU_ASSERT_EQUAL(lag_from(j, 11, 20), 30);
    graph_job_free(j);
}

/* Ranks 0 and 1 come level to all that they share with rank 2: by how much that is late where the last is done at
 * us. */
static int64_t late_in(const char *both, const char *steps, int64_t us, int64_t bytes, bool inferred)
{
    graph_job *j =
        graph_job_unmade(stretched(draw(both, steps, NULL), 10), stretched(draw(both, steps, NULL), 10), NULL);
    tl_table groups = { .schema = &tl_group_row_schema };
    tl_group_row row = { .size = inferred ? -1 : 3, .seen = 2, .inferred = inferred };
    tl_job_graph_input in = graph_job_input(j);
    memcpy(row.ranks, inferred ? "0-1" : "0-2", 3);
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].bytes = bytes;
    tl_table_append(&groups, &row, 1);
    in.groups = &groups;
    in.world = 3;
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    graph_job_is_exact(j);
    const tl_meeting *last = &j->graph.meetings[job_meeting(j, us)];
    int64_t late_us = last->late_rank == 2 ? last->late_ns / US : last->late_rank;
    tl_table_free(&groups);
    graph_job_free(j);
    return late_us;
}

static int64_t late_at(const char *both, int64_t us, int64_t bytes, bool inferred)
{
    return late_in(both, NULL, us, bytes, inferred);
}

/* U takes 80 us longer than R and T. */
static void one_that_keeps_all_others_is_late(void)
{
    CU_ASSERT_EQUAL(late_at("comm 9: ..RRRR...TTTT.....UUUUUUUUUUUU", 300, 1000, false), 80);
    CU_ASSERT_EQUAL(late_at("comm 9: ..RRRR...TTTT.....UUUU", 220, 1000, false), -1);
}

/* The group that all are seen in, who have a trace, is of the job. */
static void a_group_without_a_name_may_be_of_all(void)
{
    CU_ASSERT_EQUAL(late_at("comm 9: ..RRRR...TTTT.....UUUUUUUUUUUU", 300, 1000, true), 80);
}

/* Twice as long, what is sent may have been more; three times, by what is beyond two. */
static void sizes_that_are_not_known_may_differ(void)
{
    CU_ASSERT_EQUAL(late_at("comm 9: ..RRRR...TTTT.....UUUUUUUU", 260, -1, false), -1);
    CU_ASSERT_EQUAL(late_at("comm 9: ..RRRR...TTTT.....UUUUUUUUUUUU", 300, -1, false), 40);
}

/* Twice as much in each step at that place: in the third it is longer by 80 us. */
static void what_is_at_one_place_in_each_step_has_one_size(void)
{
    const char *both = "comm 9: ..RRRR.SSSSSSSS....TTTT.UUUUUUUU....VVVV.WWWWWWWWWWWWWWWW..",
               *steps = "steps:  444444444444444444555555555555555555666666666666666666666666";
    CU_ASSERT_EQUAL(late_in(both, steps, 570, -1, false), 80);
    CU_ASSERT_EQUAL(late_in(both, steps, 320, -1, false), -1);
    CU_ASSERT_EQUAL(late_at(both, 570, -1, false), -1);
}

/* By how much rank 2 is late in X, an all-to-all with rank 0 like those of ranks 0 and 1 before. */
static int64_t late_to_exchange(const char *zero, const char *one, int64_t us)
{
    graph_job *j = linked(zero, one);
    for (size_t i = 0; i < j->nrows; i++) {
        j->rows[i].kind = j->rows[i].own_kind = TL_ALL_TO_ALL;
        j->rows[i].bytes = 1000;
    }
    described = true;
    make(j, link_ranks, link_sizes, COUNT(link_sizes));
    described = false;
    const tl_meeting *last = &j->graph.meetings[job_meeting(j, us)];
    int64_t late_us = last->late_rank == 2 ? last->late_ns / US : last->late_rank;
    graph_job_free(j);
    return late_us;
}

/* Three took 60 us at most; of fewer it may take twice as long. */
static void an_exchange_takes_no_longer_than_those_that_are_whole(void)
{
    CU_ASSERT_EQUAL(late_to_exchange("comm 9: ..RRRR..AAAA..TTTT..VVVVVV..XXXXXXXXXXXXXX",
                                     "comm 9: ........AAAA..TTTT..VVVVVV................", 420),
                    80);
    CU_ASSERT_EQUAL(late_to_exchange("comm 9: ..RRRR..AAAA........VVVVVV..XXXXXXXX......",
                                     "comm 9: ........AAAA........VVVVVV................", 360),
                    -1);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(it_comes_as_soon_as_those_that_do_the_same),
        TEST(it_comes_no_later_than_it_can_have_come),
        TEST(a_transfer_is_longer_rather_than_that_somebody_was_late_by_far_more),
        TEST(it_comes_from_what_ended_last_whichever_is_listed_first),
        TEST(nobody_is_expected_to_wait),
        TEST(nobody_is_expected_to_wait_for_another_without_a_trace),
        TEST(nobody_is_needed_where_one_that_does_the_same_is_there),
        TEST(who_waits_on_another_stream_goes_on_meanwhile),
        TEST(it_waits_for_all_that_those_wait_for_that_do_the_same),
        TEST(it_does_not_wait_for_what_one_of_two_waits_for_alone),
        TEST(what_goes_to_another_side_is_something_else),
        TEST(what_goes_the_other_way_is_something_else),
        TEST(one_that_keeps_all_others_is_late),
        TEST(a_group_without_a_name_may_be_of_all),
        TEST(sizes_that_are_not_known_may_differ),
        TEST(what_is_at_one_place_in_each_step_has_one_size),
        TEST(an_exchange_takes_no_longer_than_those_that_are_whole),
    };
    return unit_main("ranks without a trace", tests, COUNT(tests));
}
