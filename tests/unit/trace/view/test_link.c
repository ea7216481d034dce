/* test_link.c - events to views: what is device work, which launch and step it belongs to, what kind it is. */
#include "tlmpi/base/pattern.h"
#include "view_text.h"
#include <time.h>

#define GPU(cat, name, ts, dur, corr, stream)                                                                          \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":" #dur         \
    ",\"args\":{\"device\":0,\"stream\":" #stream ",\"correlation\":" #corr "}}"
#define HOST(cat, name, ts, dur, corr)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":99,\"tid\":98,\"ts\":" #ts ",\"dur\":" #dur                 \
    ",\"args\":{\"correlation\":" #corr "}}"
#define MARK(cat, name, ts, dur) "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":99,\"tid\":98,\"ts\":" #ts ",\"dur\":" #dur "}"

static void work_is_sorted_by_place_and_joined_to_its_launch(void)
{
    const tl_rank_view *v = view_of(GPU("kernel", "b", 30, 5, 2, 7) "," GPU("kernel", "a", 20, 5, 1, 7) "," GPU(
                                        "gpu_memcpy", "Memcpy HtoD", 10, 5, 3, 0) "," HOST("cuda_runtime", "cudaLaunchKernel",
                                                                                           15, 2, 2) "," HOST("cuda_driver",
                                                                                                              "cuLaunchKernel", 11,
                                                                                                              2, 1),
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 3);
    CU_ASSERT_EQUAL(v->kernels[0].stream, 0);
    CU_ASSERT_EQUAL(v->kernels[0].kind, TL_MEMCPY);
    CU_ASSERT_EQUAL(v->kernels[0].launch, TL_NONE);
    CU_ASSERT_EQUAL(v->kernels[0].launch_ns, TL_TIME_UNKNOWN);
    CU_ASSERT_EQUAL(v->kernels[1].start_ns, 20000);
    CU_ASSERT_EQUAL(v->kernels[1].launch_ns, 11000);
    CU_ASSERT_EQUAL(v->kernels[2].launch_ns, 15000);
    CU_ASSERT_EQUAL(v->launches[v->kernels[2].launch].end_ns, 17000);
    forget();
}

static void one_graph_launch_has_many_kernels(void)
{
    const tl_rank_view *v = view_of(HOST("cuda_runtime", "cudaGraphLaunch", 1, 2, 9) "," GPU("kernel", "a", 5, 1, 9, 7) "," GPU(
                                        "kernel", "b", 7, 1, 9, 7) "," GPU("kernel", "c", 9, 1, 9, 8),
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nlaunches, 1);
    CU_ASSERT_EQUAL(v->launches[0].nkernels, 3);
    for (size_t i = 0; i < v->nkernels; i++)
        CU_ASSERT_EQUAL(v->kernels[i].launch, 0);
    forget();
}

static void a_kernel_has_the_blocks_of_its_grid_and_a_copy_its_bytes(void)
{
    const tl_rank_view *v = view_of("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":30,\"dur\":5,\"args\":{"
                                    "\"stream\":7,\"grid\":[2,3,4]}}," GPU("kernel", "b", 20, 5, 1, 7) ","
                                    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"c\",\"ts\":10,\"dur\":5,\"args\":{"
                                    "\"stream\":7,\"device\":0,\"bytes\":4096}}",
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 3);
    for (size_t i = 0; i < 3; i++) {
        const tl_kernel *k = &v->kernels[i];
        CU_ASSERT_EQUAL(k->bytes, k->start_ns == 10000 ? 4096 : -1);
        CU_ASSERT(k->kind == TL_MEMCPY || k->blocks == (k->start_ns == 30000 ? 24u : 0u));
    }
    forget();
}

static void of_two_calls_with_one_number_the_last_before_the_start_counts(void)
{
    const tl_rank_view *v = view_of(HOST("cuda_runtime", "x", 1, 1, 4) "," HOST("cuda_runtime", "y", 5, 1, 4) "," HOST(
                                        "cuda_runtime", "z", 50, 1, 4) "," GPU("kernel", "a", 8, 1, 4, 7),
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 1);
    CU_ASSERT_EQUAL(v->kernels[0].launch_ns, 5000);
    forget();
}

