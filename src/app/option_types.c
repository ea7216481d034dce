/* option_types.c - the types of option values: how a text becomes a value. */
#include "cli.h"

#include "tlmpi/base/pattern.h"
#include "tlmpi/report/format/print.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the status of reading a text; if it does not fit, an error that tells what the option takes. */
static tl_status check_fits(const tl_option_given *o, bool fits)
{
    return fits ? TL_OK : tl_fail(o->err, TL_EUSAGE, "--%s takes %s, not '%s'", o->option, o->type->takes, o->text);
}

/* ----------------------------------------------------------------------------------------------- switches and texts */

/* Stores one of two words as a bool; the second is true. */
static tl_status store_switch(const tl_option_given *o, void *at)
{
    *(bool *)at = strcmp(o->text, o->type->words[1]) == 0;
    return check_fits(o, *(bool *)at || strcmp(o->text, o->type->words[0]) == 0);
}

/* Stores a text; an empty one as NULL, since no option takes an empty text. */
static tl_status store_text(const tl_option_given *o, void *at)
{
    *(const char **)at = *o->text != '\0' ? o->text : NULL;
    return TL_OK;
}

/* Compiles an extended regular expression; an empty text is NULL. */
static tl_status store_pattern(const tl_option_given *o, void *at)
{
    regex_t **pattern = at, *made = *o->text != '\0' ? tl_calloc(1, sizeof *made) : NULL;
    char option[32];

    snprintf(option, sizeof option, "--%s", o->option);
    tl_status st = made != NULL ? tl_pattern_compile(made, option, o->text, o->err) : TL_OK;
    tl_pattern_free(*pattern);
    *pattern = st == TL_OK ? made : NULL;
    if (st != TL_OK)
        free(made);
    return st;
}

/* Stores texts: each further occurrence of the option adds one. */
static tl_status store_texts(const tl_option_given *o, void *at)
{
    tl_texts *texts = at;
    if (*o->text != '\0')
        tl_vec_push(texts, o->text);
    return TL_OK;
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

static tl_status store_count(const tl_option_given *o, void *at)
{
    return check_fits(o, read_int(o->text, 0, INT64_MAX, at));
}

/* Stores the width of texts; "auto": -1, for the width of the terminal. */
static tl_status store_width(const tl_option_given *o, void *at)
{
    *(int64_t *)at = -1;
    return strcmp(o->text, "auto") == 0 ? TL_OK : store_count(o, at);
}

/* Stores a size, given in units of 1024^k bytes; 0 for auto. */
static tl_status store_size(const tl_option_given *o, void *at)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    const long long n = strtoll(o->text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    const int shift = unit != NULL ? 10 * ((int)(unit - units) + 1) : 0;
    *(int64_t *)at = 0;
    if (strcmp(o->text, "auto") == 0)
        return TL_OK;
    const bool fits = errno == 0 && o->text[0] >= '0' && o->text[0] <= '9' && end[unit != NULL] == '\0' && n > 0 &&
                      n <= INT64_MAX >> shift;
    *(int64_t *)at = fits ? n << shift : 0;
    return check_fits(o, fits);
}

/* Reads a share above 0 and at most 1, or a percentage followed by "%". */
static bool read_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end);
    if (*end == '%' && end > text) {
        *share /= 100;
        end++;
    }
    return *end == '\0' && *share > 0;
}

static tl_status store_share(const tl_option_given *o, void *at)
{
    return check_fits(o, read_share(o->text, at) && *(double *)at < 1);
}

/* Stores a share from 0 to 1, both included. */
static tl_status store_quantile(const tl_option_given *o, void *at)
{
    char *end;
    *(double *)at = strtod(o->text, &end);
    return check_fits(o, end != o->text && *end == '\0' && *(double *)at >= 0 && *(double *)at <= 1);
}

/* Stores a number of rows, or the share of the time that the rows hold. */
static tl_status store_top(const tl_option_given *o, void *at)
{
    tl_top_wanted *top = at;
    *top = (tl_top_wanted){ 0 };
    if (strchr(o->text, '%') == NULL)
        return store_count(o, &top->rows);
    return check_fits(o, read_share(o->text, &top->share) && top->share <= 1);
}

