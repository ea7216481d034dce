/* log.c - lines for stderr, said at once by the proc that speaks and kept by the others. */
#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096

/* A trace that is wrong everywhere may give a warning an event: what a silent proc keeps is bounded. */
#define KEPT_BYTES ((size_t)256 << 10)

static struct {
    bool speaks;
    tl_loudness loudness;
    char *kept;                 /* n bytes of whole lines, 0-terminated when not NULL */
    size_t n, cap;
    size_t lost;                /* lines that found no room */
} mine = { .speaks = true, .loudness = TL_NORMAL };

void tl_log_setup(bool speaks, tl_loudness loudness)
{
    mine.speaks = speaks;
    mine.loudness = loudness;
}

/* Appends whole lines to what is kept; false when there is no memory for them. */
static bool keep(const char *lines)
{
    size_t n = strlen(lines);
    if (!tl_grow((void **)&mine.kept, &mine.cap, mine.n + n + 1, 1))
        return false;
    memcpy(mine.kept + mine.n, lines, n + 1);
    mine.n += n;
    return true;
}

static void say(const char *prefix, const char *format, va_list args)
{
    char text[LINE_BYTES], safe[LINE_BYTES], line[LINE_BYTES + 32];

    if (vsnprintf(text, sizeof text, format, args) < 0)
        return;
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n')
        text[--n] = '\0';
    tl_printable(safe, sizeof safe, text);
    snprintf(line, sizeof line, "%s%s\n", prefix, safe);

    /* One call a line, so that the lines of several procs do not mix. */
    if (mine.speaks)
        fputs(line, stderr);
    else if (mine.n + strlen(line) > KEPT_BYTES || !keep(line))
        mine.lost++;
}

void tl_warn(const char *format, ...)
{
    if (mine.loudness == TL_QUIET)
        return;
    va_list args;
    va_start(args, format);
    say("tlmpi: warning: ", format, args);
    va_end(args);
}

void tl_note(const char *format, ...)
{
    if (mine.loudness != TL_VERBOSE)
        return;
    va_list args;
    va_start(args, format);
    say("tlmpi: ", format, args);
    va_end(args);
}

char *tl_log_take(void)
{
    if (mine.lost > 0) {
        char line[80];
        snprintf(line, sizeof line, "tlmpi: warning: %zu more lines are left out\n", mine.lost);
        if (keep(line))
            mine.lost = 0;
    }
    char *kept = mine.kept;
    mine.kept = NULL;
    mine.n = mine.cap = 0;
    return kept;
}

void tl_log_say(const char *lines)
{
    if (lines != NULL && mine.speaks)
        fputs(lines, stderr);
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
