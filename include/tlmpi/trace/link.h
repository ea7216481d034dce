/* link.h - events to the view of a rank: device work sorted and classified, joined to its launches and steps. */
#ifndef TLMPI_TRACE_LINK_H
#define TLMPI_TRACE_LINK_H

#include "tlmpi/model/view.h"
#include "tlmpi/trace/classify.h"
#include "tlmpi/trace/reader.h"

/* The categories that tl_link looks at: what a run asks the reader to keep. */
#define TL_LINK_KEEP                                                                                                     \
    (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC) | TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) |                \
     TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION))

/* The device of an event, as a view has it: what its args say, else, of device work, the number of its process; -1 for
 * neither. */
int32_t tl_event_device(const tl_events *events, size_t event);

/* Whether the view of these events would have kernels, copies or memsets. */
bool tl_has_gpu_work(const tl_events *events);

/* Owns the arrays that its view shows; the view borrows the trace's names, too. */
typedef struct tl_linked {
    tl_rank_view view;
    tl_kernel *kernels;
    tl_sync *syncs;
    tl_launch *launches;
    tl_step_window *steps;
    struct tl_linked_host {             /* the columns that calls and ops show, calls first */
        int64_t *start_ns, *dur_ns, *correlation;
        uint32_t *name, *uid, *place, *name_key;
        int8_t *copy;
        uint8_t *kind;
        tl_thread *threads;
        tl_place *places;
    } host;
    tl_coll *colls;
    tl_group *groups;           /* and the members of each */
} tl_linked;

/* Fills *out, which tl_linked_free ends, also after a failure.  TL_ENOMEM. */
tl_status tl_link(const tl_trace *trace, const tl_rules *rules, int32_t rank, tl_linked *out, tl_error *err);

/* Then: what the host did, into the view.  It takes over the columns of the trace, so that there is never a second set of
 * them; the rest of the events is freed, the names stay (and may become more).  TL_ENOMEM: the events are gone, too. */
tl_status tl_link_host(tl_trace *trace, tl_linked *linked, tl_error *err);

/* Takes what the host did out of the view and frees it. */
void tl_linked_free_host(tl_linked *linked);

void tl_linked_free(tl_linked *linked);

#endif
