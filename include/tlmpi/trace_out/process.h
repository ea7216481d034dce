/* process.h - where in a trace tracks about a device belong: the process in which most of its work is shown. */
#ifndef TLMPI_TRACE_OUT_PROCESS_H
#define TLMPI_TRACE_OUT_PROCESS_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace/events.h"
#include "tlmpi/trace_out/track.h"

typedef struct tl_out_process {
    int32_t device; /* as in a view; -1 where the trace does not say */
    int64_t pid;
    uint32_t pid_text; /* names id; TL_NO_NAME where the pid is a number */
    int64_t tid;       /* from here on `ntids` numbers are free in that process, and set aside for this device */
    bool shared;       /* another device is shown in the same process */
} tl_out_process;

typedef TL_VEC(tl_out_process) tl_out_processes;

/* One for each device with work, by device; `apart` false: one for all of them (device -1).  slices: work whose ph is
 * not X does not count.  Of two processes with as much work the one that is met first.  tids are looked for from
 * `first_tid` on, `ntids` at a time.  The caller frees out->v. TL_ENOMEM. */
tl_status tl_out_processes_find(const tl_events *events, bool apart, bool slices, int64_t first_tid, int64_t ntids,
                                tl_out_processes *out, tl_error *err);

/* The track with the first of its tids; names are those of the trace. */
tl_out_track tl_out_process_track(const tl_out_process *process, const tl_names *names);

#endif
