/* ends.c - see ends.h.
 *
 * A ring of n ranks with the slow link between a and b, E longer for it; in each of its phases (two in an all-reduce)
 * data pass n - 1 times:
 *
 *     rank          a    b    c                  d    ...
 *     end, before   0    0    E / (phases (n-1)) 2 E / (phases (n-1)) ...
 *
 * so a and b are done last and together, one pass before the next, and the first is done n - 2 passes before them.  In
 * which order ranks stand in the ring is not known, and not needed, where the clocks are right.
 */
#include "ends.h"
#include "last.h"
#include "ring.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include <stdlib.h>

/* Ends of one host lie up to 50 us apart for where ranks stand in their ring, whatever their links. */
#define TAIL_LEAST_NS INT64_C(60000)
#define TAIL_TOLD_NS  INT64_C(15000)
enum { TAIL_PART = 10, RING_LEAST = 5 };

typedef struct tails {
    bool shown;      /* ends as clocks showed them */
    bool lined_up;   /* a ring in the order of ranks */
    int64_t *off_ns; /* [members]: less what these were off */
    int64_t *ns;     /* [members]: median end after the first end */
    uint32_t *order; /* of members, the latest first */
    int64_t *scratch;
} tails;

static bool tails_new(tails *t, size_t members, size_t collectives, bool shown)
{
    size_t most = (members > collectives ? members : collectives) + 1;
    *t = (tails){ shown,
                  false,
                  tl_calloc(members + 1, sizeof *t->off_ns),
                  tl_calloc(members + 1, sizeof *t->ns),
                  tl_malloc((members + 1) * sizeof *t->order),
                  tl_malloc(most * sizeof *t->scratch) };
    return t->off_ns != NULL && t->ns != NULL && t->order != NULL && t->scratch != NULL;
}

static void tails_free(tails *t)
{
    free(t->off_ns);
    free(t->ns);
    free(t->order);
    free(t->scratch);
}

static int64_t end_of(const tails *t, const tl_link_end *ends, uint32_t k)
{
    return t->shown ? tl_ns_between(ends[k].shown_end_ns, t->off_ns[k]) : ends[k].end_ns;
}

static int64_t tail(const tails *t, const tl_link_input *in, uint32_t collective, uint32_t k)
{
    const tl_link_collective *c = &in->collectives[collective];
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t end = end_of(t, &in->ends[c->first], i);
        first = end < first ? end : first;
    }
    return tl_ns_between(end_of(t, &in->ends[c->first], k), first);
}

static int latest(const void *context, uint32_t a, uint32_t b)
{
    const int64_t *ns = context;
    return (ns[a] < ns[b]) - (ns[a] > ns[b]);
}

/* How late each is done in the first n, less how late in the rest. */
static bool measure(const tl_link_input *in, const uint32_t *of, size_t n, size_t all, tails *t)
{
    uint32_t members = in->collectives[of[0]].n;
    for (uint32_t k = 0; k < members; k++) {
        for (size_t i = 0; i < n; i++)
            t->scratch[i] = tail(t, in, of[i], k);
        t->ns[k] = tl_median(t->scratch, n);
        for (size_t i = n; i < all; i++)
            t->scratch[i - n] = tail(t, in, of[i], k);
        if (all > n)
            t->ns[k] = tl_ns_between(t->ns[k], tl_median(t->scratch, all - n));
        t->order[k] = k;
    }
    return tl_sort_index(t->order, members, latest, t->ns);
}

/* What the collective took by the clocks of its ranks, less what these are off. */
static int64_t shown_ns(const tails *t, const tl_link_input *in, uint32_t collective)
{
    const tl_link_collective *c = &in->collectives[collective];
    int64_t last_start = INT64_MIN, last_end = INT64_MIN;
    for (uint32_t k = 0; k < c->n; k++) {
        const tl_link_end *e = &in->ends[c->first + k];
        int64_t end = end_of(t, &in->ends[c->first], k);
        int64_t start = tl_ns_sum(e->start_ns, tl_ns_between(end, e->end_ns));
        last_start = start > last_start ? start : last_start;
        last_end = end > last_end ? end : last_end;
    }
    return tl_ns_between(last_end, last_start);
}

