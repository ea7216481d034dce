/* absent.c - see absent.h.
 *
 * A way is where collectives of one sort go: a group, or from one rank to another.  A rank knows its ways by what they
 * do in a step in the middle; two ranks are alike if the ways of one can be told among those of the other.
 */
#include "tlmpi/analysis/absent.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include <stdlib.h>
#include <string.h>

/* Its meetings: order[first .. first + n). */
typedef struct way {
    uint32_t first, n;
    uint64_t does;     /* in the middle step; 0: nothing */
    int64_t begins_ns; /* ... and when */
} way;

/* A way as one rank has it. */
typedef struct own_way {
    int32_t rank; /* number */
    uint32_t way;
    uint64_t like; /* equal for ways that do the same */
    int64_t begins_ns;
} own_way;

typedef struct finding {
    const tl_absent_input *in;
    tl_absent *out;
    way *ways;
    size_t nways;
    uint32_t *order;                 /* of meetings, by way */
    int32_t middle;                  /* the step in which ways are compared */
    TL_VEC(own_way) present, absent; /* by rank and likeness */
    TL_VEC(tl_absent_seat) seats;
} finding;

/* -------------------------------------------------------------------------------------------------------------- ways
 */

static int by_way(const void *meetings, uint32_t a, uint32_t b)
{
    const tl_meeting *x = (const tl_meeting *)meetings + a, *y = (const tl_meeting *)meetings + b;
    int order = TL_COMPARE(x->group, y->group);
    order = order != 0 ? order : TL_COMPARE(x->from, y->from);
    order = order != 0 ? order : TL_COMPARE(x->to, y->to);
    return order != 0 ? order : TL_COMPARE(a, b);
}

static bool same_way(const tl_meeting *a, const tl_meeting *b)
{
    return a->group == b->group && a->from == b->from && a->to == b->to;
}

