/* messages.h - the messages between procs while traces are read: tags, layouts, and the unexpected-message queue.
 *
 * Numbers are sent as in memory: all procs are the same program on machines of one kind.
 */
#ifndef TLMPI_JOB_TRANSPORT_MESSAGES_H
#define TLMPI_JOB_TRANSPORT_MESSAGES_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/par/par.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- messages */

/* Tags; work_queue.h shows senders, receivers and order. */
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
    TL_MESSAGE_QUESTION, /* proc 0 to a proc that holds ranks; same layout as ANSWER */
    TL_MESSAGE_ANSWER    /* to proc 0: the question, number of bytes (uint64_t each), then blocks of at most 1 MB */
};

/* ITEM: the trace or slice that a proc reads next. */
typedef struct tl_task {
    int64_t item;   /* index of the trace in the plan; -1: none is left */
    int32_t slice;  /* index of the slice among the trace's nslices */
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
    int32_t wanted; /* 0: rows are not to be sent: no file, or a failure */
    int32_t padding;
} tl_first_rows_head;

/* CHUNK and ROWS: this, then the bytes.  first: index of the chunk (CHUNK) or of the first row (ROWS). */
typedef struct tl_rows_head {
    uint64_t first, n;
    uint32_t table; /* index among the event tables */
    uint32_t padding;
} tl_rows_head;

/* ------------------------------------------------------------------------------------------------------- unexpected */

/* A received message. */
typedef struct tl_received {
    int from, tag;
    tl_bytes message;
} tl_received;

/* The unexpected-message queue: received messages that no call has waited for yet, in order of arrival.
 * Zero-initialise; tl_unexpected_free ends it. */
typedef TL_VEC(tl_received) tl_unexpected;

/* Receives the message that tl_par_probe has found; the caller frees message.v. */
tl_received tl_received_of(const tl_envelope *envelope);

/* Removes the first message with that tag from that proc (-1: any) into *out, whose message.v the caller frees; returns
 * false if there is none. */
bool tl_unexpected_take(tl_unexpected *queue, int from, int tag, tl_received *out);

void tl_unexpected_free(tl_unexpected *queue);

#endif