/* The latest two together, and then one after another, a pass apart: clocks that are off do not look like that. */
static bool is_ring(const tails *t, uint32_t members)
{
    const uint32_t *o = t->order;
    int64_t range = tl_ns_between(t->ns[o[0]], t->ns[o[members - 1]]), pass = range / ((int64_t)members - 2);
    bool ring = range >= TAIL_LEAST_NS && t->ns[o[0]] - t->ns[o[1]] <= pass - pass / 4;
    for (uint32_t k = 1; k + 1 < members; k++) {
        int64_t apart = t->ns[o[k]] - t->ns[o[k + 1]];
        ring = ring && apart >= pass / 2 && apart <= pass + (pass > TL_RING_NS ? pass : TL_RING_NS) / 2;
    }
    return ring;
}

/* Ends as clocks showed them; where these are no ring, but would be one had the clocks of its hosts agreed, less what
 * they were off. */
static bool measure_shown(const tl_link_input *in, const uint32_t *of, size_t n, tails *t)
{
    const tl_link_collective *c = &in->collectives[of[0]];
    if (!measure(in, of, n, n, t))
        return false;
    if (is_ring(t, c->n))
        return true;
    int32_t *host = tl_malloc((c->n + 1) * sizeof *host);
    if (host == NULL)
        return false;
    for (uint32_t k = 0; k < c->n; k++)
        host[k] = in->host != NULL ? in->host[in->ends[c->first + k].rank] : -1;
    t->lined_up = tl_ring_line_up(t->ns, host, c->n, t->off_ns, t->scratch);
    free(host);
    return !t->lined_up || measure(in, of, n, n, t);
}

bool tl_link_by_tails(const tl_link_input *in, const uint32_t *of, size_t n, int64_t *took_ns, int64_t *should_ns,
                      uint8_t *evidence)
{
    const tl_link_collective *c = &in->collectives[of[0]];
    uint32_t members = c->n;
    tails t;
    if (members < RING_LEAST || !tl_is_synchronising((tl_collective)c->kind))
        return true;
    bool whole = tails_new(&t, members, n, true) && measure_shown(in, of, n, &t);
    if (whole) {
        const uint32_t *o = t.order;
        for (size_t i = 0; i < n; i++)
            t.scratch[i] = shown_ns(&t, in, of[i]);
        int64_t middle_ns = tl_median(t.scratch, n),
                passes = (c->kind == TL_ALL_REDUCE ? 2 : 1) * (int64_t)(members - 1);
        int64_t range = tl_ns_between(t.ns[o[0]], t.ns[o[members - 1]]);
        /* No ring is held up for longer than it takes. */
        bool ring = range >= middle_ns / TAIL_PART && range / ((int64_t)members - 2) < middle_ns / passes &&
                    (t.lined_up || is_ring(&t, members));
        for (size_t i = 0; ring && i < n; i++) {
            int64_t late = tail(&t, in, of[i], o[0]) / 2 + tail(&t, in, of[i], o[1]) / 2;
            took_ns[of[i]] = shown_ns(&t, in, of[i]);
            int64_t without = took_ns[of[i]] - late / ((int64_t)members - 2) * passes;
            should_ns[of[i]] = without > 0 ? without : 1;
            evidence[of[i]] = TL_LINK_BY_TAILS;
        }
    }
    tails_free(&t);
    return whole;
}

bool tl_link_ends(const tl_link_input *in, const uint32_t *of, size_t n, size_t all, tl_slow_link *link)
{
    const tl_link_collective *c = &in->collectives[of[0]];
    uint32_t members = c->n, a = 0, b = 1;
    bool told = members == 2;
    if (link->evidence == TL_LINK_BY_LAST)
        return tl_link_last_ends(in, of, all, link);
    if (!told) {
        tails t;
        bool shown = link->evidence == TL_LINK_BY_TAILS;
        bool whole =
            tails_new(&t, members, all, shown) && (shown ? measure_shown(in, of, n, &t) : measure(in, of, n, all, &t));
        if (whole) {
            int64_t range = tl_ns_between(t.ns[t.order[0]], t.ns[t.order[members - 1]]);
            /* What a clock may be off is in all ends; less those of other steps, or of a ring, nothing is left of it.
             */
            int64_t doubt = shown || all > n ? 0 : c->uncertainty_ns;
            told = range >= TAIL_TOLD_NS && range > doubt &&
                   t.ns[t.order[1]] - t.ns[t.order[2]] >= range / (2 * ((int64_t)members - 2));
            a = t.order[0];
            b = t.order[1];
        }
        tails_free(&t);
        if (!whole)
            return false;
    }
    link->nends = told ? 2 : 0;
    link->ends[0] = in->ends[c->first + (a < b ? a : b)].rank;
    link->ends[1] = in->ends[c->first + (a < b ? b : a)].rank;
    return true;
}
