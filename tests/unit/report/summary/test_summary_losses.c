/* test_summary_losses.c - where most time is lost, in a few lines: in words, with the ranks that they are of. */
#include "summary_tables.h"
#include "flat.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

typedef struct job {
    tl_rank ranks[4];
    tl_breakdown rows[5];
    tl_idle idle[5];
    tl_idle_summary classes[11];
    tl_table of_ranks, of_rows, of_idle, of_classes;
    tl_summary s;
    tl_names names;
    char text[8192];
} job;

/* Four ranks of 25 ms each. */
static job *new_job(void)
{
    static const tl_answers none;
    job *j = calloc(1, sizeof *j);
    j->of_ranks = (tl_table){ .schema = &tl_rank_schema, .rows = (unsigned char *)j->ranks, .n = 4 };
    j->of_rows = (tl_table){ .schema = &tl_breakdown_schema, .rows = (unsigned char *)j->rows, .n = 5 };
    j->of_idle = (tl_table){ .schema = &tl_idle_schema, .rows = (unsigned char *)j->idle, .n = 5 };
    j->of_classes = (tl_table){ .schema = &tl_idle_summary_schema, .rows = (unsigned char *)j->classes };
    j->s = (tl_summary){ .version = "1",
                         .answers = &none,
                         .ranks = &j->of_ranks,
                         .breakdown = &j->of_rows,
                         .idle = &j->of_idle,
                         .classes = &j->of_classes,
                         .names = &j->names,
                         .noise_ns = 5000,
                         .run = 1,
                         .nruns = 1,
                         .nprocs = 1 };
    for (int i = 0; i < 5; i++) {
        j->ranks[i % 4].rank = i % 4;
        j->rows[i] = (tl_breakdown){ .rank = i - 1, .device = -1, .step = -1, .wall_ns = (i == 0 ? 100 : 25) * MS };
        j->idle[i] = (tl_idle){ .rank = i - 1, .device = -1, .busy_ns = 10 * MS };
    }
    return j;
}

/* A class of gaps of that many ms. */
static tl_idle_summary *add(job *j, uint8_t drain, uint8_t doing, const char *key, int64_t ms, int32_t ranks)
{
    tl_idle_summary *c = &j->classes[j->of_classes.n++];
    *c = (tl_idle_summary){ .rank = -1,
                        .device = -1,
                        .step = -1,
                        .drain_type = drain,
                        .cpu_during_gap = doing,
                        .place = (int32_t)j->of_classes.n,
                        .total_ns = ms * MS,
                        .ranks = ranks,
                        .annotation = TL_NO_NAME,
                        .worst_rank = 3,
                        .worst_ns = 40 * MS };
    memcpy(c->dominant_op, key, strlen(key));
    return c;
}

/* The lines from "lost" on; every line fits. */
static const char *losses(job *j)
{
    char *all = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&all, &n);
    print_tables(f, j->s);
    (void)fclose(f);
    const char *from = strstr(all, "  lost ");
    snprintf(j->text, sizeof j->text, "%s", from != NULL ? from : "");
    for (const char *line = j->text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        CU_ASSERT(end - line <= 80);
    free(all);
    return j->text;
}

static void expect(job *j, const char *lines)
{
    CU_ASSERT_TRUE(*lines == '\0' ? *losses(j) == '\0' : says(losses(j), lines));
    tl_names_free(&j->names);
    free(j);
}

#define FIRST "  lost    41.0 % of GPU time: "

static void a_class_is_said_with_its_operator_place_and_ranks(void)
{
    job *j = new_job();
    tl_idle_summary *c = add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "aten::copy_", 41, 4);
    c->annotation = tl_names_intern(&j->names, "forward", 7);
    c->annotation_ns = c->total_ns;
    expect(j, FIRST "idle, host in aten::copy_ inside \"forward\"\n          - rank 3 most (41.0 ms)\n");
}

