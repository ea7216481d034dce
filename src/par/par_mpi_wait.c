/* par_mpi_wait.c - waits that test and nap, and are woken by a bell. */
#include "par_mpi.h"
#include <pthread.h>
#include <stdlib.h>

/* Largest message, bytes, that Open MPI completes as soon as it is sent.  With a longer one MPI may keep the sender
 * waiting until the receiver takes it, or move it in steps that ring no bell; the sender must then be told that it was
 * taken. */
#define EAGER_BYTES ((size_t)256)

/* Shortest and longest naps.  If every proc can ring (rung), naps end by themselves for safety only.  Else (unrung) a
 * proc that waits for minutes wakes 50 times a second, at less than a thousandth of a core. */
static const struct {
    long first_ns, longest_ns;
} rung = { 32000000L, 128000000L }, in_steps = { 500000L, 20000000L }, unrung = { 20000L, 20000000L };

typedef struct bell {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    uint32_t rings, wanted; /* rings: count of rings; wanted: the count at which its proc wakes; both wrap */
    char apart[64];         /* so that two bells do not share a cache line */
} bell;

static MPI_Comm here = MPI_COMM_NULL; /* the procs of this host */
static bell *bells;                   /* of the procs of this host; NULL: there are none */
static int *node_rank_of;             /* [nprocs] index of each proc's bell in `bells`; MPI_UNDEFINED: on another
                                       * host */
static bool all_here;                 /* no proc is on another host */
static uint32_t heard;                /* rings of the own bell at the end of the last nap */
static int *ended;                    /* scratch for MPI_Testsome */

static bool make_bell(bell *b)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t wake;
    if (pthread_mutexattr_init(&mutex) != 0 || pthread_condattr_init(&wake) != 0)
        return false;
    b->rings = b->wanted = 0;
    bool made = pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_condattr_setpshared(&wake, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_condattr_setclock(&wake, CLOCK_MONOTONIC) == 0 && pthread_mutex_init(&b->mutex, &mutex) == 0 &&
                pthread_cond_init(&b->wake, &wake) == 0;
    pthread_mutexattr_destroy(&mutex);
    pthread_condattr_destroy(&wake);
    return made;
}

/* Finds the rank of each proc of the job among the procs of this host. */
static void find_places(int nprocs)
{
    MPI_Group world, group;
    int *procs = tl_calloc((size_t)nprocs, sizeof *procs);
    node_rank_of = tl_calloc((size_t)nprocs, sizeof *node_rank_of);
    for (int i = 0; i < nprocs; i++)
        procs[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(here, &group);
    MPI_Group_translate_ranks(world, nprocs, procs, group, node_rank_of);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    free(procs);
}

void tl_bells_start(void)
{
    int nprocs = tl_par_nprocs(), nhere = 0, node_rank = 0;
    bell *first = NULL;

    ended = tl_calloc(2 * (size_t)nprocs, sizeof *ended);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &nhere);
    MPI_Comm_rank(here, &node_rank);
    if (nhere > 1)
        first = tl_shared_start(here, (size_t)nhere * sizeof *first);
    bool made = first != NULL && make_bell(&first[node_rank]);
    if (made)
        find_places(nprocs);
    /* No proc rings before all bells exist; if one proc has no bell, no proc uses them. */
    bool everywhere = tl_tree_elect(made || nhere == 1 ? 0 : 1).value == 0;
    if (made && everywhere)
        bells = first;
    all_here = bells != NULL && nhere == nprocs;
}

int tl_par_nhere(void)
{
    int n = 1;
    if (here != MPI_COMM_NULL)
        MPI_Comm_size(here, &n);
    return n;
}

void tl_bells_end(void)
{
    bells = NULL;
    all_here = false;
    tl_shared_end();
    MPI_Comm_free(&here);
    free(node_rank_of);
    free(ended);
    node_rank_of = NULL;
    ended = NULL;
}

void tl_ring(int proc)
{
    if (bells == NULL || node_rank_of[proc] == MPI_UNDEFINED)
        return;
    bell *b = &bells[node_rank_of[proc]];
    pthread_mutex_lock(&b->mutex);
    b->rings++;
    if ((int32_t)(b->rings - b->wanted) >= 0)
        pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->mutex);
}

/* Returns the number of rings of this proc's bell. */
static uint32_t count_rings(void)
{
    if (bells == NULL)
        return 0;
    bell *b = &bells[node_rank_of[tl_par_proc()]];
    pthread_mutex_lock(&b->mutex);
    uint32_t rings = b->rings;
    pthread_mutex_unlock(&b->mutex);
    return rings;
}

/* Sleeps until the count of this proc's bell reaches `rings`, but no longer than ns. */
static void sleep_until(uint32_t rings, long ns)
{
    struct timespec until;
    bell *b = &bells[node_rank_of[tl_par_proc()]];

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&b->mutex);
    b->wanted = rings;
    while ((int32_t)(b->rings - rings) < 0 && pthread_cond_timedwait(&b->wake, &b->mutex, &until) == 0)
        ;
    heard = b->rings;
    pthread_mutex_unlock(&b->mutex);
}

/* small: the awaited messages are no longer than EAGER_BYTES. */
static void nap_until(uint32_t rings, bool small, unsigned *spins)
{
    long ns = !all_here ? tl_local_nap_ns(spins, unrung.first_ns, unrung.longest_ns)
              : small   ? tl_local_nap_ns(spins, rung.first_ns, rung.longest_ns)
                        : tl_local_nap_ns(spins, in_steps.first_ns, in_steps.longest_ns);
    if (bells != NULL)
        sleep_until(rings, ns);
    else
        nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

void tl_par_nap(unsigned *spins)
{
    nap_until(heard + 1, true, spins);
}

void tl_nap_between_steps(unsigned *spins)
{
    nap_until(heard + 1, false, spins);
}

int tl_test(int n, MPI_Request *requests, int *which)
{
    int count = 0;
    if (n == 1) {
        which[0] = 0;
        MPI_Test(requests, &count, MPI_STATUS_IGNORE);
        return count != 0 ? 1 : 0;
    }
    for (int k = 0; k < 2 && count <= 0; k++)
        MPI_Testsome(n, requests, &count, which, MPI_STATUSES_IGNORE);
    return count > 0 ? count : 0;
}

static void wait_for(int n, MPI_Request *requests, bool small)
{
    unsigned spins = 0;
    int left = 0;

    for (int i = 0; i < n; i++)
        left += requests[i] != MPI_REQUEST_NULL;
    while (left > 0) {
        uint32_t rings = count_rings();
        int some;
        while (left > 0 && (some = tl_test(n, requests, ended)) > 0)
            left -= some;
        if (left > 0)
            nap_until(rings + (small ? (uint32_t)left : 1), small, &spins);
    }
}

void tl_wait_for(int n, MPI_Request *requests, size_t nbytes)
{
    wait_for(n, requests, nbytes <= EAGER_BYTES);
}

void tl_wait_sent(int n, MPI_Request *requests)
{
    wait_for(n, requests, false);
}

void tl_wait_with(int proc, MPI_Request *request, size_t nbytes)
{
    bool small = nbytes <= EAGER_BYTES;
    int done = 0;

    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (!done && !small)
        tl_ring(proc);
    if (!done)
        tl_wait_for(1, request, nbytes);
    if (!small)
        tl_ring(proc);
}
