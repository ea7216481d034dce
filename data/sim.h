/* sim.h - a data-parallel training job, simulated.
 *
 * Every rank has a host that queues work, one device with two streams that run it in order, and the same program for
 * every step: load a batch, forward, backward with all-reduces beside it, optimizer.  Hosts and devices differ a little
 * from rank to rank; an all-reduce ends for all of them when the last has come and the data has moved.
 *
 *     host      [load][ forward launches ][ backward launches, all-reduce launches ][opt][wait]
 *     compute        [copy][  forward   ][        backward         ]......[opt][copy]
 *     comm                                  ...[AR 0].[AR 1]..[  AR 2  ]
 *
 * All that couples the ranks is when each all-reduce ends.  So the job is run twice: once in step over all ranks, which
 * finds these ends and writes nothing; then rank by rank, in any order, with the ends known.  A rank's run depends on
 * the seed alone, so it may be repeated: each part of the trace file is written by a run of its own, and no run
 * remembers events.
 *
 * Times are Unix nanoseconds.
 */
#ifndef DATA_SIM_H
#define DATA_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vendor { VENDOR_NVIDIA, VENDOR_ROCM };

/* What is done to one rank: its host stands still for `ns` at the start of forward, in steps [from, to]. */
struct fault {
    int rank;               /* -1: nothing is done */
    int64_t ns;
    int from, to;
};

struct job {
    int ranks, steps;
    int first_step;         /* number of the first ProfilerStep# */
    int layers;
    int bucket_layers;      /* layers whose gradients travel in one all-reduce */
    uint64_t seed;
    enum vendor vendor;
    double ops, frames;     /* cpu_op and python_function events beside each launch, in the mean */
    struct fault late;
};

enum event_kind {
    EVENT_OP,
    EVENT_ANNOTATION,
    EVENT_FRAME,
    EVENT_CALL,             /* of the runtime */
    EVENT_KERNEL,
    EVENT_COPY,
    EVENT_SET,
    EVENT_SYNC,             /* a recorded wait of a stream or of the host */
    EVENT_DEVICE_ANNOTATION
};

/* One all-reduce: what its arguments say. */
struct collective {
    int64_t seq, elements;
};

struct event {
    enum event_kind kind;
    const char *name;
    int number;             /* stands behind the name, -1: none */
    int64_t start_ns, end_ns;
    int track;              /* host thread 0 or 1; stream of a device event */
    int64_t correlation;    /* CALL and device events */
    int64_t external;       /* id of the op, or of the op that queued this */
    int64_t parent;         /* FRAME: id of the frame around it, 0: none */
    int64_t bytes;          /* COPY, SET */
    int64_t waits_for;      /* SYNC: correlation of the event record */
    int threads;            /* KERNEL: of a block */
    const char *kernel;     /* CALL: what it launches, NULL: nothing */
    const struct collective *collective;    /* OP, KERNEL: NULL for what is none */
};

/* Who gets the events of a run, in no strict order of time. */
typedef void event_sink(void *arg, const struct event *event);

struct sim;

/* Finds the ends of all all-reduces.  NULL when memory is out; sim_free ends it. */
struct sim *sim_new(const struct job *job);
void sim_free(struct sim *sim);

/* Runs one rank from beginning to end.  *window: from its first to its last host event. */
struct window {
    int64_t start_ns, end_ns;
};
void sim_run(const struct sim *sim, int rank, event_sink *sink, void *arg, struct window *window);

/* Stream numbers as the vendor's traces have them. */
int sim_stream(enum vendor vendor, bool comm);

#endif
