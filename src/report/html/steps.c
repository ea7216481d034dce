/* steps.c - how long each step is, what its part is that the named ranks cost, and which steps the verdict names.
 *
 *        [##]      [##]                what repairing those who are named would save in the step
 *     [##[##][##][#[##]##]...          the rest of the step
 *       |band  |                       steps in which they are late
 */
#include "page.h"

#include "tlmpi/base/group.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { HEIGHT = 140, SIDE = 60, STEPS_MOST = 240 };

typedef struct column {
    int32_t first, last;
    int64_t step_ns, gain_ns; /* of a step, in the mean */
    int64_t n;
    bool late;
} column;

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_blame_step *x = (const tl_blame_step *)context + a, *y = (const tl_blame_step *)context + b;
    return TL_COMPARE(x->step, y->step);
}

/* The steps, several of them a column where there are more than have room; returns how many columns. */
static size_t gather(const tl_page *page, const tl_table *table, column *columns)
{
    const tl_blame_step *rows = tl_table_row(table, 0);
    uint32_t *index = tl_sorted_index(table->n, by_step, rows);
    size_t nsteps = 0, seen = 0, n = 0;
    for (size_t i = 0; i < table->n; i++)
        nsteps += i == 0 || rows[index[i]].step != rows[index[i - 1]].step;
    size_t run = (nsteps + STEPS_MOST - 1) / STEPS_MOST;
    for (size_t i = 0; i < table->n; i++) {
        const tl_blame_step *row = &rows[index[i]];
        if (i == 0 || row->step != rows[index[i - 1]].step) {
            n += seen++ % run == 0;
            column *c = &columns[n - 1];
            if (c->n++ == 0)
                c->first = row->step;
            c->last = row->step;
            c->step_ns = tl_ns_sum(c->step_ns, row->step_ns);
        }
        columns[n - 1].gain_ns = tl_ns_sum(columns[n - 1].gain_ns, tl_ns_max(0, row->gain_ns));
        columns[n - 1].late |= row->flagged != 0 && tl_html_names(page->html, row->rank);
    }
    free(index);
    for (size_t i = 0; i < n; i++) {
        columns[i].step_ns /= columns[i].n;
        /* gains of several ranks overlap */
        columns[i].gain_ns = tl_ns_min(columns[i].gain_ns / columns[i].n, columns[i].step_ns);
    }
    return n;
}

static void draw_columns(FILE *out, const column *columns, size_t n, const tl_scale *scale)
{
    double wide = 100 / (double)n, air = wide > 1.2 ? 0.15 * wide : 0;
    for (size_t i = 0, run; i < n; i += run) { /* bands of late steps lie below */
        for (run = 1; i + run < n && columns[i + run].late == columns[i].late; run++)
            ;
        if (columns[i].late)
            tl_put_box(out, "band", (double)i * wide, (double)run * wide, 0, HEIGHT);
    }
    for (size_t i = 0; i < n; i++) {
        const column *c = &columns[i];
        int whole = (int)lround(tl_place(scale, (double)c->step_ns) / 100 * HEIGHT),
            gain = (int)lround(tl_place(scale, (double)c->gain_ns) / 100 * HEIGHT);
        double x = (double)i * wide + air / 2;
        fputs("<g><title>", out);
        fprintf(out, c->first == c->last ? "step %" PRId32 : "steps %" PRId32 "-%" PRId32, c->first, c->last);
        fprintf(out, ": %s", tl_duration(c->step_ns).text);
        if (c->gain_ns > 0)
            fprintf(out, ", %s less without the delay", tl_duration(c->gain_ns).text);
        fputs("</title>", out);
        tl_put_box(out, TL_CLASS_COMPUTE, x, wide - air, HEIGHT - whole + gain, whole - gain);
        if (gain > 0)
            tl_put_box(out, TL_CLASS_WAITING, x, wide - air, HEIGHT - whole, gain);
        fputs("</g>\n", out);
    }
    size_t stride = (n + 11) / 12;
    for (size_t i = 0; i < n; i += stride)
        tl_put_at(out, "quiet middle", ((double)i + 0.5) * wide, HEIGHT + 14, "%" PRId32, columns[i].first);
}

void tl_draw_steps(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    if (table == NULL || page->html->in.answers->trust.nsteps < 2)
        return;
    column *columns = tl_calloc(STEPS_MOST + 1, sizeof *columns);
    size_t n = gather(page, table, columns), longest = 0, shortest = 0;
    tl_scale scale = { 0, 0 };
    bool late = false, gain = false;
    for (size_t i = 0; i < n; i++) {
        longest = columns[i].step_ns > columns[longest].step_ns ? i : longest;
        shortest = columns[i].step_ns < columns[shortest].step_ns ? i : shortest;
        late |= columns[i].late;
        gain |= columns[i].gain_ns > 0;
    }
    scale.to = 1.05 * (double)columns[longest].step_ns;
    if (n > 1 && scale.to > 0) {
        FILE *out = page->out;
        const tl_phrase finding =
            tl_phrase_of("Longest is step %" PRId32 " with %s, shortest step %" PRId32 " with %s.", columns[longest].first,
                         tl_duration(columns[longest].step_ns).text, columns[shortest].first,
                         tl_duration(columns[shortest].step_ns).text);
        tl_figure_begin(out, "course", "How long each step takes", finding.text, SIDE, HEIGHT + 32);
        tl_put_levels(out, &scale, HEIGHT);
        draw_columns(out, columns, n, &scale);
        tl_put_at(out, "quiet", 0, HEIGHT + 29, columns[0].first == columns[0].last ? "step" : "first step of a column");
        tl_meaning meanings[] = { { TL_CLASS_COMPUTE, "length of the step" },
                                  { TL_CLASS_WAITING, "what it would gain without the delay, simulated" },
                                  { "band", "steps in which the ranks that are named are late" } };
        if (!gain)
            meanings[1] = meanings[2];
        tl_figure_end(out, meanings, (size_t)1 + gain + late, NULL);
    }
    free(columns);
}
