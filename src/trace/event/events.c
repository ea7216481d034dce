/* events.c - the columns, and the interpretation of an entry's values. */
#include "tlmpi/trace/event/hook.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/event/values.h"
#include <stdio.h>
#include <stdlib.h>

/* Largest valid time, ns: base + ts + dur cannot overflow. */
#define LARGEST_TIME_NS (INT64_C(1) << 61)

/* ------------------------------------------------------------------------------------------------------ categories */

static const struct {
    const char *word;
    tl_cat cat;
} category_words[] = {
    { "kernel", TL_CAT_KERNEL },
    { "Kernel", TL_CAT_KERNEL },
    { "mtia_ccp_events", TL_CAT_KERNEL },
    { "gpu_memcpy", TL_CAT_MEMCPY },
    { "Memcpy", TL_CAT_MEMCPY },
    { "gpu_memset", TL_CAT_MEMSET },
    { "Memset", TL_CAT_MEMSET },
    { "cuda_sync", TL_CAT_SYNC },
    { "cuda_runtime", TL_CAT_RUNTIME },
    { "Runtime", TL_CAT_RUNTIME },
    { "cuda_driver", TL_CAT_DRIVER },
    { "cpu_op", TL_CAT_CPU_OP },
    { "Operator", TL_CAT_CPU_OP },
    { "user_annotation", TL_CAT_USER_ANNOTATION },
    { "gpu_user_annotation", TL_CAT_GPU_ANNOTATION },
    { "python_function", TL_CAT_PYTHON },
    { "ac2g", TL_CAT_FLOW },
    { "async_cpu_to_gpu", TL_CAT_FLOW },
    { "async_gpu", TL_CAT_FLOW },
    { "fwdbwd", TL_CAT_FWDBWD },
    { "cpu_instant_event", TL_CAT_INSTANT },
    { "overhead", TL_CAT_OVERHEAD },
    { "cuda_profiler_range", TL_CAT_PROFILER_RANGE },
    { "hardware_counters", TL_CAT_SAMPLE },
    { "Trace", TL_CAT_TRACE },
};

tl_cat tl_cat_of(tl_text t)
{
    for (size_t i = 0; i < sizeof category_words / sizeof category_words[0]; i++)
        if (tl_text_is(t, category_words[i].word))
            return category_words[i].cat;
    if (t.n > 8 && memcmp(t.p + t.n - 8, "_runtime", 8) == 0)
        return TL_CAT_RUNTIME;
    if (t.n > 7 && memcmp(t.p + t.n - 7, "_driver", 7) == 0)
        return TL_CAT_DRIVER;
    return TL_CAT_OTHER;
}

uint16_t tl_events_category(tl_events *e, uint32_t text)
{
    uint32_t found = tl_map_get(&e->category_map, text);

    if (found != TL_MAP_NONE)
        return (uint16_t)found;
    if (e->categories.n == UINT16_MAX - 1)
        return UINT16_MAX - 2;
    tl_map_put(&e->category_map, text, (uint32_t)e->categories.n);
    tl_vec_push(&e->categories,
                (tl_category){ text, text == TL_NO_NAME ? TL_CAT_NONE : tl_cat_of(tl_names_text(&e->names, text)) });
    return (uint16_t)(e->categories.n - 1);
}

static uint16_t category_index(tl_events *e, const tl_value *cat)
{
    if (cat == NULL || cat->type != TL_VALUE_STRING)
        return tl_events_category(e, TL_NO_NAME);
    unsigned shape = cat->text.n > 0 ? (unsigned)cat->text.n + (unsigned char)cat->text.p[0] : 0;
    uint16_t *recent = &e->recent_category[shape % TL_RECENT];
    if (*recent < e->categories.n && e->categories.v[*recent].text != TL_NO_NAME) {
        tl_text text = tl_names_text(&e->names, e->categories.v[*recent].text);
        if (text.n == cat->text.n && memcmp(text.p, cat->text.p, text.n) == 0)
            return *recent;
    }
    return *recent = tl_events_category(e, tl_value_keep(e, cat->text, TL_TEXT_MAX));
}

/* ---------------------------------------------------------------------------------------------------------- values */

