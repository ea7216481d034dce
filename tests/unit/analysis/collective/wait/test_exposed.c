/* test_exposed.c - exposed communication by step, group and kind. */
#include "draw.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static const tl_exposed *row_of(const tl_table *t, int32_t rank, int32_t step, int32_t group, uint8_t kind)
{
    static const tl_exposed none = { .exposed_ns = -1 };
    for (size_t i = 0; i < t->n; i++) {
        const tl_exposed *row = tl_table_row(t, i);
        if (row->rank == rank && row->step == step && row->group == group && row->kind == kind)
            return row;
    }
    return &none;
}

/* Two groups at once in step 1: the one that ends last has the instant.  A kernel of which nobody knows the group crosses
 * the bound of the steps. */
static void communication_is_of_the_group_that_ends_last(void)
{
    drawing *d = draw("steps:     1111111111112222222222..",
                      "compute 7: AAA.....................",
                      "comm 8:    ..BBBB..................",
                      "comm 9:    ....CCCC..DDDDDD.....EE.", NULL);
    tl_exposures x = { 0 };
    tl_exposed_parts parts = { 0 };
    tl_table rows = { .schema = &tl_exposed_schema }, walls = { .schema = &tl_breakdown_schema };
    tl_exposures_add(&d->view, &x);
    uint32_t b = d->view.kernels[1].uid, c = d->view.kernels[2].uid;
    tl_peer_answer answers[] = {
        { .wait_ns = 2 * US, .uid = b, .group = 5, .kind = TL_ALL_REDUCE, .waited = 1 },
        { .wait_ns = 3 * US, .uid = c, .group = 6, .kind = TL_RECV, .waited = 1 },
    };
    tl_peer_answers_sort(answers, COUNT(answers));
    tl_exposed_sum(x.v, x.n, answers, COUNT(answers), &parts);
    tl_exposed_enter(parts.v, parts.n, &rows, &walls);
    free(parts.v);
    /* B: 3 to 4; C: 4 to 8; D: 10 to 12 in step 1, 12 to 16 in step 2; E: 21 in step 2, 22 in none. */
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, 5, TL_ALL_REDUCE)->exposed_ns, 1 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, 5, TL_ALL_REDUCE)->waiting_ns, 1 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, 6, TL_RECV)->exposed_ns, 4 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, 6, TL_RECV)->waiting_ns, 3 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, -1, TL_COLL_UNKNOWN)->exposed_ns, 2 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 2, -1, TL_COLL_UNKNOWN)->exposed_ns, 5 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, -1, -1, TL_COLL_UNKNOWN)->exposed_ns, 8 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, -1, 6, TL_RECV)->exposed_ns, 4 * US);
    CU_ASSERT_EQUAL(rows.n, 7);
    tl_table_free(&rows);
    free(x.v);
    drawing_free(d);
}

/* A kernel that compute parts into many spans loses none of them, in any step. */
static void many_spans_are_all_counted(void)
{
    drawing *d = draw("steps:     1111111111111111111111111111112222222222222222222222222222222222",
                      "compute 7: .A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A.A..",
                      "comm 8:    BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", NULL);
    tl_exposures x = { 0 };
    tl_exposed_parts parts = { 0 };
    tl_table rows = { .schema = &tl_exposed_schema }, walls = { .schema = &tl_breakdown_schema };
    tl_exposures_add(&d->view, &x);
    tl_exposed_sum(x.v, x.n, NULL, 0, &parts);
    tl_exposed_enter(parts.v, parts.n, &rows, &walls);
    free(parts.v);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 1, -1, TL_COLL_UNKNOWN)->exposed_ns, 15 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, 2, -1, TL_COLL_UNKNOWN)->exposed_ns, 18 * US);
    CU_ASSERT_EQUAL(row_of(&rows, 0, -1, -1, TL_COLL_UNKNOWN)->exposed_ns, 33 * US);
    tl_table_free(&rows);
    free(x.v);
    drawing_free(d);
}

