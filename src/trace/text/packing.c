/* packing.c - what a file is packed in. */
#include "tlmpi/trace/text/packing.h"
#include <string.h>

static const struct packing {
    const char *what, *magic;
    size_t at, n;
} packings[] = {
    { "a zstd file, which has to be unpacked first", "\x28\xb5\x2f\xfd", 0, 4 },
    { "an xz file, which has to be unpacked first",
      "\xfd"
      "7zXZ",
      0, 5 },
    { "a zip archive, which has to be unpacked first", "PK\x03\x04", 0, 4 },
    { "a bzip2 file, which has to be unpacked first", "BZh", 0, 3 },
    { "a 7z archive, which has to be unpacked first", "7z\xbc\xaf\x27\x1c", 0, 6 },
    { "an lz4 file, which has to be unpacked first", "\x04\x22\x4d\x18", 0, 4 },
    { "a tar archive, which has to be unpacked first", "ustar", 257, 5 },
    { "a result of tlmpi, which is for tlmpi ask and tlmpi show", "tlmpi result", 0, 12 },
    { "an HDF5 file, which is no trace", "\x89HDF\r\n\x1a\n", 0, 8 },
};

const char *tl_packing_of(const void *first, size_t n)
{
    const char *p = first;
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (n >= packings[i].at + packings[i].n && memcmp(p + packings[i].at, packings[i].magic, packings[i].n) == 0)
            return packings[i].what;
    return NULL;
}
