/* load.h - tables of a result file, read back as rows of this program's own structs, for commands that work on an old
 * result.
 */
#ifndef TLMPI_STORE_LOAD_H
#define TLMPI_STORE_LOAD_H

#include "tlmpi/model/table.h"
#include "tlmpi/store/result.h"

/* What is done with a row, a struct of this program's that is gone after the call. */
typedef void tl_take_row(void *arg, const void *row, tl_error *err);

/* Hands every row of the file's table of that name to take; what take returns, unless TL_OK, ends it and is returned.
 * Columns are found by their name, enums by their labels.  TIME cells are Unix time again; NAME cells stay rows of
 * /names.  TL_EINPUT: the table or a column is missing or of another type, a cell holds a value that has no label, or
 * the rows cannot be read. */
tl_status tl_result_each(tl_result *result, const tl_schema *ours, tl_take_row *take, void *arg, tl_error *err);

/* Appends to each of the tables all rows of the file's table of that name; of one that the file has not, none, unless
 * it is one of the first `required`.  Fails as tl_result_each does. */
tl_status tl_result_load(tl_result *result, tl_tables *tables, size_t required, tl_error *err);

#endif
