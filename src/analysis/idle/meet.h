/* meet.h - when was a host busy waiting for other ranks, as far as names of operators, frames and annotations
 * tell?
 *
 *     worker of Gloo    ........[ gloo:all_reduce           ]           the thread has nothing to do until
 *     thread            [ aten::mm ].........................[ aten::add ]      the collective is over
 *     held                          ^^^^^^^^^^^^^^^^^^^^^^^^^
 *
 *     thread            [ c10d::allreduce_ [launch of communication] ]  nothing: the device communicates, and waits
 *
 * A collective of hosts runs on no device, so that nothing else in a trace shows who waits in it.  Backends have
 * threads of their own for them.  A thread that goes on before such a collective ends did not wait for it; one whose
 * Python functions are in the trace waits where one of them does.
 */
#ifndef ANALYSIS_IDLE_MEET_H
#define ANALYSIS_IDLE_MEET_H

#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/view.h"

/* What an operator, frame or annotation is. */
typedef enum tl_meet {
    TL_MEET_NOT,
    TL_MEET_ASYNC, /* a collective of hosts from when it is asked for until it is done; the host may do other things */
    TL_MEET_HELD,  /* one in which the host stays */
    TL_MEET_WAIT,  /* a wait for something that other ranks have a part in; the host stays */
    TL_MEET_FREE   /* of stretches: nothing that is known, up to the next operator or call */
} tl_meet;

/* A stretch in which a thread does nothing, or nothing but wait. */
typedef struct tl_held {
    int64_t start_ns, end_ns;
    uint32_t op; /* index into the view's ops; TL_NONE where it is free */
    uint8_t meet;
} tl_held;

/* The stretches of one thread: held[first, first + n), disjoint and in order of time. */
typedef struct tl_held_thread {
    uint32_t track;
    size_t first, n;
} tl_held_thread;

/* Zero-initialise; tl_meets_free ends it. */
typedef struct tl_meets {
    TL_VEC(tl_held) held;
    TL_VEC(tl_held_thread) threads; /* by track */
    TL_VEC(tl_held) asyncs;         /* collectives that leave the host free, of all threads; by end */
    TL_VEC(uint32_t) ops;           /* indices: collectives of hosts that lie in no other of their kind and thread */
} tl_meets;

void tl_meets_find(const tl_rank_view *view, tl_meets *out);
void tl_meets_free(tl_meets *meets);

#endif
