/* series.h - what changes with time on the streams of a rank: how many kernels wait in a queue, and how fast copies go. */
#ifndef TLMPI_COMPAT_HTA_STREAMS_SERIES_H
#define TLMPI_COMPAT_HTA_STREAMS_SERIES_H

#include "tlmpi/compat/hta/frame/job.h"

/* A launch call or the start of its kernel; the start or the end of a copy. */
typedef struct tl_hta_change {
    double ts;
    double value;   /* from now on: the length of the queue; GB/s of all copies of the kind */
    int64_t key;    /* the stream; the number of the kind */
    uint32_t index; /* of the row */
    uint32_t track; /* of the device row */
} tl_hta_change;

/* Keys ascending, each in the order of time.  tl_hta_series_free ends it. */
typedef struct tl_hta_series {
    tl_hta_change *v;
    size_t n;
    tl_names kinds;  /* of copies, ascending: their ids are the keys */
    const char *why; /* HTA has no queues of the rank, because ...; NULL: it has */
} tl_hta_series;

tl_hta_series tl_hta_queues_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols);
tl_hta_series tl_hta_bandwidths_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols);
bool tl_hta_is_copy(const tl_hta_row *row, const tl_hta_symbols *symbols);
void tl_hta_series_free(tl_hta_series *series);

/* Where the changes of the key of v[from] end. */
size_t tl_hta_series_end(const tl_hta_series *series, size_t from);

#endif
