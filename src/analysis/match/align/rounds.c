/* rounds.c - what no other rule has matched, by when it ended: rows of ranks against that of one rank of their group,
 * in rounds. */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ rows */

static tl_participant *at(const tl_align_rows *r, size_t i)
{
    return &r->participants[r->order[i]];
}

static int by_end(const void *participants, uint32_t a, uint32_t b)
{
    const tl_participant *x = (const tl_participant *)participants + a, *y = (const tl_participant *)participants + b;
    int order = TL_COMPARE(x->group, y->group);
    if (order == 0)
        order = TL_COMPARE(x->rank, y->rank);
    if (order == 0)
        order = TL_COMPARE(x->end_ns, y->end_ns);
    return order != 0 ? order : TL_COMPARE(x->uid, y->uid);
}

void tl_align_rows_make(tl_align_rows *r, tl_participant *participants, size_t n)
{
    *r = (tl_align_rows){ participants, tl_malloc((n + 1) * sizeof *r->order), n };
    for (size_t i = 0; i < n; i++)
        r->order[i] = (uint32_t)i;
    tl_sort_index(r->order, n, by_end, participants);
}

void tl_align_rows_free(tl_align_rows *r)
{
    free(r->order);
    *r = (tl_align_rows){ 0 };
}

/* The end of the row that begins at `from`. */
static size_t row_end(const tl_align_rows *r, size_t from)
{
    size_t to = from;
    while (to < r->n && at(r, to)->group == at(r, from)->group && at(r, to)->rank == at(r, from)->rank)
        to++;
    return to;
}

static tl_align_tally count_row(const tl_align_rows *r, size_t from, size_t to)
{
    tl_align_tally t = { .group = at(r, from)->group, .rank = at(r, from)->rank };
    for (size_t i = from; i < to; i++) {
        t.keyed += at(r, i)->key != 0;
        t.open += at(r, i)->key == 0;
    }
    return t;
}

void tl_align_count(const tl_align_rows *r, tl_align_tallies *out)
{
    for (size_t from = 0, to; from < r->n; from = to) {
        to = row_end(r, from);
        tl_vec_room(out);
        out->v[out->n++] = count_row(r, from, to);
    }
}

/* ------------------------------------------------------------------------------------------------------ references */

static int by_group(const void *a, const void *b)
{
    const tl_align_tally *x = a, *y = b;
    int order = TL_COMPARE(x->group, y->group);
    return order != 0 ? order : TL_COMPARE(x->rank, y->rank);
}

/* Returns the reference for the ranks t[0, n) of one group, in rank order; -1 if no other rank has open items. */
static int32_t choose(const tl_align_tally *t, size_t n, bool first)
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

void tl_align_choose(tl_align_tally *t, size_t n, bool first, tl_align_references *out)
{
    if (n > 0)
        qsort(t, n, sizeof *t, by_group);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && t[to].group == t[from].group; to++)
            ;
        int32_t rank = choose(t + from, to - from, first);
        if (rank < 0)
            continue;
        tl_vec_room(out);
        out->v[out->n++] = (tl_align_reference){ t[from].group, rank };
    }
}

static int find_group(const void *key, const void *entry)
{
    const int32_t *group = key;
    const tl_align_reference *x = entry;
    return TL_COMPARE(*group, x->group);
}

static const tl_align_reference *reference_of(const tl_align_references *references, int32_t group)
{
    return references->n > 0 ? bsearch(&group, references->v, references->n, sizeof *references->v, find_group) : NULL;
}

/* ----------------------------------------------------------------------------------------------------------- items */

static tl_align_item item_of(const tl_participant *p)
{
    return (tl_align_item){ .end_ns = p->end_ns, .bytes = p->bytes, .key = p->key, .dtype = p->dtype, .kind = p->kind };
}

void tl_align_offer(const tl_align_rows *r, const tl_align_references *references, tl_align_sents *out)
{
    for (size_t i = 0; i < r->n; i++) {
        tl_participant *p = at(r, i);
        const tl_align_reference *ref = reference_of(references, p->group);
        if (ref == NULL || ref->rank != p->rank)
            continue;
        if (p->key == 0) {
            p->key = tl_lone_key(p);
            p->rule = TL_BY_ENDTIME;
        }
        tl_vec_room(out);
        out->v[out->n++] = (tl_align_sent){ .item = item_of(p), .group = p->group };
    }
}

/* Whether the row needs a reference that there is. */
static bool needs(const tl_align_rows *r, size_t from, size_t to, const tl_align_references *references)
{
    const tl_align_reference *ref = reference_of(references, at(r, from)->group);
    return ref != NULL && ref->rank != at(r, from)->rank && count_row(r, from, to).open > 0;
}

void tl_align_need(const tl_align_rows *r, const tl_align_references *references, tl_align_groups *out)
{
    for (size_t from = 0, to; from < r->n; from = to) {
        int32_t group = at(r, from)->group;
        to = row_end(r, from);
        if (!needs(r, from, to, references) || (out->n > 0 && out->v[out->n - 1] == group))
            continue;
        tl_vec_room(out);
        out->v[out->n++] = group;
    }
}

/* ----------------------------------------------------------------------------------------------------------- round */

/* Room for two rows. */
typedef struct bench {
    tl_align_item *mine, *ref;
    int64_t *match;
} bench;

/* Row [from, to) against ref[0, nref). */
static void align_row(const tl_align_rows *r, size_t from, size_t to, const bench *b, size_t nref)
{
    size_t n = to - from;
    for (size_t i = 0; i < n; i++)
        b->mine[i] = item_of(at(r, from + i));
    tl_align(b->mine, n, b->ref, nref, b->match);
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = at(r, from + i);
        if (b->match[i] < 0)
            continue;
        p->key = b->ref[b->match[i]].key;
        p->rule = TL_BY_ENDTIME;
    }
}

static int by_sent_group(const void *sent, uint32_t a, uint32_t b)
{
    const tl_align_sent *v = sent;
    return TL_COMPARE(v[a].group, v[b].group);
}

void tl_align_round(const tl_align_rows *r, const tl_align_references *references, const tl_align_sents *sent)
{
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, sent->n, sizeof *order);
    bench b = { tl_arena_take(&arena, r->n, sizeof *b.mine), tl_arena_take(&arena, sent->n, sizeof *b.ref),
                tl_arena_take(&arena, r->n, sizeof *b.match) };
    size_t at_sent = 0;

    for (size_t i = 0; i < sent->n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, sent->n, by_sent_group, sent->v);
    for (size_t from = 0, to, nref = 0; from < r->n; from = to) {
        int32_t group = at(r, from)->group;
        to = row_end(r, from);
        if (!needs(r, from, to, references))
            continue;
        if (at_sent < sent->n && sent->v[order[at_sent]].group <= group) { /* a new group: its reference */
            while (at_sent < sent->n && sent->v[order[at_sent]].group < group)
                at_sent++;
            for (nref = 0; at_sent < sent->n && sent->v[order[at_sent]].group == group; at_sent++)
                b.ref[nref++] = sent->v[order[at_sent]].item;
        }
        align_row(r, from, to, &b, nref);
    }
    tl_arena_free(&arena);
}
