/* local.h - what a rank did by itself between its collectives: what it is compared with other ranks by.
 *
 *     stream   [ A ]..xxxx...yyy...[ B ]..zz..[ A ]..         A, B: collectives of two groups
 *                   |<---------------------->|                what it did since the last A: parts, to the nanosecond
 *
 * And step by step, the names under which most of its time went: kernels and copies by device time, operators, frames
 * and annotations by the idle time that they cover.
 */
#ifndef TLMPI_ANALYSIS_LOCAL_H
#define TLMPI_ANALYSIS_LOCAL_H

#include "tlmpi/analysis/activity.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/participant.h"

/* Fills `previous`, `since` and `since_step` of the n participants of this view's rank.  A participant is ready when it
 * is launched and the compute launched before it has ended; its stream may be busy still.  Time before the first device
 * work counts from the beginning of the rank's first step.  False when memory is out. */
bool tl_local_since(const tl_rank_view *view, const tl_activity *activity, tl_participant *parts, size_t n);

typedef enum tl_detail_kind { TL_DETAIL_WORK, TL_DETAIL_HOST } tl_detail_kind;

/* One name in one step of one rank. */
typedef struct tl_detail {
    int64_t ns;         /* device time, or idle time under the name */
    int32_t rank, step; /* step -1: outside all steps */
    uint32_t name;      /* id in the details' names */
    uint32_t count;     /* kernels, or spans that cover idle time */
    uint32_t depth;     /* of spans: how many stand around the innermost of them */
    uint8_t kind;       /* tl_detail_kind */
} tl_detail;

/* At most so many names of a kind are kept a step: those with most time. */
enum { TL_DETAILS_MAX = 24 };

/* Of all ranks that a proc has read.  Zero-initialise; tl_details_free ends it. */
typedef struct tl_details {
    TL_VEC(tl_detail) rows;
    tl_names names; /* normalised: without addresses */
} tl_details;

/* Appends the rank's.  Idle time of TL_PART_DEVICE is no host's doing and is left out.  False when memory is out. */
bool tl_details_collect(const tl_rank_view *view, const tl_idle_span *idle, size_t nidle, tl_details *details);
void tl_details_free(tl_details *details);

#endif
