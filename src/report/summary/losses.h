/* losses.h - where most time is lost over all ranks, in a few lines of the summary. */
#ifndef TLMPI_REPORT_SUMMARY_LOSSES_H
#define TLMPI_REPORT_SUMMARY_LOSSES_H

#include "table.h"

/* Prints up to `most` causes of lost GPU time, TL_LOSSES_MOST at most; nothing where hardly any is lost. */
enum { TL_LOSSES_MOST = 3 };
void tl_print_summary_losses(FILE *out, const tl_summary *summary, size_t most);

#endif
