/* tuple.c - a JSON array as Python shows the tuple or list that is made of it, and a string. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/compat/python.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Nesting up to which a list is shown as Python does; a deeper list, or one with an object in it, is shown as in the
 * trace. */
#define DEEPEST 64

typedef struct writing {
    tl_bytes *out;
    const char *p, *end;
    bool list; /* brackets, else parentheses */
    bool odd;
} writing;

static void put(writing *w, const char *text, size_t n)
{
    tl_bytes_put(w->out, text, n);
}

static void put_utf8(writing *w, unsigned long c)
{
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
    put(w, b, n);
}

/* Puts one character inside a Python string that is quoted with `quote`. */
static void put_char(writing *w, unsigned long c, char quote)
{
    char text[8];

    if (c == '\\' || c == (unsigned char)quote)
        put(w, text, (size_t)snprintf(text, sizeof text, "\\%c", (int)c));
    else if (c == '\n' || c == '\r' || c == '\t')
        put(w, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t", 2);
    else if (c < 0x20 || c == 0x7f)
        put(w, text, (size_t)snprintf(text, sizeof text, "\\x%02lx", c));
    else
        put_utf8(w, c);
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

/* w->p is after the opening quote.  Bytes of UTF-8 go through as they are. */
static void put_string(writing *w)
{
    const char *close = w->p;
    bool single = false, twofold = false;

    while (close < w->end && *close != '"') {
        single |= *close == '\'';
        twofold |= *close == '\\' && close + 1 < w->end && close[1] == '"';
        close += *close == '\\' ? 2 : 1;
    }
    char quote = single && !twofold ? '"' : '\'';
    put(w, &quote, 1);
    while (w->p < close) {
        bool escaped = *w->p == '\\';
        unsigned char byte = (unsigned char)*w->p;
        unsigned long c = take_char(&w->p, w->end);
        if (!escaped && byte >= 0x80)
            put(w, (const char *)&byte, 1);
        else
            put_char(w, c, quote);
    }
    put(w, &quote, 1);
    w->p = close < w->end ? close + 1 : w->end;
}

/* A number or a bare word. */
static void put_scalar(writing *w)
{
    const char *from = w->p;
    char text[TL_PYTHON_REPR_SIZE];
    double value;

    while (w->p < w->end && memchr(",] \t\r\n", *w->p, 6) == NULL)
        w->p++;
    size_t n = (size_t)(w->p - from);
    if (n == 0) {
        w->odd = true;
    } else if (*from == 't' || *from == 'f' || *from == 'n') {
        const char *word = *from == 't' ? "True" : *from == 'f' ? "False" : "None";
        put(w, word, strlen(word));
    } else if (memchr(from, '.', n) == NULL && memchr(from, 'e', n) == NULL && memchr(from, 'E', n) == NULL) {
        put(w, from, n);
    } else if (tl_decimal_to_double(from, n, &value)) {
        tl_python_repr(text, value);
        put(w, text, strlen(text));
    } else {
        w->odd = true;
    }
}

static void put_array(writing *w)
{
    size_t count[DEEPEST] = { 0 }, depth = 0;

    while (w->p < w->end && !w->odd) {
        char c = *w->p;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',') {
            w->p++;
            continue;
        }
        if (c == ']') {
            if (count[depth - 1] == 1 && !w->list)
                put(w, ",", 1);
            put(w, w->list ? "]" : ")", 1);
            w->p++;
            if (--depth == 0)
                return;
            continue;
        }
        if (depth > 0 && count[depth - 1]++ > 0)
            put(w, ", ", 2);
        if (c == '[') {
            w->odd = depth == DEEPEST;
            if (w->odd)
                return;
            count[depth++] = 0;
            put(w, w->list ? "[" : "(", 1);
            w->p++;
        } else if (c == '"') {
            w->p++;
            put_string(w);
        } else if (c == '{') {
            w->odd = true;
        } else {
            put_scalar(w);
        }
    }
    w->odd = w->odd || depth > 0;
}

static void put_sequence(tl_text json, bool list, tl_bytes *out)
{
    writing w = { .out = out, .p = json.p, .end = json.p + json.n, .list = list };
    size_t before = out->n;

    if (json.n > 0 && json.p[0] == '[')
        put_array(&w);
    else
        w.odd = true;
    if (w.odd) {
        out->n = before;
        put(&w, json.p, json.n);
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
    writing w = { .out = out, .p = json.p, .end = json.p + json.n };

    while (w.p < w.end) {
        char byte = *w.p;
        unsigned long c = take_char(&w.p, w.end);
        if (byte == '\\')
            put_utf8(&w, c);
        else
            put(&w, &byte, 1);
    }
}
