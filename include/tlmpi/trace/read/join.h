/* join.h - joins slices of one trace, read by several procs, to the whole trace.
 *
 *     slice 0   [ entry entry ent|ry ]                      begins at the true beginning
 *     slice 1                    | ......[ entry entry ... ]   begins at a guess: the first place that can only be the start
 *                                                              of an entry
 *
 * Slice 0 is right.  A right slice says where the first entry after it starts; if the next slice begins at just that
 * entry, and lost no entry, the next slice is right, too.  So a wrong guess always shows, and the file is then read
 * again by one proc.
 */
#ifndef TLMPI_TRACE_READ_JOIN_H
#define TLMPI_TRACE_READ_JOIN_H

#include "tlmpi/trace/read/reader.h"

/* Whether `next` is proven to continue `whole`. */
bool tl_trace_continues(const tl_trace *whole, const tl_trace *next);

/* Appends a slice that continues *whole.  *next may be freed afterwards. */
tl_status tl_trace_append(tl_trace *whole, const tl_trace *next, tl_error *err);

/* When all slices are appended: reads the text around the array.  The report is then the same as if one proc had
 * read the whole file. */
void tl_trace_complete(tl_trace *whole);

#endif
