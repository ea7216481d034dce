/* detail_rows.h - the rows of local.h while they are gathered: one for each name, in each step. */
#ifndef ANALYSIS_LOCAL_DETAIL_ROWS_H
#define ANALYSIS_LOCAL_DETAIL_ROWS_H

#include "tlmpi/analysis/time.h"
#include "tlmpi/analysis/local.h"
#include "tlmpi/base/hash.h"

/* Zero-initialise but for view. */
typedef struct tl_detail_rows {
    const tl_rank_view *view;
    tl_map index_of; /* (kind, step, name) -> index in rows */
    TL_VEC(tl_detail) rows;
} tl_detail_rows;

/* Adds time, size and count to the row of a name. */
void tl_detail_add(tl_detail_rows *all, tl_detail_kind kind, int32_t step, uint32_t name, tl_activity_kind activity,
                   const tl_detail *what);

/* What the threads did that launch, and what they waited in. */
void tl_detail_host(tl_detail_rows *rows, const tl_activity *activity);

#endif
