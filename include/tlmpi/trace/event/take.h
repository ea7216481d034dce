/* take.h - what one entry says, made columns. */
#ifndef TLMPI_TRACE_EVENT_TAKE_H
#define TLMPI_TRACE_EVENT_TAKE_H

#include "tlmpi/trace/event/fields.h"
#include "tlmpi/trace/read/reader.h"

typedef enum tl_taken {
    TL_TAKEN_KEPT,
    TL_TAKEN_REPAIRED,      /* kept, after a value was mended: *why says which */
    TL_TAKEN_UNTIMED,       /* likewise: it had no duration, or one below 0 */
    TL_TAKEN_FILTERED,      /* nobody asked for it */
    TL_TAKEN_BAD,           /* a value cannot be: *why says which */
    TL_TAKEN_NO_MEMORY
} tl_taken;

/* The filter for what options->keep leaves out. */
void tl_events_filter(const tl_read_options *options, tl_filter *filter);

/* Appends the entry at position uid to the columns.  Sets *fractional where the rule of tl_read_report.fractional_ts
 * holds. */
tl_taken tl_events_take(tl_events *events, const tl_read_options *options, const tl_fields *fields, uint32_t uid,
                        bool *fractional, const char **why);

#endif
