/* work_queue.h - hands out traces to procs, and brings their rows to the proc that writes the file.
 *
 * Proc 0 is the writer: it hands out traces in the order of ranks, is told the number of rows of each, replies with
 * their rows in the file, and writes rows as they arrive.  Proc 0 reads traces, too, and handles messages between
 * blocks of that work.
 *
 *     proc p                              writer (proc 0)
 *     NEXT                     ->
 *                              <-         ITEM   the next trace, or the next slice of one; -1: none is left
 *     COUNTS item, rows, names ->                answered once all earlier traces have sent theirs
 *                              <-         FIRST_ROWS  epoch, first row in each table, row of each name in /names
 *     CHUNK, ROWS ...          ->                written at once, in order of arrival; with --reproducible a trace
 *                                                gets FIRST_ROWS once the rows of the trace before have arrived
 *
 * Rows of /names are in order of first use: by rank, within a rank event tables before others.  They depend on the
 * traces alone.
 *
 * The first header of folder job/transport, the only one that sends messages between procs: traces and their rows here,
 * slices of a large trace in team.h, collective moves of rows in rows.h.  May use par, store, read, model, trace and
 * graph.
 */
#ifndef TLMPI_JOB_TRANSPORT_WORK_QUEUE_H
#define TLMPI_JOB_TRANSPORT_WORK_QUEUE_H

#include "tlmpi/job/transport/messages.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/store/store.h"

/* The state of the writer, on proc 0 alone: traces still to be read, and rows reserved in the file. */
typedef struct tl_writer tl_writer;

/* The writer for the traces of the plan.  store may be NULL: rows are then counted and dropped.  in_order: rows are
 * written in rank order, so that the file's bytes, too, are the same for any number of procs.  progress: show it on
 * stderr. */
tl_writer *tl_writer_open(const tl_plan *plan, tl_store *store, bool in_order, bool progress);

/* After tl_writer_serve_out: the first failure, the epoch, and the rows of /names. */
tl_status tl_writer_status(const tl_writer *writer, tl_error *err);
int64_t tl_writer_epoch(const tl_writer *writer);
tl_names *tl_writer_names(tl_writer *writer);

/* Local, on proc 0: handles messages until every proc has been told that no trace is left. */
void tl_writer_serve_out(tl_writer *writer);

/* NULL is fine. */
void tl_writer_close(tl_writer *writer);

/* What a proc sends and receives with.  tl_endpoint_open starts it, tl_unexpected_free(&endpoint->unexpected) ends
 * it. */
typedef struct tl_endpoint {
    tl_writer *writer;        /* on proc 0, else NULL */
    tl_unexpected unexpected; /* received messages that no call has waited for yet */
} tl_endpoint;

void tl_endpoint_open(tl_endpoint *endpoint, tl_writer *writer);

/* Asks for the next trace, or slice of one, that this proc is to read. */
tl_task tl_work_queue_next(tl_endpoint *endpoint);

/* Sends to any proc; meanwhile proc 0 handles messages to the writer. */
void tl_endpoint_send(tl_endpoint *endpoint, int to, int tag, const void *bytes, size_t n);

/* Waits, asleep, for a message with that tag from that proc (-1: any); meanwhile proc 0 handles messages to the writer.
 * The caller frees message.v. */
tl_received tl_endpoint_await(tl_endpoint *endpoint, int from, int tag);

/* Sends the rows of a rank's event tables to the writer, and empties those tables; the NAME cells of all others are
 * rows of /names then. */
void tl_work_queue_deliver(tl_endpoint *endpoint, int64_t item, tl_rank_result *result);

/* To be called between blocks of long work: on proc 0, handles the messages to the writer.  endpoint: a tl_endpoint. */
void tl_endpoint_tick(void *endpoint);

#endif
