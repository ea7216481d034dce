/* test_hash.c - keys that never change, the same by every way to multiply, and the map under them. */
#include "unit.h"

#include <string.h>

/* The hash as a compiler without 128-bit integers builds it, beside the one of the library. */
#define TLMPI_NO_INT128
#define tl_hash_bytes portable_hash_bytes
#define tl_map_get portable_map_get
#define tl_map_at portable_map_at
#define tl_map_put portable_map_put
#define tl_map_free portable_map_free
#include "src/base/hash.c"
#undef tl_hash_bytes
#undef tl_map_get
#undef tl_map_at
#undef tl_map_put
#undef tl_map_free

uint64_t tl_hash_bytes(const void *bytes, size_t n);
uint32_t tl_map_get(const tl_map *map, uint64_t key);
uint32_t *tl_map_at(tl_map *map, uint64_t key);
void tl_map_put(tl_map *map, uint64_t key, uint32_t value);
void tl_map_free(tl_map *map);

/* Result files are joined by these keys: a change here makes old files unreadable together with new ones. */
static void keys_are_those_of_every_version(void)
{
    static const struct {
        const char *text;
        uint64_t key;
    } known[] = {
        { "", UINT64_C(0xc43b6d2b8dc130e9) },
        { "a", UINT64_C(0xdc7b607469dddbc3) },
        { "Memset", UINT64_C(0x510d8c6263bbcdf4) },
        { "ProfilerStep#7", UINT64_C(0x00daf5aa1e90b8b0) },
        { "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", UINT64_C(0x20754f676d74d4d0) },
        { "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, at::detail::Array<char*, 1> "
          ">",
          UINT64_C(0x6c8bed43079840d4) },
    };
    for (size_t i = 0; i < COUNT(known); i++)
        CU_ASSERT_EQUAL(tl_hash_bytes(known[i].text, strlen(known[i].text)), known[i].key);
    CU_ASSERT_EQUAL(tl_hash_mix(1, 2), UINT64_C(0xf3e19edd24139543));
}

static void both_ways_to_multiply_agree(void)
{
    uint64_t seed = 11;
    unsigned char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)unit_random(&seed);
    for (size_t n = 0; n <= sizeof bytes; n++)
        CU_ASSERT_EQUAL(tl_hash_bytes(bytes, n), portable_hash_bytes(bytes, n));
    memset(bytes, 0xff, sizeof bytes);
    for (size_t n = 0; n <= sizeof bytes; n++)
        CU_ASSERT_EQUAL(tl_hash_bytes(bytes, n), portable_hash_bytes(bytes, n));
}

static void a_key_does_not_depend_on_where_the_text_stands(void)
{
    char text[300];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    for (size_t n = 0; n < 200; n += 7) {
        uint64_t key = tl_hash_bytes(text, n);
        for (size_t shift = 1; shift < 9; shift++) {
            char moved[300];
            memset(moved, '#', sizeof moved);
            memcpy(moved + shift, text, n);
            CU_ASSERT_EQUAL(tl_hash_bytes(moved + shift, n), key);
        }
    }
}

/* Every length, and every single bit of it turned, has a key of its own; on average half of the bits change. */
static void every_bit_counts(void)
{
    static uint64_t seen[150 * 150 * 8];
    size_t nseen = 0, changed = 0, flips = 0;
    unsigned char bytes[150] = { 0 };

    for (size_t n = 0; n < sizeof bytes; n += n < 70 ? 1 : 13) {
        uint64_t key = tl_hash_bytes(bytes, n);
        seen[nseen++] = key;
        for (size_t bit = 0; bit < n * 8; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            uint64_t other = tl_hash_bytes(bytes, n);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            seen[nseen++] = other;
            for (uint64_t d = key ^ other; d != 0; d &= d - 1)
                changed++;
            flips++;
        }
    }
    tl_map map = { 0 };
    for (size_t i = 0; i < nseen; i++) {
        CU_ASSERT_EQUAL(tl_map_get(&map, seen[i]), TL_MAP_NONE);
        tl_map_put(&map, seen[i], (uint32_t)i);
    }
    tl_map_free(&map);
    double share = (double)changed / (double)flips / 64.0;
    CU_ASSERT(share > 0.49 && share < 0.51);
}

