/* store.h - the result file: tables to HDF5, on one proc.
 *
 *     /                     attributes: Conventions, schema_version, creator, epoch_ns, command_line ...
 *     /names                text, one row per distinct name; NAME cells hold its row number
 *     /name_bytes           the same texts, each with a 0 after it: what tlmpi reads
 *     /tables/<table>       one compound dataset per table, rows of all ranks in rank order
 *     /tables/interval_index    rank, first_row, nrows: one rank's rows without a scan (for every EVENT table T: T_index)
 *     /ranks/00003/interval     virtual dataset over that rank's rows of /tables/interval
 *
 * Before all datasets stands the seal: 512 bytes with the length and a checksum of the file, which HDF5 passes over.  A
 * file with any byte changed is refused before the HDF5 library, which may hang or crash on such a file, sees it; so
 * nothing may be added to a result.  For other readers each chunk of a table has HDF5's own checksum.
 *
 * The file is written under NAME.part and gets its name when all of it is on the disk; on any failure NAME.part is
 * removed and no file is left under the final name.
 *
 * The first header of the layer store, which keeps the results of a job: rows of tables are written here, packed by
 * pack.h, and read back by result.h and load.h.  No other layer knows HDF5.  May use base and model.
 */
#ifndef TLMPI_STORE_STORE_H
#define TLMPI_STORE_STORE_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/store/pack.h"

typedef struct tl_store tl_store;

/* Starts `path`.part.  TL_EOUTPUT: cannot be created, or `path` is there and force is not set. */
tl_status tl_store_create(const char *path, bool force, tl_store **out, tl_error *err);

/* Attributes of the root group. */
tl_status tl_store_attr_text(tl_store *store, const char *name, const char *text, tl_error *err);
tl_status tl_store_attr_int(tl_store *store, const char *name, int64_t value, tl_error *err);

/* The file has a dataset /tables/<schema->name>, with all its attributes, whether or not rows come; of a rare table only
 * where they do. */
tl_status tl_store_add_table(tl_store *store, const tl_schema *schema, tl_error *err);

/* Rows of a table, n of them from row `first` on, packed (pack.h).  They may come in any order; each row comes once.
 * Rows that do not fill a chunk wait in memory for their neighbours, one chunk for each place where two senders
 * meet. */
tl_status tl_store_rows(tl_store *store, const tl_schema *schema, uint64_t first, const void *packed, size_t n,
                        tl_error *err);

/* All rows of the table, from row 0 of the file's on; TIME cells lose epoch_ns. */
tl_status tl_store_table(tl_store *store, const tl_table *table, int64_t epoch_ns, tl_error *err);

/* One whole chunk of tl_chunk_rows rows, encoded by tl_chunk_encode: rows [chunk * tl_chunk_rows, ...). */
tl_status tl_store_chunk(tl_store *store, const tl_schema *schema, uint64_t chunk, const void *encoded, size_t nbytes,
                         tl_error *err);

/* The rows that belong to a rank, for the index and the view under /ranks; in rank order. */
tl_status tl_store_rank(tl_store *store, const tl_schema *schema, int32_t rank, uint64_t first, uint64_t n,
                        tl_error *err);

/* One more row of /names: the text of the next row number (0, 1, 2 ...). */
tl_status tl_store_name(tl_store *store, const char *text, size_t n, tl_error *err);

/* Writes what is left (names, index tables, views), flushes, closes, seals, syncs, renames.  Ends the store in any
 * case. */
tl_status tl_store_finish(tl_store *store, tl_error *err);

/* Gives up: removes NAME.part.  NULL is fine. */
void tl_store_abandon(tl_store *store);

#endif
