/* source.h - the bytes of a trace file, plain, gzip or zstd, in blocks.
 *
 * The first step of the room text, which takes a file apart without its meaning: bytes (source.h), the texts of entries
 * (split.h), a check that a text is JSON (grammar.h), and mending of text that is not (repair.h).  The room knows the
 * shape of a trace, but nothing of what an entry says; it may use base alone.
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

/* What is known of a file's text without reading the text. */
typedef struct tl_extent {
    uint32_t text_bytes; /* of its text, modulo 2^32; 0: not known */
    uint64_t last;       /* its last 8 bytes: of gzip, checksum and length of the text */
} tl_extent;

/* TL_EINPUT: the file cannot be opened, is neither a file nor a pipe, or is a pipe that no process writes to within
 * a few seconds.  A pipe can be read once, and tl_source_seek fails.  *out is set on success alone. */
tl_status tl_source_open(const char *path, tl_source **out, tl_error *err);

/* Fills buf with up to cap bytes of text; *n = 0 at the end.  Less than cap is not the end.  A damaged or cut packed
 * stream first gives every byte that can be unpacked, then TL_EINPUT once (the message names the byte of the file
 * and of the text at the fault: cut short, checksum wrong, other data after the last part); afterwards *n = 0. */
tl_status tl_source_read(tl_source *s, char *buf, size_t cap, size_t *n, tl_error *err);

/* Goes to byte `offset` of a plain file, before the first read.  TL_EINPUT: the file is compressed, or cannot be
 * positioned. */
tl_status tl_source_seek(tl_source *s, uint64_t offset, tl_error *err);

const char *tl_source_packing(const tl_source *s); /* "gzip" or "zstd"; NULL: it is not packed */
tl_extent tl_source_extent(const tl_source *s);
uint64_t tl_source_text_bytes(const tl_source *s); /* bytes of text given up to now */
uint64_t tl_source_file_size(const tl_source *s);  /* size of the file when it was opened */

/* What a path is, for messages: "a file", "a folder", "a pipe", "a socket", "a device". */
const char *tl_source_word(mode_t mode);

/* The words of a message of this source, without the path that they begin with. */
const char *tl_source_reason(const tl_source *source, const tl_error *err);

/* Bytes of a text that are enough to tell its format. */
#define TL_HEAD_BYTES ((size_t)4096)

/* Reads the first bytes of a file's text into head, at most cap; returns how many: 0 for a file that cannot be opened, and
 * for a pipe, which can be read only once. */
size_t tl_source_head(const char *path, char *head, size_t cap);

/* Returns "an xz file" or the like, with what to do about it; NULL: no known packing.  `first` has n bytes from the
 * beginning of the file, or of the text inside gzip; 512 and more show a tar archive, too. */
const char *tl_packing_of(const void *first, size_t n);

/* NULL is fine. */
void tl_source_close(tl_source *s);

#endif
