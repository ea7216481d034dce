/* table.h - the one table of the summary: where each rank's time went. */
#ifndef TLMPI_REPORT_SUMMARY_TABLE_H
#define TLMPI_REPORT_SUMMARY_TABLE_H

#include "tlmpi/report/format/wrap.h"
#include "tlmpi/report/summary.h"

/* Escape sequences, empty where there is no colour. */
typedef struct tl_look {
    const char *bold, *bad, *off;
} tl_look;

/* Ranks up to which each has a line, so that the summary has 24 lines.  A larger job shows up to TL_RANKS_SHOWN ranks
 * that hold it up, the median, and the ranks with the least and the most exposed communication and idle time. */
enum { TL_RANKS_SHOWN = 8 };

/* The row of a rank (-1: the job) over all its devices and the whole trace; NULL where there is no device work. */
const tl_breakdown *tl_whole_row(const tl_summary *summary, int32_t rank);

/* a as percent of b; 0 where b is 0. */
double tl_percent(int64_t a, int64_t b);

/* A line of the summary's lists, after its name in two columns of blanks. */
tl_wrap tl_label(FILE *out, const char *name);

void tl_print_summary_table(FILE *out, const tl_summary *summary, const tl_look *look);

#endif
