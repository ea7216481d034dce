/* events.c - the columns, and the one place that decides what an entry's values mean. */
#include "take.h"
#include "tlmpi/base/decimal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Times beyond this are no times: base + ts + dur then never overflows. */
#define LARGEST_TIME_NS (INT64_C(1) << 61)

/* What is kept of a text, and of one that lists a number a rank: names of kernels reach some 10 KB, the ranks of a group of
 * 100,000 fit.  Memory then grows with the events, not with what somebody has written into them. */
#define TEXT_MAX ((size_t)64 << 10)
#define LIST_MAX ((size_t)1 << 20)

/* ------------------------------------------------------------------------------------------------------- texts */

/* The beginning of a text, and behind it the hash of the whole, so that different texts stay different. */
static uint32_t keep_beginning(tl_events *e, tl_text t, size_t most)
{
    size_t room = most + 32;
    char *cut = tl_malloc(room);

    e->ncut++;
    if (cut == NULL)
        return TL_NO_NAME;
    while (most > 0 && ((unsigned char)t.p[most] & 0xc0) == 0x80)       /* not inside a character */
        most--;
    memcpy(cut, t.p, most);
    int behind = snprintf(cut + most, room - most, "\xE2\x80\xA6%016llx", (unsigned long long)tl_hash_bytes(t.p, t.n));
    uint32_t id = tl_names_intern(&e->names, cut, most + (size_t)behind);
    free(cut);
    return id;
}

static uint32_t keep_text(tl_events *e, tl_text t, size_t most)
{
    uint32_t id = t.n <= most ? tl_names_intern(&e->names, t.p, t.n) : keep_beginning(e, t, most);
    e->no_memory |= id == TL_NO_NAME;
    return id;
}

/* -------------------------------------------------------------------------------------------------- categories */

static const struct {
    const char *word;
    tl_cat cat;
} category_words[] = {
    { "kernel", TL_CAT_KERNEL },            { "Kernel", TL_CAT_KERNEL },
    { "mtia_ccp_events", TL_CAT_KERNEL },   { "gpu_memcpy", TL_CAT_MEMCPY },
    { "Memcpy", TL_CAT_MEMCPY },            { "gpu_memset", TL_CAT_MEMSET },
    { "Memset", TL_CAT_MEMSET },            { "cuda_sync", TL_CAT_SYNC },
    { "cuda_runtime", TL_CAT_RUNTIME },     { "Runtime", TL_CAT_RUNTIME },
    { "cuda_driver", TL_CAT_DRIVER },       { "cpu_op", TL_CAT_CPU_OP },
    { "Operator", TL_CAT_CPU_OP },          { "user_annotation", TL_CAT_USER_ANNOTATION },
    { "gpu_user_annotation", TL_CAT_GPU_ANNOTATION },
    { "python_function", TL_CAT_PYTHON },   { "ac2g", TL_CAT_FLOW },
    { "async_cpu_to_gpu", TL_CAT_FLOW },    { "async_gpu", TL_CAT_FLOW },
    { "fwdbwd", TL_CAT_FWDBWD },            { "cpu_instant_event", TL_CAT_INSTANT },
    { "overhead", TL_CAT_OVERHEAD },        { "cuda_profiler_range", TL_CAT_PROFILER_RANGE },
    { "Trace", TL_CAT_TRACE },
};

static tl_cat cat_of(tl_text t)
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

/* Only spellings that are known: whatever else is written is read whole. */
void tl_events_filter(const tl_read_options *options, tl_filter *filter)
{
    *filter = (tl_filter){ .n = 0 };
    for (size_t i = 0; i < sizeof category_words / sizeof category_words[0]; i++) {
        tl_text word = { category_words[i].word, strlen(category_words[i].word) };
        if (options->keep & TL_CAT_BIT(category_words[i].cat) ||
            filter->n == sizeof filter->unwanted / sizeof filter->unwanted[0])
            continue;
        filter->unwanted[filter->n++] = word;
        filter->shapes |= UINT64_C(1) << tl_filter_shape(word);
    }
}

