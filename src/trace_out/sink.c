/* sink.c - writes bytes to a file, as they are or deflated.
 *
 *     put    bytes -> [ in ] -> deflate -> [ out ] -> write
 *                       plain: -----------------------^
 *
 * A copy of a trace is written once and read a few times: it is packed fast.  On traces ISA-L's level 2 takes a tenth
 * of the time of gzip -6 for a third more bytes; zlib's level 2 packs as well, in half the time.
 */
#include "tlmpi/trace_out/sink.h"
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

struct tl_sink {
    int fd;
    bool gzip;
    const char *name;
    tl_error fault; /* status TL_OK: none */
    size_t n;       /* bytes waiting in `in` */
    unsigned char in[BLOCK];
    unsigned char out[BLOCK];
#if TLMPI_HAVE_ISAL
    struct isal_zstream deflater;
    unsigned char work[ISAL_DEF_LVL2_DEFAULT];
#else
    z_stream deflater;
#endif
};

/* -------------------------------------------------------------------------------------------------------- deflater */

#if TLMPI_HAVE_ISAL
static bool deflate_begin(tl_sink *s)
{
    isal_deflate_init(&s->deflater);
    s->deflater.gzip_flag = IGZIP_GZIP;
    s->deflater.flush = NO_FLUSH;
    s->deflater.level = 2;
    s->deflater.level_buf = s->work;
    s->deflater.level_buf_size = sizeof s->work;
    return true;
}

/* Compresses the input, as far as the space for output suffices. */
static void deflate_some(tl_sink *s, bool last)
{
    s->deflater.end_of_stream = last;
    (void)isal_deflate(&s->deflater);
}
#else
static bool deflate_begin(tl_sink *s)
{
    return deflateInit2(&s->deflater, 2, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void deflate_some(tl_sink *s, bool last)
{
    (void)deflate(&s->deflater, last ? Z_FINISH : Z_NO_FLUSH);
}
#endif

/* --------------------------------------------------------------------------------------------------------- writing */

static bool is_whole(const tl_sink *s)
{
    return s->fault.status == TL_OK;
}

static void write_all(tl_sink *s, const unsigned char *bytes, size_t n)
{
    while (n > 0 && is_whole(s)) {
        ssize_t done = write(s->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            (void)tl_fail(&s->fault, TL_EOUTPUT, "%s: %s", s->name, strerror(done < 0 ? errno : ENOSPC));
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

/* Writes the bytes that wait in `in` to the file. */
static void drain(tl_sink *s, bool last)
{
    if (s->gzip) {
        s->deflater.next_in = s->in;
        s->deflater.avail_in = (uint32_t)s->n;
        do {
            s->deflater.next_out = s->out;
            s->deflater.avail_out = (uint32_t)sizeof s->out;
            deflate_some(s, last);
            write_all(s, s->out, sizeof s->out - s->deflater.avail_out);
        } while (s->deflater.avail_out == 0 && is_whole(s));
    } else {
        write_all(s, s->in, s->n);
    }
    s->n = 0;
}

bool tl_sink_put(tl_sink *s, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    while (n > 0 && is_whole(s)) {
        size_t room = sizeof s->in - s->n, part = n < room ? n : room;
        memcpy(s->in + s->n, p, part);
        s->n += part;
        p += part;
        n -= part;
        if (s->n == sizeof s->in)
            drain(s, false);
    }
    return is_whole(s);
}

tl_status tl_sink_end(tl_sink *s, tl_error *err)
{
    if (is_whole(s))
        drain(s, true);
    return is_whole(s) ? TL_OK : tl_fail(err, s->fault.status, "%s", s->fault.text);
}

tl_status tl_sink_open(int fd, const char *name, bool gzip, tl_sink **out, tl_error *err)
{
    tl_sink *s = tl_calloc(1, sizeof *s);
    s->fd = fd;
    s->name = name;
    s->gzip = gzip;
    if (gzip && !deflate_begin(s)) {
        tl_sink_close(s);
        return tl_fail_memory(err, "compressing a file");
    }
    *out = s;
    return TL_OK;
}

void tl_sink_close(tl_sink *s)
{
#if !TLMPI_HAVE_ISAL
    if (s != NULL && s->gzip)
        (void)deflateEnd(&s->deflater);
#endif
    free(s);
}
