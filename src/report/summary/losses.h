/* losses.h - where most time is lost over all ranks, in a few lines of the summary. */
#ifndef TLMPI_REPORT_SUMMARY_LOSSES_H
#define TLMPI_REPORT_SUMMARY_LOSSES_H

#include "table.h"

/* At most that many causes, up to TL_LOSSES_MOST; nothing where hardly any is lost. */
enum { TL_LOSSES_MOST = 3 };
void tl_print_summary_losses(FILE *out, const tl_summary *summary, size_t most);

#endif
