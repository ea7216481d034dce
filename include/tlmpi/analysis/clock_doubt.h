/* clock_doubt.h - how far the clocks of some ranks may be apart, a rank at a time. */
#ifndef TLMPI_ANALYSIS_CLOCK_DOUBT_H
#define TLMPI_ANALYSIS_CLOCK_DOUBT_H

#include "tlmpi/analysis/collectives.h"

/* How far the clocks of some ranks may be apart: nothing where all have one; else what the worst of them leaves open,
 * which is its sigma, or the offset that was not taken off it; TL_CLOCK_UNTIED_NS where they are known to be of
 * several hosts and nothing compares these.  { .clock = -1 } begins; a rank NULL adds nothing. */
typedef struct tl_clock_doubt {
    int64_t worst_ns;
    int32_t clock, component, host; /* of the last rank that was added */
    bool several;
    bool apart;  /* nothing tells how far they are apart */
    bool untied; /* ... and there is no reason to think that it is one clock */
} tl_clock_doubt;

void tl_clock_doubt_add(tl_clock_doubt *doubt, const tl_rank_place *rank);
int64_t tl_clock_doubt_of(const tl_clock_doubt *doubt);

#endif
