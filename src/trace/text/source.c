/* source.c - blocks of text from a file, compressed or not.
 *
 *     file    [ part ][ part ] 0 0 0 0            a gzip file is a chain of members, a zstd file one of frames;
 *              header, data, checksum             zeros after the last one are padding
 *     buffer  ........at=======end                bytes that have been read and not used yet
 *
 * A fault (truncation, damage, extra bytes) is kept until all text before it has been returned.
 */
#include "tlmpi/trace/text/source.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/part_file.h"
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK      ((size_t)256 << 10)
#define MAGIC_MOST 4

static const tl_unpacker *const packings[] = { &tl_gzip, &tl_zstd };

struct tl_source {
    char *path;
    int fd;
    const tl_unpacker *packing; /* NULL: not compressed */
    void *unpacking;            /* state of the unpacker; NULL before the first part */
    tl_extent extent;
    bool eof;       /* the file has no more bytes than the buffer */
    bool between;   /* compressed: before the header of a part that may not exist */
    bool told;      /* the fault has been returned */
    tl_error fault; /* status TL_OK: none */
    uint64_t file_size;
    uint64_t read_bytes; /* number of bytes of the file that have been in the buffer */
    uint64_t text_bytes;
    size_t at, end; /* in[at .. end) is not used yet */
    unsigned char in[BLOCK];
};

/* ------------------------------------------------------------------------------------------------------ the buffer */

/* As read(), but restarts after a signal, unless the run is to stop reading (EINTR). */
static ssize_t read_some(int fd, void *to, size_t n)
{
    ssize_t got = -1;
    errno = EINTR;
    while (got < 0 && errno == EINTR && tl_stop_signal() == 0)
        got = read(fd, to, n);
    return got;
}

static void note_read_fault(tl_source *s)
{
    (void)tl_fail(&s->fault, TL_EINPUT, "%s: cannot be read at byte %llu of the file: %s", s->path,
                  (unsigned long long)s->read_bytes, strerror(errno));
    s->eof = true;
}

/* Moves the unused bytes to the start of the buffer and reads more after them. */
static void fill_buffer(tl_source *s)
{
    if (s->at > 0) {
        memmove(s->in, s->in + s->at, s->end - s->at);
        s->end -= s->at;
        s->at = 0;
    }
    ssize_t got = read_some(s->fd, s->in + s->end, sizeof s->in - s->end);
    if (got < 0) {
        note_read_fault(s);
        return;
    }
    s->eof = got == 0;
    s->end += (size_t)got;
    s->read_bytes += (uint64_t)got;
}

static size_t bytes_left(const tl_source *s)
{
    return s->end - s->at;
}

/* ------------------------------------------------------------------------------------------------------------ text */

static size_t read_plain(tl_source *s, unsigned char *buf, size_t cap)
{
    size_t n = bytes_left(s) < cap ? bytes_left(s) : cap;
    if (n > 0) { /* read to check for compression */
        memcpy(buf, s->in + s->at, n);
        s->at += n;
        return n;
    }
    if (s->eof)
        return 0;
    ssize_t got = read_some(s->fd, buf, cap);
    if (got < 0) {
        note_read_fault(s);
        return 0;
    }
    s->eof = got == 0;
    s->read_bytes += (uint64_t)got;
    return (size_t)got;
}

/* Keeps the first fault.  what: the faulty part and a space, or ""; text: number of bytes of text before the fault. */
static void note_fault(tl_source *s, uint64_t text, const char *what)
{
    if (s->fault.status == TL_OK)
        (void)tl_fail(&s->fault, TL_EINPUT, "%s: %s %s byte %llu of the file, after %llu bytes of text", s->path,
                      s->packing->word, what, (unsigned long long)(s->read_bytes - bytes_left(s)),
                      (unsigned long long)text);
}

/* Skips padding between parts.  Returns true if another part begins; false at the end, or if other bytes follow, which
 * is a fault. */
