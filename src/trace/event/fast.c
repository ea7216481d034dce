/* fast.c - reads the text that Kineto writes at memory speed.
 *
 * A strict reader of plain JSON: printable ASCII in strings, no escapes, numbers by the grammar, limited nesting, any
 * order of keys, any white space.  At the first other byte it stops and says so, and yajl reads the entry.  So it need
 * not interpret unusual text, but only notice it.
 *
 * It needs no length: every loop stops at an invalid byte, and one follows the text (fields.h).
 *
 * The text between two values is the same in most entries.  Such pieces are parsed once and then kept in a tree; each
 * path from its root is the layout of an earlier entry:
 *
 *     {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 12.345, "args": {"correlation": 90211, "stream": 7}}
 *     ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~      ~~~~~~~~~      ~~~~~~~~~~~~~~~~~~~~~~~~~~      ~~~~~~~~~~~~~~~~
 *
 * If the text continues with one of the pieces that have followed before, that piece determines the next value.  Values
 * of keys with few values are part of a piece; pieces that differ only in such numbers share their successors.
 */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/load.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/event/fields.h"
#if defined __SSE2__ && !defined TLMPI_PORTABLE
#include <emmintrin.h>
#endif

#define DEEPEST 32

/* Largest number of kept pieces that are tried as the continuation of a piece. */
#define TRIES 16

/* The readers below return where they stopped; NULL: the text is not plain. */

#if defined __SSE2__ && !defined TLMPI_PORTABLE
static inline __m128i load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Returns a mask: bit i is set if byte i of v is not 0. */
static inline unsigned mask_of(__m128i v)
{
    return (unsigned)_mm_movemask_epi8(v);
}

static inline __m128i equal(__m128i v, char c)
{
    return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

static inline const char *skip_indent(const char *p)
{
    for (;; p += 16) {
        __m128i v = load(p);
        __m128i space = _mm_or_si128(equal(v, ' '), equal(v, '\n')),
                rare = _mm_or_si128(equal(v, '\r'), equal(v, '\t'));
        unsigned stop = ~mask_of(_mm_or_si128(space, rare)) & 0xffff;
        if (stop != 0)
            return p + __builtin_ctz(stop);
    }
}

static inline const char *pass_digits(const char *p)
{
    for (;; p += 16) {
        __m128i v = _mm_sub_epi8(load(p), _mm_set1_epi8('0'));
        unsigned stop = ~mask_of(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v)) & 0xffff;
        if (stop != 0)
            return p + __builtin_ctz(stop);
    }
}

/* Whether the text at p begins with these n bytes, at most `most`: a constant, for the compiler. */
static inline bool stands_at(const char *p, const char *text, size_t n, size_t most)
{
    for (size_t i = 0; i < most; i += 16) {
        unsigned other = mask_of(_mm_cmpeq_epi8(load(p + i), load(text + i))) ^ 0xffff;
        if (other != 0)
            return i + (size_t)__builtin_ctz(other) >= n;
    }
    return true;
}

