/* gains.c - what the job would gain: a waterfall of nested repairs.
 *
 *     as measured                                    343 s
 *     [########################################################]
 *     without the delay of rank 15                   275 s, 19.9 % less
 *     [#########################################][////////////]
 *     and without the others that are named          270 s, 1.3 % less
 *     [########################################][]
 *     and nothing slower than its peers              267 s, 1.1 % less
 *
 * Gains overlap and do not sum up.  So a bar begins where the one before ends only where the replay has simulated both
 * repairs together: all that are named contain the first of them, and the ideal contains all.
 */
#include "page.h"

#include "tlmpi/report/answers/tell.h"
#include <inttypes.h>

/* The smallest visible gain, as a share of the job. */
#define LEAST_SHARE 0.002

enum { ROW = 34, BAR = 10 }; /* pixels */

typedef struct bar {
    int64_t from_ns, time_ns; /* the job's time without the repair, and with it */
    tl_phrase words;
} bar;

typedef struct gains {
    const tl_table *rows;
    tl_scale scale;
    bar bars[4];
    size_t n;
} gains;

/* Adds a bar to the waterfall if the repair saves at least LEAST_SHARE of the job. */
static void add_saving_step(gains *g, int64_t time_ns, const char *words)
{
    int64_t from_ns = g->bars[g->n - 1].time_ns;
    if (time_ns > 0 && (double)(from_ns - time_ns) >= LEAST_SHARE * g->scale.to)
        g->bars[g->n++] = (bar){ from_ns, time_ns, tl_phrase_of("%s", words) };
}

static int64_t time_of(const gains *g, tl_scenario_kind scenario)
{
    const tl_whatif_row *row = tl_whatif_row_of(g->rows, scenario, -1);
    return row != NULL ? row->time_ns : 0;
}

/* Draws the job's time with the repair, and the saving; y is the text's baseline. */
static void draw_bar(FILE *out, const bar *b, const tl_scale *scale, int y)
{
    double x = tl_place(scale, (double)b->time_ns), to = tl_place(scale, (double)b->from_ns);
    const int64_t less_ns = b->from_ns - b->time_ns;
    tl_phrase less = { "" };
    if (less_ns > 0)
        less = tl_phrase_of(", %s less", tl_part_in_words(less_ns, (int64_t)scale->to).text);
    tl_put_at(out, "", 0, y + 11, "%s", b->words.text);
    tl_put_at(out, "end", 100, y + 11, "%s%s", tl_duration(b->time_ns).text, less.text);
    tl_put_box(out, "compute", 0, x, y + 16, BAR);
    if (to > x)
        tl_put_told_box(out, "waiting", x, to - x, y + 16, BAR, "%s less", tl_duration(less_ns).text);
}

void tl_draw_gains(tl_page *page)
{
    const tl_answers *a = page->answers;
    gains g = { .rows = tl_page_table(page, &tl_whatif_row_schema) };
    FILE *out = page->out;
    const int64_t now_ns = g.rows != NULL ? time_of(&g, TL_SCENARIO_UNCHANGED) : 0;
    if (now_ns <= 0 || !a->trust.simulated)
        return;
    g.scale.to = (double)now_ns;
    g.bars[g.n++] = (bar){ now_ns, now_ns, { "as measured" } };
    const tl_culprit *c = a->first;
    if (c != NULL && c->gain_ns > 0)
        add_saving_step(&g, now_ns - c->gain_ns,
                        tl_is_link(c)      ? "the first link that is named as usual"
                        : tl_is_several(c) ? "without the ranks that are named first"
                                           : tl_phrase_of("without the delay of rank %" PRId32, c->rank).text);
    add_saving_step(&g, time_of(&g, TL_SCENARIO_SUSPECTS), "and without the others that are named");
    add_saving_step(&g, time_of(&g, TL_SCENARIO_IDEAL),
                    g.n > 1 ? "and nothing slower than its peers" : "with nothing slower than its peers");
    if (g.n < 2)
        return;

    const int high = (int)g.n * ROW;
    const tl_phrase finding = tl_phrase_of("Simulated: %s as measured, %s if nothing were slower than its peers.",
                                           tl_duration(now_ns).text, tl_duration(time_of(&g, TL_SCENARIO_IDEAL)).text);
    tl_figure_begin(out, "gains", "What the job would take without its delays", finding.text, 0,
                    high + 4 + TL_AXIS_HEIGHT);
    tl_put_axis(out, &g.scale, high, 4);
    for (size_t i = 0; i < g.n; i++)
        draw_bar(out, &g.bars[i], &g.scale, (int)i * ROW);
    tl_figure_end(out,
                  (const tl_meaning[]){ { "compute", "what the job would take" }, { "waiting", "what it would gain" } },
                  2, NULL, NULL);
}
