/* waits.c - the waits between ranks, from the result of a run.
 *
 *     table rank         the traces of the result
 *     table collective   the last rank to arrive at each collective
 *     table arrival      how long each kernel waited for the last rank
 *     table gap_peer     how long idle devices waited
 *     table path         the critical path of each rank, where the run had --path
 */
#include "parts.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/store/load.h"
#include <stdlib.h>
#include <string.h>

/* The data of a collective that its waits need. */
typedef struct meeting {
    int32_t late_rank;
    uint8_t kind;
} meeting;

typedef struct loading {
    const tl_plan *plan;
    tl_waits *out;
    bool *by_path;  /* by item: matched to its rank by the full path */
    int32_t *ranks; /* ranks of the wanted traces, ascending */
    size_t nranks;
    TL_VEC(meeting) collectives;
} loading;

/* ---- ranks ---- */

static tl_text last_part(tl_text path)
{
    size_t from = path.n;
    while (from > 0 && path.p[from - 1] != '/')
        from--;
    return (tl_text){ path.p + from, path.n - from };
}

static void take_rank(void *arg, const void *row)
{
    loading *l = arg;
    const tl_rank *rank = row;
    const tl_text path = { rank->file, strnlen(rank->file, sizeof rank->file) };
    for (size_t i = 0; i < l->plan->n; i++) {
        const char *own = l->plan->items[i].path;
        bool same = tl_text_is(path, own);
        if (l->by_path[i] || (uint64_t)rank->file_bytes != l->plan->items[i].bytes ||
            tl_text_compare(last_part(path), last_part(tl_text_of(own))) != 0)
            continue;
        /* Two ranks match by name and size, none by path: ambiguous. */
        l->out->rank_of[i] = same || l->out->rank_of[i] == -1 ? rank->rank : -2;
        l->by_path[i] = same;
    }
}

static tl_status find_ranks(const char *path, loading *l, const bool *wanted, tl_error *err)
{
    size_t known = 0;
    tl_status st = tl_result_each(l->out->result, &tl_rank_schema, take_rank, l, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < l->plan->n; i++) {
        known += l->out->rank_of[i] >= 0;
        if (wanted[i] && l->out->rank_of[i] >= 0)
            l->ranks[l->nranks++] = l->out->rank_of[i];
    }
    tl_int_sort(l->ranks, l->nranks);
    return known > 0 ? TL_OK : tl_fail(err, TL_EINPUT, "%s is the result of other traces", path);
}

/* ---- waits ---- */

static void take_collective(void *arg, const void *row)
{
    loading *l = arg;
    const tl_collective_row *c = row;
    tl_vec_push(&l->collectives, (meeting){ c->late_rank, c->kind });
}

static meeting meeting_of(const loading *l, int64_t collective)
{
    return collective >= 0 && (uint64_t)collective < l->collectives.n ? l->collectives.v[collective]
                                                                      : (meeting){ -1, TL_COLL_UNKNOWN };
}

static bool is_wanted(const loading *l, int32_t rank)
{
    return tl_index_of(l->ranks, l->nranks, rank) < l->nranks;
}

static void take_arrival(void *arg, const void *row)
{
    loading *l = arg;
    const tl_arrival *a = row;
    const meeting c = meeting_of(l, a->collective);
    if (a->wait_ns > 0 && is_wanted(l, a->rank))
        tl_vec_push(&l->out->waits, (tl_wait){ .rank = a->rank,
                                               .uid = (uint32_t)a->uid,
                                               .wait_ns = a->wait_ns,
                                               .late_rank = c.late_rank,
                                               .collective = a->collective,
                                               .kind = c.kind });
}

static void take_gap(void *arg, const void *row)
{
    loading *l = arg;
    const tl_gap_peer *g = row;
    if (g->peer_ns > 0 && is_wanted(l, g->rank))
        tl_vec_push(&l->out->waits, (tl_wait){ .rank = g->rank,
                                               .uid = TL_NONE,
                                               .device = g->device,
                                               .start_ns = g->from_ns,
                                               .wait_ns = g->peer_ns,
                                               .late_rank = g->late_rank,
                                               .collective = g->collective,
                                               .kind = meeting_of(l, g->collective).kind });
}

