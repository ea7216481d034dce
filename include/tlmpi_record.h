/* tlmpi_record.h - phases of a training loop, timed on the GPU while it runs.
 *
 * A phase is what the device does between two events on a stream.  The recorder puts the events there, and writes a
 * line of JSON for each phase once the device has passed both, to DIRECTORY/cuda_events_rank_RANK.jsonl:
 *
 *     {"duration_ms": 1.25, "micro_step": 2, "name": "training_step", "rank": 3, "step": 7}
 *
 *     tlmpi_record_settings settings;
 *     tlmpi_record *recorder;
 *     tlmpi_record_defaults(&settings);
 *     settings.enable = 1, settings.directory = "times", settings.rank = 3;
 *     tlmpi_record_open(&settings, &recorder);
 *     for (int64_t step = 0; step < nsteps; step++) {
 *         uint64_t phase;
 *         tlmpi_record_begin(recorder, "training_step", step, stream, NULL, 0, &phase);
 *         train(stream);
 *         tlmpi_record_end(recorder, phase, stream);
 *         tlmpi_record_step_end(recorder, step);
 *     }
 *     tlmpi_record_close(recorder, NULL);
 *
 * The file is opened once: lines go with it where it is moved or deleted meanwhile.  Where a pipe stands in its
 * place, or a symbolic link to anything but a device, the recorder is off.
 *
 * No call needs its status looked at: what cannot be recorded is counted and left out, and the program goes on.
 * Only tlmpi_record_close waits for the device.  All calls but tlmpi_record_close may come from several threads at
 * once; its caller is the last who uses the recorder.  A child made by fork may call everything: nothing happens
 * there.
 *
 * The driver is libcuda.so.1 or HIP's libamdhip64.so, opened at run time: the one that the program has loaded
 * already, else the first that is there.  The environment variable TLMPI_RECORD_LIBRARY names another file to open
 * instead.
 *
 * A line is what json.dumps(record, sort_keys=True) of Python writes, and a newline, but for two things: a metadata
 * value that is NaN or infinite is written as null, since NaN is no JSON; and text that is no UTF-8 has U+FFFD where
 * Python's bytes.decode("utf-8", "replace") has it.  duration_ms is the shortest text of the double that is the
 * driver's float.  Of a value given as JSON, the spaces are Python's, and what is not ASCII is escaped as Python does;
 * NaN and Infinity are null; numbers, escapes and the order of keys are the caller's.
 */
#ifndef TLMPI_RECORD_H
#define TLMPI_RECORD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TLMPI_RECORD_API __attribute__((visibility("default")))
#else
#define TLMPI_RECORD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tlmpi_record_status {
    TLMPI_RECORD_OK = 0,
    TLMPI_RECORD_OFF,       /* the recorder is off: tlmpi_record_reason says why */
    TLMPI_RECORD_SKIPPED,   /* not a step to record, or the stream is being captured into a graph */
    TLMPI_RECORD_BAD_USE,   /* an argument that cannot be; the first of a phase is said on stderr */
    TLMPI_RECORD_NO_MEMORY, /* or TLMPI_RECORD_MAX_PHASES are begun; the first is said on stderr */
    TLMPI_RECORD_DRIVER,    /* the driver refused; its first error is said on stderr */
    TLMPI_RECORD_WRITE      /* lines were lost: the file took them not; the first error is said on stderr */
} tlmpi_record_status;

typedef struct tlmpi_record_settings {
    int enable;                   /* 0 */
    int rank;                     /* 0: this process, in the file's name and in each line; not below 0 */
    const char *directory;        /* ".", as where it is NULL or empty: made where it is not there */
    int64_t start_step;           /* 0: the first step to record */
    int64_t end_step;             /* INT64_MAX: the last */
    int64_t record_every_n_steps; /* 10: counted from start_step; less than 1 is 1 */
    int64_t flush_every_n_steps;  /* 10: at each step that these divide; less than 1 is 1 */
    const int *ranks;             /* NULL: all.  Otherwise the ranks that record */
    size_t nranks;                /* 0: how many they are; none of them, where ranks is not NULL */
} tlmpi_record_settings;

