/* formats.h - the formats of files, each in a file of its own (reader.h), and what they share. */
#ifndef TLMPI_TRACE_READ_FORMATS_H
#define TLMPI_TRACE_READ_FORMATS_H

#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"

extern const tl_reader tl_phases_reader, tl_memory_reader, tl_execution_reader, tl_kineto_reader, tl_database_reader;

/* A trace before anything of it is read. */
#define TL_TRACE_INIT                                                                                                  \
    {                                                                                                                  \
        .meta = TL_META_INIT, .report = {.first_bad_byte = -1, .base_at = UINT64_MAX }                                 \
    }

/* The look of the Kineto reader, see tl_reader. */
void tl_kineto_look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out);

/* ------------------------------------------------------------------------------------------- what is wrong with a trace
 *
 * The byte, what was expected there, what was done:
 *
 *     tl_report_bad(report, item.fault, "expected ',' or ']' after an entry, found another one", "kept both");
 *
 * Of several things the report keeps the first by its place in the text, and of what ends the bytes early that alone. */

/* The first thing that is wrong with the file, where nothing before it is. */
void tl_report_bad(tl_read_report *report, uint64_t offset, const char *expected, const char *done);

/* Whether there is memory, and indices, for more of the trace; else its report has no_memory.  Asks again only when the
 * columns have grown beyond *checked bytes. */
bool tl_report_room(tl_trace *trace, size_t *checked);

#define TL_OVER_LIMIT "expected no more than --max-memory has room for, found more"

/* What splitter and source know when all has been read; text_bytes is set already.  `ended`: what ended the bytes
 * early, TL_OK where nothing did. */
void tl_report_end(tl_read_report *report, const tl_split *split, const tl_source *source, const tl_error *ended);

/* What is wrong with the document's metadata, though it is JSON. */
void tl_report_meta(tl_read_report *report, const tl_meta *meta);

#endif
