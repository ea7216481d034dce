/* split_entry.c - finds the end of an entry.
 *
 * The grammar finds it, and stops at an invalid byte, not at the end of the file.  But most entries are valid and
 * short: so their first bytes are scanned 64 at a time, by masks of quotes and braces, and the reader of the entry
 * finds other faults.  Both ways find the same entries; they differ in time alone.
 */
#include "internal.h"
#if defined __SSE2__ && !defined TLMPI_PORTABLE
#include <emmintrin.h>
#endif

/* Number of bytes of an entry that are scanned for braces alone; the rest of a longer entry goes through the
 * grammar. */
#define SHORT_ENTRY ((size_t)1 << 10)

/* ---------------------------------------------------------------------------------------------------------- braces */

/* Scans to the closing brace of the entry.  Returns true if it is found: scan is after it. */
static bool braces_close_bytes(tl_split *s, size_t to)
{
    while (s->scan < to) {
        char c = s->buf[s->scan++];
        if (s->in_string) {
            if (s->escaped)
                s->escaped = false;
            else if (c == '\\')
                s->escaped = true;
            else if (c == '"')
                s->in_string = false;
        } else if (c == '"') {
            s->in_string = true;
        } else if (c == '{') {
            s->entry_depth++;
        } else if (c == '}' && --s->entry_depth == 0) {
            return true;
        }
    }
    return false;
}

#if defined __SSE2__ && !defined TLMPI_PORTABLE
static uint64_t mask_of(const __m128i v[4], char c)
{
    const __m128i x = _mm_set1_epi8(c);
    uint64_t m = 0;
    for (int i = 3; i >= 0; i--)
        m = m << 16 | (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], x));
    return m;
}

/* Returns the prefix parity: bit i is the parity of bits 0..i of m.  From a mask of quotes it makes a mask of the
 * insides of strings. */
static uint64_t prefix_xor(uint64_t m)
{
    for (int shift = 1; shift < 64; shift *= 2)
        m ^= m << shift;
    return m;
}

static bool braces_close(tl_split *s, size_t to)
{
    while (to - s->scan >= 64) {
        const char *p = s->buf + s->scan;
        __m128i v[4];
        for (int i = 0; i < 4; i++)
            v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));

        /* Backslashes are rare (Kineto turns them into slashes): a block with one is scanned byte by byte. */
        if (s->escaped || mask_of(v, '\\') != 0) {
            if (braces_close_bytes(s, s->scan + 64))
                return true;
            continue;
        }
        uint64_t inside = prefix_xor(mask_of(v, '"')) ^ (s->in_string ? ~UINT64_C(0) : 0);
        uint64_t open = mask_of(v, '{') & ~inside;
        uint64_t close = mask_of(v, '}') & ~inside;
        if (close == 0) {
            s->entry_depth += (uint64_t)__builtin_popcountll(open);
        } else {
            for (uint64_t braces = open | close; braces != 0; braces &= braces - 1) {
                uint64_t bit = braces & (~braces + 1);
                if (open & bit) {
                    s->entry_depth++;
                } else if (--s->entry_depth == 0) {
                    s->scan += (size_t)__builtin_ctzll(bit) + 1;
                    s->in_string = false;
                    return true;
                }
            }
        }
        s->in_string = inside >> 63;
        s->scan += 64;
    }
    return braces_close_bytes(s, to);
}
#else
static bool braces_close(tl_split *s, size_t to)
{
    return braces_close_bytes(s, to);
}
#endif

/* ------------------------------------------------------------------------------------------------------- the entry */

/* Whether the last value before the closing brackets is a number or word, which may be truncated. */
static bool ends_bare(tl_text entry)
{
    size_t i = entry.n;
    while (i > 0 && (entry.p[i - 1] == '}' || entry.p[i - 1] == ']' || tl_split_is_space(entry.p[i - 1])))
        i--;
    return i > 0 && strchr("\"{[", entry.p[i - 1]) == NULL;
}

/* Whether a nested object closes right before the end of the entry. */
static bool ends_in_object(tl_text entry)
{
    size_t i = entry.n - 1;
    while (i > 0 && tl_split_is_space(entry.p[i - 1]))
        i--;
    return i > 0 && entry.p[i - 1] == '}';
}

int tl_split_give(tl_split *s, bool probed, tl_split_item *item)
{
    s->state = GIVEN;
    *item = tl_split_found(s, s->base + s->at);
    item->probed = probed;
    return TL_SPLIT_ENTRY;
}

/* The end of the entry matters only if no comma follows. */
void tl_split_leave_entry(tl_split *s)
{
    bool comma = s->scan < s->end && s->buf[s->scan] == ',';

    if (!comma) {
        const tl_text entry = { s->buf + s->at, s->scan - s->at };
        s->bare_end = ends_bare(entry);
        s->args_end = ends_in_object(entry);
    }
    s->scan += comma;
    s->at = s->scan;
    s->state = GAP;
    s->after = comma ? AFTER_COMMA : AFTER_ENTRY;
}

/* Ends an entry without an end, or that is not valid up to scan (broken). */
static int end_broken_entry(tl_split *s, bool broken, tl_split_item *item)
{
    bool holds = false, cut = !broken && s->scan < s->at + TL_ENTRY_MAX;

    *item = tl_split_found(s, s->base + s->scan);
    tl_split_doom(s, s->scan, broken, &holds);
    return cut ? (int)TL_SPLIT_CUT : (int)TL_SPLIT_BROKEN;
}

int tl_split_entry(tl_split *s, tl_split_item *item)
{
    size_t most = s->end - s->at < TL_ENTRY_MAX ? s->end : s->at + TL_ENTRY_MAX;

    if (!s->checking) {
        size_t to = s->end - s->at < SHORT_ENTRY ? s->end : s->at + SHORT_ENTRY;
        if (braces_close(s, to))
            return tl_split_give(s, false, item);
        if (to < s->at + SHORT_ENTRY && !s->eof)
            return STEP_MORE;
        s->checking = true;
        s->scan = s->at;
    }
    s->scan += tl_grammar_run(&s->inner, s->buf + s->scan, most - s->scan);
    if (tl_grammar_is_over(&s->inner))
        return tl_split_give(s, false, item);
    if (s->scan < most)
        return end_broken_entry(s, true, item);
    return s->scan == s->at + TL_ENTRY_MAX || s->eof ? end_broken_entry(s, false, item) : STEP_MORE;
}
