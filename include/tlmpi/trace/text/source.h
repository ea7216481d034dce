/* source.h - the bytes of a trace file, plain, gzip or zstd, in blocks.
 *
 * The first step of the room text, which answers what stands where in a file: bytes (source.h), the texts of its
 * entries (split.h), where they are no JSON (grammar.h), and what can be made of that (repair.h).  It knows the shape
 * of a trace, but nothing of what an entry says; it may use base alone.
 *
 * A packed file is recognised by its first bytes, not by its name.  All gzip members and zstd frames are read, their
 * checksums verified.  Never holds more than a constant of the file: a small one, of zstd up to 128 MiB.  zstd is read
 * where libzstd was there when we were built.
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

/* What can be told of a file without reading it. */
typedef struct tl_extent {
    uint32_t text_bytes; /* of its text, modulo 2^32; 0: not known */
    uint64_t last;       /* its last 8 bytes: of gzip, checksum and length of the text */
} tl_extent;

/* TL_EINPUT: cannot be opened, is neither a file nor a pipe, or is a pipe to which nobody writes, for which it waits a
 * few seconds.  A pipe can be read once, and tl_source_seek fails.  *out is set on success alone. */
tl_status tl_source_open(const char *path, tl_source **out, tl_error *err);

/* Fills buf with up to cap bytes of text; *n = 0 at the end.  Less than cap is not the end.  A damaged or cut
 * packed stream first gives every byte that could be had, then TL_EINPUT once (the message names the byte of the file and of
 * the text where it happened: cut short, checksum wrong, data after the last part that is none); afterwards
 * *n = 0. */
tl_status tl_source_read(tl_source *s, char *buf, size_t cap, size_t *n, tl_error *err);

/* Goes to that byte of a plain file, before the first read.  TL_EINPUT: it is compressed, or cannot be positioned. */
tl_status tl_source_seek(tl_source *s, uint64_t offset, tl_error *err);

const char *tl_source_packing(const tl_source *s); /* "gzip" or "zstd"; NULL: it is not packed */
tl_extent tl_source_extent(const tl_source *s);
uint64_t tl_source_text_bytes(const tl_source *s); /* bytes of text given so far */
uint64_t tl_source_file_size(const tl_source *s);  /* size of the file when it was opened */

/* What a path is, for messages: "a file", "a folder", "a pipe", "a socket", "a device". */
const char *tl_source_word(mode_t mode);

/* The words of a message of this source, without the path that they begin with. */
const char *tl_source_reason(const tl_source *source, const tl_error *err);

/* The first bytes of a file's text into head, *n of them, at most cap; none of what cannot be opened, or of a pipe, which
 * can be read only once.  False: memory is out. */
bool tl_source_head(const char *path, char *head, size_t cap, size_t *n);

/* NULL is fine. */
void tl_source_close(tl_source *s);

#endif
