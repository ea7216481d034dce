/* match.h - what the summary says of collectives. */
#ifndef TLMPI_REPORT_SUMMARY_MATCH_H
#define TLMPI_REPORT_SUMMARY_MATCH_H

#include "tlmpi/report/summary.h"

/* A line on how many were matched and how, one on what was not, one on clocks; nothing where there are no collectives.
 */
void tl_say_matching(FILE *out, const tl_summary *summary);

#endif
