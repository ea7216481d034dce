/* slice.h - a slice of a trace from one proc to another, in messages of about 1 MB. */
#ifndef JOB_TRANSPORT_PIECE_H
#define JOB_TRANSPORT_PIECE_H

#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/trace/read/reader.h"

/* Sends the slice to proc `to`. */
void tl_slice_send(tl_endpoint *endpoint, int to, const tl_trace *slice);

/* Receives the slice that proc `from` sends.  tl_trace_free ends *slice.  Its index maps are not made: it can be read
 * and appended, not added to. */
void tl_slice_receive(tl_endpoint *endpoint, int from, tl_trace *slice);

#endif
