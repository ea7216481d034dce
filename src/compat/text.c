/* text.c - a JSON array as Python shows the tuple or list that is made of it, and a string. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/compat/python.h"
#include <stdio.h>

/* Nesting up to which a list is shown as Python does; a deeper list, or one with an object in it, is shown as in the
 * trace. */
#define DEEPEST 64

typedef struct writing {
    tl_bytes *out;
    const char *p, *end;
    bool list; /* brackets, else parentheses */
    bool odd;
} writing;

static void put_utf8(tl_bytes *out, unsigned long c)
{
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
    tl_bytes_put(out, b, n);
}

/* Puts one character inside a Python string that is quoted with `quote`. */
static void put_char(tl_bytes *out, unsigned long c, char quote)
{
    char text[8];

    if (c == '\\' || c == (unsigned char)quote)
        tl_bytes_put(out, text, (size_t)snprintf(text, sizeof text, "\\%c", (int)c));
    else if (c == '\n' || c == '\r' || c == '\t')
        tl_bytes_put(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t", 2);
    else if (c < 0x20 || c == 0x7f)
        tl_bytes_put(out, text, (size_t)snprintf(text, sizeof text, "\\x%02lx", c));
    else
        put_utf8(out, c);
}

static unsigned long hex4(const char *p)
{
    unsigned long c = 0;
    for (int i = 0; i < 4; i++) {
        char d = p[i];
        c = c << 4 | (unsigned long)(d >= 'a' ? d - 'a' + 10 : d >= 'A' ? d - 'A' + 10 : d - '0');
    }
    return c;
}

/* The character of a JSON string at *p, which is moved after it. */
static unsigned long take_char(const char **p, const char *end)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char *q = *p + 1;

    *p += 1;
    if (q[-1] != '\\')
        return (unsigned char)q[-1];
    *p += 1;
    if (*q != 'u') {
        const char *at = strchr(letters, *q);
        return (unsigned char)(at != NULL ? controls[at - letters] : *q);
    }
    if (end - q < 5)
        return '?';
    *p += 4;
    unsigned long c = hex4(q + 1);
    if (c >= 0xd800 && c < 0xdc00 && end - q >= 11 && q[5] == '\\' && q[6] == 'u') {
        unsigned long low = hex4(q + 7);
        if (low >= 0xdc00 && low < 0xe000) {
            *p += 6;
            return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return c >= 0xd800 && c < 0xe000 ? 0xfffd : c;
}

/* A string, a number or a bare word.  Bytes of UTF-8 go through as they are. */
static void put_scalar(writing *w)
{
    const char *from = w->p;
    char text[TL_PYTHON_REPR_SIZE];
    double value;

    if (*from == '"') {
        const char *close = ++w->p;
        bool single = false, twofold = false;
        for (; close < w->end && *close != '"'; close += *close == '\\' ? 2 : 1) {
            single |= *close == '\'';
            twofold |= *close == '\\' && close + 1 < w->end && close[1] == '"';
        }
        char quote = single && !twofold ? '"' : '\'';
        tl_bytes_put(w->out, &quote, 1);
        while (w->p < close) {
            const char *byte = w->p;
            unsigned long c = take_char(&w->p, w->end);
            if ((unsigned char)*byte >= 0x80)
                tl_bytes_put(w->out, byte, 1);
            else
                put_char(w->out, c, quote);
        }
        tl_bytes_put(w->out, &quote, 1);
        w->p = close < w->end ? close + 1 : w->end;
        return;
    }
    while (w->p < w->end && memchr(",] \t\r\n", *w->p, 6) == NULL)
        w->p++;
    size_t n = (size_t)(w->p - from);
    if (n > 0 && (*from == 't' || *from == 'f' || *from == 'n')) {
        const char *word = *from == 't' ? "True" : *from == 'f' ? "False" : "None";
        tl_bytes_put(w->out, word, strlen(word));
    } else if (n > 0 && memchr(from, '.', n) == NULL && memchr(from, 'e', n) == NULL && memchr(from, 'E', n) == NULL) {
        tl_bytes_put(w->out, from, n);
    } else if (n > 0 && tl_decimal_to_double(from, n, &value)) {
        tl_python_repr(text, value);
        tl_bytes_put(w->out, text, strlen(text));
    } else {
        w->odd = true;
    }
}

/* The array at w->p, and what stands in it; w->p is then behind its bracket. */
static void put_array(writing *w, int depth) /* NOLINT(misc-no-recursion): no deeper than DEEPEST */
{
    size_t n = 0;

    tl_bytes_put(w->out, w->list ? "[" : "(", 1);
    for (w->p++; w->p < w->end && !w->odd;) {
        if (memchr(" \t\r\n,", *w->p, 5) != NULL) {
            w->p++;
            continue;
        }
        if (*w->p == ']') {
            tl_bytes_put(w->out, ",", n == 1 && !w->list);
            tl_bytes_put(w->out, w->list ? "]" : ")", 1);
            w->p++;
            return;
        }
        tl_bytes_put(w->out, ", ", n++ > 0 ? 2 : 0);
        if (*w->p == '{' || (*w->p == '[' && depth == DEEPEST))
            w->odd = true;
        else if (*w->p == '[')
            put_array(w, depth + 1);
        else
            put_scalar(w);
    }
    w->odd = true;
}

static void put_sequence(tl_text json, bool list, tl_bytes *out)
{
    writing w = { .out = out, .p = json.p, .end = json.p + json.n, .list = list };
    size_t before = out->n;

    if (json.n > 0 && json.p[0] == '[')
        put_array(&w, 1);
    else
        w.odd = true;
    if (w.odd) {
        out->n = before;
        tl_bytes_put(out, json.p, json.n);
    }
}

void tl_python_tuple(tl_text json, tl_bytes *out)
{
    put_sequence(json, false, out);
}

void tl_python_list(tl_text json, tl_bytes *out)
{
    put_sequence(json, true, out);
}

void tl_python_string(tl_text json, tl_bytes *out)
{
    for (const char *p = json.p, *end = json.p + json.n; p < end;) {
        const char *byte = p;
        unsigned long c = take_char(&p, end);
        if (*byte == '\\')
            put_utf8(out, c);
        else
            tl_bytes_put(out, byte, 1);
    }
}
