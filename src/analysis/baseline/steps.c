/* steps.c - the steps of a job as its nodes have them, and which of them were cut. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"

/* A step is cut where some rank has begun in a later one or ended in an earlier one; what lies before or after all
 * steps always is.  Where there is nothing else, all of it is one step. */
static void find_cut(tl_baseline *out)
{
    const tl_job_graph *g = out->graph;
    int32_t first = -1, last = TL_STEP_AFTER;
    bool any = false;
    for (size_t r = 0; r < g->nranks; r++) {
        int32_t low = TL_STEP_AFTER, high = -1;
        for (size_t s = 0; s < g->ranks[r].nsteps; s++) {
            int32_t step = g->ranks[r].steps[s];
            if (step < 0 || step == TL_STEP_AFTER)
                continue;
            low = step < low ? step : low;
            high = step > high ? step : high;
        }
        if (high < 0)
            continue;
        any = true;
        first = low > first ? low : first;
        last = high < last ? high : last;
        out->edge[tl_step_index(out->steps, out->nsteps, low)] = true;
        out->edge[tl_step_index(out->steps, out->nsteps, high)] = true;
    }
    for (size_t k = 0; any && k < g->late_steps && first < last; k++)
        first++;
    for (size_t s = 0; s < out->nsteps; s++)
        out->cut[s] = any && (out->steps[s] < first || out->steps[s] > last);
    out->first_whole = out->last_whole = out->nsteps;
    for (size_t s = 0; s < out->nsteps; s++)
        if (!out->cut[s]) {
            out->first_whole = out->first_whole < out->nsteps ? out->first_whole : s;
            out->last_whole = s;
        }
}

void tl_baseline_steps(tl_baseline *out)
{
    size_t n = 0, at = 0;
    for (size_t r = 0; r < out->graph->nranks; r++)
        n += out->graph->ranks[r].nsteps;
    out->steps = tl_arena_take(&out->arena, n, sizeof *out->steps);
    for (size_t r = 0; r < out->graph->nranks; r++)
        for (size_t s = 0; s < out->graph->ranks[r].nsteps; s++)
            out->steps[at++] = out->graph->ranks[r].steps[s];
    out->nsteps = tl_int_unique(out->steps, n);
    out->cut = tl_arena_zeroed(&out->arena, out->nsteps, sizeof *out->cut);
    out->edge = tl_arena_zeroed(&out->arena, out->nsteps, sizeof *out->edge);
    find_cut(out);
}
