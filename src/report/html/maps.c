/* maps.c - heat maps of ranks and steps: by how much the own work of a rank exceeds that of its peers, on which the verdict
 * rests; how much the others waited for it, which in a pipeline they do for ranks that wait themselves; and, for each
 * phase, how much longer or shorter it is on a rank than on its peers.
 *
 * Table blame_step is there as a whole, rank by rank, and is gathered in the order of steps; tables phase and phase_step
 * go by in two passes.
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ excess and waiting */

/* Which of the two. */
typedef struct blame_map {
    int64_t (*of)(const tl_blame_step *row); /* what of the step is shaded */
    bool of_others; /* it is time of all others, drawn where there is any; else it is what a repair would save, at most */
    const char *none, *most; /* what is said of no rank, and of the one with most: "works longest beyond its peers" */
    const char *unlike;      /* what that does not mean, where no verdict names that rank */
    tl_figure figure;
} blame_map;

/* A rank that has less work than its peers has no excess. */
static int64_t excess_of(const tl_blame_step *row)
{
    return tl_ns_max(0, row->excess_ns);
}

static int64_t waits_of(const tl_blame_step *row)
{
    return tl_ns_max(0, row->blame_ns);
}

TL_ORDER_BY(compare_steps, tl_blame_step, step, rank)

uint32_t *tl_index_by_step(const tl_table *table, tl_heat_steps *steps)
{
    const tl_blame_step *rows = tl_table_row(table, 0);
    uint32_t *index = tl_sorted_index(table->n, compare_steps, rows);
    size_t nsteps = 0;
    for (size_t i = 0; i < table->n; i++)
        nsteps += i == 0 || rows[index[i]].step != rows[index[i - 1]].step;
    tl_heat_steps_init(steps, nsteps);
    return index;
}

/* Puts the waiting of others for the rank (direct), and their waiting passed on from ranks that had waited for it. */
static void put_waits(tl_page *page, const void *arg, int32_t rank)
{
    const tl_table *charges = arg;
    int64_t direct_ns = 0, indirect_ns = 0;
    const tl_blame *row = tl_row_of_rank(charges, rank), *end = tl_table_row(charges, charges->n);
    for (; row != NULL && row < end && row->to_rank == rank; row++) {
        direct_ns = tl_ns_sum(direct_ns, row->direct_ns);
        indirect_ns = tl_ns_sum(indirect_ns, row->indirect_ns);
    }
    fputs(tl_show_time(direct_ns).text, page->out);
    if (indirect_ns > 0)
        fprintf(page->out, ", passed on %s", tl_show_time(indirect_ns).text);
}

/* Puts what the largest share of a rank does not mean: a verdict, or what it costs. */
static void put_cost(tl_page *page, const blame_map *what, const tl_heat *h, size_t worst)
{
    const tl_answers *a = page->html->in.answers;
    const tl_culprit *c = a->nculprits > 0 ? &a->culprits[0] : NULL;
    const tl_heat_sum *sum = &h->of[worst].total;
    if (!tl_html_names(page->html, h->ranks[worst]))
        fprintf(page->out, "<p>%s</p>\n", what->unlike);
    else if (!what->of_others && c != NULL && c->rank == h->ranks[worst] && c->gain_ns > 0 &&
             tl_answers_share(a, c->gain_ns) < tl_heat_share(sum->part_ns, sum->whole_ns))
        fprintf(page->out, "<p>Without it the job would gain %s: the others need not wait for all of it.</p>\n",
                tl_share_in_words(tl_answers_share(a, c->gain_ns)).text);
}

/* Draws the map of a heat that has its cells; rows of ranks that the verdict names are marked, and their late cells
 * outlined. */
