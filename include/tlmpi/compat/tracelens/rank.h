/* rank.h - one rank's trace as TraceLens looks at it, its timeline and its kernels.
 *
 * From the columns of the trace and what they say to the letter.  May use: trace, and the common files of compat.
 *
 * Events are sorted into sets by the exact text of their category; old spellings are in none.  Times are doubles of
 * microseconds, as the text gives them.  An event's UID is its position in traceEvents.
 */
#ifndef TLMPI_COMPAT_TRACELENS_RANK_H
#define TLMPI_COMPAT_TRACELENS_RANK_H

#include "tlmpi/compat/csv.h"
#include "tlmpi/compat/verbatim.h"
#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"
#include <math.h>

typedef enum tl_lens_set {
    TL_LENS_OTHER,
    TL_LENS_KERNEL,  /* kernel */
    TL_LENS_MEMCPY,  /* gpu_memcpy */
    TL_LENS_MEMSET,  /* gpu_memset */
    TL_LENS_RUNTIME, /* cuda_runtime, cuda_driver: HIP calls carry these, too */
    TL_LENS_CPU_OP,  /* cpu_op */
    TL_LENS_PYTHON,  /* python_function */
    TL_LENS_FLOW     /* ac2g */
} tl_lens_set;

/* What a name says, as bits. */
enum {
    TL_LENS_LOOKED_AT = 1,
    TL_LENS_DEVICE_SYNC = 2,
    TL_LENS_STREAM_SYNC = 4,
    TL_LENS_EVENT_SYNC = 8,
    TL_LENS_COPY_CALL = 16, /* its direction says whether it waits */
    TL_LENS_ALLOC = 32,
    TL_LENS_LAUNCH_CALL = 64, /* one of a list of names */
    TL_LENS_GRAPH_LAUNCH = 128,
    TL_LENS_SAYS_LAUNCH = 256, /* "launch" in it, in any case */
    TL_LENS_SAYS_GRAPH = 512,  /* "cudagraph" or "graphlaunch", in any case */
    TL_LENS_DTOH = 1024,
    TL_LENS_HTOD = 2048,
    TL_LENS_COMM = 4096,          /* "rccl", "nccl" or "cross_device_reduce", in any case */
    TL_LENS_CUSTOM_REDUCE = 8192, /* "cross_device_reduce", in any case */
    TL_LENS_COPY_KERNEL = 16384   /* a copy of older ROCm, which is written as a kernel */
};

/* tl_lens_free ends it.  Arrays have an entry for each event. */
typedef struct tl_lens {
    const tl_trace *trace;    /* borrowed; read with all categories, and with the hook of `words` */
    const tl_events *e;       /* its events */
    const tl_verbatim *words; /* borrowed: what they say to the letter */
    uint8_t *set;             /* tl_lens_set */
    uint32_t *launch;         /* the runtime call that launched it, TL_NONE without one */
    uint16_t *says;           /* by name: what it says; 0 where no event has it */
} tl_lens;

tl_lens tl_lens_open(const tl_trace *trace, const tl_verbatim *words);
void tl_lens_free(tl_lens *lens);

/* Fills launch; for tl_lens_open. */
void tl_lens_link(tl_lens *lens);

static inline double tl_lens_ts(const tl_lens *lens, uint32_t i)
{
    return lens->words->ts[i];
}

/* 0 where there is none. */
static inline double tl_lens_dur(const tl_lens *lens, uint32_t i)
{
    double dur = lens->words->dur[i];
    return isnan(dur) ? 0 : dur;
}

static inline double tl_lens_end(const tl_lens *lens, uint32_t i)
{
    return tl_lens_ts(lens, i) + tl_lens_dur(lens, i);
}

static inline bool tl_lens_whole(const tl_lens *lens, uint32_t i, uint32_t bits)
{
    return (lens->words->more[i].has & bits) == bits;
}

/* Work of the device; that has a time: any ph. */
static inline bool tl_lens_is_device(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] >= TL_LENS_KERNEL && lens->set[i] <= TL_LENS_MEMSET;
}

static inline bool tl_lens_is_gpu(const tl_lens *lens, uint32_t i)
{
    return tl_lens_is_device(lens, i) && !isnan(lens->words->ts[i]) && !isnan(lens->words->dur[i]);
}

/* Whether its ph is X. */
static inline bool tl_lens_is_complete(const tl_lens *lens, uint32_t i)
{
    return (lens->e->flags[i] & TL_EVENT_PH_X) && (lens->words->more[i].has & TL_MORE_PH) && !isnan(lens->words->ts[i]);
}

static inline uint16_t tl_lens_says(const tl_lens *lens, uint32_t i)
{
    return lens->e->name[i] != TL_NO_NAME ? lens->says[lens->e->name[i]] : 0;
}

/* Its name, or what stands for none. */
static inline tl_text tl_lens_name(const tl_lens *lens, uint32_t i, const char *none)
{
    uint32_t name = lens->e->name[i];
    return name != TL_NO_NAME ? tl_names_text(&lens->e->names, name) : (tl_text){ none, strlen(none) };
}

/* A new array of the events that `is` picks, by ts; those of one ts in file order, or the longest first and then in
 * file order.  The caller frees it. */
uint32_t *tl_lens_pick(const tl_lens *lens, bool (*is)(const tl_lens *, uint32_t), bool longest_first, size_t *n);

/* A gap of the device that is shorter is noise, us. */
#define TL_LENS_NOISE_US 5.0

/* Where the time of the device went; us.  NaN where there was no event. */
typedef struct tl_lens_timeline {
    bool any; /* an event was there */
    double computation, exposed_comm, exposed_memcpy, busy, idle, micro_idle, macro_idle, total, comm, memcpy;
} tl_lens_timeline;

/* The timeline of all device work, or of what is linked to a launch alone. */
tl_lens_timeline tl_lens_timeline_of(const tl_lens *lens, bool linked_only);

/* gpu_timeline, gpu_timeline_micro5 (linked) and the two of all events; a timeline without an event has no tables. */
void tl_lens_write_timelines(const tl_lens_timeline *linked, const tl_lens_timeline *all, tl_csv_folder *folder);

/* For each event the operator that it belongs to: the nearest one above it in the call tree of the host; TL_NONE where
 * there is none.  The caller frees it. */
uint32_t *tl_lens_parent_ops(const tl_lens *lens);

/* kernel_summary, short_kernel_histogram, short_kernels_summary; a table without a row is not written.  total: of the
 * linked timeline, us; NaN where there is none. */
void tl_lens_write_kernels(const tl_lens *lens, double total, tl_csv_folder *folder);

#endif
