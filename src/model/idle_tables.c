/* idle_tables.c - schemas and words of the tables that say why devices were idle. */
#include "tlmpi/model/idle_tables.h"

const char *const tl_drain_labels[TL_NDRAINS + 1] = {
    [TL_DRAIN_ALL] = "ALL",
    [TL_DRAIN_NOISE] = "noise",
    [TL_DRAIN_STARVED] = "starved",
    [TL_DRAIN_SYNC] = "sync_drain",
};

const char *const tl_wait_labels[TL_NSYNCS + 1] = {
    [TL_SYNC_NONE] = "none",
    [TL_SYNC_DEVICE] = "DEVICE_SYNC",
    [TL_SYNC_STREAM] = "STREAM_SYNC",
    [TL_SYNC_EVENT] = "EVENT_SYNC",
    [TL_SYNC_H2D] = "H2D_COPY",
    [TL_SYNC_D2H] = "D2H_COPY",
    [TL_SYNC_IMPLICIT] = "IMPLICIT_SYNC",
};

const char *const tl_doing_labels[TL_NDOINGS + 1] = {
    [TL_DOING_ALL] = "ALL",
    [TL_DOING_NOISE] = "noise",
    [TL_DOING_LAUNCH_ANOMALY] = "LAUNCH_ANOMALY",
    [TL_DOING_LAUNCH_OVERHEAD] = "LAUNCH_OVERHEAD_ONLY",
    [TL_DOING_RUNTIME] = "RUNTIME_DOMINATED",
    [TL_DOING_CPU] = "CPU_DOMINATED",
    [TL_DOING_UNTRACED] = "CPU_UNTRACED",
    [TL_DOING_NO_TRACE] = "NO_CPU_TRACE",
    [TL_DOING_GRAPH] = "GRAPH_INTERNAL",
    [TL_DOING_DEPENDENCY] = "DEPENDENCY_WAIT",
    [TL_DOING_UNRECORDED] = "WORK_NOT_RECORDED",
};

const char *const tl_call_labels[TL_NCALLS + 1] = {
    [TL_CALL_NONE] = "none",      [TL_CALL_ALLOC] = "MEMORY_ALLOC",  [TL_CALL_LAUNCH] = "LAUNCH_STALL",
    [TL_CALL_SYNC] = "SYNC_CALL", [TL_CALL_OTHER] = "OTHER_RUNTIME",
};

const char *const tl_peer_labels[TL_NPEERS + 1] = {
    [TL_PEER_DEPENDENCY] = "dependency",
    [TL_PEER_SYNC] = "host_sync",
    [TL_PEER_MEETING] = "host_collective",
    [TL_PEER_WAIT] = "host_wait",
};

const char *const tl_stream_wait_labels[] = {
    [TL_STREAM_ALL] = "ALL",     [TL_STREAM_HOST_WAIT] = "host_wait", [TL_STREAM_KERNEL_WAIT] = "kernel_wait",
    [TL_STREAM_OTHER] = "other", [TL_STREAM_UNKNOWN] = "unknown",     [TL_NSTREAM_WAITS] = NULL,
};

const char *const tl_queued_labels[] = { "unknown", "no", "yes", NULL };

TL_TABLE_DEFINE(
    gap, TL_GAP_FIELDS, TL_SCOPE_EVENT, "gaps of the device timeline",
    "When did a device stand idle for longer than a threshold, what had it waited for, and what did the host do "
    "meanwhile?");

TL_TABLE_DEFINE(gap_peer, TL_GAP_PEER_FIELDS, TL_SCOPE_COLLECTIVE, "gaps spent waiting for other ranks",
                "When did a device stand idle because other ranks were late, and which one was the last?");

TL_TABLE_DEFINE(idle, TL_IDLE_FIELDS, TL_SCOPE_RANK, "how idle each device was",
                "How much of the time was a device idle, and how far can the reasons be trusted?");

TL_TABLE_DEFINE(idle_summary, TL_IDLE_SUMMARY_FIELDS, TL_SCOPE_RANK, "idle time by its reasons",
                "How did devices run dry, and in which calls and operators was the host meanwhile: of a rank, a device, "
                "a step and the whole job?");

TL_TABLE_DEFINE(idle_annotation, TL_IDLE_ANNOTATION_FIELDS, TL_SCOPE_RANK, "idle time by annotation",
                "In which user annotations was the host while the devices of a rank were idle, for each reason?");
