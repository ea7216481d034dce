/* split_seek.c - finds the start of the next entry after something broken.
 *
 * Only an object that begins like an entry counts.  One that begins with "ph", as Kineto's do, may be anywhere; others
 * follow a comma, or the invalid byte.
 *
 * An invalid byte breaks every value that is open at it:
 *
 *     {"ph": "X", "args": {"grid": [1, {"ph": "X", "name": "b"}, {"ph": "X", "args": [2, {"ph": @
 *     ^ broken                         ^ complete                ^ broken by the same @  ^ broken, too
 *
 * so each part of the text is looked at once for all of them.
 */
#include "internal.h"
#include <stdlib.h>

/* Number of entries after a broken one that the grammar reads from their first byte on: damage comes in bursts. */
#define TROUBLE 8

const char *const tl_entry_keys[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "s", "bp", NULL };
const char *const tl_document_keys[] = { "traceName",           "displayTimeUnit",
                                         "baseTimeNanoseconds", "distributedInfo",
                                         "deviceProperties",    "schemaVersion",
                                         "traceEvents",         NULL };
/* Keys of the document that other objects have as well. */
static const char *const likely_document_keys[] = { "trace_id",
                                                    "host_name",
                                                    "cupti_version",
                                                    "cuda_runtime_version",
                                                    "cuda_driver_version",
                                                    "record_shapes",
                                                    "with_stack",
                                                    "with_flops",
                                                    "with_modules",
                                                    "profile_memory",
                                                    NULL };

tl_sight tl_split_key_at(const tl_split *s, size_t i, size_t to, const char *const *keys)
{
    i = tl_split_skip(s, i, to);
    if (i >= to)
        return TL_SIGHT_CUT;
    if (s->buf[i++] != '"')
        return TL_SIGHT_NO;
    for (; *keys != NULL; keys++) {
        size_t n = strlen(*keys) + 1, there = to - i < n ? to - i : n; /* with the closing quote */
        bool same = memcmp(s->buf + i, *keys, there < n ? there : n - 1) == 0;
        if (same && there < n)
            return TL_SIGHT_CUT;
        if (!same || s->buf[i + n - 1] != '"')
            continue;
        size_t colon = tl_split_skip(s, i + n, to);
        return colon == to ? TL_SIGHT_CUT : s->buf[colon] == ':' ? TL_SIGHT_YES : TL_SIGHT_NO;
    }
    return TL_SIGHT_NO;
}

tl_sight tl_split_entry_at(const tl_split *s, size_t i, size_t to)
{
    static const char *const first[] = { "ph", NULL };
    if (tl_split_before(s, i) == ',' || s->base + i == s->restart_at)
        return tl_split_key_at(s, i + 1, to, tl_entry_keys);
    return tl_split_key_at(s, i + 1, to, first);
}

static bool array_ends_at(const tl_split *s, size_t i)
{
    size_t to = tl_split_horizon(s, i), next = tl_split_skip(s, i + 1, to);
    bool end = s->eof && to == s->end, entry = tl_split_before(s, i) == '}';

    if (s->bare)
        return entry && next == to && end;
    if (next < to && s->buf[next] == ',')
        return tl_split_key_at(s, next + 1, to, tl_document_keys) == TL_SIGHT_YES ||
               (entry && tl_split_key_at(s, next + 1, to, likely_document_keys) == TL_SIGHT_YES);
    return entry && next < to && s->buf[next] == '}' && end && tl_split_skip(s, next + 1, to) == to;
}

/* ----------------------------------------------------------------------------------------- what is open at a fault */

bool tl_split_is_doomed(tl_split *s, size_t i)
{
    uint64_t at = s->base + i;
    while (s->doomed.n > 0 && s->doomed.v[s->doomed.n - 1] < at)
        s->doomed.n--;
    return s->doomed.n > 0 && s->doomed.v[s->doomed.n - 1] == at;
}

typedef struct start {
    uint64_t depth; /* number of brackets open before its brace */
    size_t at;
} start;

typedef struct starts {
    TL_VEC(start) open; /* from the outermost on */
    bool any;
} starts;

