/* h5_write.c - the result file from its first byte to its name.
 *
 *     create   NAME.part (part_file.c)
 *     fill     chunks of tables (h5_rows.c), names (h5_names.c)
 *     finish   last chunks and the objects of tables; for each table of events an index and, for each rank, a view;
 *              groups; seal (seal.c); NAME.part becomes NAME
 *
 * Every write is checked where it is made, and the first failure is final.
 *
 *     /tables/interval          [ rank 0 | rank 1          | rank 2 ]
 *     /tables/interval_index    { 0, 0, 8 }, { 1, 8, 17 }, ...
 *     /ranks/00001/interval              [ rows of rank 1  ]
 *
 * A view is a virtual dataset; its source is /tables/interval of the file ".", which is the file itself, however it is
 * called.  h5py, PyTables and HDFView read it like any other; a reader of HDF5 1.8 knows no virtual datasets and sees
 * the rest of the file.  A view is marked as a table but neither described nor are its columns named outside its type:
 * the same words a thousand times would be some megabytes.  The views of a table share one type in the file.
 */
#include "h5.h"
#include "seal.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks up to which each has a view; a larger job has the index alone: a file of more objects opens slowly. */
#define MAX_VIEWS 1024

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
    tl_h5_out out; /* its first failure is the store's */
    tl_bytes root; /* the root group: its attributes, and at the end its links */
    tl_h5_names names;
    TL_VEC(stored) tables;
    tl_h5_room room;
};

/* What has become of the store: TL_OK, or its first failure. */
static tl_status state_of(const tl_store *store, tl_error *err)
{
    return store->out.broken.status == TL_OK ? TL_OK
                                             : tl_fail(err, store->out.broken.status, "%s", store->out.broken.text);
}

tl_status tl_store_create(const char *path, bool force, tl_store **out, tl_error *err)
{
    tl_status st;
    tl_store *store = tl_calloc(1, sizeof *store);
    store->part = (tl_part_file)TL_PART_FILE_INIT;
    if ((st = tl_part_file_begin(&store->part, path, force, err)) != TL_OK ||
        (st = tl_part_file_create(&store->part, err)) != TL_OK) {
        tl_store_abandon(store);
        return st;
    }
    tl_h5_out_begin(&store->out, store->part.fd, store->part.part, TL_SEAL_BYTES);
    tl_h5_names_begin(&store->names, &store->out, &store->room);
    tl_h5_group_begin(&store->root);
    tl_h5_attr_text(&store->root, "Conventions", TL_H5_CONVENTIONS);
    tl_h5_attr_int(&store->root, "schema_version", TL_H5_SCHEMA_VERSION);
    tl_h5_attr_text(&store->root, "creator", "tlmpi");
    tl_h5_attr_text(&store->root, "creator_version", TLMPI_VERSION);
    *out = store;
    return TL_OK;
}

tl_status tl_store_attr_text(tl_store *store, const char *name, const char *text, tl_error *err)
{
    tl_h5_attr_text(&store->root, name, text);
    return state_of(store, err);
}

tl_status tl_store_attr_int(tl_store *store, const char *name, int64_t value, tl_error *err)
{
    tl_h5_attr_int(&store->root, name, value);
    return state_of(store, err);
}

/* The table, as long as nothing has failed; NULL, and the store's failure says why. */
static stored *table_of(tl_store *store, const tl_schema *schema)
{
    tl_error *broken = &store->out.broken;
    for (size_t i = 0; broken->status == TL_OK && i < store->tables.n; i++)
        if (store->tables.v[i].rows.schema == schema)
            return &store->tables.v[i];
    if (broken->status == TL_OK)
        (void)tl_fail(broken, TL_EINTERNAL, "table %s has not been added to the file", schema->name);
    return NULL;
}

/* A rare table is there where it has rows. */
static bool is_there(const stored *table)
{
    return !table->rows.schema->rare || table->rows.given > 0;
}

