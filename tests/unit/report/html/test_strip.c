/* test_strip.c - the strip of one step: which step and which ranks, what a column shows, where the critical path is
 *
 * Timelines are drawn, one character a millisecond: a line of work of a rank (C compute, M copies) above one of its
 * communication, in which a letter is a collective.  The last rank to come ends the waiting of the others.
 */
#include "tlmpi/report/html/strip.h"
#include "answer_job.h"
#include "tlmpi/model/idle_tables.h"

/* The large tables of a result, in memory. */
enum { COLLECTIVES, ARRIVALS, INTERVALS, GAPS, NFED };
static const tl_schema *const fed[NFED] = { &tl_collective_row_schema, &tl_arrival_schema, &tl_interval_schema,
                                            &tl_gap_schema };

typedef struct strip_job {
    answer_job *job;
    tl_table tables[NFED];
    tl_html_input input;
    tl_strip strip;
} strip_job;

static strip_job strip_of(int32_t nranks, int32_t nsteps)
{
    strip_job s = { .job = job_of(nranks, nsteps) };
    for (int k = 0; k < NFED; k++)
        s.tables[k].schema = fed[k];
    TL_ROWS (tl_rank, row, tl_tables_get(&s.job->tables, &tl_rank_schema))
        row->intervals = 1;
    return s;
}

static void put(strip_job *s, int table, const void *row)
{
    tl_table_append(&s->tables[table], row, 1);
}

static tl_status each(void *of, const tl_schema *schema, tl_html_take *take, void *arg, tl_error *err)
{
    const strip_job *s = of;
    (void)err;
    for (int k = 0; k < NFED; k++)
        for (size_t i = 0; i < s->tables[k].n && fed[k] == schema; i++)
            take(arg, tl_table_row(&s->tables[k], i));
    return TL_OK;
}

static void gather(strip_job *s)
{
    tl_error err;
    tl_answers_read(&s->job->tables, &s->job->answers);
    s->input = (tl_html_input){ .answers = &s->job->answers, .tables = &s->job->tables, .result = s, .each = each };
    tl_strip_free(&s->strip);
    CU_ASSERT_EQUAL_FATAL(tl_strip_gather(&s->strip, &s->input, NULL, NULL, &err), TL_OK);
}

static void end(strip_job *s)
{
    tl_strip_free(&s->strip);
    for (int k = 0; k < NFED; k++)
        tl_table_free(&s->tables[k]);
    job_free(s->job);
}

/* The collective of that letter: rank 0 .. n - 1 are lines 1, 3, 5 ... */
static bool find_collective(const char *const *lines, size_t n, char letter, tl_collective_row *c, int64_t *start,
                            int64_t *stop)
{
    *c = (tl_collective_row){
        .s_first_ns = INT64_MAX, .s_last_ns = INT64_MIN, .wait_state = TL_WAIT_LATE_RANK, .step = 2
    };
    for (size_t r = 0; r < n; r++) {
        const char *line = lines[2 * r + 1], *at = strchr(line, letter);
        start[r] = -1;
        if (at == NULL)
            continue;
        start[r] = (at - line) * MS;
        stop[r] = (strrchr(line, letter) - line + 1) * MS;
        c->n++;
        if (start[r] > c->s_last_ns) {
            c->s_last_ns = start[r];
            c->late_rank = (int32_t)r;
        }
        c->s_first_ns = start[r] < c->s_first_ns ? start[r] : c->s_first_ns;
        c->e_first_ns = stop[r];
    }
    return c->n > 0;
}

