/* wire.h - a piece of a trace from one proc to another, in letters of about 1 MB. */
#ifndef JOB_TRANSPORT_WIRE_H
#define JOB_TRANSPORT_WIRE_H

#include "tlmpi/job/transport/post.h"
#include "tlmpi/trace/read/reader.h"

void tl_wire_send(tl_post *post, int to, const tl_trace *piece);

/* tl_trace_free ends *piece.  Its index maps are not made: it can be read and appended, not added to. */
void tl_wire_receive(tl_post *post, int from, tl_trace *piece);

#endif
