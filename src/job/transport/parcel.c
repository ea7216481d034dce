/* parcel.c - see parcel.h. */
#include "parcel.h"
#include "tlmpi/job/transport/letters.h"
#include <stdlib.h>

bool tl_parcel_make(tl_parcel *room, const tl_schema *const *schemas, size_t n)
{
    size_t packed = 1, letter = 1;
    for (size_t t = 0; t < n; t++) {
        size_t size = tl_chunk_rows(schemas[t]) * tl_packed_size(schemas[t]), bound = tl_chunk_bound(schemas[t]);
        packed = size > packed ? size : packed;
        letter = size > letter ? size : letter;
        letter = bound > letter ? bound : letter;
    }
    room->packed = tl_malloc(packed);
    room->letter = tl_malloc(sizeof(tl_rows_head) + letter);
    return room->packed != NULL && room->letter != NULL;
}

void tl_parcel_free(tl_parcel *room)
{
    free(room->letter);
    free(room->packed);
    tl_chunk_room_free(&room->work);
    *room = (tl_parcel){ 0 };
}

/* Rows [from, to), which lie in one chunk. */
static void send_piece(tl_post *post, const tl_table *table, const tl_parcel_terms *terms, size_t from, size_t to,
                       tl_parcel *room)
{
    const tl_schema *schema = table->schema;
    tl_rows_head head = { terms->first + from, to - from, terms->number, 0 };
    size_t n = 0;

    tl_pack(schema, tl_table_row(table, from), to - from, terms->epoch_ns, terms->file_id, room->packed);
    if (to - from == tl_chunk_rows(schema) &&
        (n = tl_chunk_encode(schema, room->packed, to - from, room->letter + sizeof head, &room->work)) > 0) {
        head.first /= tl_chunk_rows(schema);
        memcpy(room->letter, &head, sizeof head);
        tl_post_send(post, 0, TL_LETTER_CHUNK, room->letter, sizeof head + n);
        return;
    }
    n = (to - from) * tl_packed_size(schema);
    memcpy(room->letter, &head, sizeof head);
    memcpy(room->letter + sizeof head, room->packed, n);
    tl_post_send(post, 0, TL_LETTER_ROWS, room->letter, sizeof head + n);
}

void tl_parcel_send(tl_post *post, const tl_table *table, const tl_parcel_terms *terms, tl_parcel *room)
{
    size_t chunk = tl_chunk_rows(table->schema);
    for (size_t from = 0, to; from < table->n; from = to) {
        to = from + chunk - (size_t)((terms->first + from) % chunk);
        to = to < table->n ? to : table->n;
        send_piece(post, table, terms, from, to, room);
        tl_post_tick(post);
    }
}