/* Returns the rank whose time the piece is: for the job's path, the peer. */
static int32_t shown_on(const tl_rank_path_row *piece)
{
    return piece->rank < 0 ? piece->peer : piece->rank;
}

static void take_piece(void *arg, const void *row)
{
    loading *l = arg;
    const tl_rank_path_row *piece = row;
    if (is_wanted(l, shown_on(piece)))
        tl_vec_push(&l->out->path, *piece);
}

TL_SORT_BY(by_rank, tl_wait, rank, collective)

/* By rank; the job's path before the rank's own. */
static int by_path(const void *a, const void *b)
{
    const tl_rank_path_row *x = a, *y = b;
    return shown_on(x) != shown_on(y) ? TL_COMPARE(shown_on(x), shown_on(y)) : TL_ORDER(x, y, rank, number);
}

tl_status tl_waits_load(const char *path, const tl_plan *plan, const bool *wanted, tl_waits *out, tl_error *err)
{
    loading l = { .plan = plan, .out = out };
    const struct {
        const tl_schema *table;
        tl_take_row *take;
    } reads[] = { { &tl_collective_row_schema, take_collective },
                  { &tl_arrival_schema, take_arrival },
                  { &tl_gap_peer_schema, take_gap },
                  { &tl_rank_path_row_schema, take_piece } };

    out->rank_of = tl_malloc((plan->n + 1) * sizeof *out->rank_of);
    l.ranks = tl_malloc((plan->n + 1) * sizeof *l.ranks);
    l.by_path = tl_calloc(plan->n + 1, sizeof *l.by_path);
    for (size_t i = 0; i < plan->n; i++)
        out->rank_of[i] = -1;
    tl_status st = tl_result_open(path, &out->result, err);
    if (st == TL_OK)
        st = find_ranks(path, &l, wanted, err);
    for (size_t i = 0; st == TL_OK && i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].take != take_piece || tl_result_find(out->result, "path") != NULL)
            st = tl_result_each(out->result, reads[i].table, reads[i].take, &l, err);
    tl_vec_sort(&out->path, by_path);
    tl_vec_sort(&out->waits, by_rank);
    free(l.collectives.v);
    free(l.by_path);
    free(l.ranks);
    return st;
}

void tl_waits_free(tl_waits *waits)
{
    free(waits->waits.v);
    free(waits->path.v);
    free(waits->rank_of);
    tl_result_close(waits->result);
}

tl_rank_told tl_waits_of(const tl_waits *waits, size_t item)
{
    const int32_t rank = waits->rank_of != NULL ? waits->rank_of[item] : -1;
    tl_rank_told told = { .result = waits->result };
    size_t first = 0, past = 0;
    if (rank < 0)
        return told;
    TL_BISECT(first, waits->waits.n, mid, waits->waits.v[mid].rank < rank);
    TL_BISECT(past, waits->waits.n, mid, waits->waits.v[mid].rank <= rank);
    told.nwaits = past - first;
    told.waits = told.nwaits > 0 ? &waits->waits.v[first] : NULL;
    size_t of_job = 0, of_rank = 0, end = 0;
    const tl_rank_path_row *path = waits->path.v;
    TL_BISECT(of_job, waits->path.n, mid, shown_on(&path[mid]) < rank);
    TL_BISECT(of_rank, waits->path.n, mid,
              shown_on(&path[mid]) < rank || (shown_on(&path[mid]) == rank && path[mid].rank < 0));
    TL_BISECT(end, waits->path.n, mid, shown_on(&path[mid]) <= rank);
    told.npath = end - of_job;
    told.nof_job = of_rank - of_job;
    told.path = told.npath > 0 ? &path[of_job] : NULL;
    return told;
}
