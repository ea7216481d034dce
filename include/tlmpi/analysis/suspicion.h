/* suspicion.h - what speaks against a matched collective: that its parts do not belong together. */
#ifndef TLMPI_ANALYSIS_SUSPICION_H
#define TLMPI_ANALYSIS_SUSPICION_H

#include "tlmpi/analysis/collectives.h"

/* The first check that fails of those that need no clock: kind, dtype, size, a rank twice. */
tl_suspicion tl_collective_suspect(const tl_participant *by_rank, size_t n);

/* The checks of time: nobody is done before all have come, and all end together; where the collective makes them.  Its
 * uncertainty_ns is known by now. */
tl_suspicion tl_collective_suspect_times(const tl_collective_view *c);

#endif
