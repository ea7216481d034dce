/* align.c - what no other rule has matched, by when it ended: in rounds, until nothing more is found (match/align.h).
 *
 *     every proc   tallies       for each rank and group: how many have a key, how many are open
 *     proc 0       references    for each group the rank that the others are compared with
 *     its proc     items         ends and keys of its row, by way of the owner of the group, to the procs that need them
 *     every proc   aligns        the rows of its ranks
 */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/par/par.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What two ranks have in common and the reference has not takes another round; groups that nothing names may be
 * several. */
enum { MOST_ROUNDS = 8 };

/* Who needs the row of a group's reference. */
typedef struct request {
    int32_t group, proc;
} request;

typedef TL_VEC(request) request_list;

/* The references of this round, by group; the same everywhere. */
static tl_status find_references(const tl_align_rows *r, bool first, tl_align_references *out, tl_error *err)
{
    tl_align_tallies mine = { 0 };
    tl_align_tally *all = NULL;
    size_t n = 0;

    bool ok = tl_align_count(r, &mine);
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&all, &n, NULL, err);
    free(mine.v);
    if (st == TL_OK && !tl_align_choose(all, n, first, out))
        st = tl_fail_memory(err, "the alignment of collectives");
    free(all);
    st = tl_par_agree(st, err);
    return st == TL_OK ? tl_par_share((void **)&out->v, &out->n, sizeof *out->v, err) : st;
}

/* ----------------------------------------------------------------------------------------------------------- items */

static bool list_requests(const tl_align_rows *r, const tl_align_references *references, request_list *out)
{
    tl_align_groups groups = { 0 };
    bool ok = tl_align_need(r, references, &groups);
    for (size_t i = 0; ok && i < groups.n; i++) {
        ok = tl_vec_room(out);
        if (ok)
            out->v[out->n++] = (request){ groups.v[i], tl_par_proc() };
    }
    free(groups.v);
    return ok;
}

/* Rows of `size` bytes, each with an int32_t at `offset` that names its goal, modulo the number of procs. */
static tl_status move(void **v, size_t *n, size_t size, size_t offset, tl_error *err)
{
    int32_t *to = tl_malloc((*n + 1) * sizeof *to), goal;
    void *moved = NULL;
    size_t nmoved = 0;

    for (size_t i = 0; to != NULL && i < *n; i++) {
        memcpy(&goal, (const char *)*v + i * size + offset, sizeof goal);
        to[i] = goal % tl_par_nprocs();
    }
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(*v, *n, size, to, &moved, &nmoved, err);
    free(to);
    free(*v);
    *v = moved;
    *n = nmoved;
    return st;
}

static int by_group(const void *items, uint32_t a, uint32_t b)
{
    const tl_align_sent *v = items;
    return TL_COMPARE(v[a].group, v[b].group);
}

/* The owner of groups: a copy of the row for each who asks. */
static bool answer(const tl_align_sents *items, const request_list *requests, tl_align_sents *out)
{
    uint32_t *order = tl_malloc((items->n + 1) * sizeof *order);
    for (size_t i = 0; order != NULL && i < items->n; i++)
        order[i] = (uint32_t)i;
    bool ok = order != NULL && tl_sort_index(order, items->n, by_group, items->v);

    for (size_t q = 0; ok && q < requests->n; q++) {
        size_t low = 0;
        TL_BISECT(low, items->n, mid, items->v[order[mid]].group < requests->v[q].group);
        for (; ok && low < items->n && items->v[order[low]].group == requests->v[q].group; low++) {
            ok = tl_vec_room(out);
            if (ok) {
                out->v[out->n] = items->v[order[low]];
                out->v[out->n++].to = requests->v[q].proc;
            }
        }
    }
    free(order);
    return ok;
}

/* The rows of references that this proc needs. */
static tl_status exchange(const tl_align_rows *r, const tl_align_references *references, tl_align_sents *out,
                          tl_error *err)
{
    tl_align_sents items = { 0 };
    request_list requests = { 0 };
    bool ok = list_requests(r, references, &requests) && tl_align_offer(r, references, &items);

    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    if (st == TL_OK)
        st = move((void **)&items.v, &items.n, sizeof *items.v, offsetof(tl_align_sent, group), err);
    if (st == TL_OK)
        st = move((void **)&requests.v, &requests.n, sizeof *requests.v, offsetof(request, group), err);
    if (st == TL_OK) {
        ok = answer(&items, &requests, out);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    }
    free(items.v);
    free(requests.v);
    return st == TL_OK ? move((void **)&out->v, &out->n, sizeof *out->v, offsetof(tl_align_sent, to), err) : st;
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

static tl_status align_round(const tl_align_rows *r, bool first, bool *more, tl_error *err)
{
    tl_align_references references = { 0 };
    tl_align_sents items = { 0 };

    tl_status st = find_references(r, first, &references, err);
    *more = st == TL_OK && references.n > 0;
    if (*more) {
        st = exchange(r, &references, &items, err);
        if (st == TL_OK) {
            bool ok = tl_align_round(r, &references, &items);
            st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
        }
    }
    free(references.v);
    free(items.v);
    return st;
}

tl_status tl_match_align(tl_matching *m, tl_error *err)
{
    tl_align_rows r = { 0 };
    size_t open = 0, before, total;
    bool more = true;

    for (size_t i = 0; i < m->set->participants.n; i++)
        open += m->set->participants.v[i].key == 0;
    tl_status st = tl_count_before(open, &before, &total, err);
    if (st != TL_OK || total == 0)
        return st;
    bool ok = tl_align_rows_make(&r, m->set->participants.v, m->set->participants.n);
    st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    for (int round = 0; st == TL_OK && more && round < MOST_ROUNDS; round++)
        st = align_round(&r, round == 0, &more, err);
    tl_align_rows_free(&r);
    tl_match_alone(m->set->participants.v, m->set->participants.n);
    return st;
}
