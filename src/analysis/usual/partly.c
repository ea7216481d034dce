/* partly.c - a rank that did in a step nearly what the others of its role did.
 *
 *     others   | c0 |a|  c1  |b| c2 |c| c3 |     b, c: collectives that it shares with them.  What lies between the
 *     rank 2   |      c       |b| c2 |c| c3 |    same two is compared piece by piece, the rest by its sum: here that
 *                                                before b with c0 and c1
 */
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>
#include <string.h>

typedef struct matching {
    tl_whatif *w;
    const tl_block *b, *v; /* the rank's, and n that are alike */
    size_t n;
    uint32_t *at;     /* by cell of b: that of v that begins and ends with the same collectives, TL_NONE */
    bool *taken;      /* by cell of v */
    int64_t *numbers; /* [n], scratch */
} matching;

static tl_cell *cell_of(const matching *m, const tl_block *block, size_t k)
{
    return &m->w->cells[block->first + k];
}

static bool find_pairs(matching *m)
{
    tl_map ends = { 0 };
    uint32_t before = TL_NONE; /* where the collective that ends the cell before stands */
    bool whole = true;

    for (uint32_t k = 0; whole && k < m->v->n; k++)
        if (cell_of(m, m->v, k)->collective != TL_NONE)
            whole = tl_map_put(&ends, cell_of(m, m->v, k)->collective, k) == 0;
    for (uint32_t k = 0; whole && k < m->b->n; k++) {
        uint32_t collective = cell_of(m, m->b, k)->collective;
        uint32_t end = collective != TL_NONE ? tl_map_get(&ends, collective) : TL_MAP_NONE;
        bool last = collective == TL_NONE && k + 1 == m->b->n && cell_of(m, m->v, m->v->n - 1)->collective == TL_NONE;
        if (last)
            end = (uint32_t)m->v->n - 1;
        bool begins = k == 0 ? end == 0 : before != TL_MAP_NONE && end == before + 1;
        m->at[k] = end != TL_MAP_NONE && begins ? end : TL_NONE;
        if (m->at[k] != TL_NONE)
            m->taken[end] = true;
        before = end;
    }
    tl_map_free(&ends);
    return whole;
}

static int64_t time_of(const tl_cell *cell, bool host)
{
    return host ? cell->host_ns : cell->work_ns;
}

static void set_usual(tl_cell *cell, bool host, int64_t ns)
{
    *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = ns;
    *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = ns;
}

/* What is left of b against the same of the others, each of its cells in proportion. */
static void compare_rest(matching *m, bool host)
{
    int64_t own = 0;

    for (size_t k = 0; k < m->b->n; k++)
        own += m->at[k] == TL_NONE ? time_of(cell_of(m, m->b, k), host) : 0;
    for (size_t i = 0; i < m->n; i++) {
        m->numbers[i] = 0;
        for (size_t k = 0; k < m->v[i].n; k++)
            m->numbers[i] += m->taken[k] ? 0 : time_of(cell_of(m, &m->v[i], k), host);
    }
    int64_t median = tl_median(m->numbers, m->n), less = own < median ? own : median;
    for (size_t k = 0; k < m->b->n; k++) {
        tl_cell *cell = cell_of(m, m->b, k);
        int64_t ns = time_of(cell, host);
        if (m->at[k] != TL_NONE)
            continue;
        *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = tl_portion(ns, less, own);
        *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = tl_portion(ns, median, own);
    }
}

static void compare(matching *m)
{
    for (size_t k = 0; k < m->b->n; k++) {
        tl_cell *cell = cell_of(m, m->b, k);
        if (m->at[k] == TL_NONE)
            continue;
        for (int host = 0; host < 2; host++) {
            for (size_t i = 0; i < m->n; i++)
                m->numbers[i] = time_of(cell_of(m, &m->v[i], m->at[k]), host);
            set_usual(cell, host, tl_median(m->numbers, m->n));
            *(host ? &cell->host_others_ns : &cell->work_others_ns) = tl_median(m->numbers, m->n);
        }
        const tl_cell *like = cell_of(m, m->v, m->at[k]);
        cell->medians = like->medians;
        memcpy(cell->waits_mid, like->waits_mid, sizeof cell->waits_mid);
    }
    compare_rest(m, false);
    compare_rest(m, true);
}

bool tl_whatif_compare_partly(tl_whatif *w, const tl_block *b, const tl_block *v, size_t n)
{
    matching m = { .w = w, .b = b, .v = v, .n = n };

    m.at = tl_malloc((b->n + 1) * sizeof *m.at);
    m.taken = tl_calloc(v->n + 1, sizeof *m.taken);
    m.numbers = tl_malloc((n + 1) * sizeof *m.numbers);
    bool whole = m.at != NULL && m.taken != NULL && m.numbers != NULL && find_pairs(&m);
    if (whole)
        compare(&m);
    free(m.at);
    free(m.taken);
    free(m.numbers);
    return whole;
}
