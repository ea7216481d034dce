/* memory.c - reads the profiler's raw memory timeline, character by character. */
#include "tlmpi/trace/read/memory.h"
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define DIGITS      32

/* The numbers of an entry. */
enum { TIME, ACTION, BYTES, CATEGORY, NNUMBERS };

/* Actions, as the profiler numbers them: existed before, is allocated, changes category, is freed. */
enum { FIRST_ACTION = 1, LAST_ACTION = 4 };

/* What comes next in the text, apart from white space. */
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
    void (*take)(void *arg, const tl_memory_state *state);
    void *arg;
    tl_memory_state state; /* sums over the entries so far */
    tl_memory_report *report;

    place place;
    char digits[DIGITS];
    size_t ndigits;
    bool number_over; /* white space has followed the digits */
    int64_t number[NNUMBERS];
    size_t nnumbers;
    uint64_t at; /* number of bytes of the text that are read */
} timeline;

/* The profiler writes entries in the order of their times. */
static tl_status check_entry(const timeline *t, tl_error *err)
{
    const int64_t time = t->number[TIME], action = t->number[ACTION], category = t->number[CATEGORY];
    const unsigned long long at = t->at;

    if (t->report->entries > 0 && time < t->state.time_ns)
        return tl_fail(err, TL_EINPUT,
                       "%s: byte %llu: expected a time of %lld or later, as the entry before, found %lld", t->path, at,
                       (long long)t->state.time_ns, (long long)time);
    if (action < FIRST_ACTION || action > LAST_ACTION)
        return tl_fail(err, TL_EINPUT, "%s: byte %llu: expected an action from %d to %d, found %lld", t->path, at,
                       FIRST_ACTION, LAST_ACTION, (long long)action);
    if (category < 0 || category >= TL_MEMORY_CATEGORIES)
        return tl_fail(err, TL_EINPUT, "%s: byte %llu: expected a category of memory from 0 to %d, found %lld", t->path,
                       at, TL_MEMORY_CATEGORIES - 1, (long long)category);
    return TL_OK;
}

static tl_status add_entry(timeline *t, tl_error *err)
{
    const int64_t time = t->number[TIME], bytes = t->number[BYTES], category = t->number[CATEGORY];
    tl_memory_state *s = &t->state;
    int64_t sum, total;
    tl_status st = check_entry(t, err);

    if (st != TL_OK)
        return st;
    if (__builtin_add_overflow(s->bytes[category], bytes, &sum) ||
        __builtin_add_overflow(s->bytes[TL_MEMORY_TOTAL], bytes, &total))
        return tl_fail(err, TL_EINPUT, "%s: byte %llu: more bytes of memory than can be counted", t->path,
                       (unsigned long long)t->at);
    if (t->report->entries > 0 && time != s->time_ns)
        t->take(t->arg, &t->state);
    t->report->entries++;
    s->time_ns = time;
    if (time > 0 && time < t->report->earliest_ns)
        t->report->earliest_ns = time;
    s->bytes[category] = sum;
    s->bytes[TL_MEMORY_TOTAL] = total;
    return TL_OK;
}

/* Fails with what is expected at this place.  found: a character, or EOF for the end of the text. */
static tl_status refuse(const timeline *t, int found, tl_error *err)
{
    char word[32] = "the end of the text";

    if (found > ' ' && found < 0x7f)
        snprintf(word, sizeof word, "'%c'", found);
    else if (found != EOF)
        snprintf(word, sizeof word, "a byte 0x%02x", (unsigned)found);
    return tl_fail(err, TL_EINPUT, "%s: byte %llu: %sexpected %s, found %s", t->path, (unsigned long long)t->at,
                   t->place == OUTER_BRACKET ? "this is no memory timeline: " : "", expected[t->place], word);
}

