/* track.h - events that are added to a trace: one after the other, as JSON of the trace event format.
 *
 * Slices on tracks of their own, counters, and metadata that names the tracks.  Texts may hold any bytes: the output is
 * JSON in any case.
 *
 *     tl_out_track idle = { .pid = 0, .tid = 9000 };
 *     tl_out_name_track(&w, &idle, "Idle");
 *     tl_out_arg args[] = { { "idle_id", tl_out_int(3) } };
 *     tl_out_put(&w, &(tl_out_event){ .ph = 'X', .track = idle, .name = TL_TEXT("idle#3"), .cat = "idle",
 *                                     .ts = tl_out_us(start_ns), .dur = tl_out_us(dur_ns), .args = args, .nargs = 1 });
 */
#ifndef TLMPI_TRACE_OUT_TRACK_H
#define TLMPI_TRACE_OUT_TRACK_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace_out/sink.h"

typedef enum tl_out_kind {
    TL_OUT_ABSENT, /* omitted */
    TL_OUT_INT,
    TL_OUT_US,     /* nanoseconds, written as microseconds with three decimals: exact */
    TL_OUT_DOUBLE, /* with the digits that read back as the same double; null: not a finite number */
    TL_OUT_TEXT    /* control bytes and quotes are escaped, invalid UTF-8 becomes U+FFFD */
} tl_out_kind;

typedef struct tl_out_value {
    tl_out_kind kind;
    int64_t i;
    double d;
    tl_text text; /* borrowed, as all that an event points to */
} tl_out_value;

static inline tl_out_value tl_out_int(int64_t i)
{
    return (tl_out_value){ .kind = TL_OUT_INT, .i = i };
}

static inline tl_out_value tl_out_us(int64_t ns)
{
    return (tl_out_value){ .kind = TL_OUT_US, .i = ns };
}

static inline tl_out_value tl_out_double(double d)
{
    return (tl_out_value){ .kind = TL_OUT_DOUBLE, .d = d };
}

static inline tl_out_value tl_out_text(tl_text text)
{
    return (tl_out_value){ .kind = TL_OUT_TEXT, .text = text };
}

typedef struct tl_out_arg {
    const char *key;
    tl_out_value value;
} tl_out_arg;

/* Where an event is shown: a thread of a process.  In Kineto's traces a device is a process, its number the pid. */
typedef struct tl_out_track {
    int64_t pid;
    tl_text pid_text; /* instead of pid, if the trace names its processes by text; else p is NULL */
    int64_t tid;
    tl_text tid_text; /* likewise */
} tl_out_track;

typedef struct tl_out_event {
    char ph; /* 'X' a slice, 'C' a counter, 'M' metadata, 's' and 'f' of one id the ends of an arrow between slices */
    tl_out_track track;
    tl_text name;
    const char *cat;      /* NULL: none */
    tl_out_value ts, dur; /* on the clock of the trace's own ts */
    tl_out_value id;      /* of an arrow */
    const tl_out_arg *args;
    size_t nargs;
} tl_out_event;

/* Zero-initialise but for the sink. */
typedef struct tl_out_writer {
    tl_sink *sink;
    bool after_entry; /* a comma is needed before the next event */
    uint64_t nevents; /* events written */
} tl_out_writer;

/* Writes one event; the sink remembers a failure. */
void tl_out_put(tl_out_writer *writer, const tl_out_event *event);

/* Write two metadata events: the name of the track, or of the process, and its place, in order of tids, or of pids. */
void tl_out_name_track(tl_out_writer *writer, const tl_out_track *track, const char *name);
void tl_out_name_process(tl_out_writer *writer, int64_t pid, const char *name);

/* A slice that lasts dur_ns from ts_ns on. */
void tl_out_put_slice(tl_out_writer *writer, const tl_out_track *track, tl_text name, const char *cat, int64_t ts_ns,
                      int64_t dur_ns, const tl_out_arg *args, size_t nargs);

/* The begin ('s') or the end ('f') of the arrow of that id, in the slice of the track that is there at that time. */
void tl_out_put_arrow(tl_out_writer *writer, char end, const tl_out_track *track, const char *name, const char *cat,
                      int64_t ts_ns, int64_t id);

#endif
