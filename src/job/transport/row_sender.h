/* row_sender.h - rows of a table as messages to the writer.  The proc that has the rows packs them as they lie in the
 * file and compresses full chunks of the file, so that the writer has only to write them. */
#ifndef JOB_TRANSPORT_ROW_SENDER_H
#define JOB_TRANSPORT_ROW_SENDER_H

#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/store/pack.h"

/* Room for one message of rows or one chunk, for packed rows, and for compressing them. */
typedef struct tl_row_buffers {
    char *message, *packed;
    tl_chunk_room work;
} tl_row_buffers;

/* Where the rows of a table go in the file, and what packing them needs. */
typedef struct tl_row_target {
    uint32_t number; /* of the table, as the messages have it */
    uint64_t first;  /* the file's row of the table's row 0 */
    int64_t epoch_ns;
} tl_row_target;

/* Makes room for a chunk of any of the tables; tl_row_buffers_free ends it. */
void tl_row_buffers_make(tl_row_buffers *room, const tl_schema *const *schemas, size_t n);
void tl_row_buffers_free(tl_row_buffers *room);

/* Sends all rows of the table to proc 0, one message for each chunk, or for the part of a chunk that they fill. */
void tl_rows_send(tl_endpoint *endpoint, const tl_table *table, const tl_row_target *target, tl_row_buffers *room);

#endif
