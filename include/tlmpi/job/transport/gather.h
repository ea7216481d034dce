/* gather.h - the rows of whole tables, from all procs to proc 0. */
#ifndef TLMPI_JOB_TRANSPORT_GATHER_H
#define TLMPI_JOB_TRANSPORT_GATHER_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"

/* Collective.  The rows of the scope's tables, of all procs, to proc 0, in the order of their keys; elsewhere these tables
 * are empty then.  All tables go at once: each round of all procs takes its time, however little is in it.  The same status
 * and message on every proc. */
tl_status tl_gather_tables(tl_tables *tables, tl_scope scope, tl_error *err);

#endif
