/* work_queue.h - how traces are handed out to procs, and how their rows come to the proc that writes the file.
 *
 * Proc 0 is the writer: it hands out traces in the order of ranks, learns how many rows each has, tells where in the
 * file they go, and writes them as they come.  It reads traces like the others, so it answers them between blocks of
 * its own work.
 *
 *     proc p                              writer (proc 0)
 *     NEXT                     ->
 *                              <-         ITEM   the next trace, or the next slice of one; none when there is no more
 *     COUNTS item, rows, names ->                the answer waits until all earlier traces have told theirs
 *                              <-         PLACE  epoch, first row in each table, row of each name in /names
 *     CHUNK, ROWS ...          ->                written at once, in whatever order they come; with --reproducible a trace
 *                                                has its place only when the rows of the one before are in
 *
 * A name's row number is the order of its first use, by rank and within the rank, there in the event tables before the
 * others: a function of the traces alone.
 *
 * The first header of the room job/transport, which alone sends from one proc to another: traces to be read and their
 * rows here, slices of a large trace in team.h, what all have or proc 0 has in rows.h.  May use par, store, read, and
 * what it carries: model, trace, graph.
 */
#ifndef TLMPI_JOB_TRANSPORT_WORK_QUEUE_H
#define TLMPI_JOB_TRANSPORT_WORK_QUEUE_H

#include "tlmpi/job/transport/messages.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/store/store.h"

/* The state of the writer, on proc 0 alone: what is still to be read, and what has been placed in the file. */
typedef struct tl_writer tl_writer;

/* The writer for the traces of the plan.  store may be NULL: rows are then counted and dropped.  in_order: rows are
 * written in rank order, so that the file's bytes, too, are the same for any number of procs.  progress: show it on
 * stderr. */
tl_writer *tl_writer_open(const tl_plan *plan, tl_store *store, bool in_order, bool progress);

/* When every proc has been told that there is no more: what went wrong meanwhile, the epoch, and the names. */
tl_status tl_writer_status(const tl_writer *writer, tl_error *err);
int64_t tl_writer_epoch(const tl_writer *writer);
tl_names *tl_writer_names(tl_writer *writer);

/* Local, on proc 0: takes in and answers messages until every other proc has been told that there is no more. */
void tl_writer_serve_out(tl_writer *writer);

/* NULL is fine. */
void tl_writer_close(tl_writer *writer);

/* What a proc sends and receives with.  tl_endpoint_open starts it, tl_unexpected_free(&endpoint->unexpected) ends
 * it. */
typedef struct tl_endpoint {
    tl_writer *writer;        /* on proc 0, else NULL */
    tl_unexpected unexpected; /* has come, and is not asked for yet */
} tl_endpoint;

void tl_endpoint_open(tl_endpoint *endpoint, tl_writer *writer);

/* The next trace, or slice of one, that this proc is to read. */
tl_task tl_work_queue_next(tl_endpoint *endpoint);

/* Sends to any proc; proc 0 answers what comes to the writer meanwhile. */
void tl_endpoint_send(tl_endpoint *endpoint, int to, int tag, const void *bytes, size_t n);

/* Waits, asleep, for a message with that tag from that proc (-1: from any); proc 0 answers what comes to the writer
 * meanwhile. The caller frees message.v. */
tl_received tl_endpoint_await(tl_endpoint *endpoint, int from, int tag);

/* Sends the rows of a rank's event tables to the writer, and empties those tables; the NAME cells of all others are
 * rows of /names then. */
void tl_work_queue_deliver(tl_endpoint *endpoint, int64_t item, tl_rank_result *result);

/* To be called between blocks of long work: on proc 0, answers what has come to the writer.  endpoint is a
 * tl_endpoint. */
void tl_endpoint_tick(void *endpoint);

#endif