/* p is after the opening quote; returns the position of the closing one. */
static inline const char *skip_string(const char *p)
{
    for (;; p += 16) {
        __m128i v = load(p);
        /* Signed comparison: bytes from 0x80 on are below a blank, like control bytes. */
        __m128i odd = _mm_or_si128(equal(v, '\\'), _mm_cmplt_epi8(v, _mm_set1_epi8(' ')));
        unsigned stop = mask_of(_mm_or_si128(odd, equal(v, '"')));
        if (stop != 0) {
            p += __builtin_ctz(stop);
            return *p == '"' ? p : NULL;
        }
    }
}
#else
static inline const char *skip_indent(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

static inline const char *pass_digits(const char *p)
{
    while (tl_is_digit(*p))
        p++;
    return p;
}

static inline bool stands_at(const char *p, const char *text, size_t n, size_t most)
{
    (void)most;
    return strncmp(p, text, n) == 0;
}

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

/* Mostly there is no space, or one blank. */
static inline const char *skip_space(const char *p)
{
    if ((unsigned char)*p > ' ')
        return p;
    if (*p == ' ' && (unsigned char)p[1] > ' ')
        return p + 1;
    return skip_indent(p);
}

/* Returns the position after `byte`, which may follow white space; NULL: another byte follows. */
static inline const char *skip_byte(const char *p, char byte)
{
    if (*p != byte) {
        p = skip_space(p);
        if (*p != byte)
            return NULL;
    }
    return p + 1;
}

/* A byte above ',' may continue the number with a fraction. */
static inline const char *skip_number(const char *p)
{
    if (*p < '1') {
        p += *p == '-';
        if (*p == '0' && tl_is_digit(p[1]))
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

/* Reads a number; sets v->digits if it is short, as nearly always. */
static inline const char *read_number(const char *p, tl_value *v)
{
    const char *point = pass_digits(p), *end = point;
    const size_t n = (size_t)(point - p);

    v->digits = TL_DIGITS_UNREAD;
    v->ndecimals = 0;
    if (n > 0 && n <= 16 && (*p != '0' || n == 1)) {
        uint64_t digits = n <= 8 ? load_digits(p, n) : load_digits(p, n - 8) * 100000000 + load_digits(p + n - 8, 8);
        if (*point == '.')
            for (end++; tl_is_digit(*end) && end <= point + 3; end++)
                digits = 10 * digits + (uint64_t)(*end - '0');
        if (((unsigned char)*end <= ',' || *end == '}') && end != point + 1) {
            v->digits = digits;
            v->ndecimals = end > point ? (uint32_t)(end - point - 1) : 0;
        }
    }
    if (v->digits == TL_DIGITS_UNREAD && (end = skip_number(p)) == NULL)
        return NULL;
    v->text = (tl_text){ p, (size_t)(end - p) };
    v->type = TL_VALUE_NUMBER;
    return end;
}

static const char *skip_nested(const char *p, tl_layouts *l);

/* Reads any value into *v. */
static inline const char *read_value(const char *p, tl_layouts *l, tl_value *v)
{
    const char *q;

    switch (*p) {
    case '"':
        q = skip_string(p + 1);
        if (q == NULL)
            return NULL;
        *v = (tl_value){ { p + 1, (size_t)(q - p - 1) }, TL_VALUE_STRING, 0, TL_DIGITS_UNREAD };
        return q + 1;
    case '{':
    case '[':
        q = skip_nested(p, l);
        *v = (tl_value){ { p, (size_t)((uintptr_t)q - (uintptr_t)p) }, TL_VALUE_OTHER, 0, TL_DIGITS_UNREAD };
        return q;
    case 't':
    case 'f':
    case 'n':
        *v = (tl_value){ { p, 0 }, TL_VALUE_OTHER, 0, TL_DIGITS_UNREAD };
        return skip_word(p);
    default:
        return read_number(p, v);
    }
}

/* Skips a string, number or word. */
static inline const char *skip_scalar(const char *p)
{
    if (*p == '"') {
        p = skip_string(p + 1);
        return p != NULL ? p + 1 : NULL;
    }
    return *p == 't' || *p == 'f' || *p == 'n' ? skip_word(p) : skip_number(p);
}

/* Skips an array or object; p is after its opening bracket. */
static const char *skip_brackets(const char *p, char opening)
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
        /* After a value, or at the end of an empty array or object. */
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

/* Returns the two places of the array or object at p, chosen by its beginning: all of a short list, else 32 bytes. */
static inline tl_nested *nested_at(const char *p, tl_layouts *l)
{
    const unsigned char *u = (const unsigned char *)p;
    uint64_t h = load64(u) * TL_HASH_ROOT7 + load64(u + 8);
    if (p[1] == '[' || memchr(p, ']', 16) == NULL)
        h = (h * TL_HASH_ROOT7 + load64(u + 16)) * TL_HASH_ROOT7 + load64(u + 24);
    return l->nested[(h * TL_HASH_ROOT3 >> 32) % TL_NESTED];
}

/* Skips the array or object at p.  Shapes and grids recur: text that begins with an earlier array or object is that
 * one again. */
static const char *skip_nested(const char *p, tl_layouts *l)
{
    tl_nested *kept = nested_at(p, l);
    for (int i = 0; i < 2; i++)
        if (kept[i].n > 0 && stands_at(p, kept[i].text, kept[i].n, TL_NESTED_MAX))
            return p + kept[i].n;
    const char *end = skip_brackets(p + 1, *p);
    if (end != NULL && (size_t)(end - p) <= TL_NESTED_MAX) {
        kept[1] = kept[0];
        kept->n = (size_t)(end - p);
        memcpy(kept->text, p, kept->n);
    }
    return end;
}

/* Reads the key at p; returns the position of its value. */
static inline const char *read_key(const char *p, tl_text *key)
{
    if (*p != '"')
        return NULL;
    const char *end = skip_string(p + 1);
    if (end == NULL)
        return NULL;
    *key = (tl_text){ p + 1, (size_t)(end - p - 1) };
    p = skip_byte(end + 1, ':');
    return p != NULL ? skip_space(p) : NULL;
}

/* Keys with few different values, which recur. */
#define INNER_KEYS                                                                                                     \
    (TL_KEY_BIT(TL_KEY_PH) | TL_KEY_BIT(TL_KEY_CAT) | TL_KEY_BIT(TL_KEY_PID) | TL_KEY_BIT(TL_KEY_TID) |                \
     TL_KEY_BIT(TL_KEY_DEVICE) | TL_KEY_BIT(TL_KEY_STREAM))

/* Makes the value at p, n bytes after the piece's beginning, part of the piece.  Returns its end; NULL: it is not
 * added. */
static const char *read_inner(const char *p, size_t n, tl_layouts *l, tl_piece *piece)
{
    tl_value v;

    if (piece->key >= TL_NKEYS || !(INNER_KEYS >> piece->key & 1) || n >= TL_PIECE_MAX ||
        piece->ninner == sizeof piece->inner / sizeof *piece->inner)
        return NULL;
    const char *end = read_value(p, l, &v);
    const bool word = *p == '"';
    if (end == NULL || (!word && (v.digits == TL_DIGITS_UNREAD || v.ndecimals > 0)) || v.text.n > TL_PIECE_MAX)
        return NULL;
    piece->inner[piece->ninner++] = (struct tl_inner_value){ (uint8_t)piece->key, (uint8_t)v.type, (uint8_t)(n + word),
                                                             (uint8_t)v.text.n, v.digits };
    piece->words |= word;
    piece->seen |= TL_KEY_BIT(piece->key);
    return end;
}

/* Parses the piece that begins at p, after a value inside or outside of args, or (first) after the entry's '{'.
 * Returns its end. */
static const char *read_piece(const char *p, bool first, bool in_args, tl_hook_key *key_of, tl_layouts *l,
                              tl_piece *piece)
{
    const char *const begin = p, *end = NULL; /* end: of the longest piece that can be kept */
    tl_piece longest = { .n = 0 };
    tl_text word;

    *piece = (tl_piece){ .key = TL_KEY_UNKNOWN };
    for (;;) {
        p = skip_space(p);
        if (*p == '}') {
            p++;
            piece->brackets = true;
            if (!in_args) {
                piece->over = true;
                break;
            }
            in_args = first = false;
            piece->args_end = (size_t)(p - begin);
            continue;
        }
        if (!first) {
            if (*p != ',')
                return NULL;
            p = skip_space(p + 1);
        }
        p = read_key(p, &word);
        if (p == NULL)
            return NULL;
        tl_key key = tl_key_of(word.p, word.n, in_args);
        first = key == TL_KEY_ARGS && *p == '{';
        if (first) {
            in_args = piece->brackets = true;
            piece->args_at = (size_t)(p - begin);
            p++;
            continue;
        }
        piece->key = in_args && key == TL_KEY_UNKNOWN && key_of != NULL ? key_of(word.p, word.n) : key;
        piece->in_args = in_args;
        if (end != NULL && (size_t)(p - begin) > TL_PIECE_MAX)
            break;
        longest = *piece;
        end = p;
        const char *after = read_inner(p, (size_t)(p - begin), l, piece);
        if (after == NULL)
            return p;
        p = after;
    }
    if (end == NULL || (size_t)(p - begin) <= TL_PIECE_MAX)
        return p;
    *piece = longest;
    return end;
}

/* Keeps the piece of n bytes at p as a successor of `last`.  Returns NULL if it cannot be kept, or if there were too
 * many pieces and all are dropped.  A key "args" may have an object the next time. */
static tl_piece *keep_piece(tl_layouts *l, tl_piece *last, const char *p, size_t n, const tl_piece *piece)
{
    if (last == NULL || n > TL_PIECE_MAX || piece->key == TL_KEY_ARGS)
        return NULL;
    if (l->n == TL_PIECES) {
        *l = (tl_layouts){ .n = 0 };
        return NULL;
    }
    tl_piece *kept = &l->v[l->n++];
    *kept = *piece;
    kept->n = n;
    memcpy(kept->text, p, n);
    kept->kin = kept;
    for (tl_piece *like = last->next; like != NULL && kept->ninner > 0 && !kept->words; like = like->other)
        if (like->seen == kept->seen && like->key == kept->key && like->in_args == kept->in_args && !like->words)
            kept->kin = like->kin;
    kept->other = last->next;
    last->next = kept;
    return kept->kin;
}

/* Returns the piece at p among the successors of `last`, and moves it to the front; NULL: there is none. */
static inline tl_piece *known_piece(tl_piece *last, const char *p)
{
    tl_piece *first = last->next, *before = first;

    if (first == NULL || stands_at(p, first->text, first->n, TL_PIECE_MAX))
        return first;
    for (int i = 1; i < TRIES && before->other != NULL; i++, before = before->other) {
        tl_piece *piece = before->other;
        if (stands_at(p, piece->text, piece->n, TL_PIECE_MAX)) {
            before->other = piece->other;
            piece->other = first;
            return last->next = piece;
        }
    }
    return NULL;
}

size_t tl_event_read_fast(const char *start, tl_layouts *layouts, tl_hook_key *key_of, tl_fields *f)
{
    tl_piece fresh, *piece, *last = &layouts->root; /* last: NULL after a piece that is not kept */
    bool in_args = false;
    const char *p = start + 1;

    f->seen = 0;
    f->args.n = 0;
    if (*start != '{')
        return 0;
    for (;;) {
        const char *begin = p;
        piece = last != NULL ? known_piece(last, p) : NULL;
        if (piece != NULL) {
            p = skip_space(p + piece->n);
            last = piece->kin;
        } else {
            piece = &fresh;
            p = read_piece(p, p == start + 1, in_args, key_of, layouts, piece);
            if (p == NULL)
                return 0;
            last = keep_piece(layouts, last, begin, (size_t)(p - begin), piece);
        }
        for (size_t i = 0; i < piece->ninner; i++) {
            const struct tl_inner_value *v = &piece->inner[i];
            f->value[v->key] = (tl_value){ { begin + v->at, v->n }, (tl_value_type)v->type, 0, v->digits };
        }
        f->seen |= piece->seen;
        if (piece->brackets) {
            if (piece->args_at > 0)
                f->args.p = begin + piece->args_at;
            if (piece->args_end > piece->args_at)
                f->args.n = (size_t)(begin + piece->args_end - f->args.p);
            if (piece->over) {
                while (p[-1] != '}') /* white space after the entry is not part of it */
                    p--;
                return (size_t)(p - start);
            }
            in_args = piece->in_args;
        }
        if (piece->key < TL_NKEYS) {
            f->seen |= TL_KEY_BIT(piece->key);
            p = read_value(p, layouts, &f->value[piece->key]);
        } else {
            p = *p == '{' || *p == '[' ? skip_nested(p, layouts) : skip_scalar(p);
        }
        if (p == NULL)
            return 0;
    }
}
