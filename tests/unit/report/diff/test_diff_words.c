/* test_diff_words.c - what is said of two runs, and which thresholds are passed. */
#include "tlmpi/report/diff.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

typedef struct told {
    tl_table found, run, step, kernel, operator;
    tl_diff_words words;
} told;

static tl_text name_of(void *arg, uint32_t id)
{
    static const char *const names[] = { "all_reduce of ranks 0-7", "flash_bwd", "aten::copy_", "comm", "\x1b[31mred\n",
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAFunctor<float>, std::array<char*, 2>>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAFunctor<c10::Half>, std::array<char*, 2>>",
        "cudaDeviceSynchronize", "waiting for input",
        "prequeued", "launched_during_gap: cudaMemcpyAsync", "MEMORY_ALLOC: cudaMalloc", "train.py(118): step" };
    (void)arg;
    return (tl_text){ names[id], strlen(names[id]) };
}

/* A step of 100 ms that takes `share` longer in B. */
static told *tell(double share, double p)
{
    told *t = calloc(1, sizeof *t);
    CU_ASSERT_TRUE_FATAL(t != NULL);
    int64_t change = (int64_t)(share * 1e8);
    tl_diff_step step = { .part = TL_DIFF_STEP, .a_ns = 100000000, .b_ns = 100000000 + change, .change_ns = change,
                          .share = share, .p_value = p, .sure = p < 0.01 };
    tl_diff_found found = { .part = TL_DIFF_STEP, .change_ns = change, .share = share, .p_value = p, .sure = p < 0.01 };
    t->found.schema = &tl_diff_found_schema;
    t->run.schema = &tl_diff_run_schema;
    t->step.schema = &tl_diff_step_schema;
    t->kernel.schema = &tl_diff_kernel_schema;
    t->operator.schema = &tl_diff_operator_schema;
    tl_table_append(&t->step, &step, 1);
    tl_table_append(&t->found, &found, 1);
    t->words = (tl_diff_words){ .found = &t->found, .run = &t->run, .step = &t->step, .kernel = &t->kernel,
                                .operator = &t->operator, .name = name_of, .basis = { .steps = { 6, 6 } } };
    return t;
}

static void end(told *t)
{
    tl_table_free(&t->found);
    tl_table_free(&t->run);
    tl_table_free(&t->step);
    tl_table_free(&t->kernel);
    tl_table_free(&t->operator);
    free(t);
}

static void expect(const told *t, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_print_diff(out, &t->words);
    (void)fclose(out);
    CU_ASSERT_STRING_EQUAL(text, want);
    if (strcmp(text, want) != 0)
        fprintf(stderr, "got:\n%s\nwant:\n%s\n", text, want);
    free(text);
}

