/* host.h - the waits of the host for its device.
 *
 *     host     [launch a][launch b][ synchronize        ][launch c]
 *     device      [    a    ][        b         ]           [  c ]
 *                                  |<--- the wait ---->|
 *
 * A host that waits would be earlier if its device were; a host that works would not.  Every replay of what would have been
 * needs to know which of the two a span of host time was.
 *
 * From the view of one rank.  May use time.
 */
#ifndef TLMPI_ANALYSIS_HOST_H
#define TLMPI_ANALYSIS_HOST_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

typedef enum tl_wait_kind {
    TL_WAIT_DEVICE, /* for everything on the device */
    TL_WAIT_STREAM, /* for what is queued on one stream */
    TL_WAIT_EVENT,  /* for some piece of work: whichever ended last before the wait did */
    TL_WAIT_COPY,   /* as for a stream: a copy to the device whose call comes back when it is done */
    TL_WAIT_FREE,   /* as for the device: nothing may use the memory any more */
    TL_WAIT_QUEUE   /* for room in the queue: a launch that the driver held back */
} tl_wait_kind;

/* One wait; [start_ns, end_ns) is the call. */
typedef struct tl_host_wait {
    int64_t start_ns, end_ns;
    int32_t device, stream; /* -1: all, or unknown */
    tl_wait_kind kind;
} tl_host_wait;

/* Zero-initialise; tl_host_waits_free ends it. */
typedef struct tl_host_waits {
    tl_host_wait *v;
    size_t n, cap;
} tl_host_waits;

void tl_host_waits_free(tl_host_waits *waits);

/* What a runtime or driver call, or a recorded wait, of this name waits for; false for one that does not wait. */
bool tl_wait_kind_of(tl_text name, tl_wait_kind *kind);

/* Appends all waits that the view shows: calls that wait, on threads that launch; recorded waits; copies that held the host
 * until they were done; and what the two calls below find.  TL_ENOMEM. */
tl_status tl_host_waits_find(const tl_rank_view *view, tl_host_waits *waits, tl_error *err);

/* Appends launches that the driver held back because the queue was full.  False when memory is out. */
bool tl_host_waits_held(const tl_rank_view *view, tl_host_waits *waits);

/* Appends waits of which no call is recorded: profilers leave some calls out (cudaEventSynchronize among them), and those that
 * began before the recording.  False when memory is out. */
bool tl_host_waits_infer(const tl_rank_view *view, tl_host_waits *waits);

/* Puts the waits in order of time, drops empty ones and makes one of those that overlap: a call, and what was recorded of
 * it.  To be called last. */
void tl_host_waits_sort(tl_host_waits *waits);

#endif
