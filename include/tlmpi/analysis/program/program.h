/* program.h - one rank, reduced to what waited for what and how long everything in between took.
 *
 *     host    ..[L a][L b][L p].[L c].[ synchronize   ]..[L d]
 *     device       [ a ][  b  ]........[ c ]             [ d ]
 *     comm                     [  p   ]
 *
 *     host    -> launch of a -> launch of p -> launch of c -> (c has ended) -> launch of d
 *     work    -> a and b, once launched     -> (p has ended) c              -> d, once launched
 *     comm       p starts when b has ended, p is launched and its stream is free
 *
 * Two chains, host and work, each a list of entries in order of time, and the rank's communication between them.  Kernels
 * that ran one after the other are one entry: a program grows with collectives, waits and pauses, not with kernels.
 * Replayed with nothing changed it gives the times of the trace; replayed with some entries shorter it tells what would
 * have been (whatif.h).
 *
 * What depended on what a trace does not say.  It is read off the times, and off the order of launches:
 *
 *     comm on work    as PyTorch does it: a collective waits for everything that its rank's main stream had been given
 *                     before.  Where such work often was still running when collectives of a kind on one stream started
 *                     (parameters that are gathered ahead), they wait for no work.
 *     comm on comm    one stream; or it began within 50 us of the end of another that it had been launched before, and
 *                     nothing else explains why not earlier
 *     work on comm    the device had nothing of its own to do while a collective ran, and went on within 50 us of its
 *                     end with work that had been launched before; or both are on one stream
 *     work on host    always: a kernel starts after its launch
 *     host on either  the waits that the caller gives (host.h)
 *
 * Time that no such dependency explains stays as it is, before what it delayed.
 *
 * Times are those of the view.  May use time and host.
 */
#ifndef TLMPI_ANALYSIS_PROGRAM_PROGRAM_H
#define TLMPI_ANALYSIS_PROGRAM_PROGRAM_H

#include "tlmpi/analysis/time.h"
#include "tlmpi/analysis/host.h"
#include "tlmpi/base/status.h"

typedef enum tl_chain { TL_CHAIN_HOST, TL_CHAIN_WORK } tl_chain;

/* An instant of one chain: when a launch begins or a wait ends; when a stretch of work ends.
 *
 *     host    t = max(t of the chain's last entry + ns, max(t of `on`, end of `comm`) + gate_ns)
 *     work    t = max(max(t of the chain's last entry, end of `comm`) + ns, t of `on` + gate_ns)
 *
 * `on` is an entry of the other chain; what is TL_NONE does not take part.  Before the first entry of a chain stands the
 * program's start. */
typedef struct tl_entry {
    int64_t ns, gate_ns;
    uint32_t on, comm;
    uint32_t segment;
    uint8_t chain; /* tl_chain */
    uint8_t wait;  /* host: 1 + tl_wait_kind of what it waited in, 0: in nothing */
} tl_entry;

/* One communication kernel.
 *
 *     start = max(t of `work` + work_ns, t of `host` + host_ns, end of `previous`, end of `after`, start of the program)
 *             + lag_ns
 */
typedef struct tl_comm {
    int64_t start_ns, end_ns; /* as traced */
    int64_t work_ns;          /* 0 or less */
    int64_t host_ns, lag_ns;
    int64_t beside_ns;        /* so much of its time kernels of the rank ran, and no comm that began before it; */
    int64_t beside_until_ns;  /* ... the last of them until so long after its start */
    uint32_t work, host;      /* entries, TL_NONE */
    uint32_t previous;        /* the comm before it on its stream, TL_NONE */
    uint32_t after;           /* a comm of another stream that it waited for, TL_NONE */
    uint32_t kernel;          /* index into the view's kernels */
    uint32_t segment;         /* the segment that its launch ends */
    uint8_t kind;             /* tl_collective */
} tl_comm;

/* Host and work between the launch of one collective, or the beginning of a step, and that of the next: what ranks that do the
 * same can be compared by.  In order of time; each ends with a comm, but for the last of a step. */
typedef struct tl_segment {
    int64_t work_ns, host_ns; /* sums of its entries' ns: free of waiting for other ranks and for each other */
    int64_t beside_ns;        /* so long its kernels ran beside communication */
    uint64_t does;            /* equal for the same kernels with the same grids in any order; 0: nothing is computed */
    uint32_t nkernels;        /* that compute */
    uint32_t first_share;     /* its shares end where those of the next segment begin */
    int32_t step;             /* -1 outside all steps */
} tl_segment;

/* How much of a segment's work_ns is compute, copies, communication that no other rank is known to take part in, or idle
 * between kernels (TL_PART_DEVICE): these sum to work_ns.  And how long, while the host was in the segment, anything on the
 * device stood still because its launch was to come, by what the host was doing. */
typedef struct tl_share {
    int64_t ns;
    tl_part part;
} tl_share;

/* Kernels that compute the same, in one step: same name, same grid. */
typedef struct tl_kernel_kind {
    uint64_t does; /* which */
    int64_t ns;    /* of all of them */
    uint32_t n;
    int32_t step;
} tl_kernel_kind;

/* Zero-initialise; tl_program_free ends it. */
typedef struct tl_program {
    tl_entry *entries;   /* in an order in which each comes after those it depends on */
    size_t nentries;
    tl_comm *comms;      /* in the order of the view's kernels: one for each of kind TL_COMM */
    size_t ncomms;
    tl_segment *segments;
    size_t nsegments;    /* one more in memory: its first_share ends the last one's shares */
    tl_share *shares;
    size_t nshares;
    tl_kernel_kind *kinds; /* by step, then by what; of ranks that send or receive, up to 32 a step */
    size_t nkinds;
    double contention, contention_error; /* kernels take this part longer while communication runs beside them, and by how
                                          * much chance may have that wrong; infinite: nothing tells */
    int64_t start_ns, end_ns; /* of the recording: first step, launch or kernel to the last end on the device */
} tl_program;

/* Fills *out, which tl_program_free ends, also after a failure.  `activity` is that of the whole view, with the reasons of
 * idle time.  A view without kernels, or with times more than 19 hours apart, gives a program without entries.
 * TL_ENOMEM. */
tl_status tl_program_make(const tl_rank_view *view, const tl_activity *activity, const tl_host_waits *waits,
                          tl_program *out, tl_error *err);
void tl_program_free(tl_program *program);

/* Adds the shares of one segment to *sum. */
void tl_program_parts(const tl_program *program, uint32_t segment, tl_parts *sum);

/* Whether a part is spent on the work chain; the others are the host's. */
static inline bool tl_part_is_work(tl_part part)
{
    return part == TL_PART_COMPUTE || part == TL_PART_H2D || part == TL_PART_COPY || part == TL_PART_COMM ||
           part == TL_PART_DEVICE;
}

#endif
