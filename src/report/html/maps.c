/* maps.c - heat maps of ranks and steps: by how much a rank's own work exceeds that of its peers, on which the
 * verdict rests; how long other ranks waited for it, in a pipeline also because it waited itself; and,
 * for each phase, how much longer or shorter it is on a rank than on its peers.
 */
#include "page.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/answers/tell.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- figure */

/* A picture, and below it a table of the worst ranks, kept ranks first, each with its numbers and a note. */
typedef struct figure {
    tl_picture picture;      /* the caller names rows and adds outlines before end_figure */
    const char *explanation; /* of the shades */
    const char *column;      /* what a cell of several steps is, after "A column is N steps: " */
    const char *head, *part; /* heads of table and column: "The ranks that ...", "longer by" */
    const char *note_head;
    void (*note)(tl_page *page, const void *arg, int32_t rank);
    const void *arg;

    /* Of the figures of excess and of waiting.  of_others: the figure shows time that all other ranks wait, and is left
     * out if there is none; else it shows excess, an upper bound of what a repair saves. */
    bool of_others;
    const char *most;   /* what is said of the rank with most: "works longest beyond its peers" */
    const char *unlike; /* what the largest share does not mean, if the verdict does not name its rank */
} figure;

static tl_phrase share_of(const tl_heat *h, size_t rank, bool sign)
{
    return tl_show_share(tl_heat_share(&h->of[rank].total), sign);
}

static void put_rank(tl_page *page, const figure *f, size_t rank)
{
    const tl_heat *h = f->picture.heat;
    const tl_heat_rank *of = &h->of[rank];
    const bool both = f->picture.shades.both;
    const tl_text host = tl_host_shown(page->hosts, h->ranks[rank]);
    tl_put(page->out, "<tr><th scope=\"row\" class=\"words\">%" PRId32 "</th>", h->ranks[rank]);
    if (page->hosts != NULL)
        tl_put(page->out, "<td class=\"words extra\">%.*s</td>", (int)host.n, host.p);
    tl_put(page->out, "<td>%s</td><td>%s</td><td class=\"extra\">%s in %s</td><td class=\"words\">",
           tl_duration(of->total.part_ns / of->total.n).text, share_of(h, rank, both).text,
           tl_show_share(of->most, both).text, tl_steps_of_column(h->steps, of->most_at).text);
    f->note(page, f->arg, h->ranks[rank]);
    fputs("</td></tr>\n", page->out);
}

static void put_worst(tl_page *page, const figure *f)
{
    enum { MORE = 5 }; /* ranks drawn besides the named ranks, as many as are read at a glance */
    const tl_heat *h = f->picture.heat;
    size_t kept = 0;
    tl_put(page->out,
           "<div class=\"wide\"><table><caption>%s, in the mean of a step</caption>\n<tr><th class=\"words\">rank</th>",
           f->head);
    fputs(page->hosts != NULL ? "<th class=\"words extra\">host</th>" : "", page->out);
    tl_put(page->out, "<th>%s</th><th>share</th><th class=\"extra\">most</th><th class=\"words\">%s</th></tr>\n",
           f->part, f->note_head);
    while (kept < h->nshown && h->of[h->order[kept]].keep)
        kept++;
    for (size_t i = 0; i < h->nranks && i < kept + MORE; i++) {
        const tl_heat_cell *total = &h->of[h->order[i]].total;
        if (total->n > 0 && (i < kept || tl_heat_share(total) >= TL_LEAST_SHOWN))
            put_rank(page, f, h->order[i]);
    }
    fputs("</table></div>\n", page->out);
}

/* Begins a figure up to its caption, which the caller writes before end_figure. */
static void begin_figure(tl_page *page, figure *f)
{
    enum { NARROW = 480 };
    int wide = tl_heat_width(&f->picture);
    if (wide <= NARROW)
        tl_put(page->out, "<figure class=\"pair\" style=\"grid-template-columns:%dpx minmax(0,1fr)\">\n<figcaption>",
               wide);
    else
        fputs("<figure>\n<figcaption>", page->out);
}

