/* piece.h - a piece of a trace from one proc to another, in messages of about 1 MB. */
#ifndef JOB_TRANSPORT_PIECE_H
#define JOB_TRANSPORT_PIECE_H

#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/trace/read/reader.h"

/* Sends the piece to proc `to`. */
void tl_piece_send(tl_endpoint *endpoint, int to, const tl_trace *piece);

/* Receives the piece that proc `from` sends.  tl_trace_free ends *piece.  Its index maps are not made: it can be read
 * and appended, not added to. */
void tl_piece_receive(tl_endpoint *endpoint, int from, tl_trace *piece);

#endif