/* Reads a pid or tid: a number, or a text. */
static void read_track_part(tl_events *e, const tl_value *v, int64_t *number, uint32_t *text)
{
    *text = TL_NO_NAME;
    *number = v != NULL && v->type == TL_VALUE_NUMBER ? tl_value_int(v, 0) : 0;
    if (v != NULL && v->type == TL_VALUE_STRING)
        *text = tl_value_keep(e, v->text, TL_TEXT_MAX);
}

static bool same_track(const tl_track *t, const tl_track *u)
{
    return u->pid == t->pid && u->tid == t->tid && u->pid_text == t->pid_text && u->tid_text == t->tid_text;
}

/* On a hash collision the next key is tried. */
uint32_t tl_events_track(tl_events *e, const tl_track *t)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(t->pid_text, (uint64_t)t->pid), tl_hash_mix(t->tid_text, (uint64_t)t->tid));
    for (;; key++) {
        uint32_t i = tl_map_get(&e->track_map, key);
        if (i == TL_MAP_NONE) {
            tl_map_put(&e->track_map, key, (uint32_t)e->tracks.n);
            tl_vec_push(&e->tracks, *t);
            return (uint32_t)e->tracks.n - 1;
        }
        if (same_track(&e->tracks.v[i], t))
            return i;
    }
}

static uint32_t track_index(tl_events *e, const tl_fields *f)
{
    tl_track t;
    read_track_part(e, tl_fields_get(f, TL_KEY_PID), &t.pid, &t.pid_text);
    read_track_part(e, tl_fields_get(f, TL_KEY_TID), &t.tid, &t.tid_text);
    uint32_t *recent = &e->recent_track[((uint64_t)t.tid ^ t.tid_text) % TL_RECENT];
    if (*recent >= e->tracks.n || !same_track(&e->tracks.v[*recent], &t))
        *recent = tl_events_track(e, &t);
    return *recent;
}

static bool same_lane(const tl_lane *l, const tl_lane *m)
{
    return l->device == m->device && l->stream == m->stream;
}

uint32_t tl_events_lane(tl_events *e, const tl_lane *l)
{
    uint64_t key = tl_hash_mix((uint64_t)l->device, (uint64_t)l->stream);
    for (;; key++) {
        uint32_t i = tl_map_get(&e->lane_map, key);
        if (i == TL_MAP_NONE) {
            tl_map_put(&e->lane_map, key, (uint32_t)e->lanes.n);
            tl_vec_push(&e->lanes, *l);
            return (uint32_t)e->lanes.n - 1;
        }
        if (same_lane(&e->lanes.v[i], l))
            return i;
    }
}

static uint32_t lane_index(tl_events *e, const tl_fields *f)
{
    tl_lane l = { tl_value_int(tl_fields_get(f, TL_KEY_DEVICE), TL_LANE_ABSENT),
                  tl_value_int(tl_fields_get(f, TL_KEY_STREAM), TL_LANE_ABSENT) };
    l.stream = tl_value_int(tl_fields_get(f, TL_KEY_ORIGINAL_STREAM), l.stream);
    uint32_t *recent = &e->recent_lane[(uint64_t)l.stream % TL_RECENT];
    if (*recent >= e->lanes.n || !same_lane(&e->lanes.v[*recent], &l))
        *recent = tl_events_lane(e, &l);
    return *recent;
}

static bool same_class(const tl_event_class *o, const tl_event_class *p)
{
    return o->track == p->track && o->lane == p->lane && o->category == p->category;
}

uint32_t tl_events_class(tl_events *e, tl_event_class o)
{
    uint32_t *recent = &e->recent_class[(o.track ^ o.lane << 2 ^ (uint32_t)o.category << 3) % TL_RECENT_CLASSES];
    if (*recent < e->classes.n && same_class(&e->classes.v[*recent], &o))
        return *recent;
    uint64_t key = tl_hash_mix((uint64_t)o.track << 32 | o.lane, o.category);
    while ((*recent = tl_map_get(&e->class_map, key)) != TL_MAP_NONE && !same_class(&e->classes.v[*recent], &o))
        key++;
    if (*recent == TL_MAP_NONE) {
        tl_map_put(&e->class_map, key, *recent = (uint32_t)e->classes.n);
        o.cat = (uint8_t)e->categories.v[o.category].cat;
        tl_vec_push(&e->classes, o);
    }
    return *recent;
}

