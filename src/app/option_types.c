/* option_types.c - what the options take: how a text becomes a value, and back. */
#include "options.h"

#include "tlmpi/base/group.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ switches and texts */

/* One of two words, the second is true. */
static bool store_switch(const tl_option_type *type, const char *text, void *at)
{
    *(bool *)at = strcmp(text, type->words[1]) == 0;
    return *(bool *)at || strcmp(text, type->words[0]) == 0;
}

static void recall_switch(const tl_option_type *type, const void *at, char *out, size_t n)
{
    snprintf(out, n, "%s", type->words[*(const bool *)at]);
}

/* Empty stands for none: no option has a use for an empty text. */
static bool store_text(const tl_option_type *type, const char *text, void *at)
{
    (void)type;
    *(const char **)at = *text != '\0' ? text : NULL;
    return true;
}

static void recall_text(const tl_option_type *type, const void *at, char *out, size_t n)
{
    const char *text = *(const char *const *)at;
    (void)type;
    snprintf(out, n, "%s", text != NULL ? text : "");
}

/* Given again it adds a text. */
static bool store_texts(const tl_option_type *type, const char *text, void *at)
{
    tl_texts *texts = at;
    (void)type;
    if (*text != '\0')
        tl_vec_push(texts, text);
    return true;
}

static void recall_texts(const tl_option_type *type, const void *at, char *out, size_t n)
{
    const tl_texts *texts = at;
    size_t used = 0;
    (void)type;
    *out = '\0';
    for (size_t i = 0; i < texts->n && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s", i > 0 ? " " : "", texts->v[i]);
}

/* --------------------------------------------------------------------------------------------------------- numbers */

static bool read_int(const char *text, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool store_count(const tl_option_type *type, const char *text, void *at)
{
    (void)type;
    return read_int(text, 0, INT64_MAX, at);
}

static const char size_units[] = "KMGT";

/* Stores bytes, given in units of 1024^k bytes; 0 for auto. */
static bool store_size(const tl_option_type *type, const char *text, void *at)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = strchr(size_units, text[digits]);
    const unsigned shift = text[digits] == '\0' ? 0 : unit == NULL ? 64 : 10 * ((unsigned)(unit - size_units) + 1);
    (void)type;
    *(int64_t *)at = 0;
    if (strcmp(text, "auto") == 0)
        return true;
    if (digits == 0 || shift == 64 || (shift > 0 && text[digits + 1] != '\0'))
        return false;
    errno = 0;
    const long long n = strtoll(text, NULL, 10);
    const bool fits = errno == 0 && n > 0 && n <= INT64_MAX >> shift;
    *(int64_t *)at = fits ? n << shift : 0;
    return fits;
}

static void recall_size(const tl_option_type *type, const void *at, char *out, size_t n)
{
    const int64_t bytes = *(const int64_t *)at;
    (void)type;
    if (bytes == 0)
        snprintf(out, n, "auto");
    else
        snprintf(out, n, "%" PRId64, bytes);
}

/* A width that is not given fits the terminal, if there is one. */
static bool store_width(const tl_option_type *type, const char *text, void *at)
{
    if (strcmp(text, "auto") != 0)
        return store_count(type, text, at);
    *(int64_t *)at = -1;
    return true;
}

static void recall_int(const tl_option_type *type, const void *at, char *out, size_t n)
{
    (void)type;
    snprintf(out, n, "%" PRId64, *(const int64_t *)at);
}

/* A share of 1 above 0, or as a percentage with "%" after it. */
static bool read_share(const char *text, double *share)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno != 0)
        return false;
    if (*end == '%') {
        value /= 100;
        end++;
    }
    *share = value;
    return *end == '\0' && value > 0;
}

static bool store_share(const tl_option_type *type, const char *text, void *at)
{
    double share;
    (void)type;
    if (!read_share(text, &share) || !(share < 1))
        return false;
    *(double *)at = share;
    return true;
}

/* Stores a share from 0 to 1, both included. */
static bool store_quantile(const tl_option_type *type, const char *text, void *at)
{
    char *end;
    double value = strtod(text, &end);
    (void)type;
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
        return false;
    *(double *)at = value;
    return true;
}

static void recall_share(const tl_option_type *type, const void *at, char *out, size_t n)
{
    (void)type;
    snprintf(out, n, "%g", *(const double *)at);
}

