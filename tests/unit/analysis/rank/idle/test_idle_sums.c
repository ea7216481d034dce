/* test_idle_sums.c - gaps of drawn timelines summed by label, class, device and rank; options; memory. */
#include "idle_drawn.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ sums */

/* The sum of those two axes. */
static const tl_idle_summary *axes_row(const tl_table *t, int rank, int step, uint8_t drain, uint8_t doing)
{
    static const tl_idle_summary none = { .rank = -9 };
    for (size_t i = 0; i < t->n; i++) {
        const tl_idle_summary *r = tl_table_row(t, i);
        if (r->rank == rank && r->device == -1 && r->step == step && r->place == 0 && r->drain_type == drain &&
            r->cpu_during_gap == doing)
            return r;
    }
    CU_FAIL("there is no such row");
    return &none;
}

/* Gaps: 6 us with aten::mm, 8 us with aten::add, 10 us with aten::mm, noise of 2. */
static drawing *three_gaps(void)
{
    return draw("steps:          4444444444444444444455555555555555555555555555555",
                "compute 7:      AA......BB..CC........DD..........EE",
                "op 1 aten::mm:  ..======..............==========", "op 1 aten::add: ..............======",
                "op 2 loader:    ..===================...........", NULL);
}

static void gaps_are_summed_by_label_and_step(void)
{
    drawing *d = three_gaps();
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 3);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_summary_schema);
    const tl_idle_summary *r = axes_row(t, 0, -1, TL_DRAIN_ALL, TL_DOING_ALL);
    CU_ASSERT_EQUAL(r->count, 3);
    CU_ASSERT_EQUAL(r->total_ns, 24 * US);
    CU_ASSERT_EQUAL(r->median_ns, 8 * US);
    CU_ASSERT_EQUAL(r->min_ns, 6 * US);
    CU_ASSERT_EQUAL(r->max_ns, 10 * US);
    CU_ASSERT_DOUBLE_EQUAL(r->idle_pct, 100, 1e-12);
    CU_ASSERT_EQUAL(r->longest_id, 2);
    CU_ASSERT_EQUAL(r->ranks, 1);
    CU_ASSERT_EQUAL(r->worst_ns, 24 * US);
    CU_ASSERT_EQUAL(r->peer_ns, 0);
    const tl_idle *all = tl_table_row(tl_tables_get(&d->out, &tl_idle_schema), 0);
    CU_ASSERT_DOUBLE_EQUAL(all->utilization_pct, 100.0 * 10 / 34, 1e-12);
    r = axes_row(t, 0, 4, TL_DRAIN_STARVED, TL_DOING_CPU);
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->median_ns, 7 * US);
    CU_ASSERT_EQUAL(r->std_ns, 1 * US);
    CU_ASSERT_DOUBLE_EQUAL(r->idle_pct, 100, 1e-12);
    CU_ASSERT_EQUAL(r->peer_ns, -1); /* not summed by step */
    CU_ASSERT_EQUAL(axes_row(t, 0, 5, TL_DRAIN_ALL, TL_DOING_ALL)->total_ns, 10 * US);
    CU_ASSERT_EQUAL(axes_row(t, 0, -1, TL_DRAIN_NOISE, TL_DOING_NOISE)->total_ns, 2 * US);
    CU_ASSERT_EQUAL(axes_row(t, 0, 4, TL_DRAIN_NOISE, TL_DOING_NOISE)->count, 1);
    drawing_free(d);
}

static const tl_idle_summary *summary_row(const tl_table *t, int place)
{
    static const tl_idle_summary none = { .rank = -9 };
    for (size_t i = 0; i < t->n; i++) {
        const tl_idle_summary *r = tl_table_row(t, i);
        if (r->device == -1 && r->place == place)
            return r;
    }
    CU_FAIL("there is no such row");
    return &none;
}

