/* h5_write.c - writes the result file.
 *
 *     create   NAME.part (part_file.c), the groups and first attributes of the file
 *     fill     tables (h5_rows.c), names (h5_names.c)
 *     finish   last chunks; for each table of events an index and, for each rank, a view
 *
 * This library reports a full disk late: a chunk may fail in a later call than the one that wrote it, and closing the
 * file may succeed after rows were lost.  So every call is checked, the first failure is final, and everything is
 * flushed before the file is closed.
 *
 *     /tables/interval          [ rank 0 | rank 1          | rank 2 ]
 *     /tables/interval_index    { 0, 0, 8 }, { 1, 8, 17 }, ...
 *     /ranks/00001/interval              [ rows of rank 1  ]
 *
 * A view is a virtual dataset; its source is /tables/interval of the file ".", which is the file itself under any name.
 * h5py, PyTables and HDFView read it like any other; a reader of HDF5 1.8 does not support virtual datasets and sees
 * the rest of the file.  A view is marked as a table but has no descriptions, nor attributes with column names: a
 * thousand copies would take some megabytes, and most of the time of writing.  The views of a table share one type in
 * the file.
 */
#include "h5.h"
#include "seal.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of ranks with views; a larger job has the index alone: a file of more objects opens slowly. */
#define MAX_VIEWS 1024

/* Half of the number of entries in a node of an index of chunks, and in a node and a leaf of the index of the root.
 * Most tables have one chunk, and the root four links: with the library's defaults the nodes would take 3 KiB. */
enum { CHUNKS_HALF = 8, NODES_HALF = 4, LINKS_HALF = 2 };

/* The rows of a rank: [first, first + n) of the table. */
typedef struct range {
    int32_t rank;
    uint64_t first, n;
} range;

typedef struct stored {
    tl_h5_rows rows;
    TL_VEC(range) ranges; /* in rank order */
} stored;

struct tl_store {
    tl_part_file part;
    hid_t file, group; /* group: /tables */
    tl_h5_names names;
    TL_VEC(stored) tables;
    tl_h5_room room;
    tl_error broken; /* the first failure, after which the store can only be abandoned; status TL_OK: none */
};

/* Returns TL_OK, or the store's first failure. */
static tl_status state_of(const tl_store *store, tl_error *err)
{
    return store->broken.status == TL_OK ? TL_OK : tl_fail(err, store->broken.status, "%s", store->broken.text);
}

/* Creates the file, exclusively: an existing link of that name is not followed.  Of the two formats that HDF5 1.8
 * reads, the root has the older one, without creation time, and all else the newer one, which is shorter. */
static tl_status create_file(tl_store *store, tl_error *err)
{
    tl_status st = TL_OK;
    hid_t access = tl_h5_file_access(), create = H5Pcreate(H5P_FILE_CREATE);
    if (access >= 0 && create >= 0 && H5Pset_userblock(create, TL_SEAL_BYTES) >= 0 &&
        H5Pset_istore_k(create, CHUNKS_HALF) >= 0 && H5Pset_sym_k(create, NODES_HALF, LINKS_HALF) >= 0)
        store->file = H5Fcreate(store->part.part, H5F_ACC_EXCL, create, access);
    if (store->file < 0 || H5Fset_libver_bounds(store->file, H5F_LIBVER_V18, H5F_LIBVER_LATEST) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, -1, "%s", store->part.part);
    tl_h5_close(create);
    tl_h5_close(access);
    return st == TL_OK ? tl_part_file_created(&store->part, err) : st;
}

/* Creates a group without creation time. */
static hid_t create_group(hid_t file, const char *path)
{
    hid_t plist = H5Pcreate(H5P_GROUP_CREATE), group = -1;
    if (plist >= 0 && H5Pset_obj_track_times(plist, false) >= 0)
        group = H5Gcreate2(file, path, H5P_DEFAULT, plist, H5P_DEFAULT);
    tl_h5_close(plist);
    return group;
}

/* Opens the group, creating it if there is none. */
static hid_t open_group(hid_t file, const char *path)
{
    return H5Lexists(file, path, H5P_DEFAULT) > 0 ? H5Gopen2(file, path, H5P_DEFAULT) : create_group(file, path);
}

static tl_status write_frame(tl_store *store, tl_error *err)
{
    hid_t file = store->file;
    if (tl_h5_put_text(file, "Conventions", TL_H5_CONVENTIONS) < 0 ||
        tl_h5_put_int(file, "schema_version", TL_H5_SCHEMA_VERSION) < 0 ||
        tl_h5_put_text(file, "creator", "tlmpi") < 0 || tl_h5_put_text(file, "creator_version", TLMPI_VERSION) < 0 ||
        (store->group = create_group(file, "/tables")) < 0)
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
        (st = write_frame(store, err)) != TL_OK) {
        tl_store_abandon(store);
        return st;
    }
    *out = store;
    return TL_OK;
}

