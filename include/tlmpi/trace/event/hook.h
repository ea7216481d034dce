/* hook.h - lets a caller keep more of an entry than the columns.
 *
 * The columns hold what the analyses need.  A caller that needs more of the text, such as the emulators of other
 * programs, adds a hook to the reading: the hook may ask for keys of args that the columns do not have, and for entries
 * that the analyses reject, and is called for every kept entry while its text is available.
 *
 *     key_of     "Input Dims" -> TL_KEY_HOOK + 2
 *     keep       row i of its own arrays, from tl_fields_get(fields, TL_KEY_HOOK + 2)
 *
 * Rows come in the order of the columns.  A row may come again if a torn entry is removed: the new row then replaces
 * the one that the hook has kept.
 */
#ifndef TLMPI_TRACE_EVENT_HOOK_H
#define TLMPI_TRACE_EVENT_HOOK_H

#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

typedef struct tl_entry_hook {
    bool any_ph; /* device work is kept with any ph */

    /* Maps a key of args that the reader does not know: TL_KEY_HOOK to TL_KEY_HOOK_LAST, or TL_KEY_UNKNOWN.  NULL: no
     * other keys. */
    tl_hook_key *key_of;

    /* Handles event i, whose row is in the columns but not counted yet. */
    void (*keep)(void *arg, tl_events *events, const tl_fields *fields, uint32_t i);
    void *arg;
} tl_entry_hook;

/* ------------------------------------------------------------------------------------------------ an entry to a row
 *
 * An entry becomes one row at the end of the columns, or none and a reason. */

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
