/* largest_below.c - a wavelet matrix: the largest number below a bound in any part of a list. */
#include "tlmpi/base/largest_below.h"
#include "tlmpi/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

static uint32_t count_ones(uint64_t word)
{
    return (uint32_t)__builtin_popcountll(word);
}

static unsigned bits_of_largest(const uint32_t *v, size_t n)
{
    uint32_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= v[i];
    unsigned bits = 0;
    while (bits < 32 && all >> bits != 0)
        bits++;
    return bits;
}

/* Returns how many of the first i numbers, in the order of the b-th bit, have that bit set. */
static uint32_t ones_before(const tl_largest_below *t, unsigned b, size_t i)
{
    size_t word = b * t->nwords + i / WORD;
    return t->ones[word] + count_ones(t->words[word] & ((UINT64_C(1) << i % WORD) - 1));
}

/* Notes which numbers have the b-th bit, and parts the numbers by that bit. */
static void part_by(tl_largest_below *t, unsigned b, const uint32_t *v, uint32_t *parted)
{
    uint64_t *words = t->words + b * t->nwords;
    uint32_t ones = 0;
    unsigned shift = t->nbits - 1 - b;

    for (size_t i = 0; i < t->n; i++)
        words[i / WORD] |= (uint64_t)(v[i] >> shift & 1) << i % WORD;
    for (size_t i = 0; i < t->nwords; i++) {
        t->ones[b * t->nwords + i] = ones;
        ones += count_ones(words[i]);
    }
    t->zeros[b] = (uint32_t)t->n - ones;
    uint32_t *without = parted, *with = parted + t->zeros[b];
    for (size_t i = 0; i < t->n; i++)
        *((v[i] >> shift & 1) != 0 ? with++ : without++) = v[i];
}

void tl_largest_below_make(tl_largest_below *t, const uint32_t *v, size_t n)
{
    *t = (tl_largest_below){ .n = n, .nwords = n / WORD + 1, .nbits = bits_of_largest(v, n) };
    size_t nwords = t->nwords * t->nbits;
    uint32_t *now = tl_malloc((n + 1) * sizeof *now), *next = tl_malloc((n + 1) * sizeof *next);

    t->words = tl_calloc(nwords + 1, sizeof *t->words);
    t->ones = tl_calloc(nwords + 1, sizeof *t->ones);
    if (n > 0)
        memcpy(now, v, n * sizeof *now);
    for (unsigned b = 0; b < t->nbits; b++) {
        part_by(t, b, now, next);
        uint32_t *kept = now;
        now = next;
        next = kept;
    }
    free(now);
    free(next);
}

void tl_largest_below_free(tl_largest_below *t)
{
    free(t->words);
    free(t->ones);
    *t = (tl_largest_below){ 0 };
}

/* How many of [from, to) are below the bound. */
static size_t count_below(const tl_largest_below *t, size_t from, size_t to, uint32_t bound)
{
    size_t count = 0;

    if (t->nbits < 32 && bound >> t->nbits != 0)
        return to - from;
    for (unsigned b = 0; b < t->nbits; b++) {
        uint32_t first = ones_before(t, b, from), last = ones_before(t, b, to);
        if ((bound >> (t->nbits - 1 - b) & 1) != 0) {
            count += to - from - (last - first);
            from = t->zeros[b] + first;
            to = t->zeros[b] + last;
        } else {
            from -= first;
            to -= last;
        }
    }
    return count;
}

uint32_t tl_largest_below_find(const tl_largest_below *t, size_t from, size_t to, uint32_t bound)
{
    size_t below = from < to ? count_below(t, from, to, bound) : 0;
    uint32_t found = 0;

    if (below == 0)
        return TL_LARGEST_BELOW_NONE;
    below--; /* values before the one sought, among the values left */
    for (unsigned b = 0; b < t->nbits; b++) {
        uint32_t first = ones_before(t, b, from), last = ones_before(t, b, to);
        size_t without = to - from - (last - first);
        bool has = below >= without;
        found = found << 1 | has;
        below -= has ? without : 0;
        from = has ? t->zeros[b] + first : from - first;
        to = has ? t->zeros[b] + last : to - last;
    }
    return found;
}
