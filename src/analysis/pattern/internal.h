/* internal.h - the device work of a rank in the order in which its threads launched it, and what a stretch of that is.
 *
 * Private to the room.
 */
#ifndef TLMPI_ANALYSIS_PATTERN_INTERNAL_H
#define TLMPI_ANALYSIS_PATTERN_INTERNAL_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/model/view.h"

/* Work i is a kernel, copy or memset; one thread's stands after the other's.  What lies before it is summed up, so that a
 * stretch of any length is known at once. */
typedef struct tl_launched {
    tl_thread_launches by; /* the launches */
    size_t *first;         /* work of launch by.v[p]: first[p] to first[p + 1] - 1 */
    uint32_t *kernel;      /* work -> kernel */
    int64_t *ns;           /* of the work before i: durations */
    uint64_t *hash;        /* ... and of the names; modulo a prime */
    uint64_t *power;       /* of the hash's base */
    size_t n;
} tl_launched;

/* The arrays are of the arena. */
void tl_launched_find(tl_launched *launched, const tl_rank_view *view, tl_arena *arena);

/* The sum of the durations of work [from, to). */
static inline int64_t tl_launched_ns(const tl_launched *l, size_t from, size_t to)
{
    return l->ns[to] - l->ns[from];
}

/* A hash of its names in their order, below 2^61. */
uint64_t tl_launched_hash(const tl_launched *l, size_t from, size_t to);

/* Puts its names into words, in place of what stands there. */
void tl_launched_words(const tl_launched *l, const tl_rank_view *view, size_t from, size_t to, tl_bytes *words);

#endif
