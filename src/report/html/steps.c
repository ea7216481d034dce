/* steps.c - how long each step is, which part of it the named ranks cost, and which steps the verdict names.
 *
 *        [##]      [##]                what the step would save if the named ranks were repaired
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
    tl_steps_of_blame(table, &steps);
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
        const tl_phrase finding =
            tl_phrase_of("Longest is step %" PRId32 " with %s, shortest step %" PRId32 " with %s.",
                         steps.columns[longest].first, tl_duration(columns[longest].step_ns).text,
                         steps.columns[shortest].first, tl_duration(columns[shortest].step_ns).text);
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
