/* verdict.c - charges by rank and step, tested, and put into words. */
#include "judging.h"
#include "tlmpi/analysis/judging.h"
#include "tlmpi/analysis/blame.h"
#include "tlmpi/analysis/cause.h"
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "parts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cause has this share of the charge, or it is mixed. */
static const double cause_share = 0.8;

typedef struct judging {
    const tl_verdict_input *in;
    int64_t *charge; /* [nranks * nsteps] rank-seconds */
    double *wall;    /* the same as wall time */
    double *tested;  /* what the tests look at: `wall`, or what repairs gain */
    bool together;   /* ranks of all roles are compared with each other */
    double *z;
    bool *flagged;
    tl_persistence *found; /* [nranks] */
} judging;

static int64_t charge_of(const tl_blame *row)
{
    return row->direct_ns + row->indirect_ns;
}

static bool sum_charges(judging *j)
{
    const tl_verdict_input *in = j->in;
    int32_t *numbers = tl_malloc((in->nsteps + 1) * sizeof *numbers);
    for (size_t s = 0; numbers != NULL && s < in->nsteps; s++)
        numbers[s] = in->steps[s].number;
    if (numbers != NULL)
        tl_charges_by_step(in->blame, in->ranks, in->nranks, numbers, in->nsteps, j->charge, j->wall);
    if (in->by_gain)
        memcpy(j->wall, in->gain_ns, in->nranks * in->nsteps * sizeof *j->wall);
    free(numbers);
    return numbers != NULL;
}

/* What one role after the other is tested in. */
typedef struct role_scratch {
    double *charges, *z, *step_ns;
    bool *flagged, *done;
    tl_persistence *found;
    size_t *of;
} role_scratch;

static tl_status test_each(judging *j, const role_scratch *w, tl_error *err)
{
    size_t nranks = j->in->nranks, nsteps = j->in->nsteps;
    tl_status st = TL_OK;

    for (size_t s = 0; s < nsteps; s++)
        w->step_ns[s] = (double)j->in->steps[s].ns;
    for (size_t first = 0; st == TL_OK && first < nranks; first++) {
        size_t n = 0;
        for (size_t r = first; !w->done[first] && r < nranks; r++)
            if (j->together || j->in->roles[r] == j->in->roles[first])
                w->of[n++] = r;
        for (size_t i = 0; i < n; i++) {
            w->done[w->of[i]] = i > 0;
            memcpy(w->charges + i * nsteps, j->tested + w->of[i] * nsteps, nsteps * sizeof *w->charges);
        }
        const tl_charges c = { w->charges, w->step_ns, n, nsteps };
        if (n > 0)
            st = tl_persistence_of(&c, w->found, w->z, w->flagged, err);
        for (size_t i = 0; st == TL_OK && i < n; i++) {
            j->found[w->of[i]] = w->found[i];
            memcpy(j->z + w->of[i] * nsteps, w->z + i * nsteps, nsteps * sizeof *w->z);
            memcpy(j->flagged + w->of[i] * nsteps, w->flagged + i * nsteps, nsteps * sizeof *w->flagged);
        }
    }
    return st;
}

/* Ranks of each role by themselves; what a repair gains is measured against them already, and is comparable everywhere.
 */
static tl_status test_roles(judging *j, tl_error *err)
{
    size_t nranks = j->in->nranks, nsteps = j->in->nsteps;
    double *charges = tl_malloc((nranks * nsteps + 1) * sizeof *charges),
           *z = tl_malloc((nranks * nsteps + 1) * sizeof *z);
    double *step_ns = tl_malloc((nsteps + 1) * sizeof *step_ns);
    bool *flagged = tl_malloc(nranks * nsteps + 1), *done = tl_calloc(nranks + 1, 1);
    tl_persistence *found = tl_malloc((nranks + 1) * sizeof *found);
    size_t *of = tl_malloc((nranks + 1) * sizeof *of);
    bool whole = charges != NULL && z != NULL && step_ns != NULL && flagged != NULL && done != NULL && found != NULL &&
                 of != NULL;
    tl_status st = TL_OK;

    if (!whole)
        st = tl_fail_memory(err, "the verdict");
    else
        st = test_each(j, &(role_scratch){ charges, z, step_ns, flagged, done, found, of }, err);
    free(charges);
    free(z);
    free(step_ns);
    free(flagged);
    free(done);
    free(found);
    free(of);
    return st;
}

double tl_charged_for_comm(const tl_verdict_input *in, size_t rank, const bool *flagged)
{
    double ns = 0;
    for (size_t i = tl_table_from_rank(in->blame, in->ranks[rank]); i < in->blame->n; i++) {
        const tl_blame *b = tl_table_row(in->blame, i);
        if (b->to_rank != in->ranks[rank])
            break;
        size_t s = tl_job_step_index(in->steps, in->nsteps, b->step);
        if (s < in->nsteps && flagged[s] && b->cause == TL_PART_COMM)
            ns += (double)charge_of(b);
    }
    return ns;
}

/* What repairs gain, step by step, tells more exactly than waits who was late when: waits count a delay in each
 * collective that it reaches, and start with whatever a recording begins with. */