static void end_figure(tl_page *page, figure *f)
{
    const size_t run = f->picture.heat->steps->run;
    fputs("</figcaption>\n", page->out);
    tl_draw_heat(page->out, &f->picture);
    tl_put(page->out, "<p class=\"explains\">%s ", f->explanation);
    if (run > 1)
        tl_put(page->out, "A column is %zu steps: %s", run, f->column);
    fputs("</p>\n", page->out);
    put_worst(page, f);
    fputs("</figure>\n", page->out);
    free(f->picture.outlines.v);
}

/* ----------------------------------------------------------------------------------------------- excess and waiting */

/* Returns the *n distinct values of a column of integers, ascending; the caller frees the array. */
static int32_t *distinct(const tl_table *table, size_t offset, size_t *n)
{
    int32_t *values = tl_calloc(table->n + 1, sizeof *values);
    for (size_t i = 0; i < table->n; i++)
        memcpy(&values[i], (const char *)tl_table_row(table, i) + offset, sizeof *values);
    *n = tl_int_unique(values, table->n);
    return values;
}

/* Fills the columns of the steps of table blame_step; the caller frees them. */
static void steps_of_blame(const tl_table *table, tl_heat_steps *steps)
{
    size_t n;
    int32_t *values = distinct(table, offsetof(tl_blame_step, step), &n);
    tl_heat_steps_init(steps, n);
    for (size_t i = 0; i < n; i++)
        tl_heat_steps_add(steps, values[i]);
    free(values);
}

/* Puts how long others waited for the rank directly, and how much waiting it passed on. */
static void put_waits(tl_page *page, const void *arg, int32_t rank)
{
    const tl_table *charges = arg;
    int64_t direct_ns = 0, indirect_ns = 0;
    for (size_t i = tl_table_from_rank(charges, rank); i < charges->n; i++) {
        const tl_blame *row = tl_table_row(charges, i);
        if (row->to_rank != rank)
            break;
        direct_ns = tl_ns_sum(direct_ns, row->direct_ns);
        indirect_ns = tl_ns_sum(indirect_ns, row->indirect_ns);
    }
    tl_put(page->out, "%s", tl_duration(direct_ns).text);
    if (indirect_ns > 0)
        tl_put(page->out, ", passed on %s", tl_duration(indirect_ns).text);
}

/* Marks the rows of kept ranks, and outlines late cells. */
static void mark_late(figure *f, const tl_heat *h)
{
    for (size_t r = 0; r < h->nshown; r++) {
        const tl_heat_cell *cells = &h->cells[h->shown[r] * h->steps->n];
        f->picture.rows.named[r] = h->of[h->shown[r]].keep;
        for (size_t c = 0, n; c < h->steps->n; c += n) {
            for (n = 1; c + n < h->steps->n && cells[c + n].late == cells[c].late; n++)
                ;
            if (cells[c].late)
                tl_vec_push(&f->picture.outlines, (tl_outline){ .row = r, .first = c, .last = c + n - 1 });
        }
    }
}

