#include "tlmpi/compat/hta/frame/peaks.h"
#include "tlmpi/base/mem.h"
#include <math.h>
#include <stdlib.h>

void tl_hta_peaks_make(tl_hta_peaks *peaks, size_t n)
{
    peaks->nleaves = 1;
    while (peaks->nleaves < n)
        peaks->nleaves *= 2;
    peaks->v = tl_malloc(2 * peaks->nleaves * sizeof *peaks->v);
    for (size_t i = 0; i < 2 * peaks->nleaves; i++)
        peaks->v[i] = -INFINITY;
}

void tl_hta_peaks_set(tl_hta_peaks *peaks, size_t i, double value)
{
    peaks->v[i += peaks->nleaves] = value;
    while ((i /= 2) > 0)
        peaks->v[i] = fmax(peaks->v[2 * i], peaks->v[2 * i + 1]);
}

/* Up from the place to the first subtree on its left that has one, then down in it. */
size_t tl_hta_peaks_last(const tl_hta_peaks *peaks, size_t before, double bound)
{
    size_t i = before + peaks->nleaves;

    if (before >= peaks->nleaves)
        i = 1;
    else
        while (i % 2 == 0 || peaks->v[i - 1] < bound)
            if ((i /= 2) <= 1)
                return TL_HTA_NO_PEAK;
    if (i > 1)
        i--;
    if (peaks->v[i] < bound)
        return TL_HTA_NO_PEAK;
    while (i < peaks->nleaves)
        i = 2 * i + (peaks->v[2 * i + 1] >= bound);
    return i - peaks->nleaves;
}

void tl_hta_peaks_free(tl_hta_peaks *peaks)
{
    free(peaks->v);
    *peaks = (tl_hta_peaks){ 0 };
}
