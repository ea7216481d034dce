/* late_rows.h - what proc 0 is told of each collective by the proc that owns it: when each rank came, and in what it
 * had more time than its peers. */
#ifndef TLMPI_JOB_LATE_ROWS_H
#define TLMPI_JOB_LATE_ROWS_H

#include "tlmpi/analysis/collectives.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/view.h"

/* One rank in one collective. */
typedef struct tl_late_row {
    int64_t collective;
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank, step;
    int32_t own_step;       /* that of the rank's own marks; step: that of the collective */
    uint32_t uid, previous; /* of its kernel; of that of its previous collective with the same ranks */
    int64_t bytes;          /* size of the message, -1 when unknown */
    int64_t done_ns; /* when the rank's device had done with own_step; TL_TIME_UNKNOWN outside of steps */
    uint16_t share[TL_NPARTS];
    uint16_t behind; /* how much of what these are shares of it had behind the last collective of the step before own_step */
    uint8_t kind;    /* tl_collective, of the collective */
    uint8_t fits;    /* two ranks or more, and nothing suspect */
    uint8_t charged; /* its collective may carry a verdict */
    uint8_t pair;    /* a send and its receive */
    int32_t group;
    int32_t peer; /* the other end of what goes between two ranks, also one without a trace; below 0: nobody */
    int64_t uncertainty_ns; /* of the clocks of its collective */
    int32_t hidden;         /* 1: they hide who came last to it */
    int32_t padding;
} tl_late_row;

typedef TL_VEC(tl_late_row) tl_late_rows;

/* Appends the rows of one collective.  False when memory is out. */
bool tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *collective);

#endif
