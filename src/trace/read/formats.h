/* formats.h - the readers of formats, each in a file of its own (reader.h), and helpers that they share. */
#ifndef TLMPI_TRACE_READ_FORMATS_H
#define TLMPI_TRACE_READ_FORMATS_H

#include "tlmpi/trace/event/hook.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"

extern const tl_reader tl_phases_reader, tl_memory_reader, tl_execution_reader, tl_kineto_reader, tl_database_reader,
    tl_pftrace_reader;

/* A trace before anything is read. */
#define TL_TRACE_INIT                                                                                                  \
    {                                                                                                                  \
        .meta = TL_META_INIT, .report = {.first_bad_byte = -1, .base_at = UINT64_MAX }                                 \
    }

/* tl_reader.look of the Kineto reader. */
void tl_kineto_look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out);

/* Reads a Perfetto trace, or its first event, into *out.  TL_EINPUT: it cannot be opened. */
tl_status tl_perfetto_read(const char *path, const tl_read_options *options, bool first_only, tl_trace *out,
                           tl_error *err);

/* ------------------------------------------------------------------------------------------ the first fault of a trace
 *
 * The byte, what was expected there, what was done:
 *
 *     tl_report_bad(report, item.fault, "expected ',' or ']' after an entry, found another one", "kept both");
 *
 * The report keeps the first fault by position in the text, and the one that ends the bytes early instead of all
 * others. */

/* Sets the first fault of the file, unless an earlier position has one. */
void tl_report_bad(tl_read_report *report, uint64_t offset, const char *expected, const char *done);

/* Counts an entry.  Returns whether its event is kept; *bad: whether something was wrong with it. */
static inline bool tl_report_taken(tl_read_report *report, tl_taken taken, bool *bad)
{
    const bool kept = taken != TL_TAKEN_BAD && taken != TL_TAKEN_FILTERED;
    report->entries++;
    report->dropped += taken == TL_TAKEN_BAD;
    report->filtered += taken == TL_TAKEN_FILTERED;
    report->kept += kept;
    report->untimed += taken == TL_TAKEN_UNTIMED;
    report->repaired += taken == TL_TAKEN_REPAIRED || taken == TL_TAKEN_UNTIMED;
    *bad = taken != TL_TAKEN_FILTERED && taken != TL_TAKEN_KEPT;
    return kept;
}

/* Whether there is memory, and there are indices, for more of the trace; else sets no_memory in its report.  Checks
 * only if the columns have grown beyond *checked bytes. */
bool tl_report_room(tl_trace *trace, size_t *checked);

#define TL_OVER_LIMIT "expected no more than --max-memory has room for, found more"

/* Fills the report with the final state of splitter and source; text_bytes is set already.  ended: the error that ended
 * the bytes early, or TL_OK. */
void tl_report_end(tl_read_report *report, const tl_split *split, const tl_source *source, const tl_error *ended);

/* Reports invalid metadata of a valid document. */
void tl_report_meta(tl_read_report *report, const tl_meta *meta);

#endif
