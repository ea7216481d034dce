/* parts.h - the parts of the summary, in the order in which they are printed, and what they share. */
#ifndef TLMPI_REPORT_SUMMARY_PARTS_H
#define TLMPI_REPORT_SUMMARY_PARTS_H

#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/summary.h"

/* Escape sequences, empty where there is no colour. */
typedef struct tl_look {
    const char *bold, *bad, *off;
} tl_look;

/* The row of a rank (-1: the job) over all its devices and the whole trace; NULL where there is no device work. */
const tl_breakdown *tl_whole_row(const tl_summary *summary, int32_t rank);

/* a as percent of b; 0 where b is 0. */
double tl_percent(int64_t a, int64_t b);

/* table.c: where each rank's time went.  Ranks up to which each has a line, so that the summary has 24 lines; a larger job
 * shows up to TL_RANKS_SHOWN ranks that hold it up, the median, and the ranks with the least and the most exposed
 * communication and idle time. */
enum { TL_RANKS_SHOWN = 8 };
void tl_print_summary_table(FILE *out, const tl_summary *summary, const tl_look *look);

/* losses.c: up to `most` causes of lost GPU time. */
enum { TL_LOSSES_MOST = 3 };
void tl_tell_losses(tl_telling *t, const tl_summary *summary, size_t most);

/* notes.c: the peak of the rank that had most memory; what became of execution traces; kernels that no rule names where
 * one of them may be communication; and what is not there or cannot be trusted. */
void tl_say_memory(FILE *out, const tl_summary *summary);
void tl_say_executions(FILE *out, const tl_summary *summary);
void tl_say_unknown_kernels(FILE *out, const tl_summary *summary);
void tl_say_events(FILE *out, const tl_summary *summary);
void tl_say_troubles(FILE *out, const tl_summary *summary);

#endif
