/* ends.c - see compare.h: steps in which recordings begin or end.
 *
 *     rank 0        |a| c1 |b| c2 |       recordings begin in the step: its cells are counted from its end, as far as
 *     rank 1   | c0 |a|  c1  |b|  c2  |   each rank has them
 */
#include "compare.h"
#include "tlmpi/base/stats.h"

static size_t whole_cells(const tl_block *b)
{
    size_t cut = (size_t)b->no_front + (size_t)b->no_back;
    return b->n > cut ? b->n - cut : 0;
}

static bool is_sent(uint8_t kind)
{
    return tl_is_point_to_point((tl_collective)kind);
}

/* What was launched before the recording may have no kind, or that of its kernel's name: any send or receive. */
static bool may_be_same(uint8_t a, uint8_t b)
{
    return a == b || a == TL_COLL_UNKNOWN || b == TL_COLL_UNKNOWN ||
           (is_sent(a) && is_sent(b) && (a == TL_SEND_RECV || b == TL_SEND_RECV));
}

/* Whether the cells that both have whole end with the same collectives. */
static bool agree(const tl_comparing *c, const tl_block *a, const tl_block *b, bool back)
{
    size_t n = whole_cells(a) < whole_cells(b) ? whole_cells(a) : whole_cells(b);
    for (size_t k = 0; k < n; k++)
        if (!may_be_same(tl_cell_at(c, a, k, back)->kind, tl_cell_at(c, b, k, back)->kind))
            return false;
    return true;
}

/* Whether a has no more cells than b, and all but the last, which may be cut, end with the same collectives. */
static bool is_beginning(const tl_comparing *c, const tl_block *a, const tl_block *b)
{
    for (size_t k = 0; k + 1 < a->n; k++)
        if (!may_be_same(tl_cell_at(c, a, k, false)->kind, tl_cell_at(c, b, k, false)->kind))
            return false;
    return a->n <= b->n;
}

void tl_end_in_turn(const tl_comparing *c, tl_block *v, size_t n)
{
    size_t longest = 0;
    bool differ = false;

    for (size_t i = 0; i < n; i++) {
        differ = differ || v[i].n != v[0].n;
        longest = v[i].n > v[longest].n ? i : longest;
    }
    for (size_t i = 0; i < n; i++)
        if (!differ || (!v[i].last && v[i].n < v[longest].n) || v[i].step == INT64_MIN ||
            !is_beginning(c, &v[i], &v[longest]))
            return;
    for (size_t i = 0; i < n; i++)
        v[i].no_back = v[i].last;
}

/* Where the recording of a block's rank begins (so much less is earlier) or ends (more is later). */
static int64_t reach(const tl_comparing *c, const tl_block *b, bool back)
{
    const tl_program *p = &c->w->in.programs[b->rank];
    return back ? -(p->start_ns + tl_whatif_offset(c->w, b->rank)) : p->end_ns + tl_whatif_offset(c->w, b->rank);
}

/* A cell in which the recording begins or ends is shorter than it was: what it still has more than any other is a
 * surplus, but for what it was recorded longer than any other. */
static void compare_edge(tl_comparing *c, const tl_block *own, const tl_block *v, size_t n, bool back)
{
    size_t k = whole_cells(own);
    int64_t work = -1, host = -1, longest = INT64_MIN;

    if (own->n <= k)
        return;
    tl_cell *cell = tl_cell_at(c, own, k, back);
    for (size_t i = 0; i < n; i++) {
        if (v[i].first == own->first || v[i].n <= k || !may_be_same(tl_cell_at(c, &v[i], k, back)->kind, cell->kind))
            continue;
        const tl_cell *other = tl_cell_at(c, &v[i], k, back);
        work = other->work_ns > work ? other->work_ns : work;
        host = other->host_ns > host ? other->host_ns : host;
        longest = tl_ns_max(longest, reach(c, &v[i], back));
    }
    if (work >= 0) {
        int64_t longer = tl_ns_max(0, reach(c, own, back) - longest);
        work += longer;
        host += longer;
        cell->work_peer_ns = cell->work_mid_ns = work < cell->work_ns ? work : cell->work_ns;
        cell->host_peer_ns = cell->host_mid_ns = host < cell->host_ns ? host : cell->host_ns;
    }
}

bool tl_compare_cut(tl_comparing *c, const tl_block *v, size_t n)
{
    size_t fronts = 0, backs = 0, ncommon = 0;
    const tl_block *longest = NULL;

    for (size_t i = 0; i < n; i++) {
        fronts += v[i].no_front;
        backs += v[i].no_back;
    }
    bool back = fronts >= backs;
    for (size_t i = 0; i < n; i++)
        if (!(back ? v[i].no_back : v[i].no_front) && (longest == NULL || whole_cells(&v[i]) > whole_cells(longest)))
            longest = &v[i];
    for (size_t i = 0; longest != NULL && i < n; i++)
        if (!(back ? v[i].no_back : v[i].no_front) && agree(c, &v[i], longest, back))
            c->common[ncommon++] = v[i];
    for (size_t i = 0; i < ncommon; i++)
        compare_edge(c, &c->common[i], c->common, ncommon, back);
    for (size_t k = 0; longest != NULL && k < whole_cells(longest); k++) {
        size_t have = 0;
        for (size_t i = 0; i < ncommon; i++)
            if (whole_cells(&c->common[i]) > k)
                c->common[have++] = c->common[i]; /* those with fewer cells are done */
        ncommon = have;
        if (ncommon >= 2 && !tl_compare_cells(c, c->common, ncommon, k, back))
            return false;
    }
    tl_balance_all(c, v, n);
    return true;
}
