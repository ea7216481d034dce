/* test_operator.c - operators and annotations of the host, and the work that was launched in them. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static const tl_config config = { 0 };

static const tl_table *table_of(drawing *d, const tl_schema *schema)
{
    tl_operator_analysis.per_rank(&d->view, &config, &d->out);
    return tl_tables_get(&d->out, schema);
}

/* The row of that name, NULL for work in none. */
static const tl_operator_row *row_of(const drawing *d, const tl_table *table, const char *name)
{
    for (size_t i = 0; i < table->n; i++) {
        const tl_operator_row *row = tl_table_row(table, i);
        if (name == NULL ? row->name == TL_NO_NAME
                         : row->name != TL_NO_NAME && tl_text_is(tl_names_text(&d->names, row->name), name))
            return row;
    }
    CU_FAIL_FATAL("no such row");
    return NULL;
}

/* An addmm in a linear, a launch in each, and one in neither. */
#define NESTED                                                                                                         \
    "op 1 linear: .===============..........",                                                                         \
    "op 1 addmm:  ...=======................",                                                                         \
    "launch 1 l:  .....a........b......c....",                                                                         \
    "compute 7:   ......AAAA......BB....CCCC"

static void work_counts_for_what_it_was_launched_in(void)
{
    drawing *d = draw(NESTED, NULL);
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    CU_ASSERT_EQUAL_FATAL(t->n, 3);
    const tl_operator_row *linear = row_of(d, t, "linear"), *addmm = row_of(d, t, "addmm"), *none = row_of(d, t, NULL);
    CU_ASSERT_EQUAL(linear->place, 1);
    CU_ASSERT_EQUAL(linear->count, 1);
    CU_ASSERT_EQUAL(linear->host_ns, 15 * US);
    CU_ASSERT_EQUAL(linear->host_self_ns, 8 * US);
    CU_ASSERT_EQUAL(linear->launches, 2);
    CU_ASSERT_EQUAL(linear->kernels, 2);
    CU_ASSERT_EQUAL(linear->device_ns, 6 * US);
    CU_ASSERT_EQUAL(linear->device_self_ns, 2 * US);
    CU_ASSERT_EQUAL(linear->device_span_ns, 12 * US);
    CU_ASSERT_DOUBLE_EQUAL(linear->share, 0.6, 1e-12);
    CU_ASSERT_EQUAL(addmm->device_ns, 4 * US);
    CU_ASSERT_EQUAL(addmm->device_self_ns, 4 * US);
    CU_ASSERT_EQUAL(addmm->host_self_ns, 7 * US);
    CU_ASSERT_EQUAL(linear->depth, 0);
    CU_ASSERT_EQUAL(addmm->depth, 1);
    CU_ASSERT_EQUAL(none->depth, -1);
    CU_ASSERT_EQUAL(none->device_ns, 4 * US);
    CU_ASSERT_EQUAL(none->count, 0);
    CU_ASSERT_EQUAL(none->launches, 1);
    CU_ASSERT_EQUAL(linear->device_self_ns + addmm->device_self_ns + none->device_self_ns, 10 * US);
    drawing_free(d);
}

static void one_inside_another_of_its_name_counts_with_it(void)
{
    drawing *d = draw("op 1 f:      .==========.....====",
                      "",
                      "op 1 g:      ..========..........",
                      "op 1 f:      ...====.............",
                      "launch 1 l:  ....a............b..",
                      "compute 7:   .....AAA..........BB", NULL);
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    const tl_operator_row *f = row_of(d, t, "f");
    CU_ASSERT_EQUAL(f->count, 3);
    CU_ASSERT_EQUAL(f->host_ns, 14 * US);      /* 10 and 4, not the 4 in the first */
    CU_ASSERT_EQUAL(f->host_self_ns, 10 * US); /* 10 - 8 of g, 4 and 4 */
    CU_ASSERT_EQUAL(f->device_ns, 5 * US);
    CU_ASSERT_EQUAL(f->device_self_ns, 5 * US);
    CU_ASSERT_EQUAL(f->launches, 2);
    CU_ASSERT_DOUBLE_EQUAL(f->mean_ns, 6e3, 1e-9); /* 10 4 4 */
    CU_ASSERT_DOUBLE_EQUAL(f->std_ns, sqrt(12e6), 1e-6);
    CU_ASSERT_EQUAL(f->min_ns, 4 * US);
    CU_ASSERT_DOUBLE_EQUAL(f->median_ns, 4e3, 0);
    CU_ASSERT_EQUAL(f->max_ns, 10 * US);
    CU_ASSERT_EQUAL(row_of(d, t, "g")->device_ns, 3 * US);
    CU_ASSERT_EQUAL(row_of(d, t, "g")->device_self_ns, 0);
    drawing_free(d);
}

