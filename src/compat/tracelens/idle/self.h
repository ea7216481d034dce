/* self.h - the time of a gap by name: of operators their own, without that of the operators within.
 *
 *     gap              |--------------------|
 *     operators      [ a   [ b ][ b [ c ]]     ]          self times: a less its b's, b less c, c
 *
 * Threads are mixed: an operator within another in time is taken for its child.
 */
#ifndef TLMPI_COMPAT_TRACELENS_IDLE_SELF_H
#define TLMPI_COMPAT_TRACELENS_IDLE_SELF_H

#include "tlmpi/compat/tracelens/idle.h"

/* Events of one sort, and those of them that overlap the gap at hand. */
typedef struct tl_lens_sweep {
    uint32_t *all;  /* by ts; owned by who set it, as is now.v */
    size_t n, next; /* those before `next` have begun before the last gap asked for ended */
    TL_VEC(uint32_t) now;
} tl_lens_sweep;

/* Brings sweep->now to those that overlap the gap, in the order of sweep->all.  Gaps only go forward. */
void tl_lens_sweep_to(tl_lens_sweep *sweep, const tl_lens *lens, const tl_lens_gap *gap);

typedef struct tl_lens_share {
    uint32_t name; /* of the trace; TL_NO_NAME: none */
    double us;
} tl_lens_share;

/* tl_lens_shares_free ends it. */
typedef struct tl_lens_shares {
    const tl_lens *lens;
    TL_VEC(tl_lens_share) rows; /* names in order of first sight */
    uint32_t *position;         /* name -> its place in rows, plus one; TL_NO_NAME stands at the end */
} tl_lens_shares;

tl_lens_shares tl_lens_shares_of(const tl_lens *lens);
void tl_lens_shares_add(tl_lens_shares *shares, uint32_t name, double us);
void tl_lens_shares_clear(tl_lens_shares *shares);
void tl_lens_shares_free(tl_lens_shares *shares);

/* The largest share, of equal ones the first, that is none of the n in `but`; NULL: none. */
const tl_lens_share *tl_lens_shares_largest(const tl_lens_shares *shares, const tl_lens_share *const *but, size_t n);

/* An operator in a gap: as it is, and clipped to the gap. */
typedef struct tl_lens_frame {
    double ts, end, from, to;
    uint32_t name;
    size_t later, sooner; /* the next frame that ends later than this one; that ends as soon, or sooner */
} tl_lens_frame;

/* tl_lens_self_free ends it. */
typedef struct tl_lens_self {
    const tl_lens *lens;
    tl_lens_sweep ops;
    TL_VEC(tl_lens_frame) frames;
} tl_lens_self;

tl_lens_self tl_lens_self_of(const tl_lens *lens);
void tl_lens_self_free(tl_lens_self *self);

/* Self times of the operators in the gap, by name, to *shares.  Ask in order of time. */
void tl_lens_self_times(tl_lens_self *self, const tl_lens_gap *gap, tl_lens_shares *shares);

#endif
