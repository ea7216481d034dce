/* work.h - what does the work of a rank consist of?
 *
 * From the view of one rank: its device work by name, and the operators and user annotations of its host with the work
 * that they launched; and the names over all ranks.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_WORK_H
#define TLMPI_ANALYSIS_WORK_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/model/work_tables.h"

extern const tl_analysis tl_kernel_analysis, tl_operator_analysis;

#endif