uint16_t tl_events_category(tl_events *e, uint32_t text)
{
    uint32_t found = tl_map_get(&e->category_map, text);

    if (found != TL_MAP_NONE)
        return (uint16_t)found;
    if (e->categories.n == UINT16_MAX - 1)
        return UINT16_MAX - 2;
    if (!tl_vec_room(&e->categories) || tl_map_put(&e->category_map, text, (uint32_t)e->categories.n) != 0)
        return UINT16_MAX;
    e->categories.v[e->categories.n] = (tl_category){ text, text == TL_NO_NAME ? TL_CAT_NONE
                                                                              : cat_of(tl_names_text(&e->names, text)) };
    return (uint16_t)e->categories.n++;
}

static uint16_t category_index(tl_events *e, const tl_value *cat)
{
    if (cat == NULL || cat->type != TL_VALUE_STRING)
        return tl_events_category(e, TL_NO_NAME);
    uint16_t *recent = &e->recent_category[tl_filter_shape(cat->text) % TL_RECENT];
    if (*recent < e->categories.n && e->categories.v[*recent].text != TL_NO_NAME) {
        tl_text text = tl_names_text(&e->names, e->categories.v[*recent].text);
        if (text.n == cat->text.n && memcmp(text.p, cat->text.p, text.n) == 0)
            return *recent;
    }
    uint32_t text = keep_text(e, cat->text, TEXT_MAX);
    uint16_t found = text != TL_NO_NAME ? tl_events_category(e, text) : UINT16_MAX;
    *recent = found;
    return found;
}

/* ------------------------------------------------------------------------------------------------------ values */

/* An integer written as a number or as a text; `absent` where there is none. */
static int64_t int_of(const tl_value *v, int64_t absent)
{
    int64_t x;
    return v != NULL && tl_decimal_to_int(v->text.p, v->text.n, &x) ? x : absent;
}

/* The text of a string or number; TL_NO_NAME where there is none or memory is out. */
static uint32_t name_of(tl_events *e, const tl_value *v)
{
    return v == NULL || v->type == TL_VALUE_OTHER ? TL_NO_NAME : keep_text(e, v->text, TEXT_MAX);
}

static uint32_t list_of(tl_events *e, const tl_value *v)
{
    return v == NULL || v->type == TL_VALUE_OTHER ? TL_NO_NAME : keep_text(e, v->text, LIST_MAX);
}

static double raw_of(const tl_value *v)
{
    double x;
    return v != NULL && tl_decimal_to_double(v->text.p, v->text.n, &x) ? x : NAN;
}

static inline bool has_fraction(tl_text t)
{
    return memchr(t.p, '.', t.n) != NULL || memchr(t.p, 'e', t.n) != NULL || memchr(t.p, 'E', t.n) != NULL;
}

/* A pid or tid: a number, or a text. */
static void track_part(tl_events *e, const tl_value *v, int64_t *number, uint32_t *text)
{
    *text = TL_NO_NAME;
    *number = v != NULL && v->type == TL_VALUE_NUMBER ? int_of(v, 0) : 0;
    if (v != NULL && v->type == TL_VALUE_STRING)
        *text = keep_text(e, v->text, TEXT_MAX);
}

static bool same_track(const tl_track *t, const tl_track *u)
{
    return u->pid == t->pid && u->tid == t->tid && u->pid_text == t->pid_text && u->tid_text == t->tid_text;
}

/* Different pairs of equal hash are told apart by going on to the next key. */
uint32_t tl_events_track(tl_events *e, const tl_track *t)
{
    uint64_t key = tl_hash_mix(tl_hash_mix(t->pid_text, (uint64_t)t->pid), tl_hash_mix(t->tid_text, (uint64_t)t->tid));
    for (;; key++) {
        uint32_t i = tl_map_get(&e->track_map, key);
        if (i == TL_MAP_NONE) {
            if (!tl_vec_room(&e->tracks) || tl_map_put(&e->track_map, key, (uint32_t)e->tracks.n) != 0)
                return TL_MAP_NONE;
            e->tracks.v[e->tracks.n] = *t;
            return (uint32_t)e->tracks.n++;
        }
        if (same_track(&e->tracks.v[i], t))
            return i;
    }
}

