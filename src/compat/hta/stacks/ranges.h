/* ranges.h - the counters of the profiler ranges of a rank: a second look at its file, for their args as they are written.
 */
#ifndef TLMPI_COMPAT_HTA_STACKS_RANGES_H
#define TLMPI_COMPAT_HTA_STACKS_RANGES_H

#include "tlmpi/compat/hta/frame/frame.h"

/* Zero-initialise; tl_hta_ranges_free ends it. */
typedef struct tl_hta_ranges {
    tl_names texts; /* args */
    tl_names keys;  /* of counters: those that are no columns of every row, in order of first sight */
    uint32_t *args; /* of each range, in the order asked for: id of its object; TL_NO_NAME: it was not found */
    bool too_many;  /* keys, so that there are no cells */
} tl_hta_ranges;

/* The args of the n rows at these positions, in ascending order of index.  Where the file cannot be read again, they are
 * not found. */
void tl_hta_ranges_read(tl_hta_ranges *ranges, const tl_hta_frame *frame, const uint32_t *at, size_t n);
void tl_hta_ranges_free(tl_hta_ranges *ranges);

/* Names and cells of the columns that HTA takes from args, but for stream and correlation: those of every row, then the
 * counters. */
void tl_hta_ranges_head(const tl_hta_ranges *ranges, tl_csv *csv);
void tl_hta_ranges_cells(const tl_hta_ranges *ranges, size_t range, tl_csv *csv);

#endif
