/* file.c - a file to which lines are appended. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Creates all folders in the path of a file.  Returns the error of the first that could not be created; 0: none. */
static int make_folders(char *path)
{
    int error = 0;
    for (char *p = path + 1; *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST && error == 0)
            error = errno;
        *p = '/';
    }
    return error;
}

int tl_record_file_open(tl_record_file *file, const char *directory, int rank, tl_record_text *path)
{
    struct stat status;
    char last;

    file->fd = -1;
    tl_record_text_literal(path, directory);
    tl_record_text_literal(path, "/cuda_events_rank_");
    tl_record_text_integer(path, rank);
    tl_record_text_add(path, ".jsonl", sizeof ".jsonl");
    if (path->failed)
        return ENOMEM;
    int no_folder = make_folders(path->bytes);
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    file->fd = open(path->bytes, flags | O_CREAT | O_NOFOLLOW, 0666);
    const bool link = file->fd < 0 && errno == ELOOP;
    if (link) /* to a device, such as /dev/null, lines may go; no other file is written through it */
        file->fd = open(path->bytes, flags);
    if (file->fd < 0)
        return errno == ENOENT && no_folder != 0 ? no_folder : link ? ELOOP : errno;
    bool known = fstat(file->fd, &status) == 0;
    /* a write to a pipe waits for the reader */
    const int refused = known && S_ISFIFO(status.st_mode)             ? ESPIPE
                        : link && !(known && S_ISCHR(status.st_mode)) ? ELOOP
                                                                      : 0;
    if (refused != 0) {
        (void)tl_record_file_close(file);
        return refused;
    }
    if (known && S_ISREG(status.st_mode) && status.st_size > 0 && pread(file->fd, &last, 1, status.st_size - 1) == 1 &&
        last != '\n') {
        tl_record_text_literal(&file->out, "\n");
        file->rest = file->out.n;
        file->foreign = true;
    }
    return 0;
}

/* Writes up to n bytes; returns the number of bytes that the file took; *error: why it took fewer. */
static size_t write_some(int fd, const char *bytes, size_t n, int *error)
{
    size_t done = 0;
    *error = 0;
    while (done < n) {
        ssize_t took = write(fd, bytes + done, n - done);
        if (took > 0)
            done += (size_t)took;
        else if (took == 0)
            *error = EIO;
        else if (errno != EINTR)
            *error = errno;
        if (*error != 0)
            break;
    }
    return done;
}

/* As write_some, but a write beyond the limit on file size (SIGXFSZ) is an error and does not end the program. */
static size_t write_unharmed(int fd, const char *bytes, size_t n, int *error)
{
    const struct timespec at_once = { 0, 0 };
    sigset_t ends, before, pending;

    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGXFSZ);
    (void)sigaddset(&ends, SIGPIPE);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &ends, &before);
    size_t done = write_some(fd, bytes, n, error);
    if (*error == EFBIG || *error == EPIPE) {
        /* A signal that was pending before is not consumed. */
        if (sigismember(&pending, SIGXFSZ))
            (void)sigdelset(&ends, SIGXFSZ);
        if (sigismember(&pending, SIGPIPE))
            (void)sigdelset(&ends, SIGPIPE);
        while (sigtimedwait(&ends, NULL, &at_once) > 0)
            continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
}

int tl_record_file_write(tl_record_file *file, int64_t *nwritten)
{
    tl_record_text *out = &file->out;
    int error = 0;

    *nwritten = 0;
    if (out->n == 0)
        return 0;
    size_t done = write_unharmed(file->fd, out->bytes, out->n, &error);
    for (size_t i = 0; i < done; i++)
        *nwritten += out->bytes[i] == '\n';
    if (done > 0 && file->foreign) {
        file->foreign = false;
        --*nwritten;
    }

    bool cut = done < file->rest || (done > 0 && out->bytes[done - 1] != '\n');
    const char *end = cut ? memchr(out->bytes + done, '\n', out->n - done) : NULL;
    file->rest = end != NULL ? (size_t)(end + 1 - out->bytes) - done : 0;
    memmove(out->bytes, out->bytes + done, file->rest);
    out->n = file->rest;
    return error;
}

int tl_record_file_close(tl_record_file *file)
{
    int error = file->fd >= 0 && close(file->fd) != 0 && errno != EINTR ? errno : 0;
    tl_record_text_free(&file->out);
    file->fd = -1;
    return error;
}
