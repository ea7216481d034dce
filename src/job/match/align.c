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

/* Rounds of alignment, at most.  Collectives that two ranks share and the reference lacks need another round; a group
 * without a name may be several groups. */
enum { MOST_ROUNDS = 8 };

/* A proc's request for the row of a group's reference. */
typedef struct request {
    int32_t group, proc;
} request;

typedef TL_VEC(request) request_list;

/* The references of this round, by group; the same everywhere. */
static void find_references(const tl_align_rows *r, bool first, tl_align_references *out)
{
    tl_align_tallies mine = { 0 };
    tl_align_tally *all = NULL;
    size_t n = 0;

    tl_align_count(r, &mine);
    tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&all, &n, NULL);
    free(mine.v);
    tl_align_choose(all, n, first, out);
    free(all);
    tl_par_share((void **)&out->v, &out->n, sizeof *out->v);
}

/* ----------------------------------------------------------------------------------------------------------- items */

static void list_requests(const tl_align_rows *r, const tl_align_references *references, request_list *out)
{
    tl_align_groups groups = { 0 };
    tl_align_need(r, references, &groups);
    for (size_t i = 0; i < groups.n; i++) {
        tl_vec_room(out);
        out->v[out->n++] = (request){ groups.v[i], tl_par_proc() };
    }
    free(groups.v);
}

/* Rows of `size` bytes, each with an int32_t at `offset` that names its goal, modulo the number of procs. */
static void move(void **v, size_t *n, size_t size, size_t offset)
{
    int32_t *to = tl_malloc((*n + 1) * sizeof *to), goal;
    void *moved = NULL;
    size_t nmoved = 0;

    for (size_t i = 0; i < *n; i++) {
        memcpy(&goal, (const char *)*v + i * size + offset, sizeof goal);
        to[i] = goal % tl_par_nprocs();
    }
    tl_par_shuffle(*v, *n, size, to, &moved, &nmoved);
    free(to);
    free(*v);
    *v = moved;
    *n = nmoved;
}

static int by_group(const void *items, uint32_t a, uint32_t b)
{
    const tl_align_sent *v = items;
    return TL_COMPARE(v[a].group, v[b].group);
}

/* At the owner of groups: sends a copy of the reference's row to each proc that asks. */
static void answer(const tl_align_sents *items, const request_list *requests, tl_align_sents *out)
{
    uint32_t *order = tl_malloc((items->n + 1) * sizeof *order);
    for (size_t i = 0; i < items->n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, items->n, by_group, items->v);

    for (size_t q = 0; q < requests->n; q++) {
        size_t low = 0;
        TL_BISECT(low, items->n, mid, items->v[order[mid]].group < requests->v[q].group);
        for (; low < items->n && items->v[order[low]].group == requests->v[q].group; low++) {
            tl_vec_room(out);
            out->v[out->n] = items->v[order[low]];
            out->v[out->n++].to = requests->v[q].proc;
        }
    }
    free(order);
}

/* The rows of references that this proc needs. */
static void exchange(const tl_align_rows *r, const tl_align_references *references, tl_align_sents *out)
{
    tl_align_sents items = { 0 };
    request_list requests = { 0 };
    list_requests(r, references, &requests);
    tl_align_offer(r, references, &items);

    move((void **)&items.v, &items.n, sizeof *items.v, offsetof(tl_align_sent, group));
    move((void **)&requests.v, &requests.n, sizeof *requests.v, offsetof(request, group));
    answer(&items, &requests, out);
    free(items.v);
    free(requests.v);
    move((void **)&out->v, &out->n, sizeof *out->v, offsetof(tl_align_sent, to));
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

static void align_round(const tl_align_rows *r, bool first, bool *more)
{
    tl_align_references references = { 0 };
    tl_align_sents items = { 0 };

    find_references(r, first, &references);
    *more = references.n > 0;
    if (*more) {
        exchange(r, &references, &items);
        tl_align_round(r, &references, &items);
    }
    free(references.v);
    free(items.v);
}

void tl_match_align(tl_matching *m)
{
    tl_align_rows r = { 0 };
    size_t open = 0, before, total;
    bool more = true;

    for (size_t i = 0; i < m->set->participants.n; i++)
        open += m->set->participants.v[i].key == 0;
    tl_count_before(open, &before, &total);
    if (total == 0)
        return;
    tl_align_rows_make(&r, m->set->participants.v, m->set->participants.n);
    for (int round = 0; more && round < MOST_ROUNDS; round++)
        align_round(&r, round == 0, &more);
    tl_align_rows_free(&r);
    tl_match_alone(m->set->participants.v, m->set->participants.n);
}
