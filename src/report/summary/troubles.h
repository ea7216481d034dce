/* troubles.h - the part of the summary that says what is not there, or cannot be trusted. */
#ifndef TLMPI_REPORT_SUMMARY_TROUBLES_H
#define TLMPI_REPORT_SUMMARY_TROUBLES_H

#include "table.h"

/* How ranks got their numbers, where the traces themselves do not tell. */
void tl_say_numbering(FILE *out, const tl_summary *summary);

/* Which of several runs this is. */
void tl_say_run(FILE *out, const tl_summary *summary);

/* What of the input all is told of, where it is a part. */
void tl_print_selection(FILE *out, const tl_summary *summary);

/* Ranks that are damaged, without work or without a trace; files left out. */
void tl_say_troubles(FILE *out, const tl_summary *summary, const tl_look *look);

#endif