static void mixing_minds_the_order_and_every_value(void)
{
    CU_ASSERT_NOT_EQUAL(tl_hash_mix(tl_hash_mix(0, 1), 2), tl_hash_mix(tl_hash_mix(0, 2), 1));
    CU_ASSERT_NOT_EQUAL(tl_hash_mix(0, 0), 0);

    /* A bijection: 2^16 values under one hash have as many results, and one value under as many hashes too. */
    tl_map map = { 0 };
    for (uint32_t i = 0; i < 65536; i++) {
        tl_map_put(&map, tl_hash_mix(42, (uint64_t)i << 24), i);
        tl_map_put(&map, tl_hash_mix((uint64_t)i << 24 | 1, 42), i);
    }
    CU_ASSERT_EQUAL(map.n, 2 * 65536);
    tl_map_free(&map);
}

static void a_map_gives_back_what_was_put(void)
{
    tl_map map = { 0 };
    CU_ASSERT_EQUAL(tl_map_get(&map, 0), TL_MAP_NONE);
    /* Small neighbours and far powers, as correlation ids and keys are; 0 is a key like any other. */
    for (uint32_t i = 0; i < 20000; i++)
        tl_map_put(&map, i % 2 ? i : (uint64_t)i << 44, i);
    for (uint32_t i = 0; i < 20000; i++)
        CU_ASSERT_EQUAL(tl_map_get(&map, i % 2 ? i : (uint64_t)i << 44), i);
    CU_ASSERT_EQUAL(map.n, 20000);
    CU_ASSERT_EQUAL(map.cap & (map.cap - 1), 0);
    CU_ASSERT_EQUAL(tl_map_get(&map, 20002), TL_MAP_NONE);
    tl_map_put(&map, 7, 70);
    CU_ASSERT_EQUAL(tl_map_get(&map, 7), 70);
    CU_ASSERT_EQUAL(map.n, 20000);
    tl_map_free(&map);
    CU_ASSERT_EQUAL(map.cap, 0);
}

/* Ids count up, by one or by a power of two: none of that may make a search long. */
static void keys_that_count_up_do_not_pile_up(void)
{
    enum { N = 1 << 14 };
    for (unsigned shift = 0; shift < 50; shift++) {
        tl_map map = { 0 };
        size_t steps = 0;
        for (uint32_t i = 0; i < N; i++)
            tl_map_put(&map, (uint64_t)i << shift, i);
        for (uint32_t i = 0; i < N; i++)
            steps += (slot_of(&map, (uint64_t)i << shift) - home_of(&map, (uint64_t)i << shift)) & (map.cap - 1);
        CU_ASSERT(steps < 16 * N);
        if (shift == 0)
            CU_ASSERT(steps < N);
        tl_map_free(&map);
    }
}

static void a_value_is_changed_where_it_stands(void)
{
    tl_map map = { 0 };
    CU_ASSERT_PTR_NULL(tl_map_at(&map, 7));
    tl_map_put(&map, 7, 70);
    CU_ASSERT_PTR_NULL(tl_map_at(&map, 8));
    uint32_t *value = tl_map_at(&map, 7);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    *value = 71;
    CU_ASSERT_EQUAL(tl_map_get(&map, 7), 71);
    tl_map_free(&map);
}

static const unit_test tests[] = {
    TEST(keys_are_those_of_every_version),
    TEST(both_ways_to_multiply_agree),
    TEST(a_key_does_not_depend_on_where_the_text_stands),
    TEST(every_bit_counts),
    TEST(mixing_minds_the_order_and_every_value),
    TEST(a_map_gives_back_what_was_put),
    TEST(keys_that_count_up_do_not_pile_up),
    TEST(a_value_is_changed_where_it_stands),
};

int main(void)
{
    return unit_main("hash", tests, COUNT(tests));
}
