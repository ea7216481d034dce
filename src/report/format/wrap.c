/* wrap.c - words wrapped into lines, and whether output goes to a terminal. */
#include "tlmpi/report/format/wrap.h"
#include "cell.h"

#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool tl_is_terminal(FILE *out)
{
    int fd = fileno(out);
    return fd >= 0 && isatty(fd) && isatty(STDERR_FILENO);
}

size_t tl_line_columns(FILE *out)
{
    enum { LEAST = 40, USUAL = 80, MOST = 120 };
    struct winsize size;
    int fd = fileno(out) >= 0 ? fileno(out) : STDOUT_FILENO;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL;
    return size.ws_col < LEAST ? LEAST : size.ws_col > MOST ? MOST : size.ws_col;
}

bool tl_shows_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return tl_is_terminal(out) && (no_color == NULL || *no_color == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

void tl_wrap_printf(tl_wrap *wrap, const char *format, ...)
{
    char text[1024], safe[sizeof text];
    va_list args;
    va_start(args, format);
    int written = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (written <= 0)
        return;
    tl_printable(safe, sizeof safe, text);

    if (wrap->columns == 0)
        wrap->columns = tl_line_columns(wrap->out);
    size_t n = tl_text_columns((tl_text){ safe, strlen(safe) });
    if (wrap->begun && wrap->column + 1 + n > wrap->columns) {
        fprintf(wrap->out, "\n%*s", (int)wrap->indent, "");
        wrap->column = wrap->indent;
    } else if (wrap->begun) {
        fputc(' ', wrap->out);
        wrap->column++;
    }
    fputs(safe, wrap->out);
    wrap->column += n;
    wrap->begun = true;
}

void tl_wrap_words(tl_wrap *wrap, const char *text)
{
    while (*(text += strspn(text, " ")) != '\0') {
        size_t n = strcspn(text, " ");
        tl_wrap_printf(wrap, "%.*s", n < 1023 ? (int)n : 1023, text);
        text += n;
    }
}

/* Returns whether the previous word must stay on the line of this word: a number before its unit or before three more
 * digits. */
static bool belongs_to(const char *number, size_t nnumber, const char *word)
{
    static const char *const units[] = { "us", "ms", "s", "%", "B", "kB", "MB", "GB", "steps" };
    size_t unit = strcspn(word, " " TL_KEPT), digits = strspn(word, "0123456789");

    if (!isdigit((unsigned char)number[number[0] == '(']))
        return false;
    if (digits == 3 && (word[3] == '\0' || strchr(" ,;:.)" TL_KEPT, word[3]) != NULL) &&
        isdigit((unsigned char)number[nnumber - 1]))
        return true;
    while (unit > 0 && strchr(",;:)", word[unit - 1]) != NULL)
        unit--;
    for (size_t i = 0; i < sizeof units / sizeof units[0] && memchr(number, *TL_KEPT, nnumber) == NULL; i++)
        if (strlen(units[i]) == unit && memcmp(word, units[i], unit) == 0)
            return true;
    return false;
}

/* Says the words of a text, keeping inseparable words together, with the kind of space that the line needs. */
static void say_text(tl_wrap *wrap, const char *text)
{
    const char *const space = wrap->columns == TL_ONE_LINE ? "\xC2\xA0" : " ";
    for (const char *p = text; *(p += strspn(p, " ")) != '\0';) {
        size_t n = strcspn(p, " "), gap;
        for (gap = strspn(p + n, " "); p[n + gap] != '\0' && belongs_to(p, n, p + n + gap); gap = strspn(p + n, " "))
            n += gap + strcspn(p + n + gap, " ");
        char kept[1024] = "";
        for (size_t m = 0; n > 0 && m + 2 < sizeof kept; n--, p++)
            m += (size_t)snprintf(kept + m, sizeof kept - m, "%.*s", *p == ' ' || *p == *TL_KEPT ? 2 : 1,
                                  *p == ' ' || *p == *TL_KEPT ? space : p);
        tl_wrap_printf(wrap, "%s", kept);
        p += n;
    }
}

void tl_vsay(tl_wrap *wrap, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    char *kept = tl_strndup(format, strlen(format));
    for (char *p = kept; *p != '\0'; p++)
        *p = *p == '~' ? *TL_KEPT : *p;
    int n = vsnprintf(NULL, 0, kept, args);
    char *text = tl_calloc((size_t)(n > 0 ? n : 0) + 1, 1);
    if (n > 0)
        vsnprintf(text, (size_t)n + 1, kept, again);
    say_text(wrap, text);
    va_end(again);
    free(kept);
    free(text);
}

void tl_say(tl_wrap *wrap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tl_vsay(wrap, format, args);
    va_end(args);
}

void tl_wrap_end(tl_wrap *wrap)
{
    fputc('\n', wrap->out);
    wrap->column = 0;
    wrap->begun = false;
}

void tl_print_sentence(FILE *out, const char *format, ...)
{
    tl_wrap w = { .out = out, .indent = 2 };
    va_list args;
    va_start(args, format);
    tl_vsay(&w, format, args);
    va_end(args);
    tl_wrap_end(&w);
}
