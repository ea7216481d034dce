/* groups.c - decides the process groups of a job from the memberships that its ranks report.
 *
 *     same members, one name on each rank       one group: names may be numbered per process
 *     same members, several names on a rank     one group per name: each has its own communicator and sequence numbers
 *     members unknown (inferred)                all ranks with the same stream and kind, split by when they end
 *                                               (groups_infer.c)
 */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* The scatter of the ends of one collective, in ns, and the drift of clocks, as 1 part in CLOCKS_DRIFT. */
#define ENDS_AGREE_NS INT64_C(200000)
#define CLOCKS_DRIFT  INT64_C(10000)

/* by_members, by_key: memberships that may be one group are adjacent. */
TL_ORDER_BY(by_members, tl_membership, inferred, members_key, rank, name_key)
TL_ORDER_BY(by_key, tl_membership, inferred, members_key)
TL_ORDER_BY(by_rank, tl_membership, rank, members_key)

/* ------------------------------------------------------------------------------------------------------- the table */

static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const tl_deciding *d = context;
    int order = TL_COMPARE(d->fates[a].group_key, d->fates[b].group_key);
    return order != 0 ? order : by_members(d->m, a, b);
}

/* One group before it has a number: its row, and its memberships order[from, to). */
typedef struct draft {
    tl_group_row row;
    size_t from, to;
    int32_t first_rank;
    uint32_t most; /* largest number of participants of one rank */
    bool collects; /* it has collectives other than sends and receives */
    uint64_t key;
} draft;

static int by_number(const void *a, const void *b)
{
    const draft *x = a, *y = b;
    int order = TL_COMPARE(x->row.inferred, y->row.inferred);
    if (order == 0)
        order = TL_COMPARE(y->row.size >= 0 ? y->row.size : y->row.seen, x->row.size >= 0 ? x->row.size : x->row.seen);
    if (order == 0)
        order = TL_COMPARE(x->first_rank, y->first_rank);
    if (order == 0)
        order = memcmp(x->row.ranks, y->row.ranks, sizeof x->row.ranks);
    if (order == 0)
        order = memcmp(x->row.name, y->row.name, sizeof x->row.name);
    return order != 0 ? order : TL_COMPARE(x->key, y->key);
}

/* Sets hosts to the number of distinct hosts, -1 if one is unknown, and span: INTRA_NODE only if all ranks of the group
 * are on one known host; INTER_NODE if there are two hosts, even if ranks are missing. */
static void set_hosts(draft *g, const tl_deciding *d, int32_t *room)
{
    size_t n = g->to - g->from;
    for (size_t i = 0; i < n; i++) {
        const tl_rank_clock *clock = tl_rank_clock_of(d->job, d->m[d->order[g->from + i]].rank);
        room[i] = clock != NULL ? clock->host : -1;
    }
    tl_int_sort(room, n);
    g->row.hosts = n > 0 && room[0] < 0 ? -1 : 0;
    for (size_t i = 0; g->row.hosts >= 0 && i < n; i++)
        g->row.hosts += i == 0 || room[i] != room[i - 1];
    bool all_there = g->row.size < 0 || g->row.size == g->row.seen;
    g->row.span = g->row.hosts > 1                 ? TL_SPAN_INTER_NODE
                  : g->row.hosts == 1 && all_there ? TL_SPAN_INTRA_NODE
                                                   : TL_SPAN_UNKNOWN;
}

/* Whether the distance between the ends of two memberships is constant, as that of clocks is.  Ranks that began to
 * record at different times may have as many collectives, but the k-th of one is the (k+1)-th of the other: the
 * distance of their ends varies with the time between collectives. */
static bool end_together(const tl_membership *a, const tl_membership *b)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    int64_t span_ns = tl_ns_between(a->ends_ns[2], a->ends_ns[0]);
    for (size_t i = 0; i < sizeof a->ends_ns / sizeof a->ends_ns[0] && a->nends > 0; i++) {
        int64_t apart_ns = tl_ns_between(a->ends_ns[i], b->ends_ns[i]);
        least = tl_ns_min(least, apart_ns);
        most = tl_ns_max(most, apart_ns);
    }
    return a->nends == 0 || tl_ns_between(most, least) <= ENDS_AGREE_NS + span_ns / CLOCKS_DRIFT;
}

