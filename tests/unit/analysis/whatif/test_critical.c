/* test_critical.c - the path through all ranks, on drawings.  A column is 100 us. */
#include "drawn_job.h"

/* The path as text: "2w0-8 0t8-14 0w14-16": rank, kind, columns. */
static const char *text_of(const tl_path *path)
{
    static char text[1024];
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < path->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u%c%g-%g", i > 0 ? " " : "", path->v[i].rank,
                              "whlt"[path->v[i].kind], (double)path->v[i].start_ns / (double)COLUMN,
                              (double)path->v[i].end_ns / (double)COLUMN);
    return text;
}

/* The pieces follow on one another; with what precedes them they are the job's time, and so are the parts of all ranks. */
static tl_path path_of(drawn_job *j)
{
    tl_path path;
    CU_ASSERT_EQUAL_FATAL(tl_critical_path(j->whatif, &path, NULL), TL_OK);
    int64_t pieces_ns = path.before_ns, ranks_ns = path.before_ns;
    for (size_t i = 0; i < path.n; i++) {
        CU_ASSERT(path.v[i].start_ns < path.v[i].end_ns && (i == 0 || path.v[i].start_ns == path.v[i - 1].end_ns));
        pieces_ns += path.v[i].end_ns - path.v[i].start_ns;
    }
    for (size_t r = 0; r < j->nranks; r++)
        for (int part = 0; part < TL_NPARTS; part++)
            ranks_ns += path.by_rank[r].ns[part];
    CU_ASSERT_EQUAL(pieces_ns, tl_whatif_facts_of(j->whatif)->simulated_ns);
    CU_ASSERT_EQUAL(ranks_ns, tl_whatif_facts_of(j->whatif)->simulated_ns);
    return path;
}

static void the_path_turns_to_whoever_came_last(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      arbc............",
                            "compute 7: AAAABBBB......CC",
                            "comm 9:    ....RRRRRRRRRR..", NULL));
    job_rank(j, 0, draw("host:      arbc............",
                        "compute 7: AAAAAAAABBBB..CC",
                        "comm 9:    ........RRRRRR..", NULL));
    job_ready(j);
    tl_path path = path_of(j);
    CU_ASSERT_STRING_EQUAL(text_of(&path), "2w0-8 0t8-14 0w14-16");
    CU_ASSERT_EQUAL(columns(path.by_rank[2].ns[TL_PART_COMPUTE]), 8);
    CU_ASSERT_EQUAL(columns(path.by_rank[0].ns[TL_PART_COMPUTE]), 2);
    CU_ASSERT_EQUAL(columns(path.by_rank[0].ns[TL_PART_COMM]), 6);
    CU_ASSERT_EQUAL(columns(path.sum.ns[TL_PART_COMPUTE]), 10);
    CU_ASSERT_EQUAL(columns(path.mean.ns[TL_PART_COMM]), 6);
    CU_ASSERT_EQUAL(tl_path_imbalance(&path, TL_PART_COMM), 0);
    CU_ASSERT_EQUAL(columns(path.own[0].ns[TL_PART_COMPUTE]), 10);
    CU_ASSERT_EQUAL(columns(path.own[2].ns[TL_PART_COMPUTE]), 14);
    CU_ASSERT_EQUAL(path.before_ns, 0);
    /* Compute of the ranks: 10, 10, 14.  So 10 on the path are less than the mean. */
    CU_ASSERT_EQUAL(tl_path_imbalance(&path, TL_PART_COMPUTE), 0);
    tl_path_free(&path);
    job_free(j);
}

/* Rank 2 is recorded from column 5 on, and comes last all the same. */
static void what_precedes_the_path_is_counted(void)
{
    drawn_job *j = job_new();
    for (int r = 0; r < 2; r++)
        job_rank(j, 0, draw("host:      arbc............",
                            "compute 7: AAAABBBB......CC",
                            "comm 9:    ....RRRRRRRRRR..", NULL));
    job_rank(j, 0, draw("host:      arbc.......",
                        "compute 7: AAABBBB..CC",
                        "comm 9:    ...RRRRRR..", NULL));
    j->offset_ns[2] = 5 * COLUMN;
    job_ready(j);
    tl_path path = path_of(j);
    CU_ASSERT_STRING_EQUAL(text_of(&path), "2w5-8 0t8-14 0w14-16");
    CU_ASSERT_EQUAL(columns(path.before_ns), 5);
    tl_path_free(&path);
    job_free(j);
}