static void put_blame(tl_page *page, const blame_map *what, const tl_heat *h)
{
    tl_figure f = what->figure;
    f.marked = tl_calloc(h->nshown + 1, sizeof *f.marked);
    for (size_t r = 0; r < h->nshown; r++) {
        const tl_heat_cell *cells = tl_heat_row(h, r);
        f.marked[r] = h->of[h->shown[r]].keep;
        for (size_t c = 0, n; c < h->steps->n; c += n) {
            for (n = 1; c + n < h->steps->n && cells[c + n].late == cells[c].late; n++)
                ;
            if (cells[c].late)
                tl_vec_push(&f.outlines, (tl_outline){ .row = r, .first = c, .last = c + n - 1 });
        }
    }
    size_t worst = tl_heat_worst(h, false);
    bool any = worst != SIZE_MAX && h->of[worst].total.part_ns > 0;
    tl_phrase finding = tl_phrase_of("%s", what->none);
    if (any)
        finding = tl_phrase_of("Rank %" PRId32 " %s, %s of all these steps; most in %s: %s of %s.", h->ranks[worst],
                               what->most, tl_heat_share_of(h, worst, false).text,
                               tl_steps_of_column(h->steps, h->of[worst].most_at).text,
                               tl_show_share(h->of[worst].most, false).text, h->steps->run > 1 ? "them" : "it");
    f.picture.heat = h;
    f.picture.shades = tl_shades_of_parts();
    f.picture.finding = finding.text;
    f.picture.late = "a step in which the rank is late";
    f.note = put_waits;
    f.note_head = "GPU time that others waited for it";
    f.arg = tl_tables_get(page->html->in.tables, &tl_blame_schema);
    tl_begin_figure(page, &f);
    fprintf(page->out, "<p>%s</p>\n", finding.text);
    if (any)
        put_cost(page, what, h, worst);
    tl_end_figure(page, &f);
}

static void draw_blame(tl_page *page, const blame_map *what)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    if (table == NULL)
        return;
    const tl_blame_step *rows = tl_table_row(table, 0);
    int64_t times = what->of_others ? tl_ns_max(1, (int64_t)page->html->in.answers->trust.nranks - 1) : 1;
    tl_heat_steps steps;
    uint32_t *index = tl_index_by_step(table, &steps);
    int32_t *ranks = tl_calloc(table->n, sizeof *ranks);
    for (size_t i = 0; i < table->n; i++)
        ranks[i] = rows[i].rank;
    size_t nranks = tl_int_unique(ranks, table->n);
    int64_t all_ns = 0;
    tl_heat heat;
    tl_heat_init(&heat, &steps, ranks, nranks);
    for (size_t i = 0; i < table->n; i++) {
        tl_heat_rank *of = &heat.of[tl_index_of(ranks, nranks, rows[i].rank)];
        of->by_ns = tl_ns_sum(of->by_ns, what->of(&rows[i]));
        all_ns = tl_ns_sum(all_ns, what->of(&rows[i]));
    }
    for (size_t i = 0; i < nranks; i++)
        heat.of[i].keep = tl_html_names(page->html, ranks[i]);
    tl_heat_choose(&heat);
    for (size_t i = 0; i < table->n; i++) {
        const tl_blame_step *row = &rows[index[i]];
        if (tl_heat_steps_fills(&steps, row->step))
            tl_heat_close(&heat);
        tl_heat_steps_enter(&steps, row->step);
        tl_heat_add(&heat, tl_index_of(ranks, nranks, row->rank), what->of(row),
                    tl_ns_within(row->step_ns, INT64_MAX / times) * times, row->flagged != 0);
    }
    tl_heat_end(&heat);
    if (!what->of_others || all_ns > 0)
        put_blame(page, what, &heat);
    tl_heat_free(&heat);
    tl_heat_steps_free(&steps);
    free(index);
    free(ranks);
}

void tl_draw_excess(tl_page *page)
{
    static const blame_map excess = {
        .of = excess_of,
        .none = "No rank has more work than its peers.",
        .most = "works longest beyond its peers",
        .unlike = "That alone is no verdict: some rank always works longest, by chance or where others wait for nothing.",
        .figure = { .picture = { .id = "excess-map",
                                 .title = "How much of each step a rank works longer than its peers",
                                 .cell = "of the step" },
                    .explanation = "The shade is by how much the rank's own work, of its device or its host, exceeds that "
                                   "of its peers, in percent of the step. That is not what it costs: work that others need not "
                                   "wait for costs the job nothing.",
                    .column = "the excess in all of them, of their length.",
                    .head = "The ranks that work longest beyond their peers",
                    .part = "longer by",
                    .whole = "the step takes" }
    };
    draw_blame(page, &excess);
}

