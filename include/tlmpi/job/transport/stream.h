/* stream.h - rows of collectives, from the procs that have them to the file. */
#ifndef TLMPI_JOB_TRANSPORT_STREAM_H
#define TLMPI_JOB_TRANSPORT_STREAM_H

#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"

/* Collective.  Writes the tables of scope COLLECTIVE, proc after proc, and empties them.  store and epoch_ns: on proc
 * 0.  The same status and message on every proc. */
tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err);

#endif
