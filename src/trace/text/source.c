/* source.c - blocks of text from a file, whatever it is packed in.
 *
 *     file    [ member ][ member ] 0 0 0 0        a gzip file is a chain of members; zeros after the last are padding
 *              header, deflate, checksum
 *     buffer  ........at=======end                what has been read and not yet used
 *
 * A fault (cut, damaged, bytes that belong to nothing) is kept until all text before it has been given.
 */
#include "tlmpi/trace/text/source.h"
#include "opening.h"
#include "tlmpi/base/mem.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if TLMPI_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#define BLOCK ((size_t)256 << 10)

/* Counts of the inflaters are 32 bits wide. */
#define MOST_AT_ONCE ((size_t)1 << 30)

typedef enum outcome {
    GOES_ON,     /* wants more input, or more room */
    MEMBER_ENDS, /* and its checksum is right */
    BAD_HEADER,
    BAD_DATA,
    BAD_CHECKSUM,
    NO_MEMORY
} outcome;

struct tl_source {
    char *path;
    int fd;
    bool gzip;
    bool eof;       /* the file has no more bytes than those in the buffer */
    bool between;   /* gzip: before the header of a member that may not be there */
    bool told;      /* the fault has been reported */
    tl_error fault; /* status TL_OK: none so far */
    uint64_t file_size;
    uint64_t read_bytes; /* bytes of the file that have been in the buffer */
    uint64_t text_bytes;
    size_t at, end; /* in[at .. end) is not yet used */
    unsigned char in[BLOCK];
#if TLMPI_HAVE_ISAL
    struct inflate_state inflater;
    struct isal_gzip_header header; /* of the member, as far as it is read */
    bool in_header;
#else
    z_stream inflater;
    bool inflater_made;
#endif
};

/* ------------------------------------------------------------------------------------------------------- inflaters */

#if TLMPI_HAVE_ISAL
/* Makes ready for the header of a member.  It is read by a call of its own: isal_inflate forgets between two calls
 * which parts the header has, and takes the rest of a name that the end of the buffer cuts for what lies on the
 * stack. */
static outcome member_begin(tl_source *s)
{
    isal_inflate_init(&s->inflater);
    isal_gzip_header_init(&s->header);
    s->inflater.crc_flag = ISAL_GZIP_NO_HDR_VER;
    s->in_header = true;
    return GOES_ON;
}

/* Inflates from the buffer to out; *n bytes of text came of it. */
static outcome member_run(tl_source *s, unsigned char *out, size_t cap, size_t *n)
{
    struct inflate_state *z = &s->inflater;
    z->next_in = s->in + s->at;
    z->avail_in = (uint32_t)(s->end - s->at);
    z->next_out = out;
    z->avail_out = (uint32_t)cap;
    int rc = s->in_header ? isal_read_gzip_header(z, &s->header) : ISAL_DECOMP_OK;
    s->in_header = s->in_header && rc != ISAL_DECOMP_OK;
    if (!s->in_header)
        rc = isal_inflate(z);
    s->at = (size_t)(z->next_in - s->in);
    *n = cap - z->avail_out;

    switch (rc) {
    case ISAL_DECOMP_OK:
        return z->block_state == ISAL_BLOCK_FINISH ? MEMBER_ENDS : GOES_ON;
    case ISAL_END_INPUT:
    case ISAL_OUT_OVERFLOW:
        return GOES_ON;
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return BAD_HEADER;
    case ISAL_INCORRECT_CHECKSUM:
        return BAD_CHECKSUM;
    default:
        return BAD_DATA;
    }
}

static void inflater_free(tl_source *s)
{
    (void)s;
}
#else
static outcome member_begin(tl_source *s)
{
    if (s->inflater_made)
        return inflateReset(&s->inflater) == Z_OK ? GOES_ON : BAD_DATA;
    s->inflater_made = inflateInit2(&s->inflater, 16 + MAX_WBITS) == Z_OK;
    return s->inflater_made ? GOES_ON : NO_MEMORY;
}

