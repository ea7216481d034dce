/* seats.c - who takes part in each collective, in the order in which they came, and for how many each of them
 * waited. */
#include "seats.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

static int by_coming(const void *graph, uint32_t x, uint32_t y)
{
    const tl_whatif *w = graph;
    int64_t p = tl_comm_started(w, x), q = tl_comm_started(w, y);
    return p != q ? TL_COMPARE(p, q) : TL_COMPARE(x, y);
}

typedef struct leaving {
    const tl_whatif *w;
    const uint32_t *needs; /* by comm: so many must have begun before it may leave */
} leaving;

static int by_leaving(const void *context, uint32_t x, uint32_t y)
{
    const leaving *l = context;
    if (l->needs[x] != l->needs[y])
        return l->needs[x] < l->needs[y] ? -1 : 1;
    return TL_COMPARE(x, y);
}

/* Seats, leaves and stages of one collective, whose comms stand in seats[first .. first + n). */
static bool seat(tl_whatif *w, uint32_t collective, size_t first, size_t n, bool loose, uint32_t *needs)
{
    uint32_t *seats = w->seats + first, *leaves = w->leaves + first;
    leaving l = { w, needs };

    if (!tl_sort_index(seats, n, by_coming, w))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t came = n;
        if (loose) { /* it waited for those that had come when it left */
            size_t low = i + 1;
            while (low < came) {
                size_t mid = (low + came) / 2;
                if (tl_comm_started(w, seats[mid]) <= tl_comm_ended(w, seats[i]))
                    low = mid + 1;
                else
                    came = mid;
            }
        }
        leaves[i] = seats[i];
        needs[seats[i]] = (uint32_t)came;
        w->transfer_ns[seats[i]] = tl_comm_ended(w, seats[i]) - tl_comm_started(w, seats[came - 1]);
    }
    if (!tl_sort_index(leaves, n, by_leaving, &l))
        return false;
    uint32_t begun = 0;
    for (size_t i = 0, to; i < n; i = to) {
        uint32_t need = needs[leaves[i]];
        for (to = i; to < n && needs[leaves[to]] == need; to++)
            ;
        w->stages[w->nstages++] = (tl_stage){ collective, (uint32_t)first + begun, (uint32_t)first + need,
                                              (uint32_t)(first + i), (uint32_t)(first + to) };
        begun = need;
    }
    return true;
}

/* What the transfer took, for those that waited for everybody. */
static int64_t transfer_of(const tl_whatif *w, size_t first, size_t n, const uint32_t *needs)
{
    int64_t least = INT64_MAX;
    for (size_t i = first; i < first + n; i++)
        if (needs[w->seats[i]] == n && w->transfer_ns[w->seats[i]] < least)
            least = w->transfer_ns[w->seats[i]];
    return least == INT64_MAX || least < 0 ? 0 : least;
}

/* Whether all of them send, or all receive: whoever matched them was mistaken. */
static bool one_sided(const tl_whatif *w, const tl_whatif_collective *c)
{
    uint8_t kind = TL_COLL_NONE;
    for (size_t i = 0; i < c->n; i++) {
        const tl_whatif_member *m = &w->in.members[c->first + i];
        uint8_t own = w->in.programs[m->rank].comms[m->comm].kind;
        if ((own != TL_SEND && own != TL_RECV) || (i > 0 && own != kind))
            return false;
        kind = own;
    }
    return c->n >= 2;
}

bool tl_whatif_seat_all(tl_whatif *w)
{
    uint32_t *needs = tl_malloc((w->ncomms + 1) * sizeof *needs);
    size_t at = 0;
    bool whole = needs != NULL;

    w->nstages = 0;
    w->facts.nalone = 0;
    w->ncollectives = w->in.ncollectives;
    memset(w->collective_of, 0xff, w->ncomms * sizeof *w->collective_of); /* TL_NONE */
    for (size_t c = 0; whole && c < w->in.ncollectives; c++) {
        const tl_whatif_collective *collective = &w->in.collectives[c];
        w->took_ns[c] = 0;
        w->dissolved[c] = w->dissolved[c] || one_sided(w, collective);
        if (w->dissolved[c])
            continue;
        for (size_t i = 0; i < collective->n; i++) {
            const tl_whatif_member *m = &w->in.members[collective->first + i];
            uint32_t comm = (uint32_t)(w->comm_base[m->rank] + m->comm);
            w->collective_of[comm] = (uint32_t)c;
            w->seats[at + i] = comm;
        }
        whole = seat(w, (uint32_t)c, at, collective->n, collective->loose, needs);
        if (whole && collective->n > 0)
            w->took_ns[c] = transfer_of(w, at, collective->n, needs);
        at += collective->n;
    }
    for (uint32_t comm = 0; whole && comm < w->ncomms; comm++) {
        if (w->collective_of[comm] != TL_NONE)
            continue;
        w->collective_of[comm] = (uint32_t)w->ncollectives;
        w->seats[at] = comm;
        whole = seat(w, (uint32_t)w->ncollectives++, at++, 1, false, needs);
        w->facts.nalone++;
    }
    free(needs);
    return whole;
}
