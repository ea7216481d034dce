/* test_html.c - the page: its parts, whatever the result has; what comes from traces does no harm in it */
#include "tlmpi/report/html.h"
#include "answer_job.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/ask.h"

static const char *const phase_names[] = { "all_reduce", "host_to_device",
                                           "</title><script>x(\"1\")</script>&\x07\xFF" };

typedef struct page_job {
    answer_job *job;
    int32_t nranks, nsteps;
    size_t nphases;
    bool idle;
} page_job;

static tl_text name_of(void *arg, uint32_t id)
{
    (void)arg;
    return (tl_text){ phase_names[id], strlen(phase_names[id]) };
}

static tl_phase_step cell_of(int32_t step, uint32_t phase, int32_t rank)
{
    bool late = phase == 1 && rank == 2 && step >= 3 && step <= 5;
    return (tl_phase_step){ .step = step,
                            .phase = phase,
                            .rank = rank,
                            .duration_ns = late ? 15 * MS : 10 * MS,
                            .records = 1,
                            .wait_ns = -1,
                            .baseline_ns = 10 * MS,
                            .excess_ns = late ? 5 * MS : 0 };
}

/* Rank 2 was idle for 10 ms because its host was busy. */
static void feed_idle(const page_job *p, tl_html_take *take, void *arg)
{
    for (int32_t r = -1; r < p->nranks; r++) {
        tl_idle_summary row = { .rank = r, .device = -1, .step = -1, .drain_type = TL_DRAIN_STARVED,
                                .cpu_during_gap = TL_DOING_CPU, .dominant_op = "ALL",
                                .total_ns = r == 2 || r == -1 ? 10 * MS : 0, .worst_rank = 2, .worst_ns = 10 * MS };
        take(arg, &row);
        row.place = 1;
        row.idle_pct = 100;
        snprintf(row.dominant_op, sizeof row.dominant_op, "aten::<b>");
        take(arg, &row);
    }
}

/* The rows that the page wants, as a result has them. */
static tl_status each(void *of, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err)
{
    const page_job *p = of;
    (void)err;
    if (table == &tl_idle_summary_schema && p->idle)
        feed_idle(p, take, arg);
    for (int32_t s = 1; s <= p->nsteps && table == &tl_phase_step_schema; s++)
        for (uint32_t f = 0; f < p->nphases; f++)
            for (int32_t r = 0; r < p->nranks; r++) {
                tl_phase_step row = cell_of(s, f, r);
                take(arg, &row);
            }
    return TL_OK;
}

static char *page_of(const page_job *p)
{
    char *text = NULL;
    size_t size = 0;
    tl_error err;
    FILE *out = open_memstream(&text, &size);
    page_job fed = *p;
    const tl_html_input input = { .file = "a/b <c>.h5", .answers = &p->job->answers, .tables = &p->job->tables,
                                  .result = &fed, .name = name_of, .each = each };
    CU_ASSERT_EQUAL(tl_html_write(&input, out, &err), TL_OK);
    (void)fclose(out);
    char *copy = tl_strndup(text, size);
    free(text);
    return copy;
}

