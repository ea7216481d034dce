/* store.h - writes the result file: tables to HDF5, on one proc.
 *
 *     /                     attributes: Conventions, schema_version, creator, epoch_ns, command_line ...
 *     /names                text, one row per distinct name; NAME cells hold its row number
 *     /name_bytes           the same texts, each with a 0 after it: what tlmpi reads
 *     /tables/<table>       one compound dataset per table, rows of all ranks in rank order
 *     /tables/interval_index    rank, first_row, nrows: one rank's rows without a scan (T_index of each EVENT table T)
 *     /ranks/00003/interval     virtual dataset over that rank's rows of /tables/interval
 *
 * The seal precedes all datasets: 512 bytes with the length and a checksum of the file, which HDF5 skips.  A file in
 * which any byte has changed is rejected before the HDF5 library, which may hang or crash on such a file, reads it; so
 * nothing can be added to a result.  For other readers each chunk of a table has HDF5's own checksum.
 *
 * The file is written as NAME.part and renamed once it is completely on the disk; after any failure NAME.part is
 * removed and no file has the final name.
 *
 * The layer store keeps the results of a job: rows of tables are packed by pack.h, written here, and read by result.h
 * and load.h. No other layer depends on HDF5.  May use base and model.
 */
#ifndef TLMPI_STORE_STORE_H
#define TLMPI_STORE_STORE_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/pack.h"

typedef struct tl_store tl_store;

/* Starts `path`.part.  TL_EOUTPUT: it cannot be created, or `path` exists and force is not set. */
tl_status tl_store_create(const char *path, bool force, tl_store **out, tl_error *err);

/* Set attributes of the root group. */
tl_status tl_store_attr_text(tl_store *store, const char *name, const char *text, tl_error *err);
tl_status tl_store_attr_int(tl_store *store, const char *name, int64_t value, tl_error *err);

/* Adds the dataset /tables/<schema->name> to the file, with all its attributes, with or without rows; a rare table only
 * if it has rows. */
tl_status tl_store_add_table(tl_store *store, const tl_schema *schema, tl_error *err);

/* Writes n rows of a table, from row `first` on, packed (pack.h).  Rows may come in any order; each row comes once.
 * Rows that do not fill a chunk wait in memory for the others, one chunk for each boundary between two senders. */
tl_status tl_store_rows(tl_store *store, const tl_schema *schema, uint64_t first, const void *packed, size_t n,
                        tl_error *err);

/* Writes all rows of the table, from row 0 of the file's table on; epoch_ns is subtracted from TIME cells. */
tl_status tl_store_table(tl_store *store, const tl_table *table, int64_t epoch_ns, tl_error *err);

/* Writes one complete chunk, encoded by tl_chunk_encode: rows [chunk * tl_chunk_rows, ...). */
tl_status tl_store_chunk(tl_store *store, const tl_schema *schema, uint64_t chunk, const void *encoded, size_t nbytes,
                         tl_error *err);

/* Sets the rows that belong to a rank, for the index and the view under /ranks; calls come in rank order. */
tl_status tl_store_rank(tl_store *store, const tl_schema *schema, int32_t rank, uint64_t first, uint64_t n,
                        tl_error *err);

/* Adds a row to /names; row numbers are 0, 1, 2 ... in order of calls. */
tl_status tl_store_name(tl_store *store, const char *text, size_t n, tl_error *err);

/* Writes the rest (names, index tables, views), flushes, closes, seals, syncs and renames.  Ends the store, also after
 * a failure. */
tl_status tl_store_finish(tl_store *store, tl_error *err);

/* Removes NAME.part and ends the store.  NULL is fine. */
void tl_store_abandon(tl_store *store);

#endif
