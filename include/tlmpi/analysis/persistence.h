/* persistence.h - is a rank late always, for a while, now and then, or once; and could it be chance?
 *
 * Looks at what each rank of a role cost the others, step by step: its charge as wall time, as verdict.h has it, or the
 * surplus of a slow link.  A pure function of these numbers; the same in any order of ranks but for their indices.
 */
#ifndef TLMPI_ANALYSIS_PERSISTENCE_H
#define TLMPI_ANALYSIS_PERSISTENCE_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/blame_tables.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
