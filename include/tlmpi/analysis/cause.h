/* cause.h - why is a rank late, and at which place: what it did in the steps in which it stands out, against its peers.
 *
 *     name          rank 3    peers                        surplus of 3 over their median
 *     gemm          40 ms     20, 20, 21 ms    same count  20 ms: slower
 *     relu           5 ms      5,  5,  5 ms                -
 *     gc.collect     3 ms      0,  0,  0 ms                3 ms of idle time
 *
 * First by the parts of the time, then by names within the largest: the same kernels, all or a few of them longer, or
 * more of them, or larger ones; for idle time the innermost name that covers 80 % of what any name covers.  A pure
 * function of rows.
 */
#ifndef TLMPI_ANALYSIS_CAUSE_H
#define TLMPI_ANALYSIS_CAUSE_H

#include "tlmpi/analysis/local.h"
#include "tlmpi/model/blame_tables.h"

/* One name of one rank, all steps that count together. */
typedef struct tl_cause_row {
    uint64_t name; /* content key; 0 for parts */
    int64_t ns, size;
    int32_t rank;
    uint32_t count, depth; /* as in tl_detail */
    uint8_t kind;          /* tl_detail_kind */
    uint8_t part;          /* tl_part */
    uint8_t frame;
} tl_cause_row;

typedef struct tl_cause_found {
    bool found;         /* it has more time than its peers in anything */
    tl_cause cause;     /* MIXED: no part has 80 % of the surplus */
    double share;       /* of the surplus that the largest part has */
    int64_t ns;         /* the surplus, all parts together */
    int64_t awaited_ns; /* so much more than it its peers communicate: they wait for it */
    uint64_t place;     /* content key of a name; 0: none stands out */
} tl_cause_found;

/* rows: of the rank and its peers, in any order; sorted here by (kind, part of parts, name, rank); no two with the same
 * of these.  npeers: ranks beside it; where one has no row for a name it has nothing of it.  gain_ns: what the job
 * gains when the rank is repaired; 0: not known.  Where work of the device is most of what the rank has more, and all
 * together are more than that, the rest is the lead of its host, which it has lost over that work: peers that wait for
 * it launch ahead meanwhile.  The same holds where one copy, or one thing that the host is known to have done, makes up
 * most of what the repair gains: idle time beyond that is the same delay, met again.  False when memory is out. */
bool tl_cause_find(tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int64_t gain_ns, tl_cause_found *found);

/* What a part of the time (tl_part) is called where nothing more is known of it; UNKNOWN where it tells no cause. */
tl_cause tl_cause_of_part(int part);

#endif
