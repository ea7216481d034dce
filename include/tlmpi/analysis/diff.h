/* diff.h - two results compared: where does the difference of their step time come from, and is it more than chance?
 *
 *     tl_diff *diff = tl_diff_new(&(tl_diff_input){ .side = { a, b } });
 *     for each row of tables interval and call_tree of a side: tl_diff_take_interval(diff, side, row), tl_diff_take_node;
 *     tl_diff_compare(diff);
 *     ... rows of tl_diff_table(diff, &tl_diff_found_schema) ...
 *     tl_diff_free(diff);
 *
 * Reads tables of results alone, and no events: the step time is the median of the compared steps, its parts are those of
 * tables breakdown and exposed.  Steps that table health leaves out or in which a rank lost work are not compared, nor
 * ranks whose trace is cut.  Names are aligned where they are equal, then where they differ in numbers, template
 * arguments and addresses alone, then under the operator that launches them.
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
    tl_tables *tables;                       /* tl_diff_reads */
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell */
    void *name_arg;
    const char *selection; /* the selected part of the traces; NULL: everything */
} tl_diff_side;

typedef struct tl_diff_input {
    tl_diff_side side[2];
} tl_diff_input;

typedef struct tl_diff tl_diff;

/* The tables of the comparison, the verdict first; and those that it reads of a side, but for interval and
 * call_tree. */
const tl_schema *const *tl_diff_schemas(size_t *n);
const tl_schema *const *tl_diff_reads(size_t *n);

tl_diff *tl_diff_new(const tl_diff_input *input);
void tl_diff_free(tl_diff *diff); /* NULL is fine */

/* Takes a row of table interval of side 0 or 1, and one of table call_tree: those of a rank one after the other, in order. */
void tl_diff_take_interval(tl_diff *diff, int side, const tl_interval *row);
void tl_diff_take_node(tl_diff *diff, int side, const tl_call_tree *row);

/* Fills the tables.  Both sides must have ranks (tl_diff_basis). */
void tl_diff_compare(tl_diff *diff);

/* A table of tl_diff_schemas. */
const tl_table *tl_diff_table(const tl_diff *diff, const tl_schema *schema);

tl_text tl_diff_name(void *diff, uint32_t id); /* text of a NAME cell of these tables */

tl_diff_basis tl_diff_basis_of(const tl_diff *diff);

#endif
