/* ranges.c - sets of numbers and of times as a user writes them. */
#include "ranges.h"

#include <ctype.h>
#include "tlmpi/report/format/print.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number with an optional sign at *text and steps over it. */
static bool read_number(const char **text, int64_t *out)
{
    const char *digits = *text + (**text == '-');
    char *end;
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    long long value = strtoll(*text, &end, 10);
    if (errno != 0)
        return false;
    *out = value;
    *text = end;
    return true;
}

bool tl_ranges_parse(const char *text, tl_ranges *ranges)
{
    ranges->n = 0;
    for (;;) {
        tl_range range;
        if (!read_number(&text, &range.first))
            break;
        range.last = range.first;
        if (*text == '-') {
            text++;
            if (!read_number(&text, &range.last) || range.last < range.first)
                break;
        }
        if (!tl_vec_room(ranges))
            break;
        ranges->v[ranges->n++] = range;
        if (*text == '\0') {
            tl_ranges_sort(ranges);
            return true;
        }
        if (*text++ != ',')
            break;
    }
    ranges->n = 0;
    return false;
}

/* No recording is longer: ten years. */
#define LONGEST_NS 3.2e17

/* A number, in ms or in the unit that follows, at *text, and steps over it. */
static bool read_time(const char **text, int64_t *ns)
{
    size_t digits = strspn(*text, "0123456789.");
    char number[32], *end;

    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, *text, digits);
    number[digits] = '\0';
    double value = strtod(number, &end), times = tl_unit_ns(TL_UNIT_MS);
    if (*end != '\0')
        return false;
    *text += digits;
    for (int unit = TL_UNIT_NS; unit <= TL_UNIT_S; unit++) {
        const char *word = tl_unit_word((tl_unit_choice)unit);
        size_t n = strlen(word);
        if (strncmp(*text, word, n) == 0 && ((*text)[n] == '-' || (*text)[n] == ',' || (*text)[n] == '\0')) {
            times = tl_unit_ns((tl_unit_choice)unit);
            *text += n;
            break;
        }
    }
    if (value * times > LONGEST_NS)
        return false;
    *ns = llround(value * times);
    return true;
}

/* One span, and what stands after it. */
static bool read_span(const char **text, tl_range *span)
{
    int64_t from, to;

    if (!read_time(text, &from) || *(*text)++ != '-' || !read_time(text, &to) || to <= from)
        return false;
    *span = (tl_range){ from, to - 1 };
    return true;
}

bool tl_times_parse(const char *text, tl_ranges *times)
{
    tl_range span;

    times->n = 0;
    if (*text == '\0')
        return true;
    while (read_span(&text, &span) && tl_vec_room(times)) {
        times->v[times->n++] = span;
        if (*text == '\0') {
            tl_ranges_sort(times);
            return true;
        }
        if (*text++ != ',')
            break;
    }
    times->n = 0;
    return false;
}
