/* additional.c - what a rank has that its peers do not have: pieces of work, and waits for its device.
 *
 *     peers    [ a ][ b ]c[ a ]c           c: collectives
 *     rank     [ a ][ b ][ b ][ b ]c[ a ]c
 *
 * All of b made shorter would spare time in the wrong places; so every stretch is compared by itself.
 */
#include "parts.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Something that a member of the role has in a stretch. */
typedef struct piece {
    int64_t ns;
    uint32_t class, step, segment, member, node;
    bool also; /* of a step that was cut: repaired like others */
} piece;

typedef struct pieces {
    TL_VEC(piece) list;
    int64_t *sums; /* [members] */
} pieces;

static int by_stretch(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->class != y->class)
        return TL_COMPARE(x->class, y->class);
    if (x->segment != y->segment)
        return TL_COMPARE(x->segment, y->segment);
    if (x->also != y->also)
        return x->also ? 1 : -1;
    if (x->step != y->step)
        return TL_COMPARE(x->step, y->step);
    if (x->member != y->member)
        return TL_COMPARE(x->member, y->member);
    return x->ns != y->ns ? -TL_COMPARE(x->ns, y->ns) : TL_COMPARE(x->node, y->node);
}

static bool add(pieces *p, piece one)
{
    if (!tl_vec_room(&p->list))
        return false;
    p->list.v[p->list.n++] = one;
    return true;
}

static void sort(pieces *p)
{
    if (p->list.n > 1)
        qsort(p->list.v, p->list.n, sizeof *p->list.v, by_stretch);
}

/* ---------------------------------------------------------------------------------------------------------- segments */

static bool list_work(const tl_baseline *b, uint32_t own, const bool *on, const bool *also, const bool *more, pieces *p)
{
    uint32_t role = b->role_of[own];
    const tl_graph *g = b->graph;
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->roles[role].n; i++) {
        uint32_t rank = b->members[b->roles[role].first + i];
        for (uint32_t v = g->first_node[rank]; ok && v < g->first_node[rank + 1]; v++) {
            uint32_t class = b->class_of[v], step = b->step_of[v];
            bool cut = also[step] && rank == own;
            size_t like = cut ? tl_whole_step_at(b, step) : step;
            if (class != TL_NONE && on[like] && more[class * b->nsteps + like])
                ok = add(p, (piece){ g->nodes[v].work_ns, class, 0, tl_segment_of(b, rank, v), i, v, cut }); /* all steps at once */
        }
    }
    return ok;
}

bool tl_repair_segments(const tl_baseline *b, uint32_t rank, const bool *on, const bool *also, const bool *more,
                        tl_changes *scenario)
{
    uint32_t role = b->role_of[rank], own = b->place_of[rank];
    size_t n = b->roles[role].n;
    pieces p = { .sums = tl_malloc((n + 1) * sizeof *p.sums) };
    bool ok = p.sums != NULL && list_work(b, rank, on, also, more, &p);

    if (ok)
        sort(&p);
    for (size_t i = 0, to; ok && i < p.list.n; i = to) {
        const piece *first = &p.list.v[i];
        for (size_t k = 0; k < n; k++)
            p.sums[k] = 0;
        for (to = i; to < p.list.n && p.list.v[to].class == first->class && p.list.v[to].segment == first->segment; to++)
            p.sums[p.list.v[to].member] += p.list.v[to].also ? 0 : p.list.v[to].ns;
        int64_t has = p.sums[own], usual = tl_usual(p.sums, n);
        for (size_t k = i; has > 0 && k < to; k++)
            if (p.list.v[k].member == own)
                scenario->work_ns[p.list.v[k].node] += tl_portion(p.list.v[k].ns, usual, has) - p.list.v[k].ns;
    }
    free(p.list.v);
    free(p.sums);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------- waits */

static bool list_waits(const tl_baseline *b, uint32_t own, const bool *on, const bool *also, pieces *p)
{
    const tl_graph *g = b->graph;
    uint32_t role = b->role_of[own];
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->roles[role].n; i++) {
        uint32_t rank = b->members[b->roles[role].first + i];
        for (uint32_t v = g->first_node[rank]; ok && v < g->first_node[rank + 1]; v++) {
            bool cut = also[b->step_of[v]] && rank == own;
            if ((cut || on[b->step_of[v]]) && tl_waited_ns(g, v) >= 0)
                ok = add(p, (piece){ tl_waited_ns(g, v), 0, b->step_of[v], tl_segment_of(b, rank, v), i, v, cut });
        }
    }
    return ok;
}

