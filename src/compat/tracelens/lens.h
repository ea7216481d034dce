/* lens.h - one rank's trace as TraceLens sees it: its timeline and kernels, its idle gaps with their causes, and the
 * collective kernels of all ranks.
 *
 *     device   [  A  ]................[ B ]......[ C            rank 0    [ A ]   [ B ]      [ C ]
 *              [ D ]                                            rank 1     [ A ]  [ B ]       [ C ]
 *                     [---- gap ----- )   [ gap )                           0_0    0_1         0_2
 *
 * Input: the columns of the trace and the verbatim values of its events.  The exact text of an event's category decides
 * its set; old spellings belong to no set.  Times are doubles of microseconds, as written.  An event's UID is its
 * position in traceEvents.  All devices and streams count as one.
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

/* Properties of an event's name, as bits. */
enum {
    TL_LENS_LOOKED_AT = 1, /* the name's bits are set */
    TL_LENS_DEVICE_SYNC = 2,
    TL_LENS_STREAM_SYNC = 4,
    TL_LENS_EVENT_SYNC = 8,
    TL_LENS_COPY_CALL = 16, /* waits for the device or not, by the copy's direction */
    TL_LENS_ALLOC = 32,
    TL_LENS_LAUNCH_CALL = 64, /* one of the runtime's launch calls */
    TL_LENS_GRAPH_LAUNCH = 128,
    TL_LENS_SAYS_LAUNCH = 256, /* "launch" in it, in any case */
    TL_LENS_SAYS_GRAPH = 512,  /* "cudagraph" or "graphlaunch", in any case */
    TL_LENS_DTOH = 1024,
    TL_LENS_HTOD = 2048,
    TL_LENS_COMM = 4096,          /* "rccl", "nccl" or "cross_device_reduce", in any case */
    TL_LENS_CUSTOM_REDUCE = 8192, /* "cross_device_reduce", in any case */
    TL_LENS_COPY_KERNEL = 16384   /* a copy that older ROCm records as a kernel */
};

/* tl_lens_free ends it.  Arrays have an entry for each event. */
typedef struct tl_lens {
    const tl_events *e;       /* borrowed: events of a trace read with all categories and the hook of `words` */
    const tl_verbatim *words; /* borrowed: verbatim values of the events */
    uint8_t *set;             /* tl_lens_set */
    uint32_t *launch;         /* the runtime call that launched the event; TL_NONE: none */
    uint16_t *says;           /* by names id: bits of the name; 0: no event has the name */
} tl_lens;

tl_lens tl_lens_open(const tl_trace *trace, const tl_verbatim *words);
void tl_lens_free(tl_lens *lens);

static inline double tl_lens_ts(const tl_lens *lens, uint32_t i)
{
    return lens->words->ts[i];
}

/* Returns the duration, us; 0 without one. */
static inline double tl_lens_dur(const tl_lens *lens, uint32_t i)
{
    double dur = lens->words->dur[i];
    return isnan(dur) ? 0 : dur;
}

static inline double tl_lens_end(const tl_lens *lens, uint32_t i)
{
    return tl_lens_ts(lens, i) + tl_lens_dur(lens, i);
}

/* Whether the event has all of these TL_MORE_ bits. */
static inline bool tl_lens_whole(const tl_lens *lens, uint32_t i, uint32_t bits)
{
    return (lens->words->more[i].has & bits) == bits;
}

/* Whether the event is device work, of any ph. */
static inline bool tl_lens_is_device(const tl_lens *lens, uint32_t i)
{
    return lens->set[i] >= TL_LENS_KERNEL && lens->set[i] <= TL_LENS_MEMSET;
}

/* Whether the event is device work with a start and a duration, of any ph. */
static inline bool tl_lens_is_gpu(const tl_lens *lens, uint32_t i)
{
    return tl_lens_is_device(lens, i) && !isnan(lens->words->ts[i]) && !isnan(lens->words->dur[i]);
}

/* Whether the event's ph is X and the event has a start. */
static inline bool tl_lens_is_complete(const tl_lens *lens, uint32_t i)
{
    return (lens->e->flags[i] & TL_EVENT_PH_X) && (lens->words->more[i].has & TL_MORE_PH) && !isnan(lens->words->ts[i]);
}

