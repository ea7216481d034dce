/* h5_write.c - the result file from its first byte to its name.
 *
 *     create   NAME.part (part_file.c), the frame of the file
 *     fill     tables (h5_rows.c), names (h5_names.c)
 *     finish   last chunks, index tables and views (h5_ranks.c)
 *              close; seal (seal.c); open again and compare; NAME.part becomes NAME
 *
 * A full disk shows late in this library: a chunk may fail in a later call than the one that wrote it, and closing the
 * file may succeed after rows were lost.  So every call is checked, the first failure is final, and nothing gets the
 * final name that has not been read back.
 */
#include "h5.h"
#include "h5_names.h"
#include "h5_ranks.h"
#include "h5_rows.h"
#include "seal.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/store/store.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct stored {
    tl_h5_rows rows;
    tl_h5_ranks ranks;
} stored;

struct tl_store {
    tl_part_file part;
    hid_t file, group; /* group: /tables */
    tl_h5_names names;
    TL_VEC(stored) tables;
    tl_h5_room room;
    tl_error broken; /* the first failure, after which there is no way but to give up; status TL_OK: none */
};

/* Keeps the first failure. */
static tl_status note(tl_store *store, tl_status st, const tl_error *why, tl_error *err)
{
    if (st != TL_OK && store->broken.status == TL_OK)
        store->broken = *why;
    return st == TL_OK ? TL_OK : tl_fail(err, st, "%s", why->text);
}

static tl_status still_whole(const tl_store *store, tl_error *err)
{
    return store->broken.status == TL_OK ? TL_OK : tl_fail(err, store->broken.status, "%s", store->broken.text);
}

/* Creates the file itself, exclusively: an existing link of that name is not followed. */
static tl_status create_file(tl_store *store, tl_error *err)
{
    tl_status st = TL_OK;
    hid_t access = tl_h5_file_access(), create = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && create >= 0 && H5Pset_userblock(create, TL_SEAL_BYTES) >= 0)
        store->file = H5Fcreate(store->part.part, H5F_ACC_EXCL, create, access);
    if (store->file < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, -1, "%s", store->part.part);
    tl_h5_close(create);
    tl_h5_close(access);
    return st == TL_OK ? tl_part_file_created(&store->part, err) : st;
}