static void put_blame(tl_page *page, const figure *what, const tl_heat *h)
{
    figure f = *what;
    size_t worst = tl_heat_worst(h, false);
    const bool any = h->of[worst].total.part_ns > 0;
    tl_phrase finding = { "No rank has more work than its peers." };
    if (what->of_others && !any)
        return;
    if (any)
        finding = tl_phrase_of("Rank %" PRId32 " %s, %s of all these steps; most in %s: %s of %s.", h->ranks[worst],
                               what->most, share_of(h, worst, false).text,
                               tl_steps_of_column(h->steps, h->of[worst].most_at).text,
                               tl_show_share(h->of[worst].most, false).text, h->steps->run > 1 ? "them" : "it");
    f.picture.heat = h;
    f.picture.rows = tl_heat_rows(h, page->hosts);
    mark_late(&f, h);
    f.picture.shades = tl_shades_of_parts();
    f.picture.finding = finding.text;
    f.picture.late = "a step in which the rank is late";
    f.note = put_waits;
    f.note_head = "GPU time that others waited for it";
    f.arg = tl_tables_get(page->in->tables, &tl_blame_schema);
    begin_figure(page, &f);
    tl_put(page->out, "<p>%s</p>\n", finding.text);
    /* what the largest share does not prove: that its rank is a culprit, or that the job would gain all of it */
    const tl_answers *a = page->answers;
    const tl_culprit *c = a->first;
    if (any && !tl_page_names(page, h->ranks[worst]))
        tl_put(page->out, "<p>%s</p>\n", what->unlike);
    else if (any && !what->of_others && c != NULL && c->rank == h->ranks[worst] && c->gain_ns > 0 &&
             tl_answers_share(a, c->gain_ns) < tl_heat_share(&h->of[worst].total))
        tl_put(page->out, "<p>Without it the job would gain %s: the others need not wait for all of it.</p>\n",
               tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
    end_figure(page, &f);
}

static void draw_blame(tl_page *page, const figure *what)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    if (table == NULL || page->answers->trust.nranks < 2)
        return;
    int64_t times = what->of_others ? tl_ns_max(1, (int64_t)page->answers->trust.nranks - 1) : 1;
    size_t nranks;
    int32_t *ranks = distinct(table, offsetof(tl_blame_step, rank), &nranks);
    tl_heat_steps steps;
    tl_heat heat;
    steps_of_blame(table, &steps);
    tl_heat_init(&heat, &steps, ranks, nranks);
    TL_ROWS (const tl_blame_step, row, table) {
        /* a rank that has less work than its peers has no excess */
        int64_t part_ns = tl_ns_max(0, what->of_others ? row->blame_ns : row->excess_ns);
        tl_heat_add(&heat, tl_index_of(ranks, nranks, row->rank), tl_heat_steps_of(&steps, row->step), part_ns,
                    tl_ns_within(row->step_ns, INT64_MAX / times) * times, row->flagged != 0);
    }
    for (size_t i = 0; i < nranks; i++)
        heat.of[i].keep = tl_page_names(page, ranks[i]);
    tl_heat_end(&heat);
    put_blame(page, what, &heat);
    tl_heat_free(&heat);
    tl_heat_steps_free(&steps);
    free(ranks);
}

void tl_draw_excess(tl_page *page)
{
    static const figure excess = {
        .most = "works longest beyond its peers",
        .unlike =
            "That alone is no verdict: some rank always works longest, by chance or where others wait for nothing.",
        .picture = { .id = "excess-map",
                     .title = "How much of each step a rank works longer than its peers",
                     .cell = "of the step" },
        .explanation = "The shade is by how much the rank's own work, of its device or its host, exceeds that "
                       "of its peers, in percent of the step. That is not what it costs: work that others need not "
                       "wait for costs the job nothing.",
        .column = "the excess in all of them, of their length.",
        .head = "The ranks that work longest beyond their peers",
        .part = "longer by"
    };
    draw_blame(page, &excess);
}

void tl_draw_waits(tl_page *page)
{
    static const figure waits = {
        .of_others = true,
        .most = "is waited for most",
        .unlike = "That is no verdict: it may wait for another rank itself, and be late for that.",
        .picture = { .id = "waits-map",
                     .title = "How much of each step the others wait for a rank",
                     .cell = "of the others' time" },
        .explanation = "The shade is how long all others wait for the rank, or for ranks that had waited for "
                       "it, in percent of their time in the step.",
        .column = "the waiting in all of them, of their length.",
        .head = "The ranks that are waited for most",
        .part = "waiting caused"
    };
    draw_blame(page, &waits);
}