/* The thread of autograd has no annotations: those of the main thread are around its launches.  Marks of steps are
 * none. */
static void what_other_threads_launch_is_in_the_main_threads_annotations(void)
{
    drawing *d = draw("mark 1 ProfilerStep#3: ====================",
                      "mark 1 forward:        .======.............",
                      "mark 1 backward:       ........========....",
                      "mark 2 prefetch:       .................===",
                      "launch 1 l:            ..a.................",
                      "launch 2 l:            ..........b......c.d",
                      "op 2 mm:               .........===........",
                      "compute 7:             ...AA......BBBB.....",
                      "compute 8:             .................CDD", NULL);
    const tl_table *t = table_of(d, &tl_annotation_row_schema);
    CU_ASSERT_EQUAL_FATAL(t->n, 3);
    CU_ASSERT_EQUAL(row_of(d, t, "forward")->device_ns, 2 * US);
    CU_ASSERT_EQUAL(row_of(d, t, "backward")->device_ns, 4 * US);
    CU_ASSERT_EQUAL(row_of(d, t, "prefetch")->device_ns, 3 * US);
    const tl_launch *b = &d->view.launches[1];
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(&d->names, b->annotation_name), "backward"));
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(&d->names, b->op_name), "mm"));
    drawing_free(d);
}

/* What was counted so far at that quarter, linear between two: by going through all pairs. */
static double quartile_of(const int64_t *ns, size_t n, size_t quarter)
{
    double place = (double)((n - 1) * quarter) / 4, low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        for (size_t k = 0; k < n; k++)
            before += ns[k] < ns[i] || (ns[k] == ns[i] && k < i);
        low = before == (size_t)floor(place) ? (double)ns[i] : low;
        high = before == (size_t)ceil(place) ? (double)ns[i] : high;
    }
    return low + (high - low) * (place - floor(place));
}

/* Two names in turn, and annotations of the same names: no other's calls count. */
static void quartiles_are_those_of_all_its_calls(void)
{
    enum { MOST = 300 };
    for (size_t n = 1; n <= MOST; n = n < 10 ? n + 1 : n * 5 / 2) {
        drawing *d = draw("op 1 f:     .==............",
                          "op 1 g:     ....===........",
                          "mark 1 f:   ........====...", NULL);
        tl_ops *ops = &d->view.ops;
        int64_t start[3 * MOST], dur[3 * MOST], of_f[MOST];
        uint32_t name[3 * MOST], of_name[2] = { ops->name[0], ops->name[1] };
        uint8_t kind[3 * MOST];
        const tl_thread thread = { .n = 3 * n };
        const tl_ops all = *ops;
        for (size_t i = 0, seed = 7; i < 3 * n; i++) {
            seed = seed * 1103515245 + 12345;
            start[i] = (int64_t)i * 1000;
            dur[i] = (int64_t)(seed >> 16) % 900;
            name[i] = of_name[i % 3 == 1];
            kind[i] = i % 3 == 2 ? TL_ANNOTATION : TL_OP;
            if (i % 3 == 0)
                of_f[i / 3] = dur[i];
        }
        *ops = (tl_ops){
            .n = 3 * n, .start_ns = start, .dur_ns = dur, .name = name, .kind = kind, .nthreads = 1, .threads = &thread
        };
        const tl_operator_row *f = row_of(d, table_of(d, &tl_operator_row_schema), "f");
        CU_ASSERT_EQUAL(f->count, (int64_t)n);
        CU_ASSERT_DOUBLE_EQUAL(f->median_ns, quartile_of(of_f, n, 2), 1e-9);
        CU_ASSERT_EQUAL(row_of(d, tl_tables_get(&d->out, &tl_annotation_row_schema), "f")->count, (int64_t)n);
        *ops = all;
        drawing_free(d);
    }
}

static void a_launch_as_an_operator_ends_is_in_it_no_more(void)
{
    drawing *d = draw("op 1 x:      .===...", "launch 1 l:  .a..b..", "compute 7:   ..A..BB", NULL);
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    CU_ASSERT_EQUAL(row_of(d, t, "x")->device_ns, 1 * US);
    CU_ASSERT_EQUAL(row_of(d, t, NULL)->device_ns, 2 * US);
    drawing_free(d);
}

static void work_without_a_launch_is_in_nothing(void)
{
    drawing *d = draw("op 1 x:      =======", "compute 7:   ..A....", NULL);
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    CU_ASSERT_EQUAL(row_of(d, t, "x")->device_ns, 0);
    CU_ASSERT_EQUAL(row_of(d, t, "x")->host_ns, 7 * US);
    CU_ASSERT_EQUAL(row_of(d, t, NULL)->kernels, 1);
    CU_ASSERT_EQUAL(row_of(d, t, NULL)->launches, 0);
    drawing_free(d);
}

