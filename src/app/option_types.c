#include "option_types.h"

#include "cli.h"
#include "suggest.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool store_switch(const char *text, void *at)
{
    *(bool *)at = strcmp(text, "1") == 0;
    return true;
}

static void recall_switch(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%d", *(const bool *)at);
}

/* Empty stands for none: no option has a use for an empty text. */
static bool store_text(const char *text, void *at)
{
    *(const char **)at = *text != '\0' ? text : NULL;
    return true;
}

static void recall_text(const void *at, char *out, size_t n)
{
    const char *text = *(const char *const *)at;
    snprintf(out, n, "%s", text != NULL ? text : "");
}

/* Given again it adds a text. */
static bool store_texts(const char *text, void *at)
{
    tl_texts *texts = at;
    if (*text == '\0')
        return true;
    tl_vec_room(texts);
    texts->v[texts->n++] = text;
    return true;
}

static void recall_texts(const void *at, char *out, size_t n)
{
    const tl_texts *texts = at;
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < texts->n && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s", i > 0 ? " " : "", texts->v[i]);
}

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

/* A share of 1: 0 < share < 1, or as a percentage with "%" after it. */
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

static bool store_share(const char *text, void *at)
{
    double share;
    if (!read_share(text, &share) || !(share < 1))
        return false;
    *(double *)at = share;
    return true;
}

static void recall_share(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%g", *(const double *)at);
}

/* Stores a share from 0 to 1, both included. */
static bool store_quantile(const char *text, void *at)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1))
        return false;
    *(double *)at = value;
    return true;
}

static bool store_count(const char *text, void *at)
{
    return read_int(text, 0, INT64_MAX, at);
}

/* Stores a number of rows, or the share of the time that the rows hold. */
static bool store_top(const char *text, void *at)
{
    tl_top_wanted *top = at;
    *top = (tl_top_wanted){ 0 };
    return text[strcspn(text, "%")] == '%' ? read_share(text, &top->share) && top->share <= 1
                                           : store_count(text, &top->rows);
}

static void recall_top(const void *at, char *out, size_t n)
{
    const tl_top_wanted *top = at;
    if (top->share > 0)
        snprintf(out, n, "%g%%", 100 * top->share);
    else
        snprintf(out, n, "%" PRId64, top->rows);
}

static void recall_int(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%" PRId64, *(const int64_t *)at);
}

/* A width that is not given fits the terminal, if there is one. */
static bool store_width(const char *text, void *at)
{
    if (strcmp(text, "auto") == 0) {
        *(int64_t *)at = -1;
        return true;
    }
    return store_count(text, at);
}

static bool store_run(const char *text, void *at)
{
    int64_t value = -1;
    if (strcmp(text, "newest") == 0)
        value = 0;
    else if (strcmp(text, "list") != 0 && !read_int(text, 1, INT32_MAX, &value))
        return false;
    *(int *)at = (int)value;
    return true;
}

static void recall_run(const void *at, char *out, size_t n)
{
    int value = *(const int *)at;
    if (value > 0)
        snprintf(out, n, "%d", value);
    else
        snprintf(out, n, "%s", value == 0 ? "newest" : "list");
}

static bool store_compat_run(const char *text, void *at)
{
    if (strcmp(text, "all") != 0)
        return store_run(text, at);
    *(int *)at = TL_ALL_RUNS;
    return true;
}

static void recall_compat_run(const void *at, char *out, size_t n)
{
    if (*(const int *)at == TL_ALL_RUNS)
        snprintf(out, n, "all");
    else
        recall_run(at, out, n);
}

static bool store_format(const char *text, void *at)
{
    for (int i = 0; i < TL_NFORMATS; i++)
        if (strcmp(text, tl_format_word((tl_format)i)) == 0) {
            *(int *)at = i;
            return true;
        }
    return false;
}

static void recall_format(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%s", tl_format_word((tl_format) * (const int *)at));
}

/* -1: as a terminal is there. */
static const char as_terminal[] = "terminal";

static bool store_unit(const char *text, void *at)
{
    *(int *)at = -1;
    if (strcmp(text, as_terminal) == 0)
        return true;
    for (int i = TL_UNIT_NS; i <= TL_UNIT_AUTO; i++)
        if (strcmp(text, tl_unit_word((tl_unit_choice)i)) == 0) {
            *(int *)at = i;
            return true;
        }
    return false;
}

static void recall_unit(const void *at, char *out, size_t n)
{
    int unit = *(const int *)at;
    snprintf(out, n, "%s", unit < 0 ? as_terminal : tl_unit_word((tl_unit_choice)unit));
}

/* In the order of tl_clock_mode. */
static const char *const clock_words[] = { "auto", "none", "force" };

static bool store_clock(const char *text, void *at)
{
    for (size_t i = 0; i < sizeof clock_words / sizeof clock_words[0]; i++)
        if (strcmp(text, clock_words[i]) == 0) {
            *(int *)at = (int)i;
            return true;
        }
    return false;
}

static void recall_clock(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%s", clock_words[*(const int *)at]);
}

static bool store_parser(const char *text, void *at)
{
    *(bool *)at = strcmp(text, "yajl") == 0;
    return *(bool *)at || strcmp(text, "fast") == 0;
}

static void recall_parser(const void *at, char *out, size_t n)
{
    snprintf(out, n, "%s", *(const bool *)at ? "yajl" : "fast");
}

static bool store_list(const char *text, tl_list_kind kind, tl_ranges *ranges)
{
    ranges->n = 0;
    return *text == '\0' || tl_ranges_parse(text, kind, ranges);
}

static bool store_ranges(const char *text, void *at)
{
    return store_list(text, TL_LIST_NUMBERS, at);
}

