/* hash.h - 64-bit hashes of bytes, the same on every machine and in every version of the result file; and a map from
 * such keys to 32-bit numbers. */
#ifndef TLMPI_BASE_HASH_H
#define TLMPI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the content key of n bytes: names are matched across ranks and runs by their keys, so the function must never
 * change.  Not cryptographic: tl_names, which keeps the texts, distinguishes two texts with one key. */
uint64_t tl_hash_bytes(const void *bytes, size_t n);

/* The first 64 fractional bits of the square roots of 3 and 7. */
#define TL_HASH_ROOT3 UINT64_C(0xbb67ae8584caa73b)
#define TL_HASH_ROOT7 UINT64_C(0xa54ff53a5f1d36f1)

/* Stafford's finaliser of splitmix64 (variant 13): a bijection in which each input bit flips half of the output
 * bits. */
static inline uint64_t tl_hash_scatter(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* Returns the hash with one more 64-bit value; the order of calls matters.  A bijection of the hash for each value, and
 * of the value for each hash: sequences that differ in one value always have different hashes. */
static inline uint64_t tl_hash_mix(uint64_t hash, uint64_t value)
{
    return tl_hash_scatter((hash << 23 | hash >> 41) * TL_HASH_ROOT7 + tl_hash_scatter(value + TL_HASH_ROOT3));
}

/* u64 -> u32 map with open addressing.  Zero-initialise; tl_map_free ends it. */
typedef struct tl_map {
    uint64_t *keys;
    uint32_t *values; /* TL_MAP_NONE marks an empty slot */
    size_t n, cap;    /* cap is 0 or a power of two */
} tl_map;

#define TL_MAP_NONE UINT32_MAX

/* Returns the value of the key; TL_MAP_NONE: none. */
uint32_t tl_map_get(const tl_map *map, uint64_t key);

/* Returns the address of the value of the key, which may be changed (never to TL_MAP_NONE) until the next tl_map_put;
 * NULL: none. */
uint32_t *tl_map_at(tl_map *map, uint64_t key);

/* Sets the value of the key (not TL_MAP_NONE). */
void tl_map_put(tl_map *map, uint64_t key, uint32_t value);

void tl_map_free(tl_map *map);

/* Returns the value of the key; a new key gets the value `next`. */
static inline uint32_t tl_map_number(tl_map *map, uint64_t key, size_t next)
{
    uint32_t number = tl_map_get(map, key);
    if (number != TL_MAP_NONE)
        return number;
    tl_map_put(map, key, (uint32_t)next);
    return (uint32_t)next;
}

/* Adds one to the count of the key; returns the count before, 0 at first. */
static inline uint32_t tl_map_count(tl_map *map, uint64_t key)
{
    uint32_t n = tl_map_get(map, key);
    n = n == TL_MAP_NONE ? 0 : n;
    tl_map_put(map, key, n + 1);
    return n;
}

#endif
