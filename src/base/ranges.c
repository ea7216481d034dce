/* ranges.c - reads a set of numbers, or of spans of time, from the command line. */
#include "tlmpi/base/ranges.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Reads a number with an optional sign. */
static bool read_number(const char **text, int64_t *out)
{
    const char *digits = *text + (**text == '-');
    char *end;
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *out = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

static tl_ranges_fault read_range(const char **text, bool (*reader)(const char **, int64_t *), tl_range *range)
{
    const bool spans = reader != NULL;
    bool (*read)(const char **, int64_t *) = spans ? reader : read_number;
    if (!read(text, &range->first) || (spans && **text != '-'))
        return TL_RANGES_MALFORMED;
    range->last = range->first;
    if (**text == '-') {
        ++*text;
        if (!read(text, &range->last))
            return TL_RANGES_MALFORMED;
    }
    range->last -= spans;
    if (range->last >= range->first)
        return TL_RANGES_FINE;
    return spans && range->last + 1 == range->first ? TL_RANGES_EMPTY : TL_RANGES_BACKWARDS;
}

tl_ranges_fault tl_ranges_read(const char *text, bool (*reader)(const char **, int64_t *), int64_t least,
                               tl_ranges *out, const char **part)
{
    tl_ranges_fault f = TL_RANGES_FINE;
    out->n = 0;
    for (bool more = true; more && f == TL_RANGES_FINE;) {
        tl_range range;
        *part = text;
        f = read_range(&text, reader, &range);
        f = f == TL_RANGES_FINE && range.first < least ? TL_RANGES_BELOW_0 : f;
        more = *text == ',';
        if (*text != '\0' && !more && f != TL_RANGES_BACKWARDS)
            f = TL_RANGES_MALFORMED;
        text += more;
        if (f == TL_RANGES_FINE)
            tl_vec_push(out, range);
    }
    if (f != TL_RANGES_FINE)
        out->n = 0;
    tl_ranges_sort(out);
    return f;
}