static uint32_t track_index(tl_events *e, const tl_fields *f)
{
    tl_track t;
    track_part(e, tl_fields_get(f, TL_KEY_PID), &t.pid, &t.pid_text);
    track_part(e, tl_fields_get(f, TL_KEY_TID), &t.tid, &t.tid_text);
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
            if (!tl_vec_room(&e->lanes) || tl_map_put(&e->lane_map, key, (uint32_t)e->lanes.n) != 0)
                return TL_MAP_NONE;
            e->lanes.v[e->lanes.n] = *l;
            return (uint32_t)e->lanes.n++;
        }
        if (same_lane(&e->lanes.v[i], l))
            return i;
    }
}

static uint32_t lane_index(tl_events *e, const tl_fields *f)
{
    tl_lane l = { int_of(tl_fields_get(f, TL_KEY_DEVICE), TL_LANE_ABSENT),
                  int_of(tl_fields_get(f, TL_KEY_STREAM), TL_LANE_ABSENT) };
    uint32_t *recent = &e->recent_lane[(uint64_t)l.stream % TL_RECENT];
    if (*recent >= e->lanes.n || !same_lane(&e->lanes.v[*recent], &l))
        *recent = tl_events_lane(e, &l);
    return *recent;
}

/* ----------------------------------------------------------------------------------------------------- columns */

static bool grow_column(void *column, size_t cap, size_t need, size_t size)
{
    size_t c = cap;
    return tl_grow((void **)column, &c, need, size);
}

/* The columns grow together: cap is their common capacity, and it is raised only when all have it. */
bool tl_events_reserve(tl_events *e, size_t n, bool raw, bool more)
{
    if (n <= e->cap)
        return true;
    size_t need = e->cap < 1024 ? 1024 : e->cap + e->cap / 2;
    need = need < n ? n : need;
    if (need >= UINT32_MAX)
        return false;
    if (!grow_column(&e->ts_ns, e->cap, need, sizeof *e->ts_ns) ||
        !grow_column(&e->dur_ns, e->cap, need, sizeof *e->dur_ns) ||
        !grow_column(&e->corr, e->cap, need, sizeof *e->corr) || !grow_column(&e->name, e->cap, need, sizeof *e->name) ||
        !grow_column(&e->track, e->cap, need, sizeof *e->track) ||
        !grow_column(&e->lane, e->cap, need, sizeof *e->lane) || !grow_column(&e->uid, e->cap, need, sizeof *e->uid) ||
        !grow_column(&e->category, e->cap, need, sizeof *e->category) ||
        !grow_column(&e->flags, e->cap, need, sizeof *e->flags) ||
        (raw && (!grow_column(&e->raw_ts, e->cap, need, sizeof *e->raw_ts) ||
                 !grow_column(&e->raw_dur, e->cap, need, sizeof *e->raw_dur))) ||
        (more && !grow_column(&e->more, e->cap, need, sizeof *e->more)))
        return false;
    e->cap = need;
    return true;
}

#define BIT(key) (UINT64_C(1) << (key))
#define COPY_KEYS (BIT(TL_KEY_BYTES) | BIT(TL_KEY_BANDWIDTH))
#define WAIT_KEYS (BIT(TL_KEY_WAIT_ON_STREAM) | BIT(TL_KEY_WAIT_ON_CORR))
#define COLL_KEYS                                                                                                      \
    (BIT(TL_KEY_COLL_NAME) | BIT(TL_KEY_IN_NELEMS) | BIT(TL_KEY_OUT_NELEMS) | BIT(TL_KEY_GROUP_SIZE) |                 \
     BIT(TL_KEY_PG_NAME) | BIT(TL_KEY_PG_RANKS) | BIT(TL_KEY_SEQ) | BIT(TL_KEY_SRC_RANK) | BIT(TL_KEY_DST_RANK))

/* The direction of a copy; kernels have a kind, too, but no number. */
static int32_t copy_kind_of(const tl_fields *f)
{
    int64_t kind = int_of(tl_fields_get(f, TL_KEY_KIND), -1);
    return kind >= 0 && kind <= INT8_MAX ? (int32_t)kind : -1;
}

/* The product of a list of numbers above 0; 0 where it is none. */
static uint32_t product_of(tl_text list)
{
    uint64_t product = 1, number = 0;
    bool digits = false, any = false;

    if (list.n < 2 || list.p[0] != '[')
        return 0;
    for (size_t i = 1; i < list.n; i++) {
        char c = list.p[i];
        if (c >= '0' && c <= '9') {
            number = 10 * number + (uint64_t)(c - '0');
            number = number < UINT32_MAX ? number : UINT32_MAX;
            digits = any = true;
        } else if (c == ',' || c == ']') {
            if (!digits)
                return 0;
            product *= number;
            product = product < UINT32_MAX ? product : UINT32_MAX;
            number = 0;
            digits = false;
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            return 0;
        }
    }
    return any ? (uint32_t)product : 0;
}

