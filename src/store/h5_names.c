/* h5_names.c - the texts of all names, twice: as other programs like them and as this one reads them. */
#include "h5.h"
#include <stdlib.h>
#include <string.h>

/* Texts of /names that are written together, in bytes, and bytes of a chunk of /name_bytes. */
enum { HEAP_BYTES = 64 << 10, CHUNK_BYTES = 64 << 10 };

/* Length of the longest prefix that may stay as it is. */
static size_t clean_prefix(tl_text t)
{
    size_t n = tl_text_utf8(t);
    const char *zero = n > 0 ? memchr(t.p, 0, n) : NULL;
    return zero != NULL ? (size_t)(zero - t.p) : n;
}

void tl_clean_append(tl_bytes *out, const char *text, size_t n)
{
    static const char unknown[] = "\xef\xbf\xbd";
    tl_text left = { text, n };

    for (;;) {
        size_t good = clean_prefix(left);
        tl_bytes_put(out, left.p, good);
        if (good == left.n)
            break;
        tl_bytes_put(out, unknown, sizeof unknown - 1);
        left.p += good + 1;
        left.n -= good + 1;
    }
    tl_bytes_put(out, "", 1);
}

#define BYTE_FIELDS(F, T) F(T, ENUM(byte), value, KEY, "", "a byte of a text")
static const char *const tl_byte_labels[] = { NULL };
typedef struct tl_byte {
    BYTE_FIELDS(TL_FIELD_MEMBER, tl_byte)
} tl_byte;
static const tl_field byte_fields[] = { BYTE_FIELDS(TL_FIELD_ENTRY, tl_byte) };
static const tl_schema byte_schema = { .name = "name_bytes", .fields = byte_fields, .nfields = 1, .row_size = 1 };

void tl_h5_names_begin(tl_h5_names *names, tl_h5_out *out, tl_h5_room *room)
{
    *names = (tl_h5_names){ .out = out };
    tl_h5_rows_begin(&names->flat, out, &byte_schema, room);
    names->flat.chunk_rows = CHUNK_BYTES;
}

/* Writes the texts that wait; their rows get the address of their heap, which is returned. */
static uint64_t write_texts(tl_h5_names *names)
{
    uint64_t at = tl_h5_heap_put(names->out, &names->heap);
    for (; names->nwritten < names->rows.n; names->nwritten++)
        names->rows.v[names->nwritten].heap = at;
    return at;
}

void tl_h5_names_add(tl_h5_names *names, const char *text, size_t n)
{
    names->clean.n = 0;
    tl_clean_append(&names->clean, text, n);
    tl_h5_rows_add(&names->flat, names->flat.end, names->clean.v, names->clean.n);
    n = names->clean.n - 1;
    tl_vec_push(&names->rows, (tl_h5_reference){ (uint32_t)n, 0, tl_h5_heap_add(&names->heap, names->clean.v, n) });
    if (names->heap.bytes.n >= HEAP_BYTES)
        (void)write_texts(names);
}

uint64_t tl_h5_names_end(tl_h5_names *names, tl_bytes *group)
{
    tl_bytes object = { 0 }, type = { 0 }, rows = { 0 };
    const uint64_t heap = write_texts(names);
    TL_EACH (const tl_h5_reference, row, names->rows) {
        tl_h5_number(&rows, row->nbytes, 4);
        tl_h5_number(&rows, row->heap, 8);
        tl_h5_number(&rows, row->index, 4);
    }
    tl_h5_put_any_text_type(&type);
    uint64_t at = tl_h5_append(names->out, rows.v, rows.n);
    tl_h5_contiguous_begin(&object, &type, names->rows.n, at, rows.n);
    tl_h5_attr_text(&object, "description", "text of each name; name columns hold its row number");
    tl_h5_link(group, "names", tl_h5_object_end(names->out, &object));

    type.n = 0;
    tl_h5_put_int_type(&type, 1, false);
    tl_h5_rows_end(&names->flat, &type, true, &object);
    tl_h5_attr_text(&object, "description", "the texts of /names in their order, each with a 0 after it");
    tl_h5_link(group, "name_bytes", tl_h5_object_end(names->out, &object));
    tl_bytes_free(&rows);
    tl_bytes_free(&type);
    tl_bytes_free(&object);
    return heap;
}

void tl_h5_names_free(tl_h5_names *names)
{
    tl_h5_rows_free(&names->flat);
    tl_bytes_free(&names->heap.bytes);
    tl_bytes_free(&names->clean);
    free(names->rows.v);
    *names = (tl_h5_names){ 0 };
}

static tl_status read_bytes(tl_bytes *bytes, hid_t dataset, tl_error *err)
{
    uint64_t n = 0;
    hid_t type = H5Dget_type(dataset);
    bool fits = type >= 0 && H5Tequal(type, H5T_STD_U8LE) > 0;
    tl_h5_close(type);
    if (!fits)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes are no bytes");
    tl_status st = tl_h5_count_rows(dataset, 1, &n, err);
    if (st != TL_OK)
        return st;
    tl_grow((void **)&bytes->v, &bytes->cap, (size_t)n, 1);
    if (n > 0 && H5Dread(dataset, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes->v) < 0)
        return tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes");
    bytes->n = (size_t)n;
    return n == 0 || bytes->v[n - 1] == 0 ? TL_OK : tl_h5_fail(err, TL_EINPUT, dataset, "/name_bytes has no end");
}

tl_status tl_h5_names_read(tl_h5_name_list *list, hid_t file, tl_error *err)
{
    hid_t dataset = H5Dopen2(file, "/name_bytes", H5P_DEFAULT);
    tl_status st =
        dataset >= 0 ? read_bytes(&list->bytes, dataset, err) : tl_h5_fail(err, TL_EINPUT, file, "/name_bytes");
    for (size_t at = 0; st == TL_OK && at < list->bytes.n; at += strlen(list->bytes.v + at) + 1)
        tl_vec_push(&list->starts, at);
    tl_h5_close(dataset);
    return st;
}

tl_text tl_h5_name(const tl_h5_name_list *list, size_t i)
{
    if (i >= list->starts.n)
        return TL_TEXT("");
    size_t end = i + 1 < list->starts.n ? list->starts.v[i + 1] : list->bytes.n;
    return (tl_text){ list->bytes.v + list->starts.v[i], end - 1 - list->starts.v[i] };
}

void tl_h5_name_list_free(tl_h5_name_list *list)
{
    free(list->bytes.v);
    free(list->starts.v);
    *list = (tl_h5_name_list){ 0 };
}
