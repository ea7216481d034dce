/* packed.h - an input as a .gz file has it. */
#ifndef TLMPI_FUZZ_PACKED_H
#define TLMPI_FUZZ_PACKED_H

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

/* The caller's to free. */
static inline uint8_t *packed_bytes(const uint8_t *data, size_t n, size_t *npacked)
{
    z_stream z = { 0 };
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    size_t room = deflateBound(&z, n);
    uint8_t *packed = malloc(room);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)n;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    if (packed == NULL || deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    *npacked = z.total_out;
    deflateEnd(&z);
    return packed;
}

#endif
