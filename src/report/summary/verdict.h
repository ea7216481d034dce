/* verdict.h - the verdict as the terminal's summary has it: a sentence, its cause, what it costs, how far to trust it,
 * and the imbalance for which no rank is at fault. */
#ifndef TLMPI_REPORT_SUMMARY_VERDICT_H
#define TLMPI_REPORT_SUMMARY_VERDICT_H

#include "table.h"
#include "tlmpi/report/answers/answers.h"

void tl_print_verdict(FILE *out, const tl_answers *answers, int doubts, const tl_look *look);

#endif
