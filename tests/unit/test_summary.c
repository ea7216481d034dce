/* test_summary.c - one screen that holds the facts, whatever the job looked like. */
#include "tlmpi/report/summary.h"
#include "unit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/* A job under construction; rows stay in key order because ranks are added in order and rank -1 has its place first. */
typedef struct job {
    tl_rank ranks[1000];
    tl_breakdown rows[1001];
    tl_step steps[3000];
    tl_quality quality[TL_NCHECKS];
    tl_summary s;
} job;

static job *new_job(void)
{
    job *j = calloc(1, sizeof *j);
    j->s = (tl_summary){ .version = "1.2.3", .ranks = j->ranks, .breakdown = j->rows, .steps = j->steps,
                         .run = 1, .nruns = 1, .nprocs = 4, .seconds = 0.04, .output = "traces.h5",
                         .output_bytes = 600000 };
    j->rows[0] = (tl_breakdown){ .rank = -1, .device = -1, .step = -1 };
    return j;
}

/* Another rank, with its parts of wall time in ms; all zero for a rank without device work. */
static tl_rank *add_rank(job *j, int64_t compute, int64_t comm_exposed, int64_t copy_exposed, int64_t idle)
{
    size_t i = j->s.nranks++;
    tl_rank *rank = &j->ranks[i];
    *rank = (tl_rank){ .rank = (int32_t)i, .file_bytes = 750000, .events = 3425, .devices = 1, .kernel_ns = 100 };
    strcpy(rank->host, "ip-172-31-16-248");
    strcpy(rank->device_name, "Tesla V100-SXM2-16GB");

    int64_t wall = compute + comm_exposed + copy_exposed + idle;
    if (wall == 0)
        return rank;
    if (j->s.nbreakdown == 0)
        j->s.nbreakdown = 1;
    tl_breakdown row = { .rank = (int32_t)i, .device = -1, .step = -1, .wall_ns = wall * MS,
                         .busy_ns = (wall - idle) * MS, .compute_ns = compute * MS,
                         .comm_ns = 2 * comm_exposed * MS, .comm_overlapped_ns = comm_exposed * MS,
                         .comm_exposed_ns = comm_exposed * MS, .copy_ns = copy_exposed * MS,
                         .copy_exposed_ns = copy_exposed * MS, .idle_ns = idle * MS };
    j->rows[j->s.nbreakdown++] = row;
    j->rows[0].wall_ns += row.wall_ns;
    j->rows[0].compute_ns += row.compute_ns;
    j->rows[0].comm_ns += row.comm_ns;
    j->rows[0].comm_overlapped_ns += row.comm_overlapped_ns;
    j->rows[0].comm_exposed_ns += row.comm_exposed_ns;
    j->rows[0].copy_exposed_ns += row.copy_exposed_ns;
    j->rows[0].idle_ns += row.idle_ns;
    return rank;
}

static void add_step(job *j, int32_t rank, int32_t step)
{
    j->steps[j->s.nsteps++] = (tl_step){ .rank = rank, .step = step };
}

static void count_of(job *j, tl_quality_check check, int64_t n, int64_t of, int64_t worst_ns)
{
    j->s.quality = j->quality;
    j->quality[j->s.nquality++] = (tl_quality){ .check = (uint8_t)check, .count = n, .of = of, .worst_ns = worst_ns };
}

/* The summary; every line of it has at most 80 characters. */
static char *summary_of(const job *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    tl_print_summary(out, &j->s);
    fclose(out);

    size_t column = 0;
    for (const char *p = text; *p != '\0'; p++) {
        column = *p == '\n' ? 0 : column + (((unsigned char)*p & 0xC0) != 0x80);
        CU_ASSERT_TRUE(column <= 80);
        CU_ASSERT_TRUE(*p == '\n' || (unsigned char)*p >= 0x20);
        if (column == 81)
            fprintf(stderr, "too wide:\n%s\n", text);
    }
    return text;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        n++;
    }
    return n;
}

