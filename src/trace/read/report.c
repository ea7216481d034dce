#include "formats.h"
#include "tlmpi/base/mem.h"
#include <stdio.h>

void tl_report_bad(tl_read_report *report, uint64_t offset, const char *expected, const char *done)
{
    if (report->first_bad_byte >= 0 && (uint64_t)report->first_bad_byte <= offset)
        return;
    report->first_bad_byte = (int64_t)offset;
    snprintf(report->first_bad, sizeof report->first_bad, "byte %llu of the text: %.150s; %.50s",
             (unsigned long long)offset, expected, done);
}

/* Largest memory that a trace may need next, in multiples of its present size: columns and texts double beside the old
 * ones, and linking them takes about the same again. */
#define ROOM 3

/* Memory that the analysis takes from here on: in multiples of the columns and texts (kernels have 29 bytes per event
 * there, and some 230 at the peak; other events take less), and in bytes per distinct name (10^6 names). */
#define ANALYSIS_ROOM 8
#define NAME_ROOM     800

bool tl_report_room(tl_trace *trace, size_t *checked)
{
    const size_t bytes = tl_events_bytes(&trace->events), names = trace->events.names.n;
    tl_read_report *report = &trace->report;

    if (bytes <= *checked)
        return true;
    *checked = bytes;
    report->no_memory = trace->events.cap >= UINT32_MAX / ROOM || !tl_mem_fits(ROOM * bytes);
    if (!report->no_memory)
        report->no_memory = report->over_limit = !tl_mem_within_limit(ANALYSIS_ROOM * bytes + NAME_ROOM * names);
    return !report->no_memory;
}

/* Reports the error that ended the bytes early, also as the cause of earlier faults: a flipped bit in compressed data
 * garbles the text long before it is noticed. */
static void report_source(tl_read_report *report, const tl_source *source, const tl_error *fault)
{
    const char *text = tl_source_reason(source, fault);
    long long byte = (long long)report->first_bad_byte;

    if (byte < 0) {
        report->first_bad_byte = (int64_t)report->text_bytes;
        snprintf(report->first_bad, sizeof report->first_bad, "%.180s; kept every whole entry", text);
    } else {
        snprintf(report->first_bad, sizeof report->first_bad,
                 "%.140s; wrong from byte %lld of the text on, kept every whole entry", text, byte);
    }
}

void tl_report_end(tl_read_report *report, const tl_split *split, const tl_source *source, const tl_error *ended)
{
    report->gzip = tl_source_packing(source) != NULL;
    report->file_bytes = tl_source_file_size(source);
    report->entries = split->nentries;
    report->has_events = split->found;
    report->cut = !split->complete && !split->stopped;
    report->bare = split->bare;
    report->closed = split->closed;
    report->base_at = split->base_at;
    report->first_entry = split->first_entry;
    report->stopped_at = split->last_start;
    report->array_begin = split->array_begin;
    report->array_end = split->array_end;
    report->whole_to = split->fault_at == UINT64_MAX ? split->whole_to : 0;
    tl_split_closing(split, report->closing, sizeof report->closing - 1);
    report->source_fault = ended->status != TL_OK;
    if (report->source_fault)
        report_source(report, source, ended);
    report->source_fault |= split->nested; /* a slice cannot determine whose array that is */
    if (split->fault_at != UINT64_MAX) {
        report->source_fault = true;
        tl_report_bad(report, split->fault_at, split->fault, "read around it what can be told");
    }
    if (split->full_at != UINT64_MAX) {
        report->source_fault = true;
        tl_report_bad(report, split->full_at, "expected at most 64 MiB of text around traceEvents, found more",
                      "kept what stands before");
    }
}

void tl_report_meta(tl_read_report *report, const tl_meta *meta)
{
    if (!meta->bad_base)
        return;
    report->repaired++;
    /* A bad base time is not reported where the bytes end early or the text around the array is damaged: either may be
     * its cause. */
    if (report->first_bad_byte < 0 || (!report->source_fault && report->base_at != UINT64_MAX))
        tl_report_bad(report, report->base_at != UINT64_MAX ? report->base_at : 0,
                      "expected a baseTimeNanoseconds from 0 to 2^61, found something else",
                      meta->has_base ? "took the one before it" : "took times as they stand");
}
