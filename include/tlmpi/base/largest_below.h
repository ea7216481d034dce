/* largest_below.h - the largest number below a bound in any contiguous part of a list, without looking at each number.
 *
 *     list               5  1  7  3  0  6
 *     [1, 5) below 6        1  .  3  0         3
 *
 * A wavelet matrix: the numbers bit by bit, highest first, at each bit parted into those without and those with it.
 */
#ifndef TLMPI_BASE_LARGEST_BELOW_H
#define TLMPI_BASE_LARGEST_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; tl_largest_below_free ends it.  Takes 12 bytes for 64 numbers and each bit of the largest number. */
typedef struct tl_largest_below {
    size_t n, nwords; /* nwords: of one bit */
    unsigned nbits;
    uint64_t *words; /* by bit, highest first: which numbers have it, in the order of that bit */
    uint32_t *ones;  /* by word: how many have it before */
    uint32_t zeros[32];
} tl_largest_below;

#define TL_LARGEST_BELOW_NONE UINT32_MAX

/* Builds the matrix of n numbers; the numbers and n are below TL_LARGEST_BELOW_NONE. */
void tl_largest_below_make(tl_largest_below *below, const uint32_t *v, size_t n);
void tl_largest_below_free(tl_largest_below *below);

/* Returns the largest of v[from, to) below the bound, TL_LARGEST_BELOW_NONE for none; takes one step per bit. */
uint32_t tl_largest_below_find(const tl_largest_below *below, size_t from, size_t to, uint32_t bound);

#endif