/* zlib has one code for everything that is wrong; its words tell which. */
static outcome of_words(const char *words)
{
    if (words != NULL && (strcmp(words, "incorrect data check") == 0 || strcmp(words, "incorrect length check") == 0))
        return BAD_CHECKSUM;
    if (words != NULL && (strstr(words, "header") != NULL || strstr(words, "compression method") != NULL))
        return BAD_HEADER;
    return BAD_DATA;
}

static outcome member_run(tl_source *s, unsigned char *out, size_t cap, size_t *n)
{
    z_stream *z = &s->inflater;
    z->next_in = s->in + s->at;
    z->avail_in = (uInt)(s->end - s->at);
    z->next_out = out;
    z->avail_out = (uInt)cap;
    int rc = inflate(z, Z_NO_FLUSH);
    s->at = s->end - z->avail_in;
    *n = cap - z->avail_out;

    switch (rc) {
    case Z_OK:
    case Z_BUF_ERROR:
        return GOES_ON;
    case Z_STREAM_END:
        return MEMBER_ENDS;
    case Z_MEM_ERROR:
        return NO_MEMORY;
    default:
        return of_words(z->msg);
    }
}

static void inflater_free(tl_source *s)
{
    if (s->inflater_made)
        (void)inflateEnd(&s->inflater);
}
#endif

/* ------------------------------------------------------------------------------------------------------ the buffer */

