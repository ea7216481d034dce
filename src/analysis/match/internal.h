/* internal.h - what the files of this room share. */
#ifndef ANALYSIS_MATCH_INTERNAL_H
#define ANALYSIS_MATCH_INTERNAL_H

#include "tlmpi/analysis/match.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"

/* --------------------------------------------------------------------------------------------- participants_pairs.c */

/* Fills nth and subseq of this view's n participants that are sends and receives, where their other ends are known; and
 * kind and peer of those whose launch was before the recording, as far as the order on their streams tells.  by_launch:
 * all of them in order of launch. */
void tl_pairs_count(const tl_rank_view *view, tl_participant *participants, const uint32_t *by_launch, size_t n);

/* --------------------------------------------------------------------------------------------------- groups_infer.c */

/* While groups are decided. */
typedef struct tl_deciding {
    const tl_membership *m;
    const tl_job_facts *job;
    size_t n;
    const tl_sighting *sightings;
    size_t *first_sighting; /* of each membership; n + 1 of them */
    uint32_t *order;
    uint32_t *by_rank; /* memberships by rank and members */
    tl_fate *fates;
} tl_deciding;

/* Gives order[from, to), which are inferred and may be one group, their keys. */
void tl_groups_infer(tl_deciding *d, size_t from, size_t to);

/* ----------------------------------------------------- align.c: two lists of items, laid side by side under a shift */

/* How well the i-th item of one list is the (i + shift)-th of another. */
typedef struct tl_shift {
    int64_t shift;
    int64_t ahead_ns, scatter_ns; /* median distance of the ends; how far distances scatter about it */
    size_t from, n, misfits;      /* items of the first list that have a partner; how many cannot be the same */
} tl_shift;

/* Shifts to either side that are tried. */
enum { TL_SHIFTS = 512 };

/* Fills tried[2 * TL_SHIFTS + 1] with the shifts under which half of the shorter list and TL_MATCH_ENOUGH items, or all
 * of it, have a partner; returns their number.  mean: scatter_ns is the mean distance from the median, which shows
 * seams between equal work; else the median distance. */
size_t tl_shifts_try(tl_align_item *const *a, size_t na, tl_align_item *const *b, size_t nb, bool mean,
                     tl_shift *tried);

#endif