/* Calls at 10, 30, 50 ... and kernels at 5, 15, 35 ..., all of one correlation: each kernel follows its own call, and
 * the one before all calls has the first.  A walk along the calls for each kernel would take minutes. */
static void a_hundred_thousand_calls_with_one_number_are_quick(void)
{
    const int n = 100000;
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_rules rules = { 0 };
    tl_error err = { 0 };
    char *text = malloc((size_t)n * 200 + 100);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    size_t at = (size_t)sprintf(text, "[");
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(text + at,
                              "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":4}},"
                              "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":4}},",
                              20 * i + 10, i == 0 ? 5 : 20 * i + 15);
    at += (size_t)sprintf(text + at - 1, "]") - 1;

    clock_t begin = clock();
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_write("link.json", text, at), &options, &trace, &err), TL_OK);
    tl_link(&trace, &rules, 3, &linked);
    CU_ASSERT((double)(clock() - begin) / CLOCKS_PER_SEC < 5.0);
    CU_ASSERT_EQUAL_FATAL(linked.view.nkernels, (size_t)n);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += linked.view.kernels[i].launch_ns != (20 * (int64_t)i + 10) * 1000;
    CU_ASSERT_EQUAL(wrong, 0);
    free(text);
    forget();
}

static void correlation_zero_joins_nothing(void)
{
    const tl_rank_view *v = view_of(HOST("cuda_runtime", "x", 1, 1, 0) "," GPU("kernel", "a", 8, 1, 0, 7), "");
    CU_ASSERT_EQUAL(v->nlaunches, 0);
    CU_ASSERT_EQUAL(v->kernels[0].launch, TL_NONE);
    forget();
}

static void an_operator_with_a_stream_is_no_device_work(void)
{
    const tl_rank_view *v = view_of(GPU("cpu_op", "triton_add", 1, 5, 4, 0) "," GPU("gpu_user_annotation", "step", 1, 9, 5, 7) ","
                                                                              GPU("cuda_sync", "Stream Sync", 2, 3, 6, 7) ","
                                                                              GPU("Kernel", "old", 4, 1, 7, 7),
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 1);
    CU_ASSERT_EQUAL(v->kernels[0].start_ns, 4000);
    CU_ASSERT_EQUAL_FATAL(v->nsyncs, 1);
    CU_ASSERT_EQUAL(v->syncs[0].stream, 7);
    forget();
}

static void the_place_comes_from_the_track_where_args_have_none(void)
{
    const tl_rank_view *v = view_of("{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"a\",\"pid\":1,\"tid\":\"stream 7\",\"ts\":1,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":2,\"tid\":5,\"ts\":1,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":3,\"tid\":5,\"ts\":1,\"dur\":1,"
                                    "\"args\":{\"device\":-5,\"stream\":6}}",
                                    "");
    CU_ASSERT_EQUAL(v->kernels[0].device, 1);
    CU_ASSERT_EQUAL(v->kernels[0].stream, 7);
    CU_ASSERT_EQUAL(v->kernels[1].device, 2);
    CU_ASSERT_EQUAL(v->kernels[1].stream, 5);
    CU_ASSERT_EQUAL(v->kernels[2].device, 3); /* no device has such a number */
    CU_ASSERT_EQUAL(v->kernels[2].stream, 6);
    forget();
}

static void work_of_an_unknown_device_is_on_the_lowest_that_is_known(void)
{
    const tl_rank_view *v = view_of("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":\"gpu\",\"tid\":7,\"ts\":3,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":2,\"tid\":7,\"ts\":4,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"s\",\"pid\":\"gpu\",\"tid\":7,\"ts\":1,\"dur\":1},"
                                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"d\",\"pid\":-7,\"tid\":9,\"ts\":5,\"dur\":1}",
                                    "");
    static const int32_t devices[] = { 1, 1, 1, 2 }, streams[] = { 7, 7, 9, 7 };
    static const int64_t starts_ns[] = { 1000, 3000, 5000, 4000 };

    CU_ASSERT_EQUAL_FATAL(v->nkernels, 4);
    for (size_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(v->kernels[i].device, devices[i]);
        CU_ASSERT_EQUAL(v->kernels[i].stream, streams[i]);
        CU_ASSERT_EQUAL(v->kernels[i].start_ns, starts_ns[i]);
    }
    CU_ASSERT_EQUAL(v->syncs[0].device, -1); /* a wait may be for any */
    forget();

    v = view_of("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":\"gpu\",\"tid\":7,\"ts\":3,\"dur\":1}", "");
    CU_ASSERT_EQUAL(v->kernels[0].device, -1); /* none is known */
    forget();
}

