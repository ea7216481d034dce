/* held.c - the ranks whose graphs this proc holds, and which question goes to which rank. */
#include "tlmpi/analysis/held.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_rank(const void *a, const void *b)
{
    const tl_held_rank *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

void tl_held_take(tl_rank_graphs *graphs, tl_held *out)
{
    *out = (tl_held){ .ranks = tl_calloc(graphs->of.n + 1, sizeof *out->ranks) };
    for (size_t i = 0; i < graphs->of.n; i++) {
        out->plain_bytes += tl_rank_graph_plain_bytes(&graphs->of.v[i]);
        out->ranks[out->n++] = (tl_held_rank){ .rank = graphs->of.v[i].rank, .settled = { .graph = graphs->of.v[i] } };
        graphs->of.v[i] = (tl_rank_graph){ 0 };
    }
    tl_rank_graphs_free(graphs);
    if (out->n > 1)
        qsort(out->ranks, out->n, sizeof *out->ranks, by_rank);
}

void tl_held_free(tl_held *held)
{
    for (size_t i = 0; held->ranks != NULL && i < held->n; i++) {
        tl_settled_free(&held->ranks[i].settled);
        tl_frame_free(&held->ranks[i].frame);
        tl_told_free(&held->ranks[i].told);
    }
    free(held->ranks);
    tl_host_pieces_free(&held->pieces);
    tl_open_free(&held->open);
    *held = (tl_held){ 0 };
}

/* Settles a rank with the answer; packs it where the proc holds other ranks and lacks room for this one unpacked. */
static void settle(tl_held *held, tl_settled *rank, tl_bytes *in, tl_bytes *out)
{
    held->open.of = NULL;
    held->plain_bytes -= tl_rank_graph_plain_bytes(&rank->graph);
    tl_settle_answer(rank, in, out);
    size_t bytes = tl_rank_graph_plain_bytes(&rank->graph);
    if (held->n > 1 && held->plain_bytes + bytes > TL_GRAPHS_PLAIN_BYTES) {
        tl_settled_pack(rank);
        return;
    }
    held->plain_bytes += bytes;
}

/* Opened, if it is not open. */
static const tl_open_rank *open_rank(tl_held *held, size_t index)
{
    const tl_settled *of = &held->ranks[index].settled;
    if (held->open.of == of)
        return &held->open;
    held->open.of = NULL;
    tl_rank_open(of, &held->open);
    return &held->open;
}

size_t tl_held_index(const tl_held *held, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, held->n, mid, held->ranks[mid].rank < rank);
    return at < held->n && held->ranks[at].rank == rank ? at : held->n;
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

/* What is asked: the role, and the classes of its kinds of work. */
static void get_classes(tl_frame *f, tl_bytes *in, uint32_t *role)
{
    uint64_t *keys = tl_calloc(f->nkinds + 1, sizeof *keys);
    tl_bytes_get(in, role, sizeof *role);
    tl_bytes_get(in, keys, f->nkinds * sizeof *keys);
    tl_kinds_join(f, keys);
    free(keys);
}

/* Room for the pieces of all ranks is made once. */
static void list_pieces(tl_held *held, tl_held_rank *r, const tl_open_rank *o, tl_bytes *in)
{
    tl_host_pieces *p = &held->pieces;
    uint32_t role = 0;
    size_t n = 0;
    get_classes(&r->frame, in, &role);
    if (p->number_of.n == 0) /* those of an earlier question are compared, and go */
        tl_host_pieces_free(p);
    for (size_t i = 0; p->numbers.cap == 0 && i < held->n; i++)
        n += held->ranks[i].frame.nhost_pieces;
    if (n > 0) {
        tl_grow((void **)&p->numbers.v, &p->numbers.cap, n, sizeof *p->numbers.v);
        tl_grow((void **)&p->ns.v, &p->ns.cap, n, sizeof *p->ns.v);
    }
    tl_host_pieces_list(o, &r->frame, role, p);
    r->frame.pieces = p;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

void tl_held_answer(tl_held *held, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out)
{
    size_t index = tl_held_index(held, rank);
    tl_held_rank *r = &held->ranks[index];
    if (question == TL_ASK_SETTLE) {
        settle(held, &r->settled, in, out);
        return;
    }
    if (question == TL_ASK_IDEAL) {
        tl_rank_ideal_get(&r->told.ideal, in);
        return;
    }
    const tl_open_rank *o = open_rank(held, index);
    switch (question) {
    case TL_ASK_WAYS:
        tl_ways_answer(o, in, out);
        return;
    case TL_ASK_CELLS:
        tl_cells_answer(o, &r->frame, in, out);
        return;
    case TL_ASK_HOST_PIECES:
        list_pieces(held, r, o, in);
        return;
    case TL_ASK_SUMS:
        tl_sums_answer(o, &r->frame, in, out);
        return;
    case TL_ASK_UNITS:
        tl_units_answer(o, &r->frame, &r->told, in, out);
        return;
    case TL_ASK_CHANGE:
        tl_change_answer(o, &r->frame, &r->told, in, out);
        return;
    case TL_ASK_PATH:
        tl_path_answer(o, in, out);
        return;
    case TL_ASK_SETTLE:
    case TL_ASK_IDEAL:
    case TL_ASK_NOTHING:
        break;
    }
}

static void ask(void *of, const int32_t *ranks, tl_question question, tl_asked *asked)
{
    tl_held *held = of;
    for (size_t i = 0; i < asked->n; i++) {
        if (asked->in[i].v == NULL)
            continue;
        tl_held_answer(held, ranks[i], question, &asked->in[i], &asked->out[i]);
        tl_bytes_free(&asked->in[i]);
    }
    if (question == TL_ASK_HOST_PIECES)
        tl_host_pieces_compare(&held->pieces);
}

tl_asker tl_held_asker(tl_held *held)
{
    return (tl_asker){ ask, held, NULL };
}
