/* absent.c - see absent.h: who stands in for whom (absent_ways.h), and in which collectives. */
#include "ways.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* ---- stand-ins ---- */

/* Whether all ways of `a` are among those of `b`; at[k]: the one of b that is the k-th of a.  Both in order. */
static bool is_like(const tl_own_way *a, size_t na, const tl_own_way *b, size_t nb, uint32_t *at)
{
    size_t k = 0, i = 0;
    for (; k < na && i < nb; i++)
        if (b[i].like == a[k].like)
            at[k++] = (uint32_t)i;
    return k == na;
}

/* Whether all of a group that have a trace are of one role. */
static bool one_role(const tl_absent_finding *f, const tl_group_ranks *ranks, int32_t *role)
{
    bool any = false;
    for (size_t k = 0; k < ranks->n; k++) {
        size_t at = tl_index_of(f->in->ranks, f->in->nranks, ranks->ranks[k]);
        if (at == f->in->nranks)
            continue;
        if (any && f->in->roles[at] != *role)
            return false;
        *role = f->in->roles[at];
        any = true;
    }
    return any;
}

/* As it is named, or that of the smallest of its groups that is of one. */
static bool absent_role(const tl_absent_finding *f, int32_t rank, const tl_own_way *own, size_t n, int32_t *role)
{
    size_t least = SIZE_MAX;
    if (tl_absent_role_of(f, rank, role))
        return true;
    for (size_t i = 0; i < n; i++) {
        int32_t two[2], of;
        const tl_group_ranks ranks = tl_absent_ranks_of(f, &f->ways[own[i].way], two);
        if (tl_absent_is_pair(tl_absent_meeting_at(f, &f->ways[own[i].way], 0)) || ranks.n >= least ||
            !one_role(f, &ranks, &of))
            continue;
        least = ranks.n;
        *role = of;
    }
    return least != SIZE_MAX;
}

/* How much of its role's work it did: nothing tells of a rank that has no trace, but one that needed less is none that
 * is late. */
static int64_t time_of(const tl_program *p)
{
    int64_t sum = 0;
    for (size_t s = 0; s < p->nsegments; s++)
        sum += p->segments[s].work_ns;
    return sum;
}

/* Of those that are like it the one that has recorded most, and of these the one that needed least time; TL_NONE. */
static uint32_t find_stand_in(const tl_absent_finding *f, int32_t rank, const tl_own_way *own, size_t n, uint32_t *at)
{
    int32_t role = -1;
    uint32_t best = TL_NONE;

    if (!absent_role(f, rank, own, n, &role))
        return TL_NONE;
    for (uint32_t r = 0; r < f->in->nranks; r++) {
        size_t first = 0,
               m = f->in->roles[r] == role ? tl_absent_ways_of(f->present.v, f->present.n, f->in->ranks[r], &first) : 0;
        if (m < n || !is_like(own, n, f->present.v + first, m, at))
            continue;
        const tl_program *p = &f->in->programs[r], *q = best != TL_NONE ? &f->in->programs[best] : NULL;
        if (q == NULL || p->ncomms > q->ncomms || (p->ncomms == q->ncomms && time_of(p) < time_of(q)))
            best = r;
    }
    return best;
}

/* ---- seats ---- */

static uint32_t comm_of(const tl_absent_finding *f, const tl_meeting *m, uint32_t rank)
{
    size_t low = m->first;
    TL_BISECT(low, m->first + m->n, mid, f->in->members[mid].rank < rank);
    return low < m->first + m->n && f->in->members[low].rank == rank ? f->in->members[low].comm : TL_NONE;
}

/* Behind those of one step, from the i-th on. */
static size_t end_of_step(const tl_absent_finding *f, const tl_way *w, size_t i)
{
    size_t to = i;
    while (to < w->n && tl_absent_meeting_at(f, w, to)->step == tl_absent_meeting_at(f, w, i)->step)
        to++;
    return to;
}

/* The k-th of one step in place of the k-th; where recordings begin in it, counted from the end. */
static bool seat_step(tl_absent_finding *f, uint32_t absent, const tl_way *own, size_t from, size_t to,
                      const tl_way *other, size_t first, size_t last)
{
    int32_t step = tl_absent_meeting_at(f, own, from)->step;
    size_t n = to - from < last - first ? to - from : last - first;

    if (to - from != last - first && (step < 0 || step == f->middle))
        return true;
    if (f->in->whole_steps && (step < 0 || to - from != own->usual || last - first != other->usual))
        return true;
    if (step < f->middle) {
        from = to - n;
        first = last - n;
    }
    for (size_t k = 0; k < n; k++) {
        const tl_meeting *m = tl_absent_meeting_at(f, own, from + k), *like = tl_absent_meeting_at(f, other, first + k);
        uint32_t comm = comm_of(f, like, f->out->stand_in[absent]);
        if (comm == TL_NONE || (!tl_absent_is_pair(m) && m->kind != like->kind))
            continue;
        if (!tl_vec_room(&f->seats))
            return false;
        f->seats.v[f->seats.n++] = (tl_absent_seat){ f->order[own->first + from + k], absent, comm };
    }
    return true;
}