/* 4 ranks of 2 hosts, 6 steps; rank 2 is late in host_to_device in steps 3 to 5. */
static page_job new_page(bool phases)
{
    page_job p = { .job = job_of(4, 6), .nranks = 4, .nsteps = phases ? 6 : 0, .nphases = phases ? 3 : 0 };
    tl_tables *tables = &p.job->tables;
    tables->v = realloc(tables->v, (tables->n + 1) * sizeof *tables->v);
    tables->v[tables->n++] = (tl_table){ .schema = &tl_phase_schema };
    for (int32_t r = 0; r < p.nranks; r++)
        for (uint32_t f = 0; f < p.nphases; f++)
            put_row(p.job, &tl_phase_schema,
                    &(tl_phase){ .rank = r, .phase = f, .steps = p.nsteps, .total_ns = p.nsteps * (100 - (int64_t)f) * MS });
    if (phases) {
        put_row(p.job, &tl_phase_verdict_schema,
                &(tl_phase_verdict){ .rank = 2,
                                     .phase = "host_to_device",
                                     .verdict = TL_PHASE_STRAGGLER,
                                     .steps = 6,
                                     .steps_flagged = 3,
                                     .first_step = 3,
                                     .last_step = 5 });
        put_row(p.job, &tl_phase_verdict_schema,
                &(tl_phase_verdict){ .place = 1,
                                     .rank = 2,
                                     .phase = "host_to_device",
                                     .verdict = TL_PHASE_STRAGGLER,
                                     .pattern = TL_PATTERN_BOUNDED,
                                     .steps = 6,
                                     .steps_flagged = 3,
                                     .first_step = 3,
                                     .last_step = 5,
                                     .reason = "5 ms a step longer here & there" });
        put_row(p.job, &tl_phase_verdict_schema,
                &(tl_phase_verdict){ .place = 2,
                                     .rank = 1,
                                     .phase = "time outside of phases",
                                     .verdict = TL_PHASE_CHEAP,
                                     .first_step = 1,
                                     .last_step = 2,
                                     .reason = "cheap" });
    }
    tl_answers_read(&p.job->tables, &p.job->answers);
    return p;
}

static size_t count_in(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word))
        n++;
    return n;
}

/* The ids of the page's sections, in their order. */
static const char *sections_of(const char *text)
{
    static char ids[512];
    size_t n = 0;
    ids[0] = '\0';
    for (const char *p = strstr(text, "<section id=\""); p != NULL; p = strstr(p + 1, "<section id=\""))
        n += (size_t)snprintf(ids + n, sizeof ids - n, "%s%.*s", n > 0 ? " " : "", (int)strcspn(p + 13, "\""), p + 13);
    return ids;
}

static void check_sections(const page_job *p, const char *expected)
{
    char *text = page_of(p);
    CU_ASSERT_STRING_EQUAL(sections_of(text), expected);
    if (strcmp(sections_of(text), expected) != 0)
        fprintf(stderr, "found: %s\n", sections_of(text));
    free(text);
}

static void put_scenario(page_job *p, tl_scenario_kind scenario, int32_t rank, int64_t time_ns)
{
    put_row(p->job, &tl_whatif_row_schema,
            &(tl_whatif_row){ .scenario = (uint8_t)scenario, .rank = rank, .cause = TL_NACTIVITIES, .group = -1,
                              .time_ns = time_ns, .gain_ns = 600 * MS - time_ns, .slowdown = NAN, .model_error = scenario == TL_SCENARIO_UNCHANGED ? 0 : NAN });
}

static void a_section_is_there_where_its_data_are(void)
{
    page_job p = new_page(false);
    check_sections(&p, "verdict time excess steps recording glossary made");
    p.idle = true;
    check_sections(&p, "verdict time excess steps idle recording glossary made");
    hold_up(p.job, 2, 1, 6, 20 * MS, 110 * MS);
    tl_answers_read(&p.job->tables, &p.job->answers);
    check_sections(&p, "verdict time matrix excess steps waits idle recording glossary made");
    put_row(p.job, &tl_clock_schema, &(tl_clock){ .rank = 0, .clock = 0, .sigma_ns = 5000 });
    put_row(p.job, &tl_clock_schema, &(tl_clock){ .rank = 2, .clock = 1, .offset_ns = -7000, .sigma_ns = 5000 });
    check_sections(&p, "verdict time matrix excess steps waits idle recording clocks glossary made");
    job_free(p.job);
}

