/* unrecorded_waits.c - finds pauses of the host that were waits without a recorded wait call: frameworks wait for
 * events that profilers often do not record, or in runtime calls whose names do not tell that they wait.
 *
 *     host     [call x]...................[call y]    again and again between the same two calls the host
 *     device       [   a   ][     b    ]              pauses, and goes on at the same short lag after b
 *
 * All pauses between the same two calls are judged together, over all ranks.  The pauses waited for the kernels of one
 * name if at least three of them, with most of their total time, end at the median lag after such kernels on their
 * rank, and chance hardly explains that: with n ends of the name's kernels in a pause, one of them lies within d of a
 * given lag with probability of about 1 - exp(-2 d n / pause).  The median lag is each rank's own, since clocks of host
 * and device differ from rank to rank.
 */
#include "job_graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A possible release of one pause: the kernel whose end may have ended the pause. */
typedef struct candidate {
    uint64_t calls, name;
    int64_t lag_ns, pause_ns;
    uint32_t rank, pause, release, nends;
} candidate;

typedef struct judging {
    candidate *v; /* [n] sorted by calls, then by name, then by rank */
    size_t n;
    int64_t *lags; /* scratch */
    uint32_t *const *release_of;
} judging;

TL_SORT_BY(by_calls, candidate, calls, name, rank, pause)

/* The evidence that the pauses between two calls waited for kernels of one name. */
typedef struct evidence {
    size_t nnear;        /* number of pauses that end at the median lag of their rank */
    int64_t near_ns;     /* total length of these pauses */
    int64_t lag_ns;      /* median over ranks of their median lags */
    int64_t most_lag_ns; /* longest median lag of a rank */
    double log_chance;
} evidence;

static bool is_near(const candidate *c, int64_t median_lag_ns)
{
    return llabs((long long)(c->lag_ns - median_lag_ns)) <= TL_WAKE_SPREAD_NS;
}

/* Returns the median lag, ns, of the rank whose candidates begin at `from`; *to: their end. */
static int64_t median_lag(judging *j, size_t from, size_t end, size_t *to)
{
    size_t n = 0;
    for (*to = from; *to < end && j->v[*to].rank == j->v[from].rank; ++*to)
        j->lags[n++] = j->v[*to].lag_ns;
    return tl_median(j->lags, n);
}

/* Returns the evidence of the candidates [from, end), which have one name.  median: room for a median lag per rank. */
static evidence evidence_of(judging *j, size_t from, size_t end, int64_t *median)
{
    evidence e = { .most_lag_ns = INT64_MIN };
    size_t nranks = 0;

    for (size_t i = from, to; i < end; i = to) {
        median[nranks] = median_lag(j, i, end, &to);
        for (size_t k = i; k < to; k++) {
            const candidate *c = &j->v[k];
            if (!is_near(c, median[nranks]))
                continue;
            e.nnear++;
            e.near_ns += c->pause_ns;
            e.log_chance +=
                log(fmax(DBL_EPSILON, -expm1(-2 * (double)TL_WAKE_SPREAD_NS * c->nends / (double)c->pause_ns)));
        }
        e.most_lag_ns = median[nranks] > e.most_lag_ns ? median[nranks] : e.most_lag_ns;
        nranks++;
    }
    e.lag_ns = tl_median(median, nranks);
    return e;
}

static void mark_waits(judging *j, size_t from, size_t end, tl_job_graph *out)
{
    for (size_t i = from, to; i < end; i = to) {
        int64_t median = median_lag(j, i, end, &to);
        for (size_t k = i; k < to; k++) {
            const candidate *c = &j->v[k];
            if (!is_near(c, median))
                continue;
            j->release_of[c->rank][c->pause] = c->release;
            out->nwaits++;
        }
    }
}

/* Accepts the name with the most pauses at its lag, of equals the one with the shorter lag, among the candidates [from,
 * end) of all pauses between two calls, whose total length is all_ns; none if no name has enough evidence. */
static void judge_calls(judging *j, size_t from, size_t end, int64_t all_ns, int64_t *median, tl_job_graph *out)
{
    evidence best = { 0 };
    size_t best_from = end, best_to = end;

    for (size_t i = from, to; i < end; i = to) {
        for (to = i; to < end && j->v[to].name == j->v[i].name; to++)
            ;
        evidence e = evidence_of(j, i, to, median);
        if (e.nnear < TL_MEDIAN_LEAST || 2 * e.near_ns < all_ns ||
            (double)e.most_lag_ns > TL_SURE_SIGMAS * (double)TL_WAKE_SPREAD_NS || e.log_chance > log(TL_VERDICT_ALPHA))
            continue;
        if (best_from < end && (e.nnear < best.nnear || (e.nnear == best.nnear && e.lag_ns >= best.lag_ns)))
            continue;
        best = e;
        best_from = i;
        best_to = to;
    }
    mark_waits(j, best_from, best_to, out);
}

/* The total length of all pauses between the same two calls. */
typedef struct calls_sum {
    uint64_t calls;
    int64_t ns;
} calls_sum;

TL_SORT_BY(by_sum_calls, calls_sum, calls)

static void add_sum(void *to, const void *of)
{
    ((calls_sum *)to)->ns += ((const calls_sum *)of)->ns;
}

static void list_candidates(const tl_rank_graph *const *graphs, size_t nranks, judging *j, calls_sum *sums)
{
    size_t at = 0;
    for (uint32_t r = 0; r < nranks; r++)
        for (uint32_t p = 0; p < graphs[r]->npauses; p++) {
            const tl_pause *pause = &graphs[r]->pauses[p];
            sums[at++] = (calls_sum){ pause->calls, pause->ns };
            for (uint32_t i = pause->first_release; i < pause[1].first_release; i++) {
                const tl_pause_release *release = &graphs[r]->releases[i];
                j->v[j->n++] =
                    (candidate){ pause->calls, release->name, release->lag_ns, pause->ns, r, p, i, release->nends };
            }
        }
    tl_sort(j->v, j->n, sizeof *j->v, by_calls);
}

void tl_job_graph_find_unrecorded_waits(const tl_rank_graph *const *graphs, size_t nranks, uint32_t *const *release_of,
                                        tl_job_graph *out)
{
    size_t nreleases = 0;
    for (size_t r = 0; r < nranks; r++) {
        out->npauses += graphs[r]->npauses;
        nreleases += graphs[r]->nreleases;
        memset(release_of[r], 0xff, graphs[r]->npauses * sizeof **release_of); /* TL_NONE */
    }
    tl_arena arena = { 0 };
    judging j = { .v = tl_arena_take(&arena, nreleases, sizeof *j.v),
                  .lags = tl_arena_take(&arena, nreleases, sizeof *j.lags),
                  .release_of = release_of };
    calls_sum *sums = tl_arena_take(&arena, out->npauses, sizeof *sums);
    int64_t *median = tl_arena_take(&arena, nranks, sizeof *median);

    list_candidates(graphs, nranks, &j, sums);
    size_t nsums = tl_merge_equal(sums, out->npauses, sizeof *sums, by_sum_calls, add_sum);
    for (size_t i = 0, to, s = 0; i < j.n; i = to) {
        for (to = i; to < j.n && j.v[to].calls == j.v[i].calls; to++)
            ;
        TL_BISECT(s, nsums, mid, sums[mid].calls < j.v[i].calls);
        judge_calls(&j, i, to, sums[s].ns, median, out);
    }
    tl_arena_free(&arena);
}
