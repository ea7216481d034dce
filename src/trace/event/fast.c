/* fast.c - the shapes that Kineto writes, read at memory speed.
 *
 * A strict reader of plain JSON: printable ASCII in strings, no escapes, numbers as the grammar has them, nesting up to
 * a limit, any key order, any white space.  At the first byte that is anything else it gives up and says so, and yajl
 * reads the entry.  So it never has to be right about odd text; it only has to notice it.
 *
 * It needs no end: every loop stops at a byte that cannot be there, and after the text stands one (fields.h).
 *
 * It is compiled twice: fast_hooked.c makes the reader that asks a hook about keys, so that this one does not pay for
 * that.
 */
#include "keys.h"
#include "tlmpi/trace/event/fields.h"
#if defined __SSE2__ && !defined TLMPI_PORTABLE
#include <emmintrin.h>
#endif

#define DEEPEST 32

#ifndef TL_READ_HOOKED
#define TL_READ_HOOKED 0
#endif

/* The readers below return where they stopped, NULL for "not plain". */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Bytes one by one: the processor foresees where such a run ends, and reads on while it looks. */
static inline const char *skip_indent(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

static inline const char *pass_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

#if defined __SSE2__ && !defined TLMPI_PORTABLE
/* p is after the opening quote; returns the closing one. */
static inline const char *skip_string(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Signed: bytes from 0x80 on are below a blank, like control bytes. */
        __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(v, backslash), _mm_cmplt_epi8(v, blank));
        unsigned stop = (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, _mm_cmpeq_epi8(v, quote)));
        if (stop != 0) {
            p += __builtin_ctz(stop);
            return *p == '"' ? p : NULL;
        }
    }
}
#else
static inline const char *skip_string(const char *p)
{
    for (;; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            return p;
        if (c == '\\' || c < 0x20 || c >= 0x80)
            return NULL;
    }
}
#endif

