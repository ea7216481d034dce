/* gains.c - what the job would gain: a waterfall of repairs that contain each other, and single repairs beside it.
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
#include "tlmpi/report/answers/say.h"
#include <inttypes.h>
#include <stdlib.h>

/* Single repairs that are drawn, those that gain most; a gain of less than that share of the job cannot be seen. */
enum { SINGLE = 6 };
#define LEAST_SHARE 0.002

enum { ROW = 34, BAR = 10 };

typedef struct gains {
    tl_page *page;
    const tl_table *rows;
    tl_scale scale;
    int64_t before_ns; /* the time of the row above in the waterfall */
    int y;
} gains;

/* Draws what the job would take, and how much less that is than `from_ns`. */
static void draw_row(gains *g, int64_t from_ns, int64_t time_ns, const char *words)
{
    FILE *out = g->page->out;
    double x = tl_place(&g->scale, (double)time_ns), to = tl_place(&g->scale, (double)from_ns);
    tl_put_at(out, "", 0, g->y + 11, "%s", words);
    if (from_ns > time_ns)
        tl_put_at(out, "end", 100, g->y + 11, "%s, %s less", tl_duration(time_ns).text,
                  tl_part_in_words(from_ns - time_ns, (int64_t)g->scale.to).text);
    else
        tl_put_at(out, "end", 100, g->y + 11, "%s", tl_duration(time_ns).text);
    tl_put_box(out, TL_CLASS_COMPUTE, 0, x, g->y + 16, BAR);
    if (to > x)
        tl_put_told_box(out, TL_CLASS_WAITING, x, to - x, g->y + 16, BAR, "%s less", tl_duration(from_ns - time_ns).text);
    g->y += ROW;
}

/* A step of the waterfall, if it is one. */
static void draw_step(gains *g, int64_t time_ns, const char *words)
{
    if (time_ns <= 0 || (double)(g->before_ns - time_ns) < LEAST_SHARE * g->scale.to)
        return;
    draw_row(g, g->before_ns, time_ns, words);
    g->before_ns = time_ns;
}

/* ------------------------------------------------------------------------------------------------- single repairs */

static bool is_single(const gains *g, const tl_whatif_row *row)
{
    bool of_one = row->scenario == TL_SCENARIO_CAUSE || row->scenario == TL_SCENARIO_GROUPS ||
                  row->scenario == TL_SCENARIO_BALANCED || row->scenario == TL_SCENARIO_HOST_FREE ||
                  row->scenario == TL_SCENARIO_HOST;
    return of_one && (double)row->gain_ns >= LEAST_SHARE * g->scale.to;
}

/* "transfers in data groups of 4 ranks as usual". */
static tl_phrase group_in_words(const gains *g, const tl_whatif_row *row)
{
    const tl_table *groups = tl_page_table(g->page, &tl_group_row_schema);
    const tl_group_row *of = groups != NULL ? tl_group_of(groups, row->group) : NULL;
    if (of == NULL || of->size < 0)
        return tl_phrase_of("transfers in groups like %" PRId32 " as usual", row->group);
    return tl_phrase_of("transfers in %s groups of %" PRId32 " ranks as usual",
                        of->parallelism != TL_PARALLEL_UNKNOWN ? tl_parallelism_labels[of->parallelism] : "all",
                        of->size);
}

static tl_phrase words_of(const gains *g, const tl_whatif_row *row)
{
    const tl_rank *rank = tl_rank_row(g->page->html->in.tables, row->rank);
    switch ((tl_scenario_kind)row->scenario) {
    case TL_SCENARIO_CAUSE:
        return tl_phrase_of("%s as usual on all ranks", tl_activity_labels[row->cause]);
    case TL_SCENARIO_GROUPS:
        return group_in_words(g, row);
    case TL_SCENARIO_BALANCED:
        return tl_phrase_of("all roles compute alike");
    case TL_SCENARIO_HOST:
        return tl_phrase_of("no rank late on %s%.*s", rank != NULL && rank->host[0] != '\0' ? "" : "that host",
                            rank != NULL ? (int)tl_host_length(rank->host, TL_HOST_SHOWN) : 0,
                            rank != NULL ? rank->host : "");
    default:
        return tl_phrase_of("hosts take no time");
    }
}