/* ----------------------------------------------------------------------------------------------------------- phases */

enum { HEATS = 8 }; /* most phases with a picture, for a page below 3 MB */

typedef struct phase {
    char title[sizeof((tl_phase_verdict *)0)->phase]; /* as in table phase_verdict: may lack a final 0 */
    uint32_t name;                                    /* its NAME in tables phase and phase_step */
    int64_t total_ns;
    size_t first_verdict; /* the first row of phase_verdict about the phase; SIZE_MAX: none */
} phase;

typedef struct phases {
    TL_VEC(phase) v; /* phases with verdicts first; then by total_ns, descending.  The first HEATS have maps */
    size_t ndrawn;
    tl_heat heats[HEATS];
    tl_heat_steps steps;
    int32_t *ranks, step; /* ranks ascending; the step whose rows are being read */
    size_t nranks;
} phases;

static bool is_of(const tl_phase_verdict *verdict, const phase *of)
{
    return memcmp(verdict->phase, of->title, sizeof of->title) == 0;
}

TL_ORDER_BY(by_name, tl_phase, phase)

TL_SORT_BY(compare_drawn, phase, first_verdict, DOWN(total_ns))

static void find_phases(const tl_page *page, const tl_table *table, phases *p)
{
    const tl_answers *a = page->answers;
    const tl_phase *rows = tl_table_row(table, 0);
    uint32_t *order = tl_sorted_index(table->n, by_name, rows);
    TL_GROUPS (from, to, order, table->n, by_name, rows) {
        phase one = { .name = rows[order[from]].phase, .first_verdict = SIZE_MAX };
        tl_text title = page->in->name(page->in->result, one.name);
        tl_cell_text(one.title, sizeof one.title, title.p, title.n);
        for (size_t i = from; i < to; i++)
            one.total_ns = tl_ns_sum(one.total_ns, rows[order[i]].total_ns);
        for (size_t k = a->nphases; k-- > 1;) /* row 0 is about the job */
            one.first_verdict = is_of(&a->phases[k], &one) ? k : one.first_verdict;
        tl_vec_push(&p->v, one);
    }
    free(order);
    tl_vec_sort(&p->v, compare_drawn);
    p->ndrawn = p->v.n < HEATS ? p->v.n : HEATS;
    p->ranks = distinct(table, offsetof(tl_phase, rank), &p->nranks);
}

static void take_cell(void *of, const void *data)
{
    phases *p = of;
    const tl_phase_step *row = data;
    size_t at = 0, rank = tl_index_of(p->ranks, p->nranks, row->rank);
    if (p->steps.seen == 0 || row->step != p->step)
        tl_heat_steps_add(&p->steps, row->step);
    p->step = row->step;
    while (at < p->ndrawn && p->v.v[at].name != row->phase)
        at++;
    if (at < p->ndrawn && rank < p->nranks)
        tl_heat_add(&p->heats[at], rank, tl_heat_steps_of(&p->steps, row->step), row->excess_ns, row->baseline_ns,
                    false);
}

static void put_verdict(tl_page *page, const tl_phase_verdict *row)
{
    tl_say_phase_also(tl_page_say(page, "<p>"), row);
    tl_page_said(page, "</p>\n");
}

/* Marks the row of a verdict's rank, if it has one and is a straggler in any phase; outlines the verdict's steps if the
 * verdict is about this phase. */
static void mark_verdict(figure *f, const phase *of, const tl_phase_verdict *v)
{
    const tl_heat *h = f->picture.heat;
    const size_t ncolumns = h->steps->n;
    size_t row = 0, first = tl_heat_steps_of(h->steps, v->first_step), last = tl_heat_steps_of(h->steps, v->last_step);
    while (row < h->nshown && h->ranks[h->shown[row]] != v->rank)
        row++;
    if (row == h->nshown)
        return;
    f->picture.rows.named[row] |= v->verdict == TL_PHASE_STRAGGLER;
    if (is_of(v, of) && v->first_step >= 0 && first < ncolumns && first <= last)
        tl_vec_push(&f->picture.outlines, (tl_outline){ row, first, last < ncolumns ? last : ncolumns - 1,
                                                        v->verdict != TL_PHASE_STRAGGLER });
}

