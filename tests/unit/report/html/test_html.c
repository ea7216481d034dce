/* test_html.c - the page: its parts, whatever the result has; what comes from traces does no harm in it */
#include "tlmpi/report/html.h"
#include "answer_job.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/report/ask.h"

static const char *const phase_names[] = { "all_reduce", "host_to_device",
                                           "</title><script>x(\"1\")</script>&\x07\xFF" };

typedef struct page_job {
    answer_job *job;
    int32_t nranks, nsteps;
    size_t nphases;
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

/* The rows that the page wants, as a result has them. */
static void feed(const page_job *p, tl_html *html, tl_error *err)
{
    for (const tl_schema *table; (table = tl_html_next(html)) != NULL;) {
        bool steps = strcmp(table->name, "phase_step") == 0;
        for (int32_t s = 1; s <= p->nsteps && steps; s++)
            for (uint32_t f = 0; f < p->nphases; f++)
                for (int32_t r = 0; r < p->nranks; r++) {
                    tl_phase_step row = cell_of(s, f, r);
                    tl_html_take(html, &row, err);
                }
        for (int32_t r = 0; r < p->nranks && !steps; r++)
            for (uint32_t f = 0; f < p->nphases; f++) {
                tl_phase row = { .rank = r, .phase = f, .steps = p->nsteps, .total_ns = p->nsteps * (int64_t)(100 - f) * MS };
                row.excess_ns = f == 1 && r == 2 ? 15 * MS : 0;
                tl_html_take(html, &row, err);
            }
    }
}

static void write_page(const page_job *p, FILE *out, tl_error *err)
{
    const tl_html_input input = {
        .file = "a/b <c>.h5", .answers = &p->job->answers, .tables = &p->job->tables, .name = name_of
    };
    tl_html *html = tl_html_new(&input);
    feed(p, html, err);
    tl_html_write(html, out);
    tl_html_free(html);
}

static char *page_of(const page_job *p)
{
    char *text = NULL;
    size_t size = 0;
    tl_error err;
    FILE *out = open_memstream(&text, &size);
    write_page(p, out, &err);
    (void)fclose(out);
    char *copy = tl_strndup(text, size);
    free(text);
    return copy;
}

/* 4 ranks of 2 hosts, 6 steps; rank 2 is late in host_to_device in steps 3 to 5. */
static page_job new_page(bool phases)
{
    page_job p = { .job = job_of(4, 6), .nranks = 4, .nsteps = phases ? 6 : 0, .nphases = phases ? 3 : 0 };
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

static void every_part_is_there(void)
{
    page_job p = new_page(true);
    char *text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "<section "), 3);
    CU_ASSERT_EQUAL(count_in(text, "<figure>"), 4); /* who waits, and three phases */
    CU_ASSERT_EQUAL(count_in(text, "<h3>Which rank holds the job up?</h3>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "rank 2 straggler, host_to_device: 5 ms a step longer here &amp; there"), 1);
    CU_ASSERT_EQUAL(count_in(text, "rank 1 cheap, time outside of phases: cheap"), 2); /* as ask, too */
    /* The phase of a verdict comes first, then those with most time; its late steps are outlined. */
    char *first = strstr(text, "<h3>host_to_device: "), *second = strstr(text, "<h3>all_reduce: ");
    CU_ASSERT_TRUE(first != NULL && second != NULL && first < second);
    CU_ASSERT_EQUAL(count_in(text, "<path class=\"late\" d=\"M"), 2); /* one in the legend */
    CU_ASSERT_EQUAL(count_in(text, "rank 2, step 4: +50.0\xC2\xA0% against its peers (5.00 ms of 10.0 ms)"), 1);
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
        bool space = *text == ' ' || *text == '\n' || *text == '<';
        if (!tag && space && n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
        tag = *text == '<' || (tag && *text != '>');
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
    to = strstr(page, "</section>");
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

/* Process ids stand for a host that no trace names: they are none. */
static void hosts_that_no_trace_names_have_no_column(void)
{
    page_job p = new_page(false);
    tl_table *ranks = tl_tables_get(&p.job->tables, &tl_rank_schema);
    for (int named = 1; named >= 0; named--) {
        char *text = page_of(&p);
        CU_ASSERT_EQUAL(count_in(text, "<th>host</th>"), (size_t)named);
        free(text);
        for (size_t i = 0; i < ranks->n; i++)
            snprintf(((tl_rank *)tl_table_row(ranks, i))->host, sizeof((tl_rank *)0)->host, "pids 10-17");
    }
    job_free(p.job);
}

static void what_is_not_there_has_no_section(void)
{
    page_job p = new_page(false);
    char *text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "<figure>"), 1);
    CU_ASSERT_EQUAL(count_in(text, "<section id=\"phases\">"), 0);
    free(text);
    tl_tables_get(&p.job->tables, &tl_blame_step_schema)->n = 0;
    text = page_of(&p);
    CU_ASSERT_EQUAL(count_in(text, "<figure>"), 0);
    CU_ASSERT_EQUAL(count_in(text, "<section id=\"excess\">"), 0);
    free(text);
    job_free(p.job);
}

static const unit_test tests[] = {
    TEST(every_part_is_there),       TEST(words_of_a_trace_do_nothing), TEST(the_answers_are_those_of_ask),
    TEST(hosts_that_no_trace_names_have_no_column), TEST(what_is_not_there_has_no_section),
};

int main(void)
{
    return unit_main("html", tests, COUNT(tests));
}
