/* host_pieces.c - what the same piece of host work usually takes: that before the launch at one position of one
 * sequence. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

void tl_host_pieces_list(const tl_open_rank *o, tl_frame *f, uint32_t role, uint32_t held, tl_host_pieces *out)
{
    free(f->baseline_ns);
    f->baseline_ns = tl_calloc(f->nhost_pieces + 1, sizeof *f->baseline_ns);
    tl_grow((void **)&out->v, &out->cap, out->n + f->nhost_pieces, sizeof *out->v);
    for (uint32_t v = 0, at = 0; v < o->n; v++)
        if (tl_is_host_piece(&o->nodes[v]))
            out->v[out->n++] = (tl_host_piece){ .position = tl_hash_mix(
                                                    tl_hash_mix(o->nodes[v].key, (uint32_t)o->nodes[v].step), role),
                                                .ns = o->nodes[v].work_ns,
                                                .held = held,
                                                .at = at++ };
}

static int by_position(const void *context, uint32_t a, uint32_t b)
{
    const tl_host_piece *v = context;
    return TL_COMPARE(v[a].position, v[b].position);
}

/* Positions are hashes: pieces fall into as many parts of about the same size as some bits of them tell apart. */
enum { PER_PART = 64 };

/* index[n] in order of parts; ends[parts + 1] gets where each begins. */
static void scatter(const tl_host_pieces *p, unsigned bits, uint32_t *index, uint32_t *ends)
{
    for (size_t i = 0; i < p->n; i++)
        ends[p->v[i].position >> (64 - bits)]++;
    for (size_t bucket = 1; bucket <= (size_t)1 << bits; bucket++)
        ends[bucket] += ends[bucket - 1];
    for (size_t i = p->n; i-- > 0;)
        index[--ends[p->v[i].position >> (64 - bits)]] = (uint32_t)i;
}

/* Sets ns of each piece to the median of pieces at its position; 0: it is the only one.  index: by position. */
static void find_baseline(tl_host_piece *v, const uint32_t *index, size_t n, int64_t *ns)
{
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && v[index[to]].position == v[index[i]].position; to++)
            ns[to - i] = v[index[to]].ns;
        int64_t baseline = to - i > 1 ? tl_baseline_median(ns, to - i) : 0;
        for (size_t k = i; k < to; k++)
            v[index[k]].ns = baseline;
    }
}

void tl_host_pieces_compare(tl_host_pieces *p)
{
    unsigned bits = 1;
    while (bits < 32 && p->n >> bits > PER_PART)
        bits++;
    size_t buckets = (size_t)1 << bits, most = 0;
    uint32_t *ends = tl_calloc(buckets + 1, sizeof *ends), *index = tl_malloc((p->n + 1) * sizeof *index);
    tl_mem_indexable(p->n);
    scatter(p, bits, index, ends);
    for (size_t bucket = 0; bucket < buckets; bucket++)
        most = ends[bucket + 1] - ends[bucket] > most ? ends[bucket + 1] - ends[bucket] : most;
    int64_t *ns = tl_malloc((most + 1) * sizeof *ns);
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        size_t n = ends[bucket + 1] - ends[bucket];
        tl_sort_index(index + ends[bucket], n, by_position, p->v);
        find_baseline(p->v, index + ends[bucket], n, ns);
    }
    free(ends);
    free(index);
    free(ns);
}

/* The key of the class of each of its kinds. */
static void put_keys(const tl_baseline *b, size_t rank, tl_bytes *out)
{
    for (size_t k = 0; k < b->nkinds[rank]; k++)
        tl_bytes_put(out, &b->classes[b->class_of_kind[rank][k]].key, sizeof b->classes->key);
}

void tl_baseline_host_pieces(const tl_baseline *b)
{
    tl_asked asked;
    tl_asked_new(b->graph->nranks, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_graph_has(b->graph, r)) {
            tl_bytes_put(&asked.in[r], &b->role_of[r], sizeof *b->role_of);
            put_keys(b, r, &asked.in[r]);
        }
    tl_ask_ranks(b->asker, TL_ASK_HOST_PIECES, &asked);
    tl_asked_free(&asked);
}
