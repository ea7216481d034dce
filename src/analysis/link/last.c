/* last.c - see last.h. */
#include "last.h"
#include "ring.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include <math.h>
#include <stdlib.h>

/* So many transfers behind the host's ranks, and behind others, make a middle; the difference of both has to be so many
 * times what it may be off. */
enum { LAST_LEAST = 3, TIMES_ERROR = 5, RANKS_LEAST = 5 };
#define SIGMA_LEAST_NS 1000.0

typedef struct lasting {
    const tl_link_input *in;
    const uint32_t *of;
    size_t n;
    uint32_t members, nhosts;
    uint32_t *host_of; /* [members] */
    int64_t *late_ns;  /* [members]: later done than the middle of all, by its own clock */
    int64_t *off_ns;   /* [nhosts]: the middle of that */
    int64_t *took_ns;  /* [n]: had all hosts been done together */
    uint32_t *last;    /* [n]: the host of who came last */
    int64_t *scratch;  /* as many as members, collectives or hosts, twice */
} lasting;

/* The host whose wires are slow: its ranks are done so much later. */
typedef struct slow_host {
    uint32_t host;
    int64_t later_ns;
    bool found;
} slow_host;

static bool lasting_new(lasting *l, const tl_link_input *in, const uint32_t *of, size_t n)
{
    uint32_t members = in->collectives[of[0]].n;
    size_t most = (members > n ? members : n) + 1;
    *l = (lasting){ in,
                    of,
                    n,
                    members,
                    0,
                    tl_malloc((members + 1) * sizeof *l->host_of),
                    tl_malloc((members + 1) * sizeof *l->late_ns),
                    tl_calloc(members + 1, sizeof *l->off_ns),
                    tl_malloc((n + 1) * sizeof *l->took_ns),
                    tl_malloc((n + 1) * sizeof *l->last),
                    tl_malloc(2 * most * sizeof *l->scratch) };
    return l->host_of != NULL && l->late_ns != NULL && l->off_ns != NULL && l->took_ns != NULL && l->last != NULL &&
           l->scratch != NULL;
}

static void lasting_free(lasting *l)
{
    free(l->host_of);
    free(l->late_ns);
    free(l->off_ns);
    free(l->took_ns);
    free(l->last);
    free(l->scratch);
}

static const tl_link_end *end_at(const lasting *l, size_t i, uint32_t k)
{
    return &l->in->ends[l->in->collectives[l->of[i]].first + k];
}

/* By the rank's own clock. */
static int64_t start_at(const lasting *l, size_t i, uint32_t k)
{
    const tl_link_end *e = end_at(l, i, k);
    return tl_ns_sum(e->start_ns, tl_ns_between(e->shown_end_ns, e->end_ns));
}

static int64_t middle_end(const lasting *l, size_t i)
{
    for (uint32_t k = 0; k < l->members; k++)
        l->scratch[k] = end_at(l, i, k)->shown_end_ns;
    return tl_median(l->scratch, l->members);
}

static void find_late(lasting *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->took_ns[i] = middle_end(l, i);
    for (uint32_t k = 0; k < l->members; k++) {
        for (size_t i = 0; i < l->n; i++)
            l->scratch[i] = tl_ns_between(end_at(l, i, k)->shown_end_ns, l->took_ns[i]);
        l->late_ns[k] = tl_median(l->scratch, l->n);
    }
}

/* Numbers the hosts as they are known; false where one is not. */
static bool number_hosts(lasting *l)
{
    for (uint32_t k = 0; k < l->members; k++) {
        int32_t host = l->in->host != NULL ? l->in->host[end_at(l, 0, k)->rank] : -1;
        uint32_t j = 0;
        if (host < 0)
            return false;
        while (j < k && l->in->host[end_at(l, 0, j)->rank] != host)
            j++;
        l->host_of[k] = j < k ? l->host_of[j] : l->nhosts++;
    }
    return true;
}

static int by_lateness(const void *late_ns, uint32_t a, uint32_t b)
{
    const int64_t *ns = late_ns;
    return ns[a] != ns[b] ? (ns[a] < ns[b] ? -1 : 1) : TL_COMPARE(a, b);
}

/* Where hosts are not known: those that are done together.  False when memory is out. */
static bool number_by_ends(lasting *l)
{
    uint32_t *order = tl_malloc((l->members + 1) * sizeof *order);
    for (uint32_t k = 0; order != NULL && k < l->members; k++)
        order[k] = k;
    bool whole = order != NULL && tl_sort_index(order, l->members, by_lateness, l->late_ns);
    l->nhosts = whole ? 1 : 0;
    for (uint32_t k = 0; whole && k < l->members; k++) {
        if (k > 0 && tl_ns_between(l->late_ns[order[k]], l->late_ns[order[k - 1]]) > TL_RING_NS / 2)
            l->nhosts++;
        l->host_of[order[k]] = l->nhosts - 1;
    }
    free(order);
    return whole;
}

static void find_off(lasting *l)
{
    for (uint32_t h = 0; h < l->nhosts; h++) {
        uint32_t m = 0;
        for (uint32_t k = 0; k < l->members; k++)
            if (l->host_of[k] == h)
                l->scratch[m++] = l->late_ns[k];
        l->off_ns[h] = tl_median(l->scratch, m);
    }
}

