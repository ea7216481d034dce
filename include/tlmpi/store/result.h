/* result.h - reading a result file back: for show, ask, digest and tests.
 *
 * A file with one byte changed since it was written is refused, whole, before anything of it is used.  The check reads
 * all of the file once, as fast as the disk or memory gives it.  A file that was changed on purpose, and sealed again,
 * can crash the HDF5 library.
 */
#ifndef TLMPI_STORE_RESULT_H
#define TLMPI_STORE_RESULT_H

#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"

typedef struct tl_result tl_result;

/* TL_EINPUT: cannot be opened, is none of ours, is damaged, or of a schema version that we do not know. */
tl_status tl_result_open(const char *path, tl_result **out, tl_error *err);
void tl_result_close(tl_result *result);

/* Tables of the file in the order of their names. */
size_t tl_result_ntables(const tl_result *result);
const tl_schema *tl_result_table(const tl_result *result, size_t i);

/* The table of that name, or NULL.  Its fields describe the rows as tl_result_read gives them: packed, offsets
 * unaligned (read cells with memcpy); labels, units, docs, title and question as the file holds them.  Owned by the
 * result. */
const tl_schema *tl_result_find(const tl_result *result, const char *name);

uint64_t tl_result_nrows(const tl_result *result, const tl_schema *table);

/* Rows [first, first + n) into out, n * table->row_size bytes. */
tl_status tl_result_read(tl_result *result, const tl_schema *table, uint64_t first, size_t n, void *out, tl_error *err);

/* Row `id` of /names, valid until the result is closed; the empty text when there is no such row. */
tl_text tl_result_name(tl_result *result, uint32_t id);
size_t tl_result_nnames(const tl_result *result);

/* Reads a text attribute of the root into *out, which the caller frees; NULL where there is none of that name. */
tl_status tl_result_attr_text(const tl_result *result, const char *name, char **out, tl_error *err);

/* A root attribute.  TL_EINPUT when it is absent. */
tl_status tl_result_attr_int(const tl_result *result, const char *name, int64_t *out, tl_error *err);

/* Hash over all rows of a table, SOURCE fields left out; equal content gives equal digests whatever the file's
 * bytes. */
tl_status tl_result_digest(tl_result *result, const tl_schema *table, uint64_t *out, tl_error *err);

/* The same over /names. */
void tl_result_digest_names(tl_result *result, uint64_t *out, tl_error *err);

#endif
