/* waits.c - which rank waited for which, from the result of a run.
 *
 *     table rank         which traces the result is of
 *     table collective   who came last to each collective
 *     table arrival      how long each kernel waited for that one
 *     table gap_peer     and idle devices
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

/* What a wait needs to know of its collective. */
typedef struct meeting {
    int32_t late_rank;
    uint8_t kind;
} meeting;

typedef struct loading {
    const tl_plan *plan;
    tl_waits *out;
    int64_t *ranks; /* of the wanted traces, in order */
    size_t nranks;
    bool *by_path; /* by item: its whole path is that of the rank */
    TL_VEC(meeting) collectives;
    TL_VEC(tl_wait) waits;
    TL_VEC(tl_rank_path_row) path;
    tl_result *result;
} loading;

/* ---- ranks ---- */

static tl_text last_part(const char *path, size_t n)
{
    size_t from = n;
    while (from > 0 && path[from - 1] != '/')
        from--;
    return (tl_text){ path + from, n - from };
}

static void take_rank(void *arg, const void *row, tl_error *err)
{
    loading *l = arg;
    const tl_rank *rank = row;
    const tl_text path = { rank->file, strnlen(rank->file, sizeof rank->file) }, name = last_part(path.p, path.n);
    (void)err;

    for (size_t i = 0; i < l->plan->n; i++) {
        const char *own = l->plan->items[i].path;
        bool same = tl_text_is(path, own);
        if (l->by_path[i] || (uint64_t)rank->file_bytes != l->plan->items[i].bytes ||
            tl_text_compare(name, last_part(own, strlen(own))) != 0)
            continue;
        /* Two ranks fit by name and bytes, neither by path: the item is neither. */
        l->out->rank_of[i] = same || l->out->rank_of[i] == -1 ? rank->rank : -2;
        l->by_path[i] = same;
    }
}