static bool find_next_member(tl_source *s, uint64_t text)
{
    size_t magic = s->packing->nmagic;
    for (;;) {
        while (bytes_left(s) > 0 && s->in[s->at] == 0)
            s->at++;
        if (bytes_left(s) >= magic || s->eof)
            break;
        fill_buffer(s);
    }
    if (s->packing->begins(s->in + s->at, bytes_left(s)))
        return true;
    if (bytes_left(s) > 0 && bytes_left(s) < magic && s->in[s->at] == s->packing->first) {
        s->at += bytes_left(s);
        note_fault(s, text, "stream cut short at");
    } else if (bytes_left(s) > 0 && s->fault.status == TL_OK) {
        (void)tl_fail(
            &s->fault, TL_EINPUT,
            "%s: expected a %s %s or the end, found other data at byte %llu of the file, after %llu bytes of text",
            s->path, s->packing->word, s->packing->part, (unsigned long long)(s->read_bytes - bytes_left(s)),
            (unsigned long long)text);
    }
    return false;
}

static const char *const faults[] = {
    [TL_BAD_HEADER] = "header damaged near",
    [TL_BAD_DATA] = "stream damaged near",
    [TL_BAD_CHECKSUM] = "checksum or length wrong at",
    [TL_WIDE_WINDOW] = "window wider than 128 MiB, which is not read, at",
};

static size_t read_packed(tl_source *s, unsigned char *buf, size_t cap)
{
    size_t n = 0;

    while (n < cap && s->fault.status == TL_OK) {
        if (s->between) {
            if (!find_next_member(s, s->text_bytes + n))
                break;
            s->between = false;
            if (s->unpacking == NULL)
                s->unpacking = s->packing->make();
            s->packing->begin(s->unpacking);
            continue;
        }
        if (bytes_left(s) == 0 && !s->eof) {
            fill_buffer(s);
            continue;
        }
        size_t before = bytes_left(s), used, got;
        tl_unpacked o = s->packing->run(s->unpacking, s->in + s->at, before, &used, buf + n, cap - n, &got);
        s->at += used;
        n += got;
        bool stuck = o == TL_GOES_ON && got == 0 && used == 0;
        if (o == TL_PART_ENDS)
            s->between = true;
        else if (o != TL_GOES_ON)
            note_fault(s, s->text_bytes + n, faults[o]);
        else if (stuck)
            note_fault(s, s->text_bytes + n, before == 0 ? "stream cut short at" : faults[TL_BAD_DATA]);
    }
    return n;
}

tl_status tl_source_read(tl_source *s, char *buf, size_t cap, size_t *n, tl_error *err)
{
    *n = 0;
    if (s->fault.status == TL_OK)
        *n = s->packing != NULL ? read_packed(s, (unsigned char *)buf, cap) : read_plain(s, (unsigned char *)buf, cap);
    s->text_bytes += *n;
    if (*n > 0 || s->fault.status == TL_OK || s->told)
        return TL_OK;
    s->told = true;
    if (err != NULL)
        *err = s->fault;
    return s->fault.status;
}

/* -------------------------------------------------------------------------------------------------- open and close */

/* Files that tlmpi cannot decompress or read, by their first bytes. */
static const struct other_packing {
    const char *what, *magic;
    size_t at, n;
} others[] = {
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
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (n >= others[i].at + others[i].n && memcmp(p + others[i].at, others[i].magic, others[i].n) == 0)
            return others[i].what;
    return NULL;
}

/* Number of checks for a pipe's writer: one every 20 ms, 5 s in all. */
#define WRITER_NAPS 250