static tl_status test_gains(judging *j, tl_error *err)
{
    size_t nranks = j->in->nranks, nsteps = j->in->nsteps;
    for (size_t r = 0; r < nranks; r++) {
        tl_explaining e = { .waits_known = j->in->waits_known };
        for (size_t s = 0; s < nsteps; s++) {
            size_t at = r * nsteps + s;
            if (!j->flagged[at])
                continue;
            e.steps_ns += (double)j->in->steps[s].ns;
            e.waited_ns += j->wall[at];
            e.gain_ns += j->in->gain_ns[at];
            e.blame_ns += (double)j->charge[at];
            for (size_t q = 0; q < nranks; q++)
                e.all_ns += (double)j->charge[q * nsteps + s];
        }
        e.comm_ns = tl_charged_for_comm(j->in, r, j->flagged + r * nsteps);
        const double *from = tl_is_unexplained(&e, j->found[r].pattern, j->found[r].p_value) ? j->wall : j->in->gain_ns;
        memcpy(j->tested + r * nsteps, from + r * nsteps, nsteps * sizeof *j->tested);
    }
    j->together = true;
    return test_roles(j, err);
}

/* ---------------------------------------------------------------------------------------------------------- causes */

/* From the rank's charges in flagged steps; in all steps where none is. */
static void name_cause(const judging *j, size_t r, tl_straggler *row)
{
    int64_t of[TL_NPARTS + 1] = { 0 }, sum = 0;
    const tl_table *blame = j->in->blame;
    bool any = j->found[r].nflagged > 0;
    int largest = TL_NPARTS;

    for (size_t i = tl_table_from_rank(blame, row->rank); i < blame->n; i++) {
        const tl_blame *b = tl_table_row(blame, i);
        if (b->to_rank != row->rank)
            break;
        size_t s = tl_job_step_index(j->in->steps, j->in->nsteps, b->step);
        if (s == j->in->nsteps || (any && !j->flagged[r * j->in->nsteps + s]))
            continue;
        of[b->cause] += charge_of(b);
        sum += charge_of(b);
    }
    for (int part = TL_NPARTS; part-- > 0;)
        if (of[part] >= of[largest])
            largest = part;
    row->cause_share = sum > 0 ? (double)of[largest] / (double)sum : NAN;
    row->cause = (uint8_t)(sum == 0                         ? TL_CAUSE_UNKNOWN
                           : row->cause_share < cause_share ? TL_CAUSE_MIXED
                                                            : tl_cause_of_part(largest));
}

static bool add_rank(const judging *j, size_t r, tl_table *blame_step, tl_table *straggler)
{
    const tl_verdict_input *in = j->in;
    const tl_persistence *p = &j->found[r];
    tl_straggler row = {
        .rank = in->ranks[r],
        .late_count = in->late_counts[r],
        .z = p->z,
        .share_steps = p->share_steps,
        .pattern = (uint8_t)p->pattern,
        .first_step = p->first <= p->last && in->nsteps > 0 ? in->steps[p->first].number : -1,
        .last_step = p->first <= p->last && in->nsteps > 0 ? in->steps[p->last].number : -1,
        .p_value = p->p_value,
        .gain_ns = -1,
        .slowdown = NAN,
        .left_out_step = -1,
    };

    for (size_t s = 0; s < in->nsteps; s++) {
        size_t at = r * in->nsteps + s;
        tl_blame_step step = { in->ranks[r],
                               in->steps[s].number,
                               j->charge[at],
                               (int64_t)llround(j->wall[at]),
                               j->z[at],
                               j->flagged[at],
                               in->gain_ns != NULL ? (int64_t)llround(in->gain_ns[at]) : 0,
                               in->steps[s].ns };
        row.blame_ns += j->charge[at];
        if (!tl_table_append(blame_step, &step, 1))
            return false;
    }
    name_cause(j, r, &row);
    return tl_table_append(straggler, &row, 1);
}

void tl_verdict_sum_all(const tl_table *blame, tl_table *straggler)
{
    for (size_t i = 0; i < straggler->n; i++) {
        tl_straggler *row = tl_table_row(straggler, i);
        row->blame_ns = 0;
        for (size_t b = tl_table_from_rank(blame, row->rank); b < blame->n; b++) {
            const tl_blame *charge = tl_table_row(blame, b);
            if (charge->to_rank != row->rank)
                break;
            row->blame_ns += charge_of(charge);
        }
    }
}

tl_status tl_verdict_make(const tl_verdict_input *in, tl_table *blame_step, tl_table *straggler, tl_error *err)
{
    size_t n = in->nranks * in->nsteps + 1;
    judging j = { .in = in,
                  .charge = tl_calloc(n, sizeof(int64_t)),
                  .wall = tl_calloc(n, sizeof(double)),
                  .tested = tl_calloc(n, sizeof(double)),
                  .together = in->by_gain,
                  .z = tl_calloc(n, sizeof(double)),
                  .flagged = tl_calloc(n, sizeof(bool)),
                  .found = tl_calloc(in->nranks + 1, sizeof(tl_persistence)) };
    bool whole =
        j.charge != NULL && j.wall != NULL && j.tested != NULL && j.z != NULL && j.flagged != NULL && j.found != NULL;
    tl_status st = TL_OK;

    whole = whole && sum_charges(&j);
    if (whole) {
        memcpy(j.tested, j.wall, n * sizeof *j.tested);
        st = test_roles(&j, err);
        if (st == TL_OK && in->gain_ns != NULL && in->nsteps > TL_TOO_FEW_STEPS)
            st = test_gains(&j, err);
        for (size_t r = 0; st == TL_OK && r < in->nranks; r++)
            if (!add_rank(&j, r, blame_step, straggler))
                st = tl_fail_memory(err, "the verdict");
    } else {
        st = tl_fail_memory(err, "the verdict");
    }
    free(j.charge);
    free(j.wall);
    free(j.tested);
    free(j.z);
    free(j.flagged);
    free(j.found);
    return st;
}