static int compare_ranks(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

static tl_status find_ranks(tl_result *result, const char *path, loading *l, const bool *wanted, tl_error *err)
{
    size_t known = 0;
    tl_status st = tl_result_each(result, &tl_rank_schema, take_rank, l, err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < l->plan->n; i++) {
        l->out->rank_of[i] = l->out->rank_of[i] < 0 ? -1 : l->out->rank_of[i];
        known += l->out->rank_of[i] >= 0;
        if (wanted[i] && l->out->rank_of[i] >= 0)
            l->ranks[l->nranks++] = l->out->rank_of[i];
    }
    if (known == 0)
        return tl_fail(err, TL_EINPUT, "%s is the result of other traces", path);
    if (l->nranks > 1)
        qsort(l->ranks, l->nranks, sizeof *l->ranks, compare_ranks);
    return TL_OK;
}

static bool is_wanted(const loading *l, int32_t rank)
{
    int64_t key = rank;
    return l->nranks > 0 && bsearch(&key, l->ranks, l->nranks, sizeof key, compare_ranks) != NULL;
}

/* ---- waits ---- */

static void take_collective(void *arg, const void *row, tl_error *err)
{
    (void)err;
    loading *l = arg;
    const tl_collective_row *c = row;
    tl_vec_push(&l->collectives, (meeting){ c->late_rank, c->kind });
}

static const meeting *meeting_of(const loading *l, int64_t collective)
{
    static const meeting unknown = { -1, TL_COLL_UNKNOWN };
    return collective >= 0 && (uint64_t)collective < l->collectives.n ? &l->collectives.v[collective] : &unknown;
}

static void add(loading *l, tl_wait wait)
{
    if (wait.wait_ns <= 0 || !is_wanted(l, wait.rank))
        return;
    tl_vec_push(&l->waits, wait);
}

static void take_arrival(void *arg, const void *row, tl_error *err)
{
    (void)err;
    const tl_arrival *a = row;
    const meeting *c = meeting_of(arg, a->collective);
    add(arg, (tl_wait){ .rank = a->rank,
                        .uid = (uint32_t)a->uid,
                        .wait_ns = a->wait_ns,
                        .late_rank = c->late_rank,
                        .collective = a->collective,
                        .kind = c->kind });
}

static void take_gap(void *arg, const void *row, tl_error *err)
{
    (void)err;
    const tl_gap_peer *g = row;
    add(arg, (tl_wait){ .rank = g->rank,
                        .uid = TL_NONE,
                        .device = g->device,
                        .start_ns = g->from_ns,
                        .wait_ns = g->peer_ns,
                        .late_rank = g->late_rank,
                        .collective = g->collective,
                        .kind = meeting_of(arg, g->collective)->kind });
}

/* Returns the id of a name among those of paths. */
static uint32_t take_name(loading *l, uint32_t name)
{
    tl_text text = name != TL_NO_NAME ? tl_result_name(l->result, name) : (tl_text){ "", 0 };
    return name != TL_NO_NAME ? tl_names_intern(&l->out->names, text.p, text.n) : TL_NO_NAME;
}

static void take_piece(void *arg, const void *row, tl_error *err)
{
    (void)err;
    loading *l = arg;
    tl_rank_path_row piece = *(const tl_rank_path_row *)row;
    if (!is_wanted(l, piece.rank < 0 ? piece.peer : piece.rank))
        return;
    piece.name = take_name(l, piece.name);
    piece.operator= take_name(l, piece.operator);
    piece.annotation = take_name(l, piece.annotation);
    tl_vec_push(&l->path, piece);
}

static int by_rank(const void *a, const void *b)
{
    const tl_wait *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : TL_COMPARE(x->collective, y->collective);
}

/* The path of the job is shown on the rank whose time a piece of it is, before the rank's own. */
static int by_path(const void *a, const void *b)
{
    const tl_rank_path_row *x = a, *y = b;
    int32_t of_x = x->rank < 0 ? x->peer : x->rank, of_y = y->rank < 0 ? y->peer : y->rank;
    if (of_x != of_y)
        return TL_COMPARE(of_x, of_y);
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : TL_COMPARE(x->number, y->number);
}

static tl_status load(tl_result *result, loading *l, tl_error *err)
{
    tl_status st = tl_result_each(result, &tl_collective_row_schema, take_collective, l, err);
    if (st == TL_OK)
        st = tl_result_each(result, &tl_arrival_schema, take_arrival, l, err);
    if (st == TL_OK)
        st = tl_result_each(result, &tl_gap_peer_schema, take_gap, l, err);
    if (st == TL_OK && tl_result_find(result, "path") != NULL)
        st = tl_result_each(result, &tl_rank_path_row_schema, take_piece, l, err);
    tl_vec_sort(&l->path, by_path);
    if (st == TL_OK && l->waits.n > 1)
        qsort(l->waits.v, l->waits.n, sizeof *l->waits.v, by_rank);
    return st;
}

tl_status tl_waits_load(const char *path, const tl_plan *plan, const bool *wanted, tl_waits *out, tl_error *err)
{
    tl_result *result = NULL;
    loading l = { .plan = plan, .out = out };

    out->rank_of = tl_malloc((plan->n + 1) * sizeof *out->rank_of);
    l.ranks = tl_malloc((plan->n + 1) * sizeof *l.ranks);
    l.by_path = tl_calloc(plan->n + 1, sizeof *l.by_path);
    for (size_t i = 0; i < plan->n; i++)
        out->rank_of[i] = -1;
    tl_status st = tl_result_open(path, &result, err);
    l.result = result;
    if (st == TL_OK)
        st = find_ranks(result, path, &l, wanted, err);
    if (st == TL_OK)
        st = load(result, &l, err);
    out->v = l.waits.v;
    out->n = l.waits.n;
    out->path = l.path.v;
    out->npath = l.path.n;
    tl_result_close(result);
    free(l.collectives.v);
    free(l.by_path);
    free(l.ranks);
    return st;
}

void tl_waits_free(tl_waits *waits)
{
    free(waits->v);
    free(waits->path);
    tl_names_free(&waits->names);
    free(waits->rank_of);
}

tl_rank_told tl_waits_of(const tl_waits *waits, size_t item)
{
    int64_t rank = waits->rank_of != NULL ? waits->rank_of[item] : -1;
    tl_rank_told told = { .names = &waits->names };
    size_t first = 0, past = 0;

    if (rank < 0)
        return told;
    TL_BISECT(first, waits->n, mid, waits->v[mid].rank < rank);
    TL_BISECT(past, waits->n, mid, waits->v[mid].rank <= rank);
    told.nwaits = past - first;
    told.waits = told.nwaits > 0 ? &waits->v[first] : NULL;
    const tl_rank_path_row own = { .rank = (int32_t)rank, .number = -1 },
                           job = { .rank = -1, .peer = own.rank, .number = -1 };
    const tl_rank_path_row next = { .rank = -1, .peer = own.rank + 1, .number = -1 };
    size_t of_job = 0, of_rank = 0, end = 0;
    TL_BISECT(of_job, waits->npath, mid, by_path(&waits->path[mid], &job) < 0);
    TL_BISECT(of_rank, waits->npath, mid, by_path(&waits->path[mid], &own) < 0);
    TL_BISECT(end, waits->npath, mid, by_path(&waits->path[mid], &next) < 0);
    told.npath = end - of_job;
    told.nof_job = of_rank - of_job;
    told.path = told.npath > 0 ? &waits->path[of_job] : NULL;
    return told;
}