static const tl_breakdown *wall_of(const tl_table *walls, int32_t device, int32_t step)
{
    const tl_breakdown *row = tl_table_row(walls, 0);
    while (row->device != device || row->step != step)
        row++;
    return row;
}

/* B: 2 us of waiting, 3 us that may be either, 1 us of transfer; of C, which lies across the steps, only that it waited 1 us is
 * known; for D nobody answers.  The parts of table breakdown sum up to what it calls exposed. */
static void what_is_not_known_is_neither_waiting_nor_transfer(void)
{
    drawing *d = draw("steps:       1111111111122222222222",
                      "compute 0/7: AA....................",
                      "comm 0/8:    ..BBBBBB.CCCC.........",
                      "comm 1/8:    ................DDDD..", NULL);
    tl_exposures x = { 0 };
    tl_exposed_parts parts = { 0 };
    tl_table rows = { .schema = &tl_exposed_schema }, walls = { .schema = &tl_breakdown_schema };
    const tl_breakdown places[] = { { .device = -1, .step = -1, .comm_exposed_ns = 14 * US },
                                    { .device = -1, .step = 1, .comm_exposed_ns = 8 * US },
                                    { .device = -1, .step = 2, .comm_exposed_ns = 6 * US },
                                    { .device = 0, .step = -1, .comm_exposed_ns = 10 * US },
                                    { .device = 1, .step = -1, .comm_exposed_ns = 4 * US } };
    tl_table_append(&walls, places, COUNT(places));
    tl_exposures_add(&d->view, &x);
    tl_peer_answer answers[] = {
        { .wait_ns = 2 * US, .open_ns = 3 * US, .uid = d->view.kernels[1].uid, .group = 5, .kind = TL_ALL_REDUCE, .waited = 1,
          .doubt = TL_COMM_DOUBT_CLOCKS },
        { .wait_ns = 1 * US, .open_ns = INT64_MAX, .uid = d->view.kernels[2].uid, .group = 5, .kind = TL_ALL_REDUCE, .waited = 1,
          .doubt = TL_COMM_DOUBT_NO_TRACE },
    };
    tl_peer_answers_sort(answers, COUNT(answers));
    tl_exposed_sum(x.v, x.n, answers, COUNT(answers), &parts);
    tl_exposed_enter(parts.v, parts.n, &rows, &walls);

    const tl_exposed *first = row_of(&rows, 0, 1, 5, TL_ALL_REDUCE), *second = row_of(&rows, 0, 2, 5, TL_ALL_REDUCE),
                     *nobody = row_of(&rows, 0, 2, -1, TL_COLL_UNKNOWN), *all = row_of(&rows, 0, -1, 5, TL_ALL_REDUCE);
    CU_ASSERT(first->exposed_ns == 8 * US && first->waiting_ns == 3 * US && first->transfer_ns == 1 * US && first->unknown_ns == 4 * US);
    CU_ASSERT_EQUAL(first->unknown_why, TL_COMM_DOUBT_CLOCKS);
    CU_ASSERT(second->exposed_ns == 2 * US && second->waiting_ns == 0 && second->transfer_ns == 0 && second->unknown_ns == 2 * US);
    CU_ASSERT_EQUAL(second->unknown_why, TL_COMM_DOUBT_NO_TRACE);
    CU_ASSERT(nobody->exposed_ns == 4 * US && nobody->unknown_ns == 4 * US);
    CU_ASSERT_EQUAL(nobody->unknown_why, TL_COMM_DOUBT_UNMATCHED);
    CU_ASSERT(all->waiting_ns == 3 * US && all->transfer_ns == 1 * US && all->unknown_ns == 6 * US);
    CU_ASSERT_EQUAL(all->unknown_why, TL_COMM_DOUBT_NO_TRACE); /* 3 us, and as much for a later reason */
    for (size_t i = 0; i < walls.n; i++) {
        const tl_breakdown *row = tl_table_row(&walls, i);
        CU_ASSERT_EQUAL(row->comm_waiting_ns + row->comm_transfer_ns + row->comm_unknown_ns, row->comm_exposed_ns);
    }
    CU_ASSERT_EQUAL(wall_of(&walls, -1, -1)->comm_unknown_ns, 10 * US);
    CU_ASSERT_EQUAL(wall_of(&walls, -1, 1)->comm_transfer_ns, 1 * US);
    CU_ASSERT_EQUAL(wall_of(&walls, 0, -1)->comm_waiting_ns, 3 * US);
    CU_ASSERT_EQUAL(wall_of(&walls, 1, -1)->comm_unknown_ns, 4 * US);
    tl_table_free(&rows);
    tl_table_free(&walls);
    free(parts.v);
    free(x.v);
    drawing_free(d);
}

