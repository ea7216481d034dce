/* log.c - warnings on stderr, and printable text. */
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

void tl_printable(char *out, size_t n, const char *text)
{
    size_t at = 0;

    for (tl_text left = { text, strlen(text) }; n > 0 && left.n > 0;) {
        tl_char c = tl_char_take(&left);
        tl_text shown = c.whole && tl_char_shows(c.code) ? c.bytes : TL_TEXT("?");
        if (shown.n > n - 1 - at)
            break;
        memcpy(out + at, shown.p, shown.n);
        at += shown.n;
    }
    if (n > 0)
        out[at] = '\0';
}