const char *tl_source_word(mode_t mode)
{
    return S_ISREG(mode)    ? "a file"
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* Waits for the writer of a pipe, which may come a moment late: a non-blocking read of a pipe returns the end without a
 * writer, and text or EAGAIN with one.  Afterwards reading blocks as usual. */
static tl_status await_writer(tl_source *s, tl_error *err)
{
    const struct timespec nap = { .tv_nsec = 20000000 };
    ssize_t got = 0;

    for (int naps = 0; got == 0 && naps < WRITER_NAPS; naps++) {
        if (naps > 0)
            (void)nanosleep(&nap, NULL);
        got = read_some(s->fd, s->in, sizeof s->in);
    }
    if (got == 0)
        return tl_fail(err, TL_EINPUT, "%s: expected a pipe with a writer, found none for %d seconds", s->path,
                       WRITER_NAPS / 50);
    if (got < 0 && errno != EAGAIN)
        return tl_fail(err, TL_EINPUT, "%s: cannot be read: %s", s->path, strerror(errno));
    s->read_bytes = s->end = got > 0 ? (size_t)got : 0;
    if (fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK) != 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", s->path, strerror(errno));
    return TL_OK;
}

/* Opens a file or a pipe without waiting for another program; the first bytes of a pipe, which prove that it has a
 * writer, go to the buffer.  Checks the path first: opening a pipe waits for a writer, opening a device may have side
 * effects. */
static tl_status open_path(tl_source *s, tl_error *err)
{
    struct stat st;

    if (stat(s->path, &st) != 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot be opened: %s", s->path, strerror(errno));
    bool pipe = S_ISFIFO(st.st_mode);
    if (!S_ISREG(st.st_mode) && !pipe)
        return tl_fail(err, TL_EINPUT, "%s: expected a file or a pipe, found %s", s->path, tl_source_word(st.st_mode));
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipe ? O_NONBLOCK : 0));
    if (s->fd < 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot be opened: %s", s->path, strerror(errno));
    if (pipe)
        return await_writer(s, err);
    s->file_size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only advice */
    return TL_OK;
}

/* Returns the extent, before anything is read; a pipe has none. */
static tl_extent extent_of(const tl_source *s)
{
    tl_extent e = { 0 };
    unsigned char last[8];

    if (s->file_size < sizeof last ||
        pread(s->fd, last, sizeof last, (off_t)(s->file_size - sizeof last)) != (ssize_t)sizeof last)
        return e;
    memcpy(&e.last, last, sizeof last);
    e.text_bytes =
        s->packing != NULL ? s->packing->told_bytes(s->in + s->at, bytes_left(s), last) : (uint32_t)s->file_size;
    return e;
}

tl_status tl_source_open(const char *path, tl_source **out, tl_error *err)
{
    tl_source *s = tl_malloc(sizeof *s);
    memset(s, 0, offsetof(tl_source, in)); /* does not touch all of the buffer for a small file */
    s->fd = -1;
    s->between = true;
    s->path = tl_strndup(path, strlen(path));
    tl_status st = open_path(s, err);
    if (st != TL_OK)
        goto fail;

    while (bytes_left(s) < MAGIC_MOST && !s->eof) /* a pipe may return one byte at a time */
        fill_buffer(s);
    if (s->fault.status != TL_OK) {
        if (err != NULL)
            *err = s->fault;
        st = s->fault.status;
        goto fail;
    }
    for (size_t i = 0; i < sizeof packings / sizeof *packings && s->packing == NULL; i++)
        s->packing = packings[i]->begins(s->in + s->at, bytes_left(s)) ? packings[i] : NULL;
    s->extent = extent_of(s);
    *out = s;
    return TL_OK;

fail:
    tl_source_close(s);
    return st;
}

tl_status tl_source_seek(tl_source *s, uint64_t offset, tl_error *err)
{
    if (s->packing != NULL)
        return tl_fail(err, TL_EINPUT, "%s: expected a plain file, found a compressed one", s->path);
    if (offset > INT64_MAX || lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot go to byte %llu: %s", s->path, (unsigned long long)offset,
                       strerror(errno));
    s->at = s->end = 0;
    s->eof = false;
    return TL_OK;
}

const char *tl_source_packing(const tl_source *s)
{
    return s->packing != NULL ? s->packing->word : NULL;
}

tl_extent tl_source_extent(const tl_source *s)
{
    return s->extent;
}

uint64_t tl_source_text_bytes(const tl_source *s)
{
    return s->text_bytes;
}

uint64_t tl_source_file_size(const tl_source *s)
{
    return s->file_size;
}

const char *tl_source_reason(const tl_source *s, const tl_error *err)
{
    return tl_error_reason(err, s->path);
}

size_t tl_source_head(const char *path, char *head, size_t cap)
{
    struct stat st;
    tl_source *source = NULL;
    size_t n = 0, got = 1;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || tl_source_open(path, &source, NULL) != TL_OK)
        return 0;
    for (; got > 0 && n < cap; n += got)
        (void)tl_source_read(source, head + n, cap - n, &got, NULL);
    tl_source_close(source);
    return n;
}

void tl_source_close(tl_source *s)
{
    if (s == NULL)
        return;
    if (s->packing != NULL)
        s->packing->end(s->unpacking);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s->path);
    free(s);
}
