/* align.c - what no other rule has matched, by when it ended: in rounds, until nothing more is found.
 *
 *     every proc   tallies       for each rank and group: how many have a key, how many are open
 *     proc 0       references    for each group the rank that the others are compared with
 *     its proc     items         ends and keys of its row, by way of the owner of the group, to the procs that need them
 *     every proc   aligns        the rows of its ranks
 *
 * The first reference is the rank of whose collectives most have a key, the next the one with most that are still open.
 */
#include "parts.h"
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

typedef struct tally {
    int32_t group, rank;
    uint32_t keyed, open;
} tally;

typedef struct reference {
    int32_t group, rank;
} reference;

/* One of a reference's row on its way, and who asks for the row. */
typedef struct sent_item {
    tl_align_item item;
    int32_t group, padding;
} sent_item;

typedef struct request {
    int32_t group, proc;
} request;

typedef TL_VEC(tally) tally_list;
typedef TL_VEC(reference) reference_list;
typedef TL_VEC(sent_item) item_list;
typedef TL_VEC(request) request_list;

/* The participants of this proc by group, rank and end. */
typedef struct rows {
    tl_participant *parts;
    uint32_t *order;
    size_t n;
} rows;

static tl_participant *at(const rows *r, size_t i)
{
    return &r->parts[r->order[i]];
}

static int by_end(const void *parts, uint32_t a, uint32_t b)
{
    const tl_participant *x = (const tl_participant *)parts + a, *y = (const tl_participant *)parts + b;
    int order = TL_COMPARE(x->group, y->group);
    if (order == 0)
        order = TL_COMPARE(x->rank, y->rank);
    if (order == 0)
        order = TL_COMPARE(x->end_ns, y->end_ns);
    return order != 0 ? order : TL_COMPARE(x->uid, y->uid);
}

static bool rows_make(rows *r, tl_participants *set)
{
    *r = (rows){ set->parts.v, tl_malloc((set->parts.n + 1) * sizeof *r->order), set->parts.n };
    for (size_t i = 0; r->order != NULL && i < r->n; i++)
        r->order[i] = (uint32_t)i;
    return r->order != NULL && tl_sort_index(r->order, r->n, by_end, r->parts);
}

/* The end of the row that begins at `from`. */
static size_t row_end(const rows *r, size_t from)
{
    size_t to = from;
    while (to < r->n && at(r, to)->group == at(r, from)->group && at(r, to)->rank == at(r, from)->rank)
        to++;
    return to;
}

static tally count_row(const rows *r, size_t from, size_t to)
{
    tally t = { .group = at(r, from)->group, .rank = at(r, from)->rank };
    for (size_t i = from; i < to; i++) {
        t.keyed += at(r, i)->key != 0;
        t.open += at(r, i)->key == 0;
    }
    return t;
}

/* ------------------------------------------------------------------------------------------------------ references */

static int by_group(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = TL_COMPARE(x->group, y->group);
    return order != 0 ? order : TL_COMPARE(x->rank, y->rank);
}

/* Proc 0: the reference for the ranks t[0, n) of one group, in rank order; -1 where it would serve nobody. */
static int32_t choose(const tally *t, size_t n, bool first)
{
    size_t best = n, open = 0;
    for (size_t i = 0; i < n; i++) {
        open += t[i].open > 0;
        if (!first && t[i].open == 0)
            continue;
        if (best == n || (first && t[i].keyed > t[best].keyed) ||
            ((!first || t[i].keyed == t[best].keyed) && t[i].open > t[best].open))
            best = i;
    }
    return best < n && open > (size_t)(t[best].open > 0) ? t[best].rank : -1;
}

static bool choose_all(tally *t, size_t n, bool first, reference_list *out)
{
    if (n > 0)
        qsort(t, n, sizeof *t, by_group);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && t[to].group == t[from].group; to++)
            ;
        int32_t rank = choose(t + from, to - from, first);
        if (rank < 0)
            continue;
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = (reference){ t[from].group, rank };
    }
    return true;
}