static void expect(const char *text, const char *what, size_t times)
{
    CU_ASSERT_EQUAL(count(text, what), times);
    if (count(text, what) != times)
        fprintf(stderr, "expected %zu times: %s\nin:\n%s\n", times, what, text);
}

static void a_job_of_four_is_one_screen(void)
{
    job *j = new_job();
    add_rank(j, 36, 907, 0, 57);
    add_rank(j, 36, 906, 0, 58);
    add_rank(j, 37, 10, 0, 953);
    add_rank(j, 36, 906, 0, 58);
    for (int32_t rank = 0; rank < 4; rank++)
        for (int32_t step = 4; step <= 6; step++)
            add_step(j, rank, step);
    j->s.world_size = 4;

    char *text = summary_of(j);
    CU_ASSERT_STRING_EQUAL(text,
        "tlmpi 1.2.3  4 traces, 4 of 4 ranks, 3.0 MB, 3 steps (4-6),\n"
        "  host ip-172-31-16-248, Tesla V100-SXM2-16GB\n"
        "parsed 13 700 events in 0.04 s on 4 procs; 0 dropped, 0 repaired\n"
        "\n"
        "                           exposed exposed            comm\n"
        "  rank     wall ms compute    comm    copy    idle overlap\n"
        "     0      1000.0   3.6 %  90.7 %   0.0 %   5.7 %  50.0 %\n"
        "     1      1000.0   3.6 %  90.6 %   0.0 %   5.8 %  50.0 %\n"
        "     2      1000.0   3.7 %   1.0 %   0.0 %  95.3 %  50.0 %\n"
        "     3      1000.0   3.6 %  90.6 %   0.0 %   5.8 %  50.0 %\n"
        "  mean      1000.0   3.6 %  68.2 %   0.0 %  28.1 %  50.0 %\n"
        "\n"
        "Largest loss: rank 2, idle 95.3 % of its wall time (953.0 of 1000.0 ms) - over\n"
        "  all ranks it is exposed comm, 68.2 %\n"
        "Wrote traces.h5 (600.0 kB). Next: tlmpi show traces.h5 breakdown\n");
    free(text);
    free(j);
}

static void one_rank_has_no_mean(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 30, 0);
    char *text = summary_of(j);
    expect(text, "1 trace,", 1);
    expect(text, "mean", 0);
    expect(text, "Largest loss: exposed copy 75.0 %", 1);
    expect(text, "over all ranks", 0);
    expect(text, "       -\n", 1);           /* no comm, so no overlap */
    free(text);
    free(j);
}

static void a_damaged_rank_says_what_is_wrong(void)
{
    job *j = new_job();
    add_rank(j, 10, 10, 0, 0);
    tl_rank *bad = add_rank(j, 5, 10, 0, 0);
    bad->status = TL_RANK_CUT;
    bad->dropped = 12345;
    memset(bad->error, 'x', sizeof bad->error);     /* a full cell has no end */
    strcpy(bad->error, "traces/rank-1.json: byte 1204551090: the file ends inside an event; what stands before it is "
                       "used\x1b[31m");
    tl_rank *gone = add_rank(j, 0, 0, 0, 0);
    gone->status = TL_RANK_UNREADABLE;
    memset(gone->host, 'h', sizeof gone->host);
    memset(gone->device_name, 'd', sizeof gone->device_name);

    char *text = summary_of(j);
    expect(text, "  cut\n", 1);
    expect(text, "     2           -       -       -       -       -       -  unreadable\n", 1);
    expect(text, "rank 1 cut: 12 345 events lost; traces/rank-1.json:", 1);
    expect(text, "byte 1204551090:", 1);
    free(text);
    free(j);
}

