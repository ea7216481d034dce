/* row_sender.c - packs rows of a table and sends them to the writer. */
#include "internal.h"
#include <stdlib.h>

void tl_row_buffers_make(tl_row_buffers *room, const tl_schema *const *schemas, size_t n)
{
    size_t packed = 1, message = 1;
    for (size_t t = 0; t < n; t++) {
        size_t rows = tl_chunk_rows(schemas[t]), size = rows * tl_packed_size(schemas[t]);
        size_t bound = tl_chunk_bound(schemas[t], rows);
        packed = size > packed ? size : packed;
        message = size > message ? size : message;
        message = bound > message ? bound : message;
    }
    room->packed = tl_malloc(packed);
    room->message = tl_malloc(sizeof(tl_rows_head) + message);
}

void tl_row_buffers_free(tl_row_buffers *room)
{
    free(room->message);
    free(room->packed);
    tl_chunk_room_free(&room->work);
    *room = (tl_row_buffers){ 0 };
}

/* Sends rows [from, to), which lie in one chunk of the file. */
static void send_rows(tl_endpoint *endpoint, const tl_table *table, const tl_row_target *target, size_t from, size_t to,
                      tl_row_buffers *room)
{
    const tl_schema *schema = table->schema;
    tl_rows_head head = { target->first + from, to - from, target->number, 0 };
    size_t n;

    tl_pack(schema, tl_table_row(table, from), to - from, target->epoch_ns, room->packed);
    if (to - from == tl_chunk_rows(schema)) {
        n = tl_chunk_encode(schema, room->packed, to - from, to - from, room->message + sizeof head, &room->work);
        head.first /= tl_chunk_rows(schema);
        memcpy(room->message, &head, sizeof head);
        tl_endpoint_send(endpoint, 0, TL_MESSAGE_CHUNK, room->message, sizeof head + n);
        return;
    }
    n = (to - from) * tl_packed_size(schema);
    memcpy(room->message, &head, sizeof head);
    memcpy(room->message + sizeof head, room->packed, n);
    tl_endpoint_send(endpoint, 0, TL_MESSAGE_ROWS, room->message, sizeof head + n);
}

void tl_rows_send(tl_endpoint *endpoint, const tl_table *table, const tl_row_target *target, tl_row_buffers *room)
{
    size_t chunk = tl_chunk_rows(table->schema);
    for (size_t from = 0, to; from < table->n; from = to) {
        to = from + chunk - (size_t)((target->first + from) % chunk);
        to = to < table->n ? to : table->n;
        send_rows(endpoint, table, target, from, to, room);
        tl_endpoint_tick(endpoint);
    }
}

tl_status tl_rows_write(tl_store *store, const tl_schema *schema, int tag, const char *bytes, size_t nbytes,
                        tl_error *err)
{
    tl_rows_head head;
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    return tag == TL_MESSAGE_CHUNK ? tl_store_chunk(store, schema, head.first, bytes, nbytes - sizeof head, err)
                                   : tl_store_rows(store, schema, head.first, bytes, (size_t)head.n, err);
}