static tl_status put_frame(tl_store *store, tl_error *err)
{
    hid_t file = store->file;
    if (tl_h5_put_text(file, "Conventions", TL_H5_CONVENTIONS) < 0 ||
        tl_h5_put_int(file, "schema_version", TL_H5_SCHEMA_VERSION) < 0 ||
        tl_h5_put_text(file, "creator", "tlmpi") < 0 || tl_h5_put_text(file, "creator_version", TLMPI_VERSION) < 0 ||
        (store->group = H5Gcreate2(file, "/tables", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) < 0)
        return tl_h5_fail(err, TL_EOUTPUT, file, "start of the file");
    store->names.file = file;
    return TL_OK;
}

tl_status tl_store_create(const char *path, bool force, tl_store **out, tl_error *err)
{
    tl_status st;
    tl_store *store = tl_calloc(1, sizeof *store);
    store->part = (tl_part_file)TL_PART_FILE_INIT;
    store->names = (tl_h5_names)TL_H5_NAMES_INIT;
    store->file = store->group = -1;

    tl_h5_start();
    if ((st = tl_part_file_begin(&store->part, path, force, err)) != TL_OK || (st = create_file(store, err)) != TL_OK ||
        (st = put_frame(store, err)) != TL_OK) {
        tl_store_abandon(store);
        return st;
    }
    *out = store;
    return TL_OK;
}

static tl_status attr_written(tl_store *store, const char *name, herr_t rc, tl_error *err)
{
    tl_error why;
    if (rc >= 0)
        return TL_OK;
    return note(store, tl_h5_fail(&why, TL_EOUTPUT, store->file, "attribute %s", name), &why, err);
}

tl_status tl_store_attr_text(tl_store *store, const char *name, const char *text, tl_error *err)
{
    return attr_written(store, name, tl_h5_put_text(store->file, name, text), err);
}

tl_status tl_store_attr_int(tl_store *store, const char *name, int64_t value, tl_error *err)
{
    return attr_written(store, name, tl_h5_put_int(store->file, name, value), err);
}

static stored *find_table(tl_store *store, const tl_schema *schema)
{
    for (size_t i = 0; i < store->tables.n; i++)
        if (store->tables.v[i].rows.schema == schema)
            return &store->tables.v[i];
    return NULL;
}

static tl_status no_table(const tl_schema *schema, tl_error *why)
{
    return tl_fail(why, TL_EINTERNAL, "table %s has not been added to the file", schema->name);
}

/* A rare table is there where it has rows. */
static bool is_there(const stored *table)
{
    return !table->rows.schema->rare || table->rows.given > 0;
}

tl_status tl_store_add_table(tl_store *store, const tl_schema *schema, tl_error *err)
{
    tl_status st = still_whole(store, err);
    if (st != TL_OK)
        return st;
    tl_vec_room(&store->tables);
    stored *table = &store->tables.v[store->tables.n++];
    *table = (stored){ .rows = TL_H5_ROWS_INIT };
    tl_h5_rows_begin(&table->rows, store->group, schema, &store->room);
    return TL_OK;
}

tl_status tl_store_rows(tl_store *store, const tl_schema *schema, uint64_t first, const void *packed, size_t n,
                        tl_error *err)
{
    tl_error why;
    tl_status st = still_whole(store, err);
    if (st != TL_OK)
        return st;
    stored *table = find_table(store, schema);
    st = table != NULL ? tl_h5_rows_add(&table->rows, first, packed, n, &why) : no_table(schema, &why);
    return note(store, st, &why, err);
}

tl_status tl_store_chunk(tl_store *store, const tl_schema *schema, uint64_t chunk, const void *encoded, size_t nbytes,
                         tl_error *err)
{
    tl_error why;
    tl_status st = still_whole(store, err);
    if (st != TL_OK)
        return st;
    stored *table = find_table(store, schema);
    st = table != NULL ? tl_h5_rows_add_chunk(&table->rows, chunk, encoded, nbytes, &why) : no_table(schema, &why);
    return note(store, st, &why, err);
}

tl_status tl_store_rank(tl_store *store, const tl_schema *schema, int32_t rank, uint64_t first, uint64_t n,
                        tl_error *err)
{
    tl_error why;
    tl_status st = still_whole(store, err);
    if (st != TL_OK)
        return st;
    stored *table = find_table(store, schema);
    if (table == NULL)
        return note(store, no_table(schema, &why), &why, err);
    tl_vec_room(&table->ranks.ranges);
    table->ranks.ranges.v[table->ranks.ranges.n++] = (tl_h5_range){ rank, first, n };
    return TL_OK;
}

tl_status tl_store_name(tl_store *store, const char *text, size_t n, tl_error *err)
{
    tl_error why;
    tl_status st = still_whole(store, err);
    return st == TL_OK ? note(store, tl_h5_names_add(&store->names, text, n, &why), &why, err) : st;
}

static tl_status write_rest(tl_store *store, tl_error *err)
{
    tl_status st = tl_h5_names_flush(&store->names, err);
    for (size_t i = 0; st == TL_OK && i < store->tables.n; i++)
        st = is_there(&store->tables.v[i]) ? tl_h5_rows_flush(&store->tables.v[i].rows, err) : TL_OK;
    for (size_t i = 0; st == TL_OK && i < store->tables.n; i++) {
        stored *table = &store->tables.v[i];
        if (table->rows.schema->scope != TL_SCOPE_EVENT || !is_there(table))
            continue;
        st = tl_h5_write_index(&table->rows, &table->ranks, err);
        if (st == TL_OK)
            st = tl_h5_write_views(store->file, &table->rows, &table->ranks, err);
    }
    return st;
}

/* Rows that a table must have when it is read back. */
typedef struct expected {
    const char *name;
    uint64_t nrows;
} expected;

/* Closes the file and everything in it.  The cause of a failure is told by the first call that fails. */
static tl_status close_file(tl_store *store, tl_error *err)
{
    tl_status st = TL_OK;
    if (H5Fflush(store->file, H5F_SCOPE_GLOBAL) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, store->file, "flush");
    for (size_t i = 0; i < store->tables.n; i++)
        if (tl_h5_rows_free(&store->tables.v[i].rows) < 0 && st == TL_OK)
            st = tl_h5_fail(err, TL_EOUTPUT, store->file, "closing a table");
    if (tl_h5_names_free(&store->names) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, store->file, "closing the names");
    if (tl_h5_close(store->group) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, store->file, "closing the tables");
    store->group = -1;
    if (H5Fclose(store->file) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, store->file, "close");
    store->file = -1;
    return st;
}

/* Reads the last row of a table, and with it its last chunk. */
static tl_status prove_table(hid_t file, const expected *want, tl_error *err)
{
    char path[300];
    uint64_t nrows = 0;
    snprintf(path, sizeof path, "/tables/%s", want->name);
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), type = dataset >= 0 ? H5Dget_type(dataset) : -1;
    size_t row_size = type >= 0 ? H5Tget_size(type) : 0;
    void *row = row_size > 0 ? tl_malloc(row_size) : NULL;
    tl_status st = row_size == 0 ? tl_h5_fail(err, TL_EOUTPUT, file, "%s", path)
                   : row == NULL ? tl_fail_memory(err, "reading the result back")
                                 : tl_h5_count_rows(dataset, row_size, &nrows, err);
    if (st == TL_OK && nrows != want->nrows)
        st = tl_fail(err, TL_EOUTPUT, "table %s has not the rows that were written", want->name);
    if (st == TL_OK && nrows > 0)
        st = tl_h5_read_rows(dataset, want->name, type, nrows - 1, 1, row, err);
    free(row);
    tl_h5_close(type);
    tl_h5_close(dataset);
    return st;
}