static void gaps_are_summed_by_class(void)
{
    drawing *d = three_gaps();
    run(d, &tl_config_default);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_summary_schema);
    /* Two classes; all, one pair of labels and noise, of the whole and of step 4; all and the pair of step 5. */
    CU_ASSERT_EQUAL_FATAL(t->n, 10);
    const tl_idle_summary *r = summary_row(t, 1);
    CU_ASSERT_STRING_EQUAL(r->dominant_op, "aten::mm");
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->total_ns, 16 * US);
    CU_ASSERT_EQUAL(r->std_ns, 2 * US);
    CU_ASSERT_EQUAL(r->longest_id, 2);
    CU_ASSERT_STRING_EQUAL(r->other_op, "loader");
    CU_ASSERT_DOUBLE_EQUAL(r->idle_pct, 200.0 / 3, 1e-12);
    r = summary_row(t, 2);
    CU_ASSERT_STRING_EQUAL(r->dominant_op, "aten::add");
    CU_ASSERT_DOUBLE_EQUAL(r->idle_pct, 100.0 / 3, 1e-12);
    drawing_free(d);
}

static void the_key_of_a_class_is_in_words(void)
{
    static const struct {
        const char *label, *key, *lines[3];
    } cases[] = {
        { "RUNTIME_DOMINATED",
          "MEMORY_ALLOC: cudaMalloc",
          { "compute 7: AA.......BB", "call 1 cudaMalloc: ...====", "op 1 x: =" } },
        { "CPU_UNTRACED", "(no_cpu_op_overlap)", { "compute 7: AA.......BB", "op 1 x: =", "" } },
        { "NO_CPU_TRACE", "(no_cpu_trace)", { "compute 7: AA.......BB", "", "" } },
        { "LAUNCH_OVERHEAD_ONLY",
          "launched_during_gap",
          { "compute 7: AA.......BB", "launch 1 cudaLaunchKernel: ..b", "op 1 x: =" } },
        { "LAUNCH_ANOMALY",
          "prequeued",
          { "compute 7: AAAAAAAAAAAAAA.......BB", "launch 1 cudaLaunchKernel: ..b", "op 1 x: =" } },
        { "LAUNCH_ANOMALY",
          "launched_during_gap: hipMemcpyWithStream",
          { "compute 7: AA.................BB", "launch 1 hipLaunchKernel: ...b",
            "call 1 hipMemcpyWithStream: ......============" } },
        { "LAUNCH_ANOMALY", /* half of the gap is not most of it */
          "launched_during_gap",
          { "compute 7: AA..................BB", "launch 1 hipLaunchKernel: ...b",
            "call 1 hipMemcpyWithStream: .........=========" } },
        { "GRAPH_INTERNAL",
          "cudaGraphLaunch",
          { "compute 7: GG.......GG", "launch 1 cudaGraphLaunch: g", "op 1 x: =" } },
        { "DEPENDENCY_WAIT",
          "B",
          { "compute 7: AAAAAAAAAAAAAA.......BB", "launch 1 cudaLaunchKernel: ..b",
            "call 1 cudaStreamWaitEvent: .=" } },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        drawing *d = draw(cases[i].lines[0], cases[i].lines[1], cases[i].lines[2], NULL);
        CU_ASSERT_STRING_EQUAL(tl_doing_labels[the_gap(d)->cpu_during_gap], cases[i].label);
        CU_ASSERT_STRING_EQUAL(summary_row(tl_tables_get(&d->out, &tl_idle_summary_schema), 1)->dominant_op,
                               cases[i].key);
        drawing_free(d);
    }
}

static void several_devices_have_sums_of_their_own(void)
{
    drawing *d = draw("compute 0/7: AA......BB", "compute 1/7: AA..........BB", "op 1 x: ..========", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 2);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_schema);
    CU_ASSERT_EQUAL_FATAL(t->n, 3);
    const tl_idle *all = tl_table_row(t, 0), *one = tl_table_row(t, 1), *two = tl_table_row(t, 2);
    CU_ASSERT_EQUAL(all->device, -1);
    CU_ASSERT_EQUAL(all->macro_ns, 16 * US);
    CU_ASSERT_EQUAL(all->busy_ns, 8 * US);
    CU_ASSERT_EQUAL(one->macro_ns, 6 * US);
    CU_ASSERT_EQUAL(two->macro_ns, 10 * US);
    CU_ASSERT_EQUAL(summary_row(tl_tables_get(&d->out, &tl_idle_summary_schema), 1)->count, 2);
    drawing_free(d);
}

