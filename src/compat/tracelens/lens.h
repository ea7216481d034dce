/* lens.h - one rank's trace as TraceLens looks at it: its timeline and kernels, its idle gaps with what TraceLens says of
 * each, and the collective kernels of all ranks.
 *
 *     device   [  A  ]................[ B ]......[ C            rank 0    [ A ]   [ B ]      [ C ]
 *              [ D ]                                            rank 1     [ A ]  [ B ]       [ C ]
 *                     [---- gap ----- )   [ gap )                           0_0    0_1         0_2
 *
 * From the columns of the trace and what they say to the letter.  Events are sorted into sets by the exact text of their
 * category; old spellings are in none.  Times are doubles of microseconds, as the text gives them.  An event's UID is its
 * position in traceEvents.  All devices and streams are one.
 */
#ifndef COMPAT_TRACELENS_LENS_H
#define COMPAT_TRACELENS_LENS_H

#include "tlmpi/base/bytes.h"
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

/* For each event the operator that it belongs to: the nearest one above it in the call tree of the host; TL_NONE where
 * there is none.  The caller frees it. */
uint32_t *tl_lens_parent_ops(const tl_lens *lens);

/* Where the time of the device went, of what is linked to a launch and of all device work (gpu_timeline...), and its
 * kernels (kernel_summary, short_kernel_histogram, short_kernels_summary).  A table without a row is not written; the
 * notes say why there is no timeline. */
void tl_lens_write_device(const tl_lens *lens, int64_t rank, tl_csv_folder *folder, tl_bytes *notes);

/* ------------------------------------------------------------------------------------------------------------- gaps
 *
 * A gap shorter than TL_LENS_NOISE_US is noise, and nothing more is said about it; the others are macro gaps. */

typedef enum tl_lens_sync {
    TL_LENS_NO_SYNC,
    TL_LENS_SYNC_DEVICE,
    TL_LENS_SYNC_STREAM,
    TL_LENS_SYNC_EVENT,
    TL_LENS_SYNC_D2H,
    TL_LENS_SYNC_H2D
} tl_lens_sync;

typedef enum tl_lens_cpu {
    TL_LENS_LAUNCH_ANOMALY,
    TL_LENS_LAUNCH_OVERHEAD_ONLY,
    TL_LENS_RUNTIME_DOMINATED,
    TL_LENS_CPU_UNTRACED,
    TL_LENS_CPU_DOMINATED
} tl_lens_cpu;

/* Times in us.  Events are TL_NONE where there is none. */
typedef struct tl_lens_gap {
    double lo, hi;
    bool lo_whole, hi_whole; /* written as integers */
    int64_t id;              /* macro gaps 0, 1, ...; noise -1, -2, ...: each in order of time */
    uint32_t before, after;  /* events whose names stand for what lies on either side */

    /* Of macro gaps alone. */
    uint32_t next;         /* the event that ends it */
    uint32_t launch;       /* its launch */
    double launch_to_exec; /* from the end of the launch to the start of `next`; may be negative */
    bool prequeued;        /* the launch had returned more than 8 us before the gap began */
    tl_lens_sync sync;     /* what sort of wait `sync_call` is */
    uint32_t sync_call;
    bool drained; /* sync_drain; else starved */
    tl_lens_cpu cpu;
    uint32_t detail; /* ids of words */
    uint32_t op;     /* dominant operator; TL_NO_NAME: none */
    uint32_t key;    /* what a gap is grouped by, beside drained and cpu */
} tl_lens_gap;

/* tl_lens_idle_free ends it. */
typedef struct tl_lens_idle {
    TL_VEC(tl_lens_gap) gaps; /* in order of time */
    size_t nmacro;
    double busy; /* time covered by device work, linked or not */
    tl_names words;
} tl_lens_idle;

/* The gaps, and all about them. */
tl_lens_idle tl_lens_idle_of(const tl_lens *lens);
void tl_lens_idle_free(tl_lens_idle *idle);

static inline bool tl_lens_is_noise(const tl_lens_gap *gap)
{
    return gap->id < 0;
}

static inline double tl_lens_duration(const tl_lens_gap *gap)
{
    return gap->hi - gap->lo;
}

static inline bool tl_lens_gap_is_whole(const tl_lens_gap *gap)
{
    return gap->lo_whole && gap->hi_whole;
}

/* TraceLens' words. */
extern const char *const tl_lens_sync_words[], *const tl_lens_cpu_words[];
static inline const char *tl_lens_drain_word(bool drained)
{
    return drained ? "sync_drain" : "starved";
}

/* The sort of wait that a runtime call is: TL_LENS_NO_SYNC for none.  Of a copy that does not say its direction the
 * device event `prev` tells it; TL_NONE for none. */
tl_lens_sync tl_lens_sync_of(const tl_lens *lens, uint32_t call, uint32_t prev);

/* What the host did in the gaps (host.c): fills cpu, detail, op and key.  Ask in order of time. */
typedef struct tl_lens_host tl_lens_host;
tl_lens_host *tl_lens_host_new(const tl_lens *lens, tl_names *words);
void tl_lens_host_label(tl_lens_host *host, tl_lens_gap *gap);
void tl_lens_host_free(tl_lens_host *host);