/* Bars begin where the one above ends, since the ideal contains the repair of the rank. */
static void gains_are_a_waterfall(void)
{
    page_job p = new_page(false);
    put_scenario(&p, TL_SCENARIO_UNCHANGED, -1, 600 * MS);
    put_scenario(&p, TL_SCENARIO_IDEAL, -1, 480 * MS);
    put_scenario(&p, TL_SCENARIO_RANK, 2, 510 * MS);
    tl_culprit named = { .kind = TL_CULPRIT_RANK, .ranks = "2", .nranks = 1, .rank = 2, .gain_ns = 90 * MS, .steps_flagged = 6,
                         .pattern = TL_PATTERN_PERSISTENT, .p_value = NAN, .path_share = NAN, .first_step = 1, .last_step = 6 };
    put_row(p.job, &tl_culprit_schema, &named);
    tl_answers_read(&p.job->tables, &p.job->answers);
    p.job->answers.trust.simulated = true;
    char *text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "without the delay of rank 2</text>"), 1);
    CU_ASSERT_EQUAL(count_in(text, ">510\xC2\xA0ms, 15.0\xC2\xA0% less</text>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"waiting\" x=\"85.00%\" y=\"50\" width=\"15.00%\""), 1);
    CU_ASSERT_EQUAL(count_in(text, ">480\xC2\xA0ms, 5.0\xC2\xA0% less</text>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"waiting\" x=\"80.00%\" y=\"84\" width=\"5.00%\""), 1);
    free(text);
    job_free(p.job);
}

