/* idle.h - why was a device idle?
 *
 * From the view of one rank: its gaps, each with how the device ran dry before it and what the host did meanwhile, and their
 * sums; over ranks, the classes of gaps of the job.  Fills gap, gap_noise, gap_peer, idle, idle_overview, idle_summary and
 * idle_job.  May use time.
 */
#ifndef TLMPI_ANALYSIS_IDLE_H
#define TLMPI_ANALYSIS_IDLE_H

#include "tlmpi/analysis/analysis.h"

extern const tl_analysis tl_idle_analysis;

#endif
