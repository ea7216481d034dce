/* words.c - numbers and lists in a sentence. */
#include "tlmpi/report/format/words.h"
#include "cell.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

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
    return tl_phrase_of("%.1f %%", 100 * share);
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
    tl_unit_choice unit = TL_UNIT_S;
    while (ns % (int64_t)tl_unit_ns(unit) != 0)
        unit--;
    return tl_phrase_of("%" PRId64 "%s", ns / (int64_t)tl_unit_ns(unit), tl_unit_word(unit));
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
