/* test_operator_ranks.c - operators and annotations over ranks. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

typedef struct of_rank {
    int32_t rank;
    uint32_t name;
    int64_t count, host_ns, device_ns, self_ns;
} of_rank;

static void add(tl_tables *tables, const tl_schema *schema, const of_rank *of, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tl_operator_row row = { .rank = of[i].rank,
                                      .name = of[i].name,
                                      .count = of[i].count,
                                      .host_ns = of[i].host_ns,
                                      .mean_ns = of[i].count > 0 ? (double)of[i].host_ns / (double)of[i].count : NAN,
                                      .device_ns = of[i].device_ns,
                                      .device_self_ns = of[i].self_ns };
        tl_table_append(tl_tables_get(tables, schema), &row, 1);
    }
}

static void reduce(drawing *d)
{
    for (const char *name = "uvwxyz"; *name != 0; name++)
        (void)tl_names_intern(&d->names, name, 1);
    tl_operator_ranks_analysis.reduce(&d->out);
}

static void ranks_are_summed_up_by_name(void)
{
    drawing *d = draw("", NULL);
    const of_rank of[] = { { 0, 5, 10, 1000, 70, 70 }, { 0, TL_NO_NAME, 0, 0, 30, 30 }, { 0, 4, 1, 9, 0, 0 },
                           { 2, 5, 10, 3000, 90, 50 }, { 2, 4, 3, 9, 0, 0 },
                           { 3, 5, 20, 4000, 90, 80 }, { 3, 3, 1, 20, 0, 0 } };
    add(&d->out, &tl_operator_row_schema, of, COUNT(of));
    reduce(d);
    const tl_table *sums = tl_tables_get(&d->out, &tl_operator_ranks_schema);
    CU_ASSERT_EQUAL_FATAL(sums->n, 4);
    const tl_operator_ranks *s = tl_table_row(sums, 0);
    CU_ASSERT_EQUAL(s->name, 5);
    CU_ASSERT_EQUAL(s->place, 1);
    CU_ASSERT_EQUAL(s->ranks, 3);
    CU_ASSERT_EQUAL(s->count, 40);
    CU_ASSERT_EQUAL(s->host_ns, 8000);
    CU_ASSERT_EQUAL(s->device_ns, 250);
    CU_ASSERT_EQUAL(s->device_self_ns, 200);
    CU_ASSERT_DOUBLE_EQUAL(s->share, 250.0 / 230, 1e-12); /* of what all have themselves */
    CU_ASSERT_DOUBLE_EQUAL(s->mean_ns, 200, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s->median_rank_ns, 200, 0); /* 100 300 200 */
    CU_ASSERT_EQUAL(s->slowest_rank, 2);
    CU_ASSERT_DOUBLE_EQUAL(s->slowest_ns, 300, 0);
    CU_ASSERT_EQUAL(s->most_rank, 2); /* of equals the lower */
    CU_ASSERT_EQUAL(s[1].name, TL_NO_NAME);
    CU_ASSERT_EQUAL(s[1].slowest_rank, -1);
    CU_ASSERT_TRUE(isnan(s[1].mean_ns) && isnan(s[1].median_rank_ns));
    CU_ASSERT_EQUAL(s[2].name, 3); /* of equals in device_ns that with the most host_ns */
    CU_ASSERT_EQUAL(s[3].name, 4);
    CU_ASSERT_DOUBLE_EQUAL(s[3].mean_ns, 18.0 / 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s[3].median_rank_ns, 6, 0); /* 9 and 3 */
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_annotation_ranks_schema)->n, 0);
    drawing_free(d);
}

/* Of eight ranks two are slower than the others differ; the rest of their work has no times. */
static void ranks_that_lie_apart_are_named(void)
{
    static const int64_t ns[] = { 363, 365, 475, 366, 364, 367, 471, 365 };
    drawing *d = draw("", NULL);
    for (int32_t r = 0; r < (int32_t)COUNT(ns); r++) {
        const of_rank of[] = { { r, 1, 1, ns[r] * US, 5, 5 }, { r, TL_NO_NAME, 0, 0, 3, 3 } };
        add(&d->out, &tl_operator_row_schema, of, COUNT(of));
        add(&d->out, &tl_annotation_row_schema, of, COUNT(of));
    }
    reduce(d);
    const tl_operator_ranks *s = tl_table_row(tl_tables_get(&d->out, &tl_operator_ranks_schema), 0);
    const tl_annotation_ranks *a = tl_table_row(tl_tables_get(&d->out, &tl_annotation_ranks_schema), 0);
    CU_ASSERT_EQUAL(s->apart, 2);
    CU_ASSERT_STRING_EQUAL(s->apart_ranks, "2,6");
    CU_ASSERT_EQUAL(a->apart, 2);
    CU_ASSERT_STRING_EQUAL(a->apart_ranks, "2,6");
    CU_ASSERT_EQUAL(s[1].apart, 0);
    CU_ASSERT_STRING_EQUAL(s[1].apart_ranks, "");
    drawing_free(d);
}

static void annotations_are_summed_up_by_themselves(void)
{
    drawing *d = draw("", NULL);
    const of_rank operators[] = { { 0, 1, 1, 10, 5, 5 } };
    const of_rank annotations[] = { { 0, 2, 1, 10, 5, 5 }, { 1, 2, 1, 12, 15, 15 } };
    add(&d->out, &tl_operator_row_schema, operators, COUNT(operators));
    add(&d->out, &tl_annotation_row_schema, annotations, COUNT(annotations));
    reduce(d);
    const tl_table *of_operators = tl_tables_get(&d->out, &tl_operator_ranks_schema),
                   *of_annotations = tl_tables_get(&d->out, &tl_annotation_ranks_schema);
    CU_ASSERT_EQUAL_FATAL(of_operators->n, 1);
    CU_ASSERT_EQUAL_FATAL(of_annotations->n, 1);
    const tl_annotation_ranks *s = tl_table_row(of_annotations, 0);
    CU_ASSERT_EQUAL(s->ranks, 2);
    CU_ASSERT_EQUAL(s->device_ns, 20);
    CU_ASSERT_DOUBLE_EQUAL(s->share, 1, 0);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ranks_are_summed_up_by_name),
        TEST(ranks_that_lie_apart_are_named),
        TEST(annotations_are_summed_up_by_themselves),
    };
    return unit_main("operator_ranks", tests, COUNT(tests));
}
