/* series.h - what the files of counters share: how many kernels wait in a queue, and how fast copies go, in the course
 * of time.
 */
#ifndef TLMPI_COMPAT_HTA_STREAMS_SERIES_H
#define TLMPI_COMPAT_HTA_STREAMS_SERIES_H

#include "tlmpi/base/sort.h"
#include "tlmpi/compat/hta/frame/job.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"

/* A launch call, or the start of what it launched. */
typedef struct tl_hta_queued {
    double ts;
    int64_t stream;
    uint32_t index; /* of the row */
    uint32_t track; /* of the device row */
    int64_t length; /* of the queue from now on */
} tl_hta_queued;

/* Streams ascending, each in the order of time.  Zero-initialise; free(queue.v) ends it. */
typedef struct tl_hta_queue {
    tl_hta_queued *v;
    size_t n;
} tl_hta_queue;

/* *why: NULL, or the reason for which HTA has no series of the rank. */
tl_status tl_hta_queue_of(tl_hta_queue *queue, const char **why, const tl_hta_frame *frame,
                          const tl_hta_symbols *symbols, tl_error *err);

/* The start or the end of a copy. */
typedef struct tl_hta_copied {
    double ts;
    double gb_per_s; /* from now on, of all copies of the kind */
    uint32_t track;
    uint32_t kind; /* of tl_hta_bandwidth.kinds */
} tl_hta_copied;

/* Kinds in the order of their texts, each in the order of time.  Zero-initialise; tl_hta_bandwidth_free ends it. */
typedef struct tl_hta_bandwidth {
    tl_hta_copied *v;
    size_t n;
    tl_names kinds;
} tl_hta_bandwidth;

tl_status tl_hta_bandwidth_of(tl_hta_bandwidth *bandwidth, const tl_hta_frame *frame, const tl_hta_symbols *symbols,
                              tl_error *err);
bool tl_hta_is_copy(const tl_hta_row *row, const tl_hta_symbols *symbols);

/* Whether HTA holds the times of its ends as integers: they have a duration in them. */
static inline bool tl_hta_copy_ts_whole(const tl_hta_frame *frame)
{
    return frame->ts_whole && frame->dur_whole;
}

void tl_hta_bandwidth_free(tl_hta_bandwidth *bandwidth);

/* The order of n things: by `compare`, which has them as its context, and where that sees no difference by their times
 * ts, as numpy sorts them.  An array to be freed; NULL: memory is out. */
uint32_t *tl_hta_series_order(const void *things, const double *ts, size_t n, tl_compare *compare);

#define TL_HTA_DESCRIBED(name)                                                                                         \
    name "_count," name "_mean," name "_std," name "_min," name "_25%," name "_50%," name "_75%," name "_max"

/* The cells of what describe tells of n values, which are put in order. */
void tl_hta_write_described(tl_sheet *csv, double *values, size_t n);

/* The pid of a row, and its tid; a number or a text. */
void tl_hta_write_pid(tl_sheet *csv, const tl_hta_frame *frame, uint32_t track);
void tl_hta_write_tid(tl_sheet *csv, const tl_hta_frame *frame, uint32_t track);

#endif
