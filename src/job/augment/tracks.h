/* tracks.h - what is added to the copy of one trace.
 *
 *     read     the trace -> where in it more events may go, and what they will say
 *     add      writes them, while the trace is copied
 *
 * Each kind of track is one such pair; a later analysis adds its own.
 */
#ifndef JOB_AUGMENT_TRACKS_H
#define JOB_AUGMENT_TRACKS_H

#include "copies.h"
#include "tlmpi/job/call/options.h"
#include "tlmpi/trace_out/splice.h"
#include "waits.h"

typedef struct tl_track_maker {
    tl_copy_ending ending; /* what the copies are called */
    /* Reads the trace; its rank's waits, where they are known, stay the caller's.  *report is filled as far as the
     * reading came; *out, which `free` ends, on success alone.  TL_EINPUT: it cannot be read, or has such tracks. */
    tl_status (*read)(const char *path, const tl_options *options, const tl_wait *waits, size_t nwaits,
                      tl_read_report *report, void **out, tl_error *err);
    tl_splice_add *add;                  /* arg is what `read` has made */
    size_t (*ngaps)(const void *tracks); /* what is shown, for the words at the end */
    void (*free)(void *tracks);          /* NULL is fine */
} tl_track_maker;

/* Idle time by its reasons: table gap, and the short gaps of table series. */
extern const tl_track_maker tl_idle_tracks;

/* The same with TraceLens' numbers and words. */
extern const tl_track_maker tl_tracelens_tracks;

#endif
