/* part_file.c - a file that gets its name once all of it is on the disk. */
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ unfinished files, and signals */

enum { UNFINISHED_MOST = 16 };

/* Read by a signal handler at any time: each entry is a valid pointer, or NULL. */
static _Atomic(const char *) unfinished[UNFINISHED_MOST];
_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2, "a signal handler must not wait for a lock");

void tl_unfinished_add(const char *path)
{
    for (size_t i = 0; i < UNFINISHED_MOST; i++)
        if (atomic_load(&unfinished[i]) == NULL) {
            atomic_store(&unfinished[i], path);
            return;
        }
}

void tl_unfinished_done(const char *path)
{
    for (size_t i = 0; i < UNFINISHED_MOST; i++)
        if (atomic_load(&unfinished[i]) == path)
            atomic_store(&unfinished[i], NULL);
}

void tl_unfinished_remove(void)
{
    for (size_t i = UNFINISHED_MOST; i-- > 0;) {
        const char *path = atomic_load(&unfinished[i]);
        if (path != NULL && unlink(path) != 0)
            (void)rmdir(path);
    }
}

/* Time that a process of a crowd stays alive: another process may get a processor half a dozen time slices later. */
static const struct timespec grace = { .tv_nsec = 500000000 };
static volatile sig_atomic_t in_crowd;

/* Handles a signal once: the signal has its default effect from here on (SA_RESETHAND), immediately (SA_NODEFER). */
static void on_signal(int number)
{
    tl_unfinished_remove();
    if (in_crowd) {
        (void)nanosleep(&grace, NULL);
        tl_unfinished_remove(); /* another thread may have begun the next file */
    }
    (void)raise(number);
}

/* Replaces the handler `from` of the signal by `to`; any other stays, such as that of an ignored signal. */
static void replace_handler(int number, void (*from)(int), void (*to)(int))
{
    struct sigaction act = { .sa_handler = to, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) }, now;

    (void)sigemptyset(&act.sa_mask);
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == from)
        (void)sigaction(number, &act, NULL);
}

void tl_unfinished_on_signal(bool crowd)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGUSR1, SIGUSR2 };

    in_crowd = crowd;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        replace_handler(signals[i], SIG_DFL, on_signal);
}

static volatile sig_atomic_t stop_signal;

static const int stop_signals[] = { SIGUSR1, SIGTERM, SIGINT };

/* A further signal ends the process. */
static void on_stop(int number)
{
    stop_signal = number;
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        replace_handler(stop_signals[i], on_stop, on_signal);
        replace_handler(stop_signals[i], SIG_DFL, on_signal); /* that of `number` (SA_RESETHAND) */
    }
}

void tl_stop_on_signal(void)
{
    const size_t n = in_crowd ? 1 : sizeof stop_signals / sizeof stop_signals[0];
    for (size_t i = 0; i < n; i++)
        replace_handler(stop_signals[i], on_signal, on_stop);
}

int tl_stop_signal(void)
{
    return stop_signal;
}

/* ----------------------------------------------------------------------------------------------------------- a part */

/* Whether `path` may become the result: it does not exist, or is a file that may be overwritten. */
static tl_status check_free(const char *path, bool force, tl_error *err)
{
    struct stat there;
    if (lstat(path, &there) != 0)
        return errno == ENOENT ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", path, strerror(errno));
    if (S_ISDIR(there.st_mode))
        return tl_fail(err, TL_EOUTPUT, "%s is a folder", path);
    if (!S_ISREG(there.st_mode))
        return tl_fail(err, TL_EOUTPUT, "%s is %s, and is not replaced", path,
                       S_ISLNK(there.st_mode) ? "a symbolic link" : "no regular file");
    return force ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s exists; -f overwrites it", path);
}

/* Removes a part left by a killed run.  A locked part belongs to a run that is still writing it. */
static tl_status remove_stale(const char *part, tl_error *err)
{
    int fd = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        close(fd);
        if (locked)
            return tl_fail(err, TL_EOUTPUT, "%s: another run is writing it", part);
    }
    return unlink(part) == 0 || errno == ENOENT ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", part, strerror(errno));
}

tl_status tl_part_file_begin(tl_part_file *part, const char *path, bool force, tl_error *err)
{
    size_t n = strlen(path);
    part->force = force;
    part->path = tl_strndup(path, n);
    part->part = tl_malloc(n + sizeof ".part");
    memcpy(part->part, path, n);
    memcpy(part->part + n, ".part", sizeof ".part");

    tl_status st = check_free(path, force, err);
    if (st == TL_OK)
        st = remove_stale(part->part, err);
    part->made = st == TL_OK;
    if (part->made)
        tl_unfinished_add(part->part);
    return st;
}

