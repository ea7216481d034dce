/* frame.h - one rank's trace as HTA holds it: the rows that HTA keeps, with derived columns, and the properties of
 * names.
 *
 * Times are doubles in microseconds, as written, no base time added.  The steps of loading, in this order:
 *
 *     fill        the entries with a duration and a category, time stamps rounded     every rank
 *     link        launch calls and the device work with the same correlation          every rank
 *     iterate     the profiler step that a row belongs to                             every rank
 *     align       time 0 is the earliest row of all ranks                             needs all ranks
 *     cut         the rows of the last profiler step go                               needs all ranks
 */
#ifndef COMPAT_HTA_FRAME_H
#define COMPAT_HTA_FRAME_H

#include "tlmpi/compat/csv.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/read/reader.h"

/* ------------------------------------------------------------------------------------------------------------ names */

/* The class of a row on a stream, by its name alone. */
typedef enum tl_hta_class {
    TL_HTA_COMPUTATION,
    TL_HTA_COMMUNICATION,
    TL_HTA_MEMORY,
    TL_HTA_OTHER,
    TL_HTA_NCLASSES
} tl_hta_class;

/* Labels of the classes, as in HTA. */
extern const char *const tl_hta_class_labels[TL_HTA_NCLASSES];

/* The vendor of the device, by the names of launch calls. */
typedef enum tl_hta_vendor { TL_HTA_NO_LAUNCH, TL_HTA_NVIDIA, TL_HTA_AMD, TL_HTA_MTIA } tl_hta_vendor;

/* Traits of a name or a category, as bits. */
enum {
    TL_HTA_QUEUES = 1,        /* call whose kernels count in HTA's queue lengths */
    TL_HTA_IS_WORK = 2,       /* category of device work; gaps between such work are idle time */
    TL_HTA_IS_ATEN = 4,       /* operator in the table of launch delays */
    TL_HTA_LAUNCHES_OP = 8,   /* call that launches kernels of such an operator */
    TL_HTA_IS_NCCL = 16,      /* kernel that may decide stragglers */
    TL_HTA_HAS_NODES = 32,    /* category of host rows with nodes in the graph of a critical path */
    TL_HTA_NAMES_THREAD = 64, /* category of rows whose names identify the threads of passes */
    TL_HTA_IS_FORWARD = 128,
    TL_HTA_IS_AUTOGRAD = 256,
    TL_HTA_LOCKS = 512,   /* call that holds the runtime's lock */
    TL_HTA_BLOCKS = 1024, /* call that waits for the device */
    TL_HTA_OF_NVIDIA = 2048,
    TL_HTA_OF_AMD = 4096,
    TL_HTA_OF_MTIA = 8192,
    TL_HTA_IS_SYNC = 1 << 14,   /* device work even without a stream */
    TL_HTA_STEP_ROW = 1 << 15,  /* rows of this name are step windows */
    TL_HTA_STEP_NAME = 1 << 16, /* counts for the cut of the last step */
    TL_HTA_STEP_MARK = 1 << 17, /* its thread is the main one of the call graph */
    TL_HTA_BACKWARD = 1 << 18,  /* its thread runs the backward pass */
    TL_HTA_BACKWARD_MARK = 1 << 19,
};

typedef struct tl_hta_symbol {
    unsigned traits;
    tl_hta_class class;
    int64_t step; /* number of the step in the name of a step row; -1: none */
} tl_hta_symbol;

/* Names and categories of all ranks, as ids in one table.  A text's properties are set when the text enters the table.
 * Zero-initialise; tl_hta_symbols_free ends it. */
typedef struct tl_hta_symbols {
    tl_names texts;
    TL_VEC(tl_hta_symbol) v; /* v[id] belongs to the text of that id */
} tl_hta_symbols;

/* Returns the id of the text, and adds a new text to the table. */
uint32_t tl_hta_symbol_id(tl_hta_symbols *symbols, tl_text text);
void tl_hta_symbols_free(tl_hta_symbols *symbols);

