/* rank.h - one rank of a simulated job, as far as its run has come. */
#ifndef DATA_RANK_H
#define DATA_RANK_H

#include "chance.h"
#include "fault.h"
#include "meet.h"
#include "program.h"
#include "sim.h"

#define REMEMBERED 8            /* collectives of an axis whose end a stream may still be told to wait for */
#define QUEUE_DEPTH 1024        /* launches that a driver takes before it holds the next one back */

struct sim {
    struct job job;
    struct program *programs;           /* by stage */
    size_t base[NAXES];                 /* the first meeting of the axis */
    int per_step[NAXES];                /* of a group, at most */
    size_t nmeetings;
    int64_t *last_ns;                   /* by meeting: when the last came */
    struct damage damage;
};

/* An annotation that is open, and the device work queued inside it. */
struct mark {
    const char *text;
    int number;
    int64_t start_ns, external;
    int64_t device_start_ns, device_end_ns;     /* on the compute stream; start > end: none */
};

struct rank {
    const struct sim *sim;
    struct crowd *crowd;        /* where meetings become known; NULL when all are */
    const struct program *program;
    int rank, step;
    size_t at;                  /* next instruction */
    uint64_t random, mishap;    /* states of chance: of every run, and of what only a fault adds */
    int64_t now_ns;             /* of the host: its threads hand over to each other */
    int64_t hiccup_ns;          /* for the next place where it may come */
    int hiccup_site;
    int thread;
    int64_t free_ns[NSLOTS];    /* when the stream has done what is queued */
    int64_t events_ns[4];       /* when the compute stream comes to the event */
    int64_t started_ns[QUEUE_DEPTH];            /* of the last pieces of its work */
    size_t queued;
    int64_t start_ns;           /* of the first recorded step */
    int64_t correlation, external, frame;       /* the last ids given */
    int64_t called_ns;          /* when the last call began */
    int64_t step_frame;
    int64_t records[NAXES][REMEMBERED];         /* correlation of the event after a collective */
    int64_t transfers;          /* sends and receives so far */
    double ops_owed, frames_owed;
    struct mark marks[4];
    int nmarks;
    bool failed;                /* memory was out */
    event_sink *sink;
    void *arg;
};

/* The rank before its first step. */
struct rank rank_start(const struct sim *sim, int number, struct crowd *crowd);

/* Goes on in the step.  False: it has to wait for a meeting that is not known yet. */
bool rank_run_step(struct rank *rank);

/* The end of the recording: the host waits until the device is idle. */
void rank_stop(struct rank *rank);

/* When all streams have done what is queued; all meetings are known. */
int64_t rank_idle_ns(const struct rank *rank);

/* --- host.c: what the host writes -------------------------------------------------------------------------------- */

void rank_emit(struct rank *rank, const struct event *event);
void mark_open(struct rank *rank, const char *text, int number);
void mark_close(struct rank *rank);
void emit_op(struct rank *rank, const char *name, int64_t start_ns, int64_t end_ns,
             const struct collective *collective);
void emit_frame(struct rank *rank, const char *name, int number, int64_t start_ns, int64_t end_ns, int64_t parent);

/* A call of the runtime; the host is back after cost_ns.  Returns its correlation. */
int64_t call(struct rank *rank, const char *cuda, const char *hip, const char *kernel, int64_t cost_ns);

/* A call that waits until `until_ns` at least, and what the vendor records of the wait: `kind` of the stream `slot`,
 * or of all. */
void waiting_call(struct rank *rank, const char *cuda, const char *hip, const char *kind, int slot, int64_t until_ns);

/* An operator that launches one kernel, which takes ns; `grown_ppm`: parts of a million that it is larger than
 * usual. */
void launch(struct rank *rank, const struct shape *shape, int64_t ns, int64_t grown_ppm);

void copy_in(struct rank *rank);
void clear(struct rank *rank);

/* A number travels to the host, which waits for everything before it. */
void read_number(struct rank *rank, const char *op, int64_t bytes);

/* --- comm.c ------------------------------------------------------------------------------------------------------- */

/* The rank's part in collective `what`, from the host's calls to the kernel. */
void take_part(struct rank *rank, const struct instruction *what);

/* The compute stream waits for it.  False: its end is not known yet. */
bool take_leave(struct rank *rank, enum axis axis, int number);

/* Sets free_ns of all streams.  False: the end of what is queued on one of them is not known yet. */
bool settle(struct rank *rank);

#endif
