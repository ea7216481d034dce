#include "opening.h"
#include "tlmpi/trace/text/source.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Looks for a pipe's writer before giving up: one every 20 ms, 5 s in all. */
#define WRITER_NAPS 250

const char *tl_source_word(mode_t mode)
{
    return S_ISREG(mode)    ? "a file"
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* A pipe without a writer says "end" again and again; with one, text, or that there is none yet.  The writer may be a
 * moment late.  Afterwards reading waits for it as for a file. */
static tl_status await_writer(const char *path, void *buf, size_t cap, tl_opened *out, tl_error *err)
{
    const struct timespec nap = { .tv_nsec = 20000000 };
    ssize_t got = 0;

    for (int naps = 0; got == 0 && naps < WRITER_NAPS; naps++) {
        if (naps > 0)
            (void)nanosleep(&nap, NULL);
        do
            got = read(out->fd, buf, cap);
        while (got < 0 && errno == EINTR);
    }
    if (got == 0)
        return tl_fail(err, TL_EINPUT, "%s: expected a pipe with a writer, found none for %d seconds", path,
                       WRITER_NAPS / 50);
    if (got < 0 && errno != EAGAIN)
        return tl_fail(err, TL_EINPUT, "%s: cannot be read: %s", path, strerror(errno));
    out->n = got > 0 ? (size_t)got : 0;
    if (fcntl(out->fd, F_SETFL, fcntl(out->fd, F_GETFL) & ~O_NONBLOCK) != 0)
        return tl_fail(err, TL_EINPUT, "%s: %s", path, strerror(errno));
    return TL_OK;
}

/* Looks before it opens: opening a pipe waits for a writer, opening a device may do anything. */
tl_status tl_open(const char *path, void *buf, size_t cap, tl_opened *out, tl_error *err)
{
    struct stat st;

    *out = (tl_opened){ .fd = -1 };
    if (stat(path, &st) != 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot be opened: %s", path, strerror(errno));
    bool pipe = S_ISFIFO(st.st_mode);
    if (!S_ISREG(st.st_mode) && !pipe)
        return tl_fail(err, TL_EINPUT, "%s: expected a file or a pipe, found %s", path, tl_source_word(st.st_mode));
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipe ? O_NONBLOCK : 0));
    if (out->fd < 0)
        return tl_fail(err, TL_EINPUT, "%s: cannot be opened: %s", path, strerror(errno));
    if (pipe)
        return await_writer(path, buf, cap, out, err);
    out->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    (void)posix_fadvise(out->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice only */
    return TL_OK;
}
