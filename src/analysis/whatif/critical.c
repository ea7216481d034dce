/* critical.c - from the end of the job back to its beginning, always to what came last. */
#include "critical.h"
#include "tlmpi/base/mem.h"
#include "parts.h"
#include <stdlib.h>
#include <string.h>

/* Where the walk is: at the end of an entry of one of the chains of a rank, or at the end of a comm. */
typedef struct place {
    uint32_t rank;
    uint32_t entry; /* in the rank's program; TL_NONE */
    uint32_t comm;  /* of all; TL_NONE.  Neither: the beginning of the rank */
} place;

typedef struct walk {
    tl_whatif *w;
    tl_path *path;
    uint32_t *before;   /* by entry of all: the entry before it on its chain, TL_NONE */
    uint32_t *stage_of; /* by comm */
    int64_t now_ns;
    place at;
} walk;

static int64_t start_of(const tl_whatif *w, uint32_t rank)
{
    return w->in.programs[rank].start_ns + tl_whatif_offset(w, rank);
}

static bool prepare(walk *k)
{
    const tl_whatif *w = k->w;

    k->before = tl_malloc((w->nentries + 1) * sizeof *k->before);
    k->stage_of = tl_malloc((w->ncomms + 1) * sizeof *k->stage_of);
    k->path->by_rank = tl_calloc(w->nall + 1, sizeof *k->path->by_rank);
    k->path->own = tl_calloc(w->nall + 1, sizeof *k->path->own);
    if (k->before == NULL || k->stage_of == NULL || k->path->by_rank == NULL || k->path->own == NULL)
        return false;
    for (uint32_t r = 0; r < w->nall; r++) {
        uint32_t last[2] = { TL_NONE, TL_NONE };
        for (uint32_t i = 0; i < w->in.programs[r].nentries; i++) {
            uint8_t chain = w->in.programs[r].entries[i].chain;
            k->before[w->entry_base[r] + i] = last[chain];
            last[chain] = i;
        }
    }
    for (uint32_t s = 0; s < w->nstages; s++)
        for (uint32_t i = w->stages[s].first_leave; i < w->stages[s].end_leave; i++)
            k->stage_of[w->leaves[i]] = s;
    return true;
}

/* Of all work and all communication what ended last; of equals that of the lower rank. */
static bool find_end(walk *k)
{
    const tl_whatif *w = k->w;
    bool found = false;

    for (uint32_t r = 0; r < w->in.nranks; r++) {
        const tl_program *p = &w->in.programs[r];
        for (uint32_t i = 0; i < p->nentries; i++) {
            int64_t t = w->t[w->entry_base[r] + i];
            if (p->entries[i].chain == TL_CHAIN_WORK && (!found || t > k->now_ns)) {
                k->now_ns = t;
                k->at = (place){ r, i, TL_NONE };
                found = true;
            }
        }
        for (size_t i = w->comm_base[r]; i < w->comm_base[r + 1]; i++) {
            if (!found || w->end[i] > k->now_ns) {
                k->now_ns = w->end[i];
                k->at = (place){ r, TL_NONE, (uint32_t)i };
                found = true;
            }
        }
    }
    return found;
}

/* ----------------------------------------------------------------------------------------------------------- parts */

/* Time of a segment's work, or of its host, as the parts that it is made of; what none is known of counts as `rest`. */
static void divide(const tl_program *p, uint32_t segment, int64_t ns, bool work, tl_parts *sum)
{
    tl_parts own = { { 0 } };
    int64_t all = 0, given = 0;

    tl_program_parts(p, segment, &own);
    for (int part = 0; part < TL_NPARTS; part++)
        all += tl_part_is_work((tl_part)part) == work ? own.ns[part] : 0;
    for (int part = 0; part < TL_NPARTS; part++) {
        if (tl_part_is_work((tl_part)part) != work)
            continue;
        int64_t share = tl_portion(ns, own.ns[part], all);
        sum->ns[part] += share;
        given += share;
    }
    sum->ns[work ? TL_PART_COMPUTE : TL_PART_HOST] += ns - given;
}

static void count(const walk *k, const tl_path_piece *piece, tl_parts *sum)
{
    const tl_program *p = &k->w->in.programs[piece->rank];
    int64_t ns = piece->end_ns - piece->start_ns;

    if (piece->kind == TL_PATH_TRANSFER)
        sum->ns[TL_PART_COMM] += ns;
    else if (piece->kind == TL_PATH_LATENCY)
        sum->ns[TL_PART_DEVICE] += ns;
    else
        divide(p, piece->segment, ns, piece->kind == TL_PATH_WORK, sum);
}

