/* log.c - warnings on stderr, and text that is safe to show. */
#include "tlmpi/base/log.h"
#include "tlmpi/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 4096

static bool silent;

void tl_log_enable(bool speaks)
{
    silent = !speaks;
}

void tl_warn(const char *format, ...)
{
    char text[LINE_BYTES], safe[LINE_BYTES];
    va_list args;

    if (silent)
        return;
    va_start(args, format);
    int written = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (written < 0)
        return;
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    tl_printable(safe, sizeof safe, text);
    fprintf(stderr, "tlmpi: warning: %s\n", safe);
}

/* Bytes of the character that starts with this byte, in text known to be valid. */
static size_t width(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Whether the character at p moves the cursor instead of showing: C0, DEL, and C1, which some terminals obey like an
 * escape sequence (U+0080 to U+009F). */
static bool is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void tl_printable(char *out, size_t n, const char *text)
{
    if (n == 0)
        return;

    const unsigned char *p = (const unsigned char *)text;
    size_t left = strlen(text), valid = 0, at = 0;

    while (left > 0) {
        if (valid == 0)
            valid = tl_text_utf8((tl_text){ (const char *)p, left });
        bool broken = valid == 0;
        size_t step = broken ? 1 : width(p[0]);
        bool shown = !broken && !is_control(p);
        size_t room = shown ? step : 1;
        if (room > n - 1 - at)
            break;
        if (shown)
            memcpy(out + at, p, step);
        else
            out[at] = '?';
        at += room;
        p += step;
        left -= step;
        valid -= broken ? 0 : step;
    }
    out[at] = '\0';
}
