/* events.h - the events of one trace, in columns.
 *
 * The folder event turns the text of one entry into a row: two readers find the values (fields.h), one place interprets
 * them (values.h), and a hook (hook.h) takes anything else that a caller needs of an entry.  It does not depend
 * on files, nor on the text around an entry; it may use base and model alone.
 *
 * A rank has up to 10^7 events, and a pass touches two or three columns.  An event takes 29 bytes; its text is never
 * kept.  Rare arguments are in side tables that refer to their event.
 */
#ifndef TLMPI_TRACE_EVENT_EVENTS_H
#define TLMPI_TRACE_EVENT_EVENTS_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/names.h"
#include <stdbool.h>
#include <stdint.h>

/* Categories (`cat`); old and new spellings are the same. */
typedef enum tl_cat {
    TL_CAT_NONE,            /* no cat at all */
    TL_CAT_KERNEL,          /* kernel, Kernel, mtia_ccp_events */
    TL_CAT_MEMCPY,          /* gpu_memcpy, Memcpy */
    TL_CAT_MEMSET,          /* gpu_memset, Memset */
    TL_CAT_SYNC,            /* cuda_sync */
    TL_CAT_RUNTIME,         /* cuda_runtime, Runtime, *_runtime */
    TL_CAT_DRIVER,          /* cuda_driver, *_driver */
    TL_CAT_CPU_OP,          /* cpu_op, Operator */
    TL_CAT_USER_ANNOTATION, /* user_annotation */
    TL_CAT_GPU_ANNOTATION,  /* gpu_user_annotation */
    TL_CAT_PYTHON,          /* python_function */
    TL_CAT_FLOW,            /* ac2g, async_cpu_to_gpu, async_gpu */
    TL_CAT_FWDBWD,          /* fwdbwd */
    TL_CAT_INSTANT,         /* cpu_instant_event: memory events */
    TL_CAT_OVERHEAD,        /* overhead */
    TL_CAT_PROFILER_RANGE,  /* cuda_profiler_range */
    TL_CAT_SAMPLE,          /* hardware_counters: samples of counters over time */
    TL_CAT_TRACE,           /* Trace: spans everything and is not work */
    TL_CAT_OTHER,
    TL_NCATS
} tl_cat;

/* Returns the category of a spelling. */
tl_cat tl_cat_of(tl_text spelling);

#define TL_CAT_BIT(cat) (1u << (cat))
#define TL_CAT_GPU_WORK (TL_CAT_BIT(TL_CAT_KERNEL) | TL_CAT_BIT(TL_CAT_MEMCPY) | TL_CAT_BIT(TL_CAT_MEMSET))

/* A (pid, tid) pair; either may be a number or a text. */
typedef struct tl_track {
    int64_t pid, tid;            /* numbers; 0 for a text */
    uint32_t pid_text, tid_text; /* names id of the text; TL_NO_NAME: a number, or absent */
} tl_track;

/* A (device, stream) pair from the event's args; TL_LANE_ABSENT: not given, or not an integer. */
typedef struct tl_lane {
    int64_t device, stream;
} tl_lane;
#define TL_LANE_ABSENT INT64_MIN

/* A spelling of a category. */
typedef struct tl_category {
    uint32_t text; /* names id; TL_NO_NAME for events without cat */
    tl_cat cat;
} tl_category;

/* What many events have in common: indices into tracks, lanes and categories. */
typedef struct tl_event_class {
    uint32_t track, lane;
    uint16_t category;
    uint8_t cat; /* tl_cat of the category; filled by tl_events_class */
} tl_event_class;

/* A column of numbers; one from -1 to UINT32_MAX - 2, as nearly all are, takes 4 bytes. */
typedef struct tl_narrow {
    uint32_t *v; /* 1 + the number; UINT32_MAX: it is in `wide` */
    TL_VEC(struct {
        uint32_t event;
        int64_t number;
    })
    wide; /* ascending by event */
} tl_narrow;

int64_t tl_narrow_get_wide(const tl_narrow *column, size_t i);
void tl_narrow_set_wide(tl_narrow *column, size_t i, int64_t x);
int tl_narrow_compare_wide(const tl_narrow *column, size_t a, size_t b);

static inline int64_t tl_narrow_get(const tl_narrow *column, size_t i)
{
    return column->v[i] != UINT32_MAX ? (int64_t)column->v[i] - 1 : tl_narrow_get_wide(column, i);
}