/* 80 % is not all of it; less than a tenth is no place. */
static void a_place_is_told_with_its_share_of_the_class(void)
{
    static const struct {
        int64_t ns;
        const char *words;
    } cases[] = {
        { 33 * MS, "host in x inside \"forward\" - rank 3\n          (41.0 ms)\n" },
        { 82 * MS / 10 * 4, "host in x (80.0 % of it inside\n          \"forward\") - rank 3 (41.0 ms)\n" },
        { 4 * MS, "host in x - rank 3 (41.0 ms)\n" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        job *j = new_job();
        tl_idle_summary *c = add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "x", 41, 1);
        c->annotation = tl_names_intern(&j->names, "forward", 7);
        c->annotation_ns = cases[i].ns;
        CU_ASSERT_TRUE(says(losses(j), cases[i].words));
        tl_names_free(&j->names);
        free(j);
    }
}

static void ranks_that_are_alike_are_counted(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_SYNC, TL_DOING_RUNTIME, "MEMORY_ALLOC: hipFree", 41, 4)->median_rank_ns = 32 * MS;
    expect(j, FIRST "idle, host in the call hipFree after a device sync - 4 ranks alike (41.0 ms)\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 41, 4)->median_rank_ns = 32 * MS - 1;
    expect(j, FIRST "idle, host in the call x - rank 3 most\n          (41.0 ms)\n");
}

static void the_largest_three_are_told_whatever_they_are(void)
{
    job *j = new_job();
    j->rows[0].comm_waiting_ns = 21 * MS;
    j->rows[0].comm_transfer_ns = 9 * MS;
    j->rows[0].copy_exposed_ns = 3 * MS;
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_OVERHEAD, "launched_during_gap", 10, 1);
    expect(j, "  lost    21.0 % of GPU time: exposed waiting for other ranks (21.0 ms)\n"
              "          10.0 %: idle, the latency of launches - rank 3 (10.0 ms)\n"
              "           9.0 %: exposed transfers (9.00 ms)\n");
    j = new_job();
    j->rows[0].copy_exposed_ns = 3 * MS;
    j->idle[0].noise_ns = 2 * MS;
    j->idle[0].noise_gaps = 12345;
    add(j, TL_DRAIN_STARVED, TL_DOING_NO_TRACE, "(no_cpu_trace)", 1, 1)->total_ns = MS - 1;
    expect(j, "  lost     3.0 % of GPU time: exposed copies (3.00 ms)\n"
              "           2.0 %: idle, in 12 345 gaps below 5 us: many small kernels, bound by\n"
              "          their launches (2.00 ms)\n");
}

static void what_the_host_did_is_told_as_far_as_it_is_known(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_UNTRACED, "(no_cpu_op_overlap)", 20, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_UNTRACED, "aten::mm", 10, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_GRAPH, "cudaGraphLaunch", 9, 1);
    expect(j, "  lost    20.0 % of GPU time: idle, the CPU did nothing that is recorded - rank 3\n          (20.0 ms)\n"
              "          10.0 %: idle, the CPU did hardly anything that is recorded (longest: aten::mm) - rank 3 (10.0 ms)\n"
              "           9.0 %: idle, between the nodes of CUDA graphs - rank 3 (9.00 ms)\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "prequeued", 20, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "launched_during_gap", 20, 1);
    expect(j, "  lost    20.0 % of GPU time: idle, a kernel queued before the gap started late - rank 3\n          (20.0 ms)\n"
              "          20.0 %: idle, a kernel launched during the gap started late - rank 3 (20.0 ms)\n");
}

/* 493 ms in one call are no mere latency. */
static void the_call_in_which_the_host_sat_is_named(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "launched_during_gap: hipMemcpyWithStream", 41, 1);
    expect(j, FIRST "idle, a kernel launched during the gap started late, host in the call hipMemcpyWithStream - rank 3 (41.0 ms)\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "prequeued: cudaStreamSynchronize", 41, 1);
    expect(j, FIRST "idle, a kernel queued before the gap started late, host in the call cudaStreamSynchronize - rank 3 (41.0 ms)\n");
}