static void base_time_is_added_wherever_it_stands(void)
{
    const tl_rank_view *v = view_of(GPU("kernel", "a", 3743411222579.007, 1, 4, 7), ", \"baseTimeNanoseconds\": 1767189312000000000");
    CU_ASSERT_EQUAL(v->kernels[0].start_ns, INT64_C(1770932723222579007));
    forget();
}

static void steps_are_windows_of_the_hosts_marks(void)
{
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "ProfilerStep#5", 20, 8) "," MARK("user_annotation", "ProfilerStep #4", 10, 9) "," MARK(
            "gpu_user_annotation", "ProfilerStep#9", 0, 99) "," MARK("user_annotation", "ProfilerStep#", 0, 99) "," MARK(
            "user_annotation", "ProfilerStep#99999999999", 0, 99) "," MARK("user_annotation", "ProfilerStep#-1", 0, 99) "," MARK(
            "user_annotation", "ProfilerStep#-", 0, 99) "," HOST("cuda_runtime", "l", 12, 1, 1) "," GPU("kernel", "late",
                                                                                                                  25, 1, 1, 7) ","
            GPU("kernel", "orphan", 21, 1, 2, 7) "," GPU("kernel", "outside", 40, 1, 3, 7) "," GPU("kernel", "alone", 21,
                                                                                                   1, 4, 9),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 2);
    CU_ASSERT_EQUAL(v->nlost_steps, 2); /* no step has so large a number, nor one below 0 */
    CU_ASSERT_EQUAL(v->steps[0].number, 4);
    CU_ASSERT_EQUAL(v->steps[0].end_ns, 20000);
    CU_ASSERT_EQUAL(v->steps[1].end_ns, 28000);
    CU_ASSERT_EQUAL(v->kernels[0].step, 4);         /* orphan: queued before the next one of its stream */
    CU_ASSERT_EQUAL(v->kernels[1].step, 4);         /* late: where it was launched */
    CU_ASSERT_EQUAL(v->kernels[2].step, -1);
    CU_ASSERT_EQUAL(v->kernels[3].step, 5); /* nothing is after it: where it starts */
    forget();
}

/* A mark whose number is none ends the step before it. */
static void a_mark_without_a_number_is_in_no_step(void)
{
    static const char *const odd[] = { "ProfilerStep#-2", "ProfilerStep#+2", "ProfilerStep#3000000000" };
    for (size_t i = 0; i < COUNT(odd); i++) {
        char events[400];
        snprintf(events, sizeof events, "%s,{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":5},%s",
                 MARK("user_annotation", "ProfilerStep#1", 5, 4), odd[i], MARK("user_annotation", "ProfilerStep#3", 20, 5));
        const tl_rank_view *v = view_of(events, "");
        CU_ASSERT_EQUAL_FATAL(v->nsteps, 2);
        CU_ASSERT_EQUAL(v->nlost_steps, 1);
        CU_ASSERT_EQUAL(v->nagain_steps, 0);
        CU_ASSERT_EQUAL(v->steps[0].end_ns, 10000);
        CU_ASSERT_EQUAL(v->steps[1].start_ns, 20000);
        forget();
    }
}

