/* words.c - lines of words, numbers and lists in a sentence, and text in a page. */
#include "tlmpi/report/format/words.h"
#include "tlmpi/report/format/print.h"

#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------- lines */

bool tl_is_terminal(FILE *out)
{
    int fd = fileno(out);
    return fd >= 0 && isatty(fd) && isatty(STDERR_FILENO);
}

FILE *tl_memory_file(char **text, size_t *n)
{
    FILE *memory = open_memstream(text, n);
    if (memory == NULL)
        tl_mem_out(BUFSIZ);
    return memory;
}

/* Returns the columns of a line of `out`: the terminal's, limited to 40 to 120; 80 if `out` is no terminal.  Text in
 * memory counts as text for stdout. */
static size_t line_columns(FILE *out)
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
        wrap->columns = line_columns(wrap->out);
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

    if (!isdigit((unsigned char)number[strspn(number, "(+-")]))
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
    char *kept = tl_strndup(format, strlen(format)), *text = NULL;
    size_t n;
    for (char *p = kept; *p != '\0'; p++)
        *p = *p == '~' ? *TL_KEPT : *p;
    FILE *memory = tl_memory_file(&text, &n);
    vfprintf(memory, kept, args);
    (void)fclose(memory);
    say_text(wrap, text);
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

/* --------------------------------------------------------------------------------------------------------- phrases */

/* Runs of ranks that are named before the rest is counted. */
enum { NAMED_RUNS = 8 };

tl_phrase tl_phrase_of(const char *format, ...)
{
    tl_phrase out;
    va_list args;
    va_start(args, format);
    if (vsnprintf(out.text, sizeof out.text, format, args) < 0)
        out.text[0] = '\0';
    va_end(args);
    return out;
}

tl_phrase tl_grouped(int64_t value)
{
    tl_phrase plain = tl_phrase_of("%" PRId64, value), out = { "" };
    size_t n = strlen(plain.text), first = value < 0 ? 1 : 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > first && (n - i) % 3 == 0 && n - first > 4)
            out.text[at++] = ' ';
        out.text[at++] = plain.text[i];
    }
    return out;
}

tl_phrase tl_bytes_in_words(int64_t value)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    if (value < 1000)
        return tl_phrase_of("%" PRId64 " B", value);
    double scaled = (double)value / 1000.0;
    size_t unit = 0;
    for (; scaled >= 999.95 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        scaled /= 1000.0;
    return tl_phrase_of("%.1f %s", scaled, units[unit]);
}

tl_phrase tl_duration(int64_t ns)
{
    tl_phrase out = { "0 us" };
    if (ns != 0)
        tl_time_words(out.text, sizeof out.text, (double)ns, TL_UNIT_US);
    return out;
}

tl_phrase tl_share_in_words(double share)
{
    return tl_phrase_of("%.*f %%", fabs(share) < 0.9995 ? 1 : 0, 100 * share);
}

tl_phrase tl_part_in_words(int64_t part, int64_t whole)
{
    return tl_share_in_words(whole > 0 ? (double)part / (double)whole : 0);
}

tl_phrase tl_chance_in_words(double p)
{
    return tl_phrase_of(p < 0.0001 ? "p" TL_KEPT "<" TL_KEPT "0.0001" : "p" TL_KEPT "=" TL_KEPT "%.4f", p);
}

tl_phrase tl_cell_in_words(const char *cell, size_t size)
{
    return tl_phrase_of("%.*s", (int)size, cell);
}

size_t tl_host_length(const char *name, size_t size)
{
    enum { MOST = 64 };
    size_t n = strnlen(name, size < MOST ? size : MOST), label = 0;
    bool letters = false;
    for (; label < n && name[label] != '.'; label++)
        letters = letters || isalpha((unsigned char)name[label]);
    return letters ? label : n;
}

const char *tl_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