static void of_one_rank_no_ranks_are_named(void)
{
    job *j = new_job();
    j->of_idle.n = j->of_rows.n = 2;
    j->of_ranks.n = 1;
    add(j, TL_DRAIN_STARVED, TL_DOING_DEPENDENCY, "nccl", 41, 1)->peer_ns = 41 * MS;
    expect(j, "  lost    41.0 % of GPU time: idle, work waited for an event of another stream:\n"
              "          nccl (41.0 ms)\n");
}

static void where_launches_have_no_work_idle_time_may_be_work(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_UNRECORDED, "(launches_without_work)", 41, 1);
    expect(j, FIRST "idle, or at work that is not recorded: launches\n          without work - rank 3 (41.0 ms)\n");
}

/* They need not idle at all. */
static void a_class_that_is_mostly_waiting_says_so(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 41, 1)->peer_ns = 41 * MS / 2;
    expect(j, FIRST "idle, host in the call x (mostly waiting\n          for other ranks) - rank 3 (41.0 ms)\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 41, 1)->peer_ns = 41 * MS / 2 - 1;
    expect(j, FIRST "idle, host in the call x - rank 3\n          (41.0 ms)\n");
}

/* Names from a trace may hold anything. */
static void odd_names_stay_on_their_line(void)
{
    job *j = new_job();
    tl_idle_summary *c = add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "a\nb\033[31m", 41, 1);
    char name[200];
    memset(name, 'x', sizeof name);
    c->annotation = tl_names_intern(&j->names, name, sizeof name);
    c->annotation_ns = c->total_ns;
    const char *lines = losses(j);
    CU_ASSERT_PTR_NULL(strchr(lines, '\033'));
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, "xxxx\""));
    tl_names_free(&j->names);
    free(j);
}

/* Something else to be told, 0 to 2 of it. */
static void tell_more(job *j, int more)
{
    j->s.output = "out.h5";
    j->s.nruns = more > 0 ? 2 : 1;
    j->ranks[0].dropped = j->ranks[0].devices = more > 0 ? 2 : 0;
    for (int i = 0; i < more; i++) {
        memset(j->ranks[i].host, 'a' + i, 64);
        memset(j->ranks[i].device_name, 'c' + i, more > 1 ? 64 : 1);
        j->ranks[i].unclassified_ns = j->ranks[i].kernel_ns = 5 * MS;
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *c = text; (c = strstr(c, what)) != NULL; c++)
        n++;
    return n;
}

/* Of causes as many are told as there is room for on a screen of 24 lines. */
static void causes_give_way_to_the_screen(void)
{
    static const char name[] = "an annotation whose name is so long that it fills most of a line";

    for (int more = 0; more <= 2; more++) {
        job *j = new_job();
        char *all = NULL;
        size_t n = 0;
        for (int i = 0; i < 3; i++) {
            tl_idle_summary *c = add(j, TL_DRAIN_SYNC, TL_DOING_CPU, "aten::an_operator_with_a_rather_long_name", 30 - i, 4);
            c->annotation = tl_names_intern(&j->names, name, sizeof name - 1);
            c->annotation_ns = c->total_ns;
        }
        tell_more(j, more);
        FILE *f = open_memstream(&all, &n);
        print_tables(f, j->s);
        (void)fclose(f);
        CU_ASSERT(count_of(all, "\n") <= 24);
        CU_ASSERT_EQUAL(count_of(all, "host in"), (size_t)(3 - more));
        free(all);
        tl_names_free(&j->names);
        free(j);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_class_is_said_with_its_operator_place_and_ranks),
        TEST(a_place_is_told_with_its_share_of_the_class),
        TEST(ranks_that_are_alike_are_counted),
        TEST(the_largest_three_are_told_whatever_they_are),
        TEST(what_the_host_did_is_told_as_far_as_it_is_known),
        TEST(the_call_in_which_the_host_sat_is_named),
        TEST(of_one_rank_no_ranks_are_named),
        TEST(where_launches_have_no_work_idle_time_may_be_work),
        TEST(a_class_that_is_mostly_waiting_says_so),
        TEST(causes_give_way_to_the_screen),
        TEST(odd_names_stay_on_their_line),
    };
    return unit_main("summary_losses", tests, COUNT(tests));
}
