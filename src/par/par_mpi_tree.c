/* par_mpi_tree.c - collects and distributes a few bytes over a tree of procs. */
#include "par_mpi.h"
#include <stdlib.h>

enum { REPORTING = 64, UP_TAG = 1, DOWN_TAG, WORD_TAG };

static MPI_Comm ours;
static int boss, first, nreporting; /* boss -1: none; procs first .. first + nreporting - 1 report to this one */
static MPI_Request *requests;       /* one per reporting proc */
static tl_tree_vote *votes;

void tl_tree_start(int proc, int nprocs)
{
    /* 64 * proc + 1 may exceed INT_MAX for a high proc of a large job, which has no procs below it. */
    int64_t below = (int64_t)REPORTING * proc + 1, left = nprocs - below;
    boss = proc > 0 ? (proc - 1) / REPORTING : -1;
    nreporting = left <= 0 ? 0 : left < REPORTING ? (int)left : REPORTING;
    first = nreporting > 0 ? (int)below : 0;
    requests = tl_calloc((size_t)nreporting + 1, sizeof *requests);
    votes = tl_calloc((size_t)nreporting + 1, sizeof *votes);
    MPI_Comm_dup(MPI_COMM_WORLD, &ours);
}

void tl_tree_end(void)
{
    MPI_Comm_free(&ours);
    free(requests);
    free(votes);
    requests = NULL;
    votes = NULL;
}

MPI_Comm tl_tree_comm(void)
{
    return ours;
}

void tl_tree_tell(void *bytes, size_t n, int from)
{
    MPI_Request request;
    if (from != 0 && from == tl_par_proc()) {
        MPI_Isend(bytes, (int)n, MPI_BYTE, 0, WORD_TAG, ours, &request);
        tl_ring(0);
        tl_wait_with(0, &request, n);
    }
    if (from != 0 && tl_par_proc() == 0) {
        MPI_Irecv(bytes, (int)n, MPI_BYTE, from, WORD_TAG, ours, &request);
        tl_wait_with(from, &request, n);
    }
    if (boss >= 0) {
        MPI_Irecv(bytes, (int)n, MPI_BYTE, boss, DOWN_TAG, ours, &request);
        tl_wait_with(boss, &request, n);
    }
    for (int i = 0; i < nreporting; i++) {
        MPI_Isend(bytes, (int)n, MPI_BYTE, first + i, DOWN_TAG, ours, &requests[i]);
        tl_ring(first + i);
    }
    tl_wait_sent(nreporting, requests);
}

tl_tree_vote tl_tree_elect(int32_t value)
{
    tl_tree_vote best = { .value = value, .proc = tl_par_proc() };
    MPI_Request request;

    for (int i = 0; i < nreporting; i++)
        MPI_Irecv(&votes[i], sizeof votes[i], MPI_BYTE, first + i, UP_TAG, ours, &requests[i]);
    tl_wait_for(nreporting, requests, sizeof votes[0]);
    for (int i = 0; i < nreporting; i++)
        if (votes[i].value > best.value || (votes[i].value == best.value && votes[i].proc < best.proc))
            best = votes[i];
    if (boss >= 0) {
        MPI_Isend(&best, sizeof best, MPI_BYTE, boss, UP_TAG, ours, &request);
        tl_ring(boss);
        tl_wait_sent(1, &request);
    }
    tl_tree_tell(&best, sizeof best, 0);
    return best;
}