/* Reads from s->at to `fault`, and keeps the entries that seem to start there and are open at the end. */
static void find_open(tl_split *s, size_t fault, starts *found)
{
    tl_grammar *g = &s->inner;

    tl_grammar_reset(g);
    for (size_t i = s->at; i < fault; i++) {
        uint64_t depth = g->depth;
        if (!tl_grammar_step(g, s->buf[i]))
            return;
        while (found->open.n > 0 && g->depth < found->open.v[found->open.n - 1].depth)
            found->open.n--;
        if (s->buf[i] != '{' || g->depth == depth || i == s->at)
            continue;
        size_t to = fault - i > LOOK_AHEAD ? i + LOOK_AHEAD : fault;
        if (tl_split_entry_at(s, i, to) == TL_SIGHT_NO)
            continue;
        found->any = true;
        tl_vec_push(&found->open, (start){ g->depth, i });
    }
}

/* Merges the n open starts into s->doomed, which stays in descending order. */
static void doom_starts(tl_split *s, const start *open, size_t n)
{
    TL_VEC(uint64_t) between = { 0 };
    size_t i = 0;

    while (s->doomed.n > 0 && n > 0 && s->doomed.v[s->doomed.n - 1] <= s->base + open[n - 1].at) {
        tl_vec_push(&between, s->doomed.v[--s->doomed.n]);
    }
    /* Appends both lists in descending order. */
    for (i = between.n; n > 0 || i > 0;) {
        uint64_t a = n > 0 ? s->base + open[n - 1].at : 0, b = i > 0 ? between.v[i - 1] : 0;
        bool take_open = n > 0 && (i == 0 || a >= b);
        tl_vec_push(&s->doomed, take_open ? a : b);
        n -= take_open;
        i -= !take_open || (i > 0 && a == b);
    }
    free(between.v);
}

uint64_t tl_split_restart_near(const tl_split *s, size_t fault, size_t from)
{
    size_t i = fault;
    if (i < s->end && s->buf[i] == '{')
        return s->base + i;
    if (i == from || s->buf[i - 1] != '"')
        return UINT64_MAX;
    for (i--; i > from && fault - i < LOOK_BEHIND && tl_split_is_space(s->buf[i - 1]); i--)
        ;
    return i > from && s->buf[i - 1] == '{' ? s->base + i - 1 : UINT64_MAX;
}

void tl_split_doom(tl_split *s, size_t fault, bool all, bool *holds)
{
    starts found = { 0 };
    find_open(s, fault, &found);

    *holds = found.any;
    size_t n = found.open.n;
    if (!all && n > 0)
        n--;
    doom_starts(s, found.open.v, n);
    s->doomed_by = s->base + fault;
    free(found.open.v);
    if (all)
        s->restart_at = tl_split_restart_near(s, fault, s->at + 1);
    tl_split_seek_from(s, s->at + 1);
}

bool tl_split_reject(tl_split *s, const tl_split_item *item, uint64_t *fault)
{
    size_t n;
    bool ignored;

    tl_grammar_reset(&s->inner);
    n = tl_grammar_run(&s->inner, item->text.p, item->text.n);
    if (n == item->text.n && tl_grammar_is_over(&s->inner))
        return false;
    *fault = item->offset + n;
    tl_split_doom(s, s->at + n, true, &ignored);
    return true;
}

void tl_split_resync(tl_split *s)
{
    tl_split_seek_from(s, s->at + 1);
}

bool tl_split_is_document(const tl_split *s, const tl_split_item *item)
{
    size_t at = (size_t)(item->text.p - s->buf);
    size_t to = item->text.n > LOOK_AHEAD ? at + LOOK_AHEAD : at + item->text.n;
    return tl_split_key_at(s, at + 1, to, tl_document_keys) == TL_SIGHT_YES;
}

/* ------------------------------------------------------------------------------------------------------ the search */

void tl_split_seek_from(tl_split *s, size_t i)
{
    s->state = SEEK;
    s->broken_lately = TROUBLE;
    s->after = AFTER_NOTHING;
    s->scan = s->at = i;
}

int tl_split_seek(tl_split *s)
{
    for (; s->scan < s->end && tl_split_sees(s, s->scan); s->scan++) {
        char c = s->buf[s->scan];
        if (c != '{' && c != ']')
            continue;
        if (c == ']' ? array_ends_at(s, s->scan)
                     : tl_split_entry_at(s, s->scan, tl_split_horizon(s, s->scan)) == TL_SIGHT_YES) {
            s->at = s->scan;
            s->state = GAP;
            return STEP_ON;
        }
    }
    s->at = s->scan;
    return STEP_MORE;
}