/* The rare arguments, to their side tables. */
static bool take_side(tl_events *e, const tl_fields *f, uint32_t event)
{
    if (f->seen & BIT(TL_KEY_GRID)) {
        uint32_t blocks = product_of(f->value[TL_KEY_GRID].text);
        if (blocks > 0) {
            if (!tl_vec_room(&e->grids))
                return false;
            e->grids.v[e->grids.n++] = (tl_grid_args){ event, blocks };
        }
    }
    int32_t kind = f->seen & BIT(TL_KEY_KIND) ? copy_kind_of(f) : -1;
    if (f->seen & COPY_KEYS || kind >= 0) {
        if (!tl_vec_room(&e->copies))
            return false;
        e->copies.v[e->copies.n++] = (tl_copy_args){ event, kind, int_of(tl_fields_get(f, TL_KEY_BYTES), -1),
                                                     raw_of(tl_fields_get(f, TL_KEY_BANDWIDTH)) };
    }
    if (f->seen & WAIT_KEYS) {
        if (!tl_vec_room(&e->waits))
            return false;
        e->waits.v[e->waits.n++] = (tl_wait_args){ event, int_of(tl_fields_get(f, TL_KEY_WAIT_ON_STREAM), -1),
                                                   int_of(tl_fields_get(f, TL_KEY_WAIT_ON_CORR), -1) };
    }
    if (f->seen & COLL_KEYS) {
        if (!tl_vec_room(&e->colls))
            return false;
        e->colls.v[e->colls.n++] = (tl_coll_args){
            .event = event,
            .name = name_of(e, tl_fields_get(f, TL_KEY_COLL_NAME)),
            .dtype = name_of(e, tl_fields_get(f, TL_KEY_DTYPE)),
            .pg_name = name_of(e, tl_fields_get(f, TL_KEY_PG_NAME)),
            .pg_desc = name_of(e, tl_fields_get(f, TL_KEY_PG_DESC)),
            .pg_ranks = list_of(e, tl_fields_get(f, TL_KEY_PG_RANKS)),
            .in_split = list_of(e, tl_fields_get(f, TL_KEY_IN_SPLIT)),
            .out_split = list_of(e, tl_fields_get(f, TL_KEY_OUT_SPLIT)),
            .in_nelems = int_of(tl_fields_get(f, TL_KEY_IN_NELEMS), -1),
            .out_nelems = int_of(tl_fields_get(f, TL_KEY_OUT_NELEMS), -1),
            .group_size = int_of(tl_fields_get(f, TL_KEY_GROUP_SIZE), -1),
            .seq = int_of(tl_fields_get(f, TL_KEY_SEQ), -1),
            .src_rank = int_of(tl_fields_get(f, TL_KEY_SRC_RANK), -1),
            .dst_rank = int_of(tl_fields_get(f, TL_KEY_DST_RANK), -1),
            .rank_start = int_of(tl_fields_get(f, TL_KEY_RANK_START), -1),
            .rank_stride = int_of(tl_fields_get(f, TL_KEY_RANK_STRIDE), -1),
        };
    }
    return true;
}

static tl_ref ref_of(tl_events *e, const tl_value *v)
{
    int64_t x;

    if (v == NULL || v->type == TL_VALUE_OTHER)
        return TL_REF_NONE;
    bool number = v->type == TL_VALUE_NUMBER;
    if (number && tl_decimal_to_int(v->text.p, v->text.n, &x) && x < TL_REF_NUMBER && x > -TL_REF_NUMBER)
        return x;
    uint32_t text = keep_text(e, v->text, TEXT_MAX);
    return text != TL_NO_NAME ? TL_REF_TEXT | (number ? TL_REF_NUMBER : 0) | text : TL_REF_NONE;
}

