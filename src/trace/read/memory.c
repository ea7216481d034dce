/* memory.c - reads the profiler's raw memory timeline, one entry at a time. */
#include "tlmpi/trace/read/memory.h"
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/trace/text/json.h"
#include <string.h>

/* Largest length of an entry, bytes: four numbers and white space. */
#define ENTRY_MAX  ((size_t)1 << 10)
#define SHOWN_MOST ((size_t)60) /* of an entry, in a message */

/* The numbers of an entry. */
enum { TIME, ACTION, BYTES, CATEGORY, NNUMBERS };

/* Actions, as the profiler numbers them: existed before, is allocated, changes category, is freed. */
enum { FIRST_ACTION = 1, LAST_ACTION = 4 };

typedef struct timeline {
    void (*take)(void *arg, const tl_memory_state *state);
    void *arg;
    tl_memory_state state; /* sums over the entries so far */
    tl_memory_report *report;
    int64_t number[NNUMBERS]; /* of the current entry */
} timeline;

/* The profiler writes entries in the order of their times. */
static bool check_entry(const timeline *t, tl_elements *e)
{
    const int64_t time = t->number[TIME], action = t->number[ACTION], category = t->number[CATEGORY];

    if (t->report->entries > 0 && time < t->state.time_ns)
        tl_elements_fault(e, "expected a time of %lld or later, as the entry before, found %lld",
                          (long long)t->state.time_ns, (long long)time);
    else if (action < FIRST_ACTION || action > LAST_ACTION)
        tl_elements_fault(e, "expected an action from %d to %d, found %lld", FIRST_ACTION, LAST_ACTION,
                          (long long)action);
    else if (category < 0 || category >= TL_MEMORY_CATEGORIES)
        tl_elements_fault(e, "expected a category of memory from 0 to %d, found %lld", TL_MEMORY_CATEGORIES - 1,
                          (long long)category);
    return e->fault[0] == 0;
}

static void add_entry(timeline *t, tl_elements *e)
{
    const int64_t time = t->number[TIME], bytes = t->number[BYTES], category = t->number[CATEGORY];
    tl_memory_state *s = &t->state;
    int64_t sum, total;

    if (__builtin_add_overflow(s->bytes[category], bytes, &sum) ||
        __builtin_add_overflow(s->bytes[TL_MEMORY_TOTAL], bytes, &total)) {
        tl_elements_fault(e, "more bytes of memory than can be counted");
        return;
    }
    if (t->report->entries > 0 && time != s->time_ns)
        t->take(t->arg, &t->state);
    t->report->entries++;
    s->time_ns = time;
    if (time > 0 && time < t->report->earliest_ns)
        t->report->earliest_ns = time;
    s->bytes[category] = sum;
    s->bytes[TL_MEMORY_TOTAL] = total;
}

/* Takes "[time, action, bytes, category]": whole numbers, not 1.0 or 1e3. */
static void take_entry(tl_elements *e, tl_text entry)
{
    timeline *t = e->arg;
    tl_text rest = tl_json_inside(entry), number;
    size_t n = 0;
    bool whole = *entry.p == '[';

    while (whole && tl_json_element(&rest, &number)) {
        whole = n < NNUMBERS && tl_decimal_to_int(number.p, number.n, &t->number[n < NNUMBERS ? n : 0]);
        for (size_t i = *number.p == '-'; i < number.n; i++)
            whole = whole && tl_is_digit(number.p[i]);
        n++;
    }
    if (!whole || n < NNUMBERS)
        tl_elements_fault(e, "expected [time, action, bytes, category], whole numbers, found %.*s",
                          (int)(entry.n < SHOWN_MOST ? entry.n : SHOWN_MOST), entry.p);
    else if (check_entry(t, e))
        add_entry(t, e);
}

tl_status tl_memory_timeline_read(const char *path, void (*take_state)(void *arg, const tl_memory_state *state),
                                  void *arg, tl_memory_report *report, tl_error *err)
{
    timeline t = { .take = take_state, .arg = arg, .report = report };
    tl_elements e = { .kind = "an entry", .most = ENTRY_MAX, .take = take_entry, .arg = &t };

    *report = (tl_memory_report){ .earliest_ns = INT64_MAX };
    tl_status st = tl_elements_read(&e, path, err);
    report->cut = e.cut;
    if (report->entries > 0)
        take_state(arg, &t.state);
    if (st == TL_OK && e.fault[0] != 0)
        st = tl_fail(err, TL_EINPUT, "%s: %s", path, e.fault);
    tl_elements_free(&e);
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
