/* split.c - where does one entry end and the next begin?
 *
 *     DOC    the text around the array, byte by byte: it is small
 *     GAP    between two entries of the array
 *     ENTRY  inside an entry: 64 bytes at a time, masks of quotes, backslashes and braces
 *     SEEK   after something broken: looking for the next place that can only be the start of an entry
 */
#include "tlmpi/trace/split.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#if defined __SSE2__ && !defined TLMPI_PORTABLE
#include <emmintrin.h>
#endif

enum { DOC, GAP, ENTRY, SEEK };

#define FIRST_BUFFER ((size_t)512 << 10)
#define LEAST_SPACE ((size_t)64 << 10)
#define PADDING ((size_t)64)            /* readers may look so far behind an entry */
#define LOOK_AHEAD ((size_t)256)        /* SEEK decides within so many bytes of a '{' or ']' */
#define LOOK_BEHIND ((size_t)256)

void tl_split_init(tl_split *s)
{
    *s = (tl_split){ .state = DOC, .stop_at = UINT64_MAX, .first_entry = UINT64_MAX, .last_start = UINT64_MAX,
                     .trailing_at = UINT64_MAX, .array_end = UINT64_MAX };
}

void tl_split_begin_inside(tl_split *s, uint64_t base, size_t behind)
{
    s->state = SEEK;
    s->found = true;
    s->depth = 2;               /* the document and its array */
    s->base = base;
    s->scan = s->at = behind;   /* counts from the first byte of the text to come */
}

void tl_split_free(tl_split *s)
{
    free(s->buf);
    free(s->doc);
    *s = (tl_split){ 0 };
}

