/* hook.h - what a caller keeps of an entry beside the columns.
 *
 * The columns hold what the analyses compute with.  A caller that needs more of the text, such as the emulators of
 * other programs, hangs a hook into the reading: the hook may ask for keys of args that the columns do not need, and
 * for entries that the analyses do not believe, and is shown every kept entry while the entry's text is there.
 *
 *     key_of     "Input Dims" -> TL_KEY_HOOK + 2
 *     keep       row i of its own arrays, from tl_fields_get(fields, TL_KEY_HOOK + 2)
 *
 * Rows come in the order of the columns.  A row may come again, because a torn entry is taken back: what the hook kept
 * for the row before is void.
 */
#ifndef TLMPI_TRACE_EVENT_HOOK_H
#define TLMPI_TRACE_EVENT_HOOK_H

#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

typedef struct tl_entry_hook {
    bool any_ph; /* device work is taken whatever its ph */

    /* A key of args that the reader does not know: TL_KEY_HOOK to TL_KEY_HOOK_LAST, or TL_KEY_UNKNOWN.  NULL: no
     * other keys. */
    tl_hook_key *key_of;

    /* Takes event i of the columns, which has its row there already but is not counted yet. */
    void (*keep)(void *arg, tl_events *events, const tl_fields *fields, uint32_t i);
    void *arg;
} tl_entry_hook;

#endif
