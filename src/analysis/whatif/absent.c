/* absent.c - when ranks without a trace came to their collectives.
 *
 *     rank 0    [ a ]====[ b ]===[ c ]===     =: the transfer; what comes before it is waiting
 *     absent      ?  ====  ?  ===  ?  ===
 *     rank 5         ====[d]  ===   [e]===
 *
 * It left each collective when all did, and then did what ranks of its role do: its program is that of one of them,
 * repaired, with the collectives of its own groups in it.  So it is known about when it came.  The ends tell more:
 *
 *     the transfer after the last of the others took what transfers do      it was not the last, or just so
 *     it took far longer                                                   it was the last, and came so much later
 *
 * What sets it apart from its program is kept as the lag of its comms, in all scenarios.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "parts.h"
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)

/* A transfer that takes so much longer than usual was none, but waiting for somebody who would have come about then ...
 */
#define LATE_NS (10 * US)
enum { LATE_PART = 8 };
/* ... or for whoever it was. */
#define FAR_NS (100 * US)

bool tl_whatif_give_cells(tl_whatif *w)
{
    size_t n = w->ncells, cap = w->ncells;

    for (size_t i = 0; i < w->in.nabsent; i++)
        n += w->cell_base[w->in.stand_in[i] + 1] - w->cell_base[w->in.stand_in[i]];
    if (!tl_grow((void **)&w->cells, &cap, n + 1, sizeof *w->cells))
        return false;
    for (size_t i = 0; i < w->in.nabsent; i++) {
        uint32_t like = w->in.stand_in[i];
        size_t rank = w->in.nranks + i, from = w->cell_base[like], of = w->cell_base[like + 1] - from;
        const tl_program *p = &w->in.programs[rank];
        w->cell_base[rank] = w->ncells;
        w->cell_of[rank] = tl_malloc((p->nsegments + 1) * sizeof **w->cell_of);
        if (w->cell_of[rank] == NULL)
            return false;
        for (size_t s = 0; s < p->nsegments; s++)
            w->cell_of[rank][s] = (uint32_t)(w->cell_of[like][s] - from + w->ncells);
        memcpy(w->cells + w->ncells, w->cells + from, of * sizeof *w->cells);
        w->ncells += of;
        w->cell_base[rank + 1] = w->ncells;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- what is usual */

typedef struct measuring {
    const tl_whatif *w;
    bool own;
} measuring;

static uint32_t number_of(const measuring *m, uint32_t c)
{
    const tl_whatif_collective *collective = &m->w->in.collectives[c];
    return m->own ? collective->own : collective->like;
}

static int by_length(const void *context, uint32_t x, uint32_t y)
{
    const measuring *m = context;
    int order = TL_COMPARE(number_of(m, x), number_of(m, y));
    order = order != 0 ? order : TL_COMPARE(m->w->took_ns[x], m->w->took_ns[y]);
    return order != 0 ? order : TL_COMPARE(x, y);
}

/* The lower quartile of those of one number: what is waited for somebody without a trace makes others longer. */
static bool measure(const tl_whatif *w, bool own, uint32_t *order, int64_t *usual_ns)
{
    const measuring m = { w, own };
    size_t n = 0;

    for (uint32_t c = 0; c < w->in.ncollectives; c++)
        if (!w->dissolved[c] && w->in.collectives[c].n >= 2)
            order[n++] = c;
    if (!tl_sort_index(order, n, by_length, &m))
        return false;
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && number_of(&m, order[to]) == number_of(&m, order[i]); to++)
            ;
        for (size_t k = i; k < to; k++)
            usual_ns[order[k]] = w->took_ns[order[i + tl_lower_quarter(to - i)]];
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- seats */

/* They never come last; nothing is kept of that. */
static void seat_unheard(tl_whatif *w, const tl_stage *s)
{
    for (uint32_t i = s->first_seat; i < s->end_seat; i++)
        if (w->rank_of[w->seats[i]] >= w->in.nranks && w->start[w->seats[i]] > w->last_start[s->collective])
            w->start[w->seats[i]] = w->last_start[s->collective];
}

static void come_at(tl_whatif *w, uint32_t comm, int64_t ns)
{
    w->lag_ns[comm] += ns - w->start[comm];
    w->start[comm] = ns;
}

/* What the transfer took after the last of the others, for those that go with this stage. */
static int64_t transfer_of(const tl_whatif *w, const tl_stage *s)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = s->first_leave; i < s->end_leave; i++)
        if (w->rank_of[w->leaves[i]] < w->in.nranks && w->transfer_ns[w->leaves[i]] < least)
            least = w->transfer_ns[w->leaves[i]];
    return least == INT64_MAX ? 0 : tl_ns_max(0, least);
}

/* Whether somebody who would have come early_ns before the last of the others came more_ns after it. */
static bool was_late(int64_t more_ns, int64_t early_ns, int64_t usual_ns)
{
    return more_ns > LATE_NS + usual_ns / LATE_PART && (more_ns >= early_ns || more_ns > FAR_NS + usual_ns / 2);
}

