/* expect.c - expected arrivals of an untraced rank: as long after its earlier collectives as traced ranks of its role
 * take.
 *
 *     rank 0    [ p ]====work====[ m ]         the first p and the first m of a step
 *     rank 1    [ p ]===work===  [ m ]
 *     untraced  [ p ]- - - - - ->[ m ]         end of p + median length of the paths of ranks 0 and 1 from p to m
 *
 * A collective of one rank corresponds to a collective of another rank if both are the k-th of the step with the same
 * kind, number of members, purpose of the group, side of the peer (above or below the rank) and direction.  Message
 * sizes may differ.  A path that begins in a collective without a counterpart on the untraced rank is extended
 * backwards: by the transfer of that collective, and the paths to it.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The time, ns, that one traced rank of the role takes between the counterparts of two meetings of the untraced
 * rank. */
typedef struct shown {
    int64_t ns;
    uint32_t to, from;
} shown;

struct tl_expectation {
    const tl_untraced_ranks *untraced;
    const tl_untraced_ranks_input *in;
    tl_arena arena;
    uint32_t *first;         /* by role: its lowest traced rank; TL_NONE */
    uint32_t *next;          /* by traced rank: the next of its role; TL_NONE */
    bool *followed;          /* by role: it has an untraced rank */
    tl_turn *turn;           /* by row */
    int64_t *transfer_ns;    /* by row; 0 where an untraced member may have been late */
    uint32_t *order;         /* rows by rank and start */
    uint32_t *first_row;     /* by traced rank: index of its first row in `order` */
    uint32_t *position;      /* by row: its index in `order`, counted from first_row */
    tl_paths_to_node *found; /* by position: paths to the current traced rank's rows, from meetings of the untraced
                              * rank */
    TL_VEC(shown) shown;
    tl_map row_in; /* by rank and collective: the row */
    tl_map turns;  /* by rank, step and class of collectives: number counted so far */
    tl_map met_at; /* by turn: meeting of the current untraced rank */
};

static uint64_t key_of(int32_t step, uint64_t what)
{
    return tl_hash_mix((uint32_t)step, what);
}

/* Returns a hash of the peer's side (above or below `rank`) and the direction of a point-to-point row.  For an untraced
 * `rank`, which is the peer in the row, both are reversed. */
static uint64_t side_of(const tl_expectation *x, uint32_t rank, const tl_late_row *row)
{
    bool traced = rank<x->in->nranks, above = tl_untraced_ranks_peer(x->untraced, row)> row->rank;
    uint8_t other = row->own_kind == TL_SEND ? TL_RECV : row->own_kind == TL_RECV ? TL_SEND : row->own_kind;
    return tl_hash_mix(traced ? above : !above, traced ? row->own_kind : other);
}

tl_turn tl_expect_next(tl_expectation *x, uint32_t rank, const tl_late_row *row, size_t nrows)
{
    const tl_untraced_group *group = tl_untraced_ranks_group(x->untraced, row);
    bool between_two = tl_untraced_ranks_peer(x->untraced, row) >= 0;
    uint64_t side = between_two ? side_of(x, rank, row) : group != NULL ? group->sort : 0;
    uint64_t like = tl_hash_mix(tl_untraced_ranks_kind(x->untraced, row, nrows), side);
    uint32_t turn = tl_map_count(&x->turns, tl_hash_mix(rank, key_of(row->step, like)));
    return (tl_turn){ tl_hash_mix(like, turn), row->collective, row->step };
}

/* ------------------------------------------------------------------------------------------------------------- rows */

TL_ORDER_BY(by_rank, tl_late_row, rank, start_ns)

/* Fills turn, transfer_ns and row_in. */
static void list_turns(tl_expectation *x)
{
    const tl_late_row *rows = x->in->rows;
    for (size_t from = 0, to; from < x->in->nrows; from = to) {
        int64_t done = INT64_MAX, last = INT64_MIN;
        bool whole = tl_untraced_ranks_count(x->untraced, &rows[from]) == 0;
        to = tl_late_rows_end(rows, x->in->nrows, from);
        for (size_t k = from; k < to; k++) {
            uint32_t rank = tl_untraced_ranks_number(x->untraced, &rows[k]);
            done = tl_ns_min(done, rows[k].end_ns);
            last = tl_ns_max(last, rows[k].start_ns);
            if (rank == x->in->nranks)
                continue;
            x->turn[k] = tl_expect_next(x, rank, &rows[k], to - from);
            tl_map_put(&x->row_in, tl_hash_mix(rank, (uint64_t)rows[k].collective), (uint32_t)k);
        }
        for (size_t k = from; k < to; k++)
            x->transfer_ns[k] = whole ? tl_ns_max(0, tl_ns_between(done, last)) : 0;
    }
}

