/* outlier.h - is somebody out of line, in which steps, and could it be chance?
 *
 * From one number for each of many, step by step.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_OUTLIER_H
#define TLMPI_ANALYSIS_OUTLIER_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------ persistence */

/* Is a rank late always, for a while, now and then, or once; and could it be chance?
 *
 * Looks at what each rank of a role cost the others, step by step: its charge as wall time, as judging.h has it, or the
 * surplus of a slow link.  A pure function of these numbers; the same in any order of ranks but for their indices.
 */

/* What ranks of one role cost the others. */
typedef struct tl_charges {
    const double *charge_ns; /* [nranks * nsteps], a rank's steps together; >= 0 */
    const double *step_ns;   /* [nsteps] duration of each step; > 0 */
    size_t nranks, nsteps;
} tl_charges;

typedef struct tl_persistence {
    double z;           /* of the rank's charge over all steps, against the other ranks */
    double share_steps; /* flagged steps / all steps */
    double p_value;     /* how often relabelled ranks would show a total as large, or be flagged in as many steps,
                         * whichever is less; NaN below 5 steps or 2 ranks */
    size_t nflagged, first, last; /* flagged steps; the window, as indices of steps; first > last where there is none */
    tl_pattern pattern;
} tl_persistence;

/* Fills out[nranks]; z[nranks * nsteps] and flagged[nranks * nsteps], if not NULL, with the robust z of each step and
 * whether it is flagged. TL_ENOMEM. */
tl_status tl_persistence_of(const tl_charges *charges, tl_persistence *out, double *z, bool *flagged, tl_error *err);

/* --------------------------------------------------------------------------------------------------------- standing */

/* Does a rank cost more than the job's own noise does?
 *
 * Some rank comes last in every step, and by chance some rank does so more often than others.  The noise of a job is
 * what the ranks cost that nothing is said against.  A rank stands out on one of these grounds:
 *
 *     labels    relabelled at random within each step, ranks would hardly ever show as much (p of persistence)
 *     steady    step after step it costs more than the worst of the others, by Student's test of the difference: tells
 *               with few ranks or few steps, where labels cannot
 *     event     in some step it costs several times what any of the others does in any step
 *
 * and what it costs has to matter.  Recordings do not begin at the same instant, and what was queued before is not
 * known: the first recorded step is an event for that alone which cannot come from this, unless they all began well
 * before it.  Where recordings end in turn within the last step, it is none.
 *
 * Units may be ranks or hosts.  A pure function of numbers.
 */

typedef struct tl_costs {
    const double *cost_ns; /* [nunits * nsteps] by how much each made a step longer, a unit's steps together */
    const double *step_ns; /* [nsteps] how long they were; > 0 */
    const bool *flagged;   /* [nunits * nsteps] steps in which it was the late one */
    const double *p_value; /* [nunits] of persistence; NaN: not known */
    const double *sure_ns; /* [nunits] of its cost of the first step what does not come from how recordings begin; NULL:
                              nothing */
    size_t nunits, nsteps;
    bool begun;    /* all recordings had begun long before the first step: it is like the others */
    bool in_turn;  /* recordings end in turn within the last step: what looks late in it may be what others lack */
    const double *noise_ns; /* [nsteps] what is known to be noise of units that are not among these; NULL: nothing */
} tl_costs;

typedef enum tl_ground {
    TL_GROUND_NONE,   /* no step is flagged */
    TL_GROUND_LITTLE, /* what it costs does not matter */
    TL_GROUND_CHANCE, /* others cost as much */
    TL_GROUND_LABELS,
    TL_GROUND_STEADY,
    TL_GROUND_EVENT
} tl_ground;

typedef struct tl_standing {
    tl_ground ground;
    double share;   /* of the flagged steps, as they would be without it, that it costs */
    double overall; /* the same of all steps */
    double usual;   /* what the worst of the others costs of a step in the middle */
    double p;       /* of the ground labels or steady, else NaN */
    size_t nflagged;
    size_t nevents; /* steps that are one, if that is the ground */
    size_t first_event, last_event; /* indices of steps as far from the others', the first included; where there are
                                     * events */
    size_t nbetween;      /* flagged steps from first_event to last_event */
    double share_between; /* share of these alone */
    bool peaks; /* most of what it costs lies in other flagged steps, more than any other unit costs in all of its own: the
                 * events are where it is worst, not when */
    size_t left_out; /* the step that would be one, were it not the first or the last of recordings that begin or end in
                        turn; of both the one that costs more; nsteps: there is none */
} tl_standing;

static inline bool tl_stands_out(const tl_standing *s)
{
    return s->ground >= TL_GROUND_LABELS;
}

/* Fills out[nunits].  TL_ENOMEM. */
tl_status tl_standing_of(const tl_costs *costs, tl_standing *out, tl_error *err);

/* How likely Student's t with so many degrees of freedom is larger. */
double tl_student_tail(double t, size_t freedom);

/* ------------------------------------------------------------------------------------------------------------ shape */

/* When is a unit late?  Its lateness x, step by step, is explained best, by penalised likelihood, as one of
 *
 *     never        ..........        0 in all steps
 *     two levels   ...####...        a in some steps, 0 in the others
 *     a ramp       ...._.-=##        nothing before an onset, then more from step to step; of five steps and more
 *
 * plus noise of scale sigma.  What it costs is another matter: what is late in every step may cost its time in one alone,
 * because the next absorbs it.
 */

typedef struct tl_shape {
    tl_pattern pattern;      /* none; persistent; one_off; bounded: one run of steps; sporadic; drifting: a ramp */
    size_t nup, first, last; /* steps in which it is late; the first and last of them, as indices: first is n without any */
} tl_shape;

/* x[n], the lateness of a unit; sigma > 0, in its unit.  up[n]: the steps in which it is late.  O(n^2).  False when memory
 * is out. */
bool tl_shape_of(const double *x, size_t n, double sigma, tl_shape *out, bool *up);

/* The scale of noise of all units together: the standard deviation of the median distance of x[nunits * nsteps], a unit's steps together,
 * from each unit's own median, corrected for that this is of its own steps; 0 of one step.  False when memory is out. */
bool tl_shape_scale(const double *x, size_t nunits, size_t nsteps, double *sigma);

#endif
