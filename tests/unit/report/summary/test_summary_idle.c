/* test_summary_idle.c - the causes of idle time in a few lines: in words, with the ranks that they are of. */
#include "tlmpi/report/summary.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

typedef struct job {
    tl_rank ranks[4];
    tl_breakdown rows[5];
    tl_idle idle[5];
    tl_idle_job causes[8];
    tl_summary s;
    char text[8192];
} job;

/* Four ranks, each half idle. */
static job *new_job(void)
{
    static const tl_answers none;
    job *j = calloc(1, sizeof *j);
    j->s = (tl_summary){ .version = "1",
                         .answers = &none,
                         .ranks = j->ranks,
                         .nranks = 4,
                         .breakdown = j->rows,
                         .nbreakdown = 5,
                         .idle = j->idle,
                         .nidle = 5,
                         .causes = j->causes,
                         .run = 1,
                         .nruns = 1,
                         .nprocs = 1 };
    for (int i = 0; i < 5; i++) {
        j->ranks[i % 4].rank = i % 4;
        j->rows[i] = (tl_breakdown){ .rank = i - 1, .device = -1, .step = -1, .wall_ns = 100 * MS, .idle_ns = 50 * MS };
        j->idle[i] =
            (tl_idle){ .rank = i - 1, .device = -1, .busy_ns = 50 * MS, .macro_ns = 50 * MS, .macro_gaps = 10 };
    }
    return j;
}

static tl_idle_job *add(job *j, uint8_t drain, uint8_t doing, const char *key, double pct, int32_t ranks)
{
    tl_idle_job *c = &j->causes[j->s.ncauses++];
    *c = (tl_idle_job){ .drain_type = drain,
                        .cpu_during_gap = doing,
                        .place = (int32_t)j->s.ncauses,
                        .idle_pct = pct,
                        .ranks = ranks,
                        .worst_rank = 3,
                        .worst_ns = 40 * MS,
                        .second_rank = -1,
                        .third_rank = -1 };
    memcpy(c->dominant_op, key, strlen(key));
    return c;
}

/* The lines from "Idle:" on; every line fits. */
static const char *idle_lines(job *j)
{
    char *all = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&all, &n);
    tl_print_summary(f, &j->s);
    (void)fclose(f);
    const char *from = strstr(all, "Idle:");
    from = from != NULL ? from : strstr(all, "Waiting:");
    snprintf(j->text, sizeof j->text, "%s", from != NULL ? from : "");
    for (const char *line = j->text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        CU_ASSERT(end - line <= 80);
    free(all);
    return j->text;
}

static void expect(job *j, const char *lines)
{
    CU_ASSERT_STRING_EQUAL(idle_lines(j), lines);
    free(j);
}

#define HEAD                                                                                                           \
    "Idle: 50.0 ms in 10 gaps longer than noise, 50.0 % of the devices' time;\n  tlmpi show FILE idle_job --sort "     \
    "total_ns has all causes.\n"

static void a_cause_is_said_with_its_operator_place_and_ranks(void)
{
    job *j = new_job();
    tl_idle_job *c = add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "aten::copy_", 41, 4);
    memcpy(c->annotation, "forward", 7);
    c->second_rank = 1;
    c->second_ns = 20 * MS;
    c->third_rank = 0;
    c->third_ns = 20 * MS - 1;
    expect(j, HEAD "  41.0 % the host was in aten::copy_ inside \"forward\" - ranks 3, 1 most\n");
}

static void ranks_that_are_alike_are_counted(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_SYNC, TL_DOING_RUNTIME, "MEMORY_ALLOC: hipFree", 41, 4)->median_rank_ns = 32 * MS;
    expect(j, HEAD
           "  41.0 % the host was in the call hipFree after it had waited for the device\n          - 4 ranks alike\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 41, 4)->median_rank_ns = 32 * MS - 1;
    expect(j, HEAD "  41.0 % the host was in the call x - rank 3 most\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_GRAPH, "cudaGraphLaunch", 41, 1);
    expect(j, HEAD "  41.0 % between the nodes of graphs - rank 3\n");
}

static void the_largest_three_are_named_where_they_matter(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_UNTRACED, "(no_cpu_op_overlap)", 60, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_UNTRACED, "aten::mm", 5, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_NO_TRACE, "(no_cpu_trace)", 4.9, 1);
    expect(j, HEAD "  60.0 % the host launched late and was not traced - rank 3\n"
                   "   5.0 % the host launched late and was hardly traced (most in aten::mm)\n          - rank 3\n");
    j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "prequeued", 20, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_ANOMALY, "launched_during_gap", 19, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_LAUNCH_OVERHEAD, "launched_during_gap", 18, 1);
    add(j, TL_DRAIN_STARVED, TL_DOING_DEPENDENCY, "k", 17, 1);
    expect(j,
           HEAD "  20.0 % work queued in time began late - rank 3\n  19.0 % work began late after its launch - rank 3\n"
                "  18.0 % latency of launches - rank 3\n");
}

static void of_one_rank_no_ranks_are_named(void)
{
    job *j = new_job();
    j->s.nidle = j->s.nbreakdown = 2;
    j->s.nranks = 1;
    add(j, TL_DRAIN_STARVED, TL_DOING_DEPENDENCY, "nccl", 41, 1);
    expect(j, HEAD "  41.0 % work waited for an event of another stream: nccl\n");
}

