/* load.h - loads eight and four bytes as little-endian numbers on every machine; and decimal digits as a number. */
#ifndef TLMPI_BASE_LOAD_H
#define TLMPI_BASE_LOAD_H

#include <stdint.h>
#include <string.h>

static inline uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline uint64_t load32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

/* Returns the number that n digits at p represent, n from 1 to 8; eight bytes at p must be readable.  Digits are
 * combined to pairs, pairs to fours, fours to eights. */
static inline uint64_t load_digits(const char *p, size_t n)
{
    uint64_t digits = (load64((const unsigned char *)p) ^ UINT64_C(0x3030303030303030)) << (64 - 8 * n);
    digits = (digits * (1 + (10 << 8))) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * (1 + (100 << 16))) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return (digits * (1 + (UINT64_C(10000) << 32))) >> 32;
}

#endif