tl_status tl_part_file_create(tl_part_file *part, tl_error *err)
{
    part->fd = open(part->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (part->fd < 0)
        return tl_fail(err, TL_EOUTPUT, "%s: %s", part->part, strerror(errno));
    /* On a file system without locks, two runs that write one file are not detected. */
    (void)flock(part->fd, LOCK_EX | LOCK_NB);
    return TL_OK;
}

FILE *tl_part_file_stream(tl_part_file *part, tl_error *err)
{
    int fd = tl_part_file_create(part, err) == TL_OK ? fcntl(part->fd, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *stream = fd >= 0 ? fdopen(fd, "w+b") : NULL;

    if (stream == NULL && part->fd >= 0)
        (void)tl_fail(err, TL_EOUTPUT, "%s: %s", part->part, strerror(errno));
    if (stream == NULL && fd >= 0)
        close(fd);
    return stream;
}

tl_status tl_part_file_created(tl_part_file *part, tl_error *err)
{
    part->fd = open(part->part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return part->fd >= 0 ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", part->part, strerror(errno));
}

/* Whether the part of that name is still the one that was created. */
static tl_status check_own(const tl_part_file *part, tl_error *err)
{
    struct stat own, there;
    bool same = fstat(part->fd, &own) == 0 && lstat(part->part, &there) == 0 && own.st_ino == there.st_ino &&
                own.st_dev == there.st_dev;
    return same ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: another run is writing it", part->part);
}

tl_status tl_part_file_hold(tl_part_file *part, tl_error *err)
{
    if (flock(part->fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tl_fail(err, TL_EOUTPUT, "%s: another run is writing it", part->part);
    return check_own(part, err);
}

/* Makes the new name persistent.  A folder that may not be read cannot be synced, nor can one on some file systems: the
 * file is complete anyway. */
static tl_status sync_folder(const char *path, tl_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? tl_strndup(".", 1) : tl_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    tl_status st = TL_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        if (fsync(fd) != 0 && errno == EIO)
            st = tl_fail(err, TL_EOUTPUT, "%s: %s", folder, strerror(errno));
        close(fd);
    }
    free(folder);
    return st;
}

tl_status tl_part_file_publish(tl_part_file *part, tl_error *err)
{
    if (fsync(part->fd) != 0)
        return tl_fail(err, TL_EOUTPUT, "%s: %s", part->part, strerror(errno));
    /* Another program may have created `path` while this file was being written. */
    tl_status st = check_free(part->path, part->force, err);
    if (st == TL_OK)
        st = check_own(part, err);
    if (st != TL_OK)
        return st;
    if (rename(part->part, part->path) != 0)
        return tl_fail(err, TL_EOUTPUT, "%s: %s", part->path, strerror(errno));
    tl_unfinished_done(part->part);
    part->made = false;
    st = sync_folder(part->path, err);
    if (st != TL_OK)
        unlink(part->path);
    return st;
}

void tl_part_file_drop(tl_part_file *part)
{
    tl_error other;
    bool own = part->fd < 0 || check_own(part, &other) == TL_OK;
    if (part->fd >= 0)
        close(part->fd);
    if (part->made) {
        if (own)
            unlink(part->part);
        tl_unfinished_done(part->part);
    }
    free(part->path);
    free(part->part);
    *part = (tl_part_file)TL_PART_FILE_INIT;
}

tl_status tl_make_folders(const char *path, tl_error *err)
{
    struct stat there;
    tl_status st = TL_OK;
    char *part = tl_strndup(path, strlen(path));

    for (char *p = part; st == TL_OK && *p != '\0';) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char slash = *p;
        *p = '\0';
        int cause = mkdir(part, 0777) == 0 ? 0 : errno;
        /* mkdir on a read-only disk fails with EROFS, even for an existing folder. */
        if (cause != 0 && cause != EEXIST && (cause != EROFS || stat(part, &there) != 0))
            st = tl_fail(err, TL_EOUTPUT, "%s: %s", part, strerror(cause));
        *p = slash;
    }
    free(part);
    if (st == TL_OK && (stat(path, &there) != 0 || !S_ISDIR(there.st_mode)))
        st = tl_fail(err, TL_EOUTPUT, "%s: not a folder", path);
    return st;
}

/* ------------------------------------------------------------------------------------------------ inputs in the way */

static bool is_file(const char *path, uint64_t device, uint64_t inode)
{
    struct stat there;
    return stat(path, &there) == 0 && (uint64_t)there.st_dev == device && (uint64_t)there.st_ino == inode;
}

bool tl_would_replace(const char *path, uint64_t device, uint64_t inode)
{
    char part[4096];
    if (inode == 0)
        return false;
    return is_file(path, device, inode) ||
           ((size_t)snprintf(part, sizeof part, "%s.part", path) < sizeof part && is_file(part, device, inode));
}

tl_status tl_check_input_kept(const char *path, const char *input, tl_error *err)
{
    struct stat read;
    if (stat(input, &read) != 0 || !S_ISREG(read.st_mode) ||
        !tl_would_replace(path, (uint64_t)read.st_dev, (uint64_t)read.st_ino))
        return TL_OK;
    return tl_fail(err, TL_EUSAGE, "-o %s would write over %s, which is read", path, input);
}
