/* memory.c - the profiler's memory timeline, summed up.
 *
 *     [[-1, 1, 512, 7], [1696966047096061874, 1, 256, 4], [1696966047096061874, 3, -512, 7], ...]
 *        |   |   |   category
 *        |   |   by how much it changes, in bytes
 *        |   what was done: not needed
 *        time in ns; below 0 what was there before, which is shown at the earliest time
 *
 * A row for each time, with what all categories have after the last change at that time.  The file is read twice: for
 * the earliest time and the extremes, then for the rows.
 */
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/sheet.h"
#include "tlmpi/trace/text/source.h"
#include <stdlib.h>

enum { NCATEGORIES = 8, TOTAL = NCATEGORIES, NSUMS };
static const char *const names[NSUMS] = { "Parameter", "Optimizer state", "Input",   "Temporary", "Activation",
                                          "Gradient",  "Autograd",        "Unknown", "total" };

#define BLOCK_BYTES ((size_t)256 << 10)
#define DIGITS      32

/* The numbers of an entry. */
enum { TIME, ACTION, BYTES, CATEGORY, NNUMBERS };

/* What comes next in the text, white space aside. */
typedef enum place { OUTER_BRACKET, FIRST_ENTRY, NUMBER, AFTER_ENTRY, NEXT_ENTRY, END } place;
static const char *const expected[] = {
    [OUTER_BRACKET] = "an array",
    [FIRST_ENTRY] = "an entry or the end of the array",
    [NUMBER] = "[time, action, bytes, category], whole numbers",
    [AFTER_ENTRY] = "a comma or the end of the array",
    [NEXT_ENTRY] = "an entry",
    [END] = "the end of the file",
};

typedef struct timeline {
    const char *path;
    tl_sheet *csv; /* for the rows; NULL: they are only looked at */
    int64_t sum[NSUMS], max[NSUMS], min[NSUMS];
    int64_t time;     /* of the entries that are being summed up */
    int64_t earliest; /* above 0 */
    bool any;

    place place;
    uint64_t at; /* characters before this one */
    char digits[DIGITS];
    size_t ndigits;
    bool number_over; /* there was a blank after the digits */
    int64_t number[NNUMBERS];
    size_t nnumbers;
} timeline;

static void end_row(timeline *t)
{
    for (size_t i = 0; i < NSUMS; i++) {
        t->max[i] = t->sum[i] > t->max[i] ? t->sum[i] : t->max[i];
        t->min[i] = t->sum[i] < t->min[i] ? t->sum[i] : t->min[i];
    }
    if (t->csv == NULL)
        return;
    tl_sheet_int(t->csv, t->time < 0 ? t->earliest : t->time);
    for (size_t i = 0; i < NCATEGORIES; i++)
        tl_sheet_int(t->csv, t->sum[i]);
    tl_sheet_end_row(t->csv);
}

static tl_status add_entry(timeline *t, tl_error *err)
{
    const int64_t time = t->number[TIME], bytes = t->number[BYTES], category = t->number[CATEGORY];

    if (category < 0 || category >= NCATEGORIES)
        return tl_fail(err, TL_EINPUT, "%s: byte %llu: expected a category of memory from 0 to %d, found %lld", t->path,
                       (unsigned long long)t->at, NCATEGORIES - 1, (long long)category);
    if (t->any && time != t->time)
        end_row(t);
    t->any = true;
    t->time = time;
    if (time > 0 && t->csv == NULL && time < t->earliest)
        t->earliest = time;
    if (__builtin_add_overflow(t->sum[category], bytes, &t->sum[category]) ||
        __builtin_add_overflow(t->sum[TOTAL], bytes, &t->sum[TOTAL]))
        return tl_fail(err, TL_EINPUT, "%s: byte %llu: more bytes of memory than can be counted", t->path,
                       (unsigned long long)t->at);
    return TL_OK;
}

static tl_status refuse(const timeline *t, tl_error *err)
{
    return tl_fail(err, TL_EINPUT, "%s: byte %llu: this is no memory timeline: expected %s", t->path,
                   (unsigned long long)t->at, expected[t->place]);
}

