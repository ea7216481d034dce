/* test_select.c - a view of some steps, or of some time, alone. */
#include "scratch.h"
#include "tlmpi/trace/view.h"
#include "unit.h"

#define US(t) ((t)*INT64_C(1000))

static tl_trace trace;
static tl_linked linked;
static tl_found found;

static const tl_rules rules;
static const tl_ranges all;

#define EVENT(cat, name, tid, ts, dur, args)                                                                           \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur  \
    ",\"args\":{" args "}}"
#define MARK(number, ts, dur)   EVENT("user_annotation", "ProfilerStep#" #number, 1, ts, dur, "")
#define LAUNCH(corr, ts)        EVENT("cuda_runtime", "cudaLaunchKernel", 1, ts, 1, "\"correlation\":" #corr)
#define KERNEL(name, corr, ts)  EVENT("kernel", name, 7, ts, 4, "\"stream\":7,\"correlation\":" #corr)
#define KERNEL_OF_NOBODY(n, ts) EVENT("kernel", n, 7, ts, 4, "\"stream\":7")

/*     step    [    4    )[    5    )[    6    )
 *     us      0          20         40         60
 *     host     a       b  c          d
 *     stream     [a]  ?       [b][c]    ?[ d ]
 */
static const char entries[] =
    MARK(4, 0, 18) "," MARK(5, 20, 19) "," MARK(6, 40, 15) "," EVENT("cpu_op", "aten::a", 1, 1, 3, "") "," LAUNCH(1, 2) "," EVENT("cpu_op", "aten::b", 1, 19, 3, "") "," LAUNCH(2, 19) "," EVENT(
        "cpu_op", "aten::c",
        1, 21, 3,
        "") "," LAUNCH(3,
                       22) "," LAUNCH(4,
                                      41) "," KERNEL("a", 1,
                                                     4) "," KERNEL_OF_NOBODY("early",
                                                                             10) "," KERNEL("b", 2,
                                                                                            26) "," KERNEL("c", 3,
                                                                                                           30) "," KERNEL_OF_NOBODY("late",
                                                                                                                                    44) "," KERNEL("d",
                                                                                                                                                   4,
                                                                                                                                                   49) "," EVENT("python_function",
                                                                                                                                                                 "f",
                                                                                                                                                                 1,
                                                                                                                                                                 0,
                                                                                                                                                                 60,
                                                                                                                                                                 "");

static const tl_rank_view *view_of(const char *text, tl_ranges steps, tl_ranges times)
{
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    const tl_selection selection = { &steps, &times, US(100) };
    tl_error err = { 0 };
    char whole[8192];

    snprintf(whole, sizeof whole, "{\"baseTimeNanoseconds\": 100000, \"traceEvents\": [%s]}", text);
    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("select.json", whole), &options, &trace, &err), TL_OK);
    found = (tl_found){ 0 };
    tl_link_selected(&trace, &rules, 3, &selection, &linked, &found);
    return &linked.view;
}

static void forget(void)
{
    tl_linked_free(&linked);
    tl_trace_free(&trace);
    tl_found_free(&found);
}

/* Names of the kernels, one after the other. */
static const char *kernels_of(const tl_rank_view *v)
{
    static char names[256];
    *names = '\0';
    for (size_t i = 0; i < v->nkernels; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "",
                 tl_names_text(v->names, v->kernels[i].name).p);
    return names;
}

static void work_is_of_the_step_that_launched_it(void)
{
    tl_range five[] = { { 5, 5 } };
    const tl_rank_view *v = view_of(entries, (tl_ranges){ five, 1, 1 }, all);

    CU_ASSERT_STRING_EQUAL(kernels_of(v), "c");
    CU_ASSERT_EQUAL(v->kernels[0].step, 5);
    CU_ASSERT_EQUAL(v->nlaunches, 1);
    CU_ASSERT_EQUAL(v->ops.n, 2); /* the mark, and aten::c: what began before is out, however long it lasts */
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 1);
    CU_ASSERT_EQUAL(v->steps[0].start_ns, US(120));
    CU_ASSERT_EQUAL(v->steps[0].end_ns, US(140)); /* as in the whole trace: up to the next mark */
    CU_ASSERT_EQUAL(found.steps.n, 1);
    CU_ASSERT_EQUAL(found.steps.v[0].first, 4);
    CU_ASSERT_EQUAL(found.steps.v[0].last, 6);
    CU_ASSERT_EQUAL(found.taken.n, 1);
    CU_ASSERT_EQUAL(found.taken.v[0].first, 5);
    CU_ASSERT_EQUAL(found.events, 17);
    CU_ASSERT_EQUAL(found.selected, 4);
    CU_ASSERT_EQUAL(found.first_ns, US(100));
    CU_ASSERT_EQUAL(found.last_ns, US(149));
    forget();
}