typedef enum tlmpi_record_type {
    TLMPI_RECORD_STRING,
    TLMPI_RECORD_INT,
    TLMPI_RECORD_DOUBLE,
    TLMPI_RECORD_BOOL,
    TLMPI_RECORD_JSON /* text that is a JSON value of any kind, in no more than 64 lists and objects */
} tlmpi_record_type;

/* One more key of a line. */
typedef struct tlmpi_record_value {
    const char *key; /* none of duration_ms, name, rank and step, and no key twice */
    int type;        /* tlmpi_record_type: which member of the union counts */
    union {
        const char *text; /* also of JSON; NULL is written as null */
        int64_t integer;  /* also of BOOL: false where it is 0 */
        double real;
    } as;
} tlmpi_record_value;

enum {
    TLMPI_RECORD_MAX_METADATA = 32,  /* values of a phase */
    TLMPI_RECORD_MAX_PHASES = 16384, /* begun and not yet written: more are refused, and counted as failed */
    TLMPI_RECORD_FLUSH_PHASES = 1024 /* begun since the last flush: the next begin flushes, whatever steps are over */
};

/* Of phases of steps to record.  Each is one of: open, pending, written, lost, failed, captured. */
typedef struct tlmpi_record_counts {
    int64_t written;  /* lines in the file */
    int64_t open;     /* begun and not ended */
    int64_t pending;  /* ended, and not yet written */
    int64_t lost;     /* lines that the file did not take whole */
    int64_t failed;   /* an argument that cannot be, an event or a time that the driver refused, no memory, or not
                       * ended when closed, which is said on stderr */
    int64_t captured; /* left out because the stream was being captured into a graph */
    int64_t events;   /* of the driver that exist now, used or waiting to be used again */
} tlmpi_record_counts;

typedef struct tlmpi_record tlmpi_record;

/* The values that stand beside the settings above. */
TLMPI_RECORD_API void tlmpi_record_defaults(tlmpi_record_settings *settings);

/* A recorder, also where it is off (status OFF): tlmpi_record_reason has the words, which are said on stderr, too,
 * where it was enabled for this rank and cannot work.  NULL when memory is out; every call takes that for a recorder
 * that is off.  Initialises the driver: call it where the program uses the GPU, after the last fork.  Settings are
 * copied. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_open(const tlmpi_record_settings *settings, tlmpi_record **recorder);

/* Why it is off, or "" where it is on.  Lives as long as the recorder. */
TLMPI_RECORD_API const char *tlmpi_record_reason(const tlmpi_record *recorder);

/* Begins a phase, whose name is not empty, of a step of 0 to INT32_MAX, on a stream (a CUstream, cudaStream_t or
 * hipStream_t; NULL is the default stream of the current device), whatever device is current.  Texts are copied.
 * *phase is for tlmpi_record_end, by any thread; it is 0 whenever the status is not OK. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_begin(tlmpi_record *recorder, const char *name, int64_t step,
                                                        void *stream, const tlmpi_record_value *metadata,
                                                        size_t nmetadata, uint64_t *phase);

/* Ends it, on the same stream or another of the same device; NULL is that device's default stream.  Where another
 * passes the end before the first passes the begin, that is no time: it is counted as failed, said once.  Phase 0 is
 * SKIPPED; one that has ended already, or is unknown, is BAD_USE and changes nothing. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_end(tlmpi_record *recorder, uint64_t phase, void *stream);

/* Says that a step is over: every flush_every_n_steps steps it flushes, once for each step; where the step that they
 * divide is not told, at the next that is. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_step_end(tlmpi_record *recorder, int64_t step);

/* Writes, in one piece, the lines of all phases that the device has passed.  Waits neither for the device nor for
 * another thread that is flushing. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_flush(tlmpi_record *recorder);

TLMPI_RECORD_API tlmpi_record_status tlmpi_record_count(tlmpi_record *recorder, tlmpi_record_counts *counts);

/* Waits until the device has passed all phases that have ended, writes them, gives all events back, and frees the
 * recorder. Call it while the device's context is still there.  *counts, where that is not NULL, has the last
 * counts. */
TLMPI_RECORD_API tlmpi_record_status tlmpi_record_close(tlmpi_record *recorder, tlmpi_record_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
