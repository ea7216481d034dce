/* event_fast.c - the shapes that Kineto writes, read at memory speed.
 *
 * A strict reader of plain JSON: printable ASCII in strings, no escapes, numbers as the grammar has them, nesting up to
 * a limit, any key order, any white space.  At the first byte that is anything else it gives up and says so, and yajl
 * reads the entry.  So it never has to be right about odd text; it only has to notice it.
 */
#include "fields.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define DEEPEST 32

/* The readers below return where they stopped, NULL for "not plain".  They look at most 16 bytes past the place they are
 * at; the text ends with '}', which ends every loop. */

static const char *skip_space(const char *p)
{
    /* One blank or none is the rule; Kineto's line breaks with indentation come next. */
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

#ifdef __SSE2__
/* p is behind the opening quote; returns the closing one. */
static const char *skip_string(const char *p, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), blank = _mm_set1_epi8(' ');

    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Signed: bytes from 0x80 on are below a blank, like control bytes. */
        __m128i odd = _mm_or_si128(_mm_cmpeq_epi8(v, backslash), _mm_cmplt_epi8(v, blank));
        unsigned stop = (unsigned)_mm_movemask_epi8(_mm_or_si128(odd, _mm_cmpeq_epi8(v, quote)));
        if (stop != 0) {
            p += __builtin_ctz(stop);
            return p < end && *p == '"' ? p : NULL;
        }
    }
    return NULL;
}
#else
static const char *skip_string(const char *p, const char *end)
{
    for (; p < end; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            return p;
        if (c == '\\' || c < 0x20 || c >= 0x80)
            return NULL;
    }
    return NULL;
}
#endif

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
    if (!is_digit(*p))
        return NULL;
    while (is_digit(*p))
        p++;
    return p;
}

static const char *skip_number(const char *p)
{
    if (*p == '-')
        p++;
    if (*p == '0' && is_digit(p[1]))
        return NULL;
    p = skip_digits(p);
    if (p != NULL && *p == '.')
        p = skip_digits(p + 1);
    if (p != NULL && (*p == 'e' || *p == 'E')) {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        p = skip_digits(p);
    }
    return p;
}

static const char *skip_word(const char *p)
{
    if (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0)
        return p + 4;
    return memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

/* Any value; *v says what it is. */
static const char *read_value(const char *p, const char *end, tl_value *v);

/* An array or object that nobody asked about; p is behind its opening bracket. */
static const char *skip_nested(const char *p, const char *end, char opening)
{
    char open[DEEPEST];
    int depth = 0;

    open[depth++] = opening;
    p = skip_space(p);
    if (*p == (opening == '[' ? ']' : '}'))
        return p + 1;
    while (p < end) {
        tl_value ignored;
        if (open[depth - 1] == '{') {
            if (*p != '"' || (p = skip_string(p + 1, end)) == NULL)
                return NULL;
            p = skip_space(p + 1);
            if (*p != ':')
                return NULL;
            p = skip_space(p + 1);
        }
        if (*p == '[' || *p == '{') {
            if (depth == DEEPEST)
                return NULL;
            open[depth++] = *p;
            p = skip_space(p + 1);
            if (*p != (open[depth - 1] == '[' ? ']' : '}'))
                continue;                       /* its first element */
        } else if ((p = read_value(p, end, &ignored)) == NULL) {
            return NULL;
        } else {
            p = skip_space(p);
        }
        /* Behind a value, or at the end of an empty bracket. */
        while (*p == (open[depth - 1] == '[' ? ']' : '}')) {
            p++;
            if (--depth == 0)
                return p;
            p = skip_space(p);
        }
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
    }
    return NULL;
}

static const char *read_value(const char *p, const char *end, tl_value *v)
{
    const char *q;

    switch (*p) {
    case '"':
        q = skip_string(p + 1, end);
        if (q == NULL)
            return NULL;
        *v = (tl_value){ { p + 1, (size_t)(q - p - 1) }, TL_VALUE_STRING };
        return q + 1;
    case '{':
    case '[':
        *v = (tl_value){ { p, 0 }, TL_VALUE_OTHER };
        return skip_nested(p + 1, end, *p);
    case 't': case 'f': case 'n':
        *v = (tl_value){ { p, 0 }, TL_VALUE_OTHER };
        return skip_word(p);
    default:
        q = skip_number(p);
        if (q != NULL)
            *v = (tl_value){ { p, (size_t)(q - p) }, TL_VALUE_NUMBER };
        return q;
    }
}

/* The members of an object, p behind its '{'; `of` tells a key's meaning there. */
static const char *read_members(const char *p, const char *end, tl_fields *f, tl_key (*of)(const char *, size_t))
{
    p = skip_space(p);
    if (*p == '}')
        return p + 1;
    for (;;) {
        if (*p != '"')
            return NULL;
        const char *key = p + 1;
        p = skip_string(key, end);
        if (p == NULL)
            return NULL;
        tl_key k = of(key, (size_t)(p - key));
        p = skip_space(p + 1);
        if (*p != ':')
            return NULL;
        p = skip_space(p + 1);
        if (k == TL_KEY_ARGS && *p == '{') {
            p = read_members(p + 1, end, f, tl_key_of_args);
        } else {
            tl_value v;
            p = read_value(p, end, &v);
            if (p != NULL && k < TL_NKEYS)
                tl_fields_set(f, k, v.text.p, v.text.n, v.type);
        }
        if (p == NULL)
            return NULL;
        p = skip_space(p);
        if (*p == '}')
            return p + 1;
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
    }
}

bool tl_event_read_fast(tl_text text, tl_fields *f)
{
    const char *end = text.p + text.n;

    f->seen = 0;
    if (text.n < 2 || text.p[0] != '{' || end[-1] != '}')
        return false;
    return read_members(text.p + 1, end, f, tl_key_of_entry) == end;
}