static void marks_of_one_number_are_one_step(void)
{
    const tl_rank_view *v = view_of(MARK("user_annotation", "ProfilerStep#1", 5, 5) "," MARK("cpu_op", "ProfilerStep#1", 3, 9), "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 1);
    CU_ASSERT_EQUAL(v->steps[0].start_ns, 3000);
    CU_ASSERT_EQUAL(v->steps[0].end_ns, 12000);
    forget();
}

/* As after a profiler that starts again: a step has one window, and what comes after it is not in the step before. */
static void a_step_that_is_marked_again_is_left_out(void)
{
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "ProfilerStep#5", 0, 10) "," MARK("user_annotation", "ProfilerStep#6", 10, 10) "," MARK(
            "user_annotation", "ProfilerStep#5", 20, 10) "," HOST("cuda_runtime", "l", 12, 1, 1) "," HOST(
            "cuda_runtime", "l", 25, 1, 2) "," GPU("kernel", "a", 13, 1, 1, 7) "," GPU("kernel", "b", 26, 1, 2, 7),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 2);
    CU_ASSERT_EQUAL(v->nagain_steps, 1);
    CU_ASSERT_EQUAL(v->nlost_steps, 0);
    CU_ASSERT_EQUAL(v->steps[0].number, 5);
    CU_ASSERT_EQUAL(v->steps[0].end_ns, 10000);
    CU_ASSERT_EQUAL(v->steps[1].number, 6);
    CU_ASSERT_EQUAL(v->steps[1].end_ns, 20000);
    CU_ASSERT_EQUAL(v->kernels[0].step, 6);
    CU_ASSERT_EQUAL(v->kernels[1].step, -1);
    forget();
}

static void a_step_that_two_threads_mark_is_one(void)
{
#define OTHER_MARK(number, ts) "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" #number "\",\"pid\":99,\"tid\":97,\"ts\":" #ts ",\"dur\":10}"
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "ProfilerStep#5", 0, 10) "," MARK("user_annotation", "ProfilerStep#6", 10, 10) "," OTHER_MARK(5, 11) "," OTHER_MARK(
            6, 21) "," MARK("user_annotation", "ProfilerStep#7", 20, 10),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 3);
    CU_ASSERT_EQUAL(v->nagain_steps, 0);
    forget();
}

/* host   [DECODE    ]...[EXTEND [DECODE] ]..[MIXED  ]      the second DECODE is a part of EXTEND
 * GPU         [DECODE                   ]                  a mirror is no mark
 */
static void iterations_of_a_server_are_steps_in_order_of_time(void)
{
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "step[EXTEND bs=2 toks=9]", 30, 15) "," MARK("user_annotation", "step[DECODE bs=4]", 10, 10) "," MARK(
            "gpu_user_annotation", "step[DECODE bs=4]", 15, 20) "," MARK("user_annotation", "step[DECODE bs=1]", 35, 5) "," MARK(
            "user_annotation", "step[MIXED bs=3]", 50, 8) "," HOST("cuda_runtime", "l", 22, 1, 1) "," GPU("kernel", "a", 60, 1, 1, 7),
        "");
    static const int64_t starts_ns[] = { 10000, 30000, 50000 }, ends_ns[] = { 30000, 50000, 58000 };

    CU_ASSERT_EQUAL_FATAL(v->nsteps, 3);
    CU_ASSERT(v->served);
    for (int32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(v->steps[i].number, i);
        CU_ASSERT_EQUAL(v->steps[i].start_ns, starts_ns[i]);
        CU_ASSERT_EQUAL(v->steps[i].end_ns, ends_ns[i]);
    }
    CU_ASSERT_EQUAL(v->kernels[0].step, 0);
    CU_ASSERT_EQUAL(v->launches[0].annotation, TL_NONE);
    forget();
}