/* Stores the value of one of the words, or, if the type allows numbers, a number above 0. */
static tl_status store_choice(const tl_option_given *o, void *at)
{
    int64_t value = 0;
    for (int i = 0; o->type->words[i] != NULL; i++)
        if (strcmp(o->text, o->type->words[i]) == 0) {
            *(int *)at = o->type->first + i;
            return TL_OK;
        }
    bool fits = o->type->numbers && read_int(o->text, 1, INT32_MAX, &value);
    *(int *)at = (int)value;
    return check_fits(o, fits);
}

/* Stores two choices, int[2]; one word stands for both. */
static tl_status store_two(const tl_option_given *o, void *at)
{
    const size_t n = strcspn(o->text, ",");
    const char *second = o->text[n] == ',' ? o->text + n + 1 : o->text;
    char first[16] = "";
    tl_option_given part = { o->type, o->option, first, o->err };
    snprintf(first, sizeof first, "%.*s", n < sizeof first ? (int)n : 0, o->text);
    tl_status st = store_choice(&part, at);
    part.text = second;
    return st == TL_OK ? store_choice(&part, (int *)at + 1) : st;
}

/* --------------------------------------------------------------------------------------- lists of numbers and times */

/* Longest time that is accepted: ten years. */
#define LONGEST_NS 3.2e17

/* Reads a number, in ms or in the unit that follows, at *text, and advances *text. */
static bool read_time(const char **text, int64_t *ns)
{
    size_t digits = strspn(*text, "0123456789.");
    char number[32], *end;

    if (digits == 0 || digits >= sizeof number)
        return false;
    memcpy(number, *text, digits);
    number[digits] = '\0';
    double value = strtod(number, &end);
    if (*end != '\0')
        return false;
    *text += digits;
    size_t n = strcspn(*text, "-,");
    const double named = tl_unit_named(*text, n), times = named > 0 ? named : tl_unit_named("ms", 2);
    *text += named > 0 ? n : 0;
    if (value * times > LONGEST_NS)
        return false;
    *ns = llround(value * times);
    return true;
}

static tl_status store_list(const tl_option_given *o, void *at)
{
    tl_ranges *ranges = at;
    const char *part = o->text;
    ranges->n = 0;
    const tl_ranges_fault fault =
        *o->text == '\0' ? TL_RANGES_FINE
                         : tl_ranges_read(o->text, o->type->list == TL_TIMES ? read_time : NULL,
                                          o->type->list == TL_NUMBERS_FROM_0 ? 0 : INT64_MIN, ranges, &part);
    const int n = (int)strnlen(part, strcspn(part, ",") < 60 ? strcspn(part, ",") : 60);
    switch (fault) {
    case TL_RANGES_BACKWARDS:
        return tl_fail(o->err, TL_EUSAGE, "--%s: %.*s runs backwards: it ends before it begins", o->option, n, part);
    case TL_RANGES_EMPTY:
        return tl_fail(o->err, TL_EUSAGE, "--%s: %.*s is empty: it ends where it begins", o->option, n, part);
    case TL_RANGES_BELOW_0:
        return tl_fail(o->err, TL_EUSAGE, "--%s: %.*s is below 0: %s begin with 0", o->option, n, part, o->option);
    default:
        return check_fits(o, fault == TL_RANGES_FINE);
    }
}

/* ------------------------------------------------------------------------------------------------------ thresholds */

/* Stores the thresholds that are named; the others keep their values. */
static tl_status store_thresholds(const tl_option_given *o, void *at)
{
    tl_threshold_fault wrong = { .of = NULL };
    size_t n = 0;

    if (tl_thresholds_read(o->type->thresholds, o->text, at, &wrong))
        return TL_OK;
    if (wrong.of != NULL)
        return tl_fail(o->err, TL_EUSAGE, "--%s: %s takes %s, not '%.*s'", o->option, wrong.of->name,
                       tl_threshold_takes(wrong.of->unit), (int)(wrong.value.n < 60 ? wrong.value.n : 60),
                       wrong.value.p != NULL ? wrong.value.p : "");
    while (o->type->thresholds[n].name != NULL)
        n++;
    char place[40], name[80];
    snprintf(place, sizeof place, "--%s", o->option);
    snprintf(name, sizeof name, "%.*s", (int)(wrong.name.n < 60 ? wrong.name.n : 60), wrong.name.p);
    return tl_fail_unknown(o->err, "threshold", name, place, &o->type->thresholds->name, sizeof *o->type->thresholds,
                           n);
}

