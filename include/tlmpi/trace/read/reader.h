/* reader.h - reads one trace file of any format into events.
 *
 * A format is a tl_reader: which files belong to it, what a quick look at a file finds, and how it is read.  The table
 * tl_readers has all formats, so a new format is a file with a tl_reader and a line in that table; users of a tl_trace
 * need not know which reader made it:
 *
 *     kineto      bytes -> source -> split -> (fast reader | yajl) -> columns      PyTorch's profiler
 *     jsonl       durations of phases, not events: phases.h reads them
 *     memory      memory timelines, not events: memory.h reads them
 *     execution   operators without times, not events: execution.h reads them
 *     database    rows of SQLite -> columns             Nsight Systems, rocprofv3; if built with libsqlite3
 *     pftrace     packets of protobuf -> entries        PyTorch, rocprofv3; if built with libprotobuf-c
 *     foreign     formats of other profilers, which are recognised but not read
 *
 * A bad event is dropped alone: the reader counts it, with its byte offset, and continues at the next one.  An event
 * that is valid JSON but is followed by neither a comma nor the end of the array (or text) is torn: the event is
 * dropped if it ends with a number or with the brackets of another event, else it counts as repaired.  A truncated file
 * gives every complete event before the end.  If the text around the array is damaged, rank, base time and similar
 * values are found by their names.
 *
 * Input: the path of a file.  May use text, event, meta and the names of model.
 */
#ifndef TLMPI_TRACE_READ_READER_H
#define TLMPI_TRACE_READ_READER_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace/event/hook.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/source.h"

/* A slice of an uncompressed file, for several procs on one trace: the entries that start in [from, to).  The first
 * slice starts at 0, the last ends at UINT64_MAX. */
typedef struct tl_read_range {
    uint64_t from, to;
} tl_read_range;

typedef struct tl_read_options {
    uint32_t keep;              /* categories to keep, bits TL_CAT_BIT(...) */
    bool yajl_only;             /* every event is read by yajl, the reference reader */
    bool columns_alone;         /* shapes of operators are not read: the trace is not analysed */
    const tl_entry_hook *hook;  /* keeps more of each entry than the columns, for whole files only; NULL: none */
    const tl_read_range *range; /* NULL: the whole file */
    void (*tick)(void *);       /* called about once a block, so that a proc can serve others; may be NULL */
    void *tick_arg;
} tl_read_options;

/* The outcome of reading one file. */
typedef struct tl_read_report {
    bool gzip;
    uint64_t file_bytes, text_bytes;
    uint64_t entries; /* entries of traceEvents, complete or not */
    uint64_t kept;
    uint64_t filtered;      /* complete entries of categories that are not kept */
    uint64_t dropped;       /* entries dropped: not JSON, or an invalid number */
    uint64_t repaired;      /* entries read after a repair (control bytes, bad UTF-8, NaN ..., +5, negative dur) */
    uint64_t untimed;       /* repaired entries without a duration, or with one below 0, which counts as 0 */
    int64_t first_bad_byte; /* offset in the text of the first fault: in a dropped or repaired entry, in the text around
                             * the array, or of the truncation; -1: none */
    char first_bad[256];    /* what was expected there and what was done; empty: no fault */
    bool cut;               /* the text ends before the document does */
    bool source_fault;      /* the compressed stream, the text around the array or the text after the document is
                             * damaged, even if all entries are complete */
    bool has_events;        /* the text has a traceEvents array, or is a bare array of events */
    uint64_t base_at;       /* offset in the text of the last value of baseTimeNanoseconds; UINT64_MAX: none */
    bool fractional_ts;     /* among entries of categories to keep, some ts is missing or has a fraction */
    bool no_memory;         /* reading stopped for lack of memory */
    bool over_limit;        /* reading stopped because of --max-memory: the trace is what was read before */

    /* Begin and end of a slice, for tl_trace_append. */
    bool bare, closed;    /* the file is a bare array; the end of the array lies in this slice */
    uint64_t first_entry; /* offset of the slice's first entry; UINT64_MAX: none */
    uint64_t stopped_at;  /* offset of the first entry after the slice; UINT64_MAX: the text or the array ended */

    /* Where entries may be inserted, for trace_out/splice.h; offsets in the text of a file that was read whole. */
    uint64_t array_begin; /* after the '[' of traceEvents; of the last one if there are several */
    uint64_t array_end;   /* its ']'; UINT64_MAX: missing */
    uint64_t entries_end; /* after the last entry that can be read; 0: none */
    uint64_t whole_to;    /* of a document that is truncated after the array: end of the valid text; 0: damaged */
    char closing[64];     /* the brackets that would close the text, there or after the last entry */
} tl_read_report;

