/* pattern.c - when somebody is late, all units of a rank or of a link together. */
#include "internal.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* A cut step between two that are on is no gap. */
static size_t runs_of(const tl_baseline *b, const bool *on)
{
    size_t runs = 0;
    bool before = false;
    for (size_t s = 0; s < b->nsteps; s++) {
        runs += on[s] && !before;
        before = on[s] || (before && b->cut[s]);
    }
    return runs;
}

void tl_put_pattern(const tl_baseline *b, const bool *on, bool drifts, tl_shape *shape, double *share)
{
    size_t full = 0;
    shape->nup = shape->first = shape->last = 0;
    for (size_t s = 0; s < b->nsteps; s++) {
        full += !b->cut[s];
        if (!on[s])
            continue;
        shape->first = shape->nup == 0 ? s : shape->first;
        shape->last = s;
        shape->nup++;
    }
    *share = full > 0 ? (double)shape->nup / (double)full : NAN;
    shape->pattern = shape->nup == 0                             ? TL_PATTERN_NONE
                     : drifts                                    ? TL_PATTERN_DRIFTING
                     : *share >= TL_PERSISTENT_SHARE && full > 1 ? TL_PATTERN_PERSISTENT
                     : shape->nup == 1                           ? TL_PATTERN_ONE_OFF
                     : runs_of(b, on) == 1                       ? TL_PATTERN_BOUNDED
                                                                 : TL_PATTERN_SPORADIC;
}
