/* messages.h - the messages that procs send each other while traces are read: their kinds, their bytes, and the
 * unexpected-message queue.
 *
 * Numbers lie in a message as in memory: all procs are the same program on machines of one kind.
 */
#ifndef TLMPI_JOB_TRANSPORT_MESSAGES_H
#define TLMPI_JOB_TRANSPORT_MESSAGES_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/par/par.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- messages */

/* The tag of a message says what its bytes are: see work_queue.h for who sends which, and when. */
enum {
    TL_MESSAGE_NEXT = 1,
    TL_MESSAGE_ITEM,
    TL_MESSAGE_COUNTS,
    TL_MESSAGE_FIRST_ROWS,
    TL_MESSAGE_CHUNK,
    TL_MESSAGE_ROWS,
    TL_MESSAGE_READY,    /* member to leader: the slice with this number (int32_t) is read */
    TL_MESSAGE_GO,       /* leader to member, or writer to proc: send what is ready */
    TL_MESSAGE_SLICE,    /* member to leader: about 1 MB of the slice */
    TL_MESSAGE_QUESTION, /* proc 0 to a proc that holds ranks; same bytes as ANSWER */
    TL_MESSAGE_ANSWER    /* back to proc 0: how many bytes (size_t), then the bytes, about 1 MB at a time */
};

/* ITEM: what a proc is to read next. */
typedef struct tl_task {
    int64_t item;   /* number of the trace in the plan; -1: there is no more */
    int32_t slice;  /* which of the nslices of the trace */
    int32_t leader; /* proc that reads slice 0 and puts the slices together */
} tl_task;

/* COUNTS: this, rows of each event table (uint64_t each), then each name: its length (uint32_t) and bytes. */
typedef struct tl_counts_head {
    int64_t item, first_ns;
    int32_t rank;
    uint32_t ntables, nnames, padding;
} tl_counts_head;

/* FIRST_ROWS: this, first row in each event table (uint64_t each), then the row of each name (uint32_t each). */
typedef struct tl_first_rows_head {
    int64_t epoch_ns;
    int32_t wanted; /* 0: the rows are not wanted, something has failed */
    int32_t padding;
} tl_first_rows_head;

/* CHUNK and ROWS: this, then the bytes.  first: number of the chunk, or of the first row. */
typedef struct tl_rows_head {
    uint64_t first, n;
    uint32_t table; /* index among the event tables */
    uint32_t padding;
} tl_rows_head;

/* ------------------------------------------------------------------------------------------------------- unexpected */

/* A message that has come. */
typedef struct tl_received {
    int from, tag;
    tl_bytes message;
} tl_received;

/* The unexpected-message queue: messages that have come and have not yet been asked for, in order of arrival.
 * Zero-initialise; tl_unexpected_free ends it. */
typedef TL_VEC(tl_received) tl_unexpected;

/* The message that tl_par_probe has found, taken; the caller frees message.v. */
tl_received tl_received_of(const tl_envelope *envelope);

/* Takes out the first message with that tag, from that proc (-1: from any).  False: there is none.  The caller frees
 * out->message.v. */
bool tl_unexpected_take(tl_unexpected *queue, int from, int tag, tl_received *out);

void tl_unexpected_free(tl_unexpected *queue);

#endif