typedef struct tl_trace {
    tl_events events;
    tl_meta meta;
    tl_read_report report;
    char *doc; /* of a slice: its part of the text around the array, not yet parsed into meta */
    size_t ndoc;
} tl_trace;

/* Reads the file into *out, which tl_trace_free ends, also after a failure.  TL_OK even if the file is damaged: see
 * out->report.  TL_EINPUT: the file cannot be opened, or has no traceEvents. */
tl_status tl_trace_read(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err);

void tl_trace_free(tl_trace *trace);

/* ---------------------------------------------------------------------------------------------------------- slices
 *
 *     slice 0   [ entry entry ent|ry ]                         begins at the first entry
 *     slice 1                    | ......[ entry entry ... ]   begins at a guess: the first place that can only be the
 *                                                              start of an entry
 *
 * Slice 0 is right.  A right slice knows where the first entry after it starts; if the next slice begins at that entry,
 * and dropped no entry, the next slice is right, too.  So a wrong guess is always detected, and the file is then read
 * again by one proc. */

/* Appends a slice to those before it.  Returns false, and does nothing, if the slice is not proven to continue *whole.
 * *next may be freed afterwards. */
bool tl_trace_append(tl_trace *whole, const tl_trace *next);

/* Parses the text around the array, after all slices are appended.  The report is then the same as if one proc had read
 * the whole file. */
void tl_trace_complete(tl_trace *whole);

/* --------------------------------------------------------------------------------------------------------- windows
 *     file 0   [step 8][step 9]                                schedule(repeat=2), iteration_10/, iteration_20/ ...:
 *     file 1                    . . . . [step 18][step 19]     one process, which did not record in between
 *     job      [step 8][step 9]|[step 18][step 19]             recorded time stands still in the hole
 *
 * A seam is the instant at which a later window begins.  No work, wait or idle time crosses a seam. */

/* The job's decision about a window, the same on all ranks. */
typedef struct tl_window {
    int32_t number;     /* from 0, in order of time */
    int32_t more_steps; /* added to its step numbers, if each window counts from the same number */
    int64_t closed_ns;  /* total length of the holes before it, ns, which recorded time leaves out */
} tl_window;

/* Appends a window to those before it; before the first one *whole has no events.  Times become recorded time,
 * positions in traceEvents continue, and correlation ids that would repeat are shifted.  Takes over *next. */
void tl_trace_add_window(tl_trace *whole, tl_trace *next, const tl_window *window);

/* --------------------------------------------------------------------------------------------------------- formats */

typedef enum tl_input_kind {
    TL_INPUT_TRACE,      /* has traceEvents, or begins as one and is cut */
    TL_INPUT_UNREADABLE, /* should be a trace (by its name), but cannot be opened, is empty, or is damaged at its
                          * head */
    TL_INPUT_PHASES,     /* not a trace: durations of phases, for phases.h */
    TL_INPUT_MEMORY,     /* not a trace: a memory timeline, for memory.h */
    TL_INPUT_EXECUTION,  /* not a trace: an execution trace, for execution.h */
    TL_INPUT_OTHER       /* other JSON, such as a memory snapshot; ignored */
} tl_input_kind;

/* A process group smaller than the job.  Two groups of one job with equal key have equal members. */
typedef struct tl_group_mark {
    uint64_t key, members; /* hashes: of name and first member; of all members */
} tl_group_mark;