/* Of 600 ms half compute, 30 % transfer, 20 % idle; rank 2's host was busy for 10 ms of that. */
static void bars_are_as_long_as_the_time(void)
{
    page_job p = new_page(false);
    p.idle = true;
    char *text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "<title>rank 2: compute 300\xC2\xA0ms, 50.0\xC2\xA0%</title>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<title>rank 2: exposed transfer 180\xC2\xA0ms, 30.0\xC2\xA0%</title>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<title>rank 2: idle: host busy 10.0\xC2\xA0ms, 1.7\xC2\xA0%</title>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"compute\" x=\"0.00%\" y=\"4\" width=\"50.00%\""), 1); /* the mean */
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"transfer\" x=\"50.00%\" y=\"4\" width=\"30.00%\""), 1);
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"idle1\" x=\"80.00%\" y=\"51\" width=\"1.67%\""), 1);
    CU_ASSERT_EQUAL(count_in(text, "idle: host busy</span>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "aten::&lt;b&gt;"), 1);
    free(text);
    job_free(p.job);
}

static void phases_are_drawn(void)
{
    page_job p = new_page(true);
    check_sections(&p, "verdict time excess steps phases recording glossary made");
    char *text = page_of(&p), *phases = strstr(text, "<section id=\"phases\">");
    CU_ASSERT_PTR_NOT_NULL_FATAL(phases);
    CU_ASSERT_EQUAL(count_in(phases, "<figure class=\"pair\""), 3);
    CU_ASSERT_EQUAL(count_in(text, "<h3>Which rank holds the job up?</h3>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "rank\xC2\xA0" "2 straggler, host_to_device: 5\xC2\xA0ms a step longer here &amp; there"), 1);
    CU_ASSERT_EQUAL(count_in(text, "rank\xC2\xA0" "1 cheap, time outside of phases: cheap"), 2); /* as ask, too */
    /* The phase of a verdict comes first, then those with most time; its late steps are outlined. */
    char *first = strstr(text, "<h3>host_to_device: "), *second = strstr(text, "<h3>all_reduce: ");
    CU_ASSERT_TRUE(first != NULL && second != NULL && first < second);
    CU_ASSERT_EQUAL(count_in(text, "<rect class=\"late\" x=\"33.33%\""), 1);
    CU_ASSERT_EQUAL(count_in(text, "rank 2, step 4: +50.0\xC2\xA0% against its peers (5.00\xC2\xA0ms of 10.0\xC2\xA0ms)"), 1);
    free(text);
    job_free(p.job);
}

static void words_of_a_trace_do_nothing(void)
{
    page_job p = new_page(true);
    char *text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "<script"), 0);
    CU_ASSERT_EQUAL(count_in(text, "</title>"), count_in(text, "<title>") + count_in(text, "<title id="));
    CU_ASSERT_TRUE(count_in(text, "&lt;script&gt;x(&quot;1&quot;)&lt;/script&gt;&amp;\xEF\xBF\xBD\xEF\xBF\xBD") > 0);
    CU_ASSERT_EQUAL(count_in(text, "http:") + count_in(text, "https:") + count_in(text, "src="), 0);
    CU_ASSERT_TRUE(count_in(text, "tlmpi show &#39;a/b &lt;c&gt;.h5&#39; ") > 0);
    CU_ASSERT_PTR_NULL(strpbrk(text, "\x01\x07\x1b\t"));
    free(text);
    job_free(p.job);
}

/* What stands between tags, without them and with quotes, in words parted by one space. */
static void put_plain(char *out, const char *text, const char *end)
{
    size_t n = 0;
    for (bool tag = false; text < end; text++) {
        bool kept = strncmp(text, "\xC2\xA0", 2) == 0, space = kept || *text == ' ' || *text == '\n' || *text == '<';
        if (!tag && space && n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
        tag = *text == '<' || (tag && *text != '>');
        text += kept;
        if (tag || space || *text == '>')
            continue;
        bool quote = strncmp(text, "&#39;", 5) == 0;
        out[n++] = quote ? '\'' : *text;
        text += quote ? 4 : 0;
    }
    out[n] = '\0';
}

/* Word for word. */
static void the_answers_are_those_of_ask(void)
{
    page_job p = new_page(false);
    char *page = page_of(&p), *asked = NULL, *from, *to;
    size_t size = 0;
    FILE *out = open_memstream(&asked, &size);
    tl_print_answers(out, &p.job->answers, "f.h5", 0);
    (void)fclose(out);
    char *plain = calloc(size + 1, 1), *found = calloc(strlen(page) + 1, 1);
    for (char *bracket = strpbrk(asked, "(\n"); bracket != NULL; bracket = strpbrk(bracket + 1, "(\n"))
        if (strncmp(bracket, "(tlmpi show", 11) == 0) /* paths differ, on purpose */
            memset(bracket, ' ', strcspn(bracket, ")") + 1);
    put_plain(plain, asked, asked + strlen(asked));
    from = strstr(page, "<h3>Which rank");
    to = strstr(page, "</details>");
    for (char *bracket = strchr(from, '('); bracket != NULL && bracket < to; bracket = strchr(bracket + 1, '('))
        if (strncmp(bracket, "(tlmpi show", 11) == 0)
            memset(bracket, ' ', strcspn(bracket, ")") + 1);
    put_plain(found, from, to);
    CU_ASSERT_STRING_EQUAL(found, plain);
    if (strcmp(found, plain) != 0)
        fprintf(stderr, "asked: %s\nfound: %s\n", plain, found);
    free(asked);
    free(page);
    free(plain);
    free(found);
    job_free(p.job);
}

/* One host is said at the top; process ids stand for a host that no trace names: they are none. */
static void hosts_have_a_column_where_two_are_named(void)
{
    page_job p = new_page(false);
    tl_table *ranks = tl_tables_get(&p.job->tables, &tl_rank_schema);
    for (int named = 0; named < 3; named++) {
        char *text = page_of(&p);
        CU_ASSERT_EQUAL(count_in(text, "<th class=\"words extra\">host</th>"), named == 2);
        free(text);
        for (size_t i = 0; i < ranks->n; i++)
            snprintf(((tl_rank *)tl_table_row(ranks, i))->host, sizeof((tl_rank *)0)->host, "%s%zu",
                     named == 0 ? "pids 10-1" : "node", i / 2);
    }
    job_free(p.job);
}

static const unit_test tests[] = {
    TEST(a_section_is_there_where_its_data_are), TEST(gains_are_a_waterfall),
    TEST(bars_are_as_long_as_the_time),          TEST(phases_are_drawn),
    TEST(words_of_a_trace_do_nothing),           TEST(the_answers_are_those_of_ask),
    TEST(hosts_have_a_column_where_two_are_named),
};

int main(void)
{
    return unit_main("html", tests, COUNT(tests));
}
