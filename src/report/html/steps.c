/* steps.c - how long each step is, what its part is that the named ranks cost, and which steps the verdict names.
 *
 *        [##]      [##]                what repairing those who are named would save in the step
 *     [##[##][##][#[##]##]...          the rest of the step
 *       |band  |                       steps in which they are late
 */
#include "page.h"

#include "tlmpi/base/stats.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { HEIGHT = 140, SIDE = 60 };

typedef struct column {
    int64_t step_ns, gain_ns; /* of a step, in the mean */
    int64_t n;
    bool late;
} column;

/* Fills the columns of the steps, several steps a column where there are more than have room. */
static column *gather(const tl_page *page, const tl_table *table, tl_heat_steps *steps)
{
    const tl_blame_step *rows = tl_table_row(table, 0);
    uint32_t *index = tl_index_by_step(table, steps);
    column *columns = tl_calloc(steps->n + 1, sizeof *columns);
    for (size_t i = 0; i < table->n; i++) {
        const tl_blame_step *row = &rows[index[i]];
        tl_heat_steps_enter(steps, row->step);
        column *c = &columns[tl_heat_steps_now(steps)];
        if (i == 0 || row->step != rows[index[i - 1]].step) {
            c->n++;
            c->step_ns = tl_ns_sum(c->step_ns, row->step_ns);
        }
        c->gain_ns = tl_ns_sum(c->gain_ns, tl_ns_max(0, row->gain_ns));
        c->late |= row->flagged != 0 && tl_html_names(page->html, row->rank);
    }
    free(index);
    for (size_t i = 0; i < steps->n; i++) {
        columns[i].step_ns /= columns[i].n;
        /* gains of several ranks overlap */
        columns[i].gain_ns = tl_ns_min(columns[i].gain_ns / columns[i].n, columns[i].step_ns);
    }
    return columns;
}

static void draw_columns(FILE *out, const tl_heat_steps *steps, const column *columns, const tl_scale *scale)
{
    const size_t n = steps->n;
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
        fprintf(out, "<g><title>%s: %s", tl_steps_of_column(steps, i).text, tl_duration(c->step_ns).text);
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
        tl_put_at(out, "quiet middle", ((double)i + 0.5) * wide, HEIGHT + 14, "%" PRId32, steps->columns[i].first);
}

void tl_draw_steps(tl_page *page)
{
    const tl_table *table = tl_page_table(page, &tl_blame_step_schema);
    if (table == NULL || page->html->in.answers->trust.nsteps < 2)
        return;
    tl_heat_steps steps;
    column *columns = gather(page, table, &steps);
    size_t n = steps.n, longest = 0, shortest = 0;
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
            tl_phrase_of("Longest is step %" PRId32 " with %s, shortest step %" PRId32 " with %s.",
                         steps.columns[longest].first, tl_duration(columns[longest].step_ns).text, steps.columns[shortest].first,
                         tl_duration(columns[shortest].step_ns).text);
        tl_figure_begin(out, "course", "How long each step takes", finding.text, SIDE, HEIGHT + 32);
        tl_put_levels(out, &scale, HEIGHT);
        draw_columns(out, &steps, columns, &scale);
        tl_put_at(out, "quiet", 0, HEIGHT + 29, steps.run == 1 ? "step" : "first step of a column");
        const tl_meaning meanings[] = { { TL_CLASS_COMPUTE, "length of the step" },
                                  { TL_CLASS_WAITING, "what it would gain without the delay, simulated" },
                                  { "band", "steps in which the ranks that are named are late" } };
        tl_figure_end(out, meanings, 3, (const bool[]){ true, gain, late }, NULL);
    }
    free(columns);
    tl_heat_steps_free(&steps);
}
