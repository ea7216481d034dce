/* take.h - turns an entry into a row of the columns: decides which entries are events, and of which kind.
 *
 * An entry becomes one row at the end of the columns, or none and a reason.
 */
#ifndef TLMPI_TRACE_EVENT_TAKE_H
#define TLMPI_TRACE_EVENT_TAKE_H

#include "tlmpi/trace/event/hook.h"

typedef enum tl_taken {
    TL_TAKEN_KEPT,
    TL_TAKEN_REPAIRED, /* kept, after a value was repaired: *why */
    TL_TAKEN_UNTIMED,  /* kept, with a missing or negative duration: *why */
    TL_TAKEN_FILTERED, /* of a category that is not kept */
    TL_TAKEN_BAD       /* a value is invalid: *why */
} tl_taken;

/* The entries to keep, and the hook. */
typedef struct tl_take_options {
    uint32_t keep;             /* categories, bits TL_CAT_BIT(...) */
    const tl_entry_hook *hook; /* keeps more of each entry than the columns; NULL: none */
} tl_take_options;

/* Appends the entry at position uid to the columns.  Sets *fractional by the rule of tl_read_report.fractional_ts. */
tl_taken tl_events_take(tl_events *events, const tl_take_options *options, const tl_fields *fields, uint32_t uid,
                        bool *fractional, const char **why);

#endif
