/* diff.h - two results compared: where does the difference of their step time come from, and is it more than chance?
 *
 *     tl_diff *diff = tl_diff_new(&(tl_diff_input){ .side = { a, b } });
 *     for each table of tl_diff_streams and each side, A first: for each row: tl_diff_take(diff, side, schema, row);
 *     tl_diff_compare(diff);
 *     ... rows of tl_diff_table(diff, &tl_diff_found_schema) ...
 *     tl_diff_free(diff);
 *
 * Reads tables of results, no traces: the step time is the median of the compared steps, its parts are those of
 * tables breakdown and exposed.  Steps that table health excludes, in which a rank lost work, or of which a cut trace
 * may lack a part are not compared, nor ranks whose trace is cut, unless all are.  If the jobs have other ranks, ranks
 * of one role are compared, and the roles of B weigh as in A.  Names are aligned if they are equal, then if they differ
 * only in numbers, template arguments and addresses, then by the operator that launches them.  If all traces of a side
 * are cut, tables diff_call_path and diff_idle are empty.
 */
#ifndef TLMPI_ANALYSIS_DIFF_H
#define TLMPI_ANALYSIS_DIFF_H

#include "tlmpi/model/diff_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/tree_table.h"

/* A result: rows are borrowed. */
typedef struct tl_diff_side {
    const char *path;
    tl_tables *tables;                       /* the tables of tl_diff_reads */
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell */
    void *name_arg;
    const char *selection; /* the selected part of the traces; NULL: everything */
    const char *run;       /* which of the runs that the traces hold, "2 of 3"; NULL: the only one */
} tl_diff_side;

typedef struct tl_diff_input {
    tl_diff_side side[2];
} tl_diff_input;

typedef struct tl_diff tl_diff;

/* Return the tables of the comparison, the verdict first; the tables of a side to read, and those taken by row. */
const tl_schema *const *tl_diff_schemas(size_t *n);
const tl_schema *const *tl_diff_reads(size_t *n);
const tl_schema *const *tl_diff_streams(size_t *n);

tl_diff *tl_diff_new(const tl_diff_input *input);
void tl_diff_free(tl_diff *diff); /* NULL is fine */

/* Takes a row of a table of tl_diff_streams, of side `which`, 0 or 1; the tables in order, and the rows of a rank in
 * table order. */
void tl_diff_take(tl_diff *diff, int which, const tl_schema *schema, const void *row);

/* Fills the tables.  Both sides must have ranks (tl_diff_basis). */
void tl_diff_compare(tl_diff *diff);

/* Returns a table of tl_diff_schemas. */
const tl_table *tl_diff_table(const tl_diff *diff, const tl_schema *schema);

tl_text tl_diff_name(void *diff, uint32_t id); /* text of a NAME cell of these tables */

tl_diff_basis tl_diff_basis_of(const tl_diff *diff);

#endif
