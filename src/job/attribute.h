/* attribute.h - from matched collectives to who holds the job up.
 *
 *     owners     a row a rank and collective: when it came, and in what it had more time than its peers
 *     proc 0     charges, from the last collective to the first; then a verdict on each rank
 *     all        what proc 0 asks about the suspects: the names that took most of their time, and of their peers'
 *
 * Proc 0 sees ranks times collectives, never their events.
 */
#ifndef TLMPI_JOB_ATTRIBUTE_H
#define TLMPI_JOB_ATTRIBUTE_H

#include "replay.h"
#include "tlmpi/analysis/collectives.h"
#include "tlmpi/analysis/local.h"
#include "tlmpi/model/table.h"

/* One rank in one collective. */
typedef struct tl_late_row {
    int64_t collective;
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank, step;
    int32_t own_step;       /* that of the rank's own marks; step: that of the collective */
    uint32_t uid, previous; /* of its kernel; of that of its previous collective with the same ranks */
    int64_t bytes;          /* size of the message, -1 when unknown */
    uint16_t share[TL_NPARTS];
    uint8_t kind;    /* tl_collective, of the collective */
    uint8_t fits;    /* two ranks or more, and nothing suspect */
    uint8_t charged; /* its collective may carry a verdict */
    uint8_t pair;    /* a send and its receive */
    int32_t group;
    int32_t peer;           /* the other end of what goes between two ranks, also one without a trace; below 0: nobody */
    int64_t uncertainty_ns; /* of the clocks of its collective */
    int32_t hidden;         /* 1: they hide who came last to it */
    int32_t padding;
} tl_late_row;

typedef TL_VEC(tl_late_row) tl_late_rows;

/* Appends the rows of one collective.  False when memory is out. */
bool tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *collective);

/* Collective.  rows: of this proc's collectives, in order; freed.  programs and details: of the ranks that this proc
 * has read.  On proc 0 `tables` has the rows of all ranks, and gets blame, blame_step and straggler.  The same status
 * and message on every proc. */
tl_status tl_attribute(tl_late_rows *rows, tl_programs *programs, const tl_details *details, tl_tables *tables,
                       tl_error *err);

#endif
