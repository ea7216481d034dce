/* gains_parts.h - what the parts of gains.h share. */
#ifndef TLMPI_JOB_GAINS_PARTS_H
#define TLMPI_JOB_GAINS_PARTS_H

#include "gain_job.h"
#include "gains.h"
#include "tlmpi/analysis/whatif.h"

/* So many others tell what a repair gains by chance. */
enum { TL_OTHERS_MOST = 8 };

struct tl_gains {
    const tl_gain_input *in;
    tl_tables *tables;
    tl_gain_job job;
    tl_whatif *whatif;
    int64_t unchanged_ns, ideal_ns;
    int64_t apart_ns; /* so far the clocks that it compares are apart, known and not taken off */
    uint8_t *marked; /* scratch [nranks] */
};

#endif