/* Reads a whole number in JSON syntax: 0 or -12, not 007, +1 or 1.e3. */
static bool read_whole(const char *digits, size_t n, int64_t *out)
{
    size_t first = n > 0 && digits[0] == '-';

    if (n > first + 1 && digits[first] == '0')
        return false;
    for (size_t i = first; i < n; i++)
        if (digits[i] < '0' || digits[i] > '9')
            return false;
    return tl_decimal_to_int(digits, n, out);
}

/* Reads a character of an entry, after its bracket. */
static tl_status read_number(timeline *t, char c, tl_error *err)
{
    if (c != ',' && c != ']') {
        if (t->number_over || t->ndigits == DIGITS)
            return refuse(t, (unsigned char)c, err);
        t->digits[t->ndigits++] = c;
        return TL_OK;
    }
    if (t->nnumbers == NNUMBERS || !read_whole(t->digits, t->ndigits, &t->number[t->nnumbers]))
        return refuse(t, (unsigned char)c, err);
    t->nnumbers++;
    t->ndigits = 0;
    t->number_over = false;
    if (c == ',')
        return TL_OK;
    if (t->nnumbers < NNUMBERS)
        return refuse(t, (unsigned char)c, err);
    t->nnumbers = 0;
    t->place = AFTER_ENTRY;
    return add_entry(t, err);
}

static tl_status take(timeline *t, char c, tl_error *err)
{
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
        t->number_over = t->ndigits > 0;
    else if (t->place == NUMBER)
        return read_number(t, c, err);
    else if (c == '[' && t->place == OUTER_BRACKET)
        t->place = FIRST_ENTRY;
    else if (c == '[' && (t->place == FIRST_ENTRY || t->place == NEXT_ENTRY))
        t->place = NUMBER;
    else if (c == ',' && t->place == AFTER_ENTRY)
        t->place = NEXT_ENTRY;
    else if (c == ']' && (t->place == FIRST_ENTRY || t->place == AFTER_ENTRY))
        t->place = END;
    else
        return refuse(t, (unsigned char)c, err);
    return TL_OK;
}

static void read_all(timeline *t, tl_source *source, char *block, tl_status *st, tl_error *err)
{
    size_t n = 0;

    while (*st == TL_OK && (*st = tl_source_read(source, block, BLOCK_BYTES, &n, err)) == TL_OK && n > 0)
        for (size_t i = 0; i < n && *st == TL_OK; i++, t->at++)
            *st = take(t, block[i], err);
    t->report->cut = *st == TL_OK && t->place != END;
    if (t->report->cut)
        *st = refuse(t, EOF, err);
}

tl_status tl_memory_timeline_read(const char *path, void (*take_state)(void *arg, const tl_memory_state *state),
                                  void *arg, tl_memory_report *report, tl_error *err)
{
    timeline t = { .path = path, .take = take_state, .arg = arg, .report = report };
    tl_source *source = NULL;
    char *block = tl_malloc(BLOCK_BYTES);

    *report = (tl_memory_report){ .earliest_ns = INT64_MAX };
    tl_status st = tl_source_open(path, &source, err);
    if (st == TL_OK)
        read_all(&t, source, block, &st, err);
    if (report->entries > 0)
        take_state(arg, &t.state);
    tl_source_close(source);
    free(block);
    return st;
}

/* ------------------------------------------------------------------------------------------------------- the format */

static const char *const endings[] = { ".raw.json.gz", ".raw.gz", ".raw.json", NULL };

/* Claims files by their names, unless the text begins as a trace does: with an object, or an array of objects. */
static bool claims(const char *path, tl_text head)
{
    for (int brackets = 0; head.n > 0 && brackets < 2; head.p++, head.n--) {
        if (*head.p == '{')
            return false;
        if (memchr(" \n\r\t", *head.p, 4) == NULL && (*head.p != '[' || brackets++ > 0))
            break;
    }
    return tl_name_has_ending(path, endings);
}

const tl_reader tl_memory_reader = { .name = "memory",
                                     .kind = TL_INPUT_MEMORY,
                                     .endings = endings,
                                     .by_name = true,
                                     .claims = claims,
                                     .reason = "a memory timeline, which holds no events" };
