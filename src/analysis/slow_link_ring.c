/* slow_link_ring.c - see slow_link_ring.h. */
#include "slow_link_ring.h"
#include "tlmpi/base/stats.h"

/* Those that a slow link keeps apart lie as far from each other as those of a healthy ring do, at least; so many times
 * as far where clocks may be off as well. */
enum { TIMES_HEALTHY = 2, RANKS_LEAST = 5 };
enum { ALL_OF_IT = 3 };

typedef enum step { STEP_PASS, STEP_NONE, STEP_LINK, STEP_OTHER } step;

typedef struct ring {
    const int64_t *late_ns;
    const int32_t *host;
    uint32_t n;
    bool reverse; /* the ring runs from the last rank to the first */
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

static bool is_near(int64_t a, int64_t b, int64_t within)
{
    int64_t apart = tl_ns_between(a, b);
    return apart <= within && apart >= -within;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static step step_at(const ring *r, uint32_t place)
{
    int64_t ns = to_next_ns(r, place), pass = r->pass_ns, loose = longer(pass, TL_RING_NS) / 2;
    if (ns >= -pass / 4 && ns <= pass)
        return STEP_NONE;
    if (ns <= -pass / 2 && ns >= -pass - loose)
        return STEP_PASS;
    return is_near(ns, ((int64_t)r->n - 2) * pass, loose) ? STEP_LINK : STEP_OTHER;
}

/* Whether the next is on another host, for all that is known. */
static bool may_break(const ring *r, uint32_t place)
{
    int32_t a = r->host[rank_at(r, place)], b = r->host[rank_at(r, place + 1)];
    return a < 0 || b < 0 || a != b;
}

/* How much of a link between the ranks at a and behind it is to be seen, up to ALL_OF_IT; 0: none, or it cannot be
 * there. */
static int evidence_at(const ring *r, uint32_t a)
{
    step before = step_at(r, a + r->n - 1), at = step_at(r, a);
    uint32_t passes = 0, broken = (uint32_t)(before == STEP_OTHER) + (at == STEP_OTHER);

    if ((before != STEP_LINK && (before != STEP_OTHER || !may_break(r, a + r->n - 1))) ||
        (at != STEP_NONE && (at != STEP_OTHER || !may_break(r, a))))
        return 0;
    for (uint32_t k = a + 1; k < a + r->n - 1; k++) {
        bool pass = step_at(r, k) == STEP_PASS;
        if (!pass && !may_break(r, k))
            return 0;
        passes += pass;
        broken += !pass;
    }
    if (passes < r->n / 2 || broken > r->n / 4)
        return 0;
    return 2 * (before == STEP_LINK) + (at == STEP_NONE);
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

bool tl_ring_line_up(const int64_t *late_ns, const int32_t *host, uint32_t n, int64_t *off_ns, int64_t *scratch)
{
    int evidence = 0;
    bool found = false;
    for (int reverse = 0; n >= RANKS_LEAST && reverse < 2; reverse++) {
        ring r = { late_ns, host, n, reverse == 1, 0 };
        uint32_t a = 0;
        for (uint32_t k = 0; k < n; k++)
            scratch[k] = to_next_ns(&r, k);
        r.pass_ns = -tl_median(scratch, n);
        if (r.pass_ns <= 0 || r.pass_ns > INT64_MAX / ((int64_t)n * 4) || !find_link(&r, &a, &evidence))
            continue;
        /* A healthy ring lets each rank go a little later, or earlier, than the one before: so does the pair. */
        int64_t pass_ns = r.pass_ns + (step_at(&r, a) == STEP_NONE ? to_next_ns(&r, a) : 0);
        found = ((int64_t)n - 2) * pass_ns >= (evidence == ALL_OF_IT ? 1 : TIMES_HEALTHY) * TL_RING_NS;
        if (found)
            take_off(&r, a, pass_ns, off_ns);
    }
    return found;
}
