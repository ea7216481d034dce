/* text.c - searches bytes, and validates UTF-8. */
#define _GNU_SOURCE /* memmem */
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"
#include "tlmpi/base/load.h"
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

bool tl_name_has_ending(const char *name, const char *const *endings)
{
    size_t n = strlen(name);
    for (; *endings != NULL; endings++) {
        size_t e = strlen(*endings);
        if (n > e && strcasecmp(name + n - e, *endings) == 0)
            return true;
    }
    return false;
}

int tl_text_compare(tl_text a, tl_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

bool tl_text_has(tl_text t, const char *needle)
{
    size_t n = strlen(needle);
    return n == 0 || (t.n >= n && memmem(t.p, t.n, needle, n) != NULL);
}

/* Returns the length of the UTF-8 character at p, with n bytes left; 0: truncated or invalid.
 *
 *     lead      second byte   then     not allowed because
 *     C2..DF    80..BF                 C0, C1: could be one byte
 *     E0        A0..BF        1 more   80..9F: could be two bytes
 *     ED        80..9F        1 more   A0..BF: surrogates
 *     E1..EF    80..BF        1 more
 *     F0        90..BF        2 more   80..8F: could be three bytes
 *     F1..F3    80..BF        2 more
 *     F4        80..8F        2 more   90..BF: above U+10FFFF
 */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    unsigned lead = p[0], low = 0x80, high = 0xbf;
    size_t length;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    if (lead < 0xe0) {
        length = 2;
    } else if (lead < 0xf0) {
        length = 3;
        if (lead == 0xe0)
            low = 0xa0;
        if (lead == 0xed)
            high = 0x9f;
    } else {
        length = 4;
        if (lead == 0xf0)
            low = 0x90;
        if (lead == 0xf4)
            high = 0x8f;
    }
    if (n < length || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

static bool separates(char c)
{
    return memchr("[], \t", c, 5) != NULL;
}

bool tl_text_next(tl_text *list, tl_text *item)
{
    for (; list->n > 0 && separates(*list->p); list->p++)
        list->n--;
    *item = (tl_text){ list->p, 0 };
    for (; list->n > 0 && !separates(*list->p); list->p++, item->n++)
        list->n--;
    return item->n > 0;
}

size_t tl_text_utf8(tl_text t)
{
    const unsigned char *p = (const unsigned char *)t.p;
    size_t i = 0;

    while (i < t.n) {
        if (t.n - i >= 8 && (load64(p + i) & UINT64_C(0x8080808080808080)) == 0) {
            i += 8;
            continue;
        }
        size_t length = utf8_length(p + i, t.n - i);
        if (length == 0)
            break;
        i += length;
    }
    return i;
}

tl_char tl_char_take(tl_text *text)
{
    /* Number of bits of the first byte that belong to the code point, by length. */
    static const unsigned char first_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    const unsigned char *p = (const unsigned char *)text->p;
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : p[0] >= 0xC0 ? 2 : 0;
    tl_char c = { TL_REPLACEMENT, n > 0 && n <= text->n && tl_text_utf8((tl_text){ text->p, n }) == n, { text->p, 1 } };

    if (c.whole) {
        c.bytes.n = n;
        c.code = p[0] & first_bits[n];
        for (size_t i = 1; i < n; i++)
            c.code = c.code << 6 | (p[i] & 0x3Fu);
    }
    *text = (tl_text){ text->p + c.bytes.n, text->n - c.bytes.n };
    return c;
}

bool tl_char_controls(uint32_t code)
{
    return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7F && code < 0xA0);
}

bool tl_char_shows(uint32_t code)
{
    bool control = code < 0x20 || tl_char_controls(code);
    bool turns = code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                 (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
    return !control && !turns;
}

void tl_bytes_say(tl_bytes *out, const char *format, ...)
{
    char words[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tl_bytes_put(out, words, strlen(words));
}
