/* rank_server.c - keeps the graphs of the ranks that this proc read, and answers questions to them. */
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/analysis/verdict/whatif/rank_server.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

TL_SORT_BY(by_rank, tl_served_rank, rank)

void tl_rank_server_take(tl_rank_graphs *graphs, tl_rank_server *out)
{
    *out = (tl_rank_server){ .ranks = tl_calloc(graphs->of.n + 1, sizeof *out->ranks) };
    for (size_t i = 0; i < graphs->of.n; i++) {
        out->plain_bytes += tl_rank_graph_plain_bytes(&graphs->of.v[i]);
        out->ranks[out->n++] = (tl_served_rank){ .rank = graphs->of.v[i].rank, .final = { .graph = graphs->of.v[i] } };
        graphs->of.v[i] = (tl_rank_graph){ 0 };
    }
    tl_rank_graphs_free(graphs);
    if (out->n > 1)
        qsort(out->ranks, out->n, sizeof *out->ranks, by_rank);
}

void tl_rank_server_free(tl_rank_server *server)
{
    for (size_t i = 0; server->ranks != NULL && i < server->n; i++) {
        tl_final_graph_free(&server->ranks[i].final);
        tl_work_class_map_free(&server->ranks[i].class_map);
        tl_rank_repairs_free(&server->ranks[i].repairs);
    }
    free(server->ranks);
    tl_host_pieces_free(&server->pieces);
    tl_open_free(&server->open);
    *server = (tl_rank_server){ 0 };
}

/* Answers FINAL_GRAPH; packs the rank's graph if the proc serves several ranks and their unpacked graphs would exceed
 * TL_GRAPHS_PLAIN_BYTES. */
static void answer_final_graph(tl_rank_server *server, tl_final_graph *rank, tl_bytes *in, tl_bytes *out)
{
    server->open.of = NULL;
    server->plain_bytes -= tl_rank_graph_plain_bytes(&rank->graph);
    tl_finalize_rank_graph(rank, in, out);
    size_t bytes = tl_rank_graph_plain_bytes(&rank->graph);
    if (server->n > 1 && server->plain_bytes + bytes > TL_GRAPHS_PLAIN_BYTES) {
        tl_final_graph_pack(rank);
        return;
    }
    server->plain_bytes += bytes;
}

/* Returns the rank opened; only the last opened rank stays open. */
static const tl_open_rank *open_rank(tl_rank_server *server, size_t index)
{
    const tl_final_graph *of = &server->ranks[index].final;
    if (server->open.of == of)
        return &server->open;
    server->open.of = NULL;
    tl_rank_open(of, &server->open);
    return &server->open;
}

size_t tl_rank_server_index(const tl_rank_server *server, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, server->n, mid, server->ranks[mid].rank < rank);
    return at < server->n && server->ranks[at].rank == rank ? at : server->n;
}

/* ----------------------------------------------------------------------------------------------------------- pieces */

/* Reads the question HOST_PIECES: the rank's role, and the class of each of its kinds of work. */
static void get_classes(tl_work_class_map *f, tl_bytes *in, uint32_t *role)
{
    uint64_t *keys = tl_calloc(f->nkinds + 1, sizeof *keys);
    tl_bytes_get(in, role, sizeof *role);
    tl_bytes_get(in, keys, f->nkinds * sizeof *keys);
    tl_kinds_merge(f, keys);
    free(keys);
}

/* Answers HOST_PIECES: appends the rank's pieces of host work to server->pieces, which are allocated for all ranks at
 * once. */
static void answer_host_pieces(tl_rank_server *server, tl_served_rank *r, const tl_open_rank *o, tl_bytes *in)
{
    tl_host_pieces *p = &server->pieces;
    uint32_t role = 0;
    size_t n = 0;
    get_classes(&r->class_map, in, &role);
    if (p->number_of.n == 0) /* pieces of an earlier question have been compared */
        tl_host_pieces_free(p);
    for (size_t i = 0; p->numbers.cap == 0 && i < server->n; i++)
        n += server->ranks[i].class_map.nhost_pieces;
    if (n > 0) {
        tl_grow((void **)&p->numbers.v, &p->numbers.cap, n, sizeof *p->numbers.v);
        tl_grow((void **)&p->ns.v, &p->ns.cap, n, sizeof *p->ns.v);
    }
    tl_host_pieces_list(o, &r->class_map, role, p);
    r->class_map.pieces = p;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

void tl_rank_server_answer(tl_rank_server *server, int32_t rank, tl_question question, tl_bytes *in, tl_bytes *out)
{
    size_t index = tl_rank_server_index(server, rank);
    tl_served_rank *r = &server->ranks[index];
    if (question == TL_ASK_FINAL_GRAPH) {
        answer_final_graph(server, &r->final, in, out);
        return;
    }
    if (question == TL_ASK_IDEAL) {
        tl_rank_ideal_get(&r->repairs.ideal, in);
        return;
    }
    const tl_open_rank *o = open_rank(server, index);
    switch (question) {
    case TL_ASK_INTER_COLLECTIVE_PATHS:
        tl_inter_collective_paths_answer(o, in, out);
        return;
    case TL_ASK_CELLS:
        tl_cells_answer(o, &r->class_map, in, out);
        return;
    case TL_ASK_HOST_PIECES:
        answer_host_pieces(server, r, o, in);
        return;
    case TL_ASK_SUMS:
        tl_sums_answer(o, &r->class_map, in, out);
        return;
    case TL_ASK_CANDIDATES:
        tl_candidates_answer(o, &r->class_map, &r->repairs, in, out);
        return;
    case TL_ASK_CHANGE:
        tl_change_answer(o, &r->class_map, &r->repairs, in, out);
        return;
    case TL_ASK_PATH:
        tl_path_answer(o, in, out);
        return;
    case TL_ASK_WHATIF:
        if (tl_whatif_answer(o, &r->class_map, &r->final, in, out))
            server->open.of = NULL;
        return;
    case TL_ASK_FINAL_GRAPH:
    case TL_ASK_IDEAL:
    case TL_ASK_NOTHING:
        break;
    }
}

static void ask(void *of, const int32_t *ranks, tl_question question, tl_asked *asked)
{
    tl_rank_server *server = of;
    /* The open rank is asked first, but host pieces are listed in rank order. */
    bool last_is_open = server->n > 0 && server->open.of == &server->ranks[server->n - 1].final;
    bool backwards = last_is_open && question != TL_ASK_HOST_PIECES;
    for (size_t k = 0; k < asked->n; k++) {
        size_t i = backwards ? asked->n - 1 - k : k;
        if (asked->in[i].v == NULL)
            continue;
        tl_rank_server_answer(server, ranks[i], question, &asked->in[i], &asked->out[i]);
        tl_bytes_free(&asked->in[i]);
    }
    if (question == TL_ASK_HOST_PIECES)
        tl_host_pieces_compare(&server->pieces);
}

tl_asker tl_rank_server_asker(tl_rank_server *server)
{
    return (tl_asker){ ask, server, NULL };
}