/* Fills order, first_row and position; allocates found for the rank with the most rows. */
static void order_rows(tl_expectation *x)
{
    const tl_late_row *rows = x->in->rows;
    uint32_t most = 0;
    x->order = tl_sorted_index(x->in->nrows, by_rank, rows);
    for (uint32_t i = 0, first = 0; i < x->in->nrows; i++) {
        uint32_t rank = tl_untraced_ranks_number(x->untraced, &rows[x->order[i]]);
        first = i == 0 || rows[x->order[i - 1]].rank != rows[x->order[i]].rank ? i : first;
        if (rank < x->in->nranks)
            x->first_row[rank] = first;
        x->position[x->order[i]] = i - first;
        most = i - first >= most ? i - first + 1 : most;
    }
    x->found = tl_arena_take(&x->arena, most, sizeof *x->found);
    tl_inter_collective_path *room = tl_arena_take(&x->arena, (size_t)most * TL_WAYS_MOST, sizeof *room);
    for (size_t i = 0; i < most; i++)
        x->found[i].v = room + i * TL_WAYS_MOST;
}

tl_expectation *tl_expectation_new(const tl_untraced_ranks *untraced)
{
    const tl_untraced_ranks_input *in = untraced->in;
    const uint32_t *role = untraced->role;
    size_t nranks = in->nranks + untraced->n;
    tl_expectation *x = tl_calloc(1, sizeof *x);
    x->untraced = untraced;
    x->in = in;
    x->first = tl_arena_take(&x->arena, nranks, sizeof *x->first);
    x->next = tl_arena_take(&x->arena, in->nranks, sizeof *x->next);
    x->followed = tl_arena_zeroed(&x->arena, nranks, sizeof *x->followed);
    x->turn = tl_arena_zeroed(&x->arena, in->nrows, sizeof *x->turn);
    x->transfer_ns = tl_arena_take(&x->arena, in->nrows, sizeof *x->transfer_ns);
    x->first_row = tl_arena_zeroed(&x->arena, in->nranks, sizeof *x->first_row);
    x->position = tl_arena_take(&x->arena, in->nrows, sizeof *x->position);
    for (uint32_t i = 0; i < nranks; i++)
        x->first[i] = TL_NONE;
    for (uint32_t i = (uint32_t)in->nranks; i-- > 0;) {
        x->next[i] = x->first[role[i]];
        x->first[role[i]] = i;
    }
    for (size_t i = in->nranks; i < nranks; i++)
        x->followed[role[i]] = true;
    list_turns(x);
    order_rows(x);
    return x;
}

void tl_expectation_free(tl_expectation *x)
{
    if (x == NULL)
        return;
    tl_arena_free(&x->arena);
    free(x->order);
    free(x->shown.v);
    tl_map_free(&x->row_in);
    tl_map_free(&x->turns);
    tl_map_free(&x->met_at);
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------ paths */

/* Returns the untraced rank's meeting that corresponds to a traced rank's row; TL_MAP_NONE: none. */
static uint32_t corresponding_meeting(const tl_expectation *x, uint32_t row)
{
    return tl_map_get(&x->met_at, key_of(x->turn[row].step, x->turn[row].what));
}

void tl_paths_to_node_add(tl_paths_to_node *to, tl_inter_collective_path path)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < to->n; i++)
        if (to->v[i].from == path.from) {
            to->v[i].ns = tl_ns_max(to->v[i].ns, path.ns);
            return;
        }
    if (to->n < TL_WAYS_MOST) {
        to->v[to->n++] = path;
        return;
    }
    for (uint32_t i = 1; i < to->n; i++)
        least = to->v[i].from_ns + to->v[i].ns < to->v[least].from_ns + to->v[least].ns ? i : least;
    if (path.from_ns + path.ns > to->v[least].from_ns + to->v[least].ns)
        to->v[least] = path;
}