static void without_a_launch_its_own_start_tells(void)
{
    tl_range two[] = { { 4, 4 }, { 6, 6 } };
    const tl_rank_view *v = view_of(entries, (tl_ranges){ two, 2, 2 }, all);

    CU_ASSERT_STRING_EQUAL(kernels_of(v), "a early b late d");
    CU_ASSERT_EQUAL(v->nsteps, 2);
    CU_ASSERT_EQUAL(v->kernels[2].step, 4); /* launched there, and run in the step between them */
    forget();
}

static void a_step_that_is_not_whole_is_none(void)
{
    tl_range time[] = { { US(10), US(41) - 1 } };
    const tl_rank_view *v = view_of(entries, all, (tl_ranges){ time, 1, 1 });

    CU_ASSERT_STRING_EQUAL(kernels_of(v), "early b c");
    CU_ASSERT_EQUAL_FATAL(v->nsteps, 1);
    CU_ASSERT_EQUAL(v->steps[0].number, 5);
    CU_ASSERT_EQUAL(v->kernels[1].step, -1);
    forget();
    time[0].last++;
    v = view_of(entries, all, (tl_ranges){ time, 1, 1 });
    CU_ASSERT_STRING_EQUAL(kernels_of(v), "early b c d");
    forget();
}

static void steps_and_time_both_hold(void)
{
    tl_range time[] = { { US(21), US(60) }, { 0, US(3) } }, steps[] = { { 4, 5 } };
    const tl_rank_view *v = view_of(entries, (tl_ranges){ steps, 1, 1 }, (tl_ranges){ time, 2, 2 });

    CU_ASSERT_STRING_EQUAL(kernels_of(v), "a c");
    CU_ASSERT_EQUAL(v->nsteps, 0);
    forget();
}

/* Step 4 has a part in the time, step 5 has none, and there is no step 9; two of three spans have something in steps. */
static void parts_that_select_something_are_found(void)
{
    tl_range time[] = { { 0, US(3) }, { US(19), US(20) - 1 }, { US(41), US(60) } },
             steps[] = { { 4, 4 }, { 5, 5 }, { 9, 9 } };

    (void)view_of(entries, (tl_ranges){ steps, 3, 3 }, (tl_ranges){ time, 3, 3 });
    CU_ASSERT_EQUAL_FATAL(found.taken.n, 1);
    CU_ASSERT_EQUAL(found.taken.v[0].first, 4);
    CU_ASSERT_EQUAL(found.taken.v[0].last, 4);
    CU_ASSERT(tl_ranges_meet(&found.times, time[0]));
    CU_ASSERT(tl_ranges_meet(&found.times, time[1]));
    CU_ASSERT_FALSE(tl_ranges_meet(&found.times, time[2]));
    forget();
}

/* A correlation that comes twice: the work is of the last call that had begun. */
static void of_calls_of_one_correlation_the_last_counts(void)
{
    static const char twice[] = LAUNCH(1, 2) "," LAUNCH(1, 12) "," KERNEL("x", 1, 20) "," KERNEL("y", 1, 5);
    tl_range early[] = { { 0, US(10) } }, late[] = { { US(10), US(20) } };

    CU_ASSERT_STRING_EQUAL(kernels_of(view_of(twice, all, (tl_ranges){ early, 1, 1 })), "y");
    forget();
    CU_ASSERT_STRING_EQUAL(kernels_of(view_of(twice, all, (tl_ranges){ late, 1, 1 })), "x");
    forget();
}

