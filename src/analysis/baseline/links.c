/* links.c - lists links (ranks between which data move) and their sorts. */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/facts.h"
#include <string.h>

typedef struct listing {
    tl_baseline *out;
    const tl_link_input *in;
    tl_map number_of; /* link by group, and for a pair by its two ranks */
    tl_map group_row; /* by group: its row */
    TL_VEC(tl_link_ranks) links;
    TL_VEC(uint32_t) members;
} listing;

/* Whether a link's ranks are on one host. */
typedef enum span { SPAN_UNKNOWN, SPAN_HOST, SPAN_HOSTS } span;

static const tl_group_row *group_of(const listing *l, int32_t group)
{
    uint32_t row = tl_map_get(&l->group_row, (uint32_t)group);
    return row != TL_MAP_NONE ? tl_table_row(l->in->groups, row) : NULL;
}

/* ------------------------------------------------------------------------------------------------------------ links */

/* Whether all members of the collective have a trace and fit.  A group of unknown size consists of the ranks seen in
 * it, unless a row's doubt is that a member has no trace. */
static bool is_whole(const listing *l, const tl_late_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!rows[i].fits || rows[i].doubt == TL_COMM_DOUBT_NO_TRACE ||
            tl_index_of(l->in->ranks, l->out->graph->nranks, rows[i].rank) == l->out->graph->nranks)
            return false;
    if (rows[0].pair)
        return n == 2;
    const tl_group_row *group = group_of(l, rows[0].group);
    return group != NULL && n > 1 && n == (size_t)(group->size > 0 ? group->size : group->seen);
}

/* Returns the key of a link: that of its group, or of the unordered pair of ranks. */
static uint64_t link_key(const tl_late_row *rows)
{
    uint64_t key = tl_hash_mix(1, (uint64_t)(uint32_t)rows[0].group);
    if (rows[0].pair) {
        uint64_t a = (uint32_t)rows[0].rank, b = (uint32_t)rows[1].rank;
        key = tl_hash_mix(tl_hash_mix(key, 1 + (a < b ? a : b)), a < b ? b : a);
    }
    return key;
}

static void add_link(listing *l, const tl_late_row *rows, size_t n)
{
    tl_link_ranks link = {
        .group = rows[0].group, .first = (uint32_t)l->members.n, .n = (uint32_t)n, .pair = rows[0].pair
    };
    const tl_group_row *group = group_of(l, link.group);
    link.guessed = group != NULL && group->inferred && (link.pair || tl_is_point_to_point((tl_collective)rows[0].kind));
    for (size_t i = 0; i < n; i++) {
        tl_vec_room(&l->members);
        uint32_t r = (uint32_t)tl_index_of(l->in->ranks, l->out->graph->nranks, rows[i].rank);
        size_t at = l->members.n++;
        for (; at > link.first && l->members.v[at - 1] > r; at--)
            l->members.v[at] = l->members.v[at - 1];
        l->members.v[at] = r;
    }
    tl_vec_push(&l->links, link);
}

/* Lists the links of all meetings; meetings and rows are in the same order of collectives. */
static void list_links(listing *l)
{
    const tl_job_graph *g = l->out->graph;
    size_t i = 0;

    for (size_t m = 0; m < g->nmeetings; m++) {
        int64_t collective = g->meetings[m].collective;
        while (i < l->in->nrows && l->in->rows[i].collective != collective)
            i++;
        size_t to = tl_late_rows_end(l->in->rows, l->in->nrows, i);
        l->out->link_of[m] = TL_NONE;
        if (to == i || !is_whole(l, l->in->rows + i, to - i))
            continue;
        uint64_t key = link_key(l->in->rows + i);
        uint32_t number = tl_map_number(&l->number_of, key, l->links.n);
        if (number == l->links.n)
            add_link(l, l->in->rows + i, to - i);
        l->out->link_of[m] = number;
    }
}

/* ------------------------------------------------------------------------------------------------------------ sorts */

