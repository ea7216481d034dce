/* h5_ranks.h - which rows of a table are a rank's: as a table, and as a dataset that shows only them. */
#ifndef TLMPI_STORE_H5_RANKS_H
#define TLMPI_STORE_H5_RANKS_H

#include "h5_rows.h"
#include "tlmpi/base/mem.h"
#include <stdint.h>

/* Ranks up to which each has a view; a larger job has the index alone: a file of more objects opens slowly. */
#define TL_H5_MAX_VIEWS 1024

/* The rows of a rank: [first, first + n) of the table. */
typedef struct tl_h5_range {
    int32_t rank;
    uint64_t first, n;
} tl_h5_range;

/* Zero-initialise; tl_h5_ranks_free ends it. */
typedef struct tl_h5_ranks {
    TL_VEC(tl_h5_range) ranges; /* in rank order */
    char *index_name;           /* of the index table, once it is written */
} tl_h5_ranks;

/* Writes the table <name>_index {rank, first_row, nrows}.  TL_EINTERNAL: rows that never came. */
tl_status tl_h5_write_index(const tl_h5_rows *table, tl_h5_ranks *ranks, tl_error *err);

/* Makes /ranks/<rank>/<name> for each rank, where there are not too many. */
tl_status tl_h5_write_views(hid_t file, const tl_h5_rows *table, const tl_h5_ranks *ranks, tl_error *err);

void tl_h5_ranks_free(tl_h5_ranks *ranks);

#endif
