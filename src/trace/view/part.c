#include "part.h"
#include <stdlib.h>
#include <string.h>

/* What stands in the flags of an event that has been judged: its set, TL_LINK_SETS for none, and its kind there. */
enum { SET_BITS = 3 };
#define SET_OF(mark)  ((mark)&7u)
#define KIND_OF(mark) ((mark) >> SET_BITS)

#define ALL       (1u << TL_LINK_OPS | NOT_OPS)
#define NOT_OPS   (1u << TL_LINK_CALLS | OF_DEVICE)
#define OF_DEVICE (1u << TL_LINK_WORK | 1u << TL_LINK_WAITS)

/* The columns, those first that leave something after: room for the others. */
static const struct {
    size_t from, to, size; /* place in tl_events and in tl_columns, bytes of an element */
    unsigned sets;         /* that have it */
} moves[] = {
    { offsetof(tl_events, corr), offsetof(tl_columns, corr), sizeof(int64_t), NOT_OPS },
    { offsetof(tl_events, lane), offsetof(tl_columns, lane), sizeof(uint32_t), NOT_OPS },
    { offsetof(tl_events, ts_ns), offsetof(tl_columns, start_ns), sizeof(int64_t), ALL },
    { offsetof(tl_events, dur_ns), offsetof(tl_columns, dur_ns), sizeof(int64_t), ALL },
    { offsetof(tl_events, name), offsetof(tl_columns, name), sizeof(uint32_t), ALL },
    { offsetof(tl_events, uid), offsetof(tl_columns, uid), sizeof(uint32_t), ALL },
    { offsetof(tl_events, track), offsetof(tl_columns, track), sizeof(uint32_t), ALL },
};
enum { NMOVES = sizeof moves / sizeof moves[0] };

/* The columns of a set by themselves, for what is done to each; the widest first. */
static const struct {
    size_t at, size;
} columns_of[] = {
    { offsetof(tl_columns, start_ns), sizeof(int64_t) }, { offsetof(tl_columns, dur_ns), sizeof(int64_t) },
    { offsetof(tl_columns, corr), sizeof(int64_t) },     { offsetof(tl_columns, name), sizeof(uint32_t) },
    { offsetof(tl_columns, uid), sizeof(uint32_t) },     { offsetof(tl_columns, track), sizeof(uint32_t) },
    { offsetof(tl_columns, lane), sizeof(uint32_t) },    { offsetof(tl_columns, event), sizeof(uint32_t) },
    { offsetof(tl_columns, kind), sizeof(uint8_t) },
};
enum { NCOLUMNS = sizeof columns_of / sizeof columns_of[0] };

/* A pointer to something, which is seen as one to bytes: it is copied, never accessed as another type. */
static void *get_array(const void *structure, size_t at)
{
    void *array;
    memcpy(&array, (const char *)structure + at, sizeof array);
    return array;
}

static void set_array(void *structure, size_t at, void *array)
{
    memcpy((char *)structure + at, &array, sizeof array);
}

void tl_shrink(void *array, size_t n, size_t size)
{
    void *old = get_array(array, 0), *smaller = n > 0 ? realloc(old, n * size) : NULL;
    if (n == 0)
        free(old);
    else if (smaller == NULL)
        return;
    set_array(array, 0, smaller);
}

/* --------------------------------------------------------------------------------------------------------- judging */

/* Returns the set of an event, and its kind there; for device events the category stands for the kind. */
static unsigned judge(const tl_events *e, size_t i)
{
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    tl_cat cat = tl_event_cat(e, i);
    bool is_span = (e->flags[i] & span) == span;

    if (!(e->flags[i] & TL_EVENT_HAS_TS))
        return TL_LINK_SETS;
    switch (cat) {
    case TL_CAT_KERNEL:
    case TL_CAT_MEMCPY:
    case TL_CAT_MEMSET:
        return TL_LINK_WORK | (unsigned)cat << SET_BITS;
    case TL_CAT_SYNC:
        return TL_LINK_WAITS | (unsigned)cat << SET_BITS;
    case TL_CAT_RUNTIME:
    case TL_CAT_DRIVER:
        return is_span ? TL_LINK_CALLS : TL_LINK_SETS;
    case TL_CAT_CPU_OP:
        return is_span ? TL_LINK_OPS | TL_OP << SET_BITS : TL_LINK_SETS;
    case TL_CAT_PYTHON:
        return is_span ? TL_LINK_OPS | TL_FRAME << SET_BITS : TL_LINK_SETS;
    case TL_CAT_USER_ANNOTATION:
        return is_span ? TL_LINK_OPS | TL_ANNOTATION << SET_BITS : TL_LINK_SETS;
    default:
        return TL_LINK_SETS;
    }
}

/* Marks all events in their flags, and counts them. */
static void judge_all(tl_events *e, size_t n[TL_LINK_SETS + 1])
{
    size_t copy = 0;

    for (size_t i = 0; i < e->n; i++) {
        unsigned mark = judge(e, i);
        while (copy < e->copies.n && e->copies.v[copy].event < i)
            copy++;
        if (mark == TL_LINK_CALLS && copy < e->copies.n && e->copies.v[copy].event == i)
            mark |= (unsigned)(e->copies.v[copy].kind + 1) << SET_BITS;
        e->flags[i] = (uint16_t)mark;
        n[SET_OF(mark)]++;
    }
}

/* --------------------------------------------------------------------------------------------------------- parting */