void tl_draw_waits(tl_page *page)
{
    static const blame_map waits = {
        .of = waits_of,
        .of_others = true,
        .none = "No rank is waited for.",
        .most = "is waited for most",
        .unlike = "That is no verdict: it may wait for another rank itself, and be late for that.",
        .figure = { .picture = { .id = "waits-map",
                                 .title = "How much of each step the others wait for a rank",
                                 .cell = "of the others' time" },
                    .explanation = "The shade is how long all others wait for the rank, or for ranks that had waited for "
                                   "it, in percent of their time in the step.",
                    .column = "the waiting in all of them, of their length.",
                    .head = "The ranks that are waited for most",
                    .part = "waiting caused",
                    .whole = "the others have" }
    };
    draw_blame(page, &waits);
}

/* -------------------------------------------------------------------------------------------------- phases: gathering */

/* Which phase has that name, or the number of phases.  Rows come with the phases in one order, so it mostly is the one
 * after that of the row before. */
static size_t phase_of(tl_timed *t, uint32_t name)
{
    for (size_t i = 0; i < t->phases.n; i++) {
        size_t at = (t->at_phase + i) % t->phases.n;
        if (t->phases.v[at].name == name)
            return t->at_phase = at;
    }
    return t->phases.n;
}

void tl_timed_take_phase(tl_html *html, const void *data)
{
    const tl_phase *row = data;
    tl_timed *t = &html->timed;
    size_t at = phase_of(t, row->phase);
    if (at == t->phases.n) {
        tl_timed_phase phase = { .name = row->phase, .first_verdict = SIZE_MAX };
        tl_text title = html->in.name(html->in.name_arg, row->phase);
        tl_cell_text(phase.title, sizeof phase.title, title.p, title.n);
        tl_vec_push(&t->phases, phase);
        t->at_phase = at;
    }
    t->phases.v[at].total_ns = tl_ns_sum(t->phases.v[at].total_ns, row->total_ns);
    tl_vec_push(&t->rows, (tl_timed_row){ row->phase, row->rank, row->excess_ns });
    if (t->ranks.n == 0 || t->ranks.v[t->ranks.n - 1] != row->rank)
        tl_vec_push(&t->ranks, row->rank);
}

static bool is_of(const tl_phase_verdict *verdict, const tl_timed_phase *phase)
{
    return memcmp(verdict->phase, phase->title, sizeof phase->title) == 0;
}

/* Phases of verdicts first, then those with most time. */
static int compare_drawn(const void *a, const void *b)
{
    const tl_timed_phase *x = a, *y = b;
    if (x->first_verdict != y->first_verdict)
        return x->first_verdict < y->first_verdict ? -1 : 1;
    return TL_COMPARE(y->total_ns, x->total_ns);
}

/* Begins the map of phase i: the ranks that its verdicts name are kept, and stragglers of any phase. */
static void begin_heat(tl_timed *t, size_t i, const tl_answers *a)
{
    const tl_timed_phase *phase = &t->phases.v[i];
    tl_heat *h = &t->heats[i];
    tl_heat_init(h, &t->steps, t->ranks.v, t->ranks.n);
    for (size_t r = 0; r < t->ranks.n; r++)
        h->of[r].by_ns = INT64_MIN;
    TL_EACH (const tl_timed_row, row, t->rows)
        if (row->phase == phase->name)
            h->of[tl_index_of(t->ranks.v, t->ranks.n, row->rank)].by_ns = row->excess_ns;
    for (size_t k = 1; k < a->nphases; k++) { /* the first row is about the job */
        const tl_phase_verdict *row = &a->phases[k];
        size_t at = tl_index_of(t->ranks.v, t->ranks.n, row->rank);
        if (at < t->ranks.n && (row->verdict == TL_PHASE_STRAGGLER || is_of(row, phase)))
            h->of[at].keep = true;
    }
    tl_heat_choose(h);
}