static void steps_of_training_come_before_iterations_and_one_iteration_is_none(void)
{
    const tl_rank_view *v = view_of(MARK("user_annotation", "step[DECODE bs=4]", 10, 9) "," MARK(
                                        "user_annotation", "step[DECODE bs=4]", 20, 9) "," MARK("user_annotation", "ProfilerStep#7", 5, 40),
                                    "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 1);
    CU_ASSERT_EQUAL(v->steps[0].number, 7);
    CU_ASSERT(!v->served);
    forget();

    v = view_of(MARK("user_annotation", "step[DECODE bs=4]", 10, 9), "");
    CU_ASSERT_EQUAL(v->nsteps, 0);
    CU_ASSERT(!v->served);
    forget();
}

static void annotations_that_count_are_steps(void)
{
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "iteration 4", 10, 10) "," MARK("user_annotation", "micro_step 0", 11, 2) "," MARK(
            "user_annotation", "micro_step 1", 14, 2) "," MARK("user_annotation", "iteration 5", 20, 10) "," MARK(
            "user_annotation", "micro_step 0", 21, 2) "," MARK("user_annotation", "layer 1", 30, 1) "," MARK(
            "user_annotation", "layer 2", 32, 67) "," MARK("user_annotation", "last step", 1, 1),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 2);
    CU_ASSERT_EQUAL(v->steps[0].number, 4);
    CU_ASSERT_EQUAL(v->steps[0].end_ns, 20000);
    CU_ASSERT_EQUAL(v->steps[1].number, 5);
    CU_ASSERT(!v->served);
    forget();

    v = view_of(MARK("user_annotation", "ProfilerStep#4", 10, 10) "," MARK("user_annotation", "step 1", 11, 79) "," MARK(
                    "user_annotation", "step 2", 92, 1) "," MARK("user_annotation", "step 3", 2, 1),
                "");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 1);
    CU_ASSERT_EQUAL(v->steps[0].number, 4);
    forget();
}

/* host   [ProfilerStep#9                                          ]
 *        [train 7 of 9 ].[train 8 of 9][train 8 ]    [eval ]
 *          [forward 3]     [forward 3 ]
 */
static const tl_rank_view *view_of_chosen(const char *pattern)
{
    tl_error err = { 0 };
    regex_t compiled;
    CU_ASSERT_EQUAL_FATAL(tl_pattern_compile(&compiled, "--step-name", pattern, &err), TL_OK);
    step_name = &compiled;
    const tl_rank_view *v = view_of(
        MARK("user_annotation", "ProfilerStep#9", 5, 70) "," MARK("cpu_op", "train 7 of 9", 10, 10) "," MARK(
            "user_annotation", "forward 3", 11, 5) "," MARK("user_annotation", "train 8 of 9", 25, 10) "," MARK(
            "user_annotation", "forward 3", 27, 5) "," MARK("user_annotation", "train 8", 40, 9) "," MARK(
            "user_annotation", "eval", 60, 8) "," MARK("gpu_user_annotation", "train 7 of 9", 12, 30),
        "");
    regfree(&compiled);
    step_name = NULL;
    return v;
}

static void ranges_of_a_chosen_name_are_the_steps(void)
{
    static const struct {
        const char *pattern;
        size_t n;
        int32_t numbers[3];
        int64_t starts_us[3], end_us;
    } cases[] = { { "^train.* of", 2, { 7, 8 }, { 10, 25 }, 35 },          /* numbers that differ are the steps' */
                  { "^train", 3, { 0, 1, 2 }, { 10, 25, 40 }, 49 },        /* 8 is there twice */
                  { "train|forward", 3, { 0, 1, 2 }, { 10, 25, 40 }, 49 }, /* what is within one is a part of it */
                  { "eval", 1, { 0 }, { 60 }, 68 },
                  { "nothing", 0, { 0 }, { 0 }, 0 } };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const tl_rank_view *v = view_of_chosen(cases[i].pattern);
        CU_ASSERT_EQUAL_FATAL(v->nsteps, cases[i].n);
        for (size_t k = 0; k < v->nsteps; k++)
            CU_ASSERT(v->steps[k].number == cases[i].numbers[k] && v->steps[k].start_ns == cases[i].starts_us[k] * 1000 &&
                      v->steps[k].end_ns == (k + 1 < v->nsteps ? v->steps[k + 1].start_ns : cases[i].end_us * 1000));
        CU_ASSERT(!v->served);
        forget();
    }
}

static void collective_arguments_make_any_kernel_communication(void)
{
    const tl_rank_view *v = view_of("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"mystery\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
                                    "\"args\":{\"stream\":7,\"device\":0,\"Collective name\":\"_allgather_base\"}}",
                                    "");
    CU_ASSERT_EQUAL(v->kernels[0].kind, TL_COMM);
    CU_ASSERT_EQUAL(v->kernels[0].collective, TL_ALL_GATHER);
    CU_ASSERT_EQUAL(v->kernels[0].unclassified, 0);
    forget();
}