/* read() that starts again after a signal.  -1 with errno. */
static ssize_t read_some(int fd, void *to, size_t n)
{
    ssize_t got;
    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static void note_read_fault(tl_source *s)
{
    (void)tl_fail(&s->fault, TL_EINPUT, "%s: cannot be read at byte %llu of the file: %s", s->path,
                  (unsigned long long)s->read_bytes, strerror(errno));
    s->eof = true;
}

/* Reads more bytes after those in the buffer, which is nearly used up: what is left moves to its start. */
static void fill(tl_source *s)
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

static size_t have(const tl_source *s)
{
    return s->end - s->at;
}

static bool magic_at(const tl_source *s)
{
    return have(s) >= 2 && s->in[s->at] == 0x1f && s->in[s->at + 1] == 0x8b;
}

/* ------------------------------------------------------------------------------------------------------------ text */

static size_t read_plain(tl_source *s, unsigned char *buf, size_t cap)
{
    size_t n = have(s) < cap ? have(s) : cap;
    if (n > 0) { /* what was read to see whether it is gzip */
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

/* `text` is the number of bytes of text before the fault.  The first fault is the one that counts. */
static void note_gzip_fault(tl_source *s, uint64_t text, const char *what)
{
    if (s->fault.status == TL_OK)
        (void)tl_fail(&s->fault, TL_EINPUT, "%s: %s byte %llu of the file, after %llu bytes of text", s->path, what,
                      (unsigned long long)(s->read_bytes - have(s)), (unsigned long long)text);
}

/* Between members: passes over padding.  True when another member begins; false at the end, and where something else
 * stands, which is a fault. */
static bool next_member(tl_source *s, uint64_t text)
{
    for (;;) {
        while (have(s) > 0 && s->in[s->at] == 0)
            s->at++;
        if (have(s) >= 2 || s->eof)
            break;
        fill(s);
    }
    if (magic_at(s))
        return true;
    if (have(s) == 1 && s->in[s->at] == 0x1f) {
        s->at++;
        note_gzip_fault(s, text, "gzip stream cut short at");
    } else if (have(s) > 0) {
        note_gzip_fault(s, text, "expected a gzip member or the end, found other data at");
    }
    return false;
}

static const char *const faults[] = {
    [BAD_HEADER] = "gzip header damaged near",
    [BAD_DATA] = "gzip stream damaged near",
    [BAD_CHECKSUM] = "gzip checksum or length wrong at",
};

static size_t read_gzip(tl_source *s, unsigned char *buf, size_t cap)
{
    size_t n = 0;

    while (n < cap && s->fault.status == TL_OK) {
        if (s->between) {
            if (!next_member(s, s->text_bytes + n))
                break;
            s->between = false;
            if (member_begin(s) == NO_MEMORY)
                (void)tl_fail_memory(&s->fault, "inflating a gzip file");
            continue;
        }
        if (have(s) == 0 && !s->eof) {
            fill(s);
            continue;
        }
        size_t room = cap - n < MOST_AT_ONCE ? cap - n : MOST_AT_ONCE, before = have(s), got;
        outcome o = member_run(s, buf + n, room, &got);
        n += got;
        bool stuck = o == GOES_ON && got == 0 && have(s) == before;
        if (o == MEMBER_ENDS)
            s->between = true;
        else if (o == NO_MEMORY)
            (void)tl_fail_memory(&s->fault, "inflating a gzip file");
        else if (o != GOES_ON)
            note_gzip_fault(s, s->text_bytes + n, faults[o]);
        else if (stuck)
            note_gzip_fault(s, s->text_bytes + n, before == 0 ? "gzip stream cut short at" : faults[BAD_DATA]);
    }
    return n;
}

tl_status tl_source_read(tl_source *s, char *buf, size_t cap, size_t *n, tl_error *err)
{
    *n = 0;
    if (s->fault.status == TL_OK)
        *n = s->gzip ? read_gzip(s, (unsigned char *)buf, cap) : read_plain(s, (unsigned char *)buf, cap);
    s->text_bytes += *n;
    if (*n > 0 || s->fault.status == TL_OK || s->told)
        return TL_OK;
    s->told = true;
    if (err != NULL)
        *err = s->fault;
    return s->fault.status;
}

/* -------------------------------------------------------------------------------------------------- open and close */

tl_status tl_source_open(const char *path, tl_source **out, tl_error *err)
{
    tl_source *s = tl_calloc(1, sizeof *s);
    tl_opened opened = { .fd = -1 };
    if (s == NULL)
        return tl_fail_memory(err, "reading a file");
    s->fd = -1;
    s->between = true;
    s->path = tl_strndup(path, strlen(path));
    tl_status st =
        s->path != NULL ? tl_open(path, s->in, sizeof s->in, &opened, err) : tl_fail_memory(err, "reading a file");
    s->fd = opened.fd;
    s->file_size = opened.size;
    s->read_bytes = s->end = opened.n;
    if (st != TL_OK)
        goto fail;

    while (have(s) < 2 && !s->eof) /* a pipe may give one byte at a time */
        fill(s);
    if (s->fault.status != TL_OK) {
        if (err != NULL)
            *err = s->fault;
        st = s->fault.status;
        goto fail;
    }
    s->gzip = magic_at(s);
    *out = s;
    return TL_OK;

fail:
    tl_source_close(s);
    return st;
}

tl_status tl_source_seek(tl_source *s, uint64_t offset, tl_error *err)
{
    if (s->gzip)
        return tl_fail(err, TL_EINPUT, "%s: expected a plain file, found a compressed one", s->path);
    if (offset > INT64_MAX || lseek(s->fd, (off_t)offset, SEEK_SET) < 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot go to byte %llu: %s", s->path, (unsigned long long)offset,
                       strerror(errno));
    s->at = s->end = 0;
    s->eof = false;
    return TL_OK;
}

bool tl_source_is_gzip(const tl_source *s)
{
    return s->gzip;
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
    size_t n = strlen(s->path);
    bool has_path = strncmp(err->text, s->path, n) == 0 && strncmp(err->text + n, ": ", 2) == 0;
    return err->text + (has_path ? n + 2 : 0);
}

void tl_source_close(tl_source *s)
{
    if (s == NULL)
        return;
    inflater_free(s);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s->path);
    free(s);
}
