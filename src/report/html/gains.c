/* gains.c - what the job would gain: a waterfall of nested repairs, and single repairs below it.
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

#include "tlmpi/base/group.h"
#include "tlmpi/report/answers/tell.h"
#include <inttypes.h>

/* Single repairs drawn, those with the largest gains; LEAST_SHARE: the smallest visible gain, as a share of the job. */
enum { SINGLE = 6 };
#define LEAST_SHARE 0.002

enum { ROW = 34, BAR = 10, HEADING = 24 }; /* pixels */

typedef struct bar {
    int64_t from_ns, time_ns; /* the job's time without the repair, and with it */
    tl_phrase words;
} bar;

typedef struct gains {
    const tl_table *rows;
    tl_scale scale;
    bar bars[4 + SINGLE];
    size_t n;
} gains;

/* Adds a bar to the waterfall if the repair saves at least LEAST_SHARE of the job. */
static void add_saving_step(gains *g, int64_t time_ns, const char *words)
{
    int64_t from_ns = g->bars[g->n - 1].time_ns;
    if (time_ns > 0 && (double)(from_ns - time_ns) >= LEAST_SHARE * g->scale.to)
        g->bars[g->n++] = (bar){ from_ns, time_ns, tl_phrase_of("%s", words) };
}

/* --------------------------------------------------------------------------------------------------- single repairs */

/* "transfers in data groups of 4 ranks as usual" */
static tl_phrase group_in_words(const tl_page *page, const tl_whatif_row *row)
{
    const tl_table *groups = tl_page_table(page, &tl_group_row_schema);
    const tl_group_row *of = groups != NULL ? tl_group_of(groups, row->group) : NULL;
    if (of == NULL || of->size < 0)
        return tl_phrase_of("transfers in groups like %" PRId32 " as usual", row->group);
    return tl_phrase_of("transfers in %s groups of %" PRId32 " ranks as usual",
                        of->parallelism != TL_PARALLEL_UNKNOWN ? tl_parallelism_labels[of->parallelism] : "all",
                        of->size);
}

/* Returns the repair of a row in words; empty if the row is no single repair to draw. */
static tl_phrase single_in_words(const tl_page *page, const tl_whatif_row *row)
{
    const tl_text host = tl_host_shown(tl_page_table(page, &tl_rank_schema), row->rank);
    switch ((tl_scenario_kind)row->scenario) {
    case TL_SCENARIO_CAUSE:
        return tl_phrase_of("%s as usual on all ranks", tl_activity_labels[row->cause]);
    case TL_SCENARIO_GROUPS:
        return group_in_words(page, row);
    case TL_SCENARIO_BALANCED:
        return tl_phrase_of("all roles compute alike");
    case TL_SCENARIO_HOST:
        return tl_phrase_of("no rank late on %.*s", host.n > 0 ? (int)host.n : 9, host.n > 0 ? host.p : "that host");
    case TL_SCENARIO_HOST_FREE:
        return tl_phrase_of("hosts take no time");
    default:
        return (tl_phrase){ "" };
    }
}

TL_ORDER_BY(by_gain, tl_whatif_row, DOWN(gain_ns))

static void add_single(const tl_page *page, gains *g)
{
    uint32_t *order = tl_sorted_index(g->rows->n, by_gain, g->rows->rows);
    for (size_t i = 0, first = g->n; i < g->rows->n && g->n < first + SINGLE; i++) {
        const tl_whatif_row *row = tl_table_row(g->rows, order[i]);
        const tl_phrase words = single_in_words(page, row);
        if (words.text[0] != '\0' && (double)row->gain_ns >= LEAST_SHARE * g->scale.to)
            g->bars[g->n++] = (bar){ (int64_t)g->scale.to, row->time_ns, words };
    }
    free(order);
}

/* ---------------------------------------------------------------------------------------------------------- section */

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
    if (a->nculprits > 0 && a->culprits[0].gain_ns > 0)
        add_saving_step(&g, now_ns - a->culprits[0].gain_ns,
                        tl_is_link(&a->culprits[0]) ? "the first link that is named as usual"
                        : tl_is_several(&a->culprits[0])
                            ? "without the ranks that are named first"
                            : tl_phrase_of("without the delay of rank %" PRId32, a->culprits[0].rank).text);
    add_saving_step(&g, time_of(&g, TL_SCENARIO_SUSPECTS), "and without the others that are named");
    add_saving_step(&g, time_of(&g, TL_SCENARIO_IDEAL),
                    g.n > 1 ? "and nothing slower than its peers" : "with nothing slower than its peers");
    const size_t steps = g.n;
    add_single(page, &g);
    if (g.n < 2)
        return;

    const int high = (int)g.n * ROW + (g.n > steps ? HEADING : 0);
    const tl_phrase finding = tl_phrase_of("Simulated: %s as measured, %s if nothing were slower than its peers.",
                                           tl_duration(now_ns).text, tl_duration(time_of(&g, TL_SCENARIO_IDEAL)).text);
    tl_figure_begin(out, "gains", "What the job would take without its delays", finding.text, 0,
                    high + 4 + TL_AXIS_HEIGHT);
    tl_put_axis(out, &g.scale, high, 4);
    for (size_t i = 0; i < g.n; i++) {
        const int y = (int)i * ROW + (i >= steps ? HEADING : 0);
        if (i == steps)
            tl_put_at(out, "quiet", 0, y - 4, "Each of these alone; they overlap");
        draw_bar(out, &g.bars[i], &g.scale, y);
    }
    tl_figure_end(out,
                  (const tl_meaning[]){ { "compute", "what the job would take" }, { "waiting", "what it would gain" } },
                  2, NULL, NULL);
}