static void of_a_thousand_ranks_seven_are_shown(void)
{
    job *j = new_job();
    for (int i = 0; i < 1000; i++)
        add_rank(j, 2000 - i, i, 0, 0);
    j->s.world_size = 1024;
    int64_t missing[24];
    for (int i = 0; i < 24; i++)
        missing[i] = 1000 + i + (i == 23);
    j->s.missing = missing;
    j->s.nmissing_listed = j->s.nmissing = 24;
    for (int i = 100; i < 110; i++) {
        j->ranks[i].status = TL_RANK_DAMAGED;
        strcpy(j->ranks[i].error, "byte 5: expected a number");
    }

    char *text = summary_of(j);
    expect(text, "   999      2000.0  50.0 %  50.0 %", 1);
    expect(text, "   995      2000.0", 1);
    expect(text, "   994      2000.0", 0);
    expect(text, "   499      2000.0  75.0 %  24.9 %   0.0 %   0.0 %  50.0 %  median\n", 1);
    expect(text, "     0      2000.0 100.0 %   0.0 %   0.0 %   0.0 %       -  best\n", 1);
    expect(text, " 2000.0  ", 7);
    expect(text, "Of 1000 ranks: the 5 with the most exposed comm + idle, the median and the best.\n", 1);
    expect(text, "byte 5: expected a number", 5);
    expect(text, "5 more not ok: ", 1);
    expect(text, "No trace of 24 ranks: 1000-1022, 1024\n", 1);
    free(text);
    free(j);
}

static void ties_go_to_the_lower_rank(void)
{
    job *j = new_job();
    for (int i = 0; i < 20; i++)
        add_rank(j, 50, 50, 0, 0);
    char *text = summary_of(j);
    expect(text, "Largest loss: rank 0,", 1);
    const char *first = strstr(text, "     0       100.0"), *fifth = strstr(text, "     4       100.0");
    CU_ASSERT_TRUE(first != NULL && fifth != NULL && first < fifth);
    expect(text, "     5       100.0", 0);
    free(text);
    free(j);
}

static void no_device_work_is_a_fact(void)
{
    job *j = new_job();
    add_rank(j, 0, 0, 0, 0)->status = TL_RANK_NO_GPU;
    add_rank(j, 0, 0, 0, 0)->status = TL_RANK_NO_GPU;
    j->s.output = NULL;
    char *text = summary_of(j);
    expect(text, "No trace has device work: there is nothing to break down.\n", 1);
    expect(text, "wall ms", 0);
    expect(text, "Largest loss", 0);
    expect(text, "rank 1 no_gpu_events\n", 1);
    expect(text, "Wrote", 0);
    free(text);
    free(j);
}

static void a_job_without_loss_says_so(void)
{
    job *j = new_job();
    add_rank(j, 50, 0, 0, 0);
    add_rank(j, 60, 0, 0, 0);
    char *text = summary_of(j);
    expect(text, "No rank is ever idle", 1);
    free(text);
    free(j);
}

static void huge_numbers_keep_the_table_in_its_columns(void)
{
    job *j = new_job();
    add_rank(j, 1, 1, 1, 1);
    j->rows[1].wall_ns = j->rows[1].idle_ns = INT64_MAX;
    j->rows[1].rank = j->ranks[0].rank = INT32_MAX;
    j->ranks[0].file_bytes = j->ranks[0].events = INT64_MAX;
    j->ranks[0].status = TL_RANK_NO_GPU;
    free(summary_of(j));
    free(j);
}

static void steps_that_differ_are_given_as_a_range(void)
{
    job *j = new_job();
    add_rank(j, 1, 0, 0, 1);
    add_rank(j, 1, 0, 0, 1);
    add_step(j, 0, 4);
    add_step(j, 0, 5);
    add_step(j, 1, 5);
    char *text = summary_of(j);
    expect(text, "1-2 steps a rank (4-5)", 1);
    free(text);

    add_step(j, 1, 6);
    text = summary_of(j);
    expect(text, "2 steps a rank (4-6)", 1);
    free(text);
    free(j);
}

