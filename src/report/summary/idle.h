/* idle.h - why devices idled, in a few lines of the summary. */
#ifndef TLMPI_REPORT_SUMMARY_IDLE_H
#define TLMPI_REPORT_SUMMARY_IDLE_H

#include "table.h"

/* Nothing where the devices hardly idled, nor waited for late ranks in communication. */
void tl_print_summary_idle(FILE *out, const tl_summary *summary, const tl_look *look);

#endif