/* Mostly there is none, or one blank. */
static inline const char *skip_space(const char *p)
{
    if ((unsigned char)*p > ' ')
        return p;
    if (*p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
    return skip_indent(p);
}

/* After the byte that stands at p, white space aside; NULL where another one does. */
static inline const char *pass(const char *p, char byte)
{
    if (*p != byte) {
        p = skip_space(p);
        if (*p != byte)
            return NULL;
    }
    return p + 1;
}

/* What is no comma in the end, nor white space, may be the rest of a fraction. */
static inline const char *skip_number(const char *p)
{
    if (*p < '1') {
        p += *p == '-';
        if (*p == '0' && is_digit(p[1]))
            return NULL;
    }
    const char *end = pass_digits(p);
    if (end == p)
        return NULL;
    if ((unsigned char)*end <= ',')
        return end;
    if (*end == '.') {
        p = end + 1;
        end = pass_digits(p);
        if (end == p)
            return NULL;
    }
    if (*end == 'e' || *end == 'E') {
        p = end + 1;
        p += *p == '+' || *p == '-';
        end = pass_digits(p);
        if (end == p)
            return NULL;
    }
    return end;
}

static const char *skip_word(const char *p)
{
    if (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)
        return p + 4;
    return memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

static const char *skip_nested(const char *p, char opening);

/* Any value; *v says what it is. */
static inline const char *read_value(const char *p, tl_value *v)
{
    const char *q;

    switch (*p) {
    case '"':
        q = skip_string(p + 1);
        if (q == NULL)
            return NULL;
        *v = (tl_value){ { p + 1, (size_t)(q - p - 1) }, TL_VALUE_STRING };
        return q + 1;
    case '{':
    case '[':
        q = skip_nested(p + 1, *p);
        *v = (tl_value){ { p, (size_t)((uintptr_t)q - (uintptr_t)p) }, TL_VALUE_OTHER };
        return q;
    case 't':
    case 'f':
    case 'n':
        *v = (tl_value){ { p, 0 }, TL_VALUE_OTHER };
        return skip_word(p);
    default:
        q = skip_number(p);
        if (q != NULL)
            *v = (tl_value){ { p, (size_t)(q - p) }, TL_VALUE_NUMBER };
        return q;
    }
}

/* A string, number or word that nobody asked about. */
static inline const char *skip_scalar(const char *p)
{
    if (*p == '"') {
        p = skip_string(p + 1);
        return p != NULL ? p + 1 : NULL;
    }
    return *p == 't' || *p == 'f' || *p == 'n' ? skip_word(p) : skip_number(p);
}

/* An array or object that nobody asked about; p is after its opening bracket. */
static const char *skip_nested(const char *p, char opening)
{
    char closing[DEEPEST];
    int depth = 0;

    closing[depth++] = opening == '[' ? ']' : '}';
    p = skip_space(p);
    if (*p == closing[0])
        return p + 1;
    for (;;) {
        if (closing[depth - 1] == '}') {
            if (*p != '"' || (p = skip_string(p + 1)) == NULL)
                return NULL;
            p = skip_space(p + 1);
            if (*p != ':')
                return NULL;
            p = skip_space(p + 1);
        }
        if (*p == '[' || *p == '{') {
            if (depth == DEEPEST)
                return NULL;
            closing[depth++] = *p == '[' ? ']' : '}';
            p = skip_space(p + 1);
            if (*p != closing[depth - 1])
                continue; /* its first element */
        } else if ((p = skip_scalar(p)) == NULL) {
            return NULL;
        } else {
            p = skip_space(p);
        }
        /* After a value, or at the end of an empty bracket. */
        while (*p == closing[depth - 1]) {
            p++;
            if (--depth == 0)
                return p;
            p = skip_space(p);
        }
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
    }
}

/* A member of an object, p at its key: *key and the place of its value. */
static inline const char *read_key(const char *p, tl_text *key)
{
    if (*p != '"')
        return NULL;
    const char *end = skip_string(p + 1);
    if (end == NULL)
        return NULL;
    *key = (tl_text){ p + 1, (size_t)(end - p - 1) };
    p = pass(end + 1, ':');
    return p != NULL ? skip_space(p) : NULL;
}

/* From after a value to the next key of its object, or after the end of that: then *over is set. */
static inline const char *next_member(const char *p, bool *over)
{
    if (*p != ',') {
        p = skip_space(p);
        *over = *p == '}';
        if (*over)
            return p + 1;
        if (*p != ',')
            return NULL;
    }
    return skip_space(p + 1);
}

static inline const char *store_value(const char *p, tl_key key, tl_fields *f)
{
    tl_value v;
    p = read_value(p, &v);
    if (p != NULL && key < TL_NKEYS)
        tl_fields_set(f, key, v.text.p, v.text.n, v.type);
    return p;
}

static inline tl_key key_of_args(tl_text word, tl_hook_key *key_of)
{
    tl_key key = tl_key_of_args(word.p, word.n);
    return TL_READ_HOOKED && key == TL_KEY_UNKNOWN ? key_of(word.p, word.n) : key;
}

/* The members of args, p after its '{'. */
static const char *read_args(const char *p, tl_hook_key *key_of, tl_fields *f)
{
    tl_text key;
    bool over = false;

#if TL_READ_HOOKED
    f->seen |= UINT64_C(1) << TL_KEY_ARGS;
#endif
    p = skip_space(p);
    if (*p == '}')
        return p + 1;
    for (;;) {
        p = read_key(p, &key);
        if (p != NULL)
            p = store_value(p, key_of_args(key, key_of), f);
        if (p != NULL)
            p = next_member(p, &over);
        if (p == NULL || over)
            return p;
    }
}

static inline bool is_unwanted(const tl_filter *filter, tl_text cat)
{
    if (!(filter->shapes >> tl_filter_shape(cat) & 1))
        return false;
    for (size_t i = 0; i < filter->n; i++)
        if (filter->unwanted[i].n == cat.n && memcmp(filter->unwanted[i].p, cat.p, cat.n) == 0)
            return true;
    return false;
}

/* The rest of an entry that nobody asked for, p after its cat.  A second cat would count instead of the first: not
 * plain. */
static const char *skip_members(const char *p)
{
    tl_text key;
    bool over = false;

    for (;;) {
        p = next_member(p, &over);
        if (p == NULL || over)
            return p;
        p = read_key(p, &key);
        if (p != NULL && key.n == 3 && memcmp(key.p, "cat", 3) == 0)
            return NULL;
        if (p != NULL)
            p = *p == '{' || *p == '[' ? skip_nested(p + 1, *p) : skip_scalar(p);
        if (p == NULL)
            return NULL;
    }
}

#if TL_READ_HOOKED
size_t tl_event_read_fast_hooked(const char *start, const tl_filter *filter, tl_hook_key *key_of, tl_fields *f)
{
#else
size_t tl_event_read_fast(const char *start, const tl_filter *filter, tl_fields *f)
{
    tl_hook_key *const key_of = NULL;
#endif
    tl_text text;
    bool over = false;
    const char *p = start;

    f->seen = 0;
    f->args.n = 0;
    if (*p != '{')
        return 0;
    p = skip_space(p + 1);
    if (*p == '}')
        return (size_t)(p + 1 - start);
    for (;;) {
        p = read_key(p, &text);
        if (p == NULL)
            return 0;
        tl_key key = tl_key_of_entry(text.p, text.n);
        if (key == TL_KEY_ARGS && *p == '{') {
            f->args.p = p;
            p = read_args(p + 1, key_of, f);
            f->args.n = (size_t)((uintptr_t)p - (uintptr_t)f->args.p);
        } else {
            p = store_value(p, key, f);
        }
        if (p == NULL)
            return 0;
        if (key == TL_KEY_CAT && filter != NULL && is_unwanted(filter, f->value[TL_KEY_CAT].text)) {
            p = skip_members(p);
            return p != NULL ? (size_t)(p - start) : 0;
        }
        p = next_member(p, &over);
        if (p == NULL || over)
            return p != NULL ? (size_t)(p - start) : 0;
    }
}
