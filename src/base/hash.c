/* hash.c - content keys by multiplication, and a map from them to 32-bit numbers.
 *
 * The step of the hash is `fold`: two words are multiplied to 128 bits and the halves xored, so that every bit of both
 * affects every bit of the result.  A text is read as little-endian words, so all machines compute the same key.
 *
 *     up to 16 bytes    two words that overlap or are padded           one fold
 *     longer            a fold for each 16 bytes into a running seed   (three seeds side by side above 48 bytes,
 *                                                                       which the processor multiplies in parallel),
 *                       then the last 16 bytes
 *
 * and finally a fold with the length.  Result files are sorted by these keys: the constants and the steps are part of
 * the format.
 */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"

#include "tlmpi/base/load.h"

#include <stdlib.h>

/* The first 64 fractional bits of the square roots of 2, 3, 5 and 7, made odd. */
#define ROOT2 UINT64_C(0x6a09e667f3bcc909)
#define ROOT5 UINT64_C(0x3c6ef372fe94f82b)

static inline uint64_t fold(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(TLMPI_NO_INT128)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, mid0 = a1 * b0, mid1 = a0 * b1, high = a1 * b1;
    uint64_t mid = (low >> 32) + (uint32_t)mid0 + (uint32_t)mid1;
    return ((mid << 32) | (uint32_t)low) ^ (high + (mid0 >> 32) + (mid1 >> 32) + (mid >> 32));
#endif
}

uint64_t tl_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t seed = ROOT2, a = 0, b = 0;

    if (n > 16) {
        size_t left = n;
        if (left > 48) {
            uint64_t seed1 = seed, seed2 = seed;
            for (; left > 48; left -= 48, p += 48) {
                seed = fold(load64(p) ^ TL_HASH_ROOT3, load64(p + 8) ^ seed);
                seed1 = fold(load64(p + 16) ^ ROOT5, load64(p + 24) ^ seed1);
                seed2 = fold(load64(p + 32) ^ TL_HASH_ROOT7, load64(p + 40) ^ seed2);
            }
            seed ^= seed1 ^ seed2;
        }
        for (; left > 16; left -= 16, p += 16)
            seed = fold(load64(p) ^ TL_HASH_ROOT3, load64(p + 8) ^ seed);
        a = load64(p + left - 16);
        b = load64(p + left - 8);
    } else if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n >= 4) {
        a = load32(p);
        b = load32(p + n - 4);
    } else if (n > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
    }
    return fold(TL_HASH_ROOT3 ^ n, fold(a ^ ROOT5, b ^ seed));
}

/* Returns the slot at which the search for the key begins.  Consecutive keys, such as correlation ids, are adjacent:
 * sixteen of them in a few cache lines. */
static inline size_t home_of(const tl_map *map, uint64_t key)
{
    uint64_t group = key >> 4;
    return ((size_t)((group ^ group >> 32) * TL_HASH_ROOT7 >> 20) << 4 | (size_t)(key & 15)) & (map->cap - 1);
}

/* Returns the slot of the key, or the empty slot for it.  At least half of the slots are empty, so one is found. */
static size_t slot_of(const tl_map *map, uint64_t key)
{
    size_t mask = map->cap - 1, i = home_of(map, key);

    while (map->values[i] != TL_MAP_NONE && map->keys[i] != key)
        i = (i + 1) & mask;
    return i;
}

uint32_t tl_map_get(const tl_map *map, uint64_t key)
{
    return map->cap == 0 ? TL_MAP_NONE : map->values[slot_of(map, key)];
}

uint32_t *tl_map_at(tl_map *map, uint64_t key)
{
    uint32_t *value = map->cap == 0 ? NULL : &map->values[slot_of(map, key)];
    return value != NULL && *value != TL_MAP_NONE ? value : NULL;
}

static void widen(tl_map *map)
{
    tl_map wide = { .n = map->n, .cap = map->cap > 0 ? map->cap * 2 : 64 };
    wide.keys = tl_calloc(wide.cap, sizeof *wide.keys);
    wide.values = tl_calloc(wide.cap, sizeof *wide.values);
    for (size_t i = 0; i < wide.cap; i++)
        wide.values[i] = TL_MAP_NONE;
    for (size_t i = 0; i < map->cap; i++) {
        if (map->values[i] == TL_MAP_NONE)
            continue;
        size_t to = slot_of(&wide, map->keys[i]);
        wide.keys[to] = map->keys[i];
        wide.values[to] = map->values[i];
    }
    tl_map narrow = *map;
    *map = wide;
    tl_map_free(&narrow);
}

void tl_map_put(tl_map *map, uint64_t key, uint32_t value)
{
    if (map->n >= map->cap / 2)
        widen(map);
    size_t i = slot_of(map, key);
    if (map->values[i] == TL_MAP_NONE)
        map->n++;
    map->keys[i] = key;
    map->values[i] = value;
}

void tl_map_free(tl_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (tl_map){ 0 };
}
