/* table.h - rows of one schema, in memory.
 *
 *     tl_breakdown *row = tl_table_add(&out->breakdown);       a zeroed row
 */
#ifndef TLMPI_MODEL_TABLE_H
#define TLMPI_MODEL_TABLE_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include <stdbool.h>

/* Initialise with { .schema = &tl_x_schema }; tl_table_free ends it. */
typedef struct tl_table {
    const tl_schema *schema;
    unsigned char *rows; /* n rows of schema->row_size bytes */
    size_t n, cap;
} tl_table;

/* Reserves room for n more rows, so that appending them moves no rows. */
void tl_table_reserve(tl_table *table, size_t n);

/* Returns a new zeroed row at the end, which the table owns; valid until the next call. */
void *tl_table_add(tl_table *table);

/* Appends n rows of the same schema. */
void tl_table_append(tl_table *table, const void *rows, size_t n);

/* Adds the measures of a row that are times or counts (I64, none negative) to those of `sum`, a row of the same
 * schema. */
void tl_row_add(const tl_schema *schema, void *sum, const void *row);

/* Moves row order[i] to place i, each row once; overwrites order. */
void tl_table_arrange(const tl_table *table, uint32_t *order);

/* Sorts by the KEY fields, left to right; equal keys stay in their order. */
void tl_table_sort(tl_table *table);

/* Sorts the rows from `first` on by the KEY fields, and merges rows with equal keys: add(sum, row) adds a row to the
 * first of them; NULL: tl_row_add does. */
void tl_table_unite(tl_table *table, size_t first, void (*add)(void *sum, const void *row));

/* Replaces the id in every NAME cell by row_of[id]. */
void tl_table_set_name_rows(tl_table *table, const uint32_t *row_of);

void tl_table_free(tl_table *table);

/* Returns row i, as its struct; row 0 of a table without rows may be NULL, and NULL + 0 is allowed here. */
__attribute__((no_sanitize("pointer-overflow"))) static inline void *tl_table_row(const tl_table *table, size_t i)
{
    return table->rows + i * table->schema->row_size;
}

/* Loops over the rows of the table, each a T; T may be const.  NOLINTBEGIN(bugprone-macro-parentheses) */
#define TL_ROWS(T, row, table)                                                                                         \
    for (T *row = tl_table_row(table, 0), *const row##_end = (table)->n > 0 ? row + (table)->n : row;                  \
         row != row##_end; row++)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Returns the first row of the rank, or of the next rank that has rows; n: there is none.  Rows are in order of
 * rank, and rank is their first cell. */
size_t tl_table_from_rank(const tl_table *table, int32_t rank);

/* Returns the first row of the rank in a table sorted by rank, its first cell; NULL: the rank has none. */
const void *tl_row_of_rank(const tl_table *table, int32_t rank);

/* Returns the field with that name; NULL: none. */
const tl_field *tl_schema_field(const tl_schema *schema, const char *name);

/* Returns the label for a value of an ENUM column; NULL: none. */
const char *tl_field_label(const tl_field *field, unsigned value);

/* The value of a cell: `i` of I32, I64, TIME, NAME (its id) and ENUM, `d` of F64, `text` of TEXT and ENUM (its label; p
 * is NULL without one).  `none`: NaN, an unknown time, or no name.  The row may be packed, cells unaligned. */
typedef struct tl_content {
    bool none;
    int64_t i;
    double d;
    tl_text text; /* borrowed from the row, or a label */
} tl_content;

tl_content tl_content_of(const tl_field *field, const void *row);

/* Copies a text into a cell of `size` bytes: padded with 0, cut at a whole UTF-8 character. */
void tl_cell_text(char *cell, size_t size, const char *text, size_t n);

static inline void tl_cell_put(char *cell, size_t size, tl_text text)
{
    tl_cell_text(cell, size, text.p, text.n);
}

/* Copies a path into a cell.  A path longer than `size` (more than 3) loses its front: the cell then begins with
 * "..." and, where possible, with a whole folder name. */
void tl_cell_path(char *cell, size_t size, const char *path);

/* Tables of one rank or of the job, one for each schema of the registry, in its order. */
typedef struct tl_tables {
    tl_table *v;
    size_t n;
    tl_names *names; /* names that an analysis may add to: /names for the job's tables on proc 0, the view's names
                      * for a rank's tables.  Borrowed; NULL elsewhere */
} tl_tables;

/* Creates one empty table for each of the n schemas. */
void tl_tables_init(tl_tables *tables, const tl_schema *const *schemas, size_t n);
void tl_tables_free(tl_tables *tables);

/* Returns the table of the schema, which must be in `tables`. */
tl_table *tl_tables_get(tl_tables *tables, const tl_schema *schema);

#endif