static void what_the_reader_must_know_is_said(void)
{
    job *j = new_job();
    for (int i = 0; i < 4; i++) {
        tl_rank *rank = add_rank(j, 1, 0, 0, 1);
        rank->unclassified_ns = 25;
        rank->host[0] = (char)('a' + i);
    }
    j->ranks[1].rank_from = 1;
    j->ranks[2].rank_from = 2;
    j->ranks[3].devices = 8;
    const char *const skipped[] = { "traces/et.json: an execution trace, no profiler trace", "b: x", "c: y", "d: z" };
    j->s.skipped = skipped;
    j->s.nskipped = 4;
    j->s.run = j->s.nruns = 2;
    j->s.output = "my traces.h5";
    char *text = summary_of(j);
    expect(text, "4 hosts", 1);
    expect(text, "Rank numbers: 1 from the file's name, 1 by the order of the files.\n", 1);
    expect(text, "Run 2 of 2 was analysed; --run list", 1);
    expect(text, "Unclassified: 25.0 % of kernel time", 1);
    expect(text, "1 rank has several devices", 1);
    expect(text, "Left alone: ", 3);
    expect(text, "and 1 more: ", 1);
    expect(text, "'my traces.h5'", 2);
    expect(text, "\033", 0);
    free(text);
    free(j);
}


static void matched_collectives_have_a_line(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 27, 27, 0);
    count_of(j, TL_CHECK_BY_LAUNCH, 108, 108, 0);
    count_of(j, TL_CHECK_ALONE, 0, 108, 0);
    count_of(j, TL_CHECK_END_TOGETHER, 12, 12, 113400);
    count_of(j, TL_CHECK_CLOCKS, 1, 4, 0);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Collectives: 27 of 27 matched, by launch; ends agree within 113 us; 1 clock.\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "Not matched"));
    CU_ASSERT_PTR_NULL(strstr(text, "Clocks:"));
    free(text);
    free(j);
}

static void what_does_not_fit_is_said(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 20, 27, 0);
    count_of(j, TL_CHECK_MISSING, 2, 27, 0);
    count_of(j, TL_CHECK_UNMATCHED, 1, 27, 0);
    count_of(j, TL_CHECK_KIND, 3, 27, 0);
    count_of(j, TL_CHECK_SIZE, 1, 27, 0);
    count_of(j, TL_CHECK_BY_SEQ, 50, 108, 0);
    count_of(j, TL_CHECK_BY_PAIR, 50, 108, 0);
    count_of(j, TL_CHECK_BY_ENDTIME, 7, 108, 0);
    count_of(j, TL_CHECK_ALONE, 1, 108, 0);
    count_of(j, TL_CHECK_CLOCKS, 2, 4, 3000000);
    count_of(j, TL_CHECK_SHIFTED, 2, 4, 3000000);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "20 of 27 matched, by seq, pair and endtime; 2 clocks,\n  3000 us apart.\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Not matched: 2 with a rank missing, 1 alone, 4 suspect (kind, size); see table\n  quality.\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Clocks: the times of 2 ranks were shifted, by up to 3000 us; see table clock.\n"));
    free(text);
    free(j);
}

static void one_rank_alone_is_not_compared(void)
{
    job *j = new_job();
    add_rank(j, 10, 0, 0, 10);
    count_of(j, TL_CHECK_MATCHED, 0, 17, 0);
    count_of(j, TL_CHECK_ALONE, 17, 17, 0);
    char *text = summary_of(j);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Collectives: 17, of one rank each: there is nobody to compare with.\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "matched"));
    free(text);
    j->quality[0].of = 0;                           /* a job without any says nothing */
    text = summary_of(j);
    CU_ASSERT_PTR_NULL(strstr(text, "Collectives"));
    free(text);
    free(j);
}

static const unit_test tests[] = {
    TEST(matched_collectives_have_a_line),
    TEST(what_does_not_fit_is_said),
    TEST(one_rank_alone_is_not_compared),
    TEST(a_job_of_four_is_one_screen),
    TEST(one_rank_has_no_mean),
    TEST(a_damaged_rank_says_what_is_wrong),
    TEST(of_a_thousand_ranks_seven_are_shown),
    TEST(ties_go_to_the_lower_rank),
    TEST(no_device_work_is_a_fact),
    TEST(a_job_without_loss_says_so),
    TEST(huge_numbers_keep_the_table_in_its_columns),
    TEST(steps_that_differ_are_given_as_a_range),
    TEST(what_the_reader_must_know_is_said),
};

int main(void)
{
    return unit_main("summary", tests, COUNT(tests));
}