/* The end of the stretch of one step that begins there. */
static size_t end_of_stretch(const pieces *p, size_t first)
{
    size_t to = first;
    while (to < p->list.n && p->list.v[to].step == p->list.v[first].step && p->list.v[to].segment == p->list.v[first].segment)
        to++;
    return to;
}

/* How many are usual in the stretch [first, to); how many the member `own` has into *has. */
static int64_t usual_number(pieces *p, size_t first, size_t to, uint32_t own, size_t n, int64_t *has)
{
    for (size_t k = 0; k < n; k++)
        p->sums[k] = 0;
    for (size_t k = first; k < to; k++)
        p->sums[p->list.v[k].member]++;
    *has = p->sums[own];
    return tl_usual(p->sums, n);
}

bool tl_repair_waits(const tl_baseline *b, uint32_t rank, const bool *on, const bool *also, tl_changes *scenario)
{
    uint32_t own = b->place_of[rank];
    size_t n = b->roles[b->role_of[rank]].n;
    int64_t all = 0, dropped = 0; /* of the stretch in whole steps, which come first */
    pieces p = { .sums = tl_malloc((n + 1) * sizeof *p.sums) };
    bool ok = p.sums != NULL && list_waits(b, rank, on, also, &p);

    if (ok)
        sort(&p);
    for (size_t i = 0, to; ok && i < p.list.n; i = to) {
        const piece *first = &p.list.v[i];
        bool anew = i == 0 || p.list.v[i - 1].segment != first->segment;
        to = end_of_stretch(&p, i);
        int64_t has, usual = usual_number(&p, i, to, own, n, &has), more = tl_ns_max(0, has - usual);
        all = anew ? 0 : all;
        dropped = anew ? 0 : dropped;
        if (first->also)
            more = all > 0 ? tl_portion(has, dropped, all) : 0;
        all += has;
        dropped += more;
        for (size_t k = i; k < to; k++) /* longest first */
            if (p.list.v[k].member == own && more-- > 0)
                scenario->gone[p.list.v[k].node] = true; /* its edges: from its own beginning, and from what released it */
    }
    free(p.list.v);
    free(p.sums);
    return ok;
}

/* How many the member of the k-th has from there on. */
static size_t waits_of(const pieces *p, size_t k, size_t to)
{
    size_t end = k;
    while (end < to && p->list.v[end].member == p->list.v[k].member)
        end++;
    return end - k;
}

bool tl_surplus_waits(const tl_baseline *b, uint32_t role, bool *gone)
{
    size_t n = b->roles[role].n;
    pieces p = { .sums = tl_malloc((n + 1) * sizeof *p.sums) };
    bool *full = tl_calloc(b->nsteps + 1, sizeof *full), *none = tl_calloc(b->nsteps + 1, sizeof *none);
    bool ok = p.sums != NULL && full != NULL && none != NULL;

    for (size_t s = 0; ok && s < b->nsteps; s++)
        full[s] = !b->cut[s];
    ok = ok && list_waits(b, b->members[b->roles[role].first], full, none, &p);
    if (ok)
        sort(&p);
    for (size_t i = 0, to; ok && i < p.list.n; i = to) {
        to = end_of_stretch(&p, i);
        int64_t has = 0, usual = usual_number(&p, i, to, 0, n, &has);
        for (size_t k = i; k < to; k++) { /* a member's together, the longest first */
            has = k > i && p.list.v[k].member == p.list.v[k - 1].member ? has - 1 : (int64_t)waits_of(&p, k, to);
            gone[p.list.v[k].node] = has > usual;
        }
    }
    free(p.list.v);
    free(p.sums);
    free(full);
    free(none);
    return ok;
}