/* Fills found of a row: its paths from meetings of the untraced rank. */
static void find_paths(tl_expectation *x, const tl_inter_collective_paths *paths, const tl_untraced_meeting *met,
                       uint32_t row)
{
    tl_paths_to_node *f = &x->found[x->position[row]];
    for (uint32_t i = paths->of[row][0]; i < paths->of[row][0] + paths->of[row][1]; i++) {
        tl_inter_collective_path path = paths->list.v[i];
        const tl_paths_to_node *over = &x->found[x->position[path.from]];
        uint32_t from = corresponding_meeting(x, path.from);
        if (from != TL_MAP_NONE)
            tl_paths_to_node_add(f, (tl_inter_collective_path){ path.ns, met[from].done_ns, from });
        for (uint32_t k = 0; from == TL_MAP_NONE && k < over->n; k++)
            tl_paths_to_node_add(f, (tl_inter_collective_path){ over->v[k].ns + x->transfer_ns[path.from] + path.ns,
                                                                over->v[k].from_ns, over->v[k].from });
    }
}

/* Appends the path times of traced rank `peer`; counts its meetings in npeers. */
static void add_peer_paths(tl_expectation *x, const tl_inter_collective_paths *paths, const tl_untraced_meeting *met,
                           uint32_t peer, uint32_t *npeers)
{
    const tl_late_row *rows = x->in->rows;
    size_t first = x->first_row[peer], end = first;
    for (; end < x->in->nrows && rows[x->order[end]].rank == x->in->ranks[peer]; end++)
        x->found[end - first].n = 0;
    for (size_t i = first; i < end; i++) {
        uint32_t row = x->order[i], to = corresponding_meeting(x, row);
        const tl_paths_to_node *f = &x->found[i - first];
        find_paths(x, paths, met, row);
        if (to == TL_MAP_NONE)
            continue;
        npeers[to]++;
        for (uint32_t k = 0; k < f->n; k++)
            tl_vec_push(&x->shown, (shown){ f->v[k].ns, to, f->v[k].from });
    }
}

TL_SORT_BY(by_path, shown, to, from, ns)

/* Appends the median path between each two meetings over the traced ranks of the role; a rank without such a path
 * counts as shorter than all. */
static void append_medians(const tl_expectation *x, const uint32_t *npeers, tl_untraced_meeting *met,
                           tl_inter_collective_path_list *out)
{
    for (size_t i = 0, to; i < x->shown.n; i = to) {
        const shown *first = &x->shown.v[i];
        tl_untraced_meeting *seen = &met[first->to];
        for (to = i; to < x->shown.n && x->shown.v[to].to == first->to && x->shown.v[to].from == first->from; to++)
            ;
        size_t without = npeers[first->to] > to - i ? npeers[first->to] - (to - i) : 0,
               middle = tl_lower_middle(without + to - i);
        if (middle < without)
            continue;
        seen->first_path = seen->npaths > 0 ? seen->first_path : (uint32_t)out->n;
        seen->npaths++;
        tl_vec_push(out, (tl_inter_collective_path){ x->shown.v[i + middle - without].ns, met[first->from].done_ns,
                                                     first->from });
    }
}

void tl_expect_paths(tl_expectation *x, const tl_inter_collective_paths *paths, uint32_t rank, tl_untraced_meeting *met,
                     size_t n, tl_inter_collective_path_list *out)
{
    uint32_t *npeers = tl_calloc(n + 1, sizeof *npeers);
    tl_map_free(&x->met_at);
    for (uint32_t i = 0; i < n; i++)
        tl_map_put(&x->met_at, key_of(met[i].turn.step, met[i].turn.what), i);
    x->shown.n = 0;
    for (uint32_t r = x->first[x->untraced->role[rank]]; r != TL_NONE; r = x->next[r])
        add_peer_paths(x, paths, met, r, npeers);
    if (x->shown.n > 1)
        qsort(x->shown.v, x->shown.n, sizeof *x->shown.v, by_path);
    append_medians(x, npeers, met, out);
    free(npeers);
}

tl_turn tl_expect_turn(const tl_expectation *x, const tl_late_row *row)
{
    return x->turn[row - x->in->rows];
}

bool tl_expect_has_role(const tl_expectation *x, uint32_t rank)
{
    return x->followed[x->untraced->role[rank]];
}

bool tl_expect_same_role(tl_expectation *x, uint32_t rank, tl_turn from, const tl_late_row *rows, size_t n)
{
    const uint32_t *role = x->untraced->role;
    bool like = false;
    for (size_t i = 0; !like && i < n; i++) {
        uint32_t other = tl_untraced_ranks_number(x->untraced, &rows[i]);
        like = other < x->in->nranks && role[other] == role[rank] &&
               tl_map_get(&x->row_in, tl_hash_mix(other, (uint64_t)from.collective)) != TL_MAP_NONE;
    }
    return like;
}
