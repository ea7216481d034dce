/* unrecorded_waits.c - waits that no call tells of: frameworks wait for events that profilers often do not record, and
 * in calls of runtimes whose names tell nothing.
 *
 *     host     [call x]...................[call y]    again and again between the same two calls the host pauses, and goes
 *     device       [   a   ][     b    ]              on at the same short lag after b has ended
 *
 * All pauses between two such calls, on all ranks, are judged together.  They waited for work of a name if at least
 * three of them, with most of their time, end at the median lag of that name on their rank, and chance hardly
 * explains that number: work of that name that ended n times in a pause ends within d of any lag in about
 * 1 - exp(-2 d n / pause) of all cases.  Clocks of host and device differ from rank to rank, so the median lag is each
 * rank's own.
 */
#include "job_graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel that may have released one pause. */
typedef struct candidate {
    uint64_t calls, name;
    int64_t lag_ns, pause_ns;
    uint32_t rank, pause, release, nends;
} candidate;

typedef struct judging {
    candidate *v; /* of pauses between the same calls together, then of a name, then of a rank */
    size_t n;
    int64_t *lags; /* scratch */
    uint32_t *const *release_of;
} judging;

TL_SORT_BY(by_calls, candidate, calls, name, rank, pause)

/* The evidence that pauses waited for work of one name. */
typedef struct evidence {
    size_t nnear;        /* pauses that end at the median lag */
    int64_t near_ns;     /* how long these are together */
    int64_t lag_ns;      /* median of the median lags of ranks */
    int64_t most_lag_ns; /* the longest of them */
    double log_chance;
} evidence;

static bool is_near(const candidate *c, int64_t median_lag_ns)
{
    return llabs((long long)(c->lag_ns - median_lag_ns)) <= TL_WAKE_SPREAD_NS;
}

/* The median lag of the rank whose candidates begin at `from`; *to: where they end. */
static int64_t median_lag(judging *j, size_t from, size_t end, size_t *to)
{
    size_t n = 0;
    for (*to = from; *to < end && j->v[*to].rank == j->v[from].rank; ++*to)
        j->lags[n++] = j->v[*to].lag_ns;
    return tl_median(j->lags, n);
}

/* Of the candidates [from, end), all of one name.  medians: room for the median lags of ranks. */
static evidence weigh(judging *j, size_t from, size_t end, int64_t *median)
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

static void accept(judging *j, size_t from, size_t end, tl_job_graph *out)
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

/* Of all pauses between two calls, with candidates [from, end), which took all_ns together. */
static void judge_calls(judging *j, size_t from, size_t end, int64_t all_ns, int64_t *median, tl_job_graph *out)
{
    evidence best = { 0 };
    size_t best_from = end, best_to = end;

    for (size_t i = from, to; i < end; i = to) {
        for (to = i; to < end && j->v[to].name == j->v[i].name; to++)
            ;
        evidence e = weigh(j, i, to, median);
        if (e.nnear < TL_SPREAD_LEAST || (double)e.near_ns < TL_UNTOLD_SHARE * (double)all_ns ||
            e.most_lag_ns > TL_UNTOLD_LAG_NS || e.log_chance > log(TL_UNTOLD_CHANCE))
            continue;
        if (best_from < end && (e.nnear < best.nnear || (e.nnear == best.nnear && e.lag_ns >= best.lag_ns)))
            continue;
        best = e;
        best_from = i;
        best_to = to;
    }
    accept(j, best_from, best_to, out);
}

/* How long all pauses between the same calls are. */
typedef struct calls_sum {
    uint64_t calls;
    int64_t ns;
} calls_sum;

TL_SORT_BY(by_sum_calls, calls_sum, calls)

static void add_sum(void *to, const void *of)
{
    ((calls_sum *)to)->ns += ((const calls_sum *)of)->ns;
}

static void list(const tl_rank_graph *const *graphs, size_t nranks, judging *j, calls_sum *sums)
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

    list(graphs, nranks, &j, sums);
    size_t nsums = tl_merge_equal(sums, out->npauses, sizeof *sums, by_sum_calls, add_sum);
    for (size_t i = 0, to, s = 0; i < j.n; i = to) {
        for (to = i; to < j.n && j.v[to].calls == j.v[i].calls; to++)
            ;
        TL_BISECT(s, nsums, mid, sums[mid].calls < j.v[i].calls);
        judge_calls(&j, i, to, sums[s].ns, median, out);
    }
    tl_arena_free(&arena);
}
