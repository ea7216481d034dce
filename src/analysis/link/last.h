/* last.h - are the wires of a whole host slow, or is its clock off?
 *
 *                                        the wires of host 1                its clock
 *     last is   rank 0, of host 0    [    transfer     )                [    transfer    )
 *               rank 2, of host 1    [      transfer      )             [    transfer    )
 *
 * All ranks of a host that are done later than the others look the same in both cases.  But whoever came last waited
 * for nobody: what its own kernel took is the transfer, and no clock is asked for it.  A clock that is off makes it no
 * longer.  Behind slow wires it is as much longer as the host's ranks are done later. */
#ifndef ANALYSIS_LINK_LAST_H
#define ANALYSIS_LINK_LAST_H

#include "slow_link.h"

/* Collectives of one group and class, `of`: where transfers are longer when one host's ranks come last, took_ns becomes
 * what they took by clocks that agree with that, should_ns what it is without, and evidence TL_LINK_BY_LAST.  False
 * when memory is out. */
bool tl_link_by_last(const tl_link_input *in, const uint32_t *of, size_t n, int64_t *took_ns, int64_t *should_ns,
                     uint8_t *evidence);

/* Of those: the first and the last rank of that host.  False when memory is out. */
bool tl_link_last_ends(const tl_link_input *in, const uint32_t *of, size_t n, tl_slow_link *link);

#endif
