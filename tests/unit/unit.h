/* unit.h - what every unit test program shares: its main, random numbers, random texts.
 *
 *     static const unit_test tests[] = { TEST(touching_spans_become_one), ... };
 *     int main(void)
 *     {
 *         return unit_main("span", tests, COUNT(tests));
 *     }
 */
#ifndef TLMPI_TESTS_UNIT_H
#define TLMPI_TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct unit_test {
    const char *claim;
    void (*check)(void);
} unit_test;

#define TEST(claim) { #claim, claim }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Whether the address sanitizer looks on, which makes some things dear. */
#if defined(__SANITIZE_ADDRESS__)
#define UNIT_SANITIZED 1
#elif defined(__has_feature)
#define UNIT_SANITIZED __has_feature(address_sanitizer)
#else
#define UNIT_SANITIZED 0
#endif

/* Runs the tests in their order; 0 when all assertions hold. */
static inline int unit_main(const char *suite, const unit_test *tests, size_t n)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite s = CU_add_suite(suite, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        if (s == NULL || CU_add_test(s, tests[i].claim, tests[i].check) == NULL)
            return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    if (CU_basic_run_tests() != CUE_SUCCESS)
        return 1;
    int failed = CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() != n;
    CU_cleanup_registry();
    return failed;
}

/* The same numbers on every machine and in every run (xorshift64*). */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Below n, which is small. */
static inline unsigned unit_below(uint64_t *state, unsigned n)
{
    return (unsigned)((unit_random(state) >> 33) % n);
}

/* Appends to a text of `size` bytes, as far as there is room. */
static inline void unit_append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s", more);
}

#endif