#define TL_GROUP_MARKS 8

/* The origin of a trace, beyond rank and world size; 0 and empty: unknown. */
typedef struct tl_origin {
    int64_t pid;         /* of the traced process */
    uint64_t gpu;        /* hash of the name of its first device */
    uint64_t head;       /* hash of the first 64 KiB of its text */
    tl_extent extent;    /* of the file */
    uint64_t packing;    /* hash of the name of its compression; 0: none */
    char host[64];       /* from distributedInfo or similar, truncated to fit */
    bool no_device_work; /* all entries were looked at, and none is device work */
    uint32_t ngroups;
    tl_group_mark groups[TL_GROUP_MARKS]; /* the first few groups */
} tl_origin;

/* The result of a quick look at a file. */
typedef struct tl_look {
    tl_input_kind kind;
    char why[256];            /* UNREADABLE, OTHER: the reason, with the byte offset, without the path */
    int64_t rank, world_size; /* -1: absent */
    int64_t begin_ns;         /* Unix ns of the first entry with a time; -1: unknown */
    tl_origin origin;
} tl_look;

#define TL_LOOK_INIT                                                                                                   \
    {                                                                                                                  \
        .kind = TL_INPUT_UNREADABLE, .rank = -1, .world_size = -1, .begin_ns = -1                                      \
    }

typedef struct tl_reader {
    const char *name;           /* "kineto" */
    tl_input_kind kind;         /* kind of its files: a rank's TRACE, or PHASES ... */
    const char *const *endings; /* of the names of its files, ended by NULL: files of a folder with these are listed */

    /* Whether the file is of this format.  head: the first bytes of its text, up to TL_HEAD_BYTES, empty for a pipe.
     * by_name: with an empty head, the path alone decides. */
    bool by_name;
    bool (*claims)(const char *path, tl_text head);

    /* Fills *out, which is TL_LOOK_INIT with the reader's kind: from the head of the file, and if that lacks rank or
     * begin and `deep` is set, from its end.  should_be: by its name the file is a trace, so it is reported if it is
     * not one.  Never fails.  NULL: nothing but the kind. */
    void (*look)(const char *path, tl_text head, bool deep, bool should_be, tl_look *out);

    /* Writes format, version, and the questions that the file has no data for, into words[size].  NULL: nothing but its
     * name. */
    void (*say)(const char *path, char *words, size_t size);

    /* Appends the names of the parts of a file, each a rank's trace, each followed by a 0, if there are several.  NULL:
     * a file is one trace. */
    void (*parts)(const char *path, tl_bytes *names);

    /* As tl_trace_read.  NULL: its files have no events, for the reason given.  A format whose files cannot be read in
     * slices fails on options->range with TL_EINTERNAL; the file is then read whole. */
    tl_status (*read)(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err);
    const char *reason;
} tl_reader;

/* All formats, ended by NULL; the last one accepts any file. */
extern const tl_reader *const tl_readers[];

/* Returns the reader of the file from a table like tl_readers, which is not empty.  With a table of one reader the file
 * is not opened. */
const tl_reader *tl_reader_among(const tl_reader *const *readers, const char *path);

/* ---------------------------------------------------------------------------------------------------------- parts
 *
 * A file may hold the traces of several ranks.  A part has a path as if the file were a folder:
 *
 *     node0.sqlite             the file
 *     node0.sqlite/pid-144     the trace of one of its processes
 */

/* Returns the length of the path of the file in the path of a file or part. */
size_t tl_file_length(const char *path);

/* Appends the names of the parts of a file, each followed by a 0; none if the file is one trace. */
void tl_parts_list(const char *path, tl_bytes *names);

/* Writes tl_reader.say of the file; empty if the reader has none. */
void tl_format_say(const char *path, char *words, size_t size);

/* Looks at a file with its reader, as in tl_reader.look. */
void tl_look_at(const char *path, bool deep, bool should_be, tl_look *out);

/* Sets kind and why of a look. */
void tl_look_say(tl_look *look, tl_input_kind kind, const char *reason);

#endif