/* Returns a number below, at or above 0 if number a is less than, equal to or greater than number b. */
static inline int tl_narrow_compare(const tl_narrow *column, size_t a, size_t b)
{
    const uint32_t x = column->v[a], y = column->v[b];
    return x != UINT32_MAX && y != UINT32_MAX ? (x > y) - (x < y) : tl_narrow_compare_wide(column, a, b);
}

static inline void tl_narrow_set(tl_narrow *column, size_t i, int64_t x)
{
    const bool fits = x >= -1 && x < UINT32_MAX - 1;
    column->v[i] = fits ? (uint32_t)(x + 1) : UINT32_MAX;
    if (!fits)
        tl_narrow_set_wide(column, i, x);
}

/* Arguments of device events, and of ROCm's calls that copy; -1: absent. */
typedef struct tl_copy_args {
    uint32_t event;
    int32_t kind; /* hipMemcpyKind: 1 to the device, 2 from it, 3 on it */
    int64_t bytes;
    double gb_per_s; /* "memory bandwidth (GB/s)"; NaN: absent */
} tl_copy_args;

/* Arguments of a collective, on the kernel or on its record_param_comms. */
typedef struct tl_coll_args {
    uint32_t event;
    uint32_t name, dtype;                /* names ids */
    uint32_t pg_name, pg_desc, pg_ranks; /* names ids; pg_ranks is the text "[0, 1, ...]" */
    uint32_t in_split, out_split;        /* names ids of the texts */
    int64_t in_nelems, out_nelems, group_size, seq, src_rank, dst_rank;
    int64_t rank_start, rank_stride; /* Global rank start, stride */
} tl_coll_args;

/* A counter of a cuda_profiler_range, or of a sample.  A range has many counters; a range without counters has one
 * entry without a name. */
typedef struct tl_counter_arg {
    uint32_t event;
    uint32_t name; /* names id */
    double value;
} tl_counter_arg;

/* Arguments of a "[memory]" event of an allocator; INT64_MIN: absent. */
typedef struct tl_memory_args {
    uint32_t event;
    int64_t allocated, reserved, device, device_type;
    int64_t bytes; /* above 0: allocated; below 0: freed */
} tl_memory_args;

/* From the shapes of an operator's tensors: the number of elements in and out of a communication operator (-1:
 * unknown), or the floating-point operations of one that computes. */
typedef struct tl_shape_args {
    uint32_t event;
    uint8_t dtype;   /* tl_dtype of the elements; of one that computes: tl_precision */
    bool annotation; /* true: an annotation "nccl:..."; false: a record_param_comms or a c10d operator */
    bool computes;   /* true: `flop` is used; false: the numbers of elements */
    union {
        struct {
            int64_t in_nelems, out_nelems;
        };
        int64_t flop;
    };
} tl_shape_args;

/* The grid of a kernel. */
typedef struct tl_grid_args {
    uint32_t event;
    uint32_t blocks; /* x * y * z, at most UINT32_MAX */
} tl_grid_args;

/* What a cuda_sync event waits for. */
typedef struct tl_wait_args {
    uint32_t event;
    int64_t wait_on_stream, wait_on_corr; /* -1: absent */
} tl_wait_args;

/* A window: the events of one of several successive files of a process (reader.h). */
typedef struct tl_event_window {
    uint32_t first_event;
    int32_t number;     /* of the window in the job, from 0 */
    int32_t more_steps; /* added to its step numbers */
    int64_t begin_ns;   /* smallest ts of its events, ns */
} tl_event_window;

/* flags */
#define TL_EVENT_HAS_DUR  1u /* the text has a dur */
#define TL_EVENT_HAS_TS   2u
#define TL_EVENT_PH_X     4u
#define TL_EVENT_PH_START 8u  /* flow start */
#define TL_EVENT_PH_END   16u /* flow end */
#define TL_EVENT_HAS_CORR 32u

#define TL_RECENT         16
#define TL_RECENT_CLASSES 64

