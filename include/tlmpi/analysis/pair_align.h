/* pair_align.h - sends and receives of which nobody says between whom: matched by when they ended.
 *
 *     0   [?].........[?].........     a chain of ranks; ?: a send and receive with nobody knows whom.  Who has one
 *     1   [?]...[?]...[?]...[?]...     neighbour alone has all of them with that one; what is left of his neighbour is
 *     2   ......[?].........[?]...     with the next
 *
 * Who neighbours are is known from what is known of others of the group; where nothing is, those next to each other in
 * the group are.  A pure function of its input.
 */
#ifndef TLMPI_ANALYSIS_PAIR_ALIGN_H
#define TLMPI_ANALYSIS_PAIR_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One rank's part in a send, a receive or both. */
typedef struct tl_pair_item {
    uint64_t key;  /* 0: open; of what has a partner the same on both sides */
    uint64_t lone; /* the key that it gets alone */
    int64_t end_ns;
    int32_t group, rank;
    int32_t peer; /* -2: unknown */
    int32_t padding;
} tl_pair_item;

/* Gives every open item a key, and those for which one is found a peer.  No neighbours are guessed in groups that
 * guess[group] is false for.  False when memory is out. */
bool tl_pairs_align(tl_pair_item *items, size_t n, const bool *guess);

#endif
