/* bounds.c - the limits that matched collectives set to the offsets between clocks. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- bounds */

static bool arrives(const tl_clock_bound *b, uint32_t i)
{
    return b->sender < 0 || i == (uint32_t)b->sender;
}

static bool leaves(const tl_clock_bound *b, uint32_t i)
{
    return b->sender < 0 || i != (uint32_t)b->sender;
}

/* Whether the members' times span at least half of TL_CLOCK_FAR: sums of such offsets would overflow. */
static bool is_too_far_apart(const tl_participant *p, size_t n)
{
    int64_t first_ns = INT64_MAX, last_ns = -INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        first_ns = tl_ns_min(first_ns, tl_ns_min(p[i].start_ns, p[i].end_ns));
        last_ns = tl_ns_max(last_ns, tl_ns_max(p[i].start_ns, p[i].end_ns));
    }
    return tl_ns_between(last_ns, first_ns) >= TL_CLOCK_FAR / 2;
}

/* Whether every kernel lasts longer than 0 ns.  A missing or impossible duration is read as 0: the end is unknown. */
static bool all_timed(const tl_participant *p, size_t n)
{
    bool last = true;
    for (size_t i = 0; i < n; i++)
        last = last && p[i].end_ns > p[i].start_ns;
    return last;
}

static bool are_all_to_all(const tl_participant *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].kind != TL_ALL_TO_ALL)
            return false;
    return true;
}

static bool is_usable(const tl_participant *p, size_t n)
{
    return n >= 2 && tl_collective_suspect(p, n) == TL_SUSPECT_NOTHING && !is_too_far_apart(p, n) && all_timed(p, n);
}

bool tl_clocks_compare(const tl_job_facts *job, const tl_participant *p, size_t n)
{
    bool stays = p[0].group >= 0 && (size_t)p[0].group < job->ngroups && job->groups[p[0].group].stays;
    return is_usable(p, n) &&
           (tl_participants_sender(p, n) >= 0 || tl_participants_meet(p, n) || (stays && are_all_to_all(p, n)));
}

/* ------------------------------------------------------------------------------------------------------------ stays */

/* Examines the ranks on the host of p[first]: sets *left if one of them ends before another one has arrived; else sets
 * *stayed if its first rank waits for its last one for longer than the shortest kernel takes. */
static void observe_host(const tl_participant *p, const int32_t *host, size_t n, size_t first, bool *stayed, bool *left)
{
    int64_t came_ns = p[first].start_ns, last_ns = came_ns, left_ns = INT64_MAX, shortest_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        shortest_ns = tl_ns_min(shortest_ns, tl_ns_between(p[i].end_ns, p[i].start_ns));
        if (host[i] != host[first])
            continue;
        came_ns = tl_ns_min(came_ns, p[i].start_ns);
        last_ns = tl_ns_max(last_ns, p[i].start_ns);
        left_ns = tl_ns_min(left_ns, p[i].end_ns);
    }
    bool leaves = tl_ns_between(last_ns, left_ns) > TL_CLOCK_ERROR_NS;
    *left |= leaves;
    *stayed |= !leaves && tl_ns_between(last_ns, came_ns) > tl_ns_sum(shortest_ns, TL_CLOCK_ERROR_NS);
}

/* Increments *left if ranks of some host leave the all-to-all early, else *stayed if ranks of some host wait in it. */
static void count_waiting(const tl_job_facts *job, const tl_participant *p, size_t n, int32_t *host, int64_t *stayed,
                          int64_t *left)
{
    bool stays = false, leaves = false;
    for (size_t i = 0; i < n; i++) {
        const tl_rank_clock *clock = tl_rank_clock_of(job, p[i].rank);
        host[i] = clock != NULL ? clock->host : -1;
    }
    for (size_t i = 0; i < n; i++)
        if (host[i] >= 0 && (i == 0 || host[i] != host[i - 1]))
            observe_host(p, host, n, i, &stays, &leaves);
    *stayed += stays && !leaves;
    *left += leaves;
}

void tl_clock_stays_find(const tl_participant *participants, size_t n, const tl_clock_procs *procs,
                         const tl_rank_clock *rank_clocks, size_t nrank_clocks, tl_group_fact *groups, size_t ngroups)
{
    const tl_job_facts job = { .groups = groups, .ngroups = ngroups, .ranks = rank_clocks, .nranks = nrank_clocks };
    int64_t *stayed = tl_calloc(2 * ngroups + 1, sizeof *stayed), *left = stayed + ngroups;
    int32_t *host = tl_malloc((n + 1) * sizeof *host);

    for (size_t from = 0, to; from < n; from = to) {
        const tl_participant *p = participants + from;
        to = tl_participants_end(participants, n, from);
        if (p->group >= 0 && (size_t)p->group < ngroups && are_all_to_all(p, to - from) && is_usable(p, to - from))
            count_waiting(&job, p, to - from, host, &stayed[p->group], &left[p->group]);
    }
    procs->sum(stayed, 2 * ngroups);
    for (size_t g = 0; g < ngroups; g++)
        groups[g].stays = (size_t)stayed[g] >= TL_PATTERN_LEAST && left[g] == 0;
    free(host);
    free(stayed);
}