static tl_phrase finding_of(const tl_heat *h)
{
    size_t worst = tl_heat_worst(h, false), shortest = tl_heat_worst(h, true);
    if (worst == SIZE_MAX)
        return tl_phrase_of("No step is recorded.");
    return tl_phrase_of("Longest over all steps is rank %" PRId32
                        ": %s against its peers, at most %s in %s. Shortest is rank %" PRId32 ": %s.",
                        h->ranks[worst], share_of(h, worst, true).text, tl_show_share(h->of[worst].most, true).text,
                        tl_steps_of_column(h->steps, h->of[worst].most_at).text, h->ranks[shortest],
                        share_of(h, shortest, true).text);
}

/* Puts the phase verdict about the rank in this phase, for the table of worst ranks. */
static void put_note(tl_page *page, const void *arg, int32_t rank)
{
    const tl_answers *a = page->answers;
    size_t k = 1;
    while (k < a->nphases && !(a->phases[k].rank == rank && is_of(&a->phases[k], arg)))
        k++;
    if (k == a->nphases)
        fputs("-", page->out);
    else
        tl_put(page->out, "%s, %s in %" PRId64 " of %" PRId64 " steps", tl_phase_answer_labels[a->phases[k].verdict],
               tl_pattern_labels[a->phases[k].pattern], a->phases[k].steps_flagged, a->phases[k].steps);
}

static void put_phase(tl_page *page, const phases *p, size_t number)
{
    enum { SAID = 5 };
    const tl_answers *a = page->answers;
    const tl_heat *h = &p->heats[number];
    const phase *of = &p->v.v[number];
    const tl_phrase finding = finding_of(h), id = tl_phrase_of("phase%zu", number + 1),
                    title = tl_phrase_of("%.*s: how much longer or shorter than on its peers, rank by rank",
                                         (int)sizeof of->title, of->title);
    figure f = { .picture = { .heat = h,
                              .shades = tl_shades_by_scatter(h),
                              .rows = tl_heat_rows(h, page->hosts),
                              .id = id.text,
                              .title = title.text,
                              .finding = finding.text,
                              .cell = "against its peers",
                              .late = "from the first to the last step in which the rank is late",
                              .weak = "the same, of a rank that is longer and not held to be the cause" },
                 .explanation =
                     "The shade is what the rank takes longer, in percent of what its peers take in the same "
                     "step (the median of the ranks); blue is shorter, orange longer.",
                 .column = "what the rank takes longer in all of them, of what its peers take in all of them.",
                 .head = "The ranks that take longest",
                 .part = "longer by",
                 .note = put_note,
                 .arg = of,
                 .note_head = "found" };
    const bool folded = of->first_verdict == SIZE_MAX &&
                        memcmp(a->phases->waits_in, of->title, sizeof of->title) != 0; /* nothing is found in it */
    size_t said = 0;

    if (folded)
        tl_put(page->out, "<details><summary>%.*s: no rank is late</summary>\n", (int)sizeof of->title, of->title);
    begin_figure(page, &f);
    tl_put(page->out, "<h3>%s</h3>\n", title.text);
    for (size_t k = 1; k < a->nphases; k++) {
        mark_verdict(&f, of, &a->phases[k]);
        if (is_of(&a->phases[k], of) && said++ < SAID)
            put_verdict(page, &a->phases[k]);
    }
    if (said > SAID)
        tl_put(page->out, "<p>And %zu more ranks.</p>\n", said - SAID);
    if (said == 0)
        fputs("<p>In this phase no rank is found to be late.</p>\n", page->out);
    tl_put(page->out, "<p>%s</p>", finding.text);
    end_figure(page, &f);
    fputs(folded ? "</details>\n" : "", page->out);
}

