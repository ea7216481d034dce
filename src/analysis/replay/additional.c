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

/* Of one member of the role; all steps at once. */
static bool list_work(tl_changes *c, uint32_t own, const bool *on, const bool *also, const bool *more, pieces *p)
{
    const tl_baseline *b = c->b;
    bool ok = true;
    tl_changes_compare(c);
    for (uint32_t v = 0; ok && v < c->open.n; v++) {
        uint32_t class = c->class_of[v], step = c->step_of[v], member = b->place_of[c->rank];
        bool cut = also[step] && member == own;
        size_t like = cut ? tl_whole_step_at(b, step) : step;
        if (class != TL_NONE && on[like] && more[class * b->nsteps + like])
            ok = add(p, (piece){ c->open.nodes[v].work_ns, class, 0, tl_segment_of(b, c->rank, &c->open.nodes[v]), member, v, cut });
    }
    return ok;
}

static bool list_all_work(tl_changes *own, const bool *on, const bool *also, const bool *more, pieces *p)
{
    const tl_baseline *b = own->b;
    const tl_role_ranks *role = &b->roles[b->role_of[own->rank]];
    uint32_t place = b->place_of[own->rank];
    tl_changes peer = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < role->n; i++) {
        if (i != place && !tl_changes_open(b, b->members[role->first + i], &peer))
            ok = false;
        else
            ok = list_work(i == place ? own : &peer, place, on, also, more, p);
    }
    tl_changes_free(&peer);
    return ok;
}

bool tl_repair_segments(tl_changes *changes, const bool *on, const bool *also, const bool *more)
{
    const tl_baseline *b = changes->b;
    uint32_t own = b->place_of[changes->rank];
    size_t n = b->roles[b->role_of[changes->rank]].n;
    pieces p = { .sums = tl_malloc((n + 1) * sizeof *p.sums) };
    bool ok = p.sums != NULL && list_all_work(changes, on, also, more, &p);

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
                changes->less_ns[p.list.v[k].node] += p.list.v[k].ns - tl_portion(p.list.v[k].ns, usual, has);
    }
    free(p.list.v);
    free(p.sums);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------- waits */

/* Those of the rank in such steps. */
static bool list_waits(const tl_changes *c, const bool *on, const bool *also, pieces *p)
{
    bool ok = true;
    for (uint32_t v = 0; ok && v < c->open.n; v++) {
        int64_t waited_ns = tl_waited_ns(&c->open, v);
        uint32_t step = c->step_of[v];
        if ((on[step] || also[step]) && waited_ns >= 0)
            ok = add(p, (piece){ waited_ns, 0, step, tl_segment_of(c->b, c->rank, &c->open.nodes[v]), 0, v, also[step] });
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

/* How many the rank's role usually has in that stretch. */
static int64_t usual_number(const tl_changes *c, const piece *of, pieces *p)
{
    const tl_baseline *b = c->b;
    uint32_t role = b->role_of[c->rank], class = tl_class_find(b, TL_FAMILY_WAIT, role, of->segment);
    for (size_t i = 0; i < b->roles[role].n; i++)
        p->sums[i] = class != TL_NONE ? b->classes[class].pieces[i * b->nsteps + of->step] : 0;
    return tl_usual(p->sums, b->roles[role].n);
}

bool tl_repair_waits(tl_changes *c, const bool *on, const bool *also)
{
    const tl_baseline *b = c->b;
    int64_t all = 0, dropped = 0; /* of the stretch in whole steps, which come first */
    pieces p = { .sums = tl_malloc((b->roles[b->role_of[c->rank]].n + 1) * sizeof *p.sums) };
    bool ok = p.sums != NULL && list_waits(c, on, also, &p);

    if (ok)
        sort(&p);
    for (size_t i = 0, to; ok && i < p.list.n; i = to) {
        const piece *first = &p.list.v[i];
        bool anew = i == 0 || p.list.v[i - 1].segment != first->segment;
        to = end_of_stretch(&p, i);
        int64_t has = (int64_t)(to - i), more = first->also ? 0 : tl_ns_max(0, has - usual_number(c, first, &p));
        all = anew ? 0 : all;
        dropped = anew ? 0 : dropped;
        if (first->also)
            more = all > 0 ? tl_portion(has, dropped, all) : 0;
        all += has;
        dropped += more;
        for (size_t k = i; k < to && more-- > 0; k++) /* longest first */
            c->gone[p.list.v[k].node] = true; /* its edges: from its own beginning, and from what released it */
    }
    free(p.list.v);
    free(p.sums);
    return ok;
}

bool tl_surplus_waits(tl_changes *c)
{
    bool *full = tl_calloc(c->b->nsteps + 1, sizeof *full), *none = tl_calloc(c->b->nsteps + 1, sizeof *none);
    for (size_t s = 0; full != NULL && s < c->b->nsteps; s++)
        full[s] = !c->b->cut[s];
    bool ok = full != NULL && none != NULL && tl_repair_waits(c, full, none);
    free(full);
    free(none);
    return ok;
}