static tl_status attr_written(tl_store *store, const char *name, herr_t rc, tl_error *err)
{
    if (rc < 0 && store->broken.status == TL_OK)
        (void)tl_h5_fail(&store->broken, TL_EOUTPUT, store->file, "attribute %s", name);
    return state_of(store, err);
}

tl_status tl_store_attr_text(tl_store *store, const char *name, const char *text, tl_error *err)
{
    return attr_written(store, name, tl_h5_put_text(store->file, name, text), err);
}

tl_status tl_store_attr_int(tl_store *store, const char *name, int64_t value, tl_error *err)
{
    return attr_written(store, name, tl_h5_put_int(store->file, name, value), err);
}

/* Returns the table if nothing has failed; NULL: store->broken has the reason. */
static stored *table_of(tl_store *store, const tl_schema *schema)
{
    for (size_t i = 0; store->broken.status == TL_OK && i < store->tables.n; i++)
        if (store->tables.v[i].rows.schema == schema)
            return &store->tables.v[i];
    if (store->broken.status == TL_OK)
        (void)tl_fail(&store->broken, TL_EINTERNAL, "table %s has not been added to the file", schema->name);
    return NULL;
}

/* Whether the table is in the file: a rare table only if it has rows. */
static bool is_there(const stored *table)
{
    return !table->rows.schema->rare || table->rows.given > 0;
}

tl_status tl_store_add_table(tl_store *store, const tl_schema *schema, tl_error *err)
{
    tl_vec_push(&store->tables, (stored){ .rows = TL_H5_ROWS_INIT });
    tl_h5_rows_begin(&store->tables.v[store->tables.n - 1].rows, store->group, schema, &store->room);
    return state_of(store, err);
}

tl_status tl_store_rows(tl_store *store, const tl_schema *schema, uint64_t first, const void *packed, size_t n,
                        tl_error *err)
{
    stored *table = table_of(store, schema);
    if (table != NULL)
        (void)tl_h5_rows_add(&table->rows, first, packed, n, &store->broken);
    return state_of(store, err);
}

tl_status tl_store_table(tl_store *store, const tl_table *table, int64_t epoch_ns, tl_error *err)
{
    const size_t most = tl_chunk_rows(table->schema), block = table->n < most ? table->n : most;
    char *packed = tl_malloc(block * tl_packed_size(table->schema));
    tl_status st = TL_OK;

    for (size_t i = 0, n; st == TL_OK && i < table->n; i += n) {
        n = table->n - i < block ? table->n - i : block;
        tl_pack(table->schema, tl_table_row(table, i), n, epoch_ns, packed);
        st = tl_store_rows(store, table->schema, i, packed, n, err);
    }
    free(packed);
    return st;
}

tl_status tl_store_chunk(tl_store *store, const tl_schema *schema, uint64_t chunk, const void *encoded, size_t nbytes,
                         tl_error *err)
{
    stored *table = table_of(store, schema);
    if (table != NULL)
        (void)tl_h5_rows_add_chunk(&table->rows, chunk, encoded, nbytes, &store->broken);
    return state_of(store, err);
}

tl_status tl_store_rank(tl_store *store, const tl_schema *schema, int32_t rank, uint64_t first, uint64_t n,
                        tl_error *err)
{
    stored *table = table_of(store, schema);
    if (table != NULL)
        tl_vec_push(&table->ranges, (range){ rank, first, n });
    return state_of(store, err);
}

tl_status tl_store_name(tl_store *store, const char *text, size_t n, tl_error *err)
{
    if (store->broken.status == TL_OK)
        (void)tl_h5_names_add(&store->names, text, n, &store->broken);
    return state_of(store, err);
}

/* ------------------------------------------------------------------------------------------------ indexes and views */