static void put_phases(tl_page *page, const phases *p)
{
    const tl_answers *a = page->answers;
    fputs("<p>Where ranks wait for each other within a phase, the one that all wait for is the shortest: it comes "
          "last, and "
          "does not wait itself.</p>\n",
          page->out);
    for (size_t k = 1; k < a->nphases; k++) { /* verdicts without a picture, such as about time outside of phases */
        bool drawn = a->phases[k].rank < 0 || a->phases[k].phase[0] == '\0';
        for (size_t i = 0; i < p->ndrawn; i++)
            drawn |= is_of(&a->phases[k], &p->v.v[i]);
        if (!drawn)
            put_verdict(page, &a->phases[k]);
    }
    for (size_t i = 0; i < p->ndrawn; i++)
        put_phase(page, p, i);
    if (p->ndrawn == p->v.n)
        return;
    tl_put(page->out, "<p>%zu phases that take less time are not drawn: <code>tlmpi show %s phase</code>.</p>\n",
           p->v.n - p->ndrawn, page->file);
}

void tl_draw_phases(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_phase_schema);
    const tl_answers *a = page->answers;
    phases p = { .ndrawn = 0 };
    if (table == NULL || a->nphases == 0)
        return;
    find_phases(page, table, &p);
    tl_heat_steps_init(&p.steps, (size_t)a->phases[0].steps);
    for (size_t i = 0; i < p.ndrawn; i++)
        tl_heat_init(&p.heats[i], &p.steps, p.ranks, p.nranks);
    tl_page_each(page, &tl_phase_step_schema, take_cell, &p);
    for (size_t i = 0; i < p.ndrawn; i++) {
        for (size_t k = 1; k < a->nphases;
             k++) { /* ranks that the phase's verdicts name, and stragglers of any phase */
            size_t at = tl_index_of(p.ranks, p.nranks, a->phases[k].rank);
            if (at < p.nranks)
                p.heats[i].of[at].keep |= a->phases[k].verdict == TL_PHASE_STRAGGLER || is_of(&a->phases[k], &p.v.v[i]);
        }
        tl_heat_end(&p.heats[i]);
    }
    if (p.steps.seen > 0)
        put_phases(page, &p);
    for (size_t i = 0; i < p.ndrawn; i++)
        tl_heat_free(&p.heats[i]);
    tl_heat_steps_free(&p.steps);
    free(p.v.v);
    free(p.ranks);
}

/* ----------------------------------------------------------------------------------------------------- step by step */

/* How long each step is, which part of it the named ranks cost, and which steps the verdict names.
 *
 *        [##]      [##]                what the step would save if the named ranks were repaired
 *     [##[##][##][#[##]##]...          the rest of the step
 *       |band  |                       steps in which they are late
 */

enum { HEIGHT = 140, SIDE = 60 };

typedef struct column {
    int64_t step_ns, gain_ns; /* means over the column's steps */
    int64_t rows;
    bool late;
} column;

/* Returns the columns, of several steps each where the steps are more than the columns that fit. */
static column *gather(const tl_page *page, const tl_table *table, const tl_heat_steps *steps)
{
    column *columns = tl_calloc(steps->n + 1, sizeof *columns);
    TL_ROWS (const tl_blame_step, row, table) {
        column *c = &columns[tl_heat_steps_of(steps, row->step)];
        c->rows++;
        c->step_ns = tl_ns_sum(c->step_ns, row->step_ns); /* each rank's row has the same step_ns */
        c->gain_ns = tl_ns_sum(c->gain_ns, tl_ns_max(0, row->gain_ns));
        c->late |= row->flagged != 0 && tl_page_names(page, row->rank);
    }
    for (size_t i = 0; i < steps->n; i++) {
        const size_t left = steps->seen - i * steps->run, nsteps = left < steps->run ? left : steps->run;
        columns[i].step_ns /= columns[i].rows;
        /* gains of several ranks overlap: their sum may exceed the step */
        columns[i].gain_ns = tl_ns_min(columns[i].gain_ns / (int64_t)nsteps, columns[i].step_ns);
    }
    return columns;
}

