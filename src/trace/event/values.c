#include "tlmpi/trace/event/values.h"
#include "tlmpi/base/sort.h"
#include <stdio.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- texts */

/* Returns the names id of the beginning of a text and a hash of all of it, so that different texts stay different. */
static uint32_t keep_beginning(tl_events *e, tl_text t, size_t most)
{
    size_t room = most + 32;
    char *cut = tl_malloc(room);

    e->ncut++;
    while (most > 0 && ((unsigned char)t.p[most] & 0xc0) == 0x80) /* not inside a character */
        most--;
    memcpy(cut, t.p, most);
    int after = snprintf(cut + most, room - most, "\xE2\x80\xA6%016llx", (unsigned long long)tl_hash_bytes(t.p, t.n));
    uint32_t id = tl_names_intern(&e->names, cut, most + (size_t)after);
    free(cut);
    return id;
}

uint32_t tl_value_keep(tl_events *e, tl_text t, size_t most)
{
    return t.n <= most ? tl_names_intern(&e->names, t.p, t.n) : keep_beginning(e, t, most);
}

/* -------------------------------------------------------------------------------------------------- rare arguments */

#define COPY_KEYS (TL_KEY_BIT(TL_KEY_BYTES) | TL_KEY_BIT(TL_KEY_BANDWIDTH))
#define WAIT_KEYS (TL_KEY_BIT(TL_KEY_WAIT_ON_STREAM) | TL_KEY_BIT(TL_KEY_WAIT_ON_CORR))
#define COLL_KEYS                                                                                                      \
    (TL_KEY_BIT(TL_KEY_COLL_NAME) | TL_KEY_BIT(TL_KEY_IN_NELEMS) | TL_KEY_BIT(TL_KEY_OUT_NELEMS) |                     \
     TL_KEY_BIT(TL_KEY_GROUP_SIZE) | TL_KEY_BIT(TL_KEY_PG_NAME) | TL_KEY_BIT(TL_KEY_PG_RANKS) |                        \
     TL_KEY_BIT(TL_KEY_SEQ) | TL_KEY_BIT(TL_KEY_SRC_RANK) | TL_KEY_BIT(TL_KEY_DST_RANK))

/* Returns the direction of a copy; kernels also have a kind, but not a number. */
static int32_t copy_kind_of(const tl_fields *f)
{
    int64_t kind = tl_value_int(tl_fields_get(f, TL_KEY_KIND), -1);
    return kind >= 0 && kind <= INT8_MAX ? (int32_t)kind : -1;
}

/* Returns the product of a list of numbers above 0; 0: anything else. */
static uint32_t product_of(tl_text list)
{
    uint64_t product = 1, number = 0;
    bool digits = false, any = false;

    if (list.n < 2 || list.p[0] != '[')
        return 0;
    for (size_t i = 1; i < list.n; i++) {
        char c = list.p[i];
        if (c >= '0' && c <= '9') {
            number = 10 * number + (uint64_t)(c - '0');
            number = number < UINT32_MAX ? number : UINT32_MAX;
            digits = any = true;
        } else if (c == ',' || c == ']') {
            if (!digits)
                return 0;
            product *= number;
            product = product < UINT32_MAX ? product : UINT32_MAX;
            number = 0;
            digits = false;
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            return 0;
        }
    }
    return any ? (uint32_t)product : 0;
}

void tl_events_take_side(tl_events *e, const tl_fields *f, uint32_t event)
{
    if (f->seen & TL_KEY_BIT(TL_KEY_GRID)) {
        uint32_t blocks = product_of(f->value[TL_KEY_GRID].text);
        if (blocks > 0)
            tl_vec_push(&e->grids, (tl_grid_args){ event, blocks });
    }
    int32_t kind = f->seen & TL_KEY_BIT(TL_KEY_KIND) ? copy_kind_of(f) : -1;
    if (f->seen & COPY_KEYS || kind >= 0)
        tl_vec_push(&e->copies, (tl_copy_args){ event, kind, tl_value_int(tl_fields_get(f, TL_KEY_BYTES), -1),
                                                tl_value_double(tl_fields_get(f, TL_KEY_BANDWIDTH)) });
    if (f->seen & WAIT_KEYS)
        tl_vec_push(&e->waits, (tl_wait_args){ event, tl_value_int(tl_fields_get(f, TL_KEY_WAIT_ON_STREAM), -1),
                                               tl_value_int(tl_fields_get(f, TL_KEY_WAIT_ON_CORR), -1) });
    if (f->seen & COLL_KEYS) {
        tl_vec_room(&e->colls);
        e->colls.v[e->colls.n++] = (tl_coll_args){
            .event = event,
            .name = tl_value_name(e, tl_fields_get(f, TL_KEY_COLL_NAME)),
            .dtype = tl_value_name(e, tl_fields_get(f, TL_KEY_DTYPE)),
            .pg_name = tl_value_name(e, tl_fields_get(f, TL_KEY_PG_NAME)),
            .pg_desc = tl_value_name(e, tl_fields_get(f, TL_KEY_PG_DESC)),
            .pg_ranks = tl_value_list(e, tl_fields_get(f, TL_KEY_PG_RANKS)),
            .in_split = tl_value_list(e, tl_fields_get(f, TL_KEY_IN_SPLIT)),
            .out_split = tl_value_list(e, tl_fields_get(f, TL_KEY_OUT_SPLIT)),
            .in_nelems = tl_value_int(tl_fields_get(f, TL_KEY_IN_NELEMS), -1),
            .out_nelems = tl_value_int(tl_fields_get(f, TL_KEY_OUT_NELEMS), -1),
            .group_size = tl_value_int(tl_fields_get(f, TL_KEY_GROUP_SIZE), -1),
            .seq = tl_value_int(tl_fields_get(f, TL_KEY_SEQ), -1),
            .src_rank = tl_value_int(tl_fields_get(f, TL_KEY_SRC_RANK), -1),
            .dst_rank = tl_value_int(tl_fields_get(f, TL_KEY_DST_RANK), -1),
            .rank_start = tl_value_int(tl_fields_get(f, TL_KEY_RANK_START), -1),
            .rank_stride = tl_value_int(tl_fields_get(f, TL_KEY_RANK_STRIDE), -1),
        };
    }
}

static uint32_t event_at(const tl_side *s, size_t at)
{
    uint32_t event;
    memcpy(&event, (const char *)s->entries + at * s->size, sizeof event);
    return event;
}

const void *tl_side_find(tl_side *s, uint32_t event)
{
    /* `at` is the first entry that is not before the event: mostly at or next to the result of the last search. */
    if (s->at < s->n && event_at(s, s->at) < event)
        s->at++;
    else if (s->at > 0 && event_at(s, s->at - 1) >= event)
        s->at--;
    if ((s->at < s->n && event_at(s, s->at) < event) || (s->at > 0 && event_at(s, s->at - 1) >= event)) {
        s->at = 0;
        TL_BISECT(s->at, s->n, mid, event_at(s, mid) < event);
    }
    return s->at < s->n && event_at(s, s->at) == event ? (const char *)s->entries + s->at * s->size : NULL;
}

const tl_coll_args *tl_events_coll(const tl_events *e, uint32_t event)
{
    return tl_side_find(&(tl_side)TL_SIDE(e->colls), event);
}

const tl_wait_args *tl_events_wait(const tl_events *e, uint32_t event)
{
    return tl_side_find(&(tl_side)TL_SIDE(e->waits), event);
}

const tl_shape_args *tl_events_shape(const tl_events *e, uint32_t event)
{
    return tl_side_find(&(tl_side)TL_SIDE(e->shapes), event);
}