/* What each rank has of each part in all, counted like the path. */
static void find_own(const walk *k)
{
    const tl_whatif *w = k->w;
    tl_parts *mean = &k->path->mean;
    size_t n = 0;

    for (uint32_t r = 0; r < w->nall; r++) {
        const tl_program *p = &w->in.programs[r];
        tl_parts *own = &k->path->own[r];
        n += p->nsegments > 0 && r < w->in.nranks;
        for (uint32_t s = 0; s < p->nsegments; s++) {
            divide(p, s, p->segments[s].work_ns, true, own);
            divide(p, s, p->segments[s].host_ns, false, own);
        }
        for (size_t i = w->comm_base[r]; i < w->comm_base[r + 1]; i++)
            own->ns[TL_PART_COMM] += w->transfer_ns[i] > 0 ? w->transfer_ns[i] : 0;
        for (int part = 0; part < TL_NPARTS && r < w->in.nranks; part++)
            mean->ns[part] += own->ns[part];
    }
    for (int part = 0; part < TL_NPARTS; part++)
        mean->ns[part] /= n > 0 ? (int64_t)n : 1;
}

/* The path is at its beginning. */
static void find_before(const walk *k)
{
    const tl_whatif *w = k->w;
    int64_t first = k->now_ns;

    for (uint32_t r = 0; r < w->in.nranks; r++)
        if (w->in.programs[r].nsegments > 0 && start_of(w, r) < first)
            first = start_of(w, r);
    k->path->before_ns = k->now_ns - first;
}

/* ------------------------------------------------------------------------------------------------------------ walk */

/* Goes back to `to`, which was at to_ns; what lies between is a piece of the path. */
static bool go(walk *k, int64_t to_ns, place to, tl_path_kind kind, uint32_t segment)
{
    tl_path *path = k->path;

    to_ns = to_ns < k->now_ns ? to_ns : k->now_ns;
    if (to_ns < k->now_ns) {
        tl_path_piece piece = { to_ns, k->now_ns, k->at.rank, segment, kind };
        tl_path_piece *last = path->n > 0 ? &path->v[path->n - 1] : NULL;
        count(k, &piece, &path->by_rank[piece.rank]);
        if (last != NULL && last->rank == piece.rank && last->segment == segment && last->kind == kind) {
            last->start_ns = to_ns;
        } else {
            if (!tl_vec_room(path))
                return false;
            path->v[path->n++] = piece;
        }
    }
    k->now_ns = to_ns;
    k->at = to;
    return true;
}

static bool go_to_entry(walk *k, uint32_t entry, int64_t to_ns, tl_path_kind kind, uint32_t segment)
{
    return go(k, to_ns, (place){ k->at.rank, entry, TL_NONE }, kind, segment);
}

static bool from_work(walk *k, const tl_entry *e)
{
    const tl_whatif *w = k->w;
    uint32_t r = k->at.rank, before = k->before[w->entry_base[r] + k->at.entry];
    const int64_t *t = w->t + w->entry_base[r];
    int64_t from = before != TL_NONE ? t[before] : start_of(w, r);
    uint32_t comm = e->comm != TL_NONE ? (uint32_t)(w->comm_base[r] + e->comm) : TL_NONE;

    if (comm != TL_NONE && w->end[comm] > from) {
        from = w->end[comm];
        before = TL_NONE;
    } else {
        comm = TL_NONE;
    }
    if (e->on != TL_NONE && t[k->at.entry] > from + e->ns) {
        /* The tail of what was launched late is work; the rest of the gate is the way from the launch to its start. */
        int64_t work = e->gate_ns < e->ns ? e->gate_ns : e->ns;
        return go_to_entry(k, k->at.entry, t[k->at.entry] - work, TL_PATH_WORK, e->segment) &&
               go_to_entry(k, e->on, t[e->on], TL_PATH_LATENCY, e->segment);
    }
    return go(k, from, (place){ r, before, comm }, TL_PATH_WORK, e->segment);
}