/* The value as JSON or a string's text; TL_NO_NAME where it is a bare word or absent. */
static uint32_t json_of(tl_events *e, const tl_value *v)
{
    return v == NULL || (v->type == TL_VALUE_OTHER && v->text.n == 0) ? TL_NO_NAME
                                                                      : keep_text(e, v->text, LIST_MAX);
}

static bool is_there(const tl_fields *f, tl_key key)
{
    const tl_value *v = tl_fields_get(f, key);
    return v != NULL && v->type != TL_VALUE_OTHER;
}

static bool is_whole(const tl_fields *f, tl_key key)
{
    const tl_value *v = tl_fields_get(f, key);
    return v != NULL && v->type == TL_VALUE_NUMBER && !has_fraction(v->text);
}

static tl_more more_of(tl_events *e, const tl_fields *f)
{
    return (tl_more){
        .correlation = ref_of(e, tl_fields_get(f, TL_KEY_CORRELATION)),
        .external_id = ref_of(e, tl_fields_get(f, TL_KEY_EXTERNAL_ID)),
        .id = ref_of(e, tl_fields_get(f, TL_KEY_ID)),
        .kind = name_of(e, tl_fields_get(f, TL_KEY_KIND)),
        .labels = json_of(e, tl_fields_get(f, TL_KEY_LABELS)),
        .input_dims = json_of(e, tl_fields_get(f, TL_KEY_INPUT_DIMS)),
        .input_strides = json_of(e, tl_fields_get(f, TL_KEY_INPUT_STRIDES)),
        .concrete_inputs = json_of(e, tl_fields_get(f, TL_KEY_CONCRETE_INPUTS)),
        .has = (f->seen & BIT(TL_KEY_ARGS) ? TL_MORE_ARGS : 0) | (is_there(f, TL_KEY_PH) ? TL_MORE_PH : 0) |
               (is_there(f, TL_KEY_PID) ? TL_MORE_PID : 0) | (is_there(f, TL_KEY_TID) ? TL_MORE_TID : 0) |
               (f->seen & BIT(TL_KEY_CORRELATION) ? TL_MORE_CORRELATION : 0) |
               (is_whole(f, TL_KEY_TS) ? TL_MORE_WHOLE_TS : 0) | (is_whole(f, TL_KEY_DUR) ? TL_MORE_WHOLE_DUR : 0),
    };
}

/* Reads a time; true when it is there and can be one. */
static bool time_of(const tl_value *v, int64_t *ns)
{
    return v != NULL && v->type != TL_VALUE_OTHER && tl_decimal_us_to_ns(v->text.p, v->text.n, ns) &&
           *ns <= LARGEST_TIME_NS && *ns >= -LARGEST_TIME_NS;
}

