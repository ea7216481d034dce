/* parts.h - the parts of the summary, in the order in which they are printed, and what they share. */
#ifndef TLMPI_REPORT_SUMMARY_PARTS_H
#define TLMPI_REPORT_SUMMARY_PARTS_H

#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/summary.h"

/* Escape sequences; empty without colour. */
typedef struct tl_look {
    const char *bold, *bad, *off;
} tl_look;

/* Returns the row of a rank (-1: the job) over all its devices and the whole trace; NULL: no device work. */
const tl_breakdown *tl_whole_row(const tl_summary *summary, int32_t rank);

/* Returns a as percent of b; 0 if b is 0. */
double tl_percent(int64_t a, int64_t b);

/* The time of each rank.  Up to TL_RANKS_SHOWN ranks each get a line, so that the summary has 24 lines; a
 * larger job shows up to TL_RANKS_SHOWN culprits, the median, and the ranks with the least and the most exposed
 * communication and idle time. */
enum { TL_RANKS_SHOWN = 8 };
void tl_print_summary_table(FILE *out, const tl_summary *summary, const tl_look *look);

/* The peak of the rank with most memory; the outcome of execution traces; unclassified kernels, if one may be
 * communication; missing or unreliable data. */
void tl_say_memory(FILE *out, const tl_summary *summary);
void tl_say_executions(FILE *out, const tl_summary *summary);
void tl_say_unknown_kernels(FILE *out, const tl_summary *summary);
void tl_say_events(FILE *out, const tl_summary *summary);
void tl_say_troubles(FILE *out, const tl_summary *summary);

#endif