char *tl_split_space(tl_split *s, size_t *cap)
{
    size_t keep = s->state == SEEK && s->at > LOOK_BEHIND ? s->at - LOOK_BEHIND : s->state == SEEK ? 0 : s->at;

    if (keep > 0) {
        memmove(s->buf, s->buf + keep, s->end - keep);
        s->base += keep;
        s->at -= keep;
        s->end -= keep;
        s->scan -= keep;
    }
    if (s->cap < s->end + LEAST_SPACE) {
        size_t want = s->cap == 0 ? FIRST_BUFFER : s->cap * 2;
        char *grown = want + PADDING > want ? tl_malloc(want + PADDING) : NULL;
        if (grown == NULL) {
            *cap = 0;
            return NULL;
        }
        if (s->end > 0)
            memcpy(grown, s->buf, s->end);
        memset(grown + s->end, 0, want + PADDING - s->end);
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
    s->buf[s->end] = 0;                 /* ends whatever a probe reads */
}

void tl_split_eof(tl_split *s)
{
    s->eof = true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* ------------------------------------------------------------------------------------------------ the document */

/* One byte more of the text around the array; what does not fit is passed over. */
static bool doc_add(tl_split *s, char c)
{
    if (s->ndoc >= TL_DOC_MAX) {
        s->doc_full = true;
        return true;
    }
    if (s->ndoc == s->doc_cap && !tl_grow((void **)&s->doc, &s->doc_cap, s->ndoc + 1, 1))
        return false;
    s->doc[s->ndoc++] = c;
    return true;
}

/* Takes one byte of the document.  The key before an array at depth 1 decides whether that array is traceEvents:
 * `key` holds the last string of depth 1, and an opening bracket right after "key" and ':' belongs to it.  nkey counts
 * up to sizeof key + 1; a value between the key and the bracket forgets it. */
static bool doc_byte(tl_split *s, char c)
{
    if (s->in_string) {
        if (s->escaped)
            s->escaped = false;
        else if (c == '\\')
            s->escaped = true;
        else if (c == '"')
            s->in_string = false;
        if (s->in_string && s->depth == 1 && s->nkey <= sizeof s->key) {
            if (s->nkey < sizeof s->key)
                s->key[s->nkey] = c;
            s->nkey++;
        }
        return doc_add(s, c);
    }
    switch (c) {
    case '"':
        s->in_string = true;
        s->nkey = 0;
        break;
    case '[':
        if (s->depth == 0 && s->ndoc == 0) {
            s->bare = s->found = true;
            s->array_begin = s->base + s->scan;
            s->state = GAP;
            return true;
        }
        if (s->depth == 1 && s->nkey == 11 && memcmp(s->key, "traceEvents", 11) == 0) {
            s->found = true;
            s->closed = false;
            s->array_begin = s->base + s->scan;
            s->array_end = UINT64_MAX;
            s->state = GAP;
            s->nkey = 0;
            s->depth++;
            return doc_add(s, c);
        }
        s->depth++;
        break;
    case '{':
        s->depth++;
        break;
    case '}':
    case ']':
        if (s->depth > 0 && --s->depth == 0)
            s->complete = true;
        break;
    case ' ': case '\n': case '\r': case '\t': case ':':
        break;
    default:
        s->nkey = 0;
    }
    return doc_add(s, c);
}

/* After a byte of the document outside strings, or the end of one: notes what is open, and whether the text could end here.  A
 * number may go on until the comma. */
static void note_whole(tl_split *s, char c)
{
    uint64_t behind = s->base + s->scan;
    bool opens = c == '{' || c == '[', in_array;

    if (s->depth == 0 || s->depth > TL_OPEN_MAX)
        return;
    if (opens)
        s->open[s->depth - 1] = c;
    in_array = s->open[s->depth - 1] == '[';
    if (opens || c == '}' || c == ']' || (c == '"' && (in_array || s->value)))
        s->whole_to = behind;
    else if (c == ',')
        s->whole_to = behind - 1;
    else if (c == ':')
        s->value = true;
    if (s->whole_to == behind || c == ',') {
        s->whole_depth = (size_t)s->depth;
        s->value = false;
    }
}

/* The document ends where its outermost brace closes; what stands behind it is no part of the trace. */
static bool doc_run(tl_split *s)
{
    while (s->scan < s->end && s->state == DOC) {
        char c = s->buf[s->scan++];
        if (s->complete || (s->bare && s->closed)) {
            if (c != ']' && c != 0 && !is_space(c) && s->trailing_at == UINT64_MAX)
                s->trailing_at = s->base + s->scan - 1;
            continue;
        }
        if (s->ndoc == 0 && s->depth == 0 && (is_space(c) || (s->base + s->scan <= 3 && (c & 0x80))))
            continue;           /* white space and a byte order mark before the document */
        if (!doc_byte(s, c))
            return false;
        if (!s->in_string)
            note_whole(s, c);
    }
    s->at = s->scan;
    return true;
}

/* --------------------------------------------------------------------------------------------------- an entry */

/* Walks on to the closing brace of the entry.  True when it has been found: scan is then behind it. */
static bool entry_run_bytes(tl_split *s, size_t to)
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

/* Bit i of the result is the parity of bits 0..i: the inside of strings from the mask of their quotes. */
static uint64_t prefix_xor(uint64_t m)
{
    for (int shift = 1; shift < 64; shift *= 2)
        m ^= m << shift;
    return m;
}

static bool entry_run(tl_split *s)
{
    while (s->end - s->scan >= 64) {
        const char *p = s->buf + s->scan;
        __m128i v[4];
        for (int i = 0; i < 4; i++)
            v[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));

        /* Backslashes are rare (Kineto turns them into slashes): such a block goes byte by byte. */
        if (s->escaped || mask_of(v, '\\') != 0) {
            if (entry_run_bytes(s, s->scan + 64))
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
    return entry_run_bytes(s, s->end);
}
#else
static bool entry_run(tl_split *s)
{
    return entry_run_bytes(s, s->end);
}
#endif

/* ---------------------------------------------------------------------------------- after something broken */

static const char *const entry_keys[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "s", "bp", NULL };
static const char *const document_keys[] = { "traceName", "displayTimeUnit", "baseTimeNanoseconds", "distributedInfo",
                                             "deviceProperties", "schemaVersion", "trace_id", "host_name", NULL };

static size_t skip_space(const tl_split *s, size_t i)
{
    while (i < s->end && is_space(s->buf[i]))
        i++;
    return i;
}

/* Whether one of the keys, quoted and followed by ':', stands at i (white space aside). */
static bool key_at(const tl_split *s, size_t i, const char *const *keys)
{
    i = skip_space(s, i);
    if (i >= s->end || s->buf[i] != '"')
        return false;
    for (i++; *keys != NULL; keys++) {
        size_t n = strlen(*keys);
        if (s->end - i > n && memcmp(s->buf + i, *keys, n) == 0 && s->buf[i + n] == '"') {
            size_t colon = skip_space(s, i + n + 1);
            return colon < s->end && s->buf[colon] == ':';
        }
    }
    return false;
}

/* The last byte before i that is no white space, 0 when there is none near. */
static char byte_before(const tl_split *s, size_t i)
{
    size_t least = i > LOOK_BEHIND ? i - LOOK_BEHIND : 0;
    while (i > least && is_space(s->buf[i - 1]))
        i--;
    return i > least ? s->buf[i - 1] : 0;
}

static bool array_ends_at(const tl_split *s, size_t i)
{
    if (byte_before(s, i) != '}')
        return false;
    size_t next = skip_space(s, i + 1);
    if (s->bare)
        return next == s->end && s->eof;
    if (next < s->end && s->buf[next] == ',')
        return key_at(s, next + 1, document_keys);
    return next < s->end && s->buf[next] == '}' && s->eof && skip_space(s, next + 1) == s->end;
}

static bool entry_starts_at(const tl_split *s, size_t i)
{
    return s->buf[i] == '{' && byte_before(s, i) == ',' && key_at(s, i + 1, entry_keys);
}

bool tl_split_holds_start(const tl_split *s, const tl_piece *piece)
{
    size_t first = (size_t)(piece->text.p - s->buf);
    for (size_t i = first + 1; i < first + piece->text.n; i++) {
        const char *brace = memchr(s->buf + i, '{', first + piece->text.n - i);
        if (brace == NULL)
            return false;
        i = (size_t)(brace - s->buf);
        if (entry_starts_at(s, i))
            return true;
    }
    return false;
}

/* Looks from scan on.  True when the state is GAP again, at a '{' or ']'. */
static bool seek_run(tl_split *s)
{
    size_t last = s->eof ? s->end : s->end > LOOK_AHEAD ? s->end - LOOK_AHEAD : 0;

    if (s->scan > s->end)               /* began inside, and nothing has come yet */
        return false;
    for (; s->scan < last; s->scan++) {
        char c = s->buf[s->scan];
        if (c != '{' && c != ']')
            continue;
        bool here = c == '{' ? entry_starts_at(s, s->scan) : array_ends_at(s, s->scan);
        if (here) {
            s->at = s->scan;
            s->state = GAP;
            s->in_string = s->escaped = false;
            return true;
        }
    }
    s->at = s->scan;
    return false;
}

void tl_split_resync(tl_split *s)
{
    s->state = SEEK;
    s->scan = s->at + 1;
    s->at = s->scan;
}

/* ------------------------------------------------------------------------------------------------------ pieces */

static tl_text text_here(const tl_split *s)
{
    return (tl_text){ s->buf + s->at, s->scan - s->at };
}

static bool is_bare(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

/* A number or bare word at scan that ends where an element may end: *end is behind it, else 0.  False: more of the text
 * must be seen to tell. */
static bool bare_element(const tl_split *s, size_t *end)
{
    size_t i = s->scan;
    while (i < s->end && is_bare(s->buf[i]))
        i++;
    size_t next = skip_space(s, i);
    bool over = next < s->end && (s->buf[next] == ',' || s->buf[next] == ']');
    *end = i > s->scan && over ? i : 0;
    return next < s->end || s->eof || i == s->scan || next - s->scan > LOOK_AHEAD;
}

/* Whether the ']' at scan, between two entries, can be the end of the array: behind it stands another key, or the end of the
 * document and then of the text or the beginning of another document; behind a bare array nothing.  False: more of the text
 * must be seen to tell. */
static bool may_end_array(const tl_split *s, bool *ends)
{
    size_t next = skip_space(s, s->scan + 1);
    bool brace = !s->bare && next < s->end && s->buf[next] == '}';
    if (brace)
        next = skip_space(s, next + 1);
    bool known = next < s->end;
    char c = known ? s->buf[next] : 0;

    if (!known)
        *ends = true;                   /* of the text, or far away */
    else if (brace || s->bare)
        *ends = c == '{' || c == '[';
    else
        *ends = c == ',' && !(skip_space(s, next + 1) < s->end && s->buf[skip_space(s, next + 1)] == '{');
    bool seen = known && (brace || s->bare || c != ',' || skip_space(s, next + 1) < s->end);
    return seen || s->eof || next - s->scan > LOOK_AHEAD;
}

/* In the array, before an entry: false when the buffer is used up.  Sets *bad where something stands that is no entry, and
 * *bad_end to its end where that is known. */
static bool gap_run(tl_split *s, bool *bad, size_t *bad_end)
{
    while (s->scan < s->end) {
        char c = s->buf[s->scan];
        if (is_space(c) || c == ',') {
            s->scan++;
            continue;
        }
        s->at = s->scan;
        if (c == '{' && s->base + s->scan >= s->stop_at) {
            s->stopped = true;
            s->last_start = s->base + s->scan;
        } else if (c == '{') {
            if (s->first_entry == UINT64_MAX)
                s->first_entry = s->base + s->scan;
            s->state = ENTRY;
            s->entry_depth = 0;
            s->in_string = s->escaped = false;
            s->long_at = (size_t)64 << 10;
            s->nentries++;
        } else if (c == ']') {
            bool ends;
            if (!may_end_array(s, &ends))
                return false;
            if (!ends) {                /* a stray one */
                *bad = true;
                *bad_end = s->scan + 1;
                s->nentries++;
                return true;
            }
            s->closed = true;
            s->array_end = s->base + s->scan;
            s->state = DOC;
            if (s->bare)
                s->complete = true;
        } else {
            if (!bare_element(s, bad_end))
                return false;
            *bad = true;
            s->nentries++;
        }
        return true;
    }
    s->at = s->scan;
    return false;
}

tl_piece_kind tl_split_next(tl_split *s, tl_piece *piece)
{
    if (s->state == ENTRY && s->entry_depth == 0 && s->scan > s->at) {  /* the entry given last is done with */
        s->at = s->scan;
        s->state = GAP;
    }
    for (;;) {
        bool bad = false;
        size_t bad_end = 0;
        switch (s->state) {
        case DOC:
            if (!doc_run(s))
                return TL_PIECE_NO_MEMORY;
            if (s->state == DOC)
                return s->eof ? TL_PIECE_END : TL_PIECE_MORE;
            break;
        case GAP:
            if (s->stopped)
                return TL_PIECE_END;
            if (!gap_run(s, &bad, &bad_end))
                return s->eof ? TL_PIECE_END : TL_PIECE_MORE;
            if (bad) {
                *piece = (tl_piece){ { s->buf + s->at, 1 }, s->base + s->at, s->nentries - 1, false };
                if (bad_end > 0)
                    s->scan = bad_end;
                else
                    tl_split_resync(s);
                return TL_PIECE_BAD;
            }
            if (s->state == ENTRY && s->probe != NULL) {
                size_t n = s->probe(s->probe_arg, s->buf + s->at);
                if (n > 0) {
                    s->scan = s->at + n;
                    *piece = (tl_piece){ text_here(s), s->base + s->at, s->nentries - 1, true };
                    return TL_PIECE_ENTRY;
                }
            }
            break;
        case ENTRY:
            if (s->scan - s->at >= TL_ENTRY_MAX) {      /* nobody wanted to give it up: it is too long all the same */
                tl_split_resync(s);
                break;
            }
            bool whole = entry_run(s);
            *piece = (tl_piece){ text_here(s), s->base + s->at, s->nentries - 1, false };
            if (whole)
                return TL_PIECE_ENTRY;
            if (s->scan - s->at >= s->long_at) {
                s->long_at *= 16;
                return TL_PIECE_LONG;
            }
            if (!s->eof)
                return TL_PIECE_MORE;
            s->state = DOC;
            return TL_PIECE_CUT;
        case SEEK:
            if (!seek_run(s))
                return s->eof ? TL_PIECE_END : TL_PIECE_MORE;
            break;
        }
    }
}
