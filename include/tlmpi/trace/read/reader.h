/* reader.h - one trace file to its events, in whatever format it is written.
 *
 * A format is a tl_reader: which files are its own, what a look at one says before it is read whole, and how it is
 * read.  The table tl_readers has all formats, so a new format is a file with a tl_reader, and a line of that table;
 * users of a tl_trace need not know which reader made it:
 *
 *     kineto      bytes -> source -> split -> (fast reader | yajl) -> columns      PyTorch's profiler
 *     jsonl       durations of phases, which are no events: phases.h reads them
 *     memory      timelines of memory, which are no events: memory.h reads them
 *     execution   operators without times, which are no events: execution.h reads them
 *     database    rows of SQLite -> columns             Nsight Systems, rocprofv3; where libsqlite3 was there
 *     foreign     formats of other profilers, which are named and not read
 *
 * A bad event is lost alone: the reader counts it, with its byte offset, and finds the next one.  An event that is JSON
 * but is followed by neither a comma nor the end of the array (or of the text) has been torn: the event is lost where
 * it ends with a number or with the brackets of another event, else it counts as repaired.  A cut file gives every
 * whole event before the cut.  Where the text around the array is damaged, rank, base time and the like are found by
 * their names.
 *
 * From the path of a file.  May use text, event, meta and the names of model.
 */
#ifndef TLMPI_TRACE_READ_READER_H
#define TLMPI_TRACE_READ_READER_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace/event/hook.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/source.h"

/* A slice of a plain file, for several procs on one trace: the entries that start in [from, to).  The first slice
 * starts at 0, the last ends at UINT64_MAX. */
typedef struct tl_read_range {
    uint64_t from, to;
} tl_read_range;

typedef struct tl_read_options {
    uint32_t keep;              /* categories to keep, bits TL_CAT_BIT(...) */
    bool yajl_only;             /* every event through yajl, the reference reader */
    const tl_entry_hook *hook;  /* keeps more of each entry than the columns, of whole files only; NULL: none */
    const tl_read_range *range; /* NULL: the whole file */
    void (*tick)(void *);       /* called about once a block, for a proc that has others to serve; may be NULL */
    void *tick_arg;
} tl_read_options;

/* What the reading of one file came to. */
typedef struct tl_read_report {
    bool gzip;
    uint64_t file_bytes, text_bytes;
    uint64_t entries; /* entries of traceEvents seen, whole or not */
    uint64_t kept;
    uint64_t filtered;      /* whole entries of categories that are not kept */
    uint64_t dropped;       /* entries lost: not JSON, or a number that cannot be */
    uint64_t repaired;      /* entries read after a repair (control bytes, bad UTF-8, NaN ..., +5, negative dur) */
    uint64_t untimed;       /* of these, without a duration, or with one below 0: it counts as 0 */
    int64_t first_bad_byte; /* offset in the text of what is wrong first: in an entry dropped or repaired, in the text
                             * around them, or of the cut; -1 */
    char first_bad[256];    /* what was expected there and what was done; empty when all is well */
    bool cut;               /* the text ends before the document does */
    bool source_fault;      /* the compressed stream, the text around the array or what stands after the document is
                             * damaged, though all entries may be whole */
    bool has_events;        /* a traceEvents array (or a bare array of events) was found */
    uint64_t base_at;       /* offset in the text of the last baseTimeNanoseconds' value; UINT64_MAX without one */
    bool fractional_ts;     /* of a category to be kept, some entry's ts is a number with a fraction, or it has no ts */
    bool no_memory;         /* reading stopped there: the rest has no room in memory */
    bool over_limit;        /* and that by --max-memory: what was read before is the trace, which is cut */

    /* Where a slice begins and ends, for tl_trace_append. */
    bool bare, closed;    /* the file is a bare array; the array's end lies in this slice */
    uint64_t first_entry; /* offset of the slice's first entry; UINT64_MAX without one */
    uint64_t stopped_at;  /* offset of the first entry after the slice; UINT64_MAX where the text or the array ended */

    /* Where more entries may go, for trace_out/splice.h; offsets in the text, of a file that was read in one. */
    uint64_t array_begin; /* after the '[' of traceEvents, of the last where there are several */
    uint64_t array_end;   /* its ']'; UINT64_MAX where that is missing */
    uint64_t entries_end; /* after the last entry that can be read; 0 without one */
    uint64_t whole_to;    /* of a document that is cut after the array: up to here it is whole; 0 where it is damaged */
    char closing[64];     /* the brackets that would close the text, there or after the last entry */
} tl_read_report;

