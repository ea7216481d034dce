/* memory.h - what memory timelines say, in a sentence. */
#ifndef TLMPI_REPORT_SUMMARY_MEMORY_H
#define TLMPI_REPORT_SUMMARY_MEMORY_H

#include "tlmpi/report/summary.h"

/* Says the peak of the rank that had most memory, and its largest categories. */
void tl_say_memory(FILE *out, const tl_summary *summary);

#endif
