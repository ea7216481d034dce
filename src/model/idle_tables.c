/* idle_tables.c - schemas and words of the tables that say why devices were idle. */
#include "tlmpi/model/idle_tables.h"

const char *const tl_drain_labels[] = { TL_DRAIN_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_wait_labels[] = { TL_WAIT_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_doing_labels[] = { TL_DOING_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_call_labels[] = { TL_CALL_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_peer_labels[] = { TL_PEER_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_stream_wait_labels[] = { TL_STREAM_WAIT_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_queued_labels[] = { TL_QUEUED_VALUES(TL_VALUE_LABEL) NULL };

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