typedef struct tl_trace {
    tl_events events;
    tl_meta meta;
    tl_read_report report;
    char *doc; /* of a slice: its part of the text around the array, not yet read into meta */
    size_t ndoc;
} tl_trace;

/* Reads the file into *out, which tl_trace_free ends, also after a failure.  TL_OK even when the file is damaged:
 * out->report tells.  TL_EINPUT: cannot be opened, or holds no traceEvents. */
tl_status tl_trace_read(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err);

void tl_trace_free(tl_trace *trace);

/* ---------------------------------------------------------------------------------------------------------- slices
 *
 *     slice 0   [ entry entry ent|ry ]                      begins at the true beginning
 *     slice 1                    | ......[ entry entry ... ]   begins at a guess: the first place that can only be the start
 *                                                              of an entry
 *
 * Slice 0 is right.  A right slice says where the first entry after it starts; if the next slice begins at just that
 * entry, and lost no entry, the next slice is right, too.  So a wrong guess always shows, and the file is then read
 * again by one proc. */

/* Appends a slice to those before it.  False, and nothing is done: the slice is not proven to continue *whole.  *next may
 * be freed afterwards. */
bool tl_trace_append(tl_trace *whole, const tl_trace *next);

/* When all slices are appended: reads the text around the array.  The report is then the same as if one proc had
 * read the whole file. */
void tl_trace_complete(tl_trace *whole);

/* --------------------------------------------------------------------------------------------------------- windows
 *
 *     file 0   [step 8][step 9]                                schedule(repeat=2), iteration_10/, iteration_20/ ...:
 *     file 1                    . . . . [step 18][step 19]     one process, which did not record in between
 *     job      [step 8][step 9]|[step 18][step 19]             recorded time stands still in the hole
 *
 * A seam is the instant at which a later window begins.  No work, wait or idle time lies across a seam. */

/* What the job decides about a window, the same on all ranks. */
typedef struct tl_window {
    int32_t number;     /* from 0, in order of time */
    int32_t more_steps; /* what its steps count more than their marks say: where each window counts anew */
    int64_t closed_ns;  /* length of the holes before it, which recorded time leaves out */
} tl_window;

/* Appends a window to those before it; *whole has no events before the first.  Times are of recorded time then, positions in
 * traceEvents go on, and correlation ids that come again are moved out of the way.  Takes *next over. */
void tl_trace_add_window(tl_trace *whole, tl_trace *next, const tl_window *window);

/* --------------------------------------------------------------------------------------------------------- formats */

typedef enum tl_input_kind {
    TL_INPUT_TRACE,      /* has traceEvents, or begins as one and is cut */
    TL_INPUT_UNREADABLE, /* should be a trace (by its name), but cannot be opened, is empty, or is damaged at its head
                          */
    TL_INPUT_PHASES,     /* no trace: durations of phases, for phases.h */
    TL_INPUT_MEMORY,     /* no trace: a memory timeline, for memory.h */
    TL_INPUT_EXECUTION,  /* no trace: an execution trace, for execution.h */
    TL_INPUT_OTHER       /* some other JSON: a memory snapshot ...; left out */
} tl_input_kind;

/* A process group that is not the whole job: its name with its first member, and its members.  Two groups of one job
 * that agree in the first agree in the second, too. */
typedef struct tl_group_mark {
    uint64_t key, members; /* hashes */
} tl_group_mark;

#define TL_GROUP_MARKS 8

