/* participants_pairs.h - numbers the sends and receives of a rank per other rank: the k-th send matches the k-th
 * receive. */
#ifndef ANALYSIS_MATCH_PARTICIPANTS_PAIRS_H
#define ANALYSIS_MATCH_PARTICIPANTS_PAIRS_H

#include "tlmpi/model/participant.h"
#include "tlmpi/model/view.h"

/* Fills nth and subseq of this view's n participants that are sends and receives, where their other ends are known; and
 * kind and peer of those whose launch was before the recording, as far as the order on their streams tells.  by_launch:
 * all of them in order of launch. */
void tl_pairs_count(const tl_rank_view *view, tl_participant *participants, const uint32_t *by_launch, size_t n);

#endif
