/* quality.c - what the page rests on: the recording, the clocks, the words of the page, and how the result was made. */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/tell.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Most traces with a fault and most clocks shown; characters of a host's name. */
enum { FAULTS = 10, CLOCKS = 24, HOST = 16 };

/* -------------------------------------------------------------------------------------------------------- recording */

void tl_draw_recording(tl_page *page)
{
    const tl_answers *a = page->answers;
    const tl_table *ranks = tl_page_table(page, &tl_rank_schema);
    int64_t bytes = 0, events = 0, lost = 0;
    size_t whole = 0, nfaults = 0;
    tl_phrase words;
    if (ranks == NULL)
        return;
    TL_ROWS (const tl_rank, row, ranks) {
        bytes = tl_ns_sum(bytes, row->file_bytes);
        events = tl_ns_sum(events, row->events);
        lost = tl_ns_sum(lost, row->dropped);
        whole += row->status == TL_RANK_OK;
    }
    tl_put(page->out, "<p>%zu of %zu traces were read whole: %s, %s events, %s of them lost.</p>\n", whole, ranks->n,
           tl_bytes_in_words(bytes).text, tl_grouped(events).text, lost > 0 ? tl_grouped(lost).text : "none");
    TL_ROWS (const tl_rank, row, ranks)
        if ((row->status != TL_RANK_OK || row->dropped != 0) && nfaults++ < FAULTS)
            tl_put(page->out, "<p>Rank %" PRId32 ": %s%s%.*s</p>\n", row->rank, tl_rank_status_labels[row->status],
                   row->error[0] != '\0' ? ", " : "", (int)sizeof row->error, row->error);
    if (nfaults > FAULTS)
        tl_put(page->out, "<p>And %zu more ranks.</p>\n", nfaults - FAULTS);
    for (int defect = 0; a->health != NULL && defect < TL_NDEFECTS; defect++)
        if (tl_health_in_words(a->health, (tl_defect)defect, &words))
            tl_page_sentence(page, "<p>", "</p>\n", "%s.", words.text);
}

/* ----------------------------------------------------------------------------------------------------------- clocks */

static int by_offset(const void *a, const void *b)
{
    const tl_clock *x = a, *y = b;
    return TL_COMPARE(llabs(y->offset_ns), llabs(x->offset_ns));
}

/* Draws the offset of a clock and its uncertainty. */
static void draw_clock(FILE *out, const tl_clock *row, const tl_scale *scale, int y)
{
    double from = tl_place(scale, (double)(row->offset_ns - row->sigma_ns)),
           to = tl_place(scale, (double)(row->offset_ns + row->sigma_ns));
    tl_put(out, "<g><title>rank %" PRId32 ": %s ahead, to within %s%s</title>", row->rank,
           tl_duration(row->offset_ns).text, tl_duration(row->sigma_ns).text, row->applied != 0 ? ", corrected" : "");
    tl_put_box(out, "hidden", from, fmax(to - from, 0.3), y + 4, 8);
    tl_put(out, "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"%d\" r=\"3\"/>", tl_place(scale, (double)row->offset_ns),
           y + 8);
    if (row->host[0] != '\0')
        tl_put_side(out, "", y + 12, "%.*s", (int)tl_host_length(row->host, HOST), row->host);
    else
        tl_put_side(out, "", y + 12, "rank %" PRId32, row->rank);
    fputs("</g>\n", out);
}

