/* formats.h - the readers of formats, each in a file of its own (reader.h), and helpers that they share. */
#ifndef TLMPI_TRACE_READ_FORMATS_H
#define TLMPI_TRACE_READ_FORMATS_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/text.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"
#include "tlmpi/trace/event/hook.h"
#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace/text/grammar.h"
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

/* ------------------------------------------------------------------------------------------ arguments of few events */

/* Whether the last event may have counters of a device or the memory of an allocator. */
static inline bool tl_measured_is(const tl_events *events)
{
    return TL_CAT_BIT(tl_event_cat(events, events->n - 1)) &
           (TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_SAMPLE) | TL_CAT_BIT(TL_CAT_INSTANT));
}

void tl_measured_take(tl_events *events, const tl_fields *fields);

/* By names id: 1: shapes of an operator with that name are not used; else 2 + the index of its rule in args.c.  Start
 * with { 0 }, and with n = 0 for other names; free(v) ends it. */
typedef TL_VEC(uint8_t) tl_shape_rules;

/* Adds the recorded shapes of the last event to the side table, if they are used. */
void tl_shapes_take(tl_events *events, tl_shape_rules *rules, const tl_fields *fields);

/* Adds the args of the last event, whose fields these are, to the side tables; columns_alone: not its shapes. */
static inline void tl_args_take(tl_events *events, const tl_fields *fields, bool columns_alone, tl_shape_rules *rules)
{
    if (tl_measured_is(events))
        tl_measured_take(events, fields);
    else if (fields->seen & TL_KEY_BIT(TL_KEY_INPUT_DIMS) && !columns_alone)
        tl_shapes_take(events, rules, fields);
}

/* The arguments of an operator, as JSON lists without brackets; empty: not recorded. */
typedef struct tl_arguments {
    tl_text dims, types, values; /* "Input Dims", "Input type", "Concrete Inputs" */
} tl_arguments;

typedef enum tl_formula {
    TL_PRODUCT,
    TL_CONVOLUTION,
    TL_CONVOLUTION_BACKWARD,
    TL_ATTENTION,
    TL_ATTENTION_BACKWARD
} tl_formula;

/* Returns the floating-point operations of an operator; -1: unknown.  first, flag: its arguments: the first tensor of
 * the formula; whether it is transposed, or causal.  *precision: of its operands. */
int64_t tl_flop_count(tl_formula formula, size_t first, size_t flag, const tl_arguments *arguments,
                      tl_precision *precision);

/* ------------------------------------------------------------- durations of events whose beginnings and ends are apart
 *
 *     in order of time, as most writers do    begin a, begin b, end b, end a    an end closes the last that is open
 *     in groups, as PyTorch does              begin b, begin a, end b, end a    in any order, the ends in the same
 */

#define TL_NO_EVENT UINT32_MAX

/* A beginning or an end of a slice on a track, the one with number `order` in the file. */
typedef struct tl_slice_edge {
    int64_t at_ns;
    uint32_t order, track, event; /* event: that begins; TL_NO_EVENT: an end, or the event is not kept */
    bool ends;
    uint32_t below; /* edge of the slice around it, while it is open */
} tl_slice_edge;

/* Zero-initialise; tl_slices_close ends it. */
typedef struct tl_slices {
    TL_VEC(tl_slice_edge) batch, edges; /* beginnings, then ends, of one writer; of slices that batches left open */
    size_t nbegins;
    uint32_t writer;
} tl_slices;

/* Adds the next edge of the file, by a writer. */
void tl_slices_add(tl_slices *slices, tl_events *events, uint32_t writer, tl_slice_edge edge);

/* Closes what is left, on tracks below ntracks.  Returns the number of events without an end, whose durations stay. */
uint64_t tl_slices_close(tl_slices *slices, tl_events *events, size_t ntracks);

/* ----------------------------------------------------------------------------------- elements of an array in JSON text
 *
 * The text of a file goes through the JSON grammar, byte by byte, up to the first fault; one element is held at a
 * time. */

typedef struct tl_elements {
    const char *key;  /* of the array, in the outermost object; NULL: the array itself is outermost */
    const char *kind; /* of an element, for messages; with key NULL anything else in the array is a fault */
    size_t most;      /* largest length of an element, bytes */
    void (*take)(struct tl_elements *e, tl_text element); /* called for each object and array in it */
    void *arg;

    tl_grammar grammar;
    uint64_t at;      /* offset in the text */
    bool found;       /* the array has begun */
    bool inside;      /* the current byte is in the array */
    bool cut;         /* the fault is the end of the text */
    tl_bytes element; /* the current element */
    tl_bytes around;  /* text around the array, its first MiB at most */
    char fault[221];  /* the byte, what was expected there and found; empty: none */
} tl_elements;

/* Reads the file; tl_elements_free ends *e in any case.  TL_EINPUT: it cannot be opened. */
tl_status tl_elements_read(tl_elements *e, const char *path, tl_error *err);
void tl_elements_free(tl_elements *e);

/* Records the first fault, at the current byte. */
void tl_elements_fault(tl_elements *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