static void draw_columns(FILE *out, const tl_heat_steps *steps, const column *columns, const tl_scale *scale)
{
    const size_t n = steps->n, stride = (n + 11) / 12;
    const double wide = 100 / (double)n, air = wide > 1.2 ? 0.15 * wide : 0;
    for (size_t i = 0; i < n; i++) /* the bands of late steps, drawn first, lie below the columns */
        if (columns[i].late)
            tl_put_box(out, "band", (double)i * wide, wide, 0, HEIGHT);
    for (size_t i = 0; i < n; i++) {
        const column *c = &columns[i];
        int whole = (int)lround(tl_place(scale, (double)c->step_ns) / 100 * HEIGHT),
            gain = (int)lround(tl_place(scale, (double)c->gain_ns) / 100 * HEIGHT);
        double x = (double)i * wide + air / 2;
        tl_put(out, "<g><title>%s: %s", tl_steps_of_column(steps, i).text, tl_duration(c->step_ns).text);
        if (c->gain_ns > 0)
            tl_put(out, ", %s less without the delay", tl_duration(c->gain_ns).text);
        fputs("</title>", out);
        tl_put_box(out, "compute", x, wide - air, HEIGHT - whole + gain, whole - gain);
        if (gain > 0)
            tl_put_box(out, "waiting", x, wide - air, HEIGHT - whole, gain);
        fputs("</g>\n", out);
        if (i % stride == 0)
            tl_put_at(out, "quiet middle", ((double)i + 0.5) * wide, HEIGHT + 14, "%" PRId32, steps->columns[i].first);
    }
}

void tl_draw_steps(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    FILE *out = page->out;
    if (table == NULL || page->answers->trust.nsteps < 2)
        return;
    tl_heat_steps steps;
    steps_of_blame(table, &steps);
    column *columns = gather(page, table, &steps);
    size_t longest = 0, shortest = 0;
    bool late = false, gain = false;
    for (size_t i = 0; i < steps.n; i++) {
        longest = columns[i].step_ns > columns[longest].step_ns ? i : longest;
        shortest = columns[i].step_ns < columns[shortest].step_ns ? i : shortest;
        late |= columns[i].late;
        gain |= columns[i].gain_ns > 0;
    }
    const tl_scale scale = { 0, 1.05 * (double)columns[longest].step_ns };
    if (steps.n > 1 && scale.to > 0) {
        const tl_phrase most = tl_duration(columns[longest].step_ns), least = tl_duration(columns[shortest].step_ns);
        const tl_phrase finding =
            strcmp(most.text, least.text) == 0
                ? tl_phrase_of("Each step takes %s.", most.text)
                : tl_phrase_of("Longest is step %" PRId32 " with %s, shortest step %" PRId32 " with %s.",
                               steps.columns[longest].first, most.text, steps.columns[shortest].first, least.text);
        tl_figure_begin(out, "course", "How long each step takes", finding.text, SIDE, HEIGHT + 32);
        tl_put_levels(out, &scale, HEIGHT);
        draw_columns(out, &steps, columns, &scale);
        tl_put_at(out, "quiet", 0, HEIGHT + 29, "%s", steps.run == 1 ? "step" : "first step of a column");
        const tl_meaning meanings[] = { { "compute", "length of the step" },
                                        { "waiting", "what it would gain without the delay, simulated" },
                                        { "band", "steps in which the ranks that are named are late" } };
        tl_figure_end(out, meanings, 3, (const bool[]){ true, gain, late }, NULL);
    }
    free(columns);
    tl_heat_steps_free(&steps);
}