static inline tl_text tl_hta_text(const tl_hta_symbols *symbols, uint32_t id)
{
    return tl_names_text(&symbols->texts, id);
}

/* A tl_compare of symbols by their texts. */
int tl_hta_by_text(const void *symbols, uint32_t a, uint32_t b);

/* Whether the symbol has one of the traits. */
static inline bool tl_hta_is(const tl_hta_symbols *symbols, uint32_t id, unsigned traits)
{
    return (symbols->v.v[id].traits & traits) != 0;
}

/* A rule of the classification: the name matches the pattern, as in fnmatch. */
typedef struct tl_hta_rule {
    const char *pattern;
    tl_hta_class class;
    const char *seen; /* example: a name for which this rule is the first match */
} tl_hta_rule;

/* The first matching rule decides; the last rule matches every name. */
extern const tl_hta_rule tl_hta_rules[];
extern const size_t tl_hta_nrules;

/* Returns the first matching rule; the name is 0-terminated. */
const tl_hta_rule *tl_hta_rule_of(tl_text name);

/* ----------------------------------------------------------------------------------------------------------- a rank */

#define TL_HTA_NO_STEP      (-1)      /* outside of every step */
#define TL_HTA_STEP_UNKNOWN INT64_MIN /* NaN in HTA */

typedef struct tl_hta_row {
    double ts;           /* us; after align, since the earliest row of all ranks */
    double dur;          /* us; rounding makes a time between two full microseconds -1 */
    double end;          /* us; ts + dur before align, as align does not change `end` */
    int64_t stream;      /* -1: none */
    int64_t correlation; /* -1: none */
    int64_t link;        /* `index` of the linked row; 0: none; -1: no correlation */
    int64_t iteration;   /* a step number, TL_HTA_NO_STEP or TL_HTA_STEP_UNKNOWN */
    uint32_t index;      /* position in traceEvents, all entries counted */
    uint32_t name, cat;  /* symbols */
    uint32_t track;      /* index into the frame's tracks, for pid and tid */
} tl_hta_row;

/* Values of a row's args that have no column in tl_hta_row. */
typedef struct tl_hta_args {
    uint32_t index;  /* tl_hta_row.index of the row */
    uint32_t range;  /* category cuda_profiler_range: all args, a JSON object, as id of `texts`; TL_NO_NAME: none */
    double gb_per_s; /* bandwidth of a copy; 0: absent */
    /* Of a synchronisation: the stream, and the correlation of the cudaEventRecord waited for; -1: absent. */
    int64_t wait_stream, wait_record;
    tl_ref external; /* External id; TL_REF_NONE: absent, a text, or not read */
} tl_hta_args;

/* Zero-initialise; tl_hta_frame_free ends it. */
typedef struct tl_hta_frame {
    int64_t rank;
    const char *path;              /* borrowed */
    const tl_hta_symbols *symbols; /* borrowed: symbols of the job */
    TL_VEC(tl_hta_row) rows;       /* in file order, ascending index; after the cut device rows first */
    uint32_t *row_at;              /* by tl_hta_row.index: position of the row + 1; 0: no row */
    size_t nindices;               /* one more than the largest index */
    TL_VEC(tl_track) tracks;       /* pid_text and tid_text are ids of `texts` */
    tl_names texts;                /* texts of tracks and ranges */
    TL_VEC(tl_hta_args) args;      /* of rows with such values; ascending index */
    size_t nloaded;                /* rows before the cut */
    uint64_t nentries;             /* entries of traceEvents */
    uint64_t nplain;               /* complete events that are neither annotations nor Python frames */
    double raw_min_ts, raw_max_ts; /* before align */

    bool ts_whole, iteration_whole; /* HTA holds the column as integers, for load_summary */

    int64_t world_size; /* -1 where absent */
    bool has_base;
    int64_t base_ns;
    tl_hta_vendor vendor; /* vendor of the device, by the launch calls; TL_HTA_NO_LAUNCH: unknown */
} tl_hta_frame;

void tl_hta_frame_free(tl_hta_frame *frame);

