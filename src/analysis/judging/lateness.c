/* lateness.c - when are those late who hold the job up?
 *
 * By their own work: what each had more to do than its peers, step by step, less the median of its role.  What that costs is
 * told by the replay, and is another matter: a rank that pauses in every step may cost its time in one of them alone, because
 * the queue of the next absorbs part of it.  It is late by no less than its repair gains: some of what is repaired, such as
 * waits of a slow allocator, is no work of its own.
 */
#include "lateness.h"
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of all ranks: lateness in all steps, and room for that of one role. */
typedef struct lateness {
    const tl_verdict_input *in;
    double *x;      /* [nranks * nsteps] */
    double *role_x; /* [nranks * nsteps] */
    double *column; /* [nranks] */
    bool *up;       /* [nsteps] */
} lateness;

static size_t list_role(const lateness *l, int32_t role, double *x)
{
    size_t n = 0, nsteps = l->in->nsteps;
    for (size_t r = 0; r < l->in->nranks; r++)
        for (size_t s = 0; l->in->roles[r] == role && s < nsteps; s++)
            x[n++] = l->x[r * nsteps + s];
    return n / (nsteps > 0 ? nsteps : 1);
}

/* Medians of skewed parts do not add up: what all of a role have in the middle is nobody's. */
static void take_middle_off(lateness *l, size_t rank)
{
    size_t nsteps = l->in->nsteps, n = list_role(l, l->in->roles[rank], l->role_x);
    for (size_t s = 0; n > 2 && s < nsteps; s++) {
        for (size_t k = 0; k < n; k++)
            l->column[k] = l->role_x[k * nsteps + s];
        double middle = tl_real_median(l->column, n);
        for (size_t k = 0; k < n; k++)
            l->role_x[k * nsteps + s] -= middle;
        l->x[rank * nsteps + s] -= middle;
    }
}

static double least_scale(const tl_verdict_input *in, double *room)
{
    for (size_t s = 0; s < in->nsteps; s++)
        room[s] = (double)in->steps[s].ns;
    return TL_LATENESS_LEAST_SCALE * tl_real_median(room, in->nsteps);
}

/* What the verdict rests on is what it costs, which may lie in other steps. */
static void say_late(size_t nup, size_t nsteps, tl_straggler *row)
{
    char reason[sizeof row->reason];
    memcpy(reason, row->reason, sizeof reason);
    int n = snprintf(row->reason, sizeof row->reason, "late in %zu of %zu steps; costs ", nup, nsteps);
    size_t room = sizeof row->reason - (size_t)n - 1, length = strnlen(reason, sizeof reason);
    memcpy(row->reason + n, reason, length < room ? length : room);
    row->reason[(size_t)n + (length < room ? length : room)] = '\0';
}

/* The steps in which the rank is late become those of its pattern. */
static void put_shape(const tl_verdict_input *in, const tl_shape *shape, const bool *up, tl_blame_step *steps,
                      tl_straggler *row)
{
    size_t cost = 0;
    for (size_t s = 0; s < in->nsteps; s++) {
        cost += steps[s].flagged != 0;
        steps[s].flagged = up[s];
    }
    if (cost != shape->nup)
        say_late(shape->nup, in->nsteps, row);
    row->pattern = (uint8_t)shape->pattern;
    row->first_step = in->steps[shape->first].number;
    row->last_step = in->steps[shape->last].number;
    row->share_steps = (double)shape->nup / (double)in->nsteps;
}

static bool shape_all(lateness *l, tl_table *blame_step, tl_table *straggler)
{
    const tl_verdict_input *in = l->in;
    bool ok = true;
    for (size_t r = 0; ok && r < straggler->n && r < in->nranks; r++) {
        tl_straggler *row = tl_table_row(straggler, r);
        tl_shape shape;
        double sigma = 0;
        if (row->verdict != TL_VERDICT_STRAGGLER || row->cause == TL_CAUSE_SLOW_LINK)
            continue;
        double least = least_scale(in, l->role_x);
        take_middle_off(l, r);
        size_t n = list_role(l, in->roles[r], l->role_x);
        ok = tl_shape_scale(l->role_x, n, in->nsteps, &sigma) &&
             tl_shape_of(l->x + r * in->nsteps, in->nsteps, fmax(sigma, least), &shape, l->up);
        if (ok && shape.nup > 0)
            put_shape(in, &shape, l->up, tl_table_row(blame_step, r * in->nsteps), row);
    }
    return ok;
}

tl_status tl_verdict_lateness(const tl_verdict_input *in, tl_table *blame_step, tl_table *straggler, tl_error *err)
{
    size_t n = in->nranks * in->nsteps + in->nsteps + 1;
    lateness l = { .in = in,
                   .x = tl_calloc(n, sizeof *l.x),
                   .role_x = tl_calloc(n, sizeof *l.role_x),
                   .column = tl_calloc(in->nranks + 1, sizeof *l.column),
                   .up = tl_calloc(in->nsteps + 1, sizeof *l.up) };
    bool ok = l.x != NULL && l.role_x != NULL && l.column != NULL && l.up != NULL;
    for (size_t i = 0; ok && i < in->nranks * in->nsteps; i++)
        l.x[i] = fmax((double)in->late_ns[i], in->gain_ns[i]);
    ok = ok && shape_all(&l, blame_step, straggler);
    free(l.x);
    free(l.role_x);
    free(l.column);
    free(l.up);
    return ok ? TL_OK : tl_fail_memory(err, "when ranks are late");
}
