/* phases.c - the third part: for each phase, how much longer or shorter it is on a rank than on its peers, step by step. */
#include "page.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/markup.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdlib.h>

typedef struct drawn {
    tl_page *page;
    const tl_timed *timed;
    const tl_timed_phase *phase;
    const tl_heat *heat;
    bool *marked; /* by row */
    TL_VEC(tl_outline) outlines;
} drawn;

static bool is_told(const tl_phase_verdict *row)
{
    return row->rank >= 0 && row->phase[0] != '\0';
}

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
        if (!tl_timed_is_of(v, d->phase) || v->first_step < 0 || first == h->steps->n || first > last)
            continue;
        tl_vec_room(&d->outlines);
        last = last < h->steps->n ? last : h->steps->n - 1;
        d->outlines.v[d->outlines.n++] =
            (tl_outline){ .row = row, .first = first, .last = last, .weak = v->verdict != TL_PHASE_STRAGGLER };
    }
}

/* ------------------------------------------------------------------------------------------------------------ words */

/* Returns the share of the rank over all steps. */
static tl_shown share_of(const tl_heat *h, size_t rank)
{
    return tl_show_share(tl_heat_share(h->total[rank].part_ns, h->total[rank].whole_ns), true);
}

static void say_finding(const drawn *d, char *out, size_t size)
{
    size_t worst = tl_heat_worst(d->heat);
    if (worst == SIZE_MAX) {
        snprintf(out, size, "No step is recorded.");
        return;
    }
    size_t shortest = tl_heat_shortest(d->heat);
    snprintf(out, size,
             "Longest over all steps is rank %" PRId32
             ": %s against its peers, at most %s in %s. Shortest is rank %" PRId32 ": %s.",
             d->heat->ranks[worst], share_of(d->heat, worst).text, tl_show_share(d->heat->most[worst], true).text,
             tl_steps_of_column(d->heat->steps, d->heat->most_at[worst]).text, d->heat->ranks[shortest],
             share_of(d->heat, shortest).text);
}

static void put_verdict(tl_page *page, const tl_phase_verdict *row)
{
    tl_sentence s;
    fputs("<p class=\"answer\">", page->out);
    tl_say_phase_also(tl_sentence_begin(&s), row);
    tl_sentence_end(&s, page);
    fputs("</p>\n", page->out);
}

/* What the tables say of the phase: as many rows as the picture marks. */
static void put_verdicts(const drawn *d)
{
    size_t said = 0, left = 0;
    for (size_t k = 1; k < d->timed->nverdicts; k++) {
        if (!tl_timed_is_of(&d->timed->verdicts[k], d->phase))
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
        if (row->rank != rank || !tl_timed_is_of(row, d->phase))
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
    char finding[256], id[24], title[2 * sizeof d->phase->title + 64];
    const tl_picture picture = { .heat = d->heat,
                                 .shades = tl_shades_by_scatter(d->heat),
                                 .id = id,
                                 .title = title,
                                 .finding = finding,
                                 .cell = "against its peers",
                                 .late = "from the first to the last step in which the rank is late",
                                 .weak = "the same, of a rank that is longer and not held to be the cause",
                                 .named = d->marked,
                                 .outlines = d->outlines.v,
                                 .noutlines = d->outlines.n,
                                 .hosts = tl_page_hosts(d->page) };
    const tl_worst worst = { .picture = &picture,
                             .keep = d->timed->keep[number],
                             .part = "longer by",
                             .whole = "peers take",
                             .note = put_note,
                             .arg = d,
                             .note_head = "found" };

    snprintf(id, sizeof id, "phase%zu", number + 1);
    snprintf(title, sizeof title, "%.*s: how much longer or shorter than on its peers, rank by rank",
             (int)strnlen(d->phase->title, sizeof d->phase->title), d->phase->title);
    say_finding(d, finding, sizeof finding);
    fputs("<figure>\n<figcaption><h3>", out);
    tl_put_markup_word(out, title);
    fputs("</h3>\n", out);
    put_verdicts(d);
    fprintf(out, "<p>%s</p></figcaption>\n", finding);
    tl_draw_heat(out, &picture);
    fputs("<p class=\"source\">The shade is what the rank takes longer, in percent of what its peers take in the same "
          "step (the "
          "median of the ranks); blue is shorter, orange longer. ",
          out);
    if (d->heat->steps->run > 1)
        fprintf(
            out,
            "A column is %zu steps: what the rank takes longer in all of them, of what its peers take in all of them. ",
            d->heat->steps->run);
    tl_put_source(d->page, "phase_step", "phase_verdict");
    fputs("</p>\n", out);
    tl_put_worst(d->page, &worst);
    fputs("</figure>\n", out);
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
        bool has = !is_told(&t->verdicts[k]);
        for (size_t i = 0; i < t->ndrawn && !has; i++)
            has = tl_timed_is_of(&t->verdicts[k], &t->phases.v[t->drawn[i]]);
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

void tl_part_phases(tl_page *page)
{
    const tl_timed *t = &page->html->timed;
    if (t->ndrawn == 0 || t->steps.seen == 0) {
        fputs("<p>Nothing to draw: the result has no durations of phases, which libtlmpi_record writes without a "
              "profiler "
              "(.jsonl). Where the time of traces went, step by step: ",
              page->out);
        tl_put_command(page, "breakdown");
        fputs(".</p>\n", page->out);
        return;
    }
    fputs("<p>Where ranks wait for each other within a phase, the one that all wait for is the shortest: it comes "
          "last, and "
          "does not wait itself.</p>\n",
          page->out);
    put_others_found(page);
    for (size_t i = 0; i < t->ndrawn; i++)
        put_phase(page, i);
    put_others_named(page);
}
