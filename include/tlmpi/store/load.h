/* load.h - reads tables of a result file as rows of this program's structs, for commands that use an earlier result. */
#ifndef TLMPI_STORE_LOAD_H
#define TLMPI_STORE_LOAD_H

#include "tlmpi/model/table.h"
#include "tlmpi/store/result.h"

/* Handles a row, a struct of this program, which is valid during the call. */
typedef void tl_take_row(void *arg, const void *row);

/* Calls take for every row of the file's table with our schema's name.  Columns are matched by name, enums by label.
 * TIME cells are converted to Unix time; NAME cells stay row numbers of /names.  TL_EINPUT: the table or a column is
 * missing or of another type, a cell has a value without a label, or the rows cannot be read. */
tl_status tl_result_each(tl_result *result, const tl_schema *ours, tl_take_row *take, void *arg, tl_error *err);

/* Appends to each of the tables all rows of the file's table of that name; none if the file lacks the table, unless it
 * is among the first `required`.  Errors as for tl_result_each. */
tl_status tl_result_load(tl_result *result, tl_tables *tables, size_t required, tl_error *err);

#endif