void tl_shell_word(char *out, size_t n, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
    if (path[0] != '\0' && path[strspn(path, plain)] == '\0') {
        snprintf(out, n, "%s", path);
        return;
    }
    size_t at = (size_t)snprintf(out, n, "'");
    for (; *path != '\0' && at < n; path++)
        at += (size_t)snprintf(out + at, n - at, *path == '\'' ? "'\\''" : "%c", *path);
    if (at < n)
        snprintf(out + at, n - at, "'");
}

/* Returns "4", or "4-6". */
static tl_phrase run_in_words(int64_t first, int64_t last)
{
    return first == last ? tl_phrase_of("%" PRId64, first) : tl_phrase_of("%" PRId64 "-%" PRId64, first, last);
}

tl_phrase tl_ranks_in_words(const int64_t *ranks, size_t listed, size_t all, const char *comma)
{
    tl_phrase out = { "" };
    size_t runs = 0, named = 0, used = 0;
    for (size_t n; named < listed && runs < NAMED_RUNS; named += n, runs++) {
        const int64_t *first = &ranks[named];
        for (n = 1; named + n < listed && first[n] == first[n - 1] + 1; n++)
            ;
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%s", runs > 0 ? ", " : "",
                                 run_in_words(first[0], first[n - 1]).text);
    }
    if (named < all)
        snprintf(out.text + used, sizeof out.text - used, "%s and" TL_KEPT "%s" TL_KEPT "more", comma,
                 tl_grouped((int64_t)(all - named)).text);
    return out;
}

/* Returns "500us": the time in the largest unit without a fraction. */
static tl_phrase instant_in_words(int64_t ns)
{
    static const char *const units[] = { "s", "ms", "us", "ns" };
    size_t i = 0;
    while (ns % (int64_t)tl_unit_named(units[i], strlen(units[i])) != 0)
        i++;
    return tl_phrase_of("%" PRId64 "%s", ns / (int64_t)tl_unit_named(units[i], strlen(units[i])), units[i]);
}

/* Writes runs of sorted ranges, separated by commas, as many as fit. */
static void list_text(const tl_ranges *ranges, bool times, char *out, size_t n)
{
    static const char more[] = ",...";
    size_t used = 0;

    *out = '\0';
    for (size_t at = 0; at < ranges->n;) {
        const tl_range run = tl_ranges_run(ranges, &at);
        const tl_phrase text =
            !times ? run_in_words(run.first, run.last)
                   : tl_phrase_of("%.40s-%.40s", instant_in_words(run.first).text, instant_in_words(run.last + 1).text);
        size_t need = strlen(text.text) + 1 + (at < ranges->n ? sizeof more : 1);
        if (used + need > n) {
            snprintf(out + used, n - used, "%s", more + (used == 0));
            return;
        }
        used += (size_t)snprintf(out + used, n - used, "%s%s", used > 0 ? "," : "", text.text);
    }
}

void tl_ranges_text(const tl_ranges *ranges, char *out, size_t n)
{
    list_text(ranges, false, out, n);
}

void tl_times_text(const tl_ranges *times, char *out, size_t n)
{
    list_text(times, true, out, n);
}

/* ---------------------------------------------------------------------------------------------------------- markup */

/* Returns the escape of the character; NULL: it needs none. */
static const char *escape_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        break;
    }
    bool forbidden = (code & 0xFFFEu) == 0xFFFEu; /* the last two code points of each plane are no characters */
    return !tl_char_shows(code) || forbidden || code == TL_REPLACEMENT ? "\xEF\xBF\xBD" : NULL;
}

void tl_put_markup(FILE *out, tl_text text)
{
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        const char *escape = escape_of(c.code);
        if (escape != NULL)
            fputs(escape, out);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
    }
}

void tl_put_sentence(FILE *out, const char *text)
{
    for (const char *p = text, *next; *p != '\0'; p = next) {
        const size_t n = strcspn(p, " ");
        next = p + n + (p[n] == ' ');
        tl_put_markup(out, (tl_text){ p, n });
        if (p[n] == ' ')
            fputs(belongs_to(p, n, next) ? "\xC2\xA0" : " ", out);
    }
}
