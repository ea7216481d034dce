/* test_counter.c - hardware counters by operator and kernel. */
#include "draw.h"
#include "tlmpi/analysis/rank/measured.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static const tl_config config = { 0 };

typedef struct counted {
    const char *range, *counter; /* range: NULL: it is a sample */
    double value;
} counted;

/* Each has a range of its own, one nanosecond after the other. */
static const tl_counter_row *rows_of(drawing *d, const counted *v, size_t n, size_t nrows)
{
    static tl_counted of[16];

    for (size_t i = 0; i < n; i++)
        of[i] = (tl_counted){
            (int64_t)i, 500 + (uint32_t)i, 
            v[i].range != NULL ? tl_names_intern(&d->names, v[i].range, strlen(v[i].range)) : TL_NO_NAME,
            v[i].counter != NULL ? tl_names_intern(&d->names, v[i].counter, strlen(v[i].counter)) : TL_NO_NAME, v[i].value,
            v[i].range == NULL
        };
    d->view.counted = of;
    d->view.ncounted = n;
    tl_counter_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_counter_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, nrows);
    return (const tl_counter_row *)(const void *)table->rows;
}

static bool is_named(const drawing *d, uint32_t name, const char *text)
{
    return tl_text_is(tl_names_text(&d->names, name), text);
}

#define HOST                                                                                                           \
    "op 1 conv:                   .=======...",                                                                        \
    "op 2 add:                    ...===.....",                                                                        \
    "call 1 cudaLaunchKernel:     ..x.y......",                                                                        \
    "call 2 cuLaunchKernelEx:     ...z.......",                                                                        \
    "call 1 cudaMalloc:           .........=="

/* The profiler that counts has no kernels; x, z, y is the order of the launches. */
static void the_ith_range_is_the_ith_launch(void)
{
    drawing *d = draw(HOST, NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 }, { "relu", "fma", 1 }, { "gemm", "fma", 30 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 2);
    CU_ASSERT_TRUE(is_named(d, r[0].kernel, "gemm") && is_named(d, r[0].operator, "conv"));
    CU_ASSERT_EQUAL(r[0].known_by, TL_COUNTED_BY_LAUNCH);
    CU_ASSERT_EQUAL(r[0].count, 2);
    CU_ASSERT_EQUAL(r[0].sum, 40);
    CU_ASSERT_EQUAL(r[0].min, 10);
    CU_ASSERT_EQUAL(r[0].max, 30);
    CU_ASSERT_TRUE(is_named(d, r[1].kernel, "relu") && is_named(d, r[1].operator, "add"));
    CU_ASSERT_EQUAL(r[1].place, 2);
    drawing_free(d);
}

static void a_range_without_a_value_keeps_its_place(void)
{
    drawing *d = draw(HOST, NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 }, { "relu", NULL, NAN }, { "gemm", "fma", 30 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 1);
    CU_ASSERT_EQUAL(r->known_by, TL_COUNTED_BY_LAUNCH);
    CU_ASSERT_TRUE(is_named(d, r->kernel, "gemm") && is_named(d, r->operator, "conv"));
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->sum, 40);
    drawing_free(d);
}

static void samples_belong_to_no_kernel(void)
{
    drawing *d = draw(HOST, NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 }, { "relu", "fma", 1 }, { "gemm", "fma", 30 }, { NULL, "busy", 50 }, { NULL, "busy", 90 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 3);
    CU_ASSERT_TRUE(is_named(d, r[0].counter, "busy") && r[0].kernel == TL_NO_NAME && r[0].operator== TL_NO_NAME);
    CU_ASSERT_TRUE(r[0].known_by == TL_COUNTED_BY_TIME && r[0].count == 2 && r[0].sum == 140 && r[0].max == 90);
    CU_ASSERT_TRUE(is_named(d, r[1].kernel, "gemm") && r[1].known_by == TL_COUNTED_BY_LAUNCH && r[1].count == 2);
    drawing_free(d);
}

static void ranges_without_any_value_have_no_rows(void)
{
    drawing *d = draw(HOST, NULL);
    const counted v[] = { { "gemm", NULL, NAN } };
    (void)rows_of(d, v, COUNT(v), 0);
    drawing_free(d);
}

