/* internal.h - shared by the files of this folder: the event tables, sending of their rows, and the writer's side of
 * proc 0's endpoint. */
#ifndef JOB_TRANSPORT_INTERNAL_H
#define JOB_TRANSPORT_INTERNAL_H

#include "tlmpi/analysis/registry.h"
#include "tlmpi/job/transport/work_queue.h"
#include "tlmpi/store/pack.h"

/* Largest number of event tables; the registry's test does not compile with more. */
#define TL_EVENT_TABLES_MAX 32

/* Lists the schemas of scope EVENT, in the order by which messages number them; returns their number. */
static inline size_t tl_event_tables(const tl_schema *schemas[TL_EVENT_TABLES_MAX])
{
    size_t nall, n = 0;
    const tl_schema *const *all = tl_all_schemas(&nall);
    for (size_t i = 0; i < nall && n < TL_EVENT_TABLES_MAX; i++)
        if (all[i]->scope == TL_SCOPE_EVENT)
            schemas[n++] = all[i];
    return n;
}

/* ----------------------------------------------------------------------------------------------------- row_sender.c */

/* Buffers for one message of rows or one chunk, for packed rows, and for compression. */
typedef struct tl_row_buffers {
    char *message, *packed;
    tl_chunk_room work;
} tl_row_buffers;

/* The target of a table's rows in the file. */
typedef struct tl_row_target {
    uint32_t number; /* of the table in messages */
    uint64_t first;  /* row in the file of the table's row 0 */
    int64_t epoch_ns;
} tl_row_target;

/* Allocates buffers for a chunk of any of the tables; tl_row_buffers_free ends it. */
void tl_row_buffers_make(tl_row_buffers *room, const tl_schema *const *schemas, size_t n);
void tl_row_buffers_free(tl_row_buffers *room);

/* Sends all rows of the table to proc 0, one message for each chunk of the file or part of a chunk, packed as in the
 * file; full chunks are compressed, so the writer need not compress them. */
void tl_rows_send(tl_endpoint *endpoint, const tl_table *table, const tl_row_target *target, tl_row_buffers *room);

/* Writes the rows of a message from tl_rows_send. */
tl_status tl_rows_write(tl_store *store, const tl_schema *schema, int tag, const char *bytes, size_t nbytes,
                        tl_error *err);

/* --------------------------------------------------------------------------------------------------------- writer.c */

/* Sets the queue for messages to proc 0 that are not for the writer: its own answers, and slices of traces. */
void tl_writer_unexpected(tl_writer *writer, tl_unexpected *queue);

/* Handles one message. */
void tl_writer_take(tl_writer *writer, int from, int tag, const void *bytes, size_t n);

/* Handles all messages that have arrived; returns whether there were any. */
bool tl_writer_serve(tl_writer *writer);

#endif