static tl_status store_gates(const tl_option_given *o, void *at)
{
    return check_fits(o, tl_gates_read(o->type->gates, o->text, at));
}

/* ----------------------------------------------------------------------------------------------------------- types */

#define ITS_WORD(NAME, word) #word,
static const char *const digits[] = { "0", "1" }, *const parsers[] = { "fast", "yajl" };
static const char *const formats[] = { TL_FORMATS(ITS_WORD) NULL };
/* "terminal": auto on a terminal, else ns. */
static const char *const units[] = { "terminal", "ns", "us", "ms", "s", "auto", NULL };
/* In the order of tl_clock_mode. */
static const char *const clocks[] = { "auto", "none", "force", NULL };
static const char *const runs[] = { "all", "list", "newest", NULL };

const tl_option_type tl_option_gates = { store_gates, .takes = TL_GATES_SYNTAX, .gates = &tl_answer_gates };
const tl_option_type tl_option_diff_gates = { store_gates, .takes = TL_DIFF_GATES_SYNTAX, .gates = &tl_diff_gates };
const tl_option_type tl_option_switch = { store_switch, .words = digits };
const tl_option_type tl_option_parser = { store_switch, .takes = "fast or yajl", .words = parsers };
const tl_option_type tl_option_text = { store_text, .takes = NULL };
const tl_option_type tl_option_pattern = { store_pattern, .takes = NULL };
const tl_option_type tl_option_texts = { store_texts, .takes = "COLUMN=VALUE, as kind=comm" };
const tl_option_type tl_option_count = { store_count, .takes = "a number, 0 or more" };
const tl_option_type tl_option_size = { store_size, .takes = "bytes, as 800M or 4G, or 'auto'" };
const tl_option_type tl_option_width = { store_width, .takes = "a number or 'auto'" };
const tl_option_type tl_option_top = { store_top, .takes = "a number, 0 or more, or a share as 80%" };
const tl_option_type tl_option_share = { store_share, .takes = "more than 0 and less than 1, as 0.01 or 1%" };
const tl_option_type tl_option_quantile = { store_quantile, .takes = "a number from 0 to 1, as 0.8" };
const tl_option_type tl_option_format = { store_choice, .takes = TL_FORMAT_WORDS, .words = formats };
const tl_option_type tl_option_unit = { store_choice, .takes = TL_UNIT_WORDS " or terminal", .words = units,
                                        .first = -1 };
const tl_option_type tl_option_clock = { store_choice, .takes = "auto, none or force", .words = clocks };
const tl_option_type tl_option_run = { store_choice, .takes = "a number from 1, 'newest' or 'list'", .words = runs + 1,
                                       .first = -1, .numbers = true };
const tl_option_type tl_option_compat_run = { store_choice, .takes = "a number from 1, 'newest', 'list' or 'all'",
                                              .words = runs, .first = TL_ALL_RUNS, .numbers = true };
const tl_option_type tl_option_two_runs = { store_two, .takes = "a number from 1 or 'newest', or two such, as 1,2",
                                            .words = runs + 2, .numbers = true };
const tl_option_type tl_option_idle = { store_thresholds, .thresholds = tl_idle_thresholds };
const tl_option_type tl_option_launch = { store_thresholds, .thresholds = tl_launch_thresholds };
const tl_option_type tl_option_peak = { store_thresholds, .thresholds = tl_peak_thresholds };
const tl_option_type tl_option_ranges = { store_list, "numbers and ranges, as 0-3,7 or -1", .list = TL_NUMBERS };
const tl_option_type tl_option_ranges_from_0 = { store_list, "numbers and ranges, as 0-3,7",
                                                 .list = TL_NUMBERS_FROM_0 };
const tl_option_type tl_option_times = { store_list, "spans of time, as 10-20 (ms) or 0.5s-700ms", .list = TL_TIMES };
