/* bytes.h - bytes that tell whom they come from, a gather of them, and clocks. */
#ifndef TLMPI_TESTS_PAR_BYTES_H
#define TLMPI_TESTS_PAR_BYTES_H

#include "procs.h"
#include <string.h>
#include <time.h>

/* Byte i of what proc `from` sends. */
static inline unsigned char byte_of(int from, size_t i)
{
    return (unsigned char)((size_t)from * 131 + i * 7 + (i >> 12));
}

static inline unsigned char *bytes_of(int from, size_t n)
{
    unsigned char *bytes = malloc(n > 0 ? n : 1);
    if (bytes == NULL)
        tl_par_abort(99);
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_of(from, i);
    return bytes;
}

static inline bool are_bytes_of(int from, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != byte_of(from, i))
            return false;
    return true;
}

static inline double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* How often a time is taken before it is called too long: a machine that does something else takes longer now and then. */
enum { TRIES = 10 };

/* Whether it is so on all procs. */
static inline bool all_agree(bool mine)
{
    return tl_par_agree(mine ? TL_OK : TL_EINTERNAL, NULL) == TL_OK;
}

static inline void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* How much proc p gives: nothing, a little, much. */
static inline size_t share_of(int p, size_t unit)
{
    return p % 3 == 1 ? 0 : (size_t)p * unit + (p % 2 == 0);
}

static inline void check_gather(size_t unit)
{
    size_t mine = share_of(me, unit), total = 0, at = 0;
    unsigned char *bytes = bytes_of(me, mine);
    tl_bytes out;

    tl_par_gather(bytes, mine, &out);
    for (int p = 0; p < all; p++)
        total += me == 0 ? share_of(p, unit) : 0;
    CU_ASSERT_EQUAL_FATAL(out.n, total);
    for (int p = 0; p < all && me == 0; p++) {
        CU_ASSERT(are_bytes_of(p, (unsigned char *)out.v + at, share_of(p, unit)));
        at += share_of(p, unit);
    }
    tl_bytes_free(&out);
    free(bytes);
}

#endif
