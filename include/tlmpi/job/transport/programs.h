/* replay.h - the programs of ranks (analysis/programs.h), from the procs that have read them to proc 0. */
#ifndef TLMPI_JOB_TRANSPORT_PROGRAMS_H
#define TLMPI_JOB_TRANSPORT_PROGRAMS_H

#include "tlmpi/analysis/graph/programs.h"

/* Collective.  *all gets the programs of all procs on proc 0, ascending by rank, and stays empty elsewhere;
 * tl_programs_free ends it.  This proc's own are used up.  The same status and message on every proc. */
tl_status tl_programs_collect(tl_programs *own, tl_programs *all, tl_error *err);

#endif