/* The value in thousandths, half to even: two times are equal when these are. */
int64_t tl_lens_thousandths(double us);

/* idle_intervals, and idle_noise, which TraceLens has no sheet for. */
void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder);

/* idle_overview, idle_summary. */
void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder);

/* ------------------------------------------------------------------------------------------------------ collectives
 *
 * Matched by group, "0" above, and position among the rank's kernels of that group: kernels with one id are taken for one
 * collective, whatever they are.  From the kernels that each rank packs into bytes. */

/* What is absent. */
#define TL_COLL_NO_NUMBER INT64_MIN

/* A collective kernel.  Times in us, sizes in 2^20 bytes. */
typedef struct tl_coll_row {
    int64_t rank;
    double ts, dur;
    int64_t group_size, in_nelems, out_nelems, stream; /* TL_COLL_NO_NUMBER where absent */
    uint32_t group, ranks, name, dtype;                /* ids of texts; TL_NO_NAME where absent */
    uint32_t in_split, out_split;
    uint32_t index; /* in the group, of the rank's kernels: with the group it is the collective's id */
} tl_coll_row;

/* Zero-initialise; tl_colls_free ends it. */
typedef struct tl_colls {
    TL_VEC(tl_coll_row) rows; /* ascending rank, of one rank in file order */
    tl_names texts;
    int64_t gpus_per_node; /* 0: nothing is said of nodes */
    bool plain;            /* no groups, one stream a rank: ids are positions alone */

    /* Rows of collective c, which are numbered by first appearance, ascending rank: by_collective[first[c]] up to that of
     * c + 1. */
    uint32_t *by_collective;
    size_t *first, ncollectives;
} tl_colls;

void tl_colls_free(tl_colls *colls);

/* Adds the collective kernels of a rank as bytes: the number of rows, rows, the number of texts, texts. */
void tl_colls_pack(const tl_lens *lens, tl_bytes *out);

/* Takes such bytes of a rank, the next of a share, adding the rows.  Ranks may come in any order. */
void tl_colls_unpack(tl_colls *colls, int64_t rank, tl_bytes *share);

/* When all rows are in: sorts and matches them. */
void tl_colls_match(tl_colls *colls);

/* Sizes of what a rank sent and received, in 2^20 bytes; NaN where the type or the number is unknown.  The size received
 * is unknown where the size sent is. */
double tl_coll_mb(const tl_colls *colls, const tl_coll_row *row, int64_t nelems);
static inline double tl_coll_in_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return tl_coll_mb(colls, row, row->in_nelems);
}

static inline double tl_coll_out_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return row->in_nelems == TL_COLL_NO_NUMBER ? NAN : tl_coll_mb(colls, row, row->out_nelems);
}

static inline const tl_coll_row *tl_coll_nth(const tl_colls *colls, size_t collective, size_t k)
{
    return &colls->rows.v[colls->by_collective[colls->first[collective] + k]];
}

static inline size_t tl_coll_nrows(const tl_colls *colls, size_t collective)
{
    return colls->first[collective + 1] - colls->first[collective];
}

static inline tl_text tl_coll_name(const tl_colls *colls, size_t collective)
{
    return tl_names_text(&colls->texts, tl_coll_nth(colls, collective, 0)->name);
}

/* Cells: the id of a collective, where it stands first in a table; what the collective is: group, ranks, name, group size and
 * dtype; a text; a number that may be absent. */
void tl_coll_put_id(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row);
void tl_coll_put_kind(tl_csv *csv, const tl_colls *colls, const tl_coll_row *row);
static inline tl_cell tl_coll_text(const tl_colls *colls, uint32_t text)
{
    return tl_string(tl_names_text(&colls->texts, text));
}

static inline tl_cell tl_coll_number(int64_t number)
{
    return number == TL_COLL_NO_NUMBER ? tl_blank() : tl_int(number);
}

/* Ends a header, and a row, with the columns of nodes, which are there where gpus_per_node is known: the node of a rank;
 * whether the ranks of a group share one. */
typedef enum tl_coll_nodes { TL_COLL_NODE = 1, TL_COLL_SPAN = 2 } tl_coll_nodes;
void tl_coll_end_head(tl_csv *csv, const tl_colls *colls, unsigned nodes);
void tl_coll_end_row(tl_csv *csv, const tl_colls *colls, unsigned nodes, int64_t rank, uint32_t ranks);

/* nccl_long; a table without a row is not written. */
void tl_coll_write_long(const tl_colls *colls, tl_csv_folder *folder);

/* nccl_summary_long, or the same as coll_analysis of one rank. */
void tl_coll_write_summary_long(const tl_colls *colls, tl_csv_folder *folder, const char *name);

/* nccl_implicit_sync, nccl_summary_implicit_sync, nccl_straggler_summary.  Where ranks do not agree on what a
 * collective is, none of them is written and the collective is returned; else TL_NONE. */
uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder);

/* nccl_all2allv, nccl_summary_all2allv, nccl_all2allv_heatmap. */
void tl_coll_write_all_to_all(const tl_colls *colls, tl_csv_folder *folder);

#endif