/* What a trace says of its origin, beyond rank and world size; 0 and empty: nothing. */
typedef struct tl_origin {
    int64_t pid;         /* of the process that was traced */
    uint64_t gpu;        /* hash of the name of its first device */
    uint64_t head;       /* hash of the first 64 KiB of its text */
    tl_extent extent;    /* of the file */
    uint64_t packing;    /* hash of what it is packed in; 0: plain */
    char host[64];       /* what distributedInfo or the like says, cut to what fits */
    bool no_device_work; /* all entries were looked at, and none is work of a device */
    uint32_t ngroups;
    tl_group_mark groups[TL_GROUP_MARKS]; /* the first few */
} tl_origin;

/* What a look at a file says of it. */
typedef struct tl_look {
    tl_input_kind kind;
    char why[256];            /* UNREADABLE, OTHER: the reason, with the byte, without the path */
    int64_t rank, world_size; /* -1 where absent */
    int64_t begin_ns;         /* Unix ns of the first entry with a time; -1 where that is not known */
    tl_origin origin;
} tl_look;

#define TL_LOOK_INIT                                                                                                   \
    {                                                                                                                  \
        .kind = TL_INPUT_UNREADABLE, .rank = -1, .world_size = -1, .begin_ns = -1                                      \
    }

typedef struct tl_reader {
    const char *name;           /* "kineto" */
    tl_input_kind kind;         /* what its files are: a rank's TRACE, or PHASES ... */
    const char *const *endings; /* of the names of its files, ended by NULL: which files of a folder are taken */

    /* Whether the file is of this format; head: the first bytes of its text, up to TL_HEAD_BYTES, none of a pipe.  by_name:
     * without a head the path alone tells. */
    bool by_name;
    bool (*claims)(const char *path, tl_text head);

    /* Fills *out, which is TL_LOOK_INIT but for the reader's kind: from the head of the file, and where that does not name
     * rank and begin and `deep` says so, from its end.  should_be: by its name it is a trace, so it is told where it is none.
     * Never fails.  NULL: the kind says all. */
    void (*look)(const char *path, tl_text head, bool deep, bool should_be, tl_look *out);

    /* Says format, version, and what the file lacks for which answer, into words of `size` bytes.  NULL: its name says all. */
    void (*say)(const char *path, char *words, size_t size);

    /* Appends the names of the parts of a file, each a rank's trace and each ended by a 0, where there are several.  NULL: a
     * file is one trace. */
    void (*parts)(const char *path, tl_bytes *names);

    /* As tl_trace_read.  NULL: its files hold no events, for the reason given.  A format whose files cannot be read in
     * slices refuses options->range with TL_EINTERNAL; the file is then read in one. */
    tl_status (*read)(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err);
    const char *reason;
} tl_reader;

/* All formats, ended by NULL; the last takes every file that no other claims. */
extern const tl_reader *const tl_readers[];

/* Returns the reader of the file from a table like tl_readers, which is not empty.  A table of one reader leaves the
 * file unopened. */
const tl_reader *tl_reader_among(const tl_reader *const *readers, const char *path);

/* ---------------------------------------------------------------------------------------------------------- parts
 *
 * A file may hold the traces of several ranks.  A part has a path, as if the file were a folder:
 *
 *     node0.sqlite             the file
 *     node0.sqlite/pid-144     the trace of one of its processes
 */

/* The length of the path of the file that a path, or the path of a part, names. */
size_t tl_file_length(const char *path);

/* Appends the names of the parts of a file, each ended by a 0; none where the file is one trace. */
void tl_parts_list(const char *path, tl_bytes *names);

/* What the reader says of the file, empty where its name says all. */
void tl_format_say(const char *path, char *words, size_t size);

/* Looks at a file with its reader, as tl_reader.look says. */
void tl_look_at(const char *path, bool deep, bool should_be, tl_look *out);

/* For a look: sets kind and why. */
void tl_look_say(tl_look *look, tl_input_kind kind, const char *reason);

#endif
