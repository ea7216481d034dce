/* ranges.c - a set of numbers as a user writes it. */
#include "ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

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
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            break;
    }
    ranges->n = 0;
    return false;
}

bool tl_ranges_has(const tl_ranges *ranges, int64_t number)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (number >= ranges->v[i].first && number <= ranges->v[i].last)
            return true;
    return ranges->n == 0;
}