void tl_whatif_seat_absent(tl_whatif *w, const tl_stage *s)
{
    uint32_t c = s->collective, latest = TL_NONE;
    int64_t last = w->last_start[c];

    for (uint32_t i = s->first_seat; i < s->end_seat; i++) {
        uint32_t comm = w->seats[i];
        if (w->rank_of[comm] >= w->in.nranks && (latest == TL_NONE || w->start[comm] > w->start[latest]))
            latest = comm;
    }
    if (latest == TL_NONE)
        return;
    if (c >= w->in.ncollectives) { /* nobody else is there */
        w->last_start[c] = w->start[latest];
        return;
    }
    if (w->seating == TL_UNHEARD) {
        seat_unheard(w, s);
        return;
    }
    int64_t transfer = transfer_of(w, s), more = transfer - w->own_ns[c];
    int64_t least = w->own_ns[c] < w->any_ns[c] ? w->own_ns[c] : w->any_ns[c];
    int64_t most = last + tl_ns_max(0, transfer - least);
    for (uint32_t i = s->first_seat; i < s->end_seat; i++)
        if (w->rank_of[w->seats[i]] >= w->in.nranks && w->start[w->seats[i]] > most)
            come_at(w, w->seats[i], most);
    if (w->start[latest] < last + more && was_late(more, last - w->start[latest], w->own_ns[c]))
        come_at(w, latest, last + more);
    int64_t later = w->start[latest] - last;
    if (later <= 0)
        return;
    w->last_start[c] += later;
    w->took_ns[c] = tl_ns_max(0, w->took_ns[c] - later);
    for (uint32_t i = s->first_leave; i < s->end_leave; i++)
        w->transfer_ns[w->leaves[i]] -= later;
}

/* ------------------------------------------------------------------------------------------------------- all of it */

/* Hosts of those who stand in were late for so long: that is what is taken off first. */
static void copy_lateness(tl_whatif *w)
{
    for (size_t i = 0; i < w->in.nabsent; i++) {
        size_t rank = w->in.nranks + i, like = w->in.stand_in[i];
        memcpy(w->late + w->entry_base[rank], w->late + w->entry_base[like],
               (w->entry_base[rank + 1] - w->entry_base[rank]) * sizeof *w->late);
        for (size_t k = w->cell_base[rank]; k < w->cell_base[rank + 1]; k++)
            w->cells[k].late_ns = w->cells[w->cell_base[like] + k - w->cell_base[rank]].late_ns;
    }
}

/* What nobody with a trace is in takes what transfers of the collective usually do that the stand-in was in. */
static void set_alone(tl_whatif *w, uint32_t rank)
{
    uint32_t like = w->in.stand_in[rank - w->in.nranks];
    for (size_t i = w->comm_base[rank]; i < w->comm_base[rank + 1]; i++) {
        uint32_t c = w->collective_of[w->comm_base[like] + i - w->comm_base[rank]];
        if (w->collective_of[i] >= w->in.ncollectives && c < w->in.ncollectives)
            w->transfer_ns[i] = w->own_ns[c] < w->any_ns[c] ? w->own_ns[c] : w->any_ns[c];
    }
}

static void repair(tl_whatif *w, uint32_t rank)
{
    w->changed[rank] = true;
    for (size_t i = w->cell_base[rank]; i < w->cell_base[rank + 1]; i++) {
        tl_whatif_surplus_of(w, rank, i, 0, &w->work_cut[i], &w->host_cut[i]);
        w->unasked[i] = TL_ALL_WAITS;
    }
}

bool tl_whatif_settle(tl_whatif *w)
{
    if (w->in.nabsent == 0 || w->facts.state != TL_WHATIF_OK)
        return true;
    uint32_t *order = tl_malloc((w->in.ncollectives + 1) * sizeof *order);
    w->own_ns = tl_calloc(w->in.ncollectives + 1, sizeof *w->own_ns);
    w->any_ns = tl_calloc(w->in.ncollectives + 1, sizeof *w->any_ns);
    bool whole = order != NULL && w->own_ns != NULL && w->any_ns != NULL && measure(w, true, order, w->own_ns) &&
                 measure(w, false, order, w->any_ns);

    free(order);
    if (!whole)
        return false;
    for (uint32_t r = 0; r < w->in.nabsent; r++)
        set_alone(w, (uint32_t)w->in.nranks + r);
    w->seating = TL_UNHEARD;
    tl_whatif_replay(w);
    tl_whatif_find_lateness(w);
    copy_lateness(w);
    for (uint32_t r = 0; r < w->in.nabsent; r++)
        repair(w, (uint32_t)w->in.nranks + r);
    w->seating = TL_FINDING;
    tl_whatif_replay(w);
    w->seating = TL_SEATED;
    return true;
}
