/* rows.h - rows of all procs to proc 0, of proc 0 to all, and from all to the file.
 *
 * Everything here is collective.
 */
#ifndef TLMPI_JOB_TRANSPORT_ROWS_H
#define TLMPI_JOB_TRANSPORT_ROWS_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"
#include <stddef.h>
#include <stdint.h>

/* Collective.  Every proc's n rows, in the order of procs, to proc 0: *out (the caller frees) and *nout there, NULL and
 * 0 elsewhere. */
void tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout);

/* Collective.  Each of the *n rows of `size` bytes at *rows goes to the proc goal(row, context).  *rows is freed, and
 * holds the rows that have come, from one proc after the other, as they lay there.  tl_vec_move: of a TL_VEC. */
typedef int32_t tl_goal(const void *row, const void *context);
void tl_move_rows(void **rows, size_t *n, size_t size, tl_goal *goal, const void *context);
#define tl_vec_move(vec, goal, context)                                                                                \
    (tl_move_rows((void **)&(vec)->v, &(vec)->n, sizeof *(vec)->v, goal, context), (void)((vec)->cap = (vec)->n))

/* Collective.  Each of n values becomes the least, or the sum, of what the procs have at its place. */
void tl_reduce_least(int64_t *values, size_t n);
void tl_reduce_sum(int64_t *values, size_t n);

/* Collective.  How many the procs before this one have, when each has n; *total: how many all have. */
void tl_count_before(size_t n, size_t *before, size_t *total);

/* Collective.  The rows of the scope's tables, of all procs, to proc 0, in the order of their keys; elsewhere these
 * tables are empty then.  All tables go at once: each round of all procs takes its time, however little is in it. */
void tl_gather_tables(tl_tables *tables, tl_scope scope);

/* Collective.  What proc 0 has to know of the graphs of ranks (analysis/graph.h) before it can ask for more: *all gets,
 * on proc 0, those of all procs without nodes and edges, ascending by rank, and stays empty elsewhere;
 * tl_rank_graphs_free ends it. */
void tl_graph_heads_collect(const tl_rank_graphs *own, tl_rank_graphs *all);

/* Collective.  Writes the tables of scope COLLECTIVE, proc after proc, and empties them.  store and epoch_ns: on proc
 * 0.  The same status and message on every proc. */
tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err);

#endif
