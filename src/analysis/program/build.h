/* build.h - a program in the making: where everything stands (place.c, beside.c, behind.c,
 * waits.c), before it is strung into chains (program.c). */
#ifndef ANALYSIS_PROGRAM_BUILD_H
#define ANALYSIS_PROGRAM_BUILD_H

#include "tlmpi/analysis/program/program.h"
#include "tlmpi/model/parameters.h"

/* No recording is longer: sums over ranks and chains of anything shorter stay far from overflow. */
#define TL_PROGRAM_MAX_NS (INT64_C(1) << 46)

/* Where one comm stands among the rank's own work. */
typedef struct tl_comm_place {
    int64_t launch_ns; /* where its launch is not in the trace: that of the work before it */
    uint32_t at;       /* pieces of local work that come before it, by the order of launches */
    uint32_t behind;   /* it waits for the last of so many pieces of local work; 0: for none */
    uint32_t previous; /* comm before it on its stream, TL_NONE */
    bool launched;
} tl_comm_place;

/* Where one segment ends and the next begins. */
typedef struct tl_boundary {
    int64_t host_ns;
    uint32_t at;   /* pieces of local work before it */
    uint32_t comm; /* TL_NONE: a step begins, or the last one ends */
    int32_t step;  /* of what follows */
} tl_boundary;

/* One wait of the host, and what ended it. */
typedef struct tl_release {
    tl_host_wait wait;
    int64_t gate_ns; /* from the end of that to the end of the wait */
    uint32_t behind; /* the last of so many pieces of local work, 0: none */
    uint32_t comm;   /* TL_NONE */
} tl_release;

typedef struct tl_building {
    const tl_rank_view *view;
    int64_t start_ns, end_ns;
    int64_t skew_ns;     /* taken off the times of the host, whose clock is so much ahead of the device's */
    int64_t latency_ns;  /* from a launch to the start of a kernel that nothing else keeps waiting */
    uint32_t *local;     /* the rank's own work by start: indices of kernels */
    uint32_t *comm;      /* communication in the order of the view */
    uint32_t *ended;     /* the same by end: indices into comm */
    uint32_t *comm_of;   /* by kernel: its place in `comm` or, for local work, in `local` */
    uint32_t *same;      /* by kernel: the comm right before it on its stream, TL_NONE */
    int64_t *busy_until; /* by local work: the end of all that came so far, but for copies beside it */
    size_t nlocal, ncomm;
    tl_comm_place *place; /* by comm */
    tl_boundary *boundaries;
    tl_release *releases;
    size_t nboundaries, nreleases;
    bool *cut;    /* by local work: an entry must end with it */
    bool *beside; /* by local work: a copy that holds up nothing but what waits for its end */
} tl_building;

/* Clocks of host and device are no further apart. */
#define TL_SKEW_MAX_NS INT64_C(200000)

/* waits.c: fills the releases, of all waits that the device ended.  False when memory is out. */
bool tl_building_find_releases(tl_building *b, const tl_host_waits *waits);

/* beside.c: fills `beside`, once work is in order.  False when memory is out. */
bool tl_building_find_beside(tl_building *b, const tl_host_waits *waits);

/* behind.c: fills the place of each comm, once work and comms are in order.  False when memory is out. */
bool tl_building_place_comms(tl_building *b);

/* Fills the building from the view; false when memory is out.  nlocal + ncomm is 0 for a view that has no program. */
bool tl_building_place(tl_building *b, const tl_rank_view *view, const tl_host_waits *waits);
void tl_building_free(tl_building *b);

/* How many comms, in the order of `ended`, had ended at an instant. */
size_t tl_comms_ended_at(const tl_building *b, int64_t at_ns);

/* kinds.c: what a kernel computes: the same for the same name and grid on every rank, 0 where it computes nothing. */
uint64_t tl_kernel_does(const tl_rank_view *view, const tl_kernel *k);

/* kinds.c: whether the rank sends to another or receives. */
bool tl_is_stage(const tl_rank_view *view);

/* A time of the host on the clock of the device. */
static inline int64_t tl_on_device(const tl_building *b, int64_t host_ns)
{
    return host_ns < INT64_MIN + b->skew_ns ? INT64_MIN : host_ns - b->skew_ns;
}

/* When the kernel's launch was done, on the clock of the device and no later than its own start; TL_TIME_UNKNOWN.  That is
 * when the call returns: a call that takes long is a host that is late.  Calls that launch many, and those that may wait for
 * a copy, last for other reasons: of them it is the start. */
static inline int64_t tl_launch_of(const tl_building *b, const tl_kernel *k)
{
    int64_t launch = k->launch_ns;
    if (launch == TL_TIME_UNKNOWN)
        return launch;
    if (k->launch != TL_NONE && b->view->launches[k->launch].nkernels == 1 &&
        (k->kind == TL_COMPUTE || k->kind == TL_COMM))
        launch = b->view->launches[k->launch].end_ns;
    launch = tl_on_device(b, launch);
    return launch > k->start_ns ? k->start_ns : launch;
}

/* When the kernel could have started as far as the host is concerned: TL_TIME_UNKNOWN (which is before everything)
 * without a launch. */
static inline int64_t tl_arrival_of(const tl_building *b, const tl_kernel *k)
{
    int64_t launch = tl_launch_of(b, k);
    if (launch == TL_TIME_UNKNOWN)
        return launch;
    return k->start_ns - launch < b->latency_ns ? k->start_ns : launch + b->latency_ns;
}

#endif