/* Of each linear and addmm its own first launch; of a graph the work that begins first; no delay is below 0. */
static void delays_are_those_of_its_own_first_launch(void)
{
    drawing *d = draw("op 1 linear: .===============....======",
                      "op 1 addmm:  ...=======...............",
                      "launch 1 l:  .....ae.......bc.....d...",
                      "compute 7:   ........AAAA......B.D..C..",
                      "compute 8:   .......A..EEE.............", NULL);
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    const tl_operator_row *linear = row_of(d, t, "linear"), *addmm = row_of(d, t, "addmm");
    CU_ASSERT_DOUBLE_EQUAL(addmm->to_launch_ns, 2e3, 0);
    CU_ASSERT_DOUBLE_EQUAL(addmm->to_work_ns, 2e3, 0);
    CU_ASSERT_DOUBLE_EQUAL(linear->to_launch_ns, 7e3, 0); /* 13 and 1 */
    CU_ASSERT_DOUBLE_EQUAL(linear->to_work_ns, 2e3, 0);   /* 4, and D seems to begin before its launch */
    drawing_free(d);
    d = draw("op 1 x: ===", "compute 7:   ..A....", NULL);
    t = table_of(d, &tl_operator_row_schema);
    CU_ASSERT_TRUE(isnan(row_of(d, t, "x")->to_launch_ns) && isnan(row_of(d, t, "x")->to_work_ns));
    CU_ASSERT_TRUE(isnan(row_of(d, t, NULL)->to_launch_ns));
    drawing_free(d);
}

/* 60 kFLOP of an addmm, which launches a and, in an operator of its own, b; c, a copy, is of the linear. */
static void operations_are_of_those_around_who_does_them(void)
{
    drawing *d = draw("mark 1 forward: =======================.",
                      "op 1 linear:    .===============........",
                      "op 1 addmm:     ...==========...........",
                      "op 1 fill:      ........===.............",
                      "launch 1 l:     .....a...b....c...d.....",
                      "compute 7:      ......AAAABB...CC..DDDD.", NULL);
    const tl_flop flops[] = { { 60000, 0, 2, TL_F16 }, { 0, 1, 2, TL_F16 } };
    d->view.flops = flops;
    d->view.nflops = 2;
    d->view.device_name = "NVIDIA A100-SXM4-80GB"; /* 312 FLOP/ps: 60000 in 0.1923 ns */
    const tl_table *t = table_of(d, &tl_operator_row_schema);
    const char *around[] = { "linear", "addmm", "forward" };
    for (size_t i = 0; i < 3; i++) {
        const tl_operator_row *row = row_of(d, i < 2 ? t : tl_tables_get(&d->out, &tl_annotation_row_schema), around[i]);
        CU_ASSERT_DOUBLE_EQUAL(row->flop, 60000, 0);
        CU_ASSERT_DOUBLE_EQUAL(row->tflop_per_s, 60000 / 6e3 / 1e3, 1e-12); /* A and B: 6 us */
        CU_ASSERT_DOUBLE_EQUAL(row->peak_share, 60000 / 312e3 / 6e3, 1e-12);
    }
    CU_ASSERT_TRUE(isnan(row_of(d, t, "fill")->flop) && isnan(row_of(d, t, "fill")->tflop_per_s));
    CU_ASSERT_TRUE(isnan(row_of(d, t, NULL)->flop) && isnan(row_of(d, t, NULL)->peak_share));
    d->view.device_name = "NVIDIA A100-SXM4-80GB MIG 1g.10gb";
    tl_table_free(tl_tables_get(&d->out, &tl_operator_row_schema));
    t = table_of(d, &tl_operator_row_schema);
    CU_ASSERT_TRUE(isnan(row_of(d, t, "addmm")->peak_share));
    CU_ASSERT_DOUBLE_EQUAL(row_of(d, t, "addmm")->tflop_per_s, 0.01, 1e-12);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_counts_for_what_it_was_launched_in),
        TEST(one_inside_another_of_its_name_counts_with_it),
        TEST(what_other_threads_launch_is_in_the_main_threads_annotations),
        TEST(quartiles_are_those_of_all_its_calls),
        TEST(a_launch_as_an_operator_ends_is_in_it_no_more),
        TEST(work_without_a_launch_is_in_nothing),
        TEST(delays_are_those_of_its_own_first_launch),
        TEST(operations_are_of_those_around_who_does_them),
    };
    return unit_main("operator", tests, COUNT(tests));
}
