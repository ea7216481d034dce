/* phases.c - the third part: for each phase, how much longer or shorter it is on a rank than on its peers, step by step;
 * gathered from tables phase and phase_step in two passes. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/markup.h"
#include <inttypes.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------- 1. table phase */

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

static void take_phase(tl_timed *t, const tl_phase *row)
{
    size_t at = phase_of(t, row->phase);
    if (at == t->phases.n) {
        tl_timed_phase phase = { .name = row->phase, .first_verdict = SIZE_MAX, .heat = -1 };
        tl_text title = t->name(t->name_arg, row->phase);
        tl_cell_text(phase.title, sizeof phase.title, title.p, title.n);
        tl_vec_push(&t->phases, phase);
        t->at_phase = at;
    }
    t->phases.v[at].total_ns = tl_ns_sum(t->phases.v[at].total_ns, row->total_ns);
    tl_vec_push(&t->rows, (tl_timed_row){ (uint32_t)at, row->rank, row->excess_ns });
    if (t->ranks.n == 0 || t->ranks.v[t->ranks.n - 1] != row->rank)
        tl_vec_push(&t->ranks, row->rank);
}

static bool is_of(const tl_phase_verdict *verdict, const tl_timed_phase *phase)
{
    return memcmp(verdict->phase, phase->title, sizeof phase->title) == 0;
}

static int compare_drawn(const void *context, uint32_t a, uint32_t b)
{
    const tl_timed_phase *x = &((const tl_timed *)context)->phases.v[a], *y = &((const tl_timed *)context)->phases.v[b];
    if (x->first_verdict != y->first_verdict)
        return x->first_verdict < y->first_verdict ? -1 : 1;
    return TL_COMPARE(y->total_ns, x->total_ns);
}

static void choose_phases(tl_timed *t)
{
    uint32_t *index = tl_calloc(t->phases.n + 1, sizeof *index);
    for (size_t i = 0; i < t->phases.n; i++) {
        index[i] = (uint32_t)i;
        for (size_t k = t->nverdicts; k-- > 1;) /* the first row is about the job */
            if (is_of(&t->verdicts[k], &t->phases.v[i]))
                t->phases.v[i].first_verdict = k;
    }
    tl_sort_index(index, t->phases.n, compare_drawn, t);
    t->ndrawn = t->phases.n < TL_HEATS_OF_PHASES ? t->phases.n : TL_HEATS_OF_PHASES;
    for (size_t i = 0; i < t->ndrawn; i++) {
        t->drawn[i] = index[i];
        t->phases.v[index[i]].heat = (int)i;
    }
    free(index);
}

/* --------------------------------------------------------------------------------------------------------- 2. cells */

static void keep_named(const tl_timed *t, const tl_timed_phase *phase, bool *keep)
{
    for (size_t k = 1; k < t->nverdicts; k++) {
        const tl_phase_verdict *row = &t->verdicts[k];
        size_t at = tl_index_of(t->ranks.v, t->ranks.n, row->rank);
        if (at < t->ranks.n && (row->verdict == TL_PHASE_STRAGGLER || is_of(row, phase)))
            keep[at] = true;
    }
}

static void begin_heats(tl_timed *t)
{
    int64_t *excess = tl_calloc(t->ranks.n + 1, sizeof *excess);
    tl_heat_steps_init(&t->steps, t->nverdicts > 0 ? (size_t)t->verdicts[0].steps : 0);
    for (size_t i = 0; i < t->ndrawn; i++) {
        t->keep[i] = tl_calloc(t->ranks.n + 1, sizeof *t->keep[i]);
        for (size_t r = 0; r < t->ranks.n; r++)
            excess[r] = INT64_MIN;
        for (size_t k = 0; k < t->rows.n; k++)
            if (t->rows.v[k].phase == t->drawn[i])
                excess[tl_index_of(t->ranks.v, t->ranks.n, t->rows.v[k].rank)] = t->rows.v[k].excess_ns;
        keep_named(t, &t->phases.v[t->drawn[i]], t->keep[i]);
        tl_heat_init(&t->heats[i], &t->steps, t->ranks.v, t->ranks.n, t->keep[i], excess);
    }
    free(excess);
    free(t->rows.v);
    t->rows.v = NULL;
    t->rows.n = t->rows.cap = 0;
}

/* Returns the index of the row's rank, mostly the one after the last; nranks where table phase does not have it. */
static size_t rank_of(tl_timed *t, int32_t rank)
{
    size_t n = t->ranks.n, next = t->at_rank + 1 < n ? t->at_rank + 1 : 0;
    size_t at = n > 0 && t->ranks.v[next] == rank ? next : tl_index_of(t->ranks.v, n, rank);
    t->at_rank = at < n ? at : t->at_rank;
    return at;
}

