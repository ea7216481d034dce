/* par_mpi_shared.c - memory that the procs of one host share.
 *
 * The first proc creates an anonymous file and tells the others its number and pid; they open it as /proc/PID/fd/N.  If
 * procs cannot see each other, for instance in separate containers, that path is missing or leads to another file: a
 * word in the file's first line is compared.
 */
#define _GNU_SOURCE /* memfd_create */
#include "par_mpi.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 128 };

/* The first proc's message; file -1: there is none. */
typedef struct offer {
    uint64_t word;
    long pid;
    int file;
} offer;

static int file = -1; /* the first proc's own; stays open, since the others open it */
static void *memory = MAP_FAILED;
static size_t nbytes;

static offer make_file(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    offer made = { .pid = (long)getpid(), .file = -1 };
    made.word = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + ((uint64_t)made.pid << 32);

    file = memfd_create("tlmpi", MFD_CLOEXEC);
    if (file >= 0 && posix_fallocate(file, 0, (off_t)nbytes) == 0 &&
        pwrite(file, &made.word, sizeof made.word, 0) == (ssize_t)sizeof made.word)
        made.file = file;
    return made;
}

/* Opens the first proc's file; -1: the path is missing or leads to another file. */
static int open_file(const offer *made)
{
    char path[64];
    uint64_t word = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", made->pid, made->file);

    int found = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (found >= 0 && (pread(found, &word, sizeof word, 0) != (ssize_t)sizeof word || word != made->word)) {
        close(found);
        found = -1;
    }
    return found;
}

void *tl_shared_start(MPI_Comm here, size_t n)
{
    offer made = { .file = -1 };
    int proc = 0;

    nbytes = LINE_BYTES + n;
    MPI_Comm_rank(here, &proc);
    if (proc == 0)
        made = make_file();
    MPI_Bcast(&made, sizeof made, MPI_BYTE, 0, here);
    int found = made.file < 0 || proc == 0 ? made.file : open_file(&made);
    if (found >= 0)
        memory = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, found, 0);
    if (found >= 0 && proc != 0)
        close(found);
    return memory != MAP_FAILED ? (char *)memory + LINE_BYTES : NULL;
}

void tl_shared_end(void)
{
    if (memory != MAP_FAILED)
        munmap(memory, nbytes);
    if (file >= 0)
        close(file);
    memory = MAP_FAILED;
    file = -1;
}
