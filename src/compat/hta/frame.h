/* frame.h - one rank's trace as HTA holds it: the rows it keeps, with the columns it derives; what HTA reads out of names.
 *
 * Times are doubles in microseconds, as the text gives them, no base time added.  The steps of loading, in this order:
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

/* ------------------------------------------------------------------------------------------------------------- names */

/* What a row on a stream is; the name alone decides, in any category. */
typedef enum tl_hta_class {
    TL_HTA_COMPUTATION,
    TL_HTA_COMMUNICATION,
    TL_HTA_MEMORY,
    TL_HTA_OTHER,
    TL_HTA_NCLASSES
} tl_hta_class;

/* As HTA spells them. */
extern const char *const tl_hta_class_labels[TL_HTA_NCLASSES];

/* Whose launch call a name is. */
typedef enum tl_hta_vendor { TL_HTA_NO_LAUNCH, TL_HTA_NVIDIA, TL_HTA_AMD, TL_HTA_MTIA } tl_hta_vendor;

/* What a name, or a category, is to some tables; bits. */
enum {
    TL_HTA_QUEUES = 1,        /* call whose kernels wait in HTA's queues */
    TL_HTA_IS_WORK = 2,       /* category of the work whose gaps are idle time */
    TL_HTA_IS_ATEN = 4,       /* operator with a launch delay, and ... */
    TL_HTA_LAUNCHES_OP = 8,   /* ... call that launches the kernels of such an operator */
    TL_HTA_IS_NCCL = 16,      /* kernel that stragglers are told by */
    TL_HTA_HAS_NODES = 32,    /* category of rows that have nodes in the graph of a critical path wherever they are */
    TL_HTA_NAMES_THREAD = 64, /* category of rows by whose names threads are told */
    TL_HTA_IS_FORWARD = 128,
    TL_HTA_IS_AUTOGRAD = 256,
    TL_HTA_LOCKS = 512,   /* call that holds a lock of the runtime */
    TL_HTA_BLOCKS = 1024, /* call that waits for the device */
};

typedef struct tl_hta_symbol {
    unsigned traits;
    tl_hta_class class;
    tl_hta_vendor launch;
    bool sync;          /* "Event Sync" or "Context Sync": of the device even without a stream */
    bool step_row;      /* begins with ProfilerStep: rows of this name are step windows */
    bool step_name;     /* begins with ProfilerStep# and a digit: counts for the cut of the last step */
    bool step_mark;     /* begins with ProfilerStep#: its thread is the main one of the call graph */
    bool autograd;      /* has "autograd::" in it: its thread is that of the backward pass */
    bool backward_mark; /* begins with "## backward ##" */
    int64_t step;       /* its number; -1 for none */
} tl_hta_symbol;

/* The names and categories of all ranks as small ids, in one table as HTA has it.  A text is looked at once, when it
 * enters the table.  Zero-initialise; tl_hta_symbols_free ends it. */
typedef struct tl_hta_symbols {
    tl_names texts;
    TL_VEC(tl_hta_symbol) v; /* v[id] belongs to the text of that id */
} tl_hta_symbols;

/* The id of the text. */
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

/* A rule of the classification: a name that begins with `begins` and has `has` somewhere after that. */
typedef struct tl_hta_rule {
    const char *begins, *has;
    tl_hta_class class;
    const char *seen; /* a name that this rule is the first to catch */
} tl_hta_rule;

/* In order, the first match decides; the last one catches everything. */
extern const tl_hta_rule tl_hta_rules[];
extern const size_t tl_hta_nrules;

/* The rule that decides the class of a kernel name. */
const tl_hta_rule *tl_hta_rule_of(tl_text name);

/* ------------------------------------------------------------------------------------------------------------- a rank */

#define TL_HTA_NO_STEP      (-1)      /* outside of every step */
#define TL_HTA_STEP_UNKNOWN INT64_MIN /* HTA gives the row no value at all (NaN) */

typedef struct tl_hta_row {
    double ts;           /* us; after align, since the earliest row of all ranks */
    double dur;          /* us; rounding makes it -1 where less than a microsecond lies across no full one */
    double end;          /* us; ts + dur as loaded: align does not move it */
    int64_t stream;      /* -1: none */
    int64_t correlation; /* -1: none */
    int64_t link;        /* index of the partner; 0: there is none; -1: no correlation */
    int64_t iteration;   /* a step number, TL_HTA_NO_STEP or TL_HTA_STEP_UNKNOWN */
    uint32_t index;      /* position in traceEvents, all entries counted */
    uint32_t name, cat;  /* symbols */
    uint32_t track;      /* index into the frame's tracks: its pid and tid */
} tl_hta_row;

