/* device_work.h - what one device did, as sets of instants, and the measures of a breakdown over any window of time. */
#ifndef ANALYSIS_TIME_DEVICE_WORK_H
#define ANALYSIS_TIME_DEVICE_WORK_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/span.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/view.h"

enum { TL_WORK_COMPUTE, TL_WORK_COMM, TL_WORK_COPY, TL_WORK_SETS };

/* tl_work_collect starts it, tl_work_free ends it, also after a failure. */
typedef struct tl_work {
    tl_spans set[TL_WORK_SETS]; /* streams merged */
    TL_VEC(int64_t) empty;      /* instants of work of no length, ascending: they count for wall alone */
    int64_t first_ns, last_ns;  /* first start, last end; first > last without work */
} tl_work;

/* Room that every measuring uses again.  Zero-initialise; tl_work_scratch_free ends it. */
typedef struct tl_work_scratch {
    tl_spans clipped[TL_WORK_SETS], exposed, either, exposed_copy;
} tl_work_scratch;

/* The work of n kernels, which are those of one device. */
void tl_work_collect(tl_work *work, const tl_kernel *kernels, size_t n);
void tl_work_free(tl_work *work);

/* Fills in the measures of *row: over the whole trace, and over [from_ns, to_ns) with the work cut to it. */
void tl_work_measure(const tl_work *work, tl_work_scratch *scratch, tl_breakdown *row);
void tl_work_measure_in(const tl_work *work, int64_t from_ns, int64_t to_ns, tl_work_scratch *scratch,
                        tl_breakdown *row);
void tl_work_scratch_free(tl_work_scratch *scratch);

/* The first instant at or after at_ns at which a set begins or ends or work of no length lies; INT64_MAX without one.
 */
int64_t tl_work_next_edge(const tl_work *work, int64_t at_ns);

/* Which of the sets hold an instant: bit 1 << TL_WORK_COMPUTE and so on. */
enum { TL_WORK_MIXES = 1 << TL_WORK_SETS };

/* The mix at an instant that is no edge, and so up to the next one. */
unsigned tl_work_mix_at(const tl_work *work, int64_t at_ns);

/* Fills the measures of `row` for `ns` of time that all has this mix of work; mix is not 0. */
void tl_mix_measure(unsigned mix, int64_t ns, tl_breakdown *row);

/* Adds how long each mix lasted between the first start and the last end; 0 is idle time. */
void tl_work_add_mixes(const tl_work *work, int64_t ns[TL_WORK_MIXES]);

#endif