/* Adds the bound of the collective at participants[first], if its times and ranks are known and it limits offsets. */
static void add_bound(tl_clock_bounds *out, const tl_job_facts *job, size_t first, size_t n)
{
    const tl_participant *p = out->participants + first;
    tl_clock_bound b = { .first = (uint32_t)first, .n = (uint32_t)n, .sender = tl_participants_sender(p, n) };
    int64_t last_ns = INT64_MIN;

    if (!tl_clocks_compare(job, p, n))
        return;
    for (uint32_t i = 0; i < b.n; i++) {
        if (out->rank_clock[first + i] == UINT32_MAX)
            return;
        last_ns = arrives(&b, i) ? tl_ns_max(last_ns, p[i].start_ns) : last_ns;
    }
    out->first_ns = tl_ns_min(out->first_ns, last_ns);
    out->last_ns = tl_ns_max(out->last_ns, last_ns);
    tl_vec_push(&out->all, b);
}

void tl_clock_bounds_make(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_bounds *out)
{
    *out = (tl_clock_bounds){ .participants = participants, .first_ns = INT64_MAX, .last_ns = -INT64_MAX };
    out->rank_clock = tl_malloc((n + 1) * sizeof *out->rank_clock);
    for (size_t i = 0; i < n; i++) {
        const tl_rank_clock *rank_clock = tl_rank_clock_of(job, participants[i].rank);
        out->rank_clock[i] = rank_clock != NULL ? (uint32_t)(rank_clock - job->ranks) : UINT32_MAX;
    }
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        add_bound(out, job, from, to - from);
    }
}

void tl_clock_bounds_free(tl_clock_bounds *b)
{
    free(b->rank_clock);
    free(b->all.v);
    *b = (tl_clock_bounds){ 0 };
}

/* ---------------------------------------------------------------------------------------------------------- offsets */

/* Last arrival and first end in the collective of a bound; last: the clock of the last arrival. */
typedef struct extent {
    int64_t last_ns, left_ns;
    int32_t last;
} extent;

/* Returns the extent after subtracting, by clock, come[] from arrivals and gone[] from ends. */
static extent extent_of(const tl_clock_bounds *b, const tl_rank_clock *tried, const tl_clock_bound *bound,
                        const int64_t *come, const int64_t *gone)
{
    extent x = { INT64_MIN, INT64_MAX, -1 };
    for (uint32_t i = 0; i < bound->n; i++) {
        const tl_participant *p = &b->participants[bound->first + i];
        const tl_rank_clock *t = &tried[b->rank_clock[bound->first + i]];
        int64_t start_ns = tl_ns_between(tl_clock_steady(t, p->start_ns), come[t->clock]);
        if (arrives(bound, i) && start_ns > x.last_ns) {
            x.last_ns = start_ns;
            x.last = t->clock;
        }
        if (leaves(bound, i))
            x.left_ns = tl_ns_min(x.left_ns, tl_ns_between(tl_clock_steady(t, p->end_ns), gone[t->clock]));
    }
    return x;
}

bool tl_clock_bounds_pass(const tl_clock_bounds *b, const tl_rank_clock *tried, int64_t *low, int64_t *high,
                          int64_t *low_from)
{
    bool settled = true;

    TL_EACH (const tl_clock_bound, bound, b->all) {
        const extent x = extent_of(b, tried, bound, low, high);
        for (uint32_t i = 0; i < bound->n; i++) {
            const tl_participant *p = &b->participants[bound->first + i];
            const tl_rank_clock *t = &tried[b->rank_clock[bound->first + i]];
            int64_t most = tl_ns_sum(tl_ns_between(tl_clock_steady(t, p->end_ns), x.last_ns), TL_CLOCK_ERROR_NS);
            int64_t least = tl_ns_between(tl_ns_between(tl_clock_steady(t, p->start_ns), x.left_ns), TL_CLOCK_ERROR_NS);
            if (leaves(bound, i) && most < low[t->clock]) {
                low[t->clock] = most;
                low_from[t->clock] = x.last;
                settled = false;
            }
            if (arrives(bound, i) && least > high[t->clock]) {
                high[t->clock] = least;
                settled = false;
            }
        }
    }
    return settled;
}

int64_t tl_clock_bounds_broken(const tl_clock_bounds *b, const tl_rank_clock *tried, const int64_t *offset)
{
    int64_t n = 0;
    for (size_t k = 0; k < b->all.n; k++) {
        const extent x = extent_of(b, tried, &b->all.v[k], offset, offset);
        n += tl_ns_between(x.last_ns, x.left_ns) > TL_CLOCK_ERROR_NS;
    }
    return n;
}