/* The references of this round, by group; the same everywhere. */
static tl_status find_references(const rows *r, bool first, reference_list *out, tl_error *err)
{
    tally_list mine = { 0 };
    tally *all = NULL;
    size_t n = 0;
    bool ok = true;

    for (size_t from = 0, to; ok && from < r->n; from = to) {
        to = row_end(r, from);
        ok = tl_vec_room(&mine);
        if (ok)
            mine.v[mine.n++] = count_row(r, from, to);
    }
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine.v, mine.n, sizeof *mine.v, (void **)&all, &n, NULL, err);
    free(mine.v);
    if (st == TL_OK && !choose_all(all, n, first, out))
        st = tl_fail_memory(err, "the alignment of collectives");
    free(all);
    st = tl_par_agree(st, err);
    return st == TL_OK ? tl_share_rows((void **)&out->v, &out->n, sizeof *out->v, err) : st;
}

static int find_group(const void *key, const void *entry)
{
    const int32_t *group = key;
    const reference *x = entry;
    return TL_COMPARE(*group, x->group);
}

static const reference *reference_of(const reference_list *references, int32_t group)
{
    return references->n > 0 ? bsearch(&group, references->v, references->n, sizeof *references->v, find_group) : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- items */

static tl_align_item item_of(const tl_participant *p)
{
    return (tl_align_item){ .end_ns = p->end_ns, .bytes = p->bytes, .key = p->key, .dtype = p->dtype, .kind = p->kind };
}

/* The reference's open ones get keys of their own, which others may take on; the whole row goes out. */
static bool send_row(const rows *r, size_t from, size_t to, item_list *out)
{
    for (size_t i = from; i < to; i++) {
        tl_participant *p = at(r, i);
        if (p->key == 0) {
            p->key = tl_lone_key(p);
            p->rule = TL_BY_ENDTIME;
        }
        if (!tl_vec_room(out))
            return false;
        out->v[out->n++] = (sent_item){ .item = item_of(p), .group = p->group };
    }
    return true;
}

/* What this proc has for others, and what it asks for. */
static bool prepare(const rows *r, const reference_list *references, item_list *items, request_list *requests)
{
    for (size_t from = 0, to; from < r->n; from = to) {
        to = row_end(r, from);
        const reference *ref = reference_of(references, at(r, from)->group);
        if (ref == NULL)
            continue;
        if (ref->rank == at(r, from)->rank) {
            if (!send_row(r, from, to, items))
                return false;
        } else if (count_row(r, from, to).open > 0 &&
                   (requests->n == 0 || requests->v[requests->n - 1].group != ref->group)) {
            if (!tl_vec_room(requests))
                return false;
            requests->v[requests->n++] = (request){ ref->group, tl_par_proc() };
        }
    }
    return true;
}

/* Rows of `size` bytes, each beginning with an int32_t at `offset` that names its goal, modulo the number of procs. */
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

static int by_item_group(const void *items, uint32_t a, uint32_t b)
{
    const sent_item *v = items;
    return TL_COMPARE(v[a].group, v[b].group);
}

/* The owner of groups: a copy of the row for each who asks; `padding` names him. */
static bool answer(const item_list *items, const request_list *requests, item_list *out)
{
    uint32_t *order = tl_malloc((items->n + 1) * sizeof *order);
    for (size_t i = 0; order != NULL && i < items->n; i++)
        order[i] = (uint32_t)i;
    bool ok = order != NULL && tl_sort_index(order, items->n, by_item_group, items->v);

    for (size_t q = 0; ok && q < requests->n; q++) {
        size_t low = 0;
        TL_BISECT(low, items->n, mid, items->v[order[mid]].group < requests->v[q].group);
        for (; ok && low < items->n && items->v[order[low]].group == requests->v[q].group; low++) {
            ok = tl_vec_room(out);
            if (ok) {
                out->v[out->n] = items->v[order[low]];
                out->v[out->n++].padding = requests->v[q].proc;
            }
        }
    }
    free(order);
    return ok;
}

/* The rows of references that this proc needs. */
static tl_status exchange(const rows *r, const reference_list *references, item_list *out, tl_error *err)
{
    item_list items = { 0 };
    request_list requests = { 0 };
    bool ok = prepare(r, references, &items, &requests);

    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    if (st == TL_OK)
        st = move((void **)&items.v, &items.n, sizeof *items.v, offsetof(sent_item, group), err);
    if (st == TL_OK)
        st = move((void **)&requests.v, &requests.n, sizeof *requests.v, offsetof(request, group), err);
    if (st == TL_OK) {
        ok = answer(&items, &requests, out);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    }
    free(items.v);
    free(requests.v);
    return st == TL_OK ? move((void **)&out->v, &out->n, sizeof *out->v, offsetof(sent_item, padding), err) : st;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Room for two rows. */
typedef struct bench {
    tl_align_item *mine, *ref;
    int64_t *match;
} bench;

/* Row [from, to) against ref[0, nref). */
static bool align_row(const rows *r, size_t from, size_t to, const bench *b, size_t nref)
{
    size_t n = to - from;
    for (size_t i = 0; i < n; i++)
        b->mine[i] = item_of(at(r, from + i));
    if (!tl_align(b->mine, n, b->ref, nref, b->match))
        return false;
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = at(r, from + i);
        if (b->match[i] < 0)
            continue;
        p->key = b->ref[b->match[i]].key;
        p->rule = TL_BY_ENDTIME;
    }
    return true;
}

/* All rows of this proc that have open ones and whose reference has come. */
static bool align_rows(const rows *r, const reference_list *references, const item_list *items)
{
    uint32_t *order = tl_malloc((items->n + 1) * sizeof *order);
    bench b = { tl_malloc((r->n + 1) * sizeof *b.mine), tl_malloc((items->n + 1) * sizeof *b.ref),
                tl_malloc((r->n + 1) * sizeof *b.match) };
    bool ok = order != NULL && b.mine != NULL && b.ref != NULL && b.match != NULL;
    size_t at_item = 0;

    for (size_t i = 0; ok && i < items->n; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, items->n, by_item_group, items->v);
    for (size_t from = 0, to, nref = 0; ok && from < r->n; from = to) {
        int32_t group = at(r, from)->group;
        to = row_end(r, from);
        const reference *ref = reference_of(references, group);
        if (ref == NULL || ref->rank == at(r, from)->rank || count_row(r, from, to).open == 0)
            continue;
        if (at_item < items->n && items->v[order[at_item]].group <= group) { /* a new group: its reference */
            while (at_item < items->n && items->v[order[at_item]].group < group)
                at_item++;
            for (nref = 0; at_item < items->n && items->v[order[at_item]].group == group; at_item++)
                b.ref[nref++] = items->v[order[at_item]].item;
        }
        ok = align_row(r, from, to, &b, nref);
    }
    free(order);
    free(b.mine);
    free(b.ref);
    free(b.match);
    return ok;
}

static tl_status align_round(const rows *r, bool first, bool *more, tl_error *err)
{
    reference_list references = { 0 };
    item_list items = { 0 };

    tl_status st = find_references(r, first, &references, err);
    *more = st == TL_OK && references.n > 0;
    if (*more) {
        st = exchange(r, &references, &items, err);
        if (st == TL_OK) {
            bool ok = align_rows(r, &references, &items);
            st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
        }
    }
    free(references.v);
    free(items.v);
    return st;
}

tl_status tl_match_align(tl_matching *m, tl_error *err)
{
    rows r = { 0 };
    size_t open = 0, before, total;
    bool more = true;

    for (size_t i = 0; i < m->set->parts.n; i++)
        open += m->set->parts.v[i].key == 0;
    tl_status st = tl_count_before(open, &before, &total, err);
    if (st != TL_OK || total == 0)
        return st;
    st = tl_par_agree(rows_make(&r, m->set) ? TL_OK : tl_fail_memory(err, "the alignment of collectives"), err);
    for (int round = 0; st == TL_OK && more && round < MOST_ROUNDS; round++)
        st = align_round(&r, round == 0, &more, err);
    free(r.order);
    for (size_t i = 0; i < m->set->parts.n; i++)
        if (m->set->parts.v[i].key == 0)
            m->set->parts.v[i].key = tl_lone_key(&m->set->parts.v[i]);
    return st;
}
