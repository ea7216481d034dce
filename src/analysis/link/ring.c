/* ring.c - see ring.h. */
#include "ring.h"
#include "tlmpi/base/stats.h"

/* Those that a slow link keeps apart lie as far from each other as those of a healthy ring do, at least; so many times
 * as far where clocks, or what a healthy ring does, hide a part of that. */
enum { TIMES_HEALTHY = 2, RANKS_LEAST = 5, OF_HOST_LEAST = 3 };
enum { ALL_OF_IT = 3 };

typedef struct ring {
    const int64_t *late_ns;
    const int32_t *host;
    uint32_t n, of_host; /* how many stand on each host, where that is not known */
    bool reverse;        /* the ring runs from the last rank to the first */
    int64_t pass_ns;
} ring;

static uint32_t rank_at(const ring *r, uint32_t place)
{
    place %= r->n;
    return r->reverse ? r->n - 1 - place : place;
}

static int64_t to_next_ns(const ring *r, uint32_t place)
{
    return tl_ns_between(r->late_ns[rank_at(r, place + 1)], r->late_ns[rank_at(r, place)]);
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What it may be: clocks of devices, and what a healthy ring does, come on top. */
static bool may_be_pass(const ring *r, uint32_t place)
{
    int64_t ns = to_next_ns(r, place), pass = r->pass_ns;
    return ns <= -pass / 4 && ns >= -pass - longer(pass, TL_RING_NS) / 2;
}

static bool may_be_pair(const ring *r, uint32_t place)
{
    int64_t ns = to_next_ns(r, place), pass = r->pass_ns;
    return ns > -pass / 2 && ns <= pass;
}

static bool may_be_link(const ring *r, uint32_t place)
{
    int64_t more = tl_ns_between(to_next_ns(r, place), ((int64_t)r->n - 2) * r->pass_ns);
    int64_t loose = longer(r->pass_ns / 2, TL_RING_NS);
    return more <= loose && more >= -loose;
}

/* Whether the next may be on another host. */
static bool may_break(const ring *r, uint32_t place)
{
    uint32_t a = rank_at(r, place), b = rank_at(r, place + 1), later = a > b ? a : b;
    if (r->host[a] >= 0 && r->host[b] >= 0)
        return r->host[a] != r->host[b];
    bool around = later - (a + b - later) > 1; /* from the last to the first */
    return r->of_host < r->n && (around || later % r->of_host == 0);
}

/* How much of a link between the ranks at a and behind it is to be seen, up to ALL_OF_IT; 0: none, or it cannot be
 * there. */
static int evidence_at(const ring *r, uint32_t a)
{
    bool link = may_be_link(r, a + r->n - 1), pair = may_be_pair(r, a);
    uint32_t passes = 0;

    if ((!link && !may_break(r, a + r->n - 1)) || (!pair && !may_break(r, a) && !(link && may_be_pass(r, a))))
        return 0;
    for (uint32_t k = a + 1; k < a + r->n - 1; k++) {
        bool pass = may_be_pass(r, k);
        if (!pass && !may_break(r, k))
            return 0;
        passes += pass;
    }
    return passes >= r->n / 2 ? 2 * link + pair : 0;
}

/* Of the one place that most speaks for; false where there are several, or none. */
static bool find_link(const ring *r, uint32_t *at, int *evidence)
{
    bool single = false;
    for (uint32_t a = 0; a < r->n; a++) {
        int here = evidence_at(r, a);
        if (here > *evidence) {
            *evidence = here;
            *at = a;
            single = true;
        } else if (here > 0 && here == *evidence)
            single = false;
    }
    return single;
}

/* By n - 1 places behind a, each a pass earlier than the one before it. */
static void take_off(const ring *r, uint32_t a, int64_t pass_ns, int64_t *off_ns)
{
    for (uint32_t k = 0; k < r->n; k++) {
        uint32_t rank = rank_at(r, a + k);
        int64_t behind = k == 0 ? 0 : (int64_t)k - 1;
        off_ns[rank] = tl_ns_between(r->late_ns[rank], ((int64_t)r->n - 2 - behind) * pass_ns);
    }
}

static bool line_up(const ring *r, int64_t *off_ns)
{
    uint32_t a = 0;
    int evidence = 0;
    if (!find_link(r, &a, &evidence))
        return false;
    /* A healthy ring lets each rank go a little later, or earlier, than the one before: so does the pair. */
    int64_t pass_ns = r->pass_ns + (may_be_pair(r, a) ? to_next_ns(r, a) : 0);
    if (((int64_t)r->n - 2) * pass_ns < (evidence == ALL_OF_IT ? 1 : TIMES_HEALTHY) * TL_RING_NS)
        return false;
    take_off(r, a, pass_ns, off_ns);
    return true;
}

bool tl_ring_line_up(const int64_t *late_ns, const int32_t *host, uint32_t n, int64_t *off_ns, int64_t *scratch)
{
    bool found = false;
    for (int reverse = 0; !found && n >= RANKS_LEAST && reverse < 2; reverse++) {
        ring r = { late_ns, host, n, n, reverse == 1, 0 };
        for (uint32_t k = 0; k < n; k++)
            scratch[k] = to_next_ns(&r, k);
        r.pass_ns = -tl_median(scratch, n);
        if (r.pass_ns <= 0 || r.pass_ns > INT64_MAX / ((int64_t)n * 4))
            continue;
        for (r.of_host = n; !found && r.of_host >= OF_HOST_LEAST; r.of_host--)
            found = n % r.of_host == 0 && line_up(&r, off_ns);
    }
    return found;
}
