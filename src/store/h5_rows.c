/* h5_rows.c - one table on its way into the file: rows in, chunks out. */
#include "h5.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

/* A table up to this length lies in its object: the index of chunks alone takes 2 KiB. */
enum { COMPACT_BYTES = 4096 };

void tl_h5_room_free(tl_h5_room *room)
{
    free(room->encoded);
    tl_chunk_room_free(&room->work);
    *room = (tl_h5_room){ 0 };
}

void tl_h5_rows_begin(tl_h5_rows *table, tl_h5_out *out, const tl_schema *schema, tl_h5_room *room)
{
    *table = (tl_h5_rows){ .schema = schema, .out = out, .room = room };
    table->row_size = tl_packed_size(schema);
    table->chunk_rows = tl_chunk_rows(schema);
}

static void count_rows(tl_h5_rows *table, uint64_t first, size_t n)
{
    table->given += n;
    if (n > 0 && first + n > table->end)
        table->end = first + n;
}

static void write_chunk(tl_h5_rows *table, uint64_t chunk, const void *encoded, size_t nbytes)
{
    uint64_t at = tl_h5_append(table->out, encoded, nbytes);
    tl_vec_push(&table->chunks,
                (tl_h5_chunk){ .chunk = chunk, .last = chunk, .address = at, .nbytes = (uint32_t)nbytes });
}

/* Writes a chunk of packed rows. */
static void encode_chunk(tl_h5_rows *table, uint64_t chunk, const void *packed, size_t rows)
{
    tl_h5_room *room = table->room;
    tl_grow((void **)&room->encoded, &room->cap, tl_chunk_bound(table->schema, table->chunk_rows), 1);
    size_t nbytes = tl_chunk_encode(table->schema, packed, rows, table->chunk_rows, room->encoded, &room->work);
    write_chunk(table, chunk, room->encoded, nbytes);
}

/* The waiting chunk of that number, a new one if there is none. */
static tl_h5_partial *partial_of(tl_h5_rows *table, uint64_t chunk)
{
    for (size_t i = 0; i < table->partials.n; i++)
        if (table->partials.v[i].chunk == chunk)
            return &table->partials.v[i];
    tl_vec_push(&table->partials, (tl_h5_partial){ .chunk = chunk });
    return &table->partials.v[table->partials.n - 1];
}

/* Room for n rows of a waiting chunk: for all of it, once the table is known to have more than one. */
static void partial_room(const tl_h5_rows *table, tl_h5_partial *p, size_t n)
{
    size_t before = p->room;
    if (p->rows != NULL && n <= before)
        return;
    n = table->chunks.n > 0 ? table->chunk_rows : n;
    tl_grow((void **)&p->rows, &p->room, n, table->row_size);
    memset(p->rows + before * table->row_size, 0, (p->room - before) * table->row_size);
}

static void drop_partial(tl_h5_rows *table, tl_h5_partial *p)
{
    free(p->rows);
    *p = table->partials.v[--table->partials.n];
}

/* Adds n rows, which begin at row `at` of the chunk and do not fill it alone. */
static void add_part(tl_h5_rows *table, uint64_t chunk, size_t at, const void *packed, size_t n)
{
    tl_h5_partial *p = partial_of(table, chunk);
    if (n > table->chunk_rows - p->filled) {
        (void)tl_fail(&table->out->broken, TL_EINTERNAL, "table %s: rows came twice", table->schema->name);
        return;
    }
    partial_room(table, p, at + n);
    memcpy(p->rows + at * table->row_size, packed, n * table->row_size);
    p->filled += n;
    if (p->filled == table->chunk_rows) {
        encode_chunk(table, chunk, p->rows, p->filled);
        drop_partial(table, p);
    }
}

void tl_h5_rows_add(tl_h5_rows *table, uint64_t first, const void *packed, size_t n)
{
    const unsigned char *rows = packed;
    count_rows(table, first, n);
    while (table->out->broken.status == TL_OK && n > 0) {
        uint64_t chunk = first / table->chunk_rows;
        size_t at = (size_t)(first % table->chunk_rows);
        size_t room = table->chunk_rows - at, take = n < room ? n : room;
        if (take == table->chunk_rows)
            encode_chunk(table, chunk, rows, take);
        else
            add_part(table, chunk, at, rows, take);
        first += take;
        rows += take * table->row_size;
        n -= take;
    }
}

void tl_h5_rows_add_chunk(tl_h5_rows *table, uint64_t chunk, const void *encoded, size_t nbytes)
{
    count_rows(table, chunk * table->chunk_rows, table->chunk_rows);
    write_chunk(table, chunk, encoded, nbytes);
}

static int by_number(const void *a, const void *b)
{
    return TL_ORDER((const tl_h5_chunk *)a, (const tl_h5_chunk *)b, chunk);
}

void tl_h5_rows_end(tl_h5_rows *table, const tl_bytes *type, bool never_compact, tl_bytes *object)
{
    const size_t rest = (size_t)(table->end % table->chunk_rows);
    if (table->given != table->end || table->partials.n > (rest > 0)) {
        (void)tl_fail(&table->out->broken, TL_EINTERNAL, "table %s: %llu rows came, but not the first so many",
                      table->schema->name, (unsigned long long)table->given);
        return;
    }
    const tl_h5_partial *p = table->partials.n > 0 ? &table->partials.v[0] : NULL;
    if (table->chunks.n == 0 && rest * table->row_size <= COMPACT_BYTES && !never_compact) {
        tl_h5_compact_begin(object, type, rest, p != NULL ? p->rows : NULL, rest * table->row_size);
        return;
    }
    /* All there is.  A whole chunk of mostly zeros would take longer to compress than all that is in it. */
    if (table->chunks.n == 0 && rest > 0)
        table->chunk_rows = rest;
    if (p != NULL)
        encode_chunk(table, p->chunk, p->rows, rest);
    if (table->chunks.n > 1)
        qsort(table->chunks.v, table->chunks.n, sizeof *table->chunks.v, by_number);
    tl_h5_chunked_begin(table->out, object, type, table->end, table->chunks.v, table->chunks.n, table->chunk_rows,
                        table->row_size);
}

void tl_h5_rows_free(tl_h5_rows *table)
{
    for (size_t i = 0; i < table->partials.n; i++)
        free(table->partials.v[i].rows);
    free(table->partials.v);
    free(table->chunks.v);
    *table = (tl_h5_rows){ 0 };
}