/* What the args of a row say beside its columns. */
typedef struct tl_hta_args {
    uint32_t index;  /* of the row */
    uint32_t range;  /* of a row of cuda_profiler_range: all args, a JSON object, as an id of texts; TL_NO_NAME */
    double gb_per_s; /* how fast a copy was; 0 where absent */
    int64_t wait_stream, wait_record; /* of a synchronisation: a stream, and the correlation of a cudaEventRecord; -1 */
    tl_ref external;                  /* External id; TL_REF_NONE where absent, a text or not read */
} tl_hta_args;

/* Zero-initialise; tl_hta_frame_free ends it. */
typedef struct tl_hta_frame {
    int64_t rank;
    const char *path;              /* borrowed */
    const tl_hta_symbols *symbols; /* borrowed: of the job */
    TL_VEC(tl_hta_row) rows;       /* in file order, ascending index; the cut may change both */
    uint32_t *row_at;              /* of an index: the position of its row + 1; 0: there is none */
    size_t nindices;               /* one more than the largest index */
    TL_VEC(tl_track) tracks;       /* texts are ids of texts */
    tl_names texts;                /* of tracks and ranges */
    TL_VEC(tl_hta_args) args;      /* of rows whose args say any of this; ascending index */
    size_t nloaded;                /* rows before the cut */
    uint64_t nentries;             /* of traceEvents */
    uint64_t nplain;               /* of them complete events that are no annotation and no Python frame */
    double raw_min_ts, raw_max_ts; /* before align */

    bool ts_whole, iteration_whole; /* whether HTA holds the column as integers, which load_summary tells */

    int64_t world_size; /* -1 where absent */
    bool has_base;
    int64_t base_ns;
    tl_hta_vendor vendor; /* of the device, by the launch calls; TL_HTA_NO_LAUNCH: unknown */
} tl_hta_frame;

void tl_hta_frame_free(tl_hta_frame *frame);

/* fill: takes over what HTA keeps of a trace that was read with the hook of `words`; `ns` leaves the time stamps as
 * they are. */
void tl_hta_frame_fill(tl_hta_frame *frame, const tl_trace *trace, const tl_verbatim *words, bool ns,
                       tl_hta_symbols *symbols);

/* link and iterate. */
void tl_hta_frame_link(tl_hta_frame *frame);
void tl_hta_frame_iterate(tl_hta_frame *frame);

/* cut: keeps the rows that start before the last step starts; with `include_last`, before the last step ends.  A
 * device row stays where a launch with its correlation stays, once for each such launch, and device rows come
 * first.  TL_EINPUT: the result has more than 2^28 rows. */
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

/* HTA's two notions of device work.  The breakdowns go by the stream alone, links and the cut by the second. */
static inline bool tl_hta_on_stream(const tl_hta_row *row)
{
    return row->stream != -1;
}

static inline bool tl_hta_on_device(const tl_hta_frame *frame, const tl_hta_row *row)
{
    return (row->stream >= 0 && row->correlation >= 0) || tl_hta_symbol_of(frame, row)->sync;
}

/* The row with this index, of rows that the cut has repeated the last one; NULL: there is none. */
static inline const tl_hta_row *tl_hta_row_at(const tl_hta_frame *frame, int64_t index)
{
    const bool is_there = index >= 0 && (uint64_t)index < frame->nindices && frame->row_at[index] > 0;
    return is_there ? &frame->rows.v[frame->row_at[index] - 1] : NULL;
}

/* What the args of the row with this index say; all is absent where they say nothing. */
const tl_hta_args *tl_hta_args_of(const tl_hta_frame *frame, uint32_t index);

/* Largest ts less smallest; the last row's duration is not in it.  NaN without rows. */
double tl_hta_frame_duration(const tl_hta_frame *frame);

/* How many kernels wait in a queue from a launch, or from the start of a kernel, on. */
typedef struct tl_hta_length {
    uint32_t index; /* of the call or the kernel */
    int64_t length;
} tl_hta_length;
typedef TL_VEC(tl_hta_length) tl_hta_lengths;

/* Sets *out, which the caller frees, to the lengths by stream, and of one stream in the order of time: a launch of several
 * kernels has several.  Returns why HTA has no queues of the rank; NULL: it has. */
const char *tl_hta_queue_lengths(const tl_hta_frame *frame, tl_hta_lengths *out);

/* -------------------------------------------------------------------------------------------------------------- cells */

/* The pid and the tid of a track, a number or a text; the step of a row. */
tl_cell tl_hta_pid(const tl_hta_frame *frame, uint32_t track);
tl_cell tl_hta_tid(const tl_hta_frame *frame, uint32_t track);
static inline tl_cell tl_hta_step(int64_t step)
{
    return step == TL_HTA_STEP_UNKNOWN ? tl_blank() : tl_int(step);
}