/* Whether the ranks of a host, which have one clock, are done together: else it is the ring between them. */
static bool are_level(const lasting *l, int64_t most_ns)
{
    for (uint32_t k = 0; k < l->members; k++) {
        int64_t ns = tl_ns_between(l->late_ns[k], l->off_ns[l->host_of[k]]);
        if (ns > most_ns || -ns > most_ns)
            return false;
    }
    return true;
}

/* took_ns and last, with the clocks of all hosts set to be done together, and then `host` later_ns after them. */
static void measure(lasting *l, uint32_t host, int64_t later_ns)
{
    for (size_t i = 0; i < l->n; i++) {
        int64_t start = INT64_MIN;
        for (uint32_t k = 0; k < l->members; k++) {
            int64_t back = tl_ns_between(l->off_ns[l->host_of[k]], l->host_of[k] == host ? later_ns : 0);
            int64_t own = tl_ns_between(start_at(l, i, k), back);
            if (own > start) {
                start = own;
                l->last[i] = l->host_of[k];
            }
        }
        l->took_ns[i] = tl_ns_sum(tl_ns_between(middle_end(l, i), start), later_ns);
    }
}

/* By how much transfers are longer where `host` came last; 0 where it cannot be told. */
static int64_t longer_behind(const lasting *l, uint32_t host)
{
    int64_t middle[2] = { 0, 0 }, *v = l->scratch;
    size_t m[2] = { 0, 0 };

    for (int own = 0; own < 2; own++) {
        for (size_t i = 0; i < l->n; i++)
            if ((l->last[i] == host) == (own == 1))
                v[m[own]++] = l->took_ns[i];
        if (m[own] < LAST_LEAST)
            return 0;
        middle[own] = tl_median(v, m[own]);
    }
    for (size_t i = 0; i < l->n; i++)
        v[i] = tl_ns_between(l->took_ns[i], middle[l->last[i] == host]);
    double sigma = fmax(tl_sigma_of_mad((double)tl_mad(v, l->n, 0)), SIGMA_LEAST_NS);
    double error = sigma * sqrt(1.5708 * (1 / (double)m[0] + 1 / (double)m[1])); /* of medians */
    int64_t longer = tl_ns_between(middle[1], middle[0]);
    return (double)longer >= TIMES_ERROR * error ? longer : 0;
}

/* False when memory is out. */
static bool find_host(lasting *l, slow_host *out)
{
    slow_host slow = { 0, 0, false };
    *out = slow;
    if (l->members < RANKS_LEAST || l->n < 2 * LAST_LEAST)
        return true;
    find_late(l);
    l->nhosts = 0;
    if (!number_hosts(l) && !number_by_ends(l))
        return false;
    if (l->nhosts < 2)
        return true;
    find_off(l);
    measure(l, 0, 0);
    for (uint32_t h = 0; h < l->nhosts; h++) {
        int64_t longer = longer_behind(l, h);
        if (longer > slow.later_ns)
            slow = (slow_host){ h, longer, false };
    }
    /* Where the clocks agree, ends tell it more exactly. */
    int64_t apart = tl_ns_between(l->off_ns[slow.host], slow.later_ns);
    if (apart < slow.later_ns / 4 && -apart < slow.later_ns / 4)
        slow.later_ns = l->off_ns[slow.host];
    /* Healthy rings are done so far apart, too. */
    slow.found = slow.later_ns >= TL_RING_NS && are_level(l, slow.later_ns / 2);
    *out = slow;
    return true;
}

bool tl_link_by_last(const tl_link_input *in, const uint32_t *of, size_t n, int64_t *took_ns, int64_t *should_ns,
                     uint8_t *evidence)
{
    const tl_link_collective *c = &in->collectives[of[0]];
    lasting l;
    if (!tl_is_synchronising((tl_collective)c->kind))
        return true;
    slow_host slow = { 0, 0, false };
    bool whole = lasting_new(&l, in, of, n) && find_host(&l, &slow);

    if (slow.found) {
        /* A ring passes data on so often; each time, the slow wires hold it up for as long. */
        int64_t passes = (c->kind == TL_ALL_REDUCE ? 2 : 1) * (int64_t)(l.members - 1);
        measure(&l, slow.host, slow.later_ns);
        for (size_t i = 0; i < n; i++)
            l.scratch[i] = l.took_ns[i];
        bool fits = slow.later_ns < tl_median(l.scratch, n) / passes; /* none is held up for longer than it takes */
        for (size_t i = 0; fits && i < n; i++) {
            int64_t without = l.took_ns[i] - slow.later_ns * passes;
            took_ns[of[i]] = l.took_ns[i];
            should_ns[of[i]] = without > 0 ? without : 1;
            evidence[of[i]] = TL_LINK_BY_LAST;
        }
    }
    lasting_free(&l);
    return whole;
}

bool tl_link_last_ends(const tl_link_input *in, const uint32_t *of, size_t n, tl_slow_link *link)
{
    lasting l;
    slow_host slow = { 0, 0, false };
    bool whole = lasting_new(&l, in, of, n) && find_host(&l, &slow), any = false;

    for (uint32_t k = 0; slow.found && k < l.members; k++) {
        if (l.host_of[k] != slow.host)
            continue;
        link->ends[any] = end_at(&l, 0, k)->rank;
        if (!any)
            link->ends[1] = link->ends[0];
        any = true;
    }
    link->nends = any ? 2 : 0;
    lasting_free(&l);
    return whole;
}
