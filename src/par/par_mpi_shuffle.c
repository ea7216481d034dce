/* par_mpi_shuffle.c - redistributes rows from every proc to every proc.
 *
 *     counts   all procs tell all others the number of rows               (one small exchange)
 *     room     all procs allocate their memory
 *     rows     from each proc one block at a time, received in place; up to a few blocks to other procs, copied
 *              together from the places of their rows
 */
#include "par_mpi.h"
#include <string.h>

enum { COUNT_TAG = 6, ROWS_TAG = 7, BLOCK_BYTES = 1 << 20, BLOCKS_OUT = 8 };

typedef struct exchange {
    const unsigned char *rows;
    size_t size, block_rows;
    int nprocs, proc;
    tl_arena arena;         /* of all but `out` */
    uint64_t *give, *take;  /* number of rows to and from each proc */
    size_t *order;          /* rows by destination proc, in original order */
    size_t *first;          /* index of each proc's first row in `order` */
    size_t *put_at, *taken; /* index of each proc's rows in `out`, and number of those received */
    unsigned char *out;
    size_t nout;
    MPI_Request *requests; /* a receive for each proc, then BLOCKS_OUT sends */
    int *done;             /* indices of the requests that have ended */
    unsigned char *blocks; /* BLOCKS_OUT of them */
    int to;                /* next destination of a block, relative to this proc */
    size_t sent;           /* number of rows sent to `to` */
    int open;              /* number of open requests */
} exchange;

static size_t rows_of_block(const exchange *x, size_t left)
{
    return left < x->block_rows ? left : x->block_rows;
}

/* Posts the receive of the next block from proc p, if there is one. */
static void post_receive(exchange *x, int p)
{
    size_t left = (size_t)x->take[p] - x->taken[p];
    if (left == 0 || p == x->proc)
        return;
    size_t n = rows_of_block(x, left);
    MPI_Irecv(x->out + (x->put_at[p] + x->taken[p]) * x->size, (int)(n * x->size), MPI_BYTE, p, ROWS_TAG,
              tl_tree_comm(), &x->requests[p]);
    x->taken[p] += n;
    x->open++;
}

static void copy_rows(const exchange *x, size_t from, size_t n, unsigned char *to)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * x->size, x->rows + x->order[from + i] * x->size, x->size);
}

/* Sends the next block to any proc, from block buffer b, if there is one. */
static void send_block(exchange *x, int b)
{
    for (; x->to < x->nprocs; x->to++, x->sent = 0) {
        int p = (x->proc + x->to) % x->nprocs;
        size_t left = (size_t)x->give[p] - x->sent;
        if (left == 0)
            continue;
        size_t n = rows_of_block(x, left);
        unsigned char *block = x->blocks + (size_t)b * x->block_rows * x->size;
        copy_rows(x, x->first[p] + x->sent, n, block);
        MPI_Isend(block, (int)(n * x->size), MPI_BYTE, p, ROWS_TAG, tl_tree_comm(), &x->requests[x->nprocs + b]);
        tl_ring(p);
        x->sent += n;
        x->open++;
        return;
    }
}

static void move_rows(exchange *x)
{
    int total = x->nprocs + BLOCKS_OUT;
    unsigned spins = 0;

    for (int i = 0; i < total; i++)
        x->requests[i] = MPI_REQUEST_NULL;
    for (int p = 0; p < x->nprocs; p++)
        post_receive(x, p);
    copy_rows(x, x->first[x->proc], (size_t)x->give[x->proc], x->out + x->put_at[x->proc] * x->size);
    x->to = 1;
    for (int b = 0; b < BLOCKS_OUT; b++)
        send_block(x, b);
    while (x->open > 0) {
        int n = tl_test(total, x->requests, x->done);
        if (n == 0) {
            tl_nap_between_steps(&spins);
            continue;
        }
        spins = 0;
        x->open -= n;
        for (int i = 0; i < n; i++) {
            if (x->done[i] < x->nprocs) {
                tl_ring(x->done[i]);
                post_receive(x, x->done[i]);
            } else {
                send_block(x, x->done[i] - x->nprocs);
            }
        }
    }
}

/* Sorts row indices by destination. */
static void sort_rows(exchange *x, size_t n, const int32_t *to)
{
    size_t at = 0;
    for (int p = 0; p < x->nprocs; p++) {
        x->first[p] = at;
        at += (size_t)x->give[p];
    }
    for (size_t i = 0; i < n; i++)
        x->order[x->first[to[i]]++] = i;
    for (int p = 0; p < x->nprocs; p++)
        x->first[p] -= (size_t)x->give[p];
}

static void make_room(exchange *x, size_t n)
{
    size_t procs = (size_t)x->nprocs;
    x->nout = 0;
    for (size_t p = 0; p < procs; p++) {
        x->put_at[p] = x->nout;
        x->nout += (size_t)x->take[p];
    }
    x->order = tl_arena_zeroed(&x->arena, n, sizeof *x->order);
    x->out = tl_calloc(x->nout + 1, x->size);
    x->blocks = tl_arena_zeroed(&x->arena, BLOCKS_OUT * x->block_rows, x->size);
}

static void make_counts(exchange *x)
{
    size_t procs = (size_t)x->nprocs;
    x->give = tl_arena_zeroed(&x->arena, procs, sizeof *x->give);
    x->take = tl_arena_zeroed(&x->arena, procs, sizeof *x->take);
    x->first = tl_arena_zeroed(&x->arena, procs, sizeof *x->first);
    x->put_at = tl_arena_zeroed(&x->arena, procs, sizeof *x->put_at);
    x->taken = tl_arena_zeroed(&x->arena, procs, sizeof *x->taken);
    x->requests = tl_arena_zeroed(&x->arena, 2 * procs + BLOCKS_OUT, sizeof *x->requests);
    x->done = tl_arena_zeroed(&x->arena, procs + BLOCKS_OUT, sizeof *x->done);
}

static void count_rows(exchange *x, size_t n, const int32_t *to)
{
    for (size_t i = 0; i < n; i++)
        x->give[to[i]]++;
    for (int p = 0; p < x->nprocs; p++)
        MPI_Irecv(&x->take[p], 1, MPI_UINT64_T, p, COUNT_TAG, tl_tree_comm(), &x->requests[p]);
    for (int p = 0; p < x->nprocs; p++) {
        MPI_Isend(&x->give[p], 1, MPI_UINT64_T, p, COUNT_TAG, tl_tree_comm(), &x->requests[x->nprocs + p]);
        tl_ring(p);
    }
    tl_wait_sent(x->nprocs, x->requests + x->nprocs);
    tl_wait_for(x->nprocs, x->requests, sizeof *x->take);
}

void tl_par_shuffle(const void *rows, size_t n, size_t size, const int32_t *to, void **out, size_t *nout)
{
    exchange x = { .rows = rows,
                   .size = size,
                   .nprocs = tl_par_nprocs(),
                   .proc = tl_par_proc(),
                   .block_rows = size < BLOCK_BYTES ? BLOCK_BYTES / size : 1 };

    if (x.nprocs == 1) {
        tl_local_shuffle(rows, n, size, out, nout);
        return;
    }
    make_counts(&x);
    count_rows(&x, n, to);
    make_room(&x, n);
    sort_rows(&x, n, to);
    move_rows(&x);
    *out = x.out;
    *nout = x.nout;
    tl_arena_free(&x.arena);
}