/* Deals the elements of a column out.  A set may have the column itself: it is written after where it is read.  What
 * no set has goes to one place, over and over: that takes less than to ask. */
static inline void deal(const uint16_t *marks, size_t n, const char *from, size_t size,
                        void *const to[TL_LINK_SETS + 1])
{
    char nowhere[sizeof(int64_t)], *at[TL_LINK_SETS + 1];
    size_t step[TL_LINK_SETS + 1];

    for (int s = 0; s <= TL_LINK_SETS; s++) {
        at[s] = to[s] != NULL ? to[s] : nowhere;
        step[s] = to[s] != NULL ? size : 0;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned set = SET_OF(marks[i]);
        memmove(at[set], from + i * size, size);
        at[set] += step[set];
    }
}

/* Moves one column to the sets that have it.  Ops are most of a trace, so they take the array over and the other sets
 * copy. */
static void move_column(tl_events *e, size_t move, tl_columns sets[TL_LINK_SETS])
{
    void *from = get_array(e, moves[move].from), *to[TL_LINK_SETS + 1] = { NULL };
    size_t size = moves[move].size;
    bool taken = moves[move].sets & 1u << TL_LINK_OPS;

    for (int s = 0; s < TL_LINK_SETS; s++)
        if (moves[move].sets & 1u << s) {
            to[s] = s == TL_LINK_OPS ? from : tl_malloc(sets[s].n * size);
            set_array(&sets[s], moves[move].to, to[s]);
        }
    set_array(e, moves[move].from, taken ? NULL : from);
    if (size == sizeof(int64_t))
        deal(e->flags, e->n, from, sizeof(int64_t), to);
    else
        deal(e->flags, e->n, from, sizeof(uint32_t), to);
    if (taken) {
        tl_shrink((char *)&sets[TL_LINK_OPS] + moves[move].to, sets[TL_LINK_OPS].n, size);
    } else {
        free(from);
        set_array(e, moves[move].from, NULL);
    }
}

/* What the marks say, and the numbers of events that have side tables. */
static void keep_marks(const tl_events *e, tl_columns sets[TL_LINK_SETS])
{
    size_t at[TL_LINK_SETS + 1] = { 0 };

    for (int s = 0; s < TL_LINK_SETS; s++) {
        sets[s].kind = tl_malloc(sets[s].n);
        if (!(OF_DEVICE & 1u << s))
            continue;
        sets[s].event = tl_malloc(sets[s].n * sizeof *sets[s].event);
    }
    for (size_t i = 0; i < e->n; i++) {
        unsigned set = SET_OF(e->flags[i]);
        if (set == TL_LINK_SETS)
            continue;
        if (sets[set].event != NULL)
            sets[set].event[at[set]] = (uint32_t)i;
        sets[set].kind[at[set]++] = (uint8_t)KIND_OF(e->flags[i]);
    }
}

void tl_events_part(tl_events *e, int64_t base_ns, tl_columns sets[TL_LINK_SETS])
{
    size_t n[TL_LINK_SETS + 1] = { 0 };

    judge_all(e, n);
    free(e->category);
    e->category = NULL;
    for (size_t i = 0; i < e->n; i++)
        e->ts_ns[i] = tl_since_base(e->ts_ns[i], base_ns);
    for (int s = 0; s < TL_LINK_SETS; s++)
        sets[s].n = n[s];
    for (size_t move = 0; move < NMOVES; move++)
        move_column(e, move, sets);
    keep_marks(e, sets);
    free(e->flags);
    e->flags = NULL;
    e->n = e->cap = 0;
}

/* ------------------------------------------------------------------------------------------------------------ sets */

static inline void gather(const void *from, size_t size, const uint32_t *order, size_t n, void *to)
{
    for (size_t i = 0; i < n; i++)
        memcpy((char *)to + i * size, (const char *)from + order[i] * size, size);
}

void tl_columns_order(tl_columns *c, const uint32_t *order)
{
    void *room = NULL;
    size_t room_bytes = 0;

    for (size_t k = 0; k < NCOLUMNS && c->n > 0; k++) {
        size_t size = columns_of[k].size;
        void *from = get_array(c, columns_of[k].at);
        if (from == NULL)
            continue;
        if (room == NULL || room_bytes < c->n * size) {
            free(room);
            room_bytes = c->n * size;
            room = tl_malloc(room_bytes);
        }
        if (size == sizeof(int64_t))
            gather(from, sizeof(int64_t), order, c->n, room);
        else if (size == sizeof(uint32_t))
            gather(from, sizeof(uint32_t), order, c->n, room);
        else
            gather(from, sizeof(uint8_t), order, c->n, room);
        if (room_bytes > c->n * size)
            tl_shrink(&room, c->n, size);
        set_array(c, columns_of[k].at, room);
        room = from; /* for the next one, which is no wider */
        room_bytes = c->n * size;
    }
    free(room);
}

void tl_columns_cut(tl_columns *c, size_t n)
{
    for (size_t k = 0; k < NCOLUMNS; k++)
        if (get_array(c, columns_of[k].at) != NULL)
            tl_shrink((char *)c + columns_of[k].at, n, columns_of[k].size);
    c->n = n;
}

void tl_columns_free(tl_columns *c)
{
    for (size_t k = 0; k < NCOLUMNS; k++)
        free(get_array(c, columns_of[k].at));
    *c = (tl_columns){ 0 };
}