/* Columns: entry i of each is event i; in file order.  Zero-initialise; tl_events_free ends it. */
typedef struct tl_events {
    size_t n, cap;
    int64_t *ts_ns;   /* as in the text, without the base time */
    tl_narrow dur_ns; /* 0 or more */
    tl_narrow corr;   /* args.correlation (a flow: its id), -1: none; see TL_EVENT_HAS_CORR */
    uint32_t *name;   /* names id; TL_NO_NAME when absent */
    uint32_t *class;  /* index into classes */
    uint32_t *uid;    /* position in traceEvents, counting all entries */
    uint8_t *flags;

    TL_VEC(tl_event_class) classes;
    TL_VEC(tl_track) tracks;
    TL_VEC(tl_lane) lanes;
    TL_VEC(tl_category) categories;
    TL_VEC(tl_copy_args) copies; /* side tables: by event, ascending */
    TL_VEC(tl_coll_args) colls;
    TL_VEC(tl_wait_args) waits;
    TL_VEC(tl_grid_args) grids;
    TL_VEC(tl_counter_arg) counters; /* those of one event are consecutive */
    TL_VEC(tl_memory_args) memory;
    TL_VEC(tl_shape_args) shapes;
    TL_VEC(tl_event_window) windows; /* in order of time; empty for a trace of one file */
    tl_names names;
    tl_map class_map, track_map, lane_map, category_map;
    /* indices to try first: a few recur */
    uint32_t recent_class[TL_RECENT_CLASSES], recent_track[TL_RECENT], recent_lane[TL_RECENT];
    uint16_t recent_category[TL_RECENT];
    uint64_t ncut; /* number of texts that were truncated: their beginning and a hash are kept */
} tl_events;

void tl_events_free(tl_events *events);

/* Returns the memory of the columns and texts, bytes. */
size_t tl_events_bytes(const tl_events *events);

/* For code that fills the columns.  tl_events_reserve makes room for n events in each; the others return the index of a
 * category (by its text's names id), track, lane or class, adding it if it is new.  After 65,534 categories all further
 * ones share one index. */
void tl_events_reserve(tl_events *events, size_t n);
uint16_t tl_events_category(tl_events *events, uint32_t text);
uint32_t tl_events_track(tl_events *events, const tl_track *track);
uint32_t tl_events_lane(tl_events *events, const tl_lane *lane);
uint32_t tl_events_class(tl_events *events, tl_event_class class);

/* Removes the events from index n on. */
void tl_events_truncate(tl_events *events, size_t n);

/* Frees the columns and side tables; keeps the names. */
void tl_events_free_columns(tl_events *events);

static inline int64_t tl_event_dur_ns(const tl_events *e, size_t i)
{
    return tl_narrow_get(&e->dur_ns, i);
}

static inline int64_t tl_event_corr(const tl_events *e, size_t i)
{
    return tl_narrow_get(&e->corr, i);
}

/* Returns the index of the event's track. */
static inline uint32_t tl_event_track(const tl_events *e, size_t i)
{
    return e->classes.v[e->class[i]].track;
}

static inline const tl_lane *tl_event_lane(const tl_events *e, size_t i)
{
    return &e->lanes.v[e->classes.v[e->class[i]].lane];
}

static inline const tl_category *tl_event_category(const tl_events *e, size_t i)
{
    return &e->categories.v[e->classes.v[e->class[i]].category];
}

static inline tl_cat tl_event_cat(const tl_events *e, size_t i)
{
    return (tl_cat)e->classes.v[e->class[i]].cat;
}

/* Finds the smallest ts of the spans of hosts and devices, and their largest end; false: there are none. */
bool tl_events_extent(const tl_events *events, int64_t *begin_ns, int64_t *end_ns);

/* Whether some event may have that category. */
static inline bool tl_events_have(const tl_events *e, tl_cat cat)
{
    for (size_t i = 0; i < e->categories.n; i++)
        if (e->categories.v[i].cat == cat)
            return true;
    return false;
}

/* A side table, searched mostly for consecutive events.  The first member of an entry is the index of its event. */
typedef struct tl_side {
    const void *entries;
    size_t n, size, at; /* at: where the last search ended */
} tl_side;
#define TL_SIDE(table)                                                                                                 \
    {                                                                                                                  \
        (table).v, (table).n, sizeof *(table).v, 0                                                                     \
    }

/* The side tables of events. */
#define TL_EVENT_SIDES(S) S(copies) S(colls) S(waits) S(grids) S(counters) S(memory) S(shapes)

/* Return the entry of a side table for the event; NULL: none. */
const void *tl_side_find(tl_side *side, uint32_t event);
const tl_coll_args *tl_events_coll(const tl_events *events, uint32_t event);
const tl_wait_args *tl_events_wait(const tl_events *events, uint32_t event);
const tl_shape_args *tl_events_shape(const tl_events *events, uint32_t event);

#endif