static void take_cell(tl_timed *t, const tl_phase_step *row)
{
    if (tl_heat_steps_fills(&t->steps, row->step))
        for (size_t i = 0; i < t->ndrawn; i++)
            tl_heat_close(&t->heats[i]);
    tl_heat_steps_enter(&t->steps, row->step);
    size_t at = phase_of(t, row->phase), rank = rank_of(t, row->rank);
    int heat = at < t->phases.n ? t->phases.v[at].heat : -1;
    if (heat >= 0 && rank < t->ranks.n)
        tl_heat_add(&t->heats[heat], rank, row->excess_ns, row->baseline_ns, false);
}

/* ------------------------------------------------------------------------------------------------------------- feeds */

bool tl_timed_begin_phases(tl_html *html)
{
    html->timed = (tl_timed){ .verdicts = html->in.answers->phases,
                              .nverdicts = html->in.answers->nphases,
                              .name = html->in.name,
                              .name_arg = html->in.name_arg };
    return true;
}

void tl_timed_take_phase(tl_html *html, const void *row)
{
    take_phase(&html->timed, row);
}

bool tl_timed_begin_cells(tl_html *html)
{
    tl_timed *t = &html->timed;
    t->at_phase = 0;
    t->ranks.n = tl_int_unique(t->ranks.v, t->ranks.n);
    choose_phases(t);
    begin_heats(t);
    return t->phases.n > 0;
}

void tl_timed_take_cell(tl_html *html, const void *row)
{
    take_cell(&html->timed, row);
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
    for (size_t i = 0; i < TL_HEATS_OF_PHASES; i++) {
        tl_heat_free(&t->heats[i]);
        free(t->keep[i]);
    }
}

typedef struct drawn {
    tl_page *page;
    const tl_timed *timed;
    const tl_timed_phase *phase;
    const tl_heat *heat;
    bool *marked; /* by row */
    TL_VEC(tl_outline) outlines;
} drawn;

/* The row of the rank in the picture; nshown: it has none. */
static size_t row_of(const tl_heat *h, int32_t rank)
{
    size_t row = 0;
    while (row < h->nshown && h->ranks[h->shown[row]] != rank)
        row++;
    return row;
}

/* Stragglers of any phase are marked; of this one the steps are outlined. */
static void mark(drawn *d)
{
    const tl_heat *h = d->heat;
    d->marked = tl_calloc(h->nshown + 1, sizeof *d->marked);
    for (size_t k = 1; k < d->timed->nverdicts; k++) {
        const tl_phase_verdict *v = &d->timed->verdicts[k];
        size_t row = row_of(h, v->rank);
        if (row == h->nshown)
            continue;
        d->marked[row] = d->marked[row] || v->verdict == TL_PHASE_STRAGGLER;
        size_t first = tl_heat_steps_of(h->steps, v->first_step), last = tl_heat_steps_of(h->steps, v->last_step);
        if (!is_of(v, d->phase) || v->first_step < 0 || first == h->steps->n || first > last)
            continue;
        last = last < h->steps->n ? last : h->steps->n - 1;
        tl_vec_push(&d->outlines,
                    (tl_outline){ .row = row, .first = first, .last = last, .weak = v->verdict != TL_PHASE_STRAGGLER });
    }
}

/* ------------------------------------------------------------------------------------------------------------ words */

static tl_phrase finding_of(const tl_heat *h)
{
    size_t worst = tl_heat_worst(h), shortest = tl_heat_shortest(h);
    if (worst == SIZE_MAX)
        return tl_phrase_of("No step is recorded.");
    return tl_phrase_of("Longest over all steps is rank %" PRId32
                        ": %s against its peers, at most %s in %s. Shortest is rank %" PRId32 ": %s.",
                        h->ranks[worst], tl_heat_share_of(h, worst, true).text,
                        tl_show_share(h->most[worst], true).text, tl_steps_of_column(h->steps, h->most_at[worst]).text,
                        h->ranks[shortest], tl_heat_share_of(h, shortest, true).text);
}

static void put_verdict(tl_page *page, const tl_phase_verdict *row)
{
    tl_say_phase_also(tl_page_say(page, "<p>"), row);
    tl_page_said(page, "</p>\n");
}

/* What the tables say of the phase: as many rows as the picture marks. */
static void put_verdicts(const drawn *d)
{
    size_t said = 0, left = 0;
    for (size_t k = 1; k < d->timed->nverdicts; k++) {
        if (!is_of(&d->timed->verdicts[k], d->phase))
            continue;
        if (said < TL_WORST_ROWS)
            put_verdict(d->page, &d->timed->verdicts[k]);
        else
            left++;
        said++;
    }
    if (left > 0)
        fprintf(d->page->out, "<p>And %zu more ranks.</p>\n", left);
    if (said == 0)
        fputs("<p>In this phase no rank is found to be late.</p>\n", d->page->out);
}

