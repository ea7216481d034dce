/* steps.c - the steps of a job as its nodes have them, and which of them were cut. */
#include "parts.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static bool list_numbers(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    tl_map seen = { 0 };
    bool ok = true;
    size_t kept = 0;

    for (uint32_t v = 0; ok && v < g->first_node[g->nranks]; v++) {
        uint64_t number = (uint64_t)(uint32_t)g->nodes[v].step;
        ok = tl_map_get(&seen, number) != TL_MAP_NONE || tl_map_put(&seen, number, 1) == 0;
    }
    out->steps = tl_malloc((seen.n + 2) * sizeof *out->steps);
    ok = ok && out->steps != NULL;
    for (size_t i = 0; ok && i < seen.cap; i++)
        if (seen.values[i] != TL_MAP_NONE)
            out->steps[kept++] = (int32_t)(uint32_t)seen.keys[i];
    if (ok) {
        tl_int_sort(out->steps, kept);
        out->nsteps = kept;
    }
    tl_map_free(&seen);
    return ok;
}

/* A step is cut where some rank has begun in a later one or ended in an earlier one; what lies before or behind all steps always
 * is.  Where there is nothing else, all of it is one step. */
static void find_cut(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    int32_t first = -1, last = TL_STEP_BEHIND;
    bool any = false;
    for (size_t r = 0; r < g->nranks; r++) {
        int32_t low = TL_STEP_BEHIND, high = -1;
        for (uint32_t v = g->first_node[r]; v < g->first_node[r + 1]; v++) {
            int32_t step = g->nodes[v].step;
            if (step < 0 || step == TL_STEP_BEHIND)
                continue;
            low = step < low ? step : low;
            high = step > high ? step : high;
        }
        if (high < 0)
            continue;
        any = true;
        first = low > first ? low : first;
        last = high < last ? high : last;
    }
    for (size_t s = 0; s < out->nsteps; s++)
        out->cut[s] = any && (out->steps[s] < first || out->steps[s] > last);
    out->first_whole = out->last_whole = out->nsteps;
    for (size_t s = 0; s < out->nsteps; s++)
        if (!out->cut[s]) {
            out->first_whole = out->first_whole < out->nsteps ? out->first_whole : s;
            out->last_whole = s;
        }
}

bool tl_baseline_steps(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    out->step_of = tl_malloc((g->nnodes + 1) * sizeof *out->step_of);
    bool ok = out->step_of != NULL && list_numbers(out);

    if (ok) {
        out->cut = tl_calloc(out->nsteps + 1, sizeof *out->cut);
        ok = out->cut != NULL;
    }
    for (size_t v = 0; ok && v < g->nnodes; v++) { /* a meeting's step may be none of them */
        size_t s = tl_index_of(out->steps, out->nsteps, g->nodes[v].step);
        out->step_of[v] = (uint32_t)(s < out->nsteps ? s : 0);
    }
    if (ok)
        find_cut(out);
    return ok;
}