/* Gathers the drawing as tables of step 2. */
static void feed(strip_job *s, const char *const *lines, size_t n)
{
    int64_t start[8], stop[8], number = 0;
    tl_collective_row c;
    for (char letter = 'a'; letter <= 'z'; letter++)
        if (find_collective(lines, n, letter, &c, start, stop)) {
            put(s, COLLECTIVES, &c);
            for (size_t r = 0; r < n; r++)
                if (start[r] >= 0)
                    put(s, ARRIVALS, &(tl_arrival){ .collective = number,
                                                    .rank = (int32_t)r,
                                                    .start_ns = start[r],
                                                    .end_ns = stop[r],
                                                    .wait_ns = c.s_last_ns - start[r] });
            number++;
        }
    for (size_t l = 0; l < 2 * n; l++)
        for (int64_t at = 0; lines[l][at] != '\0'; at++) {
            char what = lines[l][at];
            uint8_t kind = what == 'C' ? TL_COMPUTE : what == 'M' ? TL_MEMCPY : TL_COMM;
            if (what != '.')
                put(s, INTERVALS, &(tl_interval){ .rank = (int32_t)l / 2,
                                                  .start_ns = at * MS,
                                                  .end_ns = (at + 1) * MS,
                                                  .kind = kind });
        }
    gather(s);
}

/* What is shown in the middle of that millisecond of the window: C, M, W wait, T transfer, '.', in small where it is
 * pale. */
static char shown(const strip_job *s, size_t rank, bool communication, int64_t ms)
{
    static const char letters[] = "CMHSLTW.";
    int64_t step_ns = s->strip.to_ns - s->strip.from_ns;
    bool thin;
    size_t column = (size_t)((ms * MS + MS / 2 - s->strip.from_ns) * TL_STRIP_COLUMNS / step_ns);
    char letter = letters[tl_strip_shown(&s->strip.ranks[rank], communication, column, &thin)];
    return thin && letter != '.' ? (char)(letter + 32) : letter;
}

static void check_lanes(const strip_job *s, const char *const *expected, size_t n)
{
    for (size_t l = 0; l < 2 * n; l++)
        for (int64_t ms = 0; expected[l][ms] != '\0'; ms++) {
            char is = shown(s, l / 2, l % 2 == 1, ms);
            CU_ASSERT_EQUAL(is, expected[l][ms]);
            if (is != expected[l][ms])
                fprintf(stderr, "line %zu, %d ms: %c, not %c\n", l, (int)ms, is, expected[l][ms]);
        }
}

static void check_path(const strip_job *s, const char *expected)
{
    for (size_t i = 0; i < s->strip.path.n; i++) {
        const tl_strip_piece *p = &s->strip.path.v[i];
        for (int64_t ms = p->from_ns / MS; ms < p->to_ns / MS; ms++)
            CU_ASSERT_EQUAL('0' + p->rank, expected[ms]);
    }
    CU_ASSERT_EQUAL(s->strip.path.v[s->strip.path.n - 1].to_ns, (int64_t)strlen(expected) * MS);
}

