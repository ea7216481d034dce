/* internal.h - between the files of this room: the tables whose rows messages carry, these rows on their way, and the
 * writer, as the endpoint of proc 0 reaches it. */
#ifndef JOB_TRANSPORT_INTERNAL_H
#define JOB_TRANSPORT_INTERNAL_H

#include "tlmpi/analysis/registry.h"
#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/store/pack.h"

/* Event tables at most; a registry with more does not compile its test. */
#define TL_EVENT_TABLES_MAX 32

/* Fills schemas with those whose rows are written in the rank's turn, numbered as messages number them; returns how many
 * there are. */
static inline size_t tl_event_tables(const tl_schema *schemas[TL_EVENT_TABLES_MAX])
{
    size_t nall, n = 0;
    const tl_schema *const *all = tl_all_schemas(&nall);
    for (size_t i = 0; i < nall && n < TL_EVENT_TABLES_MAX; i++)
        if (all[i]->scope == TL_SCOPE_EVENT)
            schemas[n++] = all[i];
    return n;
}

/* ------------------------------------------------------------------------------------------------------- row_sender.c */

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

/* Sends all rows of the table to proc 0, one message for each chunk of the file, or for the part of a chunk that they
 * fill.  They are packed as they lie in the file, and full chunks compressed: the writer has only to write them. */
void tl_rows_send(tl_endpoint *endpoint, const tl_table *table, const tl_row_target *target, tl_row_buffers *room);

/* Writes the rows of such a message. */
tl_status tl_rows_write(tl_store *store, const tl_schema *schema, int tag, const char *bytes, size_t nbytes,
                        tl_error *err);

/* ------------------------------------------------------------------------------------------------------------ writer.c */

/* Says where the writer puts messages to proc 0 that are not for the writer: its own answers, and slices of traces. */
void tl_writer_unexpected(tl_writer *writer, tl_unexpected *queue);

/* Handles one message. */
void tl_writer_take(tl_writer *writer, int from, int tag, const void *bytes, size_t n);

/* Handles all messages that have come.  Whether there were any. */
bool tl_writer_serve(tl_writer *writer);

#endif
