/* h5_rows.c - writes one table: rows in, chunks out. */
#include "h5.h"
#include <stdlib.h>
#include <string.h>

/* Largest size of a table in the header of its dataset: an index of chunks alone takes 560 bytes. */
enum { COMPACT_BYTES = 4096 };

/* Sets chunks that grow with the table, shuffled and deflated, each with a checksum. */
static bool set_chunks(hid_t plist, hsize_t rows)
{
    return H5Pset_chunk(plist, 1, &rows) >= 0 && H5Pset_shuffle(plist) >= 0 &&
           H5Pset_deflate(plist, TL_DEFLATE_LEVEL) >= 0 && H5Pset_fletcher32(plist) >= 0;
}

/* Returns the property list of a table: in chunks, or in its header (chunk_rows 0). */
static hid_t layout_of(tl_h5_room *room, hsize_t chunk_rows)
{
    hid_t *plist = chunk_rows > 0 ? &room->chunked : &room->compact;
    if (*plist > 0)
        return chunk_rows == 0 || H5Pset_chunk(*plist, 1, &chunk_rows) >= 0 ? *plist : -1;
    *plist = H5Pcreate(H5P_DATASET_CREATE);
    /* Without time stamps equal content gives equal bytes. */
    bool made = *plist >= 0 && H5Pset_obj_track_times(*plist, false) >= 0 && tl_h5_attrs_in_header(*plist) >= 0 &&
                (chunk_rows > 0 ? set_chunks(*plist, chunk_rows) : H5Pset_layout(*plist, H5D_COMPACT) >= 0);
    return made ? *plist : -1;
}

void tl_h5_room_free(tl_h5_room *room)
{
    free(room->encoded);
    tl_chunk_room_free(&room->work);
    tl_h5_close(room->compact > 0 ? room->compact : -1);
    tl_h5_close(room->chunked > 0 ? room->chunked : -1);
    *room = (tl_h5_room){ 0 };
}

void tl_h5_rows_begin(tl_h5_rows *table, hid_t group, const tl_schema *schema, tl_h5_room *room)
{
    table->schema = schema;
    table->group = group;
    table->row_size = tl_packed_size(schema);
    table->chunk_rows = tl_chunk_rows(schema);
    table->room = room;
}