/* Stores a number of rows, or the share of the time that the rows hold. */
static bool store_top(const tl_option_type *type, const char *text, void *at)
{
    tl_top_wanted *top = at;
    *top = (tl_top_wanted){ 0 };
    return strchr(text, '%') != NULL ? read_share(text, &top->share) && top->share <= 1
                                     : store_count(type, text, &top->rows);
}

static void recall_top(const tl_option_type *type, const void *at, char *out, size_t n)
{
    const tl_top_wanted *top = at;
    (void)type;
    if (top->share > 0)
        snprintf(out, n, "%g%%", 100 * top->share);
    else
        snprintf(out, n, "%" PRId64, top->rows);
}

/* One of some words, or where these may be, a number above 0. */
static bool store_choice(const tl_option_type *type, const char *text, void *at)
{
    int64_t value = 0;
    for (int i = 0; type->words[i] != NULL; i++)
        if (strcmp(text, type->words[i]) == 0) {
            *(int *)at = type->first + i;
            return true;
        }
    if (!type->numbers || !read_int(text, 1, INT32_MAX, &value))
        return false;
    *(int *)at = (int)value;
    return true;
}

static void recall_choice(const tl_option_type *type, const void *at, char *out, size_t n)
{
    int value = *(const int *)at;
    if (type->numbers && value > 0)
        snprintf(out, n, "%d", value);
    else
        snprintf(out, n, "%s", type->words[value - type->first]);
}

/* ------------------------------------------------------------------------------------------ lists of numbers and times */

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
    size_t n = strcspn(*text, "-,");
    const double named = tl_unit_named(*text, n);
    times = named > 0 ? named : times;
    *text += named > 0 ? n : 0;
    if (value * times > LONGEST_NS)
        return false;
    *ns = llround(value * times);
    return true;
}

static tl_ranges_fault read_list(const tl_option_type *type, const char *text, tl_ranges *out, const char **part)
{
    return tl_ranges_read(text, type->list == TL_TIMES ? read_time : NULL,
                          type->list == TL_NUMBERS_FROM_0 ? 0 : INT64_MIN, out, part);
}

static bool store_list(const tl_option_type *type, const char *text, void *at)
{
    tl_ranges *ranges = at;
    const char *part;
    ranges->n = 0;
    return *text == '\0' || read_list(type, text, ranges, &part) == TL_RANGES_FINE;
}

static void recall_list(const tl_option_type *type, const void *at, char *out, size_t n)
{
    if (type->list == TL_TIMES)
        tl_times_text(at, out, n);
    else
        tl_ranges_text(at, out, n);
}

static tl_status complain_list(const tl_option_type *type, const char *option, const char *text, tl_error *err)
{
    tl_ranges ranges = { 0 };
    const char *part = text;
    tl_ranges_fault f = read_list(type, text, &ranges, &part);
    int n = (int)strcspn(part, ",");

    free(ranges.v);
    n = n < 60 ? n : 60;
    switch (f) {
    case TL_RANGES_BACKWARDS:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s runs backwards: it ends before it begins", option, n, part);
    case TL_RANGES_EMPTY:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s is empty: it ends where it begins", option, n, part);
    case TL_RANGES_BELOW_0:
        return tl_fail(err, TL_EUSAGE, "--%s: %.*s is below 0: %s begin with 0", option, n, part, option);
    default:
        return tl_fail(err, TL_EUSAGE, "--%s takes %s, not '%s'", option, type->takes, text);
    }
}

/* ------------------------------------------------------------------------------------------------------ thresholds */

/* A threshold that is not named keeps its value. */
static bool store_thresholds(const tl_option_type *type, const char *text, void *at)
{
    return tl_thresholds_read(type->thresholds, text, at, NULL);
}

static void recall_thresholds(const tl_option_type *type, const void *at, char *out, size_t n)
{
    tl_thresholds_write(type->thresholds, at, out, n);
}

static tl_status complain_thresholds(const tl_option_type *type, const char *option, const char *text, tl_error *err)
{
    enum { MOST_THRESHOLDS = 16 };
    union {
        tl_idle_config idle;
        tl_launch_config launch;
    } scratch;
    tl_threshold_fault wrong = { .of = NULL };
    const char *names[MOST_THRESHOLDS];
    char place[40], name[80];
    size_t n = 0;

    tl_thresholds_read(type->thresholds, text, &scratch, &wrong);
    if (wrong.of != NULL)
        return tl_fail(err, TL_EUSAGE, "--%s: %s takes %s, not '%.*s'", option, wrong.of->name,
                       tl_threshold_takes(wrong.of->unit), (int)(wrong.value.n < 60 ? wrong.value.n : 60),
                       wrong.value.p != NULL ? wrong.value.p : "");
    for (; n < MOST_THRESHOLDS && type->thresholds[n].name != NULL; n++)
        names[n] = type->thresholds[n].name;
    snprintf(place, sizeof place, "--%s", option);
    snprintf(name, sizeof name, "%.*s", (int)(wrong.name.n < 60 ? wrong.name.n : 60), wrong.name.p);
    return tl_fail_unknown(err, "threshold", name, place, names, n);
}