/* More classes than have rows: the rest is one. */
static void many_classes_are_cut_off(void)
{
    enum { GAPS = 1200 };
    tl_kernel *kernels = calloc(GAPS + 1, sizeof *kernels);
    int64_t *start = calloc(GAPS, sizeof *start), *dur = calloc(GAPS, sizeof *dur);
    uint32_t *name = calloc(GAPS, sizeof *name);
    uint8_t *kind = calloc(GAPS, 1);
    tl_thread thread = { 0, 0, GAPS };
    drawing *d = draw("compute 7: .", NULL);

    for (uint32_t i = 0; i <= GAPS; i++)
        kernels[i] = (tl_kernel){ .start_ns = i * 100 * US,
                                  .end_ns = i * 100 * US + US,
                                  .launch = TL_NONE,
                                  .uid = i,
                                  .launch_ns = TL_TIME_UNKNOWN };
    for (uint32_t i = 0; i < GAPS; i++) {
        char text_of_op[16];
        int n = snprintf(text_of_op, sizeof text_of_op, "op%u", i);
        name[i] = tl_names_intern(&d->names, text_of_op, (size_t)n);
        start[i] = (i * 100 + 1) * US;
        dur[i] = 99 * US;
    }
    d->view.kernels = kernels;
    d->view.nkernels = GAPS + 1;
    d->view.ops = (tl_ops){ start, dur, name, name, kind, GAPS, &thread, 1 };
    CU_ASSERT_EQUAL(run(d, &tl_config_default), GAPS);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_summary_schema);
    CU_ASSERT_EQUAL(t->n, 1001 + 3); /* all, one pair of labels, noise */
    const tl_idle_summary *others = summary_row(t, 1001);
    CU_ASSERT_STRING_EQUAL(others->dominant_op, "(others)");
    CU_ASSERT_EQUAL(others->count, 200);
    CU_ASSERT_EQUAL(others->total_ns, 200 * 99 * US);
    CU_ASSERT_STRING_EQUAL(summary_row(t, 1)->dominant_op, "op0");
    CU_ASSERT_STRING_EQUAL(summary_row(t, 1000)->dominant_op, "op999");
    drawing_free(d);
    free(kernels);
    free(start);
    free(dur);
    free(name);
    free(kind);
}

/* ------------------------------------------------------------------------------------------------------ over ranks */

static void the_job_has_the_classes_of_all_ranks(void)
{
    static const char *const host[] = { "op 1 aten::mm: ..==========", "op 1 aten::mm: ..====......",
                                        "op 1 aten::add: ..==========", "op 1 aten::mm: ..==========" };
    static const char *const device[] = { "compute 7: AA..........BB", "compute 7: AA......BB",
                                          "compute 7: AA........BB", "compute 7: AA..........BB" };
    drawing *job = draw("compute 7: .", NULL);
    for (int rank = 0; rank < 4; rank++) {
        drawing *d = draw(host[rank], device[rank], NULL);
        d->view.rank = rank;
        run(d, &tl_config_default);
        for (size_t t = 0; t < d->out.n; t++)
            tl_table_append(&job->out.v[t], d->out.v[t].rows, d->out.v[t].n);
        drawing_free(d);
    }
    tl_idle_analysis.reduce(&job->out);
    const tl_table *t = tl_tables_get(&job->out, &tl_idle_summary_schema);
    const tl_idle_summary *mm = summary_row(t, 1), *add = summary_row(t, 2); /* rank -1 stands first */
    CU_ASSERT_EQUAL(mm->rank, -1);
    CU_ASSERT_EQUAL(add->rank, -1);
    CU_ASSERT_STRING_EQUAL(add->dominant_op, "aten::add");
    CU_ASSERT_STRING_EQUAL(mm->dominant_op, "aten::mm");
    CU_ASSERT_EQUAL(mm->place, 1);
    CU_ASSERT_EQUAL(mm->count, 3);
    CU_ASSERT_EQUAL(mm->total_ns, 26 * US);
    CU_ASSERT_DOUBLE_EQUAL(mm->idle_pct, 100.0 * 26 / 34, 1e-12);
    CU_ASSERT_EQUAL(mm->ranks, 3);
    CU_ASSERT_EQUAL(mm->worst_rank, 0); /* as much as rank 3, which is higher */
    CU_ASSERT_EQUAL(mm->worst_ns, 10 * US);
    CU_ASSERT_EQUAL(mm->min_ns, 6 * US);
    CU_ASSERT_EQUAL(mm->median_ns, -1);
    CU_ASSERT_EQUAL(mm->median_rank_ns, 8 * US); /* of 10, 10, 6 and none */
    CU_ASSERT_EQUAL(add->place, 2);
    CU_ASSERT_EQUAL(add->ranks, 1);
    CU_ASSERT_EQUAL(add->worst_rank, 2);
    CU_ASSERT_EQUAL(add->median_rank_ns, 0);

    const tl_idle_summary *all = axes_row(t, -1, -1, TL_DRAIN_ALL, TL_DOING_ALL);
    CU_ASSERT_EQUAL(all->count, 4);
    CU_ASSERT_EQUAL(all->total_ns, 34 * US);
    CU_ASSERT_EQUAL(all->ranks, 4);
    CU_ASSERT_EQUAL(all->worst_rank, 0);
    CU_ASSERT_EQUAL(all->median_ns, -1);
    CU_ASSERT_EQUAL(all->min_ns, 6 * US);
    const tl_idle *sum = tl_table_row(tl_tables_get(&job->out, &tl_idle_schema), 0);
    CU_ASSERT_EQUAL(sum->rank, -1);
    CU_ASSERT_EQUAL(sum->macro_ns, 34 * US);
    CU_ASSERT_EQUAL(sum->busy_ns, 16 * US);
    drawing_free(job);
}

