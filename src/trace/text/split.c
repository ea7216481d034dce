/* split.c - the buffer of the splitter, and the loop over its states. */
#include "internal.h"
#include <stdlib.h>

#define FIRST_BUFFER ((size_t)512 << 10)
#define LEAST_SPACE  ((size_t)64 << 10)
#define PADDING      ((size_t)96) /* bytes after an entry that readers may read */

void tl_split_init(tl_split *s)
{
    *s = (tl_split){ .state = DOC,
                     .stop_at = UINT64_MAX,
                     .first_entry = UINT64_MAX,
                     .last_start = UINT64_MAX,
                     .fault_at = UINT64_MAX,
                     .misplaced_at = UINT64_MAX,
                     .full_at = UINT64_MAX,
                     .base_at = UINT64_MAX,
                     .restart_at = UINT64_MAX,
                     .array_end = UINT64_MAX };
}

void tl_split_begin_inside(tl_split *s, uint64_t base, size_t after)
{
    s->state = SEEK;
    s->found = true;
    s->base = base;
    s->scan = s->at = after; /* counts from the first byte of the text to come */
}

void tl_split_free(tl_split *s)
{
    free(s->buf);
    free(s->doc);
    free(s->doomed.v);
    tl_grammar_free(&s->outer);
    tl_grammar_free(&s->inner);
    *s = (tl_split){ 0 };
}

/* Returns the number of bytes of the buffer that are no longer needed: those before `at`, less LOOK_BEHIND in states
 * that look behind. */
static size_t bytes_done(const tl_split *s)
{
    bool looks_behind = s->state == SEEK || s->state == DOC || s->state == LOST;
    size_t more = looks_behind ? LOOK_BEHIND : 0;
    return s->at > more ? s->at - more : 0;
}

char *tl_split_space(tl_split *s, size_t *cap)
{
    size_t done = bytes_done(s);

    if (done > 0 && s->end >= done) {
        memmove(s->buf, s->buf + done, s->end - done);
        s->base += done;
        s->at -= done;
        s->end -= done;
        s->scan -= done;
    }
    if (s->cap < s->end + LEAST_SPACE) {
        size_t want = s->cap == 0 ? FIRST_BUFFER : s->cap * 2;
        char *grown = tl_malloc(want + PADDING);
        if (s->end > 0)
            memcpy(grown, s->buf, s->end);
        free(s->buf);
        s->buf = grown;
        s->cap = want;
    }
    *cap = s->cap - s->end;
    return s->buf + s->end;
}

void tl_split_fill(tl_split *s, size_t n)
{
    s->end += n;
    memset(s->buf + s->end, 0, PADDING); /* stops any reader */
}

void tl_split_eof(tl_split *s)
{
    s->eof = true;
}

size_t tl_split_read(tl_split *s, tl_source *source, size_t most, tl_error *err)
{
    size_t cap, n = 0;
    char *space = tl_split_space(s, &cap);

    (void)tl_source_read(source, space, cap < most ? cap : most, &n, err);
    tl_split_fill(s, n);
    s->eof = n == 0;
    return n;
}

char tl_split_before(const tl_split *s, size_t i)
{
    size_t least = i > LOOK_BEHIND ? i - LOOK_BEHIND : 0;
    while (i > least && tl_split_is_space(s->buf[i - 1]))
        i--;
    return i > least ? s->buf[i - 1] : 0;
}

void tl_split_closing(const tl_split *s, char *out, size_t cap)
{
    size_t n = 0;
    for (uint64_t d = s->closed ? s->whole_depth : s->outer.depth; d-- > 0 && n < cap;)
        out[n++] = s->outer.objects[d / 64] >> (d % 64) & 1 ? '}' : ']';
    out[n] = '\0';
}

static int step(tl_split *s, tl_split_item *item)
{
    switch (s->state) {
    case DOC:
        return tl_split_doc(s);
    case LOST:
        return tl_split_lost(s);
    case GIVEN:
        tl_split_leave_entry(s);
        return tl_split_gap(s, item);
    case GAP:
        return tl_split_gap(s, item);
    case ELEMENT:
        return tl_split_element(s, item);
    case ENTRY:
        return tl_split_entry(s, item);
    default:
        return tl_split_seek(s);
    }
}

tl_split_result tl_split_next(tl_split *s, tl_split_item *item)
{
    int taken;

    do
        taken = step(s, item);
    while (taken == STEP_ON);
    if (taken != STEP_MORE)
        return (tl_split_result)taken;
    if (!s->eof)
        return TL_SPLIT_MORE;
    tl_split_finish(s);
    return TL_SPLIT_END;
}
