/* transfers.c - the transfer times of each link, and their baseline over similar links.
 *
 *     rank 0    [ waits      |  transfer  ]  tail
 *     rank 1         [ waits |  transfer  ]--------]
 *     rank 2                 [  transfer  ]----]
 *                            last arrival          last end
 *
 * A transfer lasts from the last arrival to the last end.  A cell sums transfers; a class has one piece per collective,
 * and baselines are per piece.
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ links */

/* Lists links (ranks between which data move) and their sorts. */

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

/* Fills links, link_members and link_of of `out`, and adds sorts of links to its roles and members. */
static void baseline_links(const tl_link_input *input, tl_baseline *out)
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

/* Returns a size class, below 0, for transfers of unknown size: by the sides of the members, since different pipeline
 * stages move different amounts. */
static int64_t unknown_size(const tl_baseline *b, const tl_link_ranks *link)
{
    uint64_t stage = 0;
    for (uint32_t i = 0; !link->pair && i < link->n; i++)
        stage = tl_hash_mix(stage, b->talks[b->link_members[link->first + i]]);
    return -1 - (int64_t)(stage & INT32_MAX);
}

static int64_t size_class(const tl_baseline *b, const tl_link_ranks *link, const tl_late_row *row)
{
    int64_t bytes = row->bytes, class = 1;
    if (bytes < 0)
        return unknown_size(b, link);
    /* Messages of these kinds differ in size from piece to piece: sizes are classed by powers of two. */
    bool differs = row->pair || tl_is_point_to_point((tl_collective)row->kind) || row->kind == TL_ALL_TO_ALL;
    if (!differs || bytes == 0)
        return bytes;
    while (class <= bytes / 2)
        class *= 2;
    return class;
}

/* Fills the class of each meeting, and the steps of each class. */
static void list_classes(const tl_link_input *in, tl_baseline *out)
{
    const tl_job_graph *g = out->graph;
    size_t i = 0;

    for (uint32_t m = 0; m < g->nmeetings; m++) {
        const tl_meeting *meeting = &g->meetings[m];
        size_t step = tl_meeting_step(out, m);
        out->meeting_class[m] = TL_NONE;
        if (out->steps[step] != meeting->step) /* members number this step differently */
            out->link_of[m] = TL_NONE;
        if (out->link_of[m] == TL_NONE)
            continue;
        while (in->rows[i].collective != meeting->collective)
            i++;
        const tl_link_ranks *link = &out->links[out->link_of[m]];
        uint32_t class = tl_class_at(out, TL_FAMILY_TRANSFER, link->role,
                                     tl_transfer_key(in->rows[i].kind, size_class(out, link, &in->rows[i])));
        tl_class_add_step(&out->classes[class], (uint32_t)step);
        out->meeting_class[m] = class;
    }
}

/* Returns, by meeting, the time from the first end of a member to the last, ns; the caller frees it. */
static int64_t *end_spreads_of(const tl_job_graph *g)
{
    int64_t *spread_ns = tl_calloc(g->nmeetings, sizeof *spread_ns);
    for (size_t r = 0; r < g->nranks; r++)
        for (size_t p = 0; p < g->ranks[r].nports; p++) {
            const tl_rank_port *port = &g->ranks[r].ports[p];
            if (port->meeting != TL_NONE)
                spread_ns[port->meeting] = tl_ns_max(spread_ns[port->meeting], port->after_meeting_ns);
        }
    return spread_ns;
}

static void take_cells(const tl_link_input *in, const tl_baseline *out)
{
    int64_t *spread_ns = end_spreads_of(out->graph);
    size_t i = 0;

    for (uint32_t m = 0; m < out->graph->nmeetings; m++) {
        const tl_meeting *meeting = &out->graph->meetings[m];
        if (out->meeting_class[m] == TL_NONE)
            continue;
        while (in->rows[i].collective != meeting->collective)
            i++;
        const tl_work_class *class = &out->classes[out->meeting_class[m]];
        size_t cell = tl_class_cell(class, out->links[out->link_of[m]].member, tl_meeting_step(out, m));
        class->ns[cell] += meeting->work_ns + spread_ns[m];
        class->pieces[cell]++;
    }
    free(spread_ns);
}

void tl_baseline_add_links(tl_baseline *out, const tl_link_input *in)
{
    baseline_links(in, out);
    size_t first = out->nclasses;
    out->meeting_class = tl_arena_take(&out->arena, out->graph->nmeetings, sizeof *out->meeting_class);
    list_classes(in, out);

    for (size_t c = first; c < out->nclasses; c++)
        tl_class_make_room(out, &out->classes[c]);
    take_cells(in, out);
}