/* What was found of a rank in this phase, in the small table. */
static void put_note(tl_page *page, const void *arg, int32_t rank)
{
    const drawn *d = arg;
    for (size_t k = 1; k < d->timed->nverdicts; k++) {
        const tl_phase_verdict *row = &d->timed->verdicts[k];
        if (row->rank != rank || !is_of(row, d->phase))
            continue;
        fprintf(page->out, "%s, %s in %" PRId64 " of %" PRId64 " steps", tl_phase_answer_labels[row->verdict],
                tl_pattern_labels[row->pattern], row->steps_flagged, row->steps);
        return;
    }
    fputs("-", page->out);
}

/* ---------------------------------------------------------------------------------------------------------- picture */

static void put_picture(const drawn *d, size_t number)
{
    FILE *out = d->page->out;
    const tl_phrase finding = finding_of(d->heat), id = tl_phrase_of("phase%zu", number + 1),
                    title = tl_phrase_of("%.*s: how much longer or shorter than on its peers, rank by rank",
                                         (int)sizeof d->phase->title, d->phase->title);
    tl_figure figure = { .picture = { .heat = d->heat,
                                      .shades = tl_shades_by_scatter(d->heat),
                                      .id = id.text,
                                      .title = title.text,
                                      .finding = finding.text,
                                      .cell = "against its peers",
                                      .late = "from the first to the last step in which the rank is late",
                                      .weak = "the same, of a rank that is longer and not held to be the cause",
                                      .named = d->marked,
                                      .outlines = d->outlines.v,
                                      .noutlines = d->outlines.n },
                         .keep = d->timed->keep[number],
                         .explanation = "The shade is what the rank takes longer, in percent of what its peers take in "
                                        "the same step (the median of the ranks); blue is shorter, orange longer.",
                         .column = "what the rank takes longer in all of them, of what its peers take in all of them.",
                         .head = "The ranks that take longest",
                         .part = "longer by",
                         .whole = "peers take",
                         .note = put_note,
                         .arg = d,
                         .note_head = "found" };

    tl_begin_figure(d->page, &figure);
    fputs("<h3>", out);
    tl_put_markup_word(out, title.text);
    fputs("</h3>\n", out);
    put_verdicts(d);
    fprintf(out, "<p>%s</p></figcaption>\n", finding.text);
    tl_put_figure(d->page, &figure);
}

static void put_phase(tl_page *page, size_t number)
{
    const tl_timed *t = &page->html->timed;
    drawn d = { .page = page, .timed = t, .phase = &t->phases.v[t->drawn[number]], .heat = &t->heats[number] };
    mark(&d);
    put_picture(&d, number);
    free(d.marked);
    free(d.outlines.v);
}

/* --------------------------------------------------------------------------------------------------- what is not drawn */

/* What was found where there is no picture, as in the time outside of phases. */
static void put_others_found(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    for (size_t k = 1; k < t->nverdicts; k++) {
        bool has = t->verdicts[k].rank < 0 || t->verdicts[k].phase[0] == '\0';
        for (size_t i = 0; i < t->ndrawn && !has; i++)
            has = is_of(&t->verdicts[k], &t->phases.v[t->drawn[i]]);
        if (!has)
            put_verdict(page, &t->verdicts[k]);
    }
}

static void put_others_named(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    size_t said = 0, left = t->phases.n - t->ndrawn;
    if (left == 0)
        return;
    fprintf(page->out, "<p>Not drawn, because they take less time: ");
    for (size_t i = 0; i < t->phases.n && said < TL_PHASES_SAID; i++) {
        if (t->phases.v[i].heat >= 0)
            continue;
        fputs(said++ > 0 ? ", " : "", page->out);
        tl_put_markup_cell(page->out, t->phases.v[i].title, sizeof t->phases.v[i].title);
    }
    if (left > said)
        fprintf(page->out, " and %zu more", left - said);
    fputs(". All of them: ", page->out);
    tl_put_command(page, "phase");
    fputs(".</p>\n", page->out);
}

void tl_draw_phases(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    if (t->ndrawn == 0 || t->steps.seen == 0)
        return;
    fputs("<p>Where ranks wait for each other within a phase, the one that all wait for is the shortest: it comes "
          "last, and "
          "does not wait itself.</p>\n",
          page->out);
    put_others_found(page);
    for (size_t i = 0; i < t->ndrawn; i++)
        put_phase(page, i);
    put_others_named(page);
}