static void the_path_follows_a_host_that_runs_freely(void)
{
    drawn_job *j = job_late_host(false);
    tl_path path = path_of(j);
    CU_ASSERT_STRING_EQUAL(text_of(&path), "0h0-7 0h7-18 0w18-20");
    CU_ASSERT_EQUAL(columns(path.sum.ns[TL_PART_HOST]), 18);
    tl_path_free(&path);
    job_free(j);
}

static void the_path_goes_through_a_host_that_waits(void)
{
    drawn_job *j = job_late_host(true);
    tl_path path = path_of(j);
    CU_ASSERT_STRING_EQUAL(text_of(&path), "2h0-10 2w10-12 0t12-14 0w14-15.99 0h15.99-18 0w18-20");
    CU_ASSERT_EQUAL(columns(path.by_rank[2].ns[TL_PART_HOST]), 10);
    /* Time of hosts: 7 + 4, 7 + 4 and 11 + 4, and what a wait is taken to end early. */
    CU_ASSERT_DOUBLE_EQUAL(columns(path.mean.ns[TL_PART_HOST]), 37.03 / 3, 0.001);
    tl_path_free(&path);
    job_free(j);
}

static void the_path_climbs_through_a_pipeline(void)
{
    drawn_job *j = job_new();
    j->pairs = "PQXY";
    job_rank(j, 0, draw("host:      apbqxcydz.................",
                        "compute 7: AABB........CCCC....DDDD..",
                        "comm 9:    ..P.Q.....................",
                        "comm 10:   ....XXXXXXXXYYYYYYYY......",
                        "comm 11:   ........................ZZ", NULL));
    job_rank(j, 1, draw("host:      pegxqhiyz.................",
                        "compute 7: ...EEGGGGGGHHIIIIII.......",
                        "comm 9:    PPP.Q.....................",
                        "comm 10:   ...........X.......Y......",
                        "comm 11:   ...................ZZZZZZZ", NULL));
    job_ready(j);
    tl_path path = path_of(j);
    CU_ASSERT_STRING_EQUAL(text_of(&path), "0w0-2 1t2-3 1w3-11 1w11-19 0t19-20 0w20-24 0t24-26");
    CU_ASSERT_EQUAL(columns(path.by_rank[1].ns[TL_PART_COMPUTE]), 16);
    CU_ASSERT_EQUAL(columns(path.sum.ns[TL_PART_COMM]), 4);
    /* 22 of compute on the path, 12 and 16 on the ranks. */
    CU_ASSERT_EQUAL(columns(tl_path_imbalance(&path, TL_PART_COMPUTE)), 8);
    tl_path_free(&path);
    job_free(j);
}

static void without_memory_there_is_no_path(void)
{
    drawn_job *j = job_late_host(true);
    tl_status status = TL_ENOMEM;
    for (size_t n = 1; status == TL_ENOMEM && n < 100; n++) {
        tl_path path;
        tl_mem_fail_after(n);
        status = tl_critical_path(j->whatif, &path, NULL);
        tl_mem_fail_after(0);
        CU_ASSERT((status == TL_OK) == (path.n > 0));
        tl_path_free(&path);
    }
    CU_ASSERT_EQUAL(status, TL_OK);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(the_path_turns_to_whoever_came_last),
    TEST(what_precedes_the_path_is_counted),
    TEST(the_path_follows_a_host_that_runs_freely),
    TEST(the_path_goes_through_a_host_that_waits),
    TEST(the_path_climbs_through_a_pipeline),
    TEST(without_memory_there_is_no_path),
};

int main(void)
{
    return unit_main("critical", tests, COUNT(tests));
}
