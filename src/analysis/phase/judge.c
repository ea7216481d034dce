/* judge.c - the steps from cells to verdicts, one after the other. */
#include "internal.h"
#include <stdlib.h>

/* The distinct of n numbers, ascending; *nout: how many. */
static int32_t *distinct(tl_arena *arena, const int32_t *first, size_t stride, size_t n, size_t *nout)
{
    int32_t *v = tl_arena_take(arena, n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = *(const int32_t *)(const void *)((const char *)first + i * stride);
    tl_int_sort(v, n);
    *nout = 0;
    for (size_t i = 0; i < n; i++)
        if (*nout == 0 || v[i] != v[*nout - 1])
            v[(*nout)++] = v[i];
    return v;
}

void tl_phases_judge(const tl_phase_cells *cells, const tl_names *names, const tl_verdict_options *options,
                     tl_tables *tables)
{
    tl_phase_job j = { .names = names, .options = options, .nclasses = names->n + 1 };
    if (cells->n == 0)
        return;
    j.steps = distinct(&j.arena, &cells->v[0].step, sizeof *cells->v, cells->n, &j.nsteps);
    j.ranks = distinct(&j.arena, &cells->v[0].rank, sizeof *cells->v, cells->n, &j.nranks);
    j.step_ns = tl_arena_zeroed(&j.arena, j.nsteps, sizeof *j.step_ns);
    j.classes = tl_arena_zeroed(&j.arena, j.nclasses, sizeof *j.classes);
    for (uint32_t c = 0; c < names->n; c++)
        j.classes[c].holds = tl_phase_holds_of(tl_names_text(names, c));
    j.classes[names->n].holds = TL_HOLDS_UNKNOWN; /* outside there may be anything */
    tl_phases_compare(cells, &j, tables);
    tl_phase_units_find(&j);
    tl_phase_units_explain(&j);
    tl_phase_units_measure(&j);
    tl_phase_units_cost(&j);
    tl_phase_units_measure(&j);
    tl_phase_waiters_find(&j);
    tl_phase_rows(&j, tables);
    free(j.outside.v);
    free(j.units.v);
    tl_arena_free(&j.arena);
}
