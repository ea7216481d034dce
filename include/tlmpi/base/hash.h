/* hash.h - 64-bit hashes of bytes, the same on every machine and in every version of the result file; and a map from
 * such keys to 32-bit numbers. */
#ifndef TLMPI_BASE_HASH_H
#define TLMPI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the content key of n bytes: names are matched across ranks and runs by their keys, so the function must never
 * change.  Not cryptographic: tl_names, which keeps the texts, distinguishes two texts with one key. */
uint64_t tl_hash_bytes(const void *bytes, size_t n);

/* Returns the hash with one more 64-bit value; the order of calls matters. */
uint64_t tl_hash_mix(uint64_t hash, uint64_t value);

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
