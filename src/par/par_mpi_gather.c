/* par_mpi_gather.c - collects the bytes of all procs on proc 0.
 *
 *     card     each proc's size, and its bytes if they are few
 *     room     proc 0 allocates the memory
 *     chunks   of the other procs' bytes, all procs at once, received in place
 */
#include "par_mpi.h"
#include <stdlib.h>
#include <string.h>

enum { CARD_TAG = 4, PIECE_TAG = 5, CARD_BYTES = 248 };

typedef struct card {
    uint64_t n;
    char bytes[CARD_BYTES];
} card;

/* State of a gather on proc 0. */
typedef struct gathering {
    int nprocs;
    card *cards; /* one card per proc, one request per proc */
    MPI_Request *requests;
    char *bytes;    /* of all procs */
    size_t longest; /* largest number of bytes of a proc that come in chunks */
} gathering;

static card make_card(const void *bytes, size_t n)
{
    card c = { .n = n };
    if (n > 0 && n <= CARD_BYTES)
        memcpy(c.bytes, bytes, n);
    return c;
}

/* Receives the k-th chunk of every proc that has one. */
static void receive_chunks(gathering *g, size_t k)
{
    char *to = g->bytes;
    for (int i = 0; i < g->nprocs; i++) {
        size_t n = (size_t)g->cards[i].n, at = k * TL_PIECE_BYTES;
        g->requests[i] = MPI_REQUEST_NULL;
        if (i != 0 && n > CARD_BYTES && at < n) {
            MPI_Irecv(to + at, (int)tl_slice_size(n, at), MPI_BYTE, i, PIECE_TAG, tl_tree_comm(), &g->requests[i]);
            tl_ring(i);
        }
        to += n;
    }
    tl_wait_for(g->nprocs, g->requests, g->longest);
}

static void receive_cards(gathering *g, const card *mine)
{
    g->cards[0] = *mine;
    g->requests[0] = MPI_REQUEST_NULL;
    for (int i = 1; i < g->nprocs; i++)
        MPI_Irecv(&g->cards[i], sizeof g->cards[i], MPI_BYTE, i, CARD_TAG, tl_tree_comm(), &g->requests[i]);
    tl_wait_for(g->nprocs, g->requests, sizeof *g->cards);
}

static void gather_on_proc_0(const void *bytes, const card *mine, tl_bytes *out)
{
    gathering all = { .nprocs = tl_par_nprocs() };

    all.cards = tl_calloc((size_t)all.nprocs, sizeof *all.cards);
    all.requests = tl_calloc((size_t)all.nprocs, sizeof *all.requests);
    receive_cards(&all, mine);
    for (int i = 0; i < all.nprocs; i++) {
        size_t n = (size_t)all.cards[i].n;
        all.longest = n > CARD_BYTES && n > all.longest ? n : all.longest;
        out->n += n;
    }
    tl_grow((void **)&out->v, &out->cap, out->n, 1);

    char *to = all.bytes = out->v;
    for (int i = 0; i < all.nprocs; i++) {
        size_t n = (size_t)all.cards[i].n;
        if (n == 0)
            continue;
        if (i == 0 || n <= CARD_BYTES)
            memcpy(to, i == 0 ? bytes : all.cards[i].bytes, n);
        to += n;
    }
    for (size_t k = 0; k * TL_PIECE_BYTES < all.longest; k++)
        receive_chunks(&all, k);
    free(all.cards);
    free(all.requests);
}

static void send_to_proc_0(const void *bytes, const card *mine)
{
    MPI_Request request;
    size_t n = (size_t)mine->n;

    MPI_Isend(mine, (int)(sizeof mine->n + (mine->n <= CARD_BYTES ? (size_t)mine->n : 0)), MPI_BYTE, 0, CARD_TAG,
              tl_tree_comm(), &request);
    tl_ring(0);
    tl_wait_sent(1, &request);
    for (size_t at = 0; n > CARD_BYTES && at < n; at += TL_PIECE_BYTES) {
        MPI_Isend((const char *)bytes + at, (int)tl_slice_size(n, at), MPI_BYTE, 0, PIECE_TAG, tl_tree_comm(),
                  &request);
        tl_ring(0);
        tl_wait_with(0, &request, tl_slice_size(n, at));
    }
}

void tl_par_gather(const void *bytes, size_t n, tl_bytes *all)
{
    const card mine = make_card(bytes, n);

    *all = (tl_bytes){ 0 };
    if (tl_par_nprocs() == 1)
        tl_bytes_put(all, bytes, n);
    else if (tl_par_proc() == 0)
        gather_on_proc_0(bytes, &mine, all);
    else
        send_to_proc_0(bytes, &mine);
}
