/* take.h - from an entry to a row of the columns: only here is decided which entries are events, and their kinds.
 *
 * An entry becomes one row at the end of the columns, or none and a reason.
 */
#ifndef TLMPI_TRACE_EVENT_TAKE_H
#define TLMPI_TRACE_EVENT_TAKE_H

#include "tlmpi/trace/event/hook.h"

typedef enum tl_taken {
    TL_TAKEN_KEPT,
    TL_TAKEN_REPAIRED, /* kept, after a value was mended: *why says which */
    TL_TAKEN_UNTIMED,  /* kept, though it had no duration, or one below 0: *why says which */
    TL_TAKEN_FILTERED, /* of a category that is not to be kept */
    TL_TAKEN_BAD       /* a value cannot be: *why says which */
} tl_taken;

/* Which entries are taken, and the hook that takes more of each. */
typedef struct tl_take_options {
    uint32_t keep;             /* categories to keep, bits TL_CAT_BIT(...) */
    const tl_entry_hook *hook; /* keeps more of each entry than the columns; NULL: none */
} tl_take_options;

/* Appends the entry at position uid to the columns.  Sets *fractional where the rule of tl_read_report.fractional_ts
 * holds. */
tl_taken tl_events_take(tl_events *events, const tl_take_options *options, const tl_fields *fields, uint32_t uid,
                        bool *fractional, const char **why);

#endif
