/* unknown.h - kernels whose names no rule knows. */
#ifndef REPORT_SUMMARY_UNKNOWN_H
#define REPORT_SUMMARY_UNKNOWN_H

#include "tlmpi/report/summary.h"

/* Names the largest, where one of them may be communication, which then counts as compute. */
void tl_say_unknown_kernels(FILE *out, const tl_summary *summary);

#endif