/*     step    [    4    )[    5    )
 *     stream    [ a ======================     cannot be: b, which came after it, has ended
 *                           [b]
 */
static void what_shows_that_an_end_cannot_be_may_be_out(void)
{
    static const char text[] = MARK(4, 0, 400) "," MARK(5, 400, 400) "," LAUNCH(1, 2) "," LAUNCH(2, 402) "," EVENT(
        "kernel", "a", 7, 4, 900, "\"stream\":7,\"correlation\":1") "," KERNEL("b", 2, 500);
    tl_range four[] = { { 4, 4 } }, five[] = { { 5, 5 } };
    const tl_rank_view *v = view_of(text, (tl_ranges){ four, 1, 1 }, all);

    CU_ASSERT_STRING_EQUAL(kernels_of(v), "a");
    CU_ASSERT_EQUAL(v->kernels[0].end_ns, US(600));
    CU_ASSERT_EQUAL(v->ntoo_long, 1);
    CU_ASSERT_EQUAL(v->too_long_ns, US(404));
    forget();
    v = view_of(text, (tl_ranges){ five, 1, 1 }, all);
    CU_ASSERT_STRING_EQUAL(kernels_of(v), "b");
    CU_ASSERT_EQUAL(v->ntoo_long, 0);
    forget();
}

static void what_there_is_is_told_where_nothing_is_selected(void)
{
    tl_range nine[] = { { 9, 9 } };
    tl_found sum = { 0 }, more = { .events = 2, .first_ns = 5, .last_ns = 7, .steps = { nine, 1, 1 } };
    const tl_rank_view *v = view_of(entries, (tl_ranges){ nine, 1, 1 }, all);

    CU_ASSERT_EQUAL(v->nkernels + v->nlaunches + v->ops.n + v->calls.n + v->nsteps, 0);
    CU_ASSERT_EQUAL(found.selected, 0);
    tl_found_add(&sum, &more);
    tl_found_add(&sum, &found);
    tl_found_add(&sum, &(tl_found){ 0 });
    CU_ASSERT_EQUAL(sum.events, 19);
    CU_ASSERT_EQUAL(sum.first_ns, 5);
    CU_ASSERT_EQUAL(sum.last_ns, US(149));
    CU_ASSERT_EQUAL(sum.steps.n, 2);
    CU_ASSERT_EQUAL(sum.steps.v[1].last, 6);
    tl_found_free(&sum);
    forget();
}

static void a_recording_begins_with_the_first_span(void)
{
    int64_t begin_ns = -1, end_ns = -1;
    const tl_read_options options = { .keep = TL_LINK_KEEP };
    tl_error err = { 0 };
    static const char text[] = "{\"traceEvents\": [{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\","
                               "\"ts\":1}," LAUNCH(1, 7) "," KERNEL("k", 1, 5) "]}";

    CU_ASSERT_EQUAL_FATAL(tl_trace_read(scratch_text("begin.json", text), &options, &trace, &err), TL_OK);
    CU_ASSERT(tl_events_extent(&trace.events, &begin_ns, &end_ns));
    CU_ASSERT_EQUAL(begin_ns, US(5));
    CU_ASSERT(end_ns > begin_ns);
    tl_trace_free(&trace);
    CU_ASSERT_FALSE(tl_events_extent(&(tl_events){ 0 }, &begin_ns, &end_ns));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_is_of_the_step_that_launched_it),
        TEST(without_a_launch_its_own_start_tells),
        TEST(a_step_that_is_not_whole_is_none),
        TEST(steps_and_time_both_hold),
        TEST(parts_that_select_something_are_found),
        TEST(of_calls_of_one_correlation_the_last_counts),
        TEST(what_shows_that_an_end_cannot_be_may_be_out),
        TEST(what_there_is_is_told_where_nothing_is_selected),
        TEST(a_recording_begins_with_the_first_span),
    };
    if (scratch_make() != 0)
        return 1;
    int failed = unit_main("select", tests, COUNT(tests));
    scratch_remove();
    return failed;
}
