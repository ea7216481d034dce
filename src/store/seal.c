/* seal.c - the first 512 bytes of a result file: its length, and a checksum of all other bytes.
 *
 * The other bytes are hashed in blocks, and the hashes of the blocks are mixed in order.  This is part of the
 * format.
 */
#include "seal.h"
#include "tlmpi/base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS "tlmpi result, "

enum { BLOCK_BYTES = 64 << 10 };

/* Reads n bytes, or up to the end of the file.  Returns the number read; -1: failure. */
static ssize_t read_bytes(int fd, uint64_t at, void *out, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t more = pread(fd, (char *)out + got, n - got, (off_t)(at + got));
        if (more < 0 && errno != EINTR)
            return -1;
        if (more == 0)
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    return (ssize_t)got;
}

/* Computes the seal that the file should have.  Returns 0; -1: the file cannot be read. */
static int make_seal(int fd, char seal[TL_SEAL_BYTES])
{
    unsigned char block[BLOCK_BYTES];
    uint64_t at = TL_SEAL_BYTES, sum = 0;
    ssize_t n = BLOCK_BYTES;

    for (; n == BLOCK_BYTES; at += (uint64_t)n) {
        n = read_bytes(fd, at, block, sizeof block);
        if (n < 0)
            return -1;
        sum = tl_hash_mix(sum, tl_hash_bytes(block, (size_t)n));
    }
    memset(seal, 0, TL_SEAL_BYTES);
    snprintf(seal, TL_SEAL_BYTES, WORDS "%" PRIu64 " bytes, checksum %016" PRIx64 "\n", at, sum);
    return 0;
}

tl_status tl_seal_write(const char *path, tl_error *err)
{
    char seal[TL_SEAL_BYTES];
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    /* The bytes to be overwritten exist: a short write has no errno of its own. */
    errno = EIO;
    bool written = make_seal(fd, seal) == 0 && pwrite(fd, seal, sizeof seal, 0) == (ssize_t)sizeof seal;
    tl_status st = written ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    if (close(fd) != 0 && st == TL_OK)
        st = tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    return st;
}

/* Returns the error of a file of `size` bytes without a valid seal. */
static tl_status refuse(const char *path, const char *found, uint64_t size, tl_error *err)
{
    uint64_t was = strtoull(found + sizeof WORDS - 1, NULL, 10);
    if (size < was)
        return tl_fail(err, TL_EINPUT,
                       "%s: result is damaged: it is cut, %" PRIu64 " of its %" PRIu64
                       " bytes are there; run tlmpi again",
                       path, size, was);
    return tl_fail(err, TL_EINPUT, "%s: result is damaged: it was changed after tlmpi wrote it; run tlmpi again", path);
}

static tl_status check(int fd, const char *path, tl_error *err)
{
    char found[TL_SEAL_BYTES + 1] = "", seal[TL_SEAL_BYTES];
    off_t size = lseek(fd, 0, SEEK_END);

    if (size < 0 || read_bytes(fd, 0, found, TL_SEAL_BYTES) < 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
    if (strncmp(found, WORDS, sizeof WORDS - 1) != 0)
        return tl_fail(err, TL_EINPUT,
                       "%s: is no result file of this version of tlmpi, or is damaged at its start; run tlmpi again",
                       path);
    if (make_seal(fd, seal) != 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
    return memcmp(found, seal, sizeof seal) == 0 ? TL_OK : refuse(path, found, (uint64_t)size, err);
}

tl_status tl_seal_check(const char *path, tl_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
    tl_status st = check(fd, path, err);
    close(fd);
    return st;
}