/* Chooses the phases with a map. */
bool tl_timed_begin_cells(tl_html *html)
{
    const tl_answers *a = html->in.answers;
    tl_timed *t = &html->timed;
    t->at_phase = 0;
    t->ranks.n = tl_int_unique(t->ranks.v, t->ranks.n);
    TL_EACH (tl_timed_phase, phase, t->phases)
        for (size_t k = a->nphases; k-- > 1;)
            if (is_of(&a->phases[k], phase))
                phase->first_verdict = k;
    tl_vec_sort(&t->phases, compare_drawn);
    t->ndrawn = t->phases.n < TL_HEATS_OF_PHASES ? t->phases.n : TL_HEATS_OF_PHASES;
    tl_heat_steps_init(&t->steps, a->nphases > 0 ? (size_t)a->phases[0].steps : 0);
    for (size_t i = 0; i < t->ndrawn; i++)
        begin_heat(t, i, a);
    return t->phases.n > 0;
}

void tl_timed_take_cell(tl_html *html, const void *data)
{
    const tl_phase_step *row = data;
    tl_timed *t = &html->timed;
    if (tl_heat_steps_fills(&t->steps, row->step))
        for (size_t i = 0; i < t->ndrawn; i++)
            tl_heat_close(&t->heats[i]);
    tl_heat_steps_enter(&t->steps, row->step);
    size_t at = phase_of(t, row->phase), rank = tl_index_of(t->ranks.v, t->ranks.n, row->rank);
    if (at < t->ndrawn && rank < t->ranks.n)
        tl_heat_add(&t->heats[at], rank, row->excess_ns, row->baseline_ns, false);
}

void tl_timed_end(tl_timed *t)
{
    for (size_t i = 0; i < t->ndrawn; i++)
        tl_heat_end(&t->heats[i]);
}

void tl_timed_free(tl_timed *t)
{
    free(t->phases.v);
    free(t->rows.v);
    free(t->ranks.v);
    tl_heat_steps_free(&t->steps);
    for (size_t i = 0; i < TL_HEATS_OF_PHASES; i++)
        tl_heat_free(&t->heats[i]);
}

/* ---------------------------------------------------------------------------------------------------- phases: drawing */

static void put_verdict(tl_page *page, const tl_phase_verdict *row)
{
    tl_say_phase_also(tl_page_say(page, "<p>"), row);
    tl_page_said(page, "</p>\n");
}

/* Marks the row of a verdict's rank, where it has one and is a straggler, in this or another phase; in its own phase the
 * steps of the verdict are outlined. */
static void mark(tl_figure *f, const tl_timed_phase *phase, const tl_phase_verdict *v)
{
    const tl_heat *h = f->picture.heat;
    size_t row = 0, first = tl_heat_steps_of(h->steps, v->first_step), last = tl_heat_steps_of(h->steps, v->last_step);
    while (row < h->nshown && h->ranks[h->shown[row]] != v->rank)
        row++;
    if (row == h->nshown)
        return;
    f->marked[row] |= v->verdict == TL_PHASE_STRAGGLER;
    if (is_of(v, phase) && v->first_step >= 0 && first < h->steps->n && first <= last)
        tl_vec_push(&f->outlines, (tl_outline){ .row = row,
                                                .first = first,
                                                .last = last < h->steps->n ? last : h->steps->n - 1,
                                                .weak = v->verdict != TL_PHASE_STRAGGLER });
}

static tl_phrase finding_of(const tl_heat *h)
{
    size_t worst = tl_heat_worst(h, false), shortest = tl_heat_worst(h, true);
    if (worst == SIZE_MAX)
        return tl_phrase_of("No step is recorded.");
    return tl_phrase_of("Longest over all steps is rank %" PRId32
                        ": %s against its peers, at most %s in %s. Shortest is rank %" PRId32 ": %s.",
                        h->ranks[worst], tl_heat_share_of(h, worst, true).text,
                        tl_show_share(h->of[worst].most, true).text,
                        tl_steps_of_column(h->steps, h->of[worst].most_at).text,
                        h->ranks[shortest], tl_heat_share_of(h, shortest, true).text);
}