static void add(drawing *d, int32_t rank, int32_t step, int32_t group, uint8_t kind, int64_t exposed, int64_t waiting)
{
    const tl_exposed row = { .rank = rank, .step = step, .group = group, .kind = kind, .exposed_ns = exposed, .waiting_ns = waiting,
                             .transfer_ns = exposed - waiting };
    tl_table_append(tl_tables_get(&d->out, &tl_exposed_schema), &row, 1);
}

static void the_job_has_sums_by_parallelism(void)
{
    drawing *d = draw("", NULL);
    const tl_group_row groups[] = { { .group = 0, .parallelism = TL_PARALLEL_PIPELINE },
                                    { .group = 1, .parallelism = TL_PARALLEL_TENSOR },
                                    { .group = 2, .parallelism = TL_PARALLEL_TENSOR } };
    const tl_breakdown walls[] = { { .rank = -1, .device = -1, .step = -1, .wall_ns = 300 },
                                   { .rank = 0, .device = -1, .step = -1, .wall_ns = 100 },
                                   { .rank = 0, .device = -1, .step = 4, .wall_ns = 50 },
                                   { .rank = 1, .device = -1, .step = -1, .wall_ns = 200 } };
    tl_table_append(tl_tables_get(&d->out, &tl_group_row_schema), groups, COUNT(groups));
    tl_table_append(tl_tables_get(&d->out, &tl_breakdown_schema), walls, COUNT(walls));
    add(d, 0, -1, 0, TL_RECV, 40, 30);
    add(d, 0, -1, 1, TL_ALL_REDUCE, 10, 5);
    add(d, 0, 4, 0, TL_RECV, 20, 10);
    add(d, 1, -1, 0, TL_SEND, 8, 2);
    add(d, 1, -1, 2, TL_ALL_REDUCE, 20, 20);
    tl_exposed_analysis.reduce(&d->out);
    const tl_table *t = tl_tables_get(&d->out, &tl_exposed_schema);
    const tl_exposed *tensor = row_of(t, -1, -1, -1, TL_ALL_REDUCE), *of_0 = row_of(t, 0, -1, 0, TL_RECV);
    CU_ASSERT_EQUAL(tensor->exposed_ns, 30);
    CU_ASSERT_EQUAL(tensor->waiting_ns, 25);
    CU_ASSERT_EQUAL(tensor->transfer_ns, 5);
    CU_ASSERT_EQUAL(tensor->parallelism, TL_PARALLEL_TENSOR);
    CU_ASSERT_DOUBLE_EQUAL(tensor->share, 0.1, 1e-12);
    CU_ASSERT_EQUAL(of_0->parallelism, TL_PARALLEL_PIPELINE);
    CU_ASSERT_EQUAL(of_0->transfer_ns, 10);
    CU_ASSERT_DOUBLE_EQUAL(of_0->share, 0.4, 1e-12);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(communication_is_of_the_group_that_ends_last),
        TEST(many_spans_are_all_counted),
        TEST(what_is_not_known_is_neither_waiting_nor_transfer),
        TEST(the_job_has_sums_by_parallelism),
    };
    return unit_main("exposed", tests, COUNT(tests));
}