/* --------------------------------------------------------------------------------------------------------- columns */

/* Returns the index in `wide` of the first entry that is not before event i. */
static size_t wide_at(const tl_narrow *column, size_t i)
{
    size_t at = column->wide.n;
    if (at == 0 || column->wide.v[at - 1].event < i)
        return at;
    at = 0;
    TL_BISECT(at, column->wide.n, mid, column->wide.v[mid].event < i);
    return at;
}

int64_t tl_narrow_get_wide(const tl_narrow *column, size_t i)
{
    return column->wide.v[wide_at(column, i)].number;
}

int tl_narrow_compare_wide(const tl_narrow *column, size_t a, size_t b)
{
    return TL_COMPARE(tl_narrow_get(column, a), tl_narrow_get(column, b));
}

void tl_narrow_set_wide(tl_narrow *column, size_t i, int64_t x)
{
    const size_t at = wide_at(column, i);
    if (at == column->wide.n || column->wide.v[at].event != i) {
        tl_vec_room(&column->wide);
        memmove(column->wide.v + at + 1, column->wide.v + at, (column->wide.n++ - at) * sizeof *column->wide.v);
    }
    column->wide.v[at].event = (uint32_t)i;
    column->wide.v[at].number = x;
}

/* The columns grow together; cap: their common capacity. */
void tl_events_reserve(tl_events *e, size_t n)
{
    if (n <= e->cap)
        return;
    size_t cap = e->cap < 1024 ? 1024 : e->cap + e->cap / 2;
    cap = cap < n ? n : cap;
    tl_mem_indexable(cap);
    e->ts_ns = tl_realloc(e->ts_ns, cap * sizeof *e->ts_ns);
    e->dur_ns.v = tl_realloc(e->dur_ns.v, cap * sizeof *e->dur_ns.v);
    e->corr.v = tl_realloc(e->corr.v, cap * sizeof *e->corr.v);
    e->name = tl_realloc(e->name, cap * sizeof *e->name);
    e->class = tl_realloc(e->class, cap * sizeof *e->class);
    e->uid = tl_realloc(e->uid, cap * sizeof *e->uid);
    e->flags = tl_realloc(e->flags, cap * sizeof *e->flags);
    e->cap = cap;
}

size_t tl_events_bytes(const tl_events *e)
{
    const size_t row = sizeof *e->ts_ns + sizeof *e->dur_ns.v + sizeof *e->corr.v + sizeof *e->name + sizeof *e->class +
                       sizeof *e->uid + sizeof *e->flags;
    return e->cap * row + (e->dur_ns.wide.cap + e->corr.wide.cap) * sizeof *e->corr.wide.v + e->names.bytes_cap +
           e->names.cap * sizeof *e->names.v;
}

/* Reads a time; false: absent or invalid. */
static bool time_of(const tl_value *v, int64_t *ns)
{
    return v != NULL && v->type != TL_VALUE_OTHER && tl_value_us_to_ns(v, ns) && *ns <= LARGEST_TIME_NS &&
           *ns >= -LARGEST_TIME_NS;
}

static unsigned phase_of(const tl_value *ph)
{
    if (ph == NULL || tl_text_is(ph->text, "X"))
        return TL_EVENT_PH_X;
    return tl_text_is(ph->text, "s") ? TL_EVENT_PH_START : tl_text_is(ph->text, "f") ? TL_EVENT_PH_END : 0;
}

/* Begin and duration of an event. */
typedef struct timing {
    int64_t ts_ns, dur_ns;
    unsigned flags;
} timing;

