/* programs.h - the programs of several ranks. */
#ifndef TLMPI_ANALYSIS_PROGRAM_PROGRAMS_H
#define TLMPI_ANALYSIS_PROGRAM_PROGRAMS_H

#include "tlmpi/analysis/program/program.h"
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

#endif
