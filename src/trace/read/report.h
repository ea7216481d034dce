/* report.h - what is wrong with a trace, as its report says it: the byte, what was expected there, what was done.
 *
 *     tl_report_bad(report, item.fault, "expected ',' or ']' after an entry, found another one", "kept both");
 *
 * Of several things the report keeps the first by its place in the text, and of what ends the bytes early that alone.
 */
#ifndef TLMPI_TRACE_READ_REPORT_H
#define TLMPI_TRACE_READ_REPORT_H

#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"

/* The first thing that is wrong with the file, where nothing before it is. */
void tl_report_bad(tl_read_report *report, uint64_t offset, const char *expected, const char *done);

/* What splitter and source know when all has been read; text_bytes is set already.  `ended`: what ended the bytes
 * early, TL_OK where nothing did. */
void tl_report_end(tl_read_report *report, const tl_split *split, const tl_source *source, const tl_error *ended);

/* What is wrong with the document's metadata, though it is JSON. */
void tl_report_meta(tl_read_report *report, const tl_meta *meta);

#endif