void tl_draw_clocks(tl_page *page)
{
    enum { PITCH = 16, SIDE = 90 };
    const tl_table *table = tl_page_table(page, &tl_clock_schema);
    FILE *out = page->out;
    if (table == NULL)
        return;
    TL_VEC(tl_clock) clocks = { 0 };
    bool *seen = tl_calloc(table->n + 1, sizeof *seen);
    int64_t farthest_ns = 0, corrected = 0;
    TL_ROWS (const tl_clock, row, table) { /* the first rank of each clock */
        corrected += row->applied != 0;
        if (row->clock < 0 || (size_t)row->clock >= table->n || seen[row->clock])
            continue;
        seen[row->clock] = true;
        if (row->sigma_ns >= 0)
            farthest_ns = tl_ns_max(farthest_ns, tl_ns_sum(llabs(row->offset_ns), row->sigma_ns));
        tl_vec_push(&clocks, *row);
    }
    if (clocks.n > 1 && farthest_ns > 0) {
        tl_vec_sort(&clocks, by_offset);
        const size_t drawn = clocks.n < CLOCKS ? clocks.n : CLOCKS;
        const int bottom = (int)drawn * PITCH + 4;
        const tl_scale scale = { -(double)farthest_ns, (double)farthest_ns };
        const tl_phrase finding =
            tl_phrase_of("%zu clocks, the farthest %s from the middle one; times of %" PRId64 " rank%s were corrected.",
                         clocks.n, tl_duration(llabs(clocks.v[0].offset_ns)).text, corrected, tl_plural(corrected));
        tl_figure_begin(out, "offsets", "How far the clocks are ahead of the middle one", finding.text, SIDE,
                        bottom + TL_AXIS_HEIGHT);
        tl_put_axis(out, &scale, 0, bottom);
        for (size_t i = 0; i < drawn; i++)
            draw_clock(out, &clocks.v[i], &scale, (int)i * PITCH);
        tl_figure_end(out, NULL, 0, NULL, "The dot is the offset, the bar how far off that may be.");
    }
    free(clocks.v);
    free(seen);
}

/* --------------------------------------------------------------------------------------------------------- glossary */

/* Writes a word and its meaning. */
static void put_word(FILE *out, const char *word, const char *meaning)
{
    tl_put(out, "<dt>%s</dt><dd>%s</dd>\n", word, meaning);
}

/* Lists the words used on this page, with the manual's explanations. */
void tl_draw_glossary(tl_page *page)
{
    const tl_answers *a = page->answers;
    const tl_culprit *c = a->first;
    const bool steps = tl_page_table(page, &tl_blame_step_schema) != NULL, times = a->all.wall_ns > 0;
    FILE *out = page->out;
    fputs("<dl class=\"words\">\n", out);
    if (c != NULL && !tl_is_untraced(c))
        put_word(out, tl_cause_labels[c->cause], tl_cause_meanings[c->cause]);
    if (c != NULL)
        put_word(out, tl_pattern_labels[c->pattern], tl_pattern_meanings[c->pattern]);
    const uint8_t trust = a->phases_alone ? a->phases->confidence : (uint8_t)a->rank.confidence;
    put_word(out, tl_phrase_of("trust %s", tl_confidence_labels[trust]).text, tl_confidence_meanings[trust]);
    bool told[TL_PHASE_ONE_RANK + 1] = { false };
    for (size_t i = 1; i < a->nphases; i++) {
        const uint8_t verdict = a->phases[i].verdict;
        if (!told[verdict])
            put_word(out, tl_phase_answer_labels[verdict], tl_phase_answer_meanings[verdict]);
        told[verdict] = true;
    }
    const struct {
        bool is_there;
        const char *word, *column;
        const tl_schema *table;
    } columns[] = {
        { times, "exposed communication", "comm_exposed_ns", &tl_breakdown_schema },
        { times, "waiting", "comm_waiting_ns", &tl_breakdown_schema },
        { times, "transfer", "comm_transfer_ns", &tl_breakdown_schema },
        { times, "idle", "idle_ns", &tl_breakdown_schema },
        { steps, "longer than its peers (excess)", "excess_ns", &tl_blame_step_schema },
        { steps, "waiting caused", "blame_ns", &tl_blame_step_schema },
        { tl_page_table(page, &tl_whatif_row_schema) != NULL, "gain", "share", &tl_whatif_row_schema },
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].is_there)
            put_word(out, columns[i].word, tl_schema_field(columns[i].table, columns[i].column)->doc);
    fputs("</dl>\n", out);
}

/* ------------------------------------------------------------------------------------------------------- provenance */

void tl_draw_made(tl_page *page)
{
    const tl_html_input *in = page->in;
    const char *const rows[][2] = { { "Result", in->file },
                                    { "Command", in->command },
                                    { "When", in->when },
                                    { "On host", in->host },
                                    { "tlmpi", in->version } };
    fputs("<dl class=\"words\">\n", page->out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i][1] != NULL && rows[i][1][0] != '\0')
            put_word(page->out, rows[i][0], rows[i][1]);
    fputs("</dl>\n", page->out);
}