/* Categories of the complete events ("ph": "X") that HTA's trace with a critical path keeps off the path, too. */
#define TL_HTA_KEPT_OFF_PATH (TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_PYTHON))

/* fill: copies the rows that HTA keeps from a trace that was read with the hook of `words`.  With `ns`, time stamps are
 * not rounded. */
void tl_hta_frame_fill(tl_hta_frame *frame, const tl_trace *trace, const tl_verbatim *words, bool ns,
                       tl_hta_symbols *symbols);

/* link and iterate. */
void tl_hta_frame_link(tl_hta_frame *frame);
void tl_hta_frame_iterate(tl_hta_frame *frame);

/* cut: keeps the host rows that start before the last step starts; with `include_last`, until the last step ends.  A
 * device row is kept once for each kept host row with its correlation; device rows come first.  TL_EINPUT: the result
 * has more than 2^28 rows. */
tl_status tl_hta_frame_cut(tl_hta_frame *frame, bool include_last, tl_error *err);

static inline const tl_hta_symbol *tl_hta_symbol_of(const tl_hta_frame *frame, const tl_hta_row *row)
{
    return &frame->symbols->v.v[row->name];
}

static inline tl_text tl_hta_name(const tl_hta_frame *frame, const tl_hta_row *row)
{
    return tl_hta_text(frame->symbols, row->name);
}

static inline tl_text tl_hta_cat(const tl_hta_frame *frame, const tl_hta_row *row)
{
    return tl_hta_text(frame->symbols, row->cat);
}

/* HTA's two definitions of device work: breakdowns use tl_hta_on_stream, links and the cut tl_hta_on_device. */
static inline bool tl_hta_on_stream(const tl_hta_row *row)
{
    return row->stream != -1;
}

static inline bool tl_hta_on_device(const tl_hta_frame *frame, const tl_hta_row *row)
{
    return (row->stream >= 0 && row->correlation >= 0) || tl_hta_is(frame->symbols, row->name, TL_HTA_IS_SYNC);
}

/* Returns the row with this index, the last copy of a row that the cut has repeated; NULL: none. */
static inline const tl_hta_row *tl_hta_row_at(const tl_hta_frame *frame, int64_t index)
{
    const bool is_there = index >= 0 && (uint64_t)index < frame->nindices && frame->row_at[index] > 0;
    return is_there ? &frame->rows.v[frame->row_at[index] - 1] : NULL;
}

/* Returns the args of the row with this index; all values absent if the row has none. */
const tl_hta_args *tl_hta_args_of(const tl_hta_frame *frame, uint32_t index);

/* Returns the largest less the smallest ts, us; the last row's duration does not count.  NaN without rows. */
double tl_hta_frame_duration(const tl_hta_frame *frame);

/* Sets *length to the lengths of the queues, in kernels, after launches and after starts of kernels: those of the row
 * with index i are (*length)[(*first)[i] .. (*first)[i + 1]), by stream, ties by time; a launch of several kernels has
 * several lengths.  Returns why HTA cannot compute the rank's queues; NULL: it can. */
const char *tl_hta_queue_lengths(const tl_hta_frame *frame, tl_arena *arena, size_t **first, int64_t **length);

/* ------------------------------------------------------------------------------------------------------------ cells */

/* Cells: the pid and the tid of a track, a number or a text; the step of a row. */
tl_cell tl_hta_pid(const tl_hta_frame *frame, uint32_t track);
tl_cell tl_hta_tid(const tl_hta_frame *frame, uint32_t track);
static inline tl_cell tl_hta_step(int64_t step)
{
    return step == TL_HTA_STEP_UNKNOWN ? tl_blank() : tl_int(step);
}

/* ------------------------------------------------------------------------------------------------------------ a job */