static void the_launching_operator_speaks_where_no_rule_does(void)
{
    const tl_rank_view *v = view_of(
        MARK("cpu_op", "c10d::allreduce_", 10, 20) "," MARK("cpu_op", "record_param_comms", 12, 5) "," HOST(
            "cuda_runtime", "l", 13, 1, 1) "," HOST("cuda_runtime", "l", 40, 1, 2) "," HOST("cuda_runtime", "l", 14, 1, 3) "," GPU(
            "kernel", "mystery", 50, 1, 1, 7) "," GPU("kernel", "mystery", 60, 1, 2, 7) "," GPU("kernel", "at::native::copy", 70, 1, 3, 7),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nkernels, 3);
    CU_ASSERT_EQUAL(v->kernels[0].kind, TL_COMM);
    CU_ASSERT_EQUAL(v->kernels[0].collective, TL_ALL_REDUCE);
    CU_ASSERT_EQUAL(v->kernels[1].kind, TL_COMPUTE);
    CU_ASSERT_EQUAL(v->kernels[1].unclassified, 1);
    CU_ASSERT_EQUAL(v->kernels[2].kind, TL_COMPUTE);
    CU_ASSERT_EQUAL(v->kernels[2].unclassified, 0);
    forget();
}

/* Of three launches the first outlasts the inner operator, the second ends with it, the third outlasts both. */
static void a_launch_is_in_the_innermost_operator_that_lasts_as_long(void)
{
    static const char *const operators[] = { "outer", "inner", "other" };
    const tl_rank_view *v = view_of(
        MARK("cpu_op", "outer", 10, 50) "," MARK("cpu_op", "inner", 20, 10) "," MARK("cpu_op", "inner", 40, 10) "," MARK(
            "cpu_op", "other", 70, 5) "," HOST("cuda_runtime", "l", 25, 8, 1) "," HOST("cuda_runtime", "l", 45, 5, 2) "," HOST(
            "cuda_runtime", "l", 71, 9, 3) "," GPU("kernel", "a", 80, 1, 1, 7) "," GPU("kernel", "b", 90, 1, 2, 7) "," GPU(
            "kernel", "c", 100, 1, 3, 7),
        "");
    CU_ASSERT_EQUAL_FATAL(v->nlaunches, 3);
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT(tl_text_is(tl_names_text(v->names, v->launches[i].op_name), operators[i]));
    forget();
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_is_sorted_by_place_and_joined_to_its_launch),
        TEST(one_graph_launch_has_many_kernels),
        TEST(a_kernel_has_the_blocks_of_its_grid_and_a_copy_its_bytes),
        TEST(of_two_calls_with_one_number_the_last_before_the_start_counts),
        TEST(a_hundred_thousand_calls_with_one_number_are_quick),
        TEST(correlation_zero_joins_nothing),
        TEST(an_operator_with_a_stream_is_no_device_work),
        TEST(the_place_comes_from_the_track_where_args_have_none),
        TEST(work_of_an_unknown_device_is_on_the_lowest_that_is_known),
        TEST(base_time_is_added_wherever_it_stands),
        TEST(steps_are_windows_of_the_hosts_marks),
        TEST(a_mark_without_a_number_is_in_no_step),
        TEST(marks_of_one_number_are_one_step),
        TEST(a_step_that_is_marked_again_is_left_out),
        TEST(a_step_that_two_threads_mark_is_one),
        TEST(iterations_of_a_server_are_steps_in_order_of_time),
        TEST(steps_of_training_come_before_iterations_and_one_iteration_is_none),
        TEST(annotations_that_count_are_steps),
        TEST(ranges_of_a_chosen_name_are_the_steps),
        TEST(collective_arguments_make_any_kernel_communication),
        TEST(the_launching_operator_speaks_where_no_rule_does),
        TEST(a_launch_is_in_the_innermost_operator_that_lasts_as_long),
    };
    int failed = scratch_make() || unit_main("link", tests, COUNT(tests));
    return scratch_remove() || failed;
}