/* Creates the dataset: empty, in chunks of chunk_rows rows; or, with chunk_rows 0, compact with exactly `rows` rows. */
static tl_status create_dataset(tl_h5_rows *table, size_t chunk_rows, hsize_t rows, tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t any = H5S_UNLIMITED;
    hid_t space = -1, plist = -1;

    tl_h5_need(0);
    if ((table->row_type = tl_h5_row_type(table->schema)) >= 0 &&
        (space = H5Screate_simple(1, &rows, chunk_rows > 0 ? &any : NULL)) >= 0 &&
        (plist = layout_of(table->room, chunk_rows)) >= 0)
        table->dataset =
            H5Dcreate2(table->group, table->schema->name, table->row_type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (table->dataset < 0 || tl_h5_describe(table->dataset, table->schema) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, table->group, "table %s", table->schema->name);
    tl_h5_close(space);
    return st;
}

static void count_rows(tl_h5_rows *table, uint64_t first, size_t n)
{
    table->given += n;
    if (n > 0 && first + n > table->end)
        table->end = first + n;
}

/* Writes one encoded chunk; its first `rows` rows have data. */
static tl_status write_chunk(tl_h5_rows *table, uint64_t chunk, size_t rows, const void *encoded, size_t nbytes,
                             tl_error *err)
{
    hsize_t offset = chunk * table->chunk_rows, end = offset + rows;
    tl_status st = table->dataset >= 0 ? TL_OK : create_dataset(table, table->chunk_rows, 0, err);
    if (st != TL_OK)
        return st;
    tl_h5_need(nbytes);
    if (end > table->extent) {
        if (H5Dset_extent(table->dataset, &end) < 0)
            return tl_h5_fail(err, TL_EOUTPUT, table->dataset, "table %s", table->schema->name);
        table->extent = end;
    }
    if (H5Dwrite_chunk(table->dataset, H5P_DEFAULT, 0, &offset, nbytes, encoded) < 0)
        return tl_h5_fail(err, TL_EOUTPUT, table->dataset, "table %s", table->schema->name);
    return TL_OK;
}

/* Writes a chunk of packed rows. */
static tl_status encode_chunk(tl_h5_rows *table, uint64_t chunk, const void *packed, size_t rows, tl_error *err)
{
    tl_h5_room *room = table->room;
    tl_grow((void **)&room->encoded, &room->cap, tl_chunk_bound(table->schema, table->chunk_rows), 1);
    size_t nbytes = tl_chunk_encode(table->schema, packed, rows, table->chunk_rows, room->encoded, &room->work);
    return write_chunk(table, chunk, rows, room->encoded, nbytes, err);
}

/* Returns the waiting chunk of that number, adding it if there is none. */
static tl_h5_partial *partial_of(tl_h5_rows *table, uint64_t chunk)
{
    for (size_t i = 0; i < table->partials.n; i++)
        if (table->partials.v[i].chunk == chunk)
            return &table->partials.v[i];
    tl_vec_push(&table->partials, (tl_h5_partial){ .chunk = chunk });
    return &table->partials.v[table->partials.n - 1];
}

/* Makes room for n rows of a waiting chunk: for the whole chunk, once the table has more than one. */
static void grow_partial(const tl_h5_rows *table, tl_h5_partial *p, size_t n)
{
    size_t before = p->room;
    if (p->rows != NULL && n <= before)
        return;
    n = table->dataset >= 0 ? table->chunk_rows : n;
    tl_grow((void **)&p->rows, &p->room, n, table->row_size);
    memset(p->rows + before * table->row_size, 0, (p->room - before) * table->row_size);
}

static void drop_partial(tl_h5_rows *table, tl_h5_partial *p)
{
    free(p->rows);
    *p = table->partials.v[--table->partials.n];
}

/* Adds n rows, which begin at row `at` of the chunk and do not fill it alone. */
static tl_status add_part(tl_h5_rows *table, uint64_t chunk, size_t at, const void *packed, size_t n, tl_error *err)
{
    tl_status st = TL_OK;
    tl_h5_partial *p = partial_of(table, chunk);
    if (n > table->chunk_rows - p->filled)
        return tl_fail(err, TL_EINTERNAL, "table %s: rows came twice", table->schema->name);
    grow_partial(table, p, at + n);
    memcpy(p->rows + at * table->row_size, packed, n * table->row_size);
    p->filled += n;
    if (p->filled == table->chunk_rows) {
        st = encode_chunk(table, chunk, p->rows, p->filled, err);
        drop_partial(table, p);
    }
    return st;
}

tl_status tl_h5_rows_add(tl_h5_rows *table, uint64_t first, const void *packed, size_t n, tl_error *err)
{
    const unsigned char *rows = packed;
    tl_status st = TL_OK;

    count_rows(table, first, n);
    while (st == TL_OK && n > 0) {
        uint64_t chunk = first / table->chunk_rows;
        size_t at = (size_t)(first % table->chunk_rows);
        size_t room = table->chunk_rows - at, take = n < room ? n : room;
        if (take == table->chunk_rows)
            st = encode_chunk(table, chunk, rows, take, err);
        else
            st = add_part(table, chunk, at, rows, take, err);
        first += take;
        rows += take * table->row_size;
        n -= take;
    }
    return st;
}

tl_status tl_h5_rows_add_chunk(tl_h5_rows *table, uint64_t chunk, const void *encoded, size_t nbytes, tl_error *err)
{
    count_rows(table, chunk * table->chunk_rows, table->chunk_rows);
    return write_chunk(table, chunk, table->chunk_rows, encoded, nbytes, err);
}

tl_status tl_h5_rows_flush(tl_h5_rows *table, tl_error *err)
{
    tl_status st = TL_OK;
    size_t rest = (size_t)(table->end % table->chunk_rows);

    if (table->given != table->end || table->partials.n > (rest > 0))
        return tl_fail(err, TL_EINTERNAL, "table %s: %llu rows came, but not the first so many", table->schema->name,
                       (unsigned long long)table->given);
    bool compact = table->dataset < 0 && rest * table->row_size <= COMPACT_BYTES;
    if (table->dataset < 0) {
        /* The chunk has all rows that exist: a full chunk of mostly zeros would take longer to compress than its
         * content. */
        table->chunk_rows = rest > 0 ? rest : table->chunk_rows;
        st = create_dataset(table, compact ? 0 : table->chunk_rows, compact ? rest : 0, err);
    }
    if (st == TL_OK && table->partials.n == 1) {
        const unsigned char *rows = table->partials.v[0].rows;
        if (!compact)
            st = encode_chunk(table, table->partials.v[0].chunk, rows, rest, err);
        else if (H5Dwrite(table->dataset, table->row_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0)
            st = tl_h5_fail(err, TL_EOUTPUT, table->dataset, "table %s", table->schema->name);
        drop_partial(table, &table->partials.v[0]);
    }
    if (tl_h5_close(table->dataset) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, table->group, "closing table %s", table->schema->name);
    table->dataset = -1;
    return st;
}

herr_t tl_h5_rows_free(tl_h5_rows *table)
{
    const herr_t dataset = tl_h5_close(table->dataset), type = tl_h5_close(table->row_type);
    for (size_t i = 0; i < table->partials.n; i++)
        free(table->partials.v[i].rows);
    free(table->partials.v);
    *table = (tl_h5_rows)TL_H5_ROWS_INIT;
    return dataset < 0 || type < 0 ? -1 : 0;
}