static bool from_host(walk *k, const tl_entry *e)
{
    const tl_whatif *w = k->w;
    uint32_t r = k->at.rank, before = k->before[w->entry_base[r] + k->at.entry];
    const int64_t *t = w->t + w->entry_base[r];
    int64_t from = before != TL_NONE ? t[before] : start_of(w, r);
    uint32_t comm = e->comm != TL_NONE ? (uint32_t)(w->comm_base[r] + e->comm) : TL_NONE;

    if (t[k->at.entry] <= from + e->ns)
        return go_to_entry(k, before, from, TL_PATH_HOST, e->segment);
    if (e->on != TL_NONE && (comm == TL_NONE || t[e->on] >= w->end[comm]))
        return go_to_entry(k, e->on, t[e->on], TL_PATH_LATENCY, e->segment);
    return go(k, w->end[comm], (place){ r, TL_NONE, comm }, TL_PATH_LATENCY, e->segment);
}

/* From the end of a comm to the start of the last that it waited for, and on to what that one waited for. */
static bool from_comm(walk *k)
{
    const tl_whatif *w = k->w;
    uint32_t comm = k->at.comm, last = comm, entry, other;
    const tl_stage *stage = &w->stages[k->stage_of[comm]], *first = stage;

    while (first > w->stages && first[-1].collective == stage->collective)
        first--;
    if (w->end[comm] > w->start[comm])
        for (uint32_t i = first->first_seat; i < stage->end_seat; i++) {
            uint32_t seat = w->seats[i];
            if (w->start[seat] > w->start[last] ||
                (w->start[seat] == w->start[last] && w->rank_of[seat] < w->rank_of[last]))
                last = seat;
        }
    uint32_t r = w->rank_of[last];
    const tl_comm *own = &w->in.programs[k->at.rank].comms[comm - w->comm_base[k->at.rank]];
    const tl_comm *late = &w->in.programs[r].comms[last - w->comm_base[r]];
    if (!go(k, w->start[last], (place){ r, TL_NONE, last }, TL_PATH_TRANSFER, own->segment))
        return false;
    int64_t ready = tl_whatif_ready(w, last, &entry, &other);
    if (entry != TL_NONE && entry == late->host)
        ready = w->t[w->entry_base[r] + entry];
    return go(k, ready, (place){ r, entry, other }, TL_PATH_LATENCY, late->segment);
}

static bool walk_back(walk *k)
{
    const tl_whatif *w = k->w;
    bool whole = true;

    while (whole && (k->at.entry != TL_NONE || k->at.comm != TL_NONE)) {
        const tl_entry *e = k->at.entry != TL_NONE ? &w->in.programs[k->at.rank].entries[k->at.entry] : NULL;
        if (e == NULL)
            whole = from_comm(k);
        else
            whole = e->chain == TL_CHAIN_WORK ? from_work(k, e) : from_host(k, e);
    }
    for (size_t i = 0; i < k->path->n / 2; i++) {
        tl_path_piece swap = k->path->v[i];
        k->path->v[i] = k->path->v[k->path->n - 1 - i];
        k->path->v[k->path->n - 1 - i] = swap;
    }
    return whole;
}

tl_status tl_critical_path(tl_whatif *w, tl_path *path, tl_error *err)
{
    static const tl_scenario nothing = { 0 };
    walk k = { .w = w, .path = path };

    *path = (tl_path){ 0 };
    if (w->facts.state != TL_WHATIF_OK)
        return tl_fail(err, TL_EINPUT, "the job cannot be replayed");
    tl_whatif_run(w, &nothing, NULL);
    bool whole = prepare(&k);
    if (whole && find_end(&k)) {
        whole = walk_back(&k);
        find_own(&k);
        find_before(&k);
        for (size_t r = 0; r < w->nall; r++)
            for (int part = 0; part < TL_NPARTS; part++)
                path->sum.ns[part] += path->by_rank[r].ns[part];
    }
    free(k.before);
    free(k.stage_of);
    if (!whole) {
        tl_path_free(path);
        return tl_fail_memory(err, "the critical path");
    }
    return TL_OK;
}

void tl_path_free(tl_path *path)
{
    free(path->v);
    free(path->by_rank);
    free(path->own);
    *path = (tl_path){ 0 };
}

int64_t tl_path_imbalance(const tl_path *path, tl_part part)
{
    int64_t more = path->sum.ns[part] - path->mean.ns[part];
    return more > 0 && part != TL_PART_DEVICE ? more : 0;
}