/* Zero-initialise; tl_hta_job_free ends it. */
typedef struct tl_hta_job {
    TL_VEC(tl_hta_frame) frames; /* one frame for each rank with rows, ascending rank */
    tl_hta_symbols *symbols;     /* owned; NULL before the load */
    double zero;                 /* the earliest ts of all ranks, which is 0 after align */
    bool zero_whole;
    const char *execution_trace;         /* borrowed; NULL: none */
    const tl_hta_parameters *parameters; /* borrowed */
    tl_csv_folder out;                   /* folder of the tables, with the first failure */
    bool incomplete;                     /* a file is unusable or damaged */
} tl_hta_job;

void tl_hta_job_free(tl_hta_job *job);

/* Reads and loads all files.  An unusable file is left out with a note. */
void tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options);

/* align and cut, after all files are loaded. */
void tl_hta_job_align(tl_hta_job *job, bool include_last_step);

/* Adds a line to the notes.  tl_hta_note_rank: a line about one rank; the format needs at least one value. */
#define tl_hta_note(folder, ...) tl_csv_note(folder, false, __VA_ARGS__)
#define tl_hta_note_rank(folder, table, frame, format, ...)                                                            \
    tl_csv_note(folder, false, table ": rank %lld: " format, (long long)(frame)->rank, __VA_ARGS__)

/* Writes one table or several related tables of a job.  A table that HTA cannot make is not written; a note tells
 * why. */
typedef void tl_hta_table(tl_hta_job *job);

/* TL_HTA_TABLE defines a tl_hta_table that writes NAME.csv, to which `rows` adds the rows of each rank. */
typedef void tl_hta_rows(tl_csv *csv, const tl_hta_frame *frame);
void tl_hta_write_ranks(tl_hta_job *job, const char *file, const char *header, tl_hta_rows *rows);
#define TL_HTA_TABLE(function, name, header, rows)                                                                     \
    void function(tl_hta_job *job)                                                                                     \
    {                                                                                                                  \
        tl_hta_write_ranks(job, name ".csv", header, rows);                                                            \
    }

/* The functions that write the tables, in this order. */
#define TL_HTA_TABLES                                                                                                  \
    tl_hta_load_summary, tl_hta_events_by_category, tl_hta_events_by_iteration, tl_hta_gpu_events,                     \
        tl_hta_profiler_steps, tl_hta_profiler_step_windows, tl_hta_filter_counts, tl_hta_names,                       \
        tl_hta_temporal_breakdown, tl_hta_comm_comp_overlap, tl_hta_kernel_types, tl_hta_kernel_breakdown,             \
        tl_hta_timeline_gpu, tl_hta_launch_stats, tl_hta_potential_stragglers, tl_hta_user_annotations,                \
        tl_hta_kernels_of_annotations, tl_hta_op_delays, tl_hta_idle_time, tl_hta_queues, tl_hta_bandwidths,           \
        tl_hta_counter_events, tl_hta_call_graphs, tl_hta_frequent_patterns, tl_hta_cupti_counters,                    \
        tl_hta_call_stacks, tl_hta_critical_paths, tl_hta_execution_trace_links
tl_hta_table TL_HTA_TABLES;

/* Writes memory_timeline.csv and memory_timeline_summary.csv from a raw memory timeline, as export_memory_timeline
 * writes it.  folder->error is TL_EINPUT if the file is no memory timeline. */
void tl_hta_memory_timeline(const char *path, tl_csv_folder *folder);

/* Sets *out, 0-terminated, to a kernel's name without parameters and result type: "void f<int>(int)" gives "f". */
void tl_hta_short_name(tl_bytes *out, tl_text name);

/* Sets `out` to the text as part of a file's name: "::" and each character but letters, digits, '.', '_' and '-' become
 * '_' ("aten::mm": aten_mm).  Cut after `most` characters; `out` has room for most + 1.  Returns the length. */
size_t tl_hta_file_words(char *out, size_t most, const char *text);

/* Returns the offset of UTF-8 character n, counted from 0; of a shorter text its length. */
size_t tl_hta_nth_character(tl_text t, size_t n);

/* Sets *out to the label of a name in HTA's plots, at most 45 characters; both are 0-terminated. */
void tl_hta_timeline_name(tl_bytes *out, tl_text name);

#endif
