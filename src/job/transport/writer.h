/* writer.h - how the endpoint of proc 0 reaches the writer, which is on the same proc. */
#ifndef JOB_TRANSPORT_WRITER_H
#define JOB_TRANSPORT_WRITER_H

#include "tlmpi/job/transport/messages.h"
#include "tlmpi/job/transport/work_queue.h"

/* Says where the writer puts messages to proc 0 that are not for the writer: its own answers, and slices of traces. */
void tl_writer_unexpected(tl_writer *writer, tl_unexpected *queue);

/* Handles one message. */
void tl_writer_take(tl_writer *writer, int from, int tag, const void *bytes, size_t n);

/* Handles all messages that have come.  Whether there were any. */
bool tl_writer_serve(tl_writer *writer);

#endif
