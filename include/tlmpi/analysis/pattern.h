/* pattern.h - which sequences of device work do the operators of a rank launch again and again?
 *
 * From the view of one rank.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_PATTERN_H
#define TLMPI_ANALYSIS_PATTERN_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/model/pattern_table.h"

extern const tl_analysis tl_pattern_analysis;

#endif