/* What was found of a rank in this phase, in the small table. */
static void put_note(tl_page *page, const void *arg, int32_t rank)
{
    const tl_answers *a = page->html->in.answers;
    for (size_t k = 1; k < a->nphases; k++) {
        const tl_phase_verdict *row = &a->phases[k];
        if (row->rank != rank || !is_of(row, arg))
            continue;
        fprintf(page->out, "%s, %s in %" PRId64 " of %" PRId64 " steps", tl_phase_answer_labels[row->verdict],
                tl_pattern_labels[row->pattern], row->steps_flagged, row->steps);
        return;
    }
    fputs("-", page->out);
}

static void put_phase(tl_page *page, size_t number)
{
    const tl_timed *t = &page->html->timed;
    const tl_answers *a = page->html->in.answers;
    FILE *out = page->out;
    const tl_heat *h = &t->heats[number];
    const tl_timed_phase *phase = &t->phases.v[number];
    const tl_phrase finding = finding_of(h), id = tl_phrase_of("phase%zu", number + 1),
                    title = tl_phrase_of("%.*s: how much longer or shorter than on its peers, rank by rank",
                                         (int)sizeof phase->title, phase->title);
    tl_figure f = { .picture = { .heat = h,
                                 .shades = tl_shades_by_scatter(h),
                                 .id = id.text,
                                 .title = title.text,
                                 .finding = finding.text,
                                 .cell = "against its peers",
                                 .late = "from the first to the last step in which the rank is late",
                                 .weak = "the same, of a rank that is longer and not held to be the cause" },
                    .marked = tl_calloc(h->nshown + 1, sizeof *f.marked),
                    .explanation = "The shade is what the rank takes longer, in percent of what its peers take in the same "
                                   "step (the median of the ranks); blue is shorter, orange longer.",
                    .column = "what the rank takes longer in all of them, of what its peers take in all of them.",
                    .head = "The ranks that take longest",
                    .part = "longer by",
                    .whole = "peers take",
                    .note = put_note,
                    .arg = phase,
                    .note_head = "found" };
    size_t said = 0;

    tl_begin_figure(page, &f);
    fputs("<h3>", out);
    tl_put_markup_word(out, title.text);
    fputs("</h3>\n", out);
    for (size_t k = 1; k < a->nphases; k++) {
        mark(&f, phase, &a->phases[k]);
        if (is_of(&a->phases[k], phase) && said++ < TL_WORST_ROWS)
            put_verdict(page, &a->phases[k]);
    }
    if (said > TL_WORST_ROWS)
        fprintf(out, "<p>And %zu more ranks.</p>\n", said - TL_WORST_ROWS);
    if (said == 0)
        fputs("<p>In this phase no rank is found to be late.</p>\n", out);
    fprintf(out, "<p>%s</p>", finding.text);
    tl_end_figure(page, &f);
}

/* What was found where there is no picture, as in the time outside of phases. */
static void put_others_found(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    const tl_answers *a = page->html->in.answers;
    for (size_t k = 1; k < a->nphases; k++) {
        bool has = a->phases[k].rank < 0 || a->phases[k].phase[0] == '\0';
        for (size_t i = 0; i < t->ndrawn && !has; i++)
            has = is_of(&a->phases[k], &t->phases.v[i]);
        if (!has)
            put_verdict(page, &a->phases[k]);
    }
}

static void put_others_named(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    size_t at = t->ndrawn;
    if (at == t->phases.n)
        return;
    fprintf(page->out, "<p>Not drawn, because they take less time: ");
    for (; at < t->phases.n && at < t->ndrawn + TL_PHASES_SAID; at++) {
        fputs(at > t->ndrawn ? ", " : "", page->out);
        tl_put_markup_cell(page->out, t->phases.v[at].title, sizeof t->phases.v[at].title);
    }
    if (at < t->phases.n)
        fprintf(page->out, " and %zu more", t->phases.n - at);
    fputs(". All of them: ", page->out);
    tl_put_command(page, "phase");
    fputs(".</p>\n", page->out);
}

void tl_draw_phases(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    if (t->ndrawn == 0 || t->steps.seen == 0)
        return;
    fputs("<p>Where ranks wait for each other within a phase, the one that all wait for is the shortest: it comes last, and "
          "does not wait itself.</p>\n",
          page->out);
    put_others_found(page);
    for (size_t i = 0; i < t->ndrawn; i++)
        put_phase(page, i);
    put_others_named(page);
}