/* A call stack is a row of its own. */
static void a_range_has_the_call_stack_of_its_launch(void)
{
    drawing *d = draw("op 1 model:               .==========.", "op 1 conv:                 ..===.......",
                      "op 1 mm:                   ...=...==...", "call 1 cudaLaunchKernel:   ...x...y..z.", NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 }, { "gemm", "fma", 30 }, { "gemm", "fma", 20 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 3);
    CU_ASSERT_TRUE(is_named(d, r[0].stack, "model > mm") && is_named(d, r[0].operator, "mm"));
    CU_ASSERT_TRUE(is_named(d, r[1].stack, "model") && is_named(d, r[1].operator, "model"));
    CU_ASSERT_TRUE(is_named(d, r[2].stack, "model > conv > mm") && is_named(d, r[2].operator, "mm"));
    CU_ASSERT_TRUE(isnan(r[0].flop));
    drawing_free(d);
}

/* As in every table, an operator that has returned has launched nothing that goes on. */
static void an_operator_lasts_as_long_as_its_launch(void)
{
    drawing *d = draw("op 1 model:               .==========.", "op 1 mm:                   ..==........",
                      "call 1 cudaLaunchKernel:   ...xxxxx....", NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 1);
    CU_ASSERT_TRUE(is_named(d, r[0].stack, "model") && is_named(d, r[0].operator, "model"));
    drawing_free(d);
}

static void fused_multiply_adds_are_two_operations(void)
{
    drawing *d = draw(HOST, NULL);
    const counted v[] = { { "gemm", "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 10 },
                          { "gemm", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 10 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 2);
    CU_ASSERT_EQUAL(r[0].flop, 10);
    CU_ASSERT_EQUAL(r[1].flop, 20);
    CU_ASSERT_EQUAL(r[0].stack, TL_NO_NAME);
    drawing_free(d);
}

static void where_the_numbers_differ_no_operator_is_known(void)
{
    drawing *d = draw(HOST, NULL);
    d->view.nlaunches = 0;
    const counted v[] = { { "gemm", "fma", 10 }, { "relu", "fma", 1 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 2);
    CU_ASSERT_EQUAL(r[0].known_by, TL_COUNTED_BY_NOTHING);
    CU_ASSERT_EQUAL(r[0].operator, TL_NO_NAME);
    CU_ASSERT_TRUE(is_named(d, r[0].kernel, "gemm"));
    drawing_free(d);
}

/* One launch of a graph has many; copies are not counted. */
static void the_ith_range_is_the_ith_kernel_where_there_are_kernels(void)
{
    drawing *d = draw("op 1 decode:             .====.....",
                      "call 1 cudaGraphLaunch:  ..g.......",
                      "call 1 cudaLaunchKernel: .......k..",
                      "compute 7 gemm:          ....G.....", "compute 8 relu: ...G......", "compute 7 add: .........K",
                      "memcpy 7 copy: .....G....", NULL);
    const counted v[] = { { "relu", "b", 1 }, { "__missing__", "a", 2 }, { "add", "a", 3 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 3);
    CU_ASSERT_EQUAL(r[0].known_by, TL_COUNTED_BY_KERNEL);
    CU_ASSERT_TRUE(is_named(d, r[0].counter, "a") && is_named(d, r[0].kernel, "add"));
    CU_ASSERT_EQUAL(r[0].operator, TL_NO_NAME);
    CU_ASSERT_TRUE(is_named(d, r[1].kernel, "gemm") && is_named(d, r[1].operator, "decode"));
    CU_ASSERT_TRUE(is_named(d, r[2].counter, "b") && is_named(d, r[2].kernel, "relu"));
    drawing_free(d);
}

static void kernels_of_other_names_are_others(void)
{
    drawing *d = draw("op 1 f: .====.", "launch 1 cudaLaunchKernel: .a....", "compute 7 gemm: ....A.", NULL);
    const counted v[] = { { "relu", "a", 1 } };
    const tl_counter_row *r = rows_of(d, v, COUNT(v), 1);
    CU_ASSERT_EQUAL(r->known_by, TL_COUNTED_BY_NOTHING);
    CU_ASSERT_TRUE(is_named(d, r->kernel, "relu"));
    drawing_free(d);
}

static void a_trace_without_counters_has_no_rows(void)
{
    drawing *d = draw(HOST, NULL);
    (void)rows_of(d, NULL, 0, 0);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_ith_range_is_the_ith_launch),
        TEST(a_range_without_a_value_keeps_its_place),
        TEST(ranges_without_any_value_have_no_rows),
        TEST(samples_belong_to_no_kernel),
        TEST(a_range_has_the_call_stack_of_its_launch),
        TEST(an_operator_lasts_as_long_as_its_launch),
        TEST(fused_multiply_adds_are_two_operations),
        TEST(where_the_numbers_differ_no_operator_is_known),
        TEST(the_ith_range_is_the_ith_kernel_where_there_are_kernels),
        TEST(kernels_of_other_names_are_others),
        TEST(a_trace_without_counters_has_no_rows),
    };
    return unit_main("counter", tests, COUNT(tests));
}
