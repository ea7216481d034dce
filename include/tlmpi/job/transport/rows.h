/* rows.h - rows of all procs to proc 0, of proc 0 to all, and from all to the file.
 *
 * Everything here is collective, and fails everywhere or nowhere.
 */
#ifndef TLMPI_JOB_TRANSPORT_ROWS_H
#define TLMPI_JOB_TRANSPORT_ROWS_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------------------ share */

/* What all have, to proc 0. */

/* Collective.  Every proc's n rows, in the order of procs, to proc 0: *out (the caller frees) and *nout there, NULL and
 * 0 elsewhere.  counts: room for as many as there are procs, gets each one's n on proc 0; or NULL. */
void tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout, size_t *counts);

/* Collective.  Each of n values becomes the least, or the sum, of what the procs have at its place. */
void tl_reduce_least(int64_t *values, size_t n);
void tl_reduce_sum(int64_t *values, size_t n);

/* Collective.  How many the procs before this one have, when each has n; *total: how many all have. */
void tl_count_before(size_t n, size_t *before, size_t *total);

/* ----------------------------------------------------------------------------------------------------------- gather */

/* The rows of whole tables, from all procs to proc 0. */

/* Collective.  The rows of the scope's tables, of all procs, to proc 0, in the order of their keys; elsewhere these
 * tables are empty then.  All tables go at once: each round of all procs takes its time, however little is in it.  The
 * same status and message on every proc. */
void tl_gather_tables(tl_tables *tables, tl_scope scope);

/* ----------------------------------------------------------------------------------------------------------- graphs */

/* Collective.  What proc 0 has to know of the graphs of ranks (analysis/graph.h) before it can ask for more: *all gets,
 * on proc 0, those of all procs without nodes and edges, ascending by rank, and stays empty elsewhere;
 * tl_rank_graphs_free ends it.  The same status and message on every proc. */
void tl_graph_heads_collect(const tl_rank_graphs *own, tl_rank_graphs *all);

/* ----------------------------------------------------------------------------------------------------------- stream */

/* Rows of collectives, from the procs that have them to the file. */

/* Collective.  Writes the tables of scope COLLECTIVE, proc after proc, and empties them.  store and epoch_ns: on proc
 * 0.  The same status and message on every proc. */
tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err);

#endif