/* Writes the table <name>_index {rank, first_row, nrows}.  TL_EINTERNAL: rows are missing. */
static tl_status write_index(const stored *table, tl_error *err)
{
    const tl_h5_rows *of = &table->rows;
    const size_t n = table->ranges.n;
    char name[128];
    tl_h5_rows out = TL_H5_ROWS_INIT;
    tl_schema schema = tl_row_index_schema;
    tl_row_index *rows = tl_calloc(n, sizeof *rows);
    void *packed = tl_calloc(n, tl_packed_size(&schema));
    tl_status st = TL_OK;

    snprintf(name, sizeof name, "%s_index", of->schema->name);
    schema.name = name;
    for (size_t i = 0; st == TL_OK && i < n; i++) {
        const range *p = &table->ranges.v[i];
        rows[i] = (tl_row_index){ .rank = p->rank, .first_row = (int64_t)p->first, .nrows = (int64_t)p->n };
        if (p->first > of->end || p->n > of->end - p->first)
            st = tl_fail(err, TL_EINTERNAL, "table %s: rank %d has rows that never came", of->schema->name,
                         (int)p->rank);
    }
    tl_pack(&schema, rows, n, 0, packed);
    tl_h5_rows_begin(&out, of->group, &schema, of->room);
    if (st == TL_OK)
        st = tl_h5_rows_add(&out, 0, packed, n, err);
    if (st == TL_OK)
        st = tl_h5_rows_flush(&out, err);
    if (tl_h5_rows_free(&out) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, of->group, "index of table %s", of->schema->name);
    free(packed);
    free(rows);
    return st;
}

/* Returns the property list of a view: rows [part->first, ...) of the table, whose space is `source`. */
static hid_t view_plist(const char *table, hid_t source, hid_t space, const range *part)
{
    hsize_t start = part->first, count = part->n;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (plist < 0 || H5Pset_obj_track_times(plist, false) < 0)
        goto fail;
    /* Without rows there is nothing to map: the view is then an ordinary empty dataset. */
    if (part->n > 0 && (H5Sselect_hyperslab(source, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
                        H5Pset_virtual(plist, space, ".", table, source) < 0))
        goto fail;
    return plist;

fail:
    tl_h5_close(plist);
    return -1;
}

static tl_status write_view(hid_t file, const tl_h5_rows *table, hid_t type, hid_t source, const range *part,
                            tl_error *err)
{
    char path[300], view[320], rank[32];
    tl_status st = TL_OK;
    hsize_t count = part->n;
    tl_h5_need(0);
    hid_t plist = -1, dataset = -1, group = -1, space = H5Screate_simple(1, &count, NULL);

    snprintf(path, sizeof path, "/tables/%s", table->schema->name);
    snprintf(rank, sizeof rank, "/ranks/%05d", (int)part->rank);
    snprintf(view, sizeof view, "%s/%s", rank, table->schema->name);
    group = open_group(file, rank);
    if (group < 0 || space < 0 || (plist = view_plist(path, source, space, part)) < 0 ||
        (dataset = H5Dcreate2(group, table->schema->name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT)) < 0 ||
        tl_h5_mark_table(dataset, table->schema) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "%s", view);
    if (tl_h5_close(dataset) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "%s", view);
    tl_h5_close(group);
    tl_h5_close(plist);
    tl_h5_close(space);
    return st;
}

/* Creates /ranks/<rank>/<name> for each rank, unless there are too many. */
static tl_status write_views(hid_t file, const stored *of, tl_error *err)
{
    const tl_h5_rows *table = &of->rows;
    tl_status st = TL_OK;
    hsize_t extent = table->end;
    if (of->ranges.n == 0 || of->ranges.n > MAX_VIEWS)
        return TL_OK;

    /* All views share one unnamed type in the file. */
    hid_t source = H5Screate_simple(1, &extent, NULL), type = H5Tcopy(table->row_type),
          create = H5Pcreate(H5P_DATATYPE_CREATE), ranks = open_group(file, "/ranks");
    if (source < 0 || ranks < 0 || type < 0 || create < 0 || H5Pset_obj_track_times(create, false) < 0 ||
        H5Tcommit_anon(file, type, create, H5P_DEFAULT) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "views of table %s", table->schema->name);
    for (size_t i = 0; st == TL_OK && i < of->ranges.n; i++)
        st = write_view(file, table, type, source, &of->ranges.v[i], err);
    tl_h5_close(ranks);
    tl_h5_close(create);
    tl_h5_close(type);
    tl_h5_close(source);
    return st;
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
        st = write_index(table, err);
        if (st == TL_OK)
            st = write_views(store->file, table, err);
    }
    return st;
}

/* ---------------------------------------------------------------------------------------------------------- the end */

/* Closes the file and everything in it.  The first failing call gives the message. */
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

tl_status tl_store_finish(tl_store *store, tl_error *err)
{
    tl_status st = state_of(store, err);
    if (st == TL_OK)
        st = write_rest(store, err);
    if (st == TL_OK)
        st = close_file(store, err);
    if (st == TL_OK)
        st = tl_part_file_hold(&store->part, err);
    if (st == TL_OK)
        st = tl_seal_write(store->part.part, err);
    if (st == TL_OK)
        st = tl_part_file_publish(&store->part, err);
    tl_store_abandon(store);
    return st;
}

void tl_store_abandon(tl_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->tables.n; i++) {
        tl_h5_rows_free(&store->tables.v[i].rows);
        free(store->tables.v[i].ranges.v);
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