static void a_late_rank_is_on_the_path_and_others_wait(void)
{
    static const char *const lines[] = { "CCCC........MM..", "....aaaaaa....bb", "CCCCCCCCC...CC..",
                                         ".........a....bb", "CC..............", "..aaaaaaaabbbbbb" };
    static const char *const shown_lanes[] = { "CCCC........MM..", "....WWWWWT....TT", "CCCCCCCCC...CC..",
                                               ".........T....TT", "CC..............", "..WWWWWWWTWWWWTT" };
    strip_job s = strip_of(3, 3);
    /* before collective a nothing is met in: the step begins with its first arrival */
    feed(&s, lines, 3);
    CU_ASSERT_EQUAL(s.strip.step, 2);
    CU_ASSERT_EQUAL(s.strip.from_ns, 2 * MS);
    CU_ASSERT_EQUAL(s.strip.to_ns, 16 * MS);
    for (size_t l = 0; l < 6; l++)
        for (int64_t ms = 2; ms < 16; ms++)
            CU_ASSERT_EQUAL(shown(&s, l / 2, l % 2 == 1, ms), shown_lanes[l][ms]);
    check_path(&s, "1111111110000000");
    CU_ASSERT_DOUBLE_EQUAL(s.strip.ranks[2].wait_share, 11.0 / 14, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(s.strip.ranks[1].wait_share, 0, 1e-3);
    CU_ASSERT_EQUAL(s.strip.ranks[0].wait_share < s.strip.ranks[2].wait_share, true);
    end(&s);
}

/* Rank 0 works while its receive waits: that holds nothing up, is pale, and does not lead the path away. */
static void waiting_under_work_holds_nothing_up(void)
{
    static const char *const lines[] = { "CCCCCCCCCC..", "aaaaaaa...bb", "..........CC", "......a...bb" };
    static const char *const lanes[] = { "CCCCCCCCCC..", "wwwwwwT...TT", "..........CC", "......T...TT" };
    strip_job s = strip_of(2, 3);
    feed(&s, lines, 2);
    check_lanes(&s, lanes, 2);
    check_path(&s, "000000000000");
    CU_ASSERT_EQUAL(s.strip.wait_ns, 0);
    end(&s);
}

static void the_step_is_that_of_the_largest_excess(void)
{
    strip_job s = strip_of(4, 6);
    hold_up(s.job, 2, 3, 5, 5 * MS, 0);
    tl_table *steps = tl_tables_get(&s.job->tables, &tl_blame_step_schema);
    TL_ROWS (tl_blame_step, row, steps)
        row->excess_ns += row->rank == 2 && row->step == 4 ? MS : row->rank == 1 && row->step == 6 ? 50 * MS : 0;
    put_row(s.job, &tl_culprit_schema, &(tl_culprit){ .kind = TL_CULPRIT_RANK, .ranks = "2", .nranks = 1, .rank = 2 });
    gather(&s);
    CU_ASSERT_EQUAL(s.strip.step, 4); /* of the rank that is named */
    /* Without a verdict the longest one, but for the first and the last. */
    tl_tables_get(&s.job->tables, &tl_culprit_schema)->n = 0;
    put_row(s.job, &tl_culprit_schema, &(tl_culprit){ .kind = TL_CULPRIT_NONE, .rank = -1 });
    TL_ROWS (tl_blame_step, row, steps)
        row->step_ns = (row->step == 1 ? 300 : row->step == 3 ? 200 : 100) * MS;
    gather(&s);
    CU_ASSERT_EQUAL(s.strip.step, 3);
    end(&s);
}

/* Two collectives of step 1 in which all ranks meet. */
static void put_two_collectives(strip_job *s, int32_t n, int64_t last_ns, int64_t end_ns, const int32_t late_rank[2])
{
    for (int32_t k = 0; k < 2; k++)
        put(s, COLLECTIVES, &(tl_collective_row){ .collective = k,
                                                  .step = 1,
                                                  .n = n,
                                                  .s_first_ns = 0,
                                                  .s_last_ns = last_ns,
                                                  .e_first_ns = end_ns,
                                                  .late_rank = late_rank[k],
                                                  .wait_state = TL_WAIT_LATE_RANK });
}

/* 100 ranks: rank 71 is late, rank 40 comes last to another collective; 24 are drawn. */
static void of_many_ranks_those_that_matter_are_drawn(void)
{
    strip_job s = strip_of(100, 3);
    put_row(s.job, &tl_culprit_schema,
            &(tl_culprit){ .kind = TL_CULPRIT_RANK, .ranks = "71", .nranks = 1, .rank = 71 });
    TL_ROWS (tl_blame_step, row, tl_tables_get(&s.job->tables, &tl_blame_step_schema))
        row->excess_ns = row->rank == 71 ? 9 * MS : 0;
    put_two_collectives(&s, 100, 10 * MS, 12 * MS, (const int32_t[]){ 71, 40 });
    for (int32_t r = 0; r < 100; r++) /* the higher the rank the longer it waits for rank 71 */
        put(&s, ARRIVALS, &(tl_arrival){ .collective = r % 10 == 0,
                                         .rank = r,
                                         .start_ns = 0,
                                         .end_ns = 12 * MS,
                                         .wait_ns = r == 71 || r == 40 ? 0 : MS + r });
    gather(&s);
    CU_ASSERT_EQUAL(s.strip.nranks, TL_STRIP_RANKS);
    CU_ASSERT_EQUAL(s.strip.nall, 100);
    static const int32_t wanted[] = { 71, 40, 99, 98, 97, 96, 95, 94, 93, 92 };
    for (size_t i = 0; i < COUNT(wanted); i++)
        CU_ASSERT_TRUE(tl_strip_place(&s.strip, wanted[i]) < TL_STRIP_RANKS);
    for (size_t i = 1; i < s.strip.nranks; i++)
        CU_ASSERT_TRUE(s.strip.ranks[i - 1].rank < s.strip.ranks[i].rank);
    CU_ASSERT_TRUE(s.strip.ranks[tl_strip_place(&s.strip, 71)].named);
    end(&s);
}

/* A million kernels in a column are as one: half of its time is full, less is pale, nothing is nothing.  The step, 2,
 * is that of its marks. */
static void many_short_kernels_are_columns(void)
{
    strip_job s = strip_of(1, 3);
    const int64_t from_ns = 200 * MS;
    for (int64_t at = 0; at < 30 * MS; at += 1000)
        put(&s, INTERVALS, &(tl_interval){ .start_ns = from_ns + at,
                                           .kind = TL_COMPUTE,
                                           .end_ns = from_ns + at + (at < 10 * MS ? 900 : 200) });
    put(&s, INTERVALS, &(tl_interval){ .start_ns = INT64_MIN + 1, .end_ns = INT64_MIN + 5, .kind = TL_COMPUTE });
    put(&s, INTERVALS, &(tl_interval){ .start_ns = from_ns + 90 * MS, .end_ns = INT64_MAX, .kind = TL_MEMCPY });
    put(&s, GAPS, &(tl_gap){ .start_ns = from_ns + 40 * MS,
                             .end_ns = from_ns + 60 * MS,
                             .cpu_during_gap = TL_DOING_CPU,
                             .drain_type = TL_DRAIN_STARVED });
    gather(&s);
    CU_ASSERT_EQUAL_FATAL(s.strip.from_ns, from_ns);
    const struct {
        int64_t ms;
        char what;
    } places[] = { { 5, 'C' }, { 20, 'c' }, { 35, '.' }, { 50, 'H' }, { 95, 'M' } };
    for (size_t i = 0; i < COUNT(places); i++)
        CU_ASSERT_EQUAL(shown(&s, 0, false, from_ns / MS + places[i].ms), places[i].what);
    end(&s);
}

/* Rank 2 comes 4 ms after the median of three to one collective, and 40 us to the other. */
static void lateness_is_against_the_median(void)
{
    strip_job s = strip_of(3, 3);
    put_two_collectives(&s, 3, 5 * MS, 6 * MS, (const int32_t[]){ 2, 2 });
    static const int64_t starts[2][3] = { { 0, MS, 5 * MS }, { 20000, 10000, 60000 } };
    for (int32_t k = 0; k < 2; k++)
        for (int32_t r = 0; r < 3; r++)
            put(&s, ARRIVALS, &(tl_arrival){ .collective = k, .rank = r, .start_ns = starts[k][r], .end_ns = 6 * MS });
    gather(&s);
    const tl_strip_late *of = s.strip.late;
    CU_ASSERT_EQUAL(of[2].n, 2);
    CU_ASSERT_EQUAL(of[2].late_ns, 4 * MS + 40000);
    CU_ASSERT_EQUAL(of[2].count[1 + 6 * 3 + 3], 1); /* 3.2 to 4.6 ms */
    CU_ASSERT_EQUAL(of[2].count[1 + 6 + 3], 1);     /* 32 to 46 us */
    CU_ASSERT_EQUAL(of[0].count[0], 2);
    CU_ASSERT_EQUAL(of[1].late_ns, 0);
    end(&s);
}

static const unit_test tests[] = {
    TEST(a_late_rank_is_on_the_path_and_others_wait),
    TEST(waiting_under_work_holds_nothing_up),
    TEST(the_step_is_that_of_the_largest_excess),
    TEST(of_many_ranks_those_that_matter_are_drawn),
    TEST(many_short_kernels_are_columns),
    TEST(lateness_is_against_the_median),
};

int main(void)
{
    return unit_main("strip", tests, COUNT(tests));
}
