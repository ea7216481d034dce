/* host_pieces.c - the median time of a piece of host work over the ranks of a role: the piece before the launch at one
 * position in the sequence of a step. */
#include "internal.h"
#include <stdlib.h>

void tl_host_pieces_add(tl_host_pieces *p, uint64_t position, int64_t ns)
{
    uint32_t number = tl_map_number(&p->number_of, position, p->positions.n);
    if (number == p->positions.n)
        tl_vec_push(&p->positions, position);
    tl_vec_push(&p->numbers, number);
    tl_vec_push(&p->ns, ns);
}

void tl_host_pieces_list(const tl_open_rank *o, tl_work_class_map *f, uint32_t role, tl_host_pieces *p)
{
    f->first_piece = p->numbers.n;
    for (uint32_t v = 0; v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        if (tl_is_host_piece(node))
            tl_host_pieces_add(p, tl_hash_mix(tl_hash_mix(node->key, (uint32_t)node->step), role), node->work_ns);
    }
}

/* Pieces are gathered by position for 1 / PARTS of all pieces at a time. */
enum { PARTS = 8 };

/* Fills median_ns of the positions [first, end).  first_of[position]: index of its first piece, in order of
 * positions. */
static void find_medians(const tl_host_pieces *p, const uint32_t *first_of, size_t first, size_t end, int64_t *gathered,
                         int64_t *median_ns)
{
    uint32_t *next = tl_malloc((end - first + 1) * sizeof *next);
    for (size_t k = first; k < end; k++)
        next[k - first] = first_of[k] - first_of[first];
    for (size_t i = 0; i < p->numbers.n; i++)
        if (p->numbers.v[i] - first < end - first)
            gathered[next[p->numbers.v[i] - first]++] = p->ns.v[i];
    for (size_t k = first; k < end; k++) {
        size_t n = first_of[k + 1] - first_of[k];
        median_ns[k] = n > 1 ? tl_baseline_median(gathered + (first_of[k] - first_of[first]), n) : 0;
    }
    free(next);
}

void tl_host_pieces_compare(tl_host_pieces *p)
{
    const size_t n = p->positions.n;
    size_t room = p->numbers.n / PARTS + 1;
    uint32_t *first_of = tl_calloc(n + 2, sizeof *first_of);
    int64_t *median_ns = tl_malloc((n + 1) * sizeof *median_ns);
    tl_map_free(&p->number_of);
    tl_mem_indexable(p->numbers.n);
    for (size_t i = 0; i < p->numbers.n; i++)
        first_of[p->numbers.v[i] + 1]++;
    for (size_t k = 0; k < n; k++) {
        room = first_of[k + 1] > room ? first_of[k + 1] : room;
        first_of[k + 1] += first_of[k];
    }
    int64_t *gathered = tl_malloc(room * sizeof *gathered);
    for (size_t k = 0, end; k < n; k = end) {
        for (end = k + 1; end < n && first_of[end + 1] - first_of[k] <= room;)
            end++;
        find_medians(p, first_of, k, end, gathered, median_ns);
    }
    free(gathered);
    free(first_of);
    free(p->ns.v);
    p->ns.v = median_ns;
    p->ns.n = p->ns.cap = n;
}

void tl_host_pieces_free(tl_host_pieces *p)
{
    tl_map_free(&p->number_of);
    free(p->positions.v);
    free(p->numbers.v);
    free(p->ns.v);
    *p = (tl_host_pieces){ .ns = { 0 } };
}

void tl_baseline_host_pieces(const tl_baseline *b)
{
    tl_asked asked;
    tl_asked_new(b->graph->nranks, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(b->graph, r)) {
            tl_bytes_put(&asked.in[r], &b->role_of[r], sizeof *b->role_of);
            /* The rank's kinds are replaced by the classes' keys. */
            for (size_t k = 0; k < b->nkinds[r]; k++)
                tl_bytes_put(&asked.in[r], &b->classes[b->class_of_kind[r][k]].key, sizeof b->classes->key);
        }
    tl_ask_ranks(b->asker, TL_ASK_HOST_PIECES, &asked);
    tl_asked_free(&asked);
}
