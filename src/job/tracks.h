/* tracks.h - what is added to the copy of one trace.
 *
 *     read     the trace -> where in it more events may go, and what they will say
 *     add      writes them, while the trace is copied
 *
 * Each kind of track is one such pair; a later analysis adds its own.
 */
#ifndef TLMPI_JOB_TRACKS_H
#define TLMPI_JOB_TRACKS_H

#include "copies.h"
#include "tlmpi/job/options.h"
#include "tlmpi/trace_out/splice.h"

typedef struct tl_tracks tl_tracks;

typedef struct tl_track_maker {
    tl_copy_ending ending; /* what the copies are called */
    /* Reads the trace.  *report is filled as far as the reading came; *out, which `free` ends, on success alone.
     * TL_EINPUT: it cannot be read, or has such tracks; TL_ENOMEM. */
    tl_status (*read)(const char *path, const tl_options *options, tl_read_report *report, tl_tracks **out,
                      tl_error *err);
    tl_splice_add *add;                       /* arg is the tl_tracks */
    size_t (*ngaps)(const tl_tracks *tracks); /* what is shown, for the words at the end */
    void (*free)(tl_tracks *tracks);          /* NULL is fine */
} tl_track_maker;

/* Idle time by its reasons: the tables gap and gap_noise. */
extern const tl_track_maker tl_idle_tracks;

/* TL_EINPUT when the trace has events of the idle tracks already: for a maker's `read`, which keeps TL_CAT_OTHER. */
tl_status tl_tracks_check_new(const char *path, const tl_events *events, tl_error *err);

#endif