static int by_gain(const void *context, uint32_t a, uint32_t b)
{
    const tl_table *rows = context;
    const tl_whatif_row *x = tl_table_row(rows, a), *y = tl_table_row(rows, b);
    return TL_COMPARE(y->gain_ns, x->gain_ns);
}

static void draw_single(gains *g)
{
    uint32_t *index = tl_sorted_index(g->rows->n, by_gain, g->rows);
    bool begun = false;
    for (size_t i = 0, n = 0; i < g->rows->n && n < SINGLE; i++) {
        const tl_whatif_row *row = tl_table_row(g->rows, index[i]);
        if (!is_single(g, row))
            continue;
        if (!begun)
            tl_put_at(g->page->out, "quiet", 0, (g->y += 24) - 4, "Each of these alone; they overlap");
        begun = true;
        draw_row(g, (int64_t)g->scale.to, row->time_ns, words_of(g, row).text);
        n++;
    }
    free(index);
}

/* ------------------------------------------------------------------------------------------------------------ section */

static int64_t time_of(const gains *g, tl_scenario_kind scenario)
{
    const tl_whatif_row *row = tl_whatif_row_of(g->rows, scenario, -1);
    return row != NULL ? row->time_ns : 0;
}

void tl_draw_gains(tl_page *page)
{
    const tl_answers *a = page->html->in.answers;
    gains g = { .page = page, .rows = tl_page_table(page, &tl_whatif_row_schema) };
    FILE *out = page->out;
    if (g.rows == NULL || time_of(&g, TL_SCENARIO_UNCHANGED) <= 0 || !a->trust.simulated)
        return;
    g.before_ns = time_of(&g, TL_SCENARIO_UNCHANGED);
    g.scale.to = (double)g.before_ns;

    char *text = NULL;
    size_t n = 0;
    page->out = tl_page_memory(&text, &n);
    draw_row(&g, g.before_ns, g.before_ns, "as measured");
    if (a->nculprits > 0 && a->culprits[0].gain_ns > 0)
        draw_step(&g, g.before_ns - a->culprits[0].gain_ns,
                  tl_is_link(&a->culprits[0])      ? "the first link that is named as usual"
                  : tl_is_several(&a->culprits[0]) ? "without the ranks that are named first"
                                                   : tl_phrase_of("without the delay of rank %" PRId32,
                                                                  a->culprits[0].rank)
                                                         .text);
    draw_step(&g, time_of(&g, TL_SCENARIO_SUSPECTS), "and without the others that are named");
    draw_step(&g, time_of(&g, TL_SCENARIO_IDEAL), "and nothing slower than its peers");
    draw_single(&g);
    (void)fclose(page->out);
    page->out = out;
    if (g.y > ROW) {
        const tl_phrase finding = tl_phrase_of("Simulated: %s as measured, %s if nothing were slower than its peers.",
                                               tl_duration((int64_t)g.scale.to).text,
                                               tl_duration(time_of(&g, TL_SCENARIO_IDEAL)).text);
        tl_figure_begin(out, "gains", "What the job would take without its delays", finding.text, 0,
                        g.y + 4 + TL_AXIS_HEIGHT);
        tl_put_axis(out, &g.scale, g.y, 4, "ns");
        (void)fwrite(text, 1, n, out);
        tl_figure_end(out,
                      (const tl_meaning[]){ { TL_CLASS_COMPUTE, "what the job would take" },
                                            { TL_CLASS_WAITING, "what it would gain" } },
                      2, NULL, NULL);
    }
    free(text);
}