tl_taken tl_events_take(tl_events *e, const tl_read_options *options, const tl_fields *f, uint32_t uid, bool *fractional,
                        const char **why)
{
    const tl_value *ts = tl_fields_get(f, TL_KEY_TS), *dur = tl_fields_get(f, TL_KEY_DUR);
    const tl_value *ph = tl_fields_get(f, TL_KEY_PH), *name = tl_fields_get(f, TL_KEY_NAME);
    tl_taken taken = TL_TAKEN_KEPT;
    unsigned flags = 0;
    int64_t ts_ns = 0, dur_ns = 0;
    uint64_t ncut = e->ncut;

    uint16_t category = category_index(e, tl_fields_get(f, TL_KEY_CAT));
    if (category == UINT16_MAX)
        return TL_TAKEN_NO_MEMORY;
    if ((options->keep & TL_CAT_BIT(e->categories.v[category].cat)) == 0)
        return TL_TAKEN_FILTERED;
    if (!*fractional)
        *fractional = ts == NULL || (ts->type == TL_VALUE_NUMBER && has_fraction(ts->text));

    bool x = ph != NULL && tl_text_is(ph->text, "X");
    /* Other tools take what comes, and have their tables made of that. */
    if (ph != NULL && !x && !options->raw && TL_CAT_BIT(e->categories.v[category].cat) & (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC))) {
        *why = "expected device work as one complete event (ph X), found another ph";
        return TL_TAKEN_BAD;
    }
    if (ph == NULL || x)
        flags |= TL_EVENT_PH_X;
    else if (tl_text_is(ph->text, "s"))
        flags |= TL_EVENT_PH_START;
    else if (tl_text_is(ph->text, "f"))
        flags |= TL_EVENT_PH_END;

    if (ts == NULL || ts->type == TL_VALUE_OTHER) {
        if (x) {
            *why = "expected a ts";
            return TL_TAKEN_BAD;
        }
    } else if (!time_of(ts, &ts_ns)) {
        *why = "expected ts in microseconds, found something that is no time";
        return TL_TAKEN_BAD;
    } else {
        flags |= TL_EVENT_HAS_TS;
    }
    if (dur != NULL && dur->type != TL_VALUE_OTHER) {
        if (!time_of(dur, &dur_ns)) {
            *why = "expected dur in microseconds, found something that is no time";
            return TL_TAKEN_BAD;
        }
        flags |= TL_EVENT_HAS_DUR;
    }
    if (dur_ns < 0) {
        *why = "expected a dur of 0 or more, took 0";
        dur_ns = 0;
        taken = TL_TAKEN_REPAIRED;
    } else if (x && !(flags & TL_EVENT_HAS_DUR)) {
        *why = "expected a dur, took 0";
        taken = TL_TAKEN_REPAIRED;
    }

    if (e->n == e->cap && !tl_events_reserve(e, e->n + 1, options->raw, options->more))
        return TL_TAKEN_NO_MEMORY;
    size_t i = e->n;
    e->ts_ns[i] = ts_ns;
    e->dur_ns[i] = dur_ns;
    e->name[i] = name_of(e, name);
    e->track[i] = track_index(e, f);
    e->lane[i] = lane_index(e, f);
    e->uid[i] = uid;
    e->category[i] = category;
    const tl_value *corr = tl_fields_get(f, TL_KEY_CORRELATION);
    if (corr == NULL && (flags & (TL_EVENT_PH_START | TL_EVENT_PH_END)))
        corr = tl_fields_get(f, TL_KEY_ID);
    int64_t correlation = int_of(corr, INT64_MIN);
    if (correlation != INT64_MIN)
        flags |= TL_EVENT_HAS_CORR;
    e->corr[i] = correlation != INT64_MIN ? correlation : -1;
    e->flags[i] = (uint16_t)flags;
    if (options->raw) {
        e->raw_ts[i] = raw_of(ts);
        e->raw_dur[i] = raw_of(dur);
    }
    if (options->more)
        e->more[i] = more_of(e, f);
    if (e->track[i] == TL_MAP_NONE || e->lane[i] == TL_MAP_NONE || !take_side(e, f, (uint32_t)i) || e->no_memory)
        return TL_TAKEN_NO_MEMORY;
    e->n++;
    if (e->ncut > ncut && taken == TL_TAKEN_KEPT) {
        *why = "expected a text of 64 KiB at most, cut a longer one";
        taken = TL_TAKEN_REPAIRED;
    }
    return taken;
}

/* ------------------------------------------------------------------------------------------------- side tables */

/* Side tables are ascending by event, which is the first member of each. */
static const void *find_side(const void *table, size_t n, size_t size, uint32_t event)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const char *entry = (const char *)table + mid * size;
        uint32_t at;
        memcpy(&at, entry, sizeof at);
        if (at == event)
            return entry;
        if (at < event)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const tl_copy_args *tl_events_copy(const tl_events *e, uint32_t event)
{
    return find_side(e->copies.v, e->copies.n, sizeof *e->copies.v, event);
}

const tl_coll_args *tl_events_coll(const tl_events *e, uint32_t event)
{
    return find_side(e->colls.v, e->colls.n, sizeof *e->colls.v, event);
}

const tl_wait_args *tl_events_wait(const tl_events *e, uint32_t event)
{
    return find_side(e->waits.v, e->waits.n, sizeof *e->waits.v, event);
}

const tl_grid_args *tl_events_grid(const tl_events *e, uint32_t event)
{
    return find_side(e->grids.v, e->grids.n, sizeof *e->grids.v, event);
}

void tl_events_free_columns(tl_events *e)
{
    void *columns[] = { e->ts_ns, e->dur_ns, e->corr, e->name, e->track, e->lane, e->uid, e->category,
                        e->flags, e->raw_ts, e->raw_dur, e->more, e->tracks.v, e->lanes.v, e->categories.v, e->copies.v,
                        e->colls.v, e->waits.v, e->grids.v };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        free(columns[i]);
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
