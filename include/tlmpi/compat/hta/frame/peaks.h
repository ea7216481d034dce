/* peaks.h - the last number of a list, before some place, that is at least as large as a bound; numbers may change. */
#ifndef TLMPI_COMPAT_HTA_FRAME_PEAKS_H
#define TLMPI_COMPAT_HTA_FRAME_PEAKS_H

#include <stddef.h>
#include <stdint.h>

/* A tree over the numbers: each node has the largest of those below it.  Zero-initialise; tl_hta_peaks_free ends it. */
typedef struct tl_hta_peaks {
    double *v;      /* node 1 is the root; below node i lie 2i and 2i + 1 */
    size_t nleaves; /* the numbers are the nodes from nleaves on */
} tl_hta_peaks;

#define TL_HTA_NO_PEAK SIZE_MAX

/* n times -INFINITY. */
void tl_hta_peaks_make(tl_hta_peaks *peaks, size_t n);
void tl_hta_peaks_set(tl_hta_peaks *peaks, size_t i, double value);

/* The largest i < before whose number is at least `bound`; both steps of the order of log n. */
size_t tl_hta_peaks_last(const tl_hta_peaks *peaks, size_t before, double bound);

void tl_hta_peaks_free(tl_hta_peaks *peaks);

#endif
