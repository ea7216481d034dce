/* phases.h - the summary of phase records: of a job without traces, or beside its traces. */
#ifndef TLMPI_REPORT_SUMMARY_PHASES_H
#define TLMPI_REPORT_SUMMARY_PHASES_H

#include "table.h"

void tl_print_phase_summary(FILE *out, const tl_summary *summary, const tl_look *look);
void tl_print_phases_beside(FILE *out, const tl_summary *summary, const tl_look *look);

#endif
