/* memory.h - what memory timelines say, in a sentence. */
#ifndef TLMPI_REPORT_SUMMARY_MEMORY_H
#define TLMPI_REPORT_SUMMARY_MEMORY_H

#include "tlmpi/report/summary.h"

/* Of the rank that had most: how much, and of what. */
void tl_say_memory(FILE *out, const tl_summary *summary);

#endif