tl_status tl_store_add_table(tl_store *store, const tl_schema *schema, tl_error *err)
{
    tl_vec_push(&store->tables, (stored){ 0 });
    tl_h5_rows_begin(&store->tables.v[store->tables.n - 1].rows, &store->out, schema, &store->room);
    return state_of(store, err);
}

tl_status tl_store_rows(tl_store *store, const tl_schema *schema, uint64_t first, const void *packed, size_t n,
                        tl_error *err)
{
    stored *table = table_of(store, schema);
    if (table != NULL)
        tl_h5_rows_add(&table->rows, first, packed, n);
    return state_of(store, err);
}

tl_status tl_store_chunk(tl_store *store, const tl_schema *schema, uint64_t chunk, const void *encoded, size_t nbytes,
                         tl_error *err)
{
    stored *table = table_of(store, schema);
    if (table != NULL)
        tl_h5_rows_add_chunk(&table->rows, chunk, encoded, nbytes);
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
    tl_h5_names_add(&store->names, text, n);
    return state_of(store, err);
}

/* ----------------------------------------------------------------------------------------------- tables and indexes */

/* Room for one object after the other. */
typedef struct desk {
    tl_bytes tables; /* the group /tables */
    tl_bytes object, type;
} desk;

/* Writes what is left of the table, and its object into /tables under the schema's name. */
static void write_table(tl_h5_rows *rows, const tl_schema *schema, desk *d)
{
    d->type.n = 0;
    tl_h5_put_row_type(&d->type, schema);
    tl_h5_rows_end(rows, &d->type, false, &d->object);
    if (rows->out->broken.status != TL_OK)
        return;
    tl_h5_describe(&d->object, schema);
    tl_h5_link(&d->tables, schema->name, tl_h5_object_end(rows->out, &d->object));
}

/* Writes the table <name>_index {rank, first_row, nrows}.  TL_EINTERNAL: rows that never came. */
static void write_index(const stored *table, desk *d)
{
    const tl_h5_rows *of = &table->rows;
    const size_t n = table->ranges.n;
    char name[128];
    tl_schema schema = tl_row_index_schema;
    tl_row_index *rows = tl_calloc(n, sizeof *rows);
    void *packed = tl_calloc(n, tl_packed_size(&schema));
    tl_h5_rows out;

    snprintf(name, sizeof name, "%s_index", of->schema->name);
    schema.name = name;
    for (size_t i = 0; i < n; i++) {
        const range *p = &table->ranges.v[i];
        rows[i] = (tl_row_index){ .rank = p->rank, .first_row = (int64_t)p->first, .nrows = (int64_t)p->n };
        if (p->first > of->end || p->n > of->end - p->first)
            (void)tl_fail(&of->out->broken, TL_EINTERNAL, "table %s: rank %d has rows that never came",
                          of->schema->name, (int)p->rank);
    }
    tl_pack(&schema, rows, n, 0, packed);
    tl_h5_rows_begin(&out, of->out, &schema, of->room);
    tl_h5_rows_add(&out, 0, packed, n);
    write_table(&out, &schema, d);
    tl_h5_rows_free(&out);
    free(packed);
    free(rows);
}

/* ------------------------------------------------------------------------------------------------------------ views */

/* A view on its way. */
typedef struct view {
    const stored *table;
    int32_t rank;
    uint32_t order; /* among the views, as they were listed */
    uint64_t nrows;
    uint32_t entry; /* of the heap; 0 without rows: an ordinary empty dataset */
    uint64_t type;  /* address */
} view;

static int by_rank(const void *a, const void *b)
{
    return TL_ORDER((const view *)a, (const view *)b, rank, order);
}

static uint64_t put_view(tl_store *store, const view *v, uint64_t heap, desk *d)
{
    if (v->entry > 0)
        tl_h5_view_begin(&d->object, v->type, v->nrows, heap, v->entry);
    else
        tl_h5_empty_begin(&d->object, v->type);
    tl_h5_mark_table(&d->object, v->table->rows.schema);
    return tl_h5_object_end(&store->out, &d->object);
}