static bool store_gates(const tl_option_type *type, const char *text, void *at)
{
    return tl_gates_read(type->gates, text, at);
}

static void recall_gates(const tl_option_type *type, const void *at, char *out, size_t n)
{
    tl_gates_write(type->gates, at, out, n);
}

/* ----------------------------------------------------------------------------------------------------------- types */

#define ITS_WORD(NAME, word) #word,
static const char *const digits[] = { "0", "1" }, *const parsers[] = { "fast", "yajl" };
static const char *const formats[] = { TL_FORMATS(ITS_WORD) NULL };
static const char *const units[] = { "terminal", "ns", "us", "ms", "s", "auto", NULL }; /* the first: as one is there */
static const char *const clocks[] = { "auto", "none", "force", NULL };                  /* as tl_clock_mode */
static const char *const runs[] = { "all", "list", "newest", NULL };

const tl_option_type tl_option_gates = { store_gates, recall_gates, .takes = TL_GATES_SYNTAX,
                                         .gates = &tl_answer_gates };
const tl_option_type tl_option_diff_gates = { store_gates, recall_gates, .takes = TL_DIFF_GATES_SYNTAX,
                                              .gates = &tl_diff_gates };
const tl_option_type tl_option_switch = { store_switch, recall_switch, .words = digits };
const tl_option_type tl_option_parser = { store_switch, recall_switch, .takes = "fast or yajl", .words = parsers };
const tl_option_type tl_option_text = { store_text, recall_text, .takes = NULL };
const tl_option_type tl_option_texts = { store_texts, recall_texts, .takes = "COLUMN=VALUE, as kind=comm" };
const tl_option_type tl_option_count = { store_count, recall_int, .takes = "a number, 0 or more" };
const tl_option_type tl_option_size = { store_size, recall_size, .takes = "bytes, as 800M or 4G, or 'auto'" };
const tl_option_type tl_option_width = { store_width, recall_int, .takes = "a number or 'auto'" };
const tl_option_type tl_option_top = { store_top, recall_top, .takes = "a number, 0 or more, or a share as 80%" };
const tl_option_type tl_option_share = { store_share, recall_share,
                                         .takes = "more than 0 and less than 1, as 0.01 or 1%" };
const tl_option_type tl_option_quantile = { store_quantile, recall_share, .takes = "a number from 0 to 1, as 0.8" };
const tl_option_type tl_option_format = { store_choice, recall_choice, .takes = TL_FORMAT_WORDS, .words = formats };
const tl_option_type tl_option_unit = { store_choice, recall_choice, .takes = TL_UNIT_WORDS " or terminal",
                                        .words = units, .first = -1 };
const tl_option_type tl_option_clock = { store_choice, recall_choice, .takes = "auto, none or force", .words = clocks };
const tl_option_type tl_option_run = { store_choice,      recall_choice, .takes = "a number from 1, 'newest' or 'list'",
                                       .words = runs + 1, .first = -1,   .numbers = true };
const tl_option_type tl_option_compat_run = {
    store_choice,  recall_choice,        .takes = "a number from 1, 'newest', 'list' or 'all'",
    .words = runs, .first = TL_ALL_RUNS, .numbers = true
};
const tl_option_type tl_option_idle = { store_thresholds, recall_thresholds, .complain = complain_thresholds,
                                        .thresholds = tl_idle_thresholds };
const tl_option_type tl_option_launch = { store_thresholds, recall_thresholds, .complain = complain_thresholds,
                                          .thresholds = tl_launch_thresholds };
const tl_option_type tl_option_ranges = { store_list, recall_list, "numbers and ranges, as 0-3,7 or -1", complain_list,
                                          .list = TL_NUMBERS };
const tl_option_type tl_option_ranges_from_0 = { store_list, recall_list, "numbers and ranges, as 0-3,7", complain_list,
                                                 .list = TL_NUMBERS_FROM_0 };
const tl_option_type tl_option_times = { store_list, recall_list, "spans of time, as 10-20 (ms) or 0.5s-700ms",
                                         complain_list, .list = TL_TIMES };
