/* ends.h - what the order in which ranks are done with a transfer tells of the link that slows it down. */
#ifndef ANALYSIS_LINK_ENDS_H
#define ANALYSIS_LINK_ENDS_H

#include "slow_link.h"

/* Collectives of one group and class, `of`: where the ends are those of a ring behind a slow link, should_ns becomes
 * what took_ns is without it, and evidence TL_LINK_BY_TAILS.  False when memory is out. */
bool tl_link_by_tails(const tl_link_input *in, const uint32_t *of, size_t n, int64_t *took_ns, int64_t *should_ns,
                      uint8_t *evidence);

/* Of `all` collectives of one group and class the first n are slow: who are the two done last in these, beyond how late
 * they are done in the others?  False when memory is out. */
bool tl_link_ends(const tl_link_input *in, const uint32_t *of, size_t n, size_t all, tl_slow_link *link);

#endif
