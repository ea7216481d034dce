/* take.h - what one entry says, made columns: the one place that decides what counts as an event, and as which.
 *
 * An entry becomes one row at the end of the columns, or none and a reason.
 */
#ifndef TLMPI_TRACE_EVENT_TAKE_H
#define TLMPI_TRACE_EVENT_TAKE_H

#include "tlmpi/trace/event/hook.h"

typedef enum tl_taken {
    TL_TAKEN_KEPT,
    TL_TAKEN_REPAIRED, /* kept, after a value was mended: *why says which */
    TL_TAKEN_UNTIMED,  /* likewise: it had no duration, or one below 0 */
    TL_TAKEN_FILTERED, /* nobody asked for it */
    TL_TAKEN_BAD,      /* a value cannot be: *why says which */
    TL_TAKEN_NO_MEMORY
} tl_taken;

/* What is taken of an entry, and of which. */
typedef struct tl_take_options {
    uint32_t keep;             /* categories to keep, bits TL_CAT_BIT(...) */
    const tl_entry_hook *hook; /* who keeps more of it; NULL: nobody */
} tl_take_options;

/* Appends the entry at position uid to the columns.  Sets *fractional where the rule of tl_read_report.fractional_ts
 * holds. */
tl_taken tl_events_take(tl_events *events, const tl_take_options *options, const tl_fields *fields, uint32_t uid,
                        bool *fractional, const char **why);

#endif
