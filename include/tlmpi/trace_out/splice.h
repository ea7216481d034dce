/* splice.h - a copy of a trace with more events in it.
 *
 *     trace    {..., "traceEvents": [{...}, {...}], "traceName": "..."}
 *     copy     {..., "traceEvents": [{...}, {...},{new},{new}], "traceName": "..."}
 *
 * The text of the trace is copied byte by byte, in blocks: layout, numbers and all other text are kept.  A cut trace
 * ends, in the copy, after its last complete part, with the missing brackets, so that the copy is one document.  With
 * an edit, entries are omitted or marked.
 *
 * The first header of the layer trace_out, which shows in a trace what has been found in it: in a copy of its text,
 * with events (track.h) in the process of their device (process.h).  May use base, model and trace.
 */
#ifndef TLMPI_TRACE_OUT_SPLICE_H
#define TLMPI_TRACE_OUT_SPLICE_H

#include "tlmpi/trace/read/reader.h"
#include "tlmpi/trace_out/track.h"

/* The surroundings of the new events. */
typedef enum tl_splice_position {
    TL_BEHIND_ENTRY, /* an entry before them */
    TL_BEFORE_END,   /* no entry; the ']' of the array after them */
    TL_BEHIND_BEGIN  /* no entry; the array has only begun */
} tl_splice_position;

/* What the copy does with an entry. */
typedef enum tl_entry_fate { TL_ENTRY_KEPT, TL_ENTRY_DROPPED, TL_ENTRY_MARKED } tl_entry_fate;

/* The fate of the entries, by position.  The layout between them is lost. */
typedef struct tl_splice_edit {
    const uint8_t *fate; /* n tl_entry_fate; entries behind them are kept */
    uint64_t n;
    const char
        *mark; /* a member, as "\"critical\": 1", that is put first in the args of a marked entry, if it has args */
} tl_splice_edit;

/* Offsets in the text. */
typedef struct tl_splice {
    uint64_t text_bytes; /* size of the trace's text: if it differs, the trace has changed since it was read */
    tl_splice_position position;
    const tl_splice_edit *edit; /* NULL: all entries are kept; set by the caller */
    uint64_t entries_at;        /* beginning of the entries' text */
    uint64_t insert_at;         /* the new events are inserted here */
    uint64_t copy_to;           /* nothing from here on is copied; text_bytes: all is copied */
    char closing[72];           /* appended at the end: the brackets that the text lacks */
} tl_splice;

/* Returns the splice for a trace that was read whole (no range) and has events. */
tl_splice tl_splice_of(const tl_read_report *report);

/* Writes the new events; called once.  TL_ENOMEM or the like ends the copying. */
typedef tl_status tl_splice_add(void *arg, tl_out_writer *writer, tl_error *err);

/* Copies the trace to the sink, with the new events.  *nevents, if not NULL, is their number.  TL_EINPUT: the trace can
 * no longer be read, or has changed; TL_EOUTPUT; or the status of `add`. */
tl_status tl_splice_copy(const char *path, const tl_splice *splice, tl_sink *sink, tl_splice_add *add, void *arg,
                         uint64_t *nevents, tl_error *err);

#endif
