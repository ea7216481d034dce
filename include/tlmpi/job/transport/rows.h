/* rows.h - collective moves of rows between procs, and from all procs to the file. */
#ifndef TLMPI_JOB_TRANSPORT_ROWS_H
#define TLMPI_JOB_TRANSPORT_ROWS_H

#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/store.h"
#include <stddef.h>
#include <stdint.h>

/* Collective.  Sets *out (the caller frees) and *nout, on proc 0, to the rows of all procs, in order of procs;
 * elsewhere to NULL and 0. */
void tl_collect_rows(const void *rows, size_t n, size_t size, void **out, size_t *nout);

/* Collective.  Moves each of the *n rows of `size` bytes at *rows to the proc goal(row, context).  Replaces *rows by
 * the rows received, in order of procs and, within a proc, in their order there.  tl_vec_move: for a TL_VEC. */
typedef int32_t tl_goal(const void *row, const void *context);
void tl_move_rows(void **rows, size_t *n, size_t size, tl_goal *goal, const void *context);
int32_t tl_to_first(const void *row, const void *context); /* to proc 0 */
#define tl_vec_move(vec, goal, context)                                                                                \
    (tl_move_rows((void **)&(vec)->v, &(vec)->n, sizeof *(vec)->v, goal, context), (void)((vec)->cap = (vec)->n))

/* Collective.  Adds the names of all procs on proc 0. */
void tl_collect_names(tl_names *names);

/* Collective.  Replaces each of n values by its minimum, or sum, over the procs. */
void tl_reduce_least(int64_t *values, size_t n);
void tl_reduce_sum(int64_t *values, size_t n);

/* Collective.  *before: the sum of n over the procs below this one; *total: over all procs. */
void tl_count_before(size_t n, size_t *before, size_t *total);

/* Collective.  Moves the rows of the scope's tables to proc 0, and sorts them there by key.  One gather for all tables,
 * since each gather has a fixed cost. */
void tl_gather_tables(tl_tables *tables, tl_scope scope);

/* Collective.  Fills *all, on proc 0, with the graphs of all ranks (analysis/verdict/graph.h) without nodes and edges,
 * ascending by rank; it stays empty elsewhere.  tl_rank_graphs_free ends it. */
void tl_graph_heads_collect(const tl_rank_graphs *own, tl_rank_graphs *all);

/* Collective.  Writes the tables of scope COLLECTIVE, proc after proc, and empties them.  store and epoch_ns: on proc
 * 0.  The same status and message on every proc. */
tl_status tl_stream_tables(tl_store *store, int64_t epoch_ns, tl_tables *tables, tl_error *err);

#endif