static bool store_ranges_from_0(const char *text, void *at)
{
    return store_list(text, TL_LIST_NUMBERS_FROM_0, at);
}

static bool store_times(const char *text, void *at)
{
    return store_list(text, TL_LIST_TIMES, at);
}

static tl_status complain_ranges(const char *option, const char *text, tl_error *err)
{
    return tl_ranges_complain(option, text, TL_LIST_NUMBERS, err);
}

static tl_status complain_ranges_from_0(const char *option, const char *text, tl_error *err)
{
    return tl_ranges_complain(option, text, TL_LIST_NUMBERS_FROM_0, err);
}

static tl_status complain_times(const char *option, const char *text, tl_error *err)
{
    return tl_ranges_complain(option, text, TL_LIST_TIMES, err);
}

static void recall_ranges(const void *at, char *out, size_t n)
{
    tl_ranges_text(at, out, n);
}

static void recall_times(const void *at, char *out, size_t n)
{
    tl_times_text(at, out, n);
}

enum { MOST_THRESHOLDS = 16 };

static tl_status fail_threshold(const char *option, const tl_threshold *list, const tl_threshold_fault *fault,
                                tl_error *err)
{
    const char *names[MOST_THRESHOLDS];
    char place[40], name[80];
    size_t n = 0;
    if (fault->of != NULL)
        return tl_fail(err, TL_EUSAGE, "--%s: %s takes %s, not '%.*s'", option, fault->of->name,
                       tl_threshold_takes(fault->of->unit), (int)(fault->value.n < 60 ? fault->value.n : 60),
                       fault->value.p != NULL ? fault->value.p : "");
    for (; n < MOST_THRESHOLDS && list[n].name != NULL; n++)
        names[n] = list[n].name;
    snprintf(place, sizeof place, "--%s", option);
    snprintf(name, sizeof name, "%.*s", (int)(fault->name.n < 60 ? fault->name.n : 60), fault->name.p);
    return tl_fail_unknown(err, "threshold", name, place, names, n);
}

static tl_status complain_idle(const char *option, const char *text, tl_error *err)
{
    tl_idle_config scratch;
    tl_threshold_fault fault = { .of = NULL };
    tl_thresholds_read(tl_idle_thresholds, text, &scratch, &fault);
    return fail_threshold(option, tl_idle_thresholds, &fault, err);
}

static tl_status complain_launch(const char *option, const char *text, tl_error *err)
{
    tl_launch_config scratch;
    tl_threshold_fault fault = { .of = NULL };
    tl_thresholds_read(tl_launch_thresholds, text, &scratch, &fault);
    return fail_threshold(option, tl_launch_thresholds, &fault, err);
}

/* A threshold that is not named keeps its value. */
static bool store_idle(const char *text, void *at)
{
    return tl_thresholds_read(tl_idle_thresholds, text, at, NULL);
}

static void recall_idle(const void *at, char *out, size_t n)
{
    tl_thresholds_write(tl_idle_thresholds, at, out, n);
}

static bool store_launch(const char *text, void *at)
{
    return tl_thresholds_read(tl_launch_thresholds, text, at, NULL);
}

static void recall_launch(const void *at, char *out, size_t n)
{
    tl_thresholds_write(tl_launch_thresholds, at, out, n);
}

static bool store_gates(const char *text, void *at)
{
    return tl_gates_read(text, at);
}

static void recall_gates(const void *at, char *out, size_t n)
{
    tl_gates_write(at, out, n);
}

const tl_option_type tl_option_gates = { store_gates, recall_gates, TL_GATES_SYNTAX, NULL };
const tl_option_type tl_option_switch = { store_switch, recall_switch, NULL, NULL };
const tl_option_type tl_option_text = { store_text, recall_text, NULL, NULL };
const tl_option_type tl_option_texts = { store_texts, recall_texts, "COLUMN=VALUE, as kind=comm", NULL };
const tl_option_type tl_option_count = { store_count, recall_int, "a number, 0 or more", NULL };
const tl_option_type tl_option_top = { store_top, recall_top, "a number, 0 or more, or a share as 80%", NULL };
const tl_option_type tl_option_width = { store_width, recall_int, "a number or 'auto'", NULL };
const tl_option_type tl_option_run = { store_run, recall_run, "a number from 1, 'newest' or 'list'", NULL };
const tl_option_type tl_option_compat_run = { store_compat_run, recall_compat_run,
                                              "a number from 1, 'newest', 'list' or 'all'", NULL };
const tl_option_type tl_option_format = { store_format, recall_format, TL_FORMAT_WORDS, NULL };
const tl_option_type tl_option_unit = { store_unit, recall_unit, TL_UNIT_WORDS " or terminal", NULL };
const tl_option_type tl_option_parser = { store_parser, recall_parser, "fast or yajl", NULL };
const tl_option_type tl_option_idle = { store_idle, recall_idle, NULL, complain_idle };
const tl_option_type tl_option_launch = { store_launch, recall_launch, NULL, complain_launch };
const tl_option_type tl_option_clock = { store_clock, recall_clock, "auto, none or force", NULL };
const tl_option_type tl_option_share = { store_share, recall_share, "more than 0 and less than 1, as 0.01 or 1%", NULL };
const tl_option_type tl_option_quantile = { store_quantile, recall_share, "a number from 0 to 1, as 0.8", NULL };
const tl_option_type tl_option_ranges = { store_ranges, recall_ranges, NULL, complain_ranges };
const tl_option_type tl_option_ranges_from_0 = { store_ranges_from_0, recall_ranges, NULL, complain_ranges_from_0 };
const tl_option_type tl_option_times = { store_times, recall_times, NULL, complain_times };
