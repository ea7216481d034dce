/* words.c - numbers and lists as the summary says them. */
#include "tlmpi/report/format/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* How many runs of ranks are named before the rest is counted. */
enum { NAMED_RUNS = 8 };

tl_digits tl_grouped(int64_t value)
{
    tl_digits plain, out = { "" };
    size_t n = (size_t)snprintf(plain.text, sizeof plain.text, "%" PRId64, value);
    size_t first = value < 0 ? 1 : 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > first && (n - i) % 3 == 0 && n - first > 4)
            out.text[at++] = ' ';
        out.text[at++] = plain.text[i];
    }
    return out;
}

tl_digits tl_bytes_in_words(int64_t value)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    tl_digits out;
    if (value < 1000) {
        snprintf(out.text, sizeof out.text, "%" PRId64 " B", value);
        return out;
    }
    double scaled = (double)value / 1000.0;
    size_t unit = 0;
    for (; scaled >= 999.95 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        scaled /= 1000.0;
    snprintf(out.text, sizeof out.text, "%.1f %s", scaled, units[unit]);
    return out;
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

void tl_say_ranks(tl_wrap *wrap, const int64_t *ranks, size_t listed, size_t all)
{
    size_t runs = 0, named = 0;
    for (size_t i = 0, n; i < listed && runs < NAMED_RUNS; i += n, runs++) {
        const int64_t *first = &ranks[i];
        for (n = 1; i + n < listed && first[n] == first[n - 1] + 1; n++)
            ;
        named += n;
        const char *comma = named < all ? "," : "";
        if (n == 1)
            tl_wrap_printf(wrap, "%" PRId64 "%s", first[0], comma);
        else
            tl_wrap_printf(wrap, "%" PRId64 "-%" PRId64 "%s", first[0], first[n - 1], comma);
    }
    if (named < all)
        tl_wrap_printf(wrap, "and %s more", tl_grouped((int64_t)(all - named)).text);
}

/* Runs of sorted ranges, each as its text, as many as there is room for. */
static void list_text(const tl_ranges *ranges, void (*text)(tl_range run, char *out, size_t n), char *out, size_t n)
{
    static const char more[] = ",...";
    size_t used = 0;

    *out = '\0';
    for (size_t at = 0; at < ranges->n;) {
        char run[64];
        text(tl_ranges_run(ranges, &at), run, sizeof run);
        size_t need = strlen(run) + 1 + (at < ranges->n ? sizeof more : 1);
        if (used + need > n) {
            snprintf(out + used, n - used, "%s", more + (used == 0));
            return;
        }
        used += (size_t)snprintf(out + used, n - used, "%s%s", used > 0 ? "," : "", run);
    }
}

static void range_text(tl_range run, char *out, size_t n)
{
    if (run.last != run.first)
        snprintf(out, n, "%" PRId64 "-%" PRId64, run.first, run.last);
    else
        snprintf(out, n, "%" PRId64, run.first);
}

void tl_ranges_text(const tl_ranges *ranges, char *out, size_t n)
{
    list_text(ranges, range_text, out, n);
}

static void time_text(int64_t ns, char out[32])
{
    static const struct {
        int64_t ns;
        const char *word;
    } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
    size_t u = 0;

    while (ns % units[u].ns != 0)
        u++;
    snprintf(out, 32, "%" PRId64 "%s", ns / units[u].ns, units[u].word);
}

static void span_text(tl_range run, char *out, size_t n)
{
    char from[32], to[32];
    time_text(run.first, from);
    time_text(run.last + 1, to);
    snprintf(out, n, "%s-%s", from, to);
}

void tl_times_text(const tl_ranges *times, char *out, size_t n)
{
    list_text(times, span_text, out, n);
}
