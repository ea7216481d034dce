/* sim.h - a training job, simulated.
 *
 * Every rank has a host that queues work, a device with streams that run it in order, and the program of its pipeline
 * stage for every step: load a batch, forward, backward, optimizer, and what these say to other ranks.
 *
 *     host      [load][ forward launches ][ backward launches, all-reduce launches ][opt][wait]
 *     compute        [copy][  forward   ][        backward         ]......[opt][copy]
 *     comm                                  ...[AR 0].[AR 1]..[  AR 2  ]
 *
 * Host and device are apart: the host runs ahead of the device and is stopped only by what waits for the device; a
 * kernel starts when its launch has arrived, its stream is free and the events it waits for have come.
 *
 * All that couples the ranks is when the last of a group has come to a collective (meet.h).  So the job is run
 * twice: once with all ranks together, which finds these times and writes nothing; then rank by rank, in any order,
 * with the times known.  A rank's run depends on the seed alone, so it may be repeated: each part of the trace file
 * is written by a run of its own, and no run remembers events.
 *
 * The chance of a step does not depend on what a fault did before: the same job without its fault (`fault.rank` =
 * -1) is the same in all else, so the difference of both is what the fault costs.
 *
 * Times are Unix nanoseconds, true ones; what the clocks of hosts show is the matter of the trace (shown_ns of
 * chance.h).
 */
#ifndef DATA_SIM_H
#define DATA_SIM_H

#include "job.h"
#include "program.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* One collective or transfer: what its arguments say. */
struct collective {
    enum operation operation;
    enum axis axis;             /* of the group that is named: PP, never PREV or NEXT */
    int64_t seq;
    int64_t in, out;            /* elements */
    int from, to;               /* ranks, of a transfer; else -1 */
    int nsplits;                /* all-to-all: members; else 0 */
    const int64_t *sent, *received;
};

struct event {
    enum event_kind kind;
    const char *name;
    int number, other;      /* stand after the name, "3" or, for transfers, "3->4"; -1: none */
    int64_t start_ns, end_ns;
    int track;              /* host thread 0 or 1; slot of a device event, -1: no stream */
    int64_t correlation;    /* CALL and device events */
    int64_t external;       /* id of the op, or of the op that queued this */
    int64_t called_ns;      /* device events: when the call began, or the annotation, that it comes from */
    int64_t parent;         /* FRAME: id of the frame around it, 0: none */
    int64_t bytes;          /* COPY, SET; CALL that copies: else 0 */
    bool to_host;           /* COPY, CALL that copies: which way */
    int64_t waits_for;      /* SYNC: correlation of the event record */
    int waits_on;           /* SYNC: slot that has the event */
    int threads, blocks;    /* KERNEL: of a block, of the grid */
    const char *kernel;     /* CALL: what it launches, NULL: nothing */
    const struct collective *collective;    /* OP, KERNEL: NULL for what is none */
};

/* Who gets the events of a run, in no strict order of time.  An event is valid during the call. */
typedef void event_sink(void *arg, const struct event *event);

struct sim;

/* Finds when all meet.  NULL when memory is out, or when the ranks wait for each other for ever; sim_free ends it. */
struct sim *sim_new(const struct job *job);
void sim_free(struct sim *sim);

const struct job *sim_job(const struct sim *sim);

/* What is recorded of a rank: host events that begin and end inside, device events that do. */
struct window {
    int64_t start_ns, end_ns;
};
struct window sim_window(const struct sim *sim, int rank);

/* Runs one rank from beginning to end, warm-up included. */
void sim_run(const struct sim *sim, int rank, event_sink *sink, void *arg);

/* ends_ns[i]: when the last rank has ended step i of all_steps(job), host and device. */
void sim_step_ends(const struct sim *sim, int64_t *ends_ns);

/* Stream numbers as the vendor's traces have them; slots of meet.h. */
int sim_stream(enum vendor vendor, int slot);

#endif