/* complete: the event's ph says that it has a ts and a dur. */
static tl_taken take_times(const tl_value *ts, const tl_value *dur, bool complete, timing *t, const char **why)
{
    if (ts == NULL || ts->type == TL_VALUE_OTHER) {
        if (complete) {
            *why = "expected a ts";
            return TL_TAKEN_BAD;
        }
    } else if (!time_of(ts, &t->ts_ns)) {
        *why = "expected ts in microseconds, found something that is no time";
        return TL_TAKEN_BAD;
    } else {
        t->flags |= TL_EVENT_HAS_TS;
    }
    if (dur != NULL && dur->type != TL_VALUE_OTHER) {
        if (!time_of(dur, &t->dur_ns)) {
            *why = "expected dur in microseconds, found something that is no time";
            return TL_TAKEN_BAD;
        }
        t->flags |= TL_EVENT_HAS_DUR;
    }
    if (t->dur_ns < 0) {
        *why = "expected a dur of 0 or more, took 0";
        t->dur_ns = 0;
        return TL_TAKEN_UNTIMED;
    }
    if (complete && !(t->flags & TL_EVENT_HAS_DUR)) {
        *why = "expected a dur, took 0";
        return TL_TAKEN_UNTIMED;
    }
    return TL_TAKEN_KEPT;
}

/* Returns the event's name.  A copy with a name of one word and its direction in an argument is named as in Kineto:
 * "Memcpy HtoD". */
static uint32_t name_of(tl_events *e, const tl_fields *f)
{
    const tl_value *name = tl_fields_get(f, TL_KEY_NAME), *direction = tl_fields_get(f, TL_KEY_COPY_KIND);
    char both[64];

    if (direction == NULL || name == NULL || tl_text_has(name->text, " ") ||
        name->text.n + direction->text.n + 1 >= sizeof both)
        return tl_value_name(e, name);
    int n = snprintf(both, sizeof both, "%.*s %.*s", (int)name->text.n, name->text.p, (int)direction->text.n,
                     direction->text.p);
    return tl_value_keep(e, (tl_text){ both, (size_t)n }, TL_TEXT_MAX);
}

/* Adds the event to the columns. */
static void add_event(tl_events *e, const tl_entry_hook *hook, const tl_fields *f, uint32_t uid, uint16_t category,
                      const timing *t)
{
    if (e->n == e->cap)
        tl_events_reserve(e, e->n + 1);
    size_t i = e->n;
    const tl_value *corr = tl_fields_get(f, TL_KEY_CORRELATION);
    if (corr == NULL && (t->flags & (TL_EVENT_PH_START | TL_EVENT_PH_END)))
        corr = tl_fields_get(f, TL_KEY_ID);
    int64_t correlation = tl_value_int(corr, INT64_MIN);
    bool has_corr = correlation != INT64_MIN;

    e->ts_ns[i] = t->ts_ns;
    tl_narrow_set(&e->dur_ns, i, t->dur_ns);
    e->name[i] = name_of(e, f);
    const uint32_t track = track_index(e, f);
    e->class[i] = tl_events_class(e, (tl_event_class){ track, lane_index(e, f), category, 0 });
    e->uid[i] = uid;
    tl_narrow_set(&e->corr, i, has_corr ? correlation : -1);
    e->flags[i] = (uint8_t)(t->flags | (has_corr ? TL_EVENT_HAS_CORR : 0));
    if (hook != NULL)
        hook->keep(hook->arg, e, f, (uint32_t)i);
    tl_events_take_side(e, f, (uint32_t)i);
    e->n++;
}

#define HOST_WORK                                                                                                      \
    (TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_RUNTIME) |                     \
     TL_CAT_BIT(TL_CAT_DRIVER))

/* Returns what is wrong with an event of that category whose ph is not X; NULL: nothing. */
static const char *wrong_phase(uint32_t of_category, const tl_value *ph)
{
    if (of_category & (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC)))
        return "expected device work as one complete event (ph X), found another ph";
    if ((of_category & HOST_WORK) && (tl_text_is(ph->text, "B") || tl_text_is(ph->text, "E")))
        return "expected what the host does as one complete event (ph X), found a beginning or an end (ph B, E)";
    return NULL;
}

