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

/* What is wrong with a part of a list. */
typedef enum fault { FINE, MALFORMED, BACKWARDS, EMPTY, BELOW_0, NO_MEMORY } fault;

static fault read_range(const char **text, tl_range *range)
{
    if (!read_number(text, &range->first))
        return MALFORMED;
    range->last = range->first;
    if (**text != '-')
        return FINE;
    ++*text;
    if (!read_number(text, &range->last))
        return MALFORMED;
    return range->last < range->first ? BACKWARDS : FINE;
}

static fault read_range_from_0(const char **text, tl_range *range)
{
    fault f = read_range(text, range);
    return f == FINE && range->first < 0 ? BELOW_0 : f;
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

/* The end of a span does not belong to it. */
static fault read_span(const char **text, tl_range *span)
{
    int64_t from, to;

    if (!read_time(text, &from) || **text != '-')
        return MALFORMED;
    ++*text;
    if (!read_time(text, &to))
        return MALFORMED;
    *span = (tl_range){ from, to - 1 };
    return to < from ? BACKWARDS : to == from ? EMPTY : FINE;
}

typedef fault read_part(const char **text, tl_range *range);

/* Parts with commas between them, sorted; empty after a fault.  *part, if not NULL, is then the one that has it. */
static fault parse(const char *text, read_part *read, tl_ranges *out, const char **part)
{
    fault f = FINE;

    out->n = 0;
    for (bool more = true; more && f == FINE;) {
        tl_range range;
        if (part != NULL)
            *part = text;
        f = read(&text, &range);
        more = *text == ',';
        if (*text != '\0' && !more && f != BACKWARDS)
            f = MALFORMED;
        text += more;
        if (f == FINE)
            tl_vec_room(out);
        if (f == FINE)
            out->v[out->n++] = range;
    }
    if (f != FINE)
        out->n = 0;
    tl_ranges_sort(out);
    return f;
}

static read_part *part_of(tl_list_kind kind)
{
    static read_part *const parts[] = {
        [TL_LIST_NUMBERS] = read_range, [TL_LIST_NUMBERS_FROM_0] = read_range_from_0, [TL_LIST_TIMES] = read_span
    };
    return parts[kind];
}

bool tl_ranges_parse(const char *text, tl_list_kind kind, tl_ranges *ranges)
{
    return parse(text, part_of(kind), ranges, NULL) == FINE;
}

tl_status tl_ranges_complain(const char *option, const char *text, tl_list_kind kind, tl_error *err)
{
    static const char *const takes[] = { [TL_LIST_NUMBERS] = "numbers and ranges, as 0-3,7 or -1",
                                         [TL_LIST_NUMBERS_FROM_0] = "numbers and ranges, as 0-3,7",
                                         [TL_LIST_TIMES] = "spans of time, as 10-20 (ms) or 0.5s-700ms" };
    tl_ranges ranges = { 0 };
    const char *part = text;
    fault f = parse(text, part_of(kind), &ranges, &part);
    int n = (int)strcspn(part, ",");

    free(ranges.v);
    n = n < 60 ? n : 60;
    switch (f) {
    case BACKWARDS:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s runs backwards: it ends before it begins", option, n, part);
    case EMPTY:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s is empty: it ends where it begins", option, n, part);
    case BELOW_0:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s is below 0: %s begin with 0", option, n, part, option);
    case NO_MEMORY:
        return tl_fail_memory(err, "a list of numbers");
    default:
        return tl_fail(err, TL_EUSAGE, "--%s takes %s, not '%s'", option, takes[kind], text);
    }
}
