/* process.h - finds the process of a trace to which tracks about a device belong: the one with most of its work. */
#ifndef TLMPI_TRACE_OUT_PROCESS_H
#define TLMPI_TRACE_OUT_PROCESS_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace_out/track.h"

typedef struct tl_out_process {
    int32_t device; /* as in a view; -1: the trace does not tell */
    int64_t pid;
    uint32_t pid_text; /* names id; TL_NO_NAME: the pid is a number */
    int64_t tid;       /* the first of `ntids` numbers that no event of the process has, set aside for this device */
    bool shared;       /* another device is shown in the same process */
} tl_out_process;

typedef TL_VEC(tl_out_process) tl_out_processes;

/* How to look for processes. */
typedef struct tl_out_search {
    bool apart;                                      /* each device by itself; else all are one, device -1 */
    int64_t first_tid, ntids;                        /* tids are searched from first_tid on, ntids at a time */
    bool (*counts)(const void *arg, uint32_t event); /* which events are work; NULL: device work that has a time */
    const void *arg;
} tl_out_search;

/* Finds one process for each device with work, in order of devices: the process with most of the device's work; ties go
 * to the first in the trace.  The caller frees out->v. */
void tl_out_processes_find(const tl_events *events, const tl_out_search *search, tl_out_processes *out);

/* Returns the track with the process' first free tid; `names` are the names of the trace. */
tl_out_track tl_out_process_track(const tl_out_process *process, const tl_names *names);

#endif