static span span_of(const listing *l, const tl_link_ranks *link)
{
    const uint32_t *members = l->members.v + link->first;
    for (uint32_t i = 0; i < link->n; i++)
        if (l->out->host_of[members[i]] == 0)
            return SPAN_UNKNOWN;
    for (uint32_t i = 1; i < link->n; i++)
        if (l->out->host_of[members[i]] != l->out->host_of[members[0]])
            return SPAN_HOSTS;
    return SPAN_HOST;
}

static int32_t rank_at(const listing *l, const tl_link_ranks *link, uint32_t i)
{
    return l->in->ranks[l->members.v[link->first + i]];
}

static uint64_t sort_of(const listing *l, const tl_link_ranks *link)
{
    const tl_group_row *group = group_of(l, link->group);
    span where = span_of(l, link);
    uint64_t sort = tl_hash_mix(tl_hash_mix(tl_hash_mix(2, link->n), link->pair), (uint64_t)where);

    if (group != NULL && group->description[0] != 0)
        sort = tl_hash_mix(sort,
                           tl_hash_bytes(group->description, strnlen(group->description, sizeof group->description)));
    else
        sort = tl_hash_mix(sort, group != NULL ? group->parallelism : TL_PARALLEL_UNKNOWN);
    for (uint32_t i = 0; link->pair && i < link->n; i++)
        sort = tl_hash_mix(sort, l->out->role_of[l->members.v[link->first + i]]);
    if (!link->pair && (where == SPAN_UNKNOWN || group == NULL || group->description[0] == 0))
        sort = tl_hash_mix(sort, (uint64_t)(uint32_t)(rank_at(l, link, 1) - rank_at(l, link, 0)));
    return sort;
}

/* Numbers sorts in order of their first links. */
static void number_sorts(listing *l)
{
    tl_baseline *out = l->out;
    tl_map sort_of_key = { 0 }, turns = { 0 };
    uint32_t at = (uint32_t)out->graph->nranks;

    TL_EACH (tl_link_ranks, link, l->links) {
        uint64_t sort = sort_of(l, link), ranks = tl_hash_mix(sort, link->n);
        for (uint32_t k = 0; k < link->n; k++)
            ranks = tl_hash_mix(ranks, l->members.v[link->first + k]);
        /* Two groups of the same ranks serve different purposes and are of different sorts. */
        sort = tl_hash_mix(sort, tl_map_count(&turns, ranks));
        link->role = tl_map_number(&sort_of_key, sort, out->nroles + out->nsorts);
        if (link->role == out->nroles + out->nsorts)
            out->roles[out->nroles + out->nsorts++] = (tl_role_ranks){ 0 };
        link->member = out->roles[link->role].n++;
    }
    for (size_t q = out->nroles; q < out->nroles + out->nsorts; q++) {
        out->roles[q].first = at;
        at += out->roles[q].n;
    }
    for (uint32_t i = 0; i < l->links.n; i++)
        out->members[out->roles[l->links.v[i].role].first + l->links.v[i].member] = i;
    tl_map_free(&sort_of_key);
    tl_map_free(&turns);
}

void tl_baseline_links(const tl_link_input *input, tl_baseline *out)
{
    listing l = { .out = out, .in = input };
    size_t n = out->graph->nranks, roles = out->nroles, members = n, nrows = 0;
    out->link_of = tl_arena_take(&out->arena, out->graph->nmeetings, sizeof *out->link_of);
    TL_ROWS (const tl_group_row, row, input->groups)
        tl_map_number(&l.group_row, (uint32_t)row->group, nrows++);
    out->host_of = tl_arena_zeroed(&out->arena, n, sizeof *out->host_of);
    TL_ROWS (const tl_rank, row, input->hosts) {
        size_t r = tl_index_of(input->ranks, n, row->rank);
        if (r < n)
            out->host_of[r] = tl_host_key(row);
    }
    list_links(&l);
    tl_grow((void **)&out->roles, &roles, roles + l.links.n + 1, sizeof *out->roles);
    tl_grow((void **)&out->members, &members, members + l.links.n + 1, sizeof *out->members);
    number_sorts(&l);

    out->links = l.links.v;
    out->nlinks = l.links.n;
    out->link_members = l.members.v;
    tl_map_free(&l.group_row);
    tl_map_free(&l.number_of);
}
