/* load.h - tables of a result file, read back as rows of this program's own structs, for commands that work on an old
 * result.
 */
#ifndef TLMPI_STORE_LOAD_H
#define TLMPI_STORE_LOAD_H

#include "tlmpi/model/table.h"
#include "tlmpi/store/result.h"

/* Appends to each of the tables all rows of the file's table of that name; of one that the file has not, none.  Columns
 * are found by their name, enums by their labels.  TIME cells are Unix time again; NAME cells stay rows of /names.
 * TL_EINPUT: one of the first `required` is not there, a column is missing or of another type, a cell holds a value
 * that has no label, or the rows cannot be read.  TL_ENOMEM. */
tl_status tl_result_load(tl_result *result, tl_tables *tables, size_t required, tl_error *err);

#endif