typedef TL_VEC(view) view_list;

/* Lists a view for each rank and table of events whose ranks are not too many; what each is a view of goes into the
 * heap. */
static void list_views(tl_store *store, tl_h5_heap *heap, view_list *views, desk *d)
{
    char path[300];
    TL_EACH (const stored, table, store->tables) {
        const tl_schema *schema = table->rows.schema;
        if (schema->scope != TL_SCOPE_EVENT || !is_there(table) || table->ranges.n > MAX_VIEWS || table->ranges.n == 0)
            continue;
        d->type.n = 0;
        tl_h5_put_row_type(&d->type, schema);
        uint64_t type = tl_h5_share_type(&store->out, &d->type, table->ranges.n);
        snprintf(path, sizeof path, "/tables/%s", schema->name);
        TL_EACH (const range, of, table->ranges) {
            uint32_t entry = of->n > 0 ? tl_h5_heap_add_view(heap, path, of->first, of->n) : 0;
            tl_vec_push(views, (view){ table, of->rank, (uint32_t)views->n, of->n, entry, type });
        }
    }
}

/* Makes /ranks/<rank>/<table>, of the heap at that address. */
static void write_views(tl_store *store, const view_list *views, uint64_t heap, desk *d)
{
    tl_bytes ranks = { 0 }, rank = { 0 };
    char name[16];
    if (views->n == 0)
        return;
    qsort(views->v, views->n, sizeof *views->v, by_rank);
    tl_h5_group_begin(&ranks);
    for (size_t i = 0; i < views->n; i++) {
        const view *v = &views->v[i];
        if (i == 0 || v->rank != v[-1].rank)
            tl_h5_group_begin(&rank);
        tl_h5_link(&rank, v->table->rows.schema->name, put_view(store, v, heap, d));
        if (i + 1 < views->n && v[1].rank == v->rank)
            continue;
        snprintf(name, sizeof name, "%05d", (int)v->rank);
        tl_h5_link(&ranks, name, tl_h5_object_end(&store->out, &rank));
    }
    tl_h5_link(&store->root, "ranks", tl_h5_object_end(&store->out, &ranks));
    tl_bytes_free(&rank);
    tl_bytes_free(&ranks);
}

/* ---------------------------------------------------------------------------------------------------------- the end */

tl_status tl_store_finish(tl_store *store, tl_error *err)
{
    desk d = { 0 };
    view_list views = { 0 };
    size_t most = store->names.flat.chunks.n;
    TL_EACH (const stored, table, store->tables)
        most = table->rows.chunks.n > most ? table->rows.chunks.n : most;
    tl_h5_expect_chunks(&store->out, most + 1);
    list_views(store, &store->names.heap, &views, &d);
    uint64_t heap = tl_h5_names_end(&store->names, &store->root);
    tl_h5_group_begin(&d.tables);
    for (size_t i = 0; store->out.broken.status == TL_OK && i < store->tables.n; i++) {
        stored *table = &store->tables.v[i];
        if (is_there(table))
            write_table(&table->rows, table->rows.schema, &d);
        if (is_there(table) && table->rows.schema->scope == TL_SCOPE_EVENT)
            write_index(table, &d);
    }
    if (store->out.broken.status == TL_OK) {
        tl_h5_link(&store->root, "tables", tl_h5_object_end(&store->out, &d.tables));
        write_views(store, &views, heap, &d);
        tl_h5_out_end(&store->out, tl_h5_object_end(&store->out, &store->root));
    }
    free(views.v);
    tl_bytes_free(&d.tables);
    tl_bytes_free(&d.object);
    tl_bytes_free(&d.type);

    tl_status st = state_of(store, err);
    if (st == TL_OK)
        st = tl_seal_write(store->part.fd, store->part.part, err);
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
    tl_bytes_free(&store->root);
    tl_h5_out_free(&store->out);
    tl_part_file_drop(&store->part);
    free(store);
}