/* Returns the bits of the event's name. */
static inline uint16_t tl_lens_says(const tl_lens *lens, uint32_t i)
{
    return lens->e->name[i] != TL_NO_NAME ? lens->says[lens->e->name[i]] : 0;
}

/* Returns the event's name; `none` without one. */
static inline tl_text tl_lens_name(const tl_lens *lens, uint32_t i, const char *none)
{
    uint32_t name = lens->e->name[i];
    return name != TL_NO_NAME ? tl_names_text(&lens->e->names, name) : (tl_text){ none, strlen(none) };
}

/* Returns the events for which `is` holds, an array that the caller frees.  Sorted by ts; with longest_first, ties by
 * duration, descending; further ties in file order. */
uint32_t *tl_lens_pick(const tl_lens *lens, bool (*is)(const tl_lens *, uint32_t), bool longest_first, size_t *n);

/* Shorter gaps of the device are noise, us. */
#define TL_LENS_NOISE_US 5.0

/* Returns for each event the nearest operator above the event in the host's call tree; TL_NONE: none.  The caller frees
 * the array. */
uint32_t *tl_lens_parent_ops(const tl_lens *lens);

/* Writes gpu_timeline... (device time by class, of the work linked to a launch and of all work), kernel_summary,
 * short_kernel_histogram and short_kernels_summary.  A table without rows is not written; a missing timeline gets a
 * note. */
void tl_lens_write_device(const tl_lens *lens, int64_t rank, tl_csv_folder *folder);

/* ------------------------------------------------------------------------------------------------------------- gaps
 *
 * A gap shorter than TL_LENS_NOISE_US is noise and gets no cause; all other gaps are macro gaps. */

/* Times in us; a missing event is TL_NONE. */
typedef struct tl_lens_gap {
    double lo, hi, us;       /* us: hi - lo */
    bool lo_whole, hi_whole; /* the trace writes lo, hi as integers */
    int64_t id;              /* of macro gaps 0, 1, ..., of noise -1, -2, ..., both in order of time */
    uint32_t before, after;  /* events named as the gap's neighbours */

    /* Set for macro gaps only. */
    uint32_t next;         /* the event that ends the gap */
    uint32_t launch;       /* the launch of `next` */
    double launch_to_exec; /* from the launch's end to the start of `next`; may be negative */
    bool prequeued;        /* the launch ended more than 8 us before the gap began */
    uint32_t sync_call;    /* the runtime call that waited through the gap's start */

    /* Ids of tl_lens_idle.words; TL_NO_NAME: none. */
    uint32_t sync;   /* kind of wait of sync_call */
    uint32_t drain;  /* "sync_drain" or "starved" */
    uint32_t cpu;    /* what the host did in the gap */
    uint32_t detail; /* details of `cpu` */
    uint32_t op;     /* dominant operator */
    uint32_t key;    /* third key of the gap's group, after drain and cpu */
} tl_lens_gap;

/* tl_lens_idle_free ends it. */
typedef struct tl_lens_idle {
    TL_VEC(tl_lens_gap) gaps; /* in order of time */
    size_t nmacro;
    double busy;    /* time covered by device work, linked or not, us */
    tl_names words; /* texts of the gaps */
} tl_lens_idle;

/* Returns the gaps with all their fields set. */
tl_lens_idle tl_lens_idle_of(const tl_lens *lens);
void tl_lens_idle_free(tl_lens_idle *idle);

/* Returns the kind of wait of a runtime call; NULL: none.  A copy call without a direction takes the direction of the
 * device event `prev`; TL_NONE: no such event. */
const char *tl_lens_sync_of(const tl_lens *lens, uint32_t call, uint32_t prev);

/* Sets cpu, detail, op and key of the macro gaps: what the host did in them (host.c). */
void tl_lens_label_gaps(const tl_lens *lens, tl_lens_idle *idle);

/* Returns the time in thousandths of a us, rounded half to even: two times with equal thousandths count as equal. */
int64_t tl_lens_thousandths(double us);

/* Writes idle_intervals, and idle_noise, which TraceLens does not write. */
void tl_lens_write_gaps(const tl_lens *lens, const tl_lens_idle *idle, tl_csv_folder *folder);

/* Writes idle_overview and idle_summary. */
void tl_lens_write_gap_groups(const tl_lens_idle *idle, tl_csv_folder *folder);

