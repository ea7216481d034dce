/* compose.h - the chains of a program, while they are made: stretches of work, instants of the host.
 *
 *     tl_compose_work(c) -> tl_compose_points(c) -> tl_compose_weave(c)
 */
#ifndef ANALYSIS_PROGRAM_COMPOSE_H
#define ANALYSIS_PROGRAM_COMPOSE_H

#include "build.h"
#include "shares.h"
#include "tlmpi/base/mem.h"

/* A stretch of work before it is an entry. */
typedef struct tl_stretch {
    tl_entry entry;
    int64_t launch_ns; /* of the launch that leaves least room, TL_TIME_UNKNOWN */
    int64_t tail_ns;   /* the end, as this launch alone would have it */
    int64_t end_ns;
    uint32_t until; /* pieces of local work up to its end */
} tl_stretch;

typedef enum tl_host_kind { TL_HOST_WAIT, TL_HOST_BOUNDARY, TL_HOST_GATE } tl_host_kind;

/* An instant of the host before it is an entry. */
typedef struct tl_host_point {
    int64_t time_ns;
    uint32_t of; /* release, boundary or stretch */
    tl_host_kind kind;
} tl_host_point;

typedef struct tl_composing {
    tl_building *b;
    tl_shares shares;
    tl_program *out;
    TL_VEC(tl_stretch) works;
    tl_stretch now;
    bool open;
    uint32_t segment;
    int splits;
    int64_t longest_split_ns;
    size_t ended; /* how many comms have ended, by `ended` of the building */
    tl_host_point *points;
    size_t npoints;
    int32_t *step_of;        /* by local work: the step it was launched in; NULL: nobody asks */
    uint32_t *entry_of_work; /* by stretch */
    uint32_t *entry_of_comm; /* by comm: its launch; TL_NONE */
    uint32_t *gate_of_work;  /* by stretch: its host point, TL_NONE */
} tl_composing;

/* The comm whose end kernel k waited for: the last that ended shortly before it started and had been launched before
 * it.  Nothing else may explain why it did not start before_ns or soon after.  `ended` comms have ended at its start.
 * TL_NONE. */
uint32_t tl_comm_waited_for(const tl_building *b, const tl_kernel *k, size_t ended, int64_t before_ns);

/* Fills works, and what the segments do.  False when memory is out. */
bool tl_compose_work(tl_composing *c);

/* Fills points: where waits of the host end, where segments do, and the launches that gate stretches.  False when
 * memory is out. */
bool tl_compose_points(tl_composing *c);

/* kinds.c: fills the kinds of c->out, where step_of tells.  False when memory is out. */
bool tl_compose_kinds(tl_composing *c);

/* contention.c: what ran beside each comm, and what it costs.  comms and segments are filled.  False when memory is
 * out. */
bool tl_compose_contention(tl_composing *c);

/* The stretch that ends with the last of so many pieces of work. */
uint32_t tl_stretch_until(const tl_composing *c, uint32_t until);

/* Stretches and points to entries of c->out, which has room for all; fills entry_of_work and entry_of_comm. */
void tl_compose_weave(tl_composing *c);

#endif
