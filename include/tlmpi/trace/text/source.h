/* source.h - the bytes of a trace file, uncompressed, gzip or zstd, in blocks.
 *
 * The folder text takes a file apart without its meaning: bytes (source.h), texts of entries (split.h), a check that a
 * text is JSON (grammar.h), and members of JSON, repaired if necessary (json.h).  It knows the shape of a trace and not
 * the content of an entry; it may use base alone.
 *
 * A compressed file is recognised by its first bytes, not by its name.  All gzip members and zstd frames are read, and
 * their checksums verified.  Memory is constant: small, or for zstd up to 128 MiB.  zstd is read if the program was
 * built with libzstd.
 *
 *     tl_source *s;
 *     st = tl_source_open(path, &s, err);
 *     while ((st = tl_source_read(s, buf, sizeof buf, &n, err)) == TL_OK && n > 0)
 *         ...
 *     tl_source_close(s);
 */
#ifndef TLMPI_TRACE_TEXT_SOURCE_H
#define TLMPI_TRACE_TEXT_SOURCE_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct tl_source tl_source;

/* Properties of a file's text that are known without reading it. */
typedef struct tl_extent {
    uint32_t text_bytes; /* length of the text modulo 2^32; 0: unknown */
    uint64_t last;       /* last 8 bytes of the file: for gzip, checksum and length of the text */
} tl_extent;

/* TL_EINPUT: the file cannot be opened, is neither a file nor a pipe, or is a pipe that no process writes to within
 * a few seconds.  A pipe can be read once, and tl_source_seek fails.  *out is set on success alone. */
tl_status tl_source_open(const char *path, tl_source **out, tl_error *err);

/* Fills buf with up to cap bytes of text; *n = 0 at the end.  Less than cap is not the end.  Of a damaged or truncated
 * compressed stream, first every byte that can be decompressed is returned, then TL_EINPUT once (the message has the
 * byte of the file and of the text at the fault: cut short, checksum wrong, other data after the last part); afterwards
 * *n = 0. */
tl_status tl_source_read(tl_source *s, char *buf, size_t cap, size_t *n, tl_error *err);

/* Moves to byte `offset` of an uncompressed file, before the first read.  TL_EINPUT: the file is compressed, or cannot
 * be positioned. */
tl_status tl_source_seek(tl_source *s, uint64_t offset, tl_error *err);

const char *tl_source_packing(const tl_source *s); /* "gzip" or "zstd"; NULL: not compressed */
tl_extent tl_source_extent(const tl_source *s);
uint64_t tl_source_text_bytes(const tl_source *s); /* number of bytes of text read so far */
uint64_t tl_source_file_size(const tl_source *s);  /* size of the file when it was opened */

/* Returns the kind of a path, for messages: "a file", "a folder", "a pipe", "a socket", "a device". */
const char *tl_source_word(mode_t mode);

/* Returns the message of an error of this source, without the path at its beginning. */
const char *tl_source_reason(const tl_source *source, const tl_error *err);

/* Number of bytes of a text that suffice to recognise its format. */
#define TL_HEAD_BYTES ((size_t)4096)

/* Reads the first bytes of a file's text into head, at most cap; returns their number: 0 for a file that cannot be
 * opened, and for a pipe, which can be read only once. */
size_t tl_source_head(const char *path, char *head, size_t cap);

/* Returns "an xz file" or the like, with advice; NULL: no known compression.  `first` has n bytes from the beginning of
 * the file, or of the text inside gzip; 512 and more also reveal a tar archive. */
const char *tl_packing_of(const void *first, size_t n);

/* NULL is fine. */
void tl_source_close(tl_source *s);

#endif