tl_taken tl_events_take(tl_events *e, const tl_take_options *options, const tl_fields *f, uint32_t uid,
                        bool *fractional, const char **why)
{
    const tl_value *ts = tl_fields_get(f, TL_KEY_TS), *ph = tl_fields_get(f, TL_KEY_PH);
    uint16_t category = category_index(e, tl_fields_get(f, TL_KEY_CAT));
    uint64_t ncut = e->ncut;

    uint32_t of_category = TL_CAT_BIT(e->categories.v[category].cat);
    if ((options->keep & of_category) == 0)
        return TL_TAKEN_FILTERED;
    if (!*fractional)
        *fractional = ts == NULL || (ts->type == TL_VALUE_NUMBER && tl_value_has_fraction(ts));

    timing t = { .flags = phase_of(ph) };
    bool complete = ph != NULL && t.flags == TL_EVENT_PH_X, any_ph = options->hook != NULL && options->hook->any_ph;
    if (ph != NULL && !complete && !any_ph && (*why = wrong_phase(of_category, ph)) != NULL)
        return TL_TAKEN_BAD;
    tl_taken taken = take_times(ts, tl_fields_get(f, TL_KEY_DUR), complete, &t, why);
    if (taken == TL_TAKEN_BAD)
        return taken;
    if ((of_category & TL_CAT_GPU_WORK) && t.ts_ns == 0 && t.dur_ns == 0 && !any_ph)
        t.flags &= ~TL_EVENT_HAS_TS; /* CUPTI and Kineto write 0 where device work was not measured */
    add_event(e, options->hook, f, uid, category, &t);
    if (e->ncut > ncut && taken == TL_TAKEN_KEPT) {
        *why = "expected a text of 64 KiB at most, cut a longer one";
        taken = TL_TAKEN_REPAIRED;
    }
    return taken;
}

/* Drops the entries of a side table for events from index n on.  Each entry begins with the index of its event. */
static void truncate_side(const void *table, size_t *ntable, size_t size, size_t n)
{
    uint32_t event;
    for (; *ntable > 0; --*ntable) {
        memcpy(&event, (const char *)table + (*ntable - 1) * size, sizeof event);
        if (event < n)
            return;
    }
}

bool tl_events_extent(const tl_events *e, int64_t *begin_ns, int64_t *end_ns)
{
    const uint32_t instants = TL_CAT_BIT(TL_CAT_INSTANT) | TL_CAT_BIT(TL_CAT_PROFILER_RANGE);
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;

    *begin_ns = INT64_MAX;
    *end_ns = INT64_MIN;
    for (size_t i = 0; i < e->n; i++) {
        if ((TL_CAT_BIT(tl_event_cat(e, i)) & instants) || (e->flags[i] & span) != span)
            continue;
        *begin_ns = e->ts_ns[i] < *begin_ns ? e->ts_ns[i] : *begin_ns;
        const int64_t stop_ns = e->ts_ns[i] + tl_event_dur_ns(e, i);
        *end_ns = stop_ns > *end_ns ? stop_ns : *end_ns;
    }
    return *begin_ns <= *end_ns;
}

void tl_events_truncate(tl_events *e, size_t n)
{
    e->n = n;
    truncate_side(e->dur_ns.wide.v, &e->dur_ns.wide.n, sizeof *e->dur_ns.wide.v, n);
    truncate_side(e->corr.wide.v, &e->corr.wide.n, sizeof *e->corr.wide.v, n);
#define TRUNCATE(side) truncate_side(e->side.v, &e->side.n, sizeof *e->side.v, n);
    TL_EVENT_SIDES(TRUNCATE)
}

void tl_events_free_columns(tl_events *e)
{
    void *columns[] = { e->ts_ns,        e->dur_ns.v, e->dur_ns.wide.v, e->corr.v,    e->corr.wide.v, e->name,
                        e->class,        e->uid,      e->flags,         e->classes.v, e->tracks.v,    e->lanes.v,
                        e->categories.v, e->copies.v, e->colls.v,       e->waits.v,   e->grids.v,     e->counters.v,
                        e->memory.v,     e->shapes.v, e->windows.v };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        free(columns[i]);
    tl_map_free(&e->class_map);
    tl_map_free(&e->track_map);
    tl_map_free(&e->lane_map);
    tl_map_free(&e->category_map);
    *e = (tl_events){ .names = e->names };
}

void tl_events_free(tl_events *e)
{
    tl_events_free_columns(e);
    tl_names_free(&e->names);
}
