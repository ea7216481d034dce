/* internal.h - the device work of a rank in order of launch, thread by thread, and sums over stretches of it.
 *
 * Private to the room.
 */
#ifndef TLMPI_ANALYSIS_PATTERN_INTERNAL_H
#define TLMPI_ANALYSIS_PATTERN_INTERNAL_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/model/view.h"

/* Device work (kernels, copies and memsets) by launching thread, then order of launch.  Prefix sums give duration and
 * hash of any stretch in constant time. */
typedef struct tl_launched {
    tl_thread_launches by; /* launches by thread */
    size_t *first;         /* work of launch by.v[p]: first[p] to first[p + 1] - 1 */
    uint32_t *kernel;      /* work -> kernel */
    int64_t *ns;           /* durations of the work before i, summed */
    uint64_t *hash;        /* hash of the names of the work before i; modulo a prime */
    uint64_t *power;       /* power[i]: the hash's base to the power of i */
    size_t n;
} tl_launched;

/* Fills *launched; the arrays belong to the arena. */
void tl_launched_find(tl_launched *launched, const tl_rank_view *view, tl_arena *arena);

/* Returns the sum of the durations of work [from, to), ns. */
static inline int64_t tl_launched_ns(const tl_launched *l, size_t from, size_t to)
{
    return l->ns[to] - l->ns[from];
}

/* Returns a hash of the names of work [from, to) in their order, below 2^61. */
uint64_t tl_launched_hash(const tl_launched *l, size_t from, size_t to);

/* Replaces the content of words by the names of work [from, to). */
void tl_launched_words(const tl_launched *l, const tl_rank_view *view, size_t from, size_t to, tl_bytes *words);

#endif
