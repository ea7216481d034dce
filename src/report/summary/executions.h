/* executions.h - what has become of execution traces, in a sentence. */
#ifndef TLMPI_REPORT_SUMMARY_EXECUTIONS_H
#define TLMPI_REPORT_SUMMARY_EXECUTIONS_H

#include "tlmpi/report/summary.h"

/* How many nodes there are, how many are linked, and why others are not. */
void tl_say_executions(FILE *out, const tl_summary *summary);

#endif
