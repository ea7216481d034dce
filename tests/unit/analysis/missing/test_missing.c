/* test_missing.c - when ranks without a trace came.  Columns of 10 us. */
#include "graph_drawn.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll_tables.h"
#include <string.h>

/* The job of a group of three ranks of whom some have no trace; allocation `fails`, if that is not 0. */
static tl_status make(graph_job *j, const char *ranks, size_t fails)
{
    tl_group_row row = { .group = 0, .size = 3 };
    tl_table groups = { .schema = &tl_group_row_schema };
    tl_graph_input in = graph_job_input(j);
    tl_error err;
    memcpy(row.ranks, ranks, strlen(ranks));
    CU_ASSERT_FATAL(tl_table_append(&groups, &row, 1));
    in.groups = &groups;
    tl_mem_fail_after(fails);
    tl_status st = tl_graph_make(&in, &j->graph, &err);
    tl_mem_fail_after(0);
    if (st == TL_OK)
        graph_job_is_exact(j);
    else
        tl_graph_free(&j->graph);
    tl_table_free(&groups);
    return st;
}

/* The least time from one meeting to another, by when these are done; ranks 0 and 1 have a trace, and 2 has none. */
static int64_t lag_between(const char *first, const char *second, int64_t from, int64_t to)
{
    graph_job *j = graph_job_unmade(stretched(draw(first, NULL), 10), stretched(draw(second, NULL), 10), NULL);
    CU_ASSERT_EQUAL_FATAL(make(j, "0-2", 0), TL_OK);
    int64_t lag = job_lag_us(j, job_node(j, 2, TL_NODE_MEETING, from * 10), job_node(j, 2, TL_NODE_MEETING, to * 10));
    graph_job_free(j);
    return lag;
}

static void it_comes_as_soon_as_those_that_do_the_same(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR........SSSS", /* the second of two is late, and nothing says that the third is */
                                "comm 9: ..RRRR...SSSSSSSSS", 6, 18), 30);
}

/* The second transfer takes 30 us longer than the first, or 60; the absent rank is expected 50 us before the last. */
static void a_transfer_is_longer_rather_than_that_somebody_was_late_by_far_more(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR........SSSSSSS",
                                "comm 9: ..RRRR...SSSSSSSSSSSS", 6, 21), 30);
    CU_ASSERT_EQUAL(lag_between("comm 9: ..RRRR........SSSSSSSSSS",
                                "comm 9: ..RRRR...SSSSSSSSSSSSSSS", 6, 24), 140);
}

/* Collectives are in order of their letters. */
static void it_comes_from_what_ended_last_whichever_is_listed_first(void)
{
    CU_ASSERT_EQUAL(lag_between("comm 9: ..SSSS........RRRR",
                                "comm 9: ..SSSS...RRRRRRRRR", 6, 18), 30);
}

/* 0 is below 1, 2 and 3, and 4 above them; 2 has no trace, and only what it sends to 4 is seen: the first that it sends, but the
 * second of 1 and 3. */
static void what_goes_to_another_side_is_something_else(void)
{
    static const int32_t of[] = { 0, 1, 3, 4 };
    graph_job *j = graph_job_unmade(stretched(draw("comm 9: .SSUU...............", NULL), 10),
                                    stretched(draw("comm 9: .SS..TT...RRRRRRRRRR", NULL), 10),
                                    stretched(draw("comm 9: ...UU..VV.......RRRR", NULL), 10),
                                    stretched(draw("comm 9: .....TTVVWW.........", NULL), 10), NULL);
    for (size_t r = 0; r < 4; r++)
        j->graphs.of.v[r].rank = j->ranks[r] = j->marked[r] = of[r];
    for (size_t i = 0; i < j->nrows; i++)
        j->rows[i].rank = of[j->rows[i].rank];
    for (size_t i = 1; i < j->nrows; i++) { /* behind R */
        tl_late_row *row = &j->rows[i], *other = i + 1 < j->nrows && row[1].collective == row->collective ? row + 1 : NULL;
        if (row->collective == 0)
            continue;
        row->kind = TL_SEND_RECV;
        row->peer = other != NULL ? other->rank : 2;
        row->fits = other != NULL;
        if (other == NULL)
            continue;
        row->pair = other->pair = 1;
        other->kind = TL_SEND_RECV;
        other->peer = row->rank;
        i++;
    }
    CU_ASSERT_EQUAL_FATAL(make(j, "1-3", 0), TL_OK);
    CU_ASSERT_EQUAL(job_lag_us(j, job_node(j, 4, TL_NODE_MEETING, 110), job_node(j, 4, TL_NODE_MEETING, 200)), 30);
    graph_job_free(j);
}

static void it_says_when_memory_is_out(void)
{
    graph_job *j = graph_job_unmade(draw("comm 9: ..RRRR........SSSS", NULL), draw("comm 9: ..RRRR...SSSSSSSSS", NULL), NULL);
    size_t failures = 0;
    while (failures < 1000 && make(j, "0-2", failures + 1) == TL_ENOMEM)
        failures++;
    CU_ASSERT(failures > 30 && failures < 1000);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(it_comes_as_soon_as_those_that_do_the_same),
        TEST(a_transfer_is_longer_rather_than_that_somebody_was_late_by_far_more),
        TEST(it_comes_from_what_ended_last_whichever_is_listed_first),
        TEST(what_goes_to_another_side_is_something_else),
        TEST(it_says_when_memory_is_out),
    };
    return unit_main("ranks without a trace", tests, COUNT(tests));
}