static tl_status prove_file(const char *part, const expected *want, size_t n, uint64_t nnames, tl_error *err)
{
    tl_error why;
    tl_h5_name_list names = { 0 };
    hid_t file = -1;
    tl_status st = tl_h5_open_sealed(part, &file, &why);
    if (st == TL_OK && (st = tl_h5_names_read(&names, file, &why)) == TL_OK && names.starts.n != nnames)
        st = tl_fail(&why, TL_EOUTPUT, "/names has not the rows that were written");
    for (size_t i = 0; st == TL_OK && i < n; i++)
        st = prove_table(file, &want[i], &why);
    tl_h5_name_list_free(&names);
    if (file >= 0)
        H5Fclose(file);
    if (st == TL_OK)
        return TL_OK;
    return tl_fail(err, st == TL_ENOMEM ? st : TL_EOUTPUT, "does not read back: %s", why.text);
}

/* What must be read back: the tables and the indexes. */
static void list_expected(const tl_store *store, expected **out, size_t *n)
{
    expected *want = tl_calloc(2 * store->tables.n, sizeof *want);
    *out = want;
    *n = 0;
    for (size_t i = 0; i < store->tables.n; i++) {
        const stored *table = &store->tables.v[i];
        if (!is_there(table))
            continue;
        want[(*n)++] = (expected){ table->rows.schema->name, table->rows.end };
        if (table->ranks.index_name != NULL)
            want[(*n)++] = (expected){ table->ranks.index_name, table->ranks.ranges.n };
    }
}

tl_status tl_store_finish(tl_store *store, tl_error *err)
{
    expected *want = NULL;
    size_t nwant = 0;
    uint64_t nnames = 0;

    tl_status st = still_whole(store, err);
    if (st == TL_OK)
        st = write_rest(store, err);
    if (st == TL_OK)
        list_expected(store, &want, &nwant);
    if (st == TL_OK) {
        nnames = store->names.nwritten;
        st = close_file(store, err);
    }
    if (st == TL_OK)
        st = tl_part_file_hold(&store->part, err);
    if (st == TL_OK)
        st = tl_seal_write(store->part.part, err);
    if (st == TL_OK)
        st = prove_file(store->part.part, want, nwant, nnames, err);
    if (st == TL_OK)
        st = tl_part_file_publish(&store->part, err);
    free(want);
    tl_store_abandon(store);
    return st;
}

void tl_store_abandon(tl_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->tables.n; i++) {
        tl_h5_rows_free(&store->tables.v[i].rows);
        tl_h5_ranks_free(&store->tables.v[i].ranks);
    }
    free(store->tables.v);
    tl_h5_room_free(&store->room);
    tl_h5_names_free(&store->names);
    tl_h5_close(store->group);
    if (store->file >= 0)
        H5Fclose(store->file);
    tl_part_file_drop(&store->part);
    free(store);
}