/* -------------------------------------------------------------------------------------------------------------- a job */

/* Zero-initialise; tl_hta_job_free ends it. */
typedef struct tl_hta_job {
    TL_VEC(tl_hta_frame) frames; /* ascending rank, one a rank, each with rows before the cut */
    tl_hta_symbols *symbols;     /* owned; NULL before the load */
    double zero;                 /* the earliest ts of all ranks, which is 0 after align */
    bool zero_whole;
    const char *execution_trace;         /* borrowed; NULL: none */
    const tl_hta_parameters *parameters; /* borrowed */
    tl_csv_folder out;                   /* of the tables, with the first failure */
    tl_bytes notes;                      /* lines */
    bool incomplete;                     /* a file could not be used, or is damaged */
} tl_hta_job;

void tl_hta_job_free(tl_hta_job *job);

/* Reads and loads all files.  A file that cannot be used is noted and left out. */
void tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options);

/* align and cut, when all frames are there. */
void tl_hta_job_align(tl_hta_job *job, bool include_last_step);

/* Adds a line to the notes; a line about a rank, with one value or more for the format. */
#define tl_hta_note(job, ...) tl_csv_note(&(job)->notes, false, __VA_ARGS__)
#define tl_hta_note_rank(job, table, frame, format, ...)                                                               \
    tl_csv_note(&(job)->notes, false, table ": rank %lld: " format, (long long)(frame)->rank, __VA_ARGS__)

/* A table, or several of one idea: writes files from the frames.  Where HTA could not make its rows the file is not
 * written, and a line of the notes tells why. */
typedef void tl_hta_table(tl_hta_job *job);

/* A table to which each rank adds its rows. */
typedef void tl_hta_rows(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame);
void tl_hta_write_ranks(tl_hta_job *job, const char *file, const char *header, tl_hta_rows *rows);

/* What was loaded: rows by category, by step, one by one, and through filters; how busy each rank was. */
tl_hta_table tl_hta_load_summary, tl_hta_events_by_category, tl_hta_events_by_iteration, tl_hta_gpu_events;
tl_hta_table tl_hta_profiler_steps, tl_hta_profiler_step_windows, tl_hta_filter_counts;
tl_hta_table tl_hta_temporal_breakdown, tl_hta_comm_comp_overlap;

/* Kernels by class and name, their launches, annotations; the ranks that come last to collectives; what HTA's plots write
 * at a kernel. */
tl_hta_table tl_hta_kernel_types, tl_hta_kernel_breakdown, tl_hta_user_annotations, tl_hta_launch_stats;
tl_hta_table tl_hta_names, tl_hta_timeline_gpu, tl_hta_potential_stragglers;

/* What the streams of a device did between launches: idle time and why, how full their queues were, how fast copies went,
 * under which annotation and operator kernels ran. */
tl_hta_table tl_hta_idle_time, tl_hta_queues, tl_hta_bandwidths, tl_hta_counter_events;
tl_hta_table tl_hta_kernels_of_annotations, tl_hta_op_delays;

/* What stands within what: HTA's call graph with what it finds in it, its older call stacks, and the nodes of the job's
 * execution trace, where there is one, that rows belong to. */
tl_hta_table tl_hta_call_graphs, tl_hta_frequent_patterns, tl_hta_cupti_counters, tl_hta_call_stacks;
tl_hta_table tl_hta_execution_trace_links;

/* What made each rank, or each of its steps, as long as it was. */
tl_hta_table tl_hta_critical_paths;

/* memory_timeline.csv and memory_timeline_summary.csv of a raw memory timeline, as export_memory_timeline writes it.
 * TL_EINPUT: it is none. */
void tl_hta_memory_timeline(const char *path, tl_csv_folder *folder);

/* A kernel's name without parameters and the type that comes before: "void f<int>(int)" is "f".  *out is made anew, here and
 * below. */
void tl_hta_short_name(tl_bytes *out, tl_text name);

/* A text as a part of a file's name: "aten::mm" is aten_mm, and what is no letter, digit, point, _ or - is _.  Cut after
 * `most` characters, which `out` has room for, and the end of the text; returns their number. */
size_t tl_hta_file_words(char *out, size_t most, const char *text);

/* Where the n-th character of UTF-8 begins, or the text ends. */
size_t tl_hta_nth_character(tl_text t, size_t n);

/* What a plot writes at a row: up to 44 characters. */
void tl_hta_timeline_name(tl_bytes *out, tl_text name);

#endif
