/* measured.h - what did hardware counters and allocators measure?
 *
 * From the view of one rank: counters by operator and kernel, memory by device.  Few traces have either; others have no
 * rows.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_MEASURED_H
#define TLMPI_ANALYSIS_MEASURED_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/model/measured_tables.h"

extern const tl_analysis tl_counter_analysis, tl_memory_analysis;

#endif