static void a_step_that_differs_is_told_with_its_reasons(void)
{
    told *t = tell(0.082, 0.0005);
    tl_diff_found waiting = { .place = 1, .part = TL_DIFF_WAITING, .change_ns = 5000000, .share = 0.05, .p_value = 0.002,
                              .sure = 1, .rank = 3, .a_count = NAN, .b_count = NAN, .times = NAN, .name = 0,
                              .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = 1, .why_ns = 6000000 };
    tl_diff_found kernel = { .place = 2, .part = TL_DIFF_COMPUTE, .change = TL_DIFF_TIME, .change_ns = 2400000,
                             .share = 0.024, .p_value = 1e-9, .sure = 1, .rank = -1, .a_count = 4, .b_count = 4,
                             .times = 1.1, .name = 1, .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_diff_kernel copies = { .place = 1, .change = TL_DIFF_ADDED, .b_count = 12, .name = 2 };
    tl_table_append(&t->found, &waiting, 1);
    tl_table_append(&t->found, &kernel, 1);
    tl_table_append(&t->operator, &copies, 1);
    expect(t, "B takes 8.2 % more time per step: 100 ms in A, 108 ms in B (medians of 6 and\n"
              "  6 steps; p < 0.001, rank test).\n"
              "  +5.0 %, 5.00 ms in waiting in all_reduce of ranks 0-7, most of it for rank 3,\n"
              "    whose `flash_bwd` grew by 6.00 ms per step (p = 0.002)\n"
              "  +2.4 %, 2.40 ms in `flash_bwd` (each takes 1.1 times as long) (p < 0.001)\n"
              "New operator: 12 aten::copy_ per step.\n");
    end(t);
}

/* What the host did while devices were idle stands with the part of the step, or with the rank that others wait for. */
static void what_the_host_did_is_told(void)
{
    tl_diff_found row = { .part = TL_DIFF_IDLE, .change_ns = 5000000, .share = 0.05, .p_value = 0.002, .sure = 1, .rank = -1,
                          .a_count = NAN, .b_count = NAN, .times = NAN, .name = 2, .b_name = TL_NO_NAME,
                          .operator = TL_NO_NAME, .why = 7, .why_part = TL_DIFF_IDLE, .why_ns = 6000000, .why_b_count = 1 };
    told *t = tell(0.082, 0.0005);
    tl_table_append(&t->found, &row, 1);
    row.part = TL_DIFF_WAITING;
    row.rank = 3;
    row.name = 0;
    tl_table_append(&t->found, &row, 1);
    row.why = 8;
    row.why_part = TL_DIFF_OUTSIDE;
    row.why_b_count = row.why_a_count = NAN;
    tl_table_append(&t->found, &row, 1);
    row.part = TL_DIFF_OUTSIDE;
    row.name = TL_NO_NAME;
    tl_table_append(&t->found, &row, 1);
    row.part = TL_DIFF_IDLE;
    row.name = 2;
    row.rank = -1;
    tl_table_append(&t->found, &row, 1);
    expect(t, "B takes 8.2 % more time per step: 100 ms in A, 108 ms in B (medians of 6 and\n"
              "  6 steps; p < 0.001, rank test).\n"
              "  +5.0 %, 5.00 ms in idle devices, with the host in `cudaDeviceSynchronize`\n"
              "    (new: 1 per step), while the host is in `aten::copy_` (p = 0.002)\n"
              "  +5.0 %, 5.00 ms in waiting in all_reduce of ranks 0-7, most of it for rank 3,\n"
              "    whose time in `cudaDeviceSynchronize` (new: 1 per step) grew by 6.00 ms per\n"
              "    step (p = 0.002)\n"
              "  +5.0 %, 5.00 ms in waiting in all_reduce of ranks 0-7, most of it for rank 3,\n"
              "    whose waiting for input grew by 6.00 ms per step (p = 0.002)\n"
              "  +5.0 %, 5.00 ms before the first and after the last device work of the step,\n"
              "    mostly waiting for input, most of it on rank 3 (p = 0.002)\n"
              "  +5.0 %, 5.00 ms in idle devices, mostly waiting for input (p = 0.002)\n");
    end(t);
}

static void what_may_be_chance_is_called_so(void)
{
    told *t = tell(-0.004, 0.6);
    expect(t, "No significant difference of the step (B takes 0.4 % less time): 100 ms in A,\n"
              "  99.6 ms in B (medians of 6 and 6 steps; p = 0.6, rank test).\n");
    end(t);
    t = tell(0.43, 0.3);
    expect(t, "B takes 43.0 % more time per step, which may be chance: 100 ms in A, 143 ms in B\n"
              "  (medians of 6 and 6 steps; p = 0.3, rank test).\n");
    end(t);
    t = tell(0.2, NAN);
    t->words.basis.steps[0] = t->words.basis.steps[1] = 1;
    tl_diff_run device = { .place = 1, .what = "device", .differs = 1, .a = "H100", .b = "MI300" };
    tl_diff_run ranks = { .place = 2, .what = "ranks", .differs = 1, .a = "0-3 (0-2 compared)", .b = "0-2" };
    tl_table_append(&t->run, &device, 1);
    tl_table_append(&t->run, &ranks, 1);
    expect(t, "device: H100 in A, MI300 in B; times may differ for that alone.\n"
              "ranks: 0-3 (0-2 compared) in A, 0-2 in B.\n"
              "B takes 20.0 % more time per step, and nothing tells whether that is more than\n"
              "  chance: 100 ms in A, 120 ms in B (1 and 1 steps: too few for a test).\n");
    end(t);
}

static void a_transfer_that_is_overlapped_less_takes_as_long(void)
{
    told *t = tell(0.03, 0.001);
    tl_diff_found less = { .place = 1, .part = TL_DIFF_TRANSFER, .change = TL_DIFF_SAME, .change_ns = 3000000, .share = 0.03,
                           .p_value = 0.002, .sure = 1, .rank = -1, .a_count = NAN, .b_count = NAN, .times = NAN, .name = 0,
                           .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_table_append(&t->found, &less, 1);
    expect(t, "B takes 3.0 % more time per step: 100 ms in A, 103 ms in B (medians of 6 and\n"
              "  6 steps; p = 0.001, rank test).\n"
              "  +3.0 %, 3.00 ms in transfer of all_reduce of ranks 0-7 that nothing overlaps:\n"
              "    all of it, overlapped or not, takes about as long as in A (p = 0.002)\n");
    end(t);
}

/* Of a recording without steps no time is one of a step. */
static void whole_recordings_are_called_so(void)
{
    told *t = tell(0.2, NAN);
    tl_diff_kernel copies = { .place = 1, .change = TL_DIFF_REMOVED, .a_count = 12, .name = 2 };
    tl_table_append(&t->operator, &copies, 1);
    t->words.basis.steps[0] = t->words.basis.steps[1] = 0;
    t->words.basis.whole = true;
    expect(t, "B takes 20.0 % more time per recording, and nothing tells whether that is more\n"
              "  than chance: 100 ms in A, 120 ms in B (whole recordings, from the first\n"
              "  operator or launch to the last device work: the steps of one are not known).\n"
              "Gone operator: 12 aten::copy_ per recording.\n");
    end(t);
}

/* Sure, but smaller than what is named; many times as long; and an idle device, whose rank follows a comma. */
static void sizes_are_told_as_they_are(void)
{
    told *t = tell(0.004, 0.0001);
    ((tl_diff_found *)tl_table_row(&t->found, 0))->sure = 0;
    expect(t, "No large difference of the step (B takes 0.4 % more time): 100 ms in A, 100 ms\n"
              "  in B (medians of 6 and 6 steps; p < 0.001, rank test).\n");
    end(t);
    t = tell(4, 0.001);
    tl_diff_found idle = { .place = 1, .part = TL_DIFF_IDLE, .change_ns = 300000000, .share = 3, .p_value = 0.002, .sure = 1,
                           .rank = 2, .a_count = NAN, .b_count = NAN, .times = NAN, .name = 2, .b_name = TL_NO_NAME,
                           .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_diff_found often = { .place = 2, .part = TL_DIFF_COPY, .change = TL_DIFF_COUNT, .change_ns = -2400000, .share = -0.024,
                            .p_value = NAN, .sure = 1, .rank = -1, .a_count = 4, .b_count = 8, .times = 0.2, .name = 1,
                            .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_table_append(&t->found, &idle, 1);
    tl_table_append(&t->found, &often, 1);
    expect(t, "B takes 5 times as long per step: 100 ms in A, 500 ms in B (medians of 6 and\n"
              "  6 steps; p = 0.001, rank test).\n"
              "  +300 %, 300 ms in idle devices while the host is in `aten::copy_`, most of it\n"
              "    on rank 2 (p = 0.002)\n"
              "  -2.4 %, 2.40 ms in `flash_bwd` (4 per step in A, 8 in B) (each takes 0.2 times\n"
              "    as long)\n");
    end(t);
}

static void another_algorithm_of_a_collective_is_told_with_its_transfer(void)
{
    told *t = tell(0.04, 0.001);
    tl_diff_found transfer = { .place = 1, .part = TL_DIFF_TRANSFER, .change = TL_DIFF_TIME, .change_ns = 3000000,
                               .share = 0.03, .p_value = 0.002,
                               .sure = 1, .rank = -1, .a_count = NAN, .b_count = NAN, .times = NAN, .name = 0, .b_name = 2,
                               .operator = TL_NO_NAME, .why = 1 };
    tl_diff_found added = { .place = 2, .part = TL_DIFF_TRANSFER, .change = TL_DIFF_ADDED,
                            .p_value = NAN, .sure = 1, .rank = -1, .a_count = 0, .b_count = 6, .times = NAN, .name = 1,
                            .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_table_append(&t->found, &transfer, 1);
    tl_table_append(&t->found, &added, 1);
    expect(t, "B takes 4.0 % more time per step: 100 ms in A, 104 ms in B (medians of 6 and\n"
              "  6 steps; p = 0.001, rank test).\n"
              "  +3.0 %, 3.00 ms in transfer of all_reduce of ranks 0-7 by `aten::copy_`, which\n"
              "    replaced `flash_bwd` (p = 0.002)\n"
              "  Communication: new: 6 `flash_bwd` per step\n");
    end(t);
}

static tl_gates_judged judge(const told *t, const char *thresholds, const char *said)
{
    char *text = NULL;
    size_t size = 0;
    tl_gates gates;
    CU_ASSERT_TRUE_FATAL(tl_gates_read(&tl_diff_gates, thresholds, &gates));
    FILE *err = open_memstream(&text, &size);
    tl_gates_judged judged = tl_diff_gates_judge(&gates, &t->words, err);
    (void)fclose(err);
    CU_ASSERT_STRING_EQUAL(text, said);
    free(text);
    return judged;
}

static bool passes(const told *t, const char *thresholds, const char *said)
{
    return judge(t, thresholds, said) == TL_GATES_PASSED;
}

/* Work on some ranks. */
static void ranks_that_a_kernel_changes_on_are_told(void)
{
    told *t = tell(0.02, 0.0005);
    tl_diff_found kernel = { .place = 1, .part = TL_DIFF_COMPUTE, .change = TL_DIFF_TIME, .change_ns = 400000, .share = 0.004,
                             .p_value = 1e-9, .sure = 1, .rank = 3, .ranks = "3", .a_count = 4, .b_count = 4, .times = 1.3,
                             .name = 1, .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_diff_kernel row = { .change = TL_DIFF_TIME, .a_ns = 10000000, .b_ns = 10400000, .change_ns = 400000, .ranks = "3",
                           .ranks_times = 1.3, .p_value = 1e-9, .name = 1 };
    tl_table_append(&t->found, &kernel, 1);
    tl_table_append(&t->kernel, &row, 1);
    t->words.basis.steps[0] = t->words.basis.steps[1] = 0;
    expect(t, "B takes 2.0 % more time per step: 100 ms in A, 102 ms in B (whole recordings by\n"
              "  their steps; p < 0.001, rank test).\n"
              "  +0.4 %, 400 us in `flash_bwd` on rank 3 (takes 1.3 times as long there)\n"
              "    (p < 0.001)\n");
    CU_ASSERT_TRUE(passes(t, "kernel>+20%", "tlmpi: --fail-on kernel>+20%: +30.0 % (flash_bwd on rank 3)\n"));
    CU_ASSERT_FALSE(passes(t, "kernel>+31%", ""));
    end(t);
}

static void thresholds_spare_what_may_be_chance(void)
{
    told *t = tell(0.08, 0.001);
    CU_ASSERT_TRUE(passes(t, "step>+5%", "tlmpi: --fail-on step>+5%: +8.0 %\n"));
    CU_ASSERT_FALSE(passes(t, "step>+9%,kernel>+200%", ""));
    end(t);
    t = tell(0.08, 0.2);
    CU_ASSERT_FALSE(passes(t, "step>+5%", "tlmpi: --fail-on step>+5%: +8.0 %, which may be chance (p = 0.2): not failed\n"));
    end(t);
    t = tell(0.08, NAN);
    CU_ASSERT_TRUE(passes(t, "step > + 5 %", "tlmpi: --fail-on step>+5%: +8.0 %; too few steps to tell it from chance\n"));
    tl_diff_kernel kernel = { .change = TL_DIFF_ADDED, .b_ns = 2000000, .change_ns = 2000000, .name = 1, .p_value = NAN };
    tl_table_append(&t->kernel, &kernel, 1);
    CU_ASSERT_TRUE(passes(t, "kernel>+50%", "tlmpi: --fail-on kernel>+50%: +inf % (flash_bwd)\n"));
    ((tl_diff_kernel *)tl_table_row(&t->kernel, 0))->name = 4; /* what a terminal must not see */
    CU_ASSERT_TRUE(passes(t, "kernel>+50%", "tlmpi: --fail-on kernel>+50%: +inf % (?[31mred?)\n"));
    end(t);

    /* One that may be chance does not hide one that is not, though it grows more. */
    t = tell(0.08, 0.001);
    tl_diff_kernel grown[] = {
        { .change = TL_DIFF_SAME, .a_ns = 2000000, .b_ns = 4000000, .change_ns = 2000000, .name = 0, .p_value = 0.3 },
        { .change = TL_DIFF_TIME, .a_ns = 2000000, .b_ns = 3000000, .change_ns = 1000000, .name = 1, .p_value = 0.001 },
    };
    tl_table_append(&t->kernel, grown, 2);
    CU_ASSERT_TRUE(passes(t, "kernel>+20%", "tlmpi: --fail-on kernel>+20%: +50.0 % (flash_bwd)\n"));
    CU_ASSERT_FALSE(passes(t, "kernel>+60%", "tlmpi: --fail-on kernel>+60%: +100.0 % (all_reduce of ranks 0-7), which may be "
                                             "chance (p = 0.3): not failed\n"));
    CU_ASSERT_FALSE(passes(t, "kernel>+100%", ""));
    ((tl_diff_kernel *)tl_table_row(&t->kernel, 1))->kind = 3; /* its time holds waiting */
    CU_ASSERT_FALSE(passes(t, "kernel>+20%", "tlmpi: --fail-on kernel>+20%: +100.0 % (all_reduce of ranks 0-7), which may be "
                                             "chance (p = 0.3): not failed\n"));
    end(t);
}

/* The typical step is the same: what some steps add to the mean is told by itself, and judged by how many they are. */
static void long_steps_are_told_and_judged(void)
{
    told *t = tell(0.001, 0.4);
    t->words.basis = (tl_diff_basis){ .steps = { 20, 20 }, .nlong = { 0, 2 }, .mean_ns = { 100000000, 201000000 } };
    tl_diff_step far = { .part = TL_DIFF_LONG, .b_ns = 100900000, .change_ns = 100900000, .share = 1.009, .p_value = NAN };
    tl_diff_found row = { .place = 1, .part = TL_DIFF_LONG, .change_ns = 100900000, .share = 1.009, .p_value = NAN, .rank = -1,
                          .a_count = NAN, .b_count = NAN, .times = NAN, .name = 1, .b_name = TL_NO_NAME,
                          .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_table_append(&t->step, &far, 1);
    tl_table_append(&t->found, &row, 1);
    expect(t, "No significant difference of the step (B takes 0.1 % more time): 100 ms in A,\n"
              "  100 ms in B (medians of 20 and 18 steps; p = 0.4, rank test). In the mean a\n"
              "  step of B takes 2.01 times as long.\n"
              "  +101 %, 101 ms in steps far above the median: 0 of 20 in A, 2 of 20 in B; most\n"
              "    of it flash_bwd (too few to tell from chance)\n");
#define MEAN "tlmpi: --fail-on step>+5%: +101.0 % in the mean: 0 of 20 steps of A and 2 of 20 of B are far above the median"
    CU_ASSERT_TRUE(passes(t, "step>+5%", MEAN "; too few steps to tell it from chance\n"));
    CU_ASSERT_FALSE(passes(t, "step>+102%", ""));
    ((tl_diff_step *)tl_table_row(&t->step, 1))->p_value = 0.3;
    CU_ASSERT_FALSE(passes(t, "step>+5%", MEAN ", which may be chance (p = 0.3): not failed\n"));
    ((tl_diff_step *)tl_table_row(&t->step, 1))->p_value = 0.003;
    CU_ASSERT_TRUE(passes(t, "step>+5%", MEAN "\n"));
#undef MEAN
    end(t);
}

/* Of A 3 ms of a step of 100 ms may be waiting or transfer, of B 10 ms: waiting grew by 2 % - 3 % to 2 % + 10 %. */
static void waiting_that_is_not_known_is_judged_by_its_bounds(void)
{
#define BOUNDS                                                                                                             \
    "not judged: between -1.0 % and +12.0 %, as it is not known how much of communication is waiting (table exposed tells " \
    "why); comm is known\n"
    told *t = tell(0.08, 0.001);
    tl_diff_step parts[] = {
        { .part = TL_DIFF_WAITING, .change_ns = 2000000, .share = 0.02, .p_value = 0.001 },
        { .part = TL_DIFF_UNKNOWN, .a_ns = 3000000, .b_ns = 10000000, .change_ns = 7000000, .share = 0.07, .p_value = 0.001 },
    };
    tl_table_append(&t->step, parts, 2);
    CU_ASSERT_EQUAL(judge(t, "waiting>+1%", "tlmpi: --fail-on waiting>+1%: " BOUNDS), TL_GATES_UNKNOWN);
    CU_ASSERT_EQUAL(judge(t, "waiting>+11%", "tlmpi: --fail-on waiting>+11%: " BOUNDS), TL_GATES_UNKNOWN);
    CU_ASSERT_EQUAL(judge(t, "waiting>+13%", ""), TL_GATES_HELD);
    CU_ASSERT_EQUAL(judge(t, "comm>+5%", "tlmpi: --fail-on comm>+5%: +9.0 %\n"), TL_GATES_PASSED);
    CU_ASSERT_EQUAL(judge(t, "step>+5%,waiting>+1%",
                          "tlmpi: --fail-on step>+5%: +8.0 %\ntlmpi: --fail-on waiting>+1%: " BOUNDS),
                    TL_GATES_PASSED);
    end(t);
    t = tell(0.08, 0.001);
    parts[0].share = 0.2;
    tl_table_append(&t->step, parts, 2);
    CU_ASSERT_EQUAL(judge(t, "waiting>+1%", "tlmpi: --fail-on waiting>+1%: at least +17.0 %\n"), TL_GATES_PASSED);
    end(t);
#undef BOUNDS
}

/* Two kernels of one long beginning, one of which is gone on a rank, and waiting of too few steps that the verdict is sure of. */
static void names_of_one_beginning_are_told_apart(void)
{
    told *t = tell(0.082, 0.0005);
    tl_diff_found gone = { .place = 1, .part = TL_DIFF_COMPUTE, .change = TL_DIFF_COUNT, .change_ns = -2000000, .share = -0.02,
                           .p_value = NAN, .sure = 1, .rank = 3, .ranks = "3", .a_count = 4, .b_count = 3, .times = 0,
                           .name = 5, .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_diff_found more = { .place = 2, .part = TL_DIFF_COMPUTE, .change = TL_DIFF_COUNT, .change_ns = 2000000, .share = 0.02,
                           .p_value = NAN, .sure = 1, .rank = -1, .a_count = 1, .b_count = 2, .times = 1,
                           .name = 6, .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_diff_found waiting = { .place = 3, .part = TL_DIFF_WAITING, .change_ns = 5000000, .share = 0.05, .p_value = 0.03,
                              .by_verdict = 1, .rank = 3, .a_count = NAN, .b_count = NAN, .times = NAN, .name = 0,
                              .b_name = TL_NO_NAME, .operator = TL_NO_NAME, .why = TL_NO_NAME };
    tl_table_append(&t->found, &gone, 1);
    tl_table_append(&t->found, &more, 1);
    tl_table_append(&t->found, &waiting, 1);
    expect(t, "B takes 8.2 % more time per step: 100 ms in A, 108 ms in B (medians of 6 and\n"
              "  6 steps; p < 0.001, rank test).\n"
              "  -2.0 %, 2.00 ms in `void at::native::vectorized_elem...Functor<float>,\n"
              "    std::array<char*, ...` on rank 3 (4 per step in A, 3 in B) (gone there)\n"
              "  +2.0 %, 2.00 ms in `void at::native::vectorized_elem...tor<c10::Half>,\n"
              "    std::array<char*, ...` (1 per step in A, 2 in B)\n"
              "  +5.0 %, 5.00 ms in waiting in all_reduce of ranks 0-7, most of it for rank 3\n"
              "    (not significant by itself, but the verdict on B names rank 3, with trust\n"
              "    high)\n");
    end(t);
}

/* Classes of idle time are words, not labels. */
static void classes_of_idle_time_are_told_in_words(void)
{
    static const char *const words[] = { "until queued work starts",
                                         "until launched work starts, the host in\n    `cudaMemcpyAsync`",
                                         "while the host is in `cudaMalloc`",
                                         "while the host is in `train.py(118): step`" };
    for (uint32_t i = 0; i < COUNT(words); i++) {
        tl_diff_found row = { .part = TL_DIFF_IDLE, .change_ns = 5000000, .share = 0.05, .p_value = NAN, .sure = 1, .rank = -1,
                              .a_count = NAN, .b_count = NAN, .times = NAN, .name = 9 + i, .b_name = TL_NO_NAME,
                              .operator = TL_NO_NAME, .why = TL_NO_NAME };
        char want[256];
        told *t = tell(0.082, 0.0005);
        tl_table_append(&t->found, &row, 1);
        snprintf(want, sizeof want, "B takes 8.2 %% more time per step: 100 ms in A, 108 ms in B (medians of 6 and\n"
                 "  6 steps; p < 0.001, rank test).\n  +5.0 %%, 5.00 ms in idle devices %s\n", words[i]);
        expect(t, want);
        end(t);
    }
}

static const unit_test tests[] = {
    TEST(classes_of_idle_time_are_told_in_words),
    TEST(what_the_host_did_is_told),
    TEST(names_of_one_beginning_are_told_apart),
    TEST(a_step_that_differs_is_told_with_its_reasons),
    TEST(what_may_be_chance_is_called_so),
    TEST(ranks_that_a_kernel_changes_on_are_told),
    TEST(whole_recordings_are_called_so),
    TEST(a_transfer_that_is_overlapped_less_takes_as_long),
    TEST(another_algorithm_of_a_collective_is_told_with_its_transfer),
    TEST(sizes_are_told_as_they_are),
    TEST(thresholds_spare_what_may_be_chance),
    TEST(long_steps_are_told_and_judged),
    TEST(waiting_that_is_not_known_is_judged_by_its_bounds),
};

int main(void)
{
    return unit_main("diff words", tests, COUNT(tests));
}