/* ------------------------------------------------------------------------------------------------------ collectives
 *
 * Kernels are matched by their group ("0" in the drawing) and their position among the rank's kernels of that group:
 * kernels with one group and position count as one collective, whatever their names.  Each rank packs its kernels into
 * bytes. */

/* An absent number. */
#define TL_COLL_NO_NUMBER INT64_MIN

/* A collective kernel.  Times in us, sizes in 2^20 bytes. */
typedef struct tl_coll_row {
    int64_t rank;
    double ts, dur;
    int64_t group_size, in_nelems, out_nelems, stream; /* TL_COLL_NO_NUMBER where absent */
    uint32_t group, ranks, name, dtype;                /* ids of tl_colls.texts; TL_NO_NAME where absent */
    uint32_t in_split, out_split;
    uint32_t index; /* position among the rank's kernels of the group; group and index identify a collective */
} tl_coll_row;

/* Zero-initialise; tl_colls_free ends it. */
typedef struct tl_colls {
    TL_VEC(tl_coll_row) rows; /* sorted by rank; ties in file order */
    tl_names texts;
    int64_t gpus_per_node; /* 0: unknown, no columns of nodes */
    bool plain;            /* no groups, one stream a rank: the index alone identifies a collective */

    /* Collectives are numbered by first appearance.  The rows of collective c, sorted by rank, are
     * by_collective[first[c]] up to, not including, by_collective[first[c + 1]]. */
    uint32_t *by_collective;
    size_t *first, ncollectives;
} tl_colls;

void tl_colls_free(tl_colls *colls);

/* Appends the collective kernels of a rank as bytes: the number of rows, rows, the number of texts, texts. */
void tl_colls_pack(const tl_lens *lens, tl_bytes *out);

/* Adds the rows of one rank from the packed bytes at share->at.  Ranks may come in any order. */
void tl_colls_unpack(tl_colls *colls, int64_t rank, tl_bytes *share);

/* Sorts and matches the rows of all ranks; called once, after the last tl_colls_unpack. */
void tl_colls_match(tl_colls *colls);

/* Returns the size of nelems elements of the row's type, in 2^20 bytes; NaN where type or number is unknown.
 * Without an in size, TraceLens has no out size. */
double tl_coll_mb(const tl_colls *colls, const tl_coll_row *row, int64_t nelems);
static inline double tl_coll_in_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return tl_coll_mb(colls, row, row->in_nelems);
}

static inline double tl_coll_out_mb(const tl_colls *colls, const tl_coll_row *row)
{
    return row->in_nelems == TL_COLL_NO_NUMBER ? NAN : tl_coll_mb(colls, row, row->out_nelems);
}

/* Returns row k of a collective, in ascending order of ranks. */
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

/* Cells: the id of a collective; the kind of a collective (group, ranks, name, group size and dtype); a text; a number
 * that may be absent. */
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

/* Ends a row, or the header where `row` is NULL; if gpus_per_node is known, with the columns of nodes in `nodes`:
 * TL_COLL_NODE, the node of the rank; TL_COLL_SPAN, whether the group's ranks share one node. */
typedef enum tl_coll_nodes { TL_COLL_NODE = 1, TL_COLL_SPAN = 2 } tl_coll_nodes;
void tl_coll_end_row(tl_csv *csv, const tl_colls *colls, unsigned nodes, const tl_coll_row *row);

/* Writes nccl_long, unless there are no rows. */
void tl_coll_write_long(const tl_colls *colls, tl_csv_folder *folder);

/* Writes the summary by rank and kind as the file `name`: nccl_summary_long.csv, or of one rank coll_analysis.csv. */
void tl_coll_write_summary_long(const tl_colls *colls, tl_csv_folder *folder, const char *name);

/* Writes nccl_implicit_sync, nccl_summary_implicit_sync and nccl_straggler_summary, and returns TL_NONE.  If ranks
 * disagree about the kind of a collective, writes none of these tables and returns the collective. */
uint32_t tl_coll_write_sync(const tl_colls *colls, tl_csv_folder *folder);

/* Writes nccl_all2allv, nccl_summary_all2allv and nccl_all2allv_heatmap. */
void tl_coll_write_all_to_all(const tl_colls *colls, tl_csv_folder *folder);

#endif