/* A character of an entry, after its bracket. */
static tl_status take_number(timeline *t, char c, tl_error *err)
{
    if (c != ',' && c != ']') {
        if (t->number_over || t->ndigits == DIGITS)
            return refuse(t, err);
        t->digits[t->ndigits++] = c;
        return TL_OK;
    }
    if (t->nnumbers == NNUMBERS || !tl_decimal_to_int(t->digits, t->ndigits, &t->number[t->nnumbers]))
        return refuse(t, err);
    t->nnumbers++;
    t->ndigits = 0;
    t->number_over = false;
    if (c == ',')
        return TL_OK;
    if (t->nnumbers < NNUMBERS)
        return refuse(t, err);
    t->nnumbers = 0;
    t->place = AFTER_ENTRY;
    return add_entry(t, err);
}

static tl_status take(timeline *t, char c, tl_error *err)
{
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
        t->number_over = t->ndigits > 0;
    else if (t->place == NUMBER)
        return take_number(t, c, err);
    else if (c == '[' && t->place == OUTER_BRACKET)
        t->place = FIRST_ENTRY;
    else if (c == '[' && (t->place == FIRST_ENTRY || t->place == NEXT_ENTRY))
        t->place = NUMBER;
    else if (c == ',' && t->place == AFTER_ENTRY)
        t->place = NEXT_ENTRY;
    else if (c == ']' && (t->place == FIRST_ENTRY || t->place == AFTER_ENTRY))
        t->place = END;
    else
        return refuse(t, err);
    return TL_OK;
}

/* Goes through the file once. */
static tl_status sum_up(timeline *t, tl_error *err)
{
    tl_source *source = NULL;
    size_t n = 0;
    char *block = tl_malloc(BLOCK_BYTES);
    tl_status st = block != NULL ? tl_source_open(t->path, &source, err) : tl_fail_memory(err, "a memory timeline");

    for (size_t i = 0; i < NSUMS; i++) {
        t->sum[i] = 0;
        t->max[i] = INT64_MIN;
        t->min[i] = INT64_MAX;
    }
    t->any = false;
    t->place = OUTER_BRACKET;
    t->at = 0;
    while (st == TL_OK && (st = tl_source_read(source, block, BLOCK_BYTES, &n, err)) == TL_OK && n > 0)
        for (size_t i = 0; i < n && st == TL_OK; i++, t->at++)
            st = take(t, block[i], err);
    if (st == TL_OK && t->place != END)
        st = refuse(t, err);
    if (st == TL_OK && t->any)
        end_row(t);
    tl_source_close(source);
    free(block);
    return st;
}

static tl_status write_rows(timeline *t, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "memory_timeline.csv", NULL, err);
    if (st != TL_OK)
        return st;
    tl_sheet_head(&csv, "time");
    for (size_t i = 0; i < NCATEGORIES; i++)
        tl_sheet_head(&csv, names[i]);
    tl_sheet_end_row(&csv);
    t->csv = &csv;
    st = sum_up(t, err);
    if (st == TL_OK)
        return tl_sheet_close(&csv, err);
    tl_sheet_abandon(&csv);
    return st;
}

static tl_status write_summary(const timeline *t, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st =
        tl_sheet_open(&csv, dir, "memory_timeline_summary.csv", "category,max_bytes,min_bytes,last_bytes", err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < NSUMS && t->any; i++) {
        tl_sheet_words(&csv, names[i]);
        tl_sheet_int(&csv, t->max[i]);
        tl_sheet_int(&csv, t->min[i]);
        tl_sheet_int(&csv, t->sum[i]);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_memory_timeline(const char *path, const char *dir, tl_error *err)
{
    timeline t = { .path = path, .earliest = INT64_MAX };

    tl_status st = sum_up(&t, err);
    if (t.earliest == INT64_MAX)
        t.earliest = -1; /* nothing is known to be later than what was there before */
    if (st == TL_OK)
        st = write_rows(&t, dir, err);
    return st == TL_OK ? write_summary(&t, dir, err) : st;
}
