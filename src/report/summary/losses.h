/* losses.h - where most time is lost over all ranks, in a few lines of the summary. */
#ifndef TLMPI_REPORT_SUMMARY_LOSSES_H
#define TLMPI_REPORT_SUMMARY_LOSSES_H

#include "table.h"

/* Nothing where hardly any is lost. */
void tl_print_summary_losses(FILE *out, const tl_summary *summary);

#endif