/* ------------------------------------------------------------------------------------------------- options, memory */

static void thresholds_are_read_from_a_text(void)
{
    tl_config c = { 0 };
    CU_ASSERT_TRUE(tl_thresholds_read(tl_idle_thresholds, TL_IDLE_DEFAULT, &c.idle, NULL));
    CU_ASSERT_EQUAL(memcmp(&c.idle, &tl_config_default.idle, sizeof c.idle), 0);

    CU_ASSERT_TRUE(tl_thresholds_read(tl_idle_thresholds, "noise=2.5, runtime-pct=30", &c.idle, NULL));
    CU_ASSERT_EQUAL(c.idle.noise_ns, 2500);
    CU_ASSERT_EQUAL(c.idle.launch_ns, 8000);
    CU_ASSERT_EQUAL(c.idle.runtime_pct, 30);

    static const char *const wrong[] = { "noise",   "noise=",          "noise=-1",        "noise=x",  "noise=1e30",
                                         "noize=1", "runtime-pct=101", "runtime-pct=2.5", "without=", "without=none",
                                         "=5" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        CU_ASSERT_FALSE(tl_thresholds_read(tl_idle_thresholds, wrong[i], &c.idle, NULL));
}

/* Times as far apart as can be: sums and shares must neither overflow nor wrap. */
static void the_longest_gap_has_the_right_label(void)
{
    const int64_t far = INT64_C(1) << 61;
    drawing *d = draw("compute 7: A......B", "op 1 x: .======", "op 2 y: .======", "op 3 y: .======", "op 4 y: .======",
                      "op 5 y: .======", "call 1 cudaMalloc: .=", NULL);
    d->kernels[1].start_ns = d->kernels[1].end_ns = far;
    for (size_t i = 0; i < d->view.ops.n; i++)
        d->op_columns.dur_ns[i] = far - d->op_columns.start_ns[i];
    d->call_columns.dur_ns[0] = far / 4;
    CU_ASSERT_EQUAL(the_gap(d)->cpu_during_gap, TL_DOING_RUNTIME);
    d->call_columns.dur_ns[0] = far / 4 - US;
    CU_ASSERT_EQUAL(the_gap(d)->cpu_during_gap, TL_DOING_CPU);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
            TEST(gaps_are_summed_by_label_and_step),
        TEST(gaps_are_summed_by_class),
        TEST(the_key_of_a_class_is_in_words),
        TEST(several_devices_have_sums_of_their_own),
        TEST(many_classes_are_cut_off),
        TEST(the_job_has_the_classes_of_all_ranks),
        TEST(thresholds_are_read_from_a_text),
        TEST(the_longest_gap_has_the_right_label),
    };
    return unit_main("idle_sums", tests, COUNT(tests));
}
