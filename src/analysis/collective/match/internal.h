/* internal.h - shared by the files of this folder. */
#ifndef ANALYSIS_MATCH_INTERNAL_H
#define ANALYSIS_MATCH_INTERNAL_H

#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"

/* --------------------------------------------------------------------------------------------------- groups_infer.c */

/* The state while groups are decided. */
typedef struct tl_deciding {
    const tl_membership *m;
    const tl_job_facts *job;
    size_t n;
    const tl_sighting *sightings;
    size_t *first_sighting; /* [n + 1] by membership: index of its first sighting */
    uint32_t *order;
    uint32_t *by_rank; /* memberships, ascending by rank and members */
    tl_fate *fates;
} tl_deciding;

/* Sets the group keys of the inferred memberships order[from, to), which have one members_key. */
void tl_groups_infer(tl_deciding *d, size_t from, size_t to);

/* ----------------------------------------------------- align.c: two lists of items, laid side by side under a shift */

/* How well items i of one list match items i + shift of another. */
typedef struct tl_shift {
    int64_t shift;
    int64_t ahead_ns, scatter_ns; /* median distance of the ends; scatter of the distances about it */
    size_t from, n, misfits;      /* items [from, from + n) have a partner; misfits: pairs that cannot be the same */
} tl_shift;

/* The largest shift tried, to either side. */
enum { TL_SHIFTS = 512 };

/* Fills tried[2 * TL_SHIFTS + 1] with the shifts under which half of the shorter list and TL_MEDIAN_LEAST items, or all
 * of it, have a partner; returns their number.  mean: scatter_ns is the mean distance from the median, which shows
 * seams between equal work; else the median distance. */
size_t tl_shifts_try(tl_align_item *const *a, size_t na, tl_align_item *const *b, size_t nb, bool mean,
                     tl_shift *tried);

#endif
