/* replay.h - the programs of ranks (analysis/program.h), from the procs that have read them to proc 0. */
#ifndef TLMPI_JOB_REPLAY_H
#define TLMPI_JOB_REPLAY_H

#include "tlmpi/analysis/program.h"
#include "tlmpi/base/mem.h"

typedef struct tl_rank_program {
    int32_t rank;
    tl_program program; /* its comms name kernels by uid */
} tl_rank_program;

/* Zero-initialise; tl_programs_free ends it. */
typedef struct tl_programs {
    TL_VEC(tl_rank_program) of;
} tl_programs;

/* Appends the program of the view's rank, whose host waited so (in order of time); what else the host did is not asked for.
 * TL_ENOMEM. */
tl_status tl_programs_add(tl_programs *programs, const tl_rank_view *view, const tl_activity *activity,
                          const tl_host_waits *waits, tl_error *err);
void tl_programs_free(tl_programs *programs);

/* Collective.  *all gets the programs of all procs on proc 0, ascending by rank, and stays empty elsewhere;
 * tl_programs_free ends it.  This proc's own are used up.  The same status and message on every proc. */
tl_status tl_programs_collect(tl_programs *own, tl_programs *all, tl_error *err);

#endif
