/* text.c - growing text, and values written as Python's json.dumps writes them. */
#include "internal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_record_text_free(tl_record_text *text)
{
    free(text->bytes);
    *text = (tl_record_text){ 0 };
}

void tl_record_text_add(tl_record_text *text, const char *bytes, size_t n)
{
    if (text->failed || n == 0)
        return;
    if (n > text->cap - text->n) {
        size_t cap = text->cap < 128 ? 128 : text->cap;
        while (cap - text->n < n && cap <= SIZE_MAX / 2)
            cap *= 2;
        char *grown = cap - text->n < n ? NULL : realloc(text->bytes, cap);
        if (grown == NULL) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->cap = cap;
    }
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
}

void tl_record_text_literal(tl_record_text *text, const char *literal)
{
    tl_record_text_add(text, literal, strlen(literal));
}

/* Returns the next code point; U+FFFD for each longest prefix of a character that cannot be continued, as Unicode
 * recommends and Python does. */
uint32_t tl_record_text_next(const char **at)
{
    const unsigned char *p = (const unsigned char *)*at;
    uint32_t c = *p;
    unsigned more = 0, low = 0x80, high = 0xbf;

    if (c == 0)
        return 0;
    p++;
    if (c >= 0xc2 && c <= 0xdf) {
        more = 1, c &= 0x1f;
    } else if ((c & 0xf0) == 0xe0) {
        low = c == 0xe0 ? 0xa0 : low;   /* a lower byte: an overlong form */
        high = c == 0xed ? 0x9f : high; /* a higher byte: half of a UTF-16 pair */
        more = 2, c &= 0x0f;
    } else if (c >= 0xf0 && c <= 0xf4) {
        low = c == 0xf0 ? 0x90 : low;
        high = c == 0xf4 ? 0x8f : high; /* a higher byte: above U+10FFFF */
        more = 3, c &= 0x07;
    } else if (c >= 0x80) {
        c = 0xfffd;
    }
    for (; more > 0; more--, low = 0x80, high = 0xbf) {
        if (*p < low || *p > high) {
            c = 0xfffd;
            break;
        }
        c = c << 6 | (*p++ & 0x3f);
    }
    *at = (const char *)p;
    return c;
}

static void add_escaped(tl_record_text *text, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    char escape[6] = { '\\', 'u' };
    for (int i = 0; i < 4; i++)
        escape[2 + i] = digits[unit >> (12 - 4 * i) & 15];
    tl_record_text_add(text, escape, sizeof escape);
}

void tl_record_text_code_point(tl_record_text *text, uint32_t c)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = c < 0x80 ? memchr(special, (int)c, sizeof special - 1) : NULL;
    char escape[2] = { '\\', (char)c };

    if (found != NULL) {
        escape[1] = letters[found - special];
        tl_record_text_add(text, escape, 2);
    } else if (c >= ' ' && c <= '~') {
        tl_record_text_add(text, escape + 1, 1);
    } else if (c < 0x10000) {
        add_escaped(text, c);
    } else {
        add_escaped(text, 0xd800 + ((c - 0x10000) >> 10));
        add_escaped(text, 0xdc00 + (c & 0x3ff));
    }
}

void tl_record_text_string(tl_record_text *text, const char *utf8)
{
    uint32_t c;
    tl_record_text_literal(text, "\"");
    do {
        const char *plain = utf8;
        while (*utf8 >= ' ' && *utf8 <= '~' && *utf8 != '"' && *utf8 != '\\')
            utf8++;
        tl_record_text_add(text, plain, (size_t)(utf8 - plain));
        c = tl_record_text_next(&utf8);
        if (c != 0)
            tl_record_text_code_point(text, c);
    } while (c != 0);
    tl_record_text_literal(text, "\"");
}

void tl_record_text_integer(tl_record_text *text, int64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRId64, value);
    tl_record_text_add(text, digits, (size_t)n);
}

/* A positive number as 0.DIGITS x 10^point. */
typedef struct decimal {
    char digits[20];
    int n, point;
} decimal;

/* Returns printf's n digits, correctly rounded.  A locale may put any bytes between the first two digits. */
static decimal rounded(double value, int n)
{
    decimal d = { .n = 0 };
    char printed[64];
    const char *p = printed;

    (void)snprintf(printed, sizeof printed, "%.*e", n - 1, value);
    for (; *p != '\0' && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && d.n < n)
            d.digits[d.n++] = *p;
    d.point = *p == 'e' ? (int)strtol(p + 1, NULL, 10) + 1 : 0;
    return d;
}

/* Returns whether the digits read back as the value; they are written as an integer with an exponent, which strtod
 * reads alike in all locales. */
static bool reads_back(const decimal *d, double value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*se%d", d->n, d->digits, d->point - d->n);
    return strtod(text, NULL) == value;
}

/* Returns the shortest digits that read back as the value; of several, the nearest to it.
 *
 * Fifteen digits survive a round trip through any double that is not denormal, so a shorter text, padded with zeros, is
 * the same as fifteen digits.  Below a power of two doubles are closer together than above: there the nearest text of n
 * digits, which is below, may read back as another double, while the one above does not. */
static decimal shortest(double value)
{
    decimal d = { .n = 0 };
    int exponent;
    bool power_of_two = frexp(value, &exponent) == 0.5;

    for (int n = value < DBL_MIN ? 1 : 15; n <= 17; n++) {
        d = rounded(value, n);
        if (reads_back(&d, value))
            break;
        if (power_of_two && d.digits[n - 1] != '9') {
            d.digits[n - 1]++;
            if (reads_back(&d, value))
                break;
        }
    }
    while (d.n > 1 && d.digits[d.n - 1] == '0')
        d.n--;
    return d;
}

void tl_record_text_double(tl_record_text *text, double value)
{
    static const char zeros[] = "0000000000000000";
    const char *sign = signbit(value) ? "-" : "";
    char written[64];

    if (!isfinite(value)) {
        tl_record_text_literal(text, "null");
        return;
    }
    const decimal d = value == 0 ? (decimal){ "0", 1, 1 } : shortest(fabs(value));
    if (d.point <= -4 || d.point > 16)
        (void)snprintf(written, sizeof written, "%s%c%s%.*se%+03d", sign, d.digits[0], d.n > 1 ? "." : "", d.n - 1,
                       d.digits + 1, d.point - 1);
    else if (d.point <= 0)
        (void)snprintf(written, sizeof written, "%s0.%.*s%.*s", sign, -d.point, zeros, d.n, d.digits);
    else if (d.point >= d.n)
        (void)snprintf(written, sizeof written, "%s%.*s%.*s.0", sign, d.n, d.digits, d.point - d.n, zeros);
    else
        (void)snprintf(written, sizeof written, "%s%.*s.%.*s", sign, d.point, d.digits, d.n - d.point,
                       d.digits + d.point);
    tl_record_text_literal(text, written);
}

int tl_record_text_compare(const char *a, const char *b)
{
    for (; *a == *b && *a > '\0' && *a <= '~'; a++, b++)
        ;
    for (;;) {
        uint32_t c = tl_record_text_next(&a), d = tl_record_text_next(&b);
        if (c != d)
            return c < d ? -1 : 1;
        if (c == 0)
            return 0;
    }
}