static int ascending(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

/* The step in the middle of all collectives: recordings neither begin nor end in it. */
static bool find_middle(finding *f)
{
    int32_t *steps = tl_malloc((f->in->nmeetings + 1) * sizeof *steps);
    if (steps == NULL)
        return false;
    for (size_t i = 0; i < f->in->nmeetings; i++)
        steps[i] = f->in->meetings[i].step;
    qsort(steps, f->in->nmeetings, sizeof *steps, ascending);
    f->middle = steps[f->in->nmeetings / 2];
    free(steps);
    return true;
}

static const tl_meeting *meeting_at(const finding *f, const way *w, size_t k)
{
    return &f->in->meetings[f->order[w->first + k]];
}

static bool is_pair(const tl_meeting *m)
{
    return m->group < 0;
}

static void look_at_middle(const finding *f, way *w)
{
    for (size_t k = 0; k < w->n; k++) {
        const tl_meeting *m = meeting_at(f, w, k);
        if (m->step != f->middle)
            continue;
        if (w->does == 0)
            w->begins_ns = m->last_start_ns;
        w->does = tl_hash_mix(tl_hash_mix(w->does, m->kind),
                              tl_is_synchronising((tl_collective)m->kind) ? (uint64_t)m->bytes : 0) |
                  1;
    }
}

static bool list_ways(finding *f)
{
    size_t n = f->in->nmeetings;
    f->order = tl_malloc((n + 1) * sizeof *f->order);
    f->ways = tl_calloc(n + 1, sizeof *f->ways);
    if (f->order == NULL || f->ways == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        f->order[i] = i;
    if (!tl_sort_index(f->order, n, by_way, f->in->meetings))
        return false;
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && same_way(&f->in->meetings[f->order[to]], &f->in->meetings[f->order[i]]); to++)
            ;
        way *w = &f->ways[f->nways++];
        *w = (way){ .first = (uint32_t)i, .n = (uint32_t)(to - i) };
        look_at_middle(f, w);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- whose ways they are
 */

static uint32_t index_of(const int32_t *ranks, size_t n, int32_t rank)
{
    const int32_t *found = n > 0 ? (const int32_t *)bsearch(&rank, ranks, n, sizeof rank, ascending) : NULL;
    return found != NULL ? (uint32_t)(found - ranks) : TL_NONE;
}

/* The role of any rank; false when it is not known. */
static bool role_of(const finding *f, int32_t rank, int32_t *role)
{
    uint32_t at = index_of(f->in->ranks, f->in->nranks, rank);
    if (at != TL_NONE) {
        *role = f->in->roles[at];
        return true;
    }
    at = index_of(f->in->named, f->in->nnamed, rank);
    if (at != TL_NONE)
        *role = f->in->named_roles[at];
    return at != TL_NONE;
}

/* Of a pair its direction, and the role of the other. */
static uint64_t likeness(const finding *f, const way *w, int32_t rank)
{
    const tl_meeting *m = meeting_at(f, w, 0);
    int32_t role = -1;
    if (!is_pair(m))
        return tl_hash_mix(w->does, f->in->groups[m->group].n);
    role_of(f, m->from == rank ? m->to : m->from, &role);
    return tl_hash_mix(tl_hash_mix(1, m->from == rank), (uint64_t)(int64_t)role);
}

static bool add_way(const finding *f, const way *w, int32_t rank, own_way **v, size_t *n, size_t *cap)
{
    if (!tl_grow((void **)v, cap, *n + 1, sizeof **v))
        return false;
    (*v)[(*n)++] = (own_way){ rank, (uint32_t)(w - f->ways), likeness(f, w, rank), w->begins_ns };
    return true;
}

/* The ranks of a way: those of its group, or the two. */
static tl_group_ranks ranks_of(const finding *f, const way *w, int32_t two[2])
{
    const tl_meeting *m = meeting_at(f, w, 0);
    if (!is_pair(m))
        return f->in->groups[m->group];
    two[0] = m->from;
    two[1] = m->to;
    return (tl_group_ranks){ two, 2 };
}

/* Ranks without a trace that have two ways or more; their numbers ascending, the caller frees them. */
static bool list_linking(const finding *f, int32_t **out, size_t *n)
{
    tl_map counts = { 0 };
    TL_VEC(int32_t) linking = { 0 };
    bool whole = true;

    for (size_t i = 0; whole && i < f->nways; i++) {
        int32_t two[2];
        const tl_group_ranks ranks = ranks_of(f, &f->ways[i], two);
        for (size_t k = 0; whole && f->ways[i].does != 0 && k < ranks.n; k++) {
            if (index_of(f->in->ranks, f->in->nranks, ranks.ranks[k]) != TL_NONE)
                continue;
            uint32_t seen = tl_map_get(&counts, (uint64_t)(int64_t)ranks.ranks[k]);
            seen = seen == TL_MAP_NONE ? 0 : seen;
            whole = tl_map_put(&counts, (uint64_t)(int64_t)ranks.ranks[k], seen + 1) == 0;
            if (whole && seen == 1) {
                whole = tl_vec_room(&linking);
                if (whole)
                    linking.v[linking.n++] = ranks.ranks[k];
            }
        }
    }
    tl_map_free(&counts);
    if (linking.n > 1)
        qsort(linking.v, linking.n, sizeof *linking.v, ascending);
    *out = linking.v;
    *n = linking.n;
    return whole;
}

static int by_rank(const void *a, const void *b)
{
    const own_way *x = a, *y = b;
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->like, y->like);
    order = order != 0 ? order : TL_COMPARE(x->begins_ns, y->begins_ns);
    return order != 0 ? order : TL_COMPARE(x->way, y->way);
}

static bool list_own_ways(finding *f, const int32_t *linking, size_t nlinking)
{
    bool whole = true;
    for (size_t i = 0; whole && i < f->nways; i++) {
        const way *w = &f->ways[i];
        int32_t two[2];
        const tl_group_ranks ranks = ranks_of(f, w, two);
        for (size_t k = 0; whole && w->does != 0 && k < ranks.n; k++) {
            int32_t rank = ranks.ranks[k];
            if (index_of(f->in->ranks, f->in->nranks, rank) != TL_NONE)
                whole = add_way(f, w, rank, &f->present.v, &f->present.n, &f->present.cap);
            else if (index_of(linking, nlinking, rank) != TL_NONE)
                whole = add_way(f, w, rank, &f->absent.v, &f->absent.n, &f->absent.cap);
        }
    }
    if (f->present.n > 1)
        qsort(f->present.v, f->present.n, sizeof *f->present.v, by_rank);
    if (f->absent.n > 1)
        qsort(f->absent.v, f->absent.n, sizeof *f->absent.v, by_rank);
    return whole;
}

/* Those of one rank, of sorted ones; how many. */
static size_t ways_of(const own_way *v, size_t n, int32_t rank, size_t *first)
{
    size_t low = 0, high = n, m = 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    while (low + m < n && v[low + m].rank == rank)
        m++;
    *first = low;
    return m;
}

/* ---------------------------------------------------------------------------------------------------------- stand-ins
 */

/* Whether all ways of `a` are among those of `b`; at[k]: the one of b that is the k-th of a.  Both in order. */
static bool is_like(const own_way *a, size_t na, const own_way *b, size_t nb, uint32_t *at)
{
    size_t k = 0, i = 0;
    for (; k < na && i < nb; i++)
        if (b[i].like == a[k].like)
            at[k++] = (uint32_t)i;
    return k == na;
}

/* Whether all of a group that have a trace are of one role. */
static bool one_role(const finding *f, const tl_group_ranks *ranks, int32_t *role)
{
    bool any = false;
    for (size_t k = 0; k < ranks->n; k++) {
        uint32_t at = index_of(f->in->ranks, f->in->nranks, ranks->ranks[k]);
        if (at == TL_NONE)
            continue;
        if (any && f->in->roles[at] != *role)
            return false;
        *role = f->in->roles[at];
        any = true;
    }
    return any;
}

/* As it is named, or that of the smallest of its groups that is of one. */
static bool absent_role(const finding *f, const own_way *own, size_t n, int32_t *role)
{
    size_t least = SIZE_MAX;
    if (role_of(f, own[0].rank, role))
        return true;
    for (size_t i = 0; i < n; i++) {
        int32_t two[2], of;
        const tl_group_ranks ranks = ranks_of(f, &f->ways[own[i].way], two);
        if (is_pair(meeting_at(f, &f->ways[own[i].way], 0)) || ranks.n >= least || !one_role(f, &ranks, &of))
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
static uint32_t find_stand_in(const finding *f, const own_way *own, size_t n, uint32_t *at)
{
    int32_t role = -1;
    uint32_t best = TL_NONE;

    if (!absent_role(f, own, n, &role))
        return TL_NONE;
    for (uint32_t r = 0; r < f->in->nranks; r++) {
        size_t first = 0,
               m = f->in->roles[r] == role ? ways_of(f->present.v, f->present.n, f->in->ranks[r], &first) : 0;
        if (m < n || !is_like(own, n, f->present.v + first, m, at))
            continue;
        const tl_program *p = &f->in->programs[r], *q = best != TL_NONE ? &f->in->programs[best] : NULL;
        if (q == NULL || p->ncomms > q->ncomms || (p->ncomms == q->ncomms && time_of(p) < time_of(q)))
            best = r;
    }
    return best;
}

/* -------------------------------------------------------------------------------------------------------------- seats
 */

static uint32_t comm_of(const finding *f, const tl_meeting *m, uint32_t rank)
{
    uint32_t low = m->first, high = m->first + m->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (f->in->members[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->first + m->n && f->in->members[low].rank == rank ? f->in->members[low].comm : TL_NONE;
}

/* Behind those of one step, from the i-th on. */
static size_t end_of_step(const finding *f, const way *w, size_t i)
{
    size_t to = i;
    while (to < w->n && meeting_at(f, w, to)->step == meeting_at(f, w, i)->step)
        to++;
    return to;
}

/* The k-th of one step in place of the k-th; where recordings begin in it, counted from the end. */
static bool seat_step(finding *f, uint32_t absent, const way *own, size_t from, size_t to, const way *other,
                      size_t first, size_t last)
{
    int32_t step = meeting_at(f, own, from)->step;
    size_t n = to - from < last - first ? to - from : last - first;

    if (to - from != last - first && (step < 0 || step == f->middle))
        return true;
    if (step < f->middle) {
        from = to - n;
        first = last - n;
    }
    for (size_t k = 0; k < n; k++) {
        const tl_meeting *m = meeting_at(f, own, from + k), *like = meeting_at(f, other, first + k);
        uint32_t comm = comm_of(f, like, f->out->stand_in[absent]);
        if (comm == TL_NONE || (!is_pair(m) && m->kind != like->kind))
            continue;
        if (!tl_vec_room(&f->seats))
            return false;
        f->seats.v[f->seats.n++] = (tl_absent_seat){ f->order[own->first + from + k], absent, comm };
    }
    return true;
}

static bool seat_way(finding *f, uint32_t absent, const way *own, const way *other)
{
    tl_map at = { 0 }; /* step -> where it begins in the other */
    bool whole = true;

    for (size_t i = 0; whole && i < other->n; i = end_of_step(f, other, i))
        if (tl_map_get(&at, (uint64_t)(int64_t)meeting_at(f, other, i)->step) == TL_MAP_NONE)
            whole = tl_map_put(&at, (uint64_t)(int64_t)meeting_at(f, other, i)->step, (uint32_t)i) == 0;
    for (size_t i = 0, to; whole && i < own->n; i = to) {
        to = end_of_step(f, own, i);
        uint64_t step = (uint64_t)(int64_t)meeting_at(f, own, i)->step;
        uint32_t first = tl_map_get(&at, step);
        if (first < other->n) /* once */
            whole = tl_map_put(&at, step, other->n) == 0 &&
                    seat_step(f, absent, own, i, to, other, first, end_of_step(f, other, first));
    }
    tl_map_free(&at);
    return whole;
}

/* A program with comms of its own. */
static bool copy_program(finding *f, uint32_t absent)
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
static void set_times(finding *f)
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

static bool stand_in(finding *f, int32_t rank, uint32_t *at)
{
    size_t own_first, other_first, n = ways_of(f->absent.v, f->absent.n, rank, &own_first), m;
    const own_way *own = f->absent.v + own_first;
    uint32_t like = find_stand_in(f, own, n, at), absent = (uint32_t)f->out->n;

    if (like == TL_NONE)
        return true;
    m = ways_of(f->present.v, f->present.n, f->in->ranks[like], &other_first);
    const own_way *other = f->present.v + other_first;
    is_like(own, n, other, m, at);
    f->out->ranks[absent] = rank;
    f->out->stand_in[absent] = like;
    f->out->n++;
    bool whole = copy_program(f, absent);
    for (size_t k = 0; whole && k < n; k++)
        whole = seat_way(f, absent, &f->ways[own[k].way], &f->ways[other[at[k]].way]);
    return whole;
}

/* ---------------------------------------------------------------------------------------------------------------- all
 */

/* Whether any group lacks a rank: else there is nothing to look for. */
static bool any_absent(const tl_absent_input *in)
{
    for (size_t i = 0; i < in->nmeetings; i++) {
        const tl_meeting *m = &in->meetings[i];
        if (m->n < (is_pair(m) ? 2 : in->groups[m->group].n))
            return true;
    }
    return false;
}

static bool find(finding *f)
{
    int32_t *linking = NULL;
    size_t nlinking = 0;
    bool whole = find_middle(f) && list_ways(f) && list_linking(f, &linking, &nlinking);
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
                list_own_ways(f, linking, nlinking);
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
    finding f = { .in = input, .out = out };
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