/* ------------------------------------------------------------------------------------------------------------ usual */

typedef struct sum {
    int64_t ns, pieces;
} sum;

/* Sums the member's cells of the steps [from, to) of the class that are `on`; NULL: all are. */
static sum sum_of(const tl_work_class *class, size_t member, const bool *on, size_t from, size_t to)
{
    sum all = { 0 };
    for (size_t k = from; k < to; k++)
        if (on == NULL || on[class->steps.v[k]]) {
            all.ns += class->ns[member * class->steps.n + k];
            all.pieces += class->pieces[member * class->steps.n + k];
        }
    return all;
}

/* Returns the time that `pieces` pieces take on the median link of the sort in the steps [from, to) of the class that
 * are `on`, and that number: the largest of a link, or 0 unless at least two links have any. */
static sum usual_of(const tl_baseline *b, const tl_work_class *class, const bool *on, size_t from, size_t to,
                    int64_t *scratch)
{
    size_t n = 0;
    int64_t most = 0;
    for (size_t i = 0; i < b->roles[class->role].n; i++)
        most = tl_ns_max(most, sum_of(class, i, on, from, to).pieces);
    for (size_t i = 0; i < b->roles[class->role].n; i++) {
        sum other = sum_of(class, i, on, from, to);
        if (other.pieces > 0)
            scratch[n++] = tl_portion(other.ns, most, other.pieces);
    }
    return n > 1 ? (sum){ tl_baseline_median(scratch, n), most } : (sum){ 0 };
}

/* Returns the time, ns, that `pieces` pieces take on the link itself in its better steps (1 - TL_MOST_SHARE
 * quantile): a link that is slow in less than TL_MOST_SHARE of its steps has enough better ones. */
static int64_t baseline_of_own(const tl_baseline *b, const tl_work_class *class, size_t member, int64_t pieces,
                               int64_t *scratch)
{
    size_t n = 0;
    for (size_t k = 0, cell = member * class->steps.n; k < class->steps.n; k++, cell++)
        if (!b->cut[class->steps.v[k]] && class->pieces[cell] > 0)
            scratch[n++] = tl_portion(class->ns[cell], pieces, class->pieces[cell]);
    if (n > 1)
        tl_ns_sort(scratch, n);
    return n > 0 ? scratch[(size_t)((1 - TL_MOST_SHARE) * (double)(n - 1))] : 0;
}

int64_t tl_baseline_of_link(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                            int64_t *own_ns, int64_t *scratch)
{
    const sum usual = usual_of(b, class, on, 0, class->steps.n, scratch),
              own = sum_of(class, member, on, 0, class->steps.n);
    *own_ns = own.ns;
    return usual.pieces > 0 ? tl_portion(usual.ns, own.pieces, usual.pieces)
                            : baseline_of_own(b, class, member, own.pieces, scratch);
}

/* ----------------------------------------------------------------------------------------------------------- excess */

/* Fills late_ns of a link; its own steps are sorted once, and only if it has no peers in some step. */
static void excess_of_link(const tl_baseline *b, const tl_work_class *class, size_t member, const sum *of_steps,
                           double *late_ns, int64_t *scratch)
{
    sum own = { 0 };
    for (size_t k = 0; k < class->steps.n; k++) {
        const size_t cell = member * class->steps.n + k;
        if (of_steps[k].pieces == 0 && own.pieces == 0) {
            own.pieces = sum_of(class, member, NULL, 0, class->steps.n).pieces;
            own.ns = baseline_of_own(b, class, member, own.pieces, scratch);
        }
        const sum *like = of_steps[k].pieces > 0 ? &of_steps[k] : &own;
        const int64_t ns = like->pieces > 0 ? tl_portion(like->ns, class->pieces[cell], like->pieces) : 0;
        late_ns[cell] = (double)(class->ns[cell] - ns);
    }
}

void tl_excess_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    sum *of_steps = tl_malloc((class->steps.n + 1) * sizeof *of_steps);
    for (size_t k = 0; k < class->steps.n; k++)
        of_steps[k] = usual_of(b, class, NULL, k, k + 1, scratch);
    for (size_t i = 0; i < b->roles[class->role].n; i++)
        excess_of_link(b, class, i, of_steps, late_ns, scratch);
    free(of_steps);
}

void tl_lateness_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch)
{
    size_t n = class->steps.n, cells = b->roles[class->role].n * n;
    double *excess_ns = tl_malloc((cells + 1) * sizeof *excess_ns);
    tl_excess_of_links(b, class, excess_ns, scratch);
    for (size_t i = 0; i < cells; i++)
        late_ns[i / n * b->nsteps + class->steps.v[i % n]] += excess_ns[i];
    free(excess_ns);
}