static bool seat_way(tl_absent_finding *f, uint32_t absent, const tl_way *own, const tl_way *other)
{
    tl_map at = { 0 }; /* step -> where it begins in the other */
    bool whole = true;

    for (size_t i = 0; whole && i < other->n; i = end_of_step(f, other, i))
        if (tl_map_get(&at, (uint64_t)(int64_t)tl_absent_meeting_at(f, other, i)->step) == TL_MAP_NONE)
            whole = tl_map_put(&at, (uint64_t)(int64_t)tl_absent_meeting_at(f, other, i)->step, (uint32_t)i) == 0;
    for (size_t i = 0, to; whole && i < own->n; i = to) {
        to = end_of_step(f, own, i);
        uint64_t step = (uint64_t)(int64_t)tl_absent_meeting_at(f, own, i)->step;
        uint32_t first = tl_map_get(&at, step);
        if (first < other->n) /* once */
            whole = tl_map_put(&at, step, other->n) == 0 &&
                    seat_step(f, absent, own, i, to, other, first, end_of_step(f, other, first));
    }
    tl_map_free(&at);
    return whole;
}

/* A program with comms of its own. */
static bool copy_program(tl_absent_finding *f, uint32_t absent)
{
    uint32_t like = f->out->stand_in[absent];
    tl_program *p = &f->out->programs[absent];

    *p = f->in->programs[like];
    p->comms = tl_malloc((p->ncomms + 1) * sizeof *p->comms);
    if (p->comms == NULL)
        return false;
    memcpy(p->comms, f->in->programs[like].comms, p->ncomms * sizeof *p->comms);
    return true;
}

/* It is there when the last of the others is, and leaves with them; when it came is found by the replay. */
static void set_times(tl_absent_finding *f)
{
    for (size_t i = 0; i < f->seats.n; i++) {
        const tl_absent_seat *s = &f->seats.v[i];
        const tl_meeting *m = &f->in->meetings[s->meeting];
        int64_t offset = f->in->offset_ns[f->out->stand_in[s->absent]];
        tl_comm *c = &f->out->programs[s->absent].comms[s->comm];
        c->start_ns = tl_ns_between(m->last_start_ns, offset);
        c->end_ns = tl_ns_between(m->end_ns > m->last_start_ns ? m->end_ns : m->last_start_ns, offset);
    }
}

static int by_meeting(const void *a, const void *b)
{
    const tl_absent_seat *x = a, *y = b;
    return x->meeting != y->meeting ? TL_COMPARE(x->meeting, y->meeting) : TL_COMPARE(x->absent, y->absent);
}

static bool stand_in(tl_absent_finding *f, int32_t rank, uint32_t *at)
{
    size_t own_first, other_first, n = tl_absent_ways_of(f->absent.v, f->absent.n, rank, &own_first), m;
    const tl_own_way *own = f->absent.v + own_first;
    uint32_t like = find_stand_in(f, rank, own, n, at), absent = (uint32_t)f->out->n;

    if (like == TL_NONE)
        return true;
    m = tl_absent_ways_of(f->present.v, f->present.n, f->in->ranks[like], &other_first);
    const tl_own_way *other = f->present.v + other_first;
    is_like(own, n, other, m, at);
    f->out->ranks[absent] = rank;
    f->out->stand_in[absent] = like;
    f->out->n++;
    bool whole = copy_program(f, absent);
    for (size_t k = 0; whole && k < n; k++)
        whole = seat_way(f, absent, &f->ways[own[k].way], &f->ways[other[at[k]].way]);
    return whole;
}

/* ---- all ---- */

/* Whether any group lacks a rank: else there is nothing to look for. */
static bool any_absent(const tl_absent_input *in)
{
    for (size_t i = 0; i < in->nmeetings; i++) {
        const tl_meeting *m = &in->meetings[i];
        if (m->n < (tl_absent_is_pair(m) ? 2 : in->groups[m->group].n))
            return true;
    }
    return false;
}

static bool find(tl_absent_finding *f)
{
    int32_t *linking = NULL;
    size_t nlinking = 0;
    bool whole = tl_absent_find_middle(f) && tl_absent_list_ways(f) && tl_absent_list_linking(f, &linking, &nlinking);
    size_t most = f->in->nranks + TL_ABSENT_MORE;
    most = nlinking < most ? nlinking : most;
    uint32_t *at = NULL;

    f->out->nlinking = nlinking;
    if (whole && nlinking > 0) {
        at = tl_malloc((f->nways + 1) * sizeof *at);
        f->out->ranks = tl_malloc((most + 1) * sizeof *f->out->ranks);
        f->out->stand_in = tl_malloc((most + 1) * sizeof *f->out->stand_in);
        f->out->programs = tl_calloc(most + 1, sizeof *f->out->programs);
        whole = at != NULL && f->out->ranks != NULL && f->out->stand_in != NULL && f->out->programs != NULL &&
                tl_absent_list_own_ways(f, linking, nlinking);
    }
    for (size_t i = 0; whole && i < nlinking && f->out->n < most; i++)
        whole = stand_in(f, linking[i], at);
    if (whole) {
        set_times(f);
        if (f->seats.n > 1)
            qsort(f->seats.v, f->seats.n, sizeof *f->seats.v, by_meeting);
    }
    free(linking);
    free(at);
    return whole;
}

tl_status tl_absent_find(const tl_absent_input *input, tl_absent *out, tl_error *err)
{
    tl_absent_finding f = { .in = input, .out = out };
    bool whole = !any_absent(input) || find(&f);

    out->seats = f.seats.v;
    out->nseats = f.seats.n;
    free(f.ways);
    free(f.order);
    free(f.present.v);
    free(f.absent.v);
    return whole ? TL_OK : tl_fail_memory(err, "ranks without a trace");
}

void tl_absent_free(tl_absent *absent)
{
    for (size_t i = 0; absent->programs != NULL && i < absent->n; i++)
        free(absent->programs[i].comms);
    free(absent->ranks);
    free(absent->stand_in);
    free(absent->programs);
    free(absent->seats);
    *absent = (tl_absent){ 0 };
}