static void devices_that_hardly_idle_are_not_spoken_of(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "aten::copy_", 41, 4);
    j->idle[0].macro_ns = MS / 2;
    expect(j, "");
}

static void graphs_that_are_not_whole_are_a_doubt(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_GRAPH, "cudaGraphLaunch", 41, 1);
    j->idle[0].graph_launches = 20;
    j->idle[0].graph_under_recorded = 3;
    j->idle[0].under_recorded_ns = 25 * MS;
    expect(j, HEAD
           "  41.0 % between the nodes of graphs - rank 3\n3 of 20 graph launches were not recorded, or not whole: "
           "50.0 % of the idle time\n  may be work.\n");
}

static void waiting_for_others_is_told_from_the_ranks_own(void)
{
    job *j = new_job();
    add(j, TL_DRAIN_STARVED, TL_DOING_UNTRACED, "(no_cpu_op_overlap)", 60, 1);
    j->idle[0].peer_ns = 20 * MS;
    expect(j, HEAD "  60.0 % the host launched late and was not traced - rank 3\n"
                   "Of the idle time 40.0 % was waiting for other ranks (table gap_peer); the rest\n"
                   "  is the ranks' own.\n");
    j = new_job();
    j->idle[0].peer_ns = MS / 2 - 1; /* less than one percent is not worth a line */
    expect(j, HEAD);
}

/* They need not idle at all. */
static void a_cause_that_is_mostly_waiting_says_so(void)
{
    job *j = new_job();
    tl_idle_job *c = add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 60, 1);
    c->total_ns = 10 * MS;
    c->peer_ns = 5 * MS;
    expect(j, HEAD "  60.0 % the host was in the call x, mostly waiting for other ranks - rank 3\n");
    j = new_job();
    c = add(j, TL_DRAIN_STARVED, TL_DOING_RUNTIME, "SYNC_CALL: x", 60, 1);
    c->total_ns = 10 * MS;
    c->peer_ns = 5 * MS - 1;
    expect(j, HEAD "  60.0 % the host was in the call x - rank 3\n");
}

static void devices_that_wait_in_communication_are_told(void)
{
    job *j = new_job();
    j->idle[0].macro_ns = 0;
    j->idle[0].busy_ns = 100 * MS;
    j->idle[0].waiting_ns = 30 * MS;
    expect(j, "Waiting: 30.0 ms in nothing but communication that waited for late ranks, 30.0 %\n"
              "  of the devices' time; table blame has for whom.\n");
    j = new_job();
    j->idle[0].waiting_ns = 50 * MS;
    expect(j, HEAD "Waiting: 50.0 ms in nothing but communication that waited for late ranks, 50.0 %\n"
                   "  of the devices' time; table blame has for whom.\n");
}

/* What one of two waits for the other is nobody's blame: the sentence says how much that is. */
static void waits_that_nobody_is_charged_with_are_told(void)
{
    static const tl_quality rows[] = { { .check = TL_CHECK_CHARGED, .count = 353, .of = 1000 },
                                       { .check = TL_CHECK_LATE_SENDER, .count = 421, .of = 1000 },
                                       { .check = TL_CHECK_LATE_RECEIVER, .count = 226, .of = 1000 },
                                       { .check = TL_CHECK_UNCHARGED, .count = 0, .of = 1000 } };
    job *j = new_job();
    j->idle[0].macro_ns = 0;
    j->idle[0].busy_ns = 100 * MS;
    j->idle[0].waiting_ns = 30 * MS;
    j->s.quality = rows;
    j->s.nquality = COUNT(rows);
    expect(j, "Waiting: 30.0 ms in nothing but communication that waited for late ranks, 30.0 %\n"
              "  of the devices' time. Of all waits table blame charges 35.3 %; 42.1 % are for\n"
              "  late senders, 22.6 % for late receivers, see table quality.\n");
}

/* Names from a trace may hold anything. */
static void odd_names_stay_on_their_line(void)
{
    job *j = new_job();
    tl_idle_job *c = add(j, TL_DRAIN_STARVED, TL_DOING_CPU, "a\nb\033[31m", 41, 1);
    memset(c->annotation, 'x', sizeof c->annotation); /* a full cell has no 0 after it */
    const char *lines = idle_lines(j);
    CU_ASSERT_PTR_NULL(strchr(lines, '\033'));
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, "xxxx\""));
    free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_cause_is_said_with_its_operator_place_and_ranks), TEST(ranks_that_are_alike_are_counted),
        TEST(the_largest_three_are_named_where_they_matter),     TEST(of_one_rank_no_ranks_are_named),
        TEST(devices_that_hardly_idle_are_not_spoken_of),        TEST(graphs_that_are_not_whole_are_a_doubt),
        TEST(waiting_for_others_is_told_from_the_ranks_own),     TEST(a_cause_that_is_mostly_waiting_says_so),
        TEST(devices_that_wait_in_communication_are_told),       TEST(odd_names_stay_on_their_line),
        TEST(waits_that_nobody_is_charged_with_are_told),
    };
    return unit_main("summary_idle", tests, COUNT(tests));
}