/* Returns the draft of the group order[from, to); sets by_seq and by_loose_launch of its members' fates. */
static draft draft_group(const tl_deciding *d, size_t from, size_t to, int32_t *room)
{
    const tl_membership *first = &d->m[d->order[from]];
    draft g = { .from = from, .to = to, .first_rank = first->rank, .key = d->fates[d->order[from]].group_key };
    bool by_seq = true, alike = true;
    size_t n = 0;

    g.row.inferred = first->inferred;
    g.row.size = first->size;
    memcpy(g.row.name, first->name, sizeof first->name);
    memcpy(g.row.description, first->desc, sizeof first->desc);
    memcpy(g.row.ranks, first->ranks, sizeof first->ranks);
    for (size_t i = from; i < to; i++) {
        const tl_membership *m = &d->m[d->order[i]];
        if (n == 0 || room[n - 1] != m->rank)
            room[n++] = m->rank;
        g.most = m->n > g.most ? m->n : g.most;
        g.collects |= m->collects;
        by_seq = by_seq && m->nseq == m->nlaunched;
        alike = alike && m->nloose == first->nloose && m->loose_key == first->loose_key && end_together(m, first);
    }
    g.row.seen = (int32_t)n;
    if (first->size < 0 && d->job->all_traced && (n > 1 || d->job->nranks == 1)) /* no untraced rank is left */
        g.row.size = g.row.seen;
    if (first->inferred)
        tl_ranks_text(room, n, g.row.ranks, sizeof g.row.ranks);
    set_hosts(&g, d, room);
    for (size_t i = from; i < to; i++) {
        d->fates[d->order[i]].by_seq = by_seq;
        d->fates[d->order[i]].by_loose_launch = alike;
    }
    return g;
}

static void number_groups(tl_deciding *d, tl_table *groups, tl_group_fact **facts)
{
    TL_VEC(draft) drafts = { 0 };
    int32_t *room = tl_malloc((d->n + 1) * sizeof *room);
    tl_sort_index(d->order, d->n, by_group, d);

    for (size_t from = 0, to; from < d->n; from = to) {
        for (to = from + 1; to < d->n && d->fates[d->order[to]].group_key == d->fates[d->order[from]].group_key; to++)
            ;
        tl_vec_push(&drafts, draft_group(d, from, to, room));
    }
    tl_vec_sort(&drafts, by_number);
    *facts = tl_calloc(drafts.n + 1, sizeof **facts);
    for (size_t g = 0; g < drafts.n; g++) {
        const tl_group_row *row = &drafts.v[g].row;
        (*facts)[g] = (tl_group_fact){ .size = row->size,
                                       .seen = row->seen,
                                       .most = drafts.v[g].most,
                                       .inferred = (uint8_t)row->inferred,
                                       .span = row->span,
                                       .collects = drafts.v[g].collects,
                                       .all_traced = d->job->all_traced };
        drafts.v[g].row.group = (int32_t)g;
        for (size_t i = drafts.v[g].from; i < drafts.v[g].to; i++)
            d->fates[d->order[i]].group = (int32_t)g;
        tl_table_append(groups, &drafts.v[g].row, 1);
    }
    free(drafts.v);
    free(room);
}

void tl_groups_decide(const tl_membership *memberships, size_t n, const tl_job_facts *job, const tl_sighting *sightings,
                      size_t nsightings, tl_fate *fates, tl_table *groups, tl_group_fact **facts)
{
    tl_deciding d = { .m = memberships,
                      .job = job,
                      .n = n,
                      .sightings = sightings,
                      .first_sighting = tl_malloc((n + 1) * sizeof *d.first_sighting),
                      .order = tl_sorted_index(n, by_members, memberships),
                      .by_rank = tl_sorted_index(n, by_rank, memberships),
                      .fates = fates };

    for (size_t i = 0, s = 0; i <= n; i++) {
        while (s < nsightings && (size_t)sightings[s].membership < i)
            s++;
        d.first_sighting[i] = s;
    }
    TL_GROUPS (from, to, d.order, n, by_key, memberships) {
        if (memberships[d.order[from]].inferred)
            tl_groups_infer(&d, from, to);
        else {
            bool several = false; /* a rank has several names for these members: each is a communicator of its own */
            for (size_t i = from + 1; i < to; i++)
                several |= d.m[d.order[i]].rank == d.m[d.order[i - 1]].rank;
            for (size_t i = from; i < to; i++) {
                const tl_membership *m = &d.m[d.order[i]];
                d.fates[d.order[i]].group_key = tl_hash_mix(m->members_key, several ? m->name_key : 0);
            }
        }
    }
    number_groups(&d, groups, facts);
    free(d.first_sighting);
    free(d.order);
    free(d.by_rank);
}
