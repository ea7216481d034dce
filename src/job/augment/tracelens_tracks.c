/* tracelens_tracks.c - TraceLens' idle tracks, for augment. */
#include "tlmpi/compat/tracelens/tracks.h"
#include "tracks.h"

static tl_status read_tracks(const char *path, const tl_options *options, const tl_wait *waits, size_t nwaits,
                             tl_read_report *report, void **out, tl_error *err)
{
    (void)options; /* TraceLens has one way to do it, and no other ranks */
    (void)waits;
    (void)nwaits;
    return tl_tracelens_tracks_read(path, report, out, err);
}

const tl_track_maker tl_tracelens_tracks = {
    TL_COPY_IDLE_AUGMENTED, read_tracks, tl_tracelens_tracks_add, tl_tracelens_tracks_gaps, tl_tracelens_tracks_free,
};
