/* tracks.h - the tracks that TraceLens adds to a trace: idle time by its reasons, in its numbers and words.
 *
 * Beside tracelens.h because only this uses trace_out.
 *
 * All devices are one, and shown in the process in which most device work is.
 */
#ifndef TLMPI_COMPAT_TRACELENS_TRACKS_H
#define TLMPI_COMPAT_TRACELENS_TRACKS_H

#include "tlmpi/trace_out/splice.h"

/* Reads a trace.  *report is filled as far as the reading came; *out, which tl_tracelens_tracks_free ends, on success
 * alone.  TL_EINPUT: it cannot be read, or has such tracks already. */
tl_status tl_tracelens_tracks_read(const char *path, tl_read_report *report, void **out, tl_error *err);

/* A tl_splice_add: arg is what has been read. */
tl_status tl_tracelens_tracks_add(void *arg, tl_out_writer *writer, tl_error *err);

size_t tl_tracelens_tracks_gaps(const void *tracks);
void tl_tracelens_tracks_free(void *tracks); /* NULL is fine */

#endif
