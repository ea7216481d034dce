/* result.h - reads a result file, for show, ask, digest and tests.
 *
 * A file with any byte changed since it was written is rejected before any of it is used.  The check reads the
 * whole file once.  A file that was changed on purpose, and sealed again, can crash the HDF5 library.
 */
#ifndef TLMPI_STORE_RESULT_H
#define TLMPI_STORE_RESULT_H

#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"

typedef struct tl_result tl_result;

/* TL_EINPUT: the file cannot be opened, is not a result, is damaged, or has an unknown schema version. */
tl_status tl_result_open(const char *path, tl_result **out, tl_error *err);
void tl_result_close(tl_result *result);

/* tl_result_table returns the i-th of the tl_result_ntables tables, in order of name. */
size_t tl_result_ntables(const tl_result *result);
const tl_schema *tl_result_table(const tl_result *result, size_t i);

/* Returns the table of that name; NULL: none.  Its fields describe the rows as tl_result_read returns them: packed,
 * with unaligned offsets (read cells with memcpy); labels, units, docs, title and question are those of the file.
 * Owned by the result. */
const tl_schema *tl_result_find(const tl_result *result, const char *name);

uint64_t tl_result_nrows(const tl_result *result, const tl_schema *table);

/* Reads rows [first, first + n) into out, n * table->row_size bytes. */
tl_status tl_result_read(tl_result *result, const tl_schema *table, uint64_t first, size_t n, void *out, tl_error *err);

/* Returns row `id` of /names, valid until the result is closed; empty: there is no such row. */
tl_text tl_result_name(tl_result *result, uint32_t id);
size_t tl_result_nnames(const tl_result *result);

/* Reads a text attribute of the root into *out, which the caller frees; NULL: there is none of that name. */
tl_status tl_result_attr_text(const tl_result *result, const char *name, char **out, tl_error *err);

/* Reads an integer attribute of the root.  TL_EINPUT: absent. */
tl_status tl_result_attr_int(const tl_result *result, const char *name, int64_t *out, tl_error *err);

/* Computes a hash over all rows of a table, without SOURCE fields; equal content gives equal hashes, even if the bytes
 * of the files differ. */
tl_status tl_result_digest(tl_result *result, const tl_schema *table, uint64_t *out, tl_error *err);

/* Computes a hash over /names. */
void tl_result_digest_names(tl_result *result, uint64_t *out);

#endif
