/* tracks.c - what all kinds of tracks share. */
#include "tracks.h"
#include "tlmpi/trace_out/idle.h"

tl_status tl_tracks_check_new(const char *path, const tl_events *events, tl_error *err)
{
    for (size_t i = 0; i < events->categories.n; i++) {
        uint32_t text = events->categories.v[i].text;
        if (text != TL_NO_NAME && tl_text_is(tl_names_text(&events->names, text), TL_OUT_IDLE_CAT))
            return tl_fail(err, TL_EINPUT,
                           "%s: has tracks of idle time already; augment the trace that it was made from", path);
    }
    return TL_OK;
}
