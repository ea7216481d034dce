/* runs.c - divides the traces of one job into runs.
 *
 * A rank takes part in a run once; the ranks of a run begin at almost the same time; runs follow one another:
 *
 *     time    0 1  2 3            0  1 2 3         1 0 2          files, by their known rank
 *             '--run 0--'         '--run 1--'      run 2          (not complete: rank 3 is missing)
 *
 * By time: if a rank occurs again, a run has ended since its last occurrence, at the widest gap between, unless
 * everything else says that its number is wrong and it is one run (duplicate_ranks.c).  The result is accepted if it
 * has no more runs than a rank has files, or if the shortest gap between two runs is longer than the longest gap within
 * one.  It is not accepted if two runs have no gap: a rank that begins twice at the same instant has a copy of its
 * trace, not a second run.
 *
 * By name: files whose paths differ in the rank alone are of one run (run1/rank_0, run1/rank_1; run2/...).  The result
 * is accepted if it has as many runs as a rank has files, and each rank once in each run.
 *
 * Division by time comes first if the begin of each trace is known.  If neither is accepted, the k-th file of a rank,
 * in order of time and path, belongs to run k.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"

static int64_t gap_before(const tl_slice *s, size_t i)
{
    return tl_begin_gap(s->v[i - 1], s->v[i]);
}

/* Divides by time: if a rank occurs again, its run ends before it, at the widest gap since its last occurrence; ties:
 * the last gap. */
static void number_runs_by_time(tl_slice *s)
{
    tl_map last = { 0 }; /* rank -> index of its last occurrence */
    size_t start = 0;    /* begin of the current run */
    int32_t now = 0;

    for (size_t j = 0; j < s->n; j++) {
        uint32_t i = tl_map_get(&last, (uint64_t)s->v[j]->rank);
        if (i != TL_MAP_NONE && i >= start) {
            start = j;
            for (size_t k = j; k > i; k--)
                start = gap_before(s, k) > gap_before(s, start) ? k : start;
            now++;
            for (size_t k = start; k < j; k++)
                s->v[k]->run = now;
        }
        s->v[j]->run = now;
        tl_map_put(&last, (uint64_t)s->v[j]->rank, (uint32_t)j);
    }
    tl_map_free(&last);
    s->nruns = (size_t)now + 1;
    tl_duplicate_ranks_join(s);
}

/* Divides by time.  Returns whether the result is accepted.  most: largest number of files of a rank. */
static bool divide_by_time(tl_slice *s, size_t most)
{
    int64_t inside = -1, between = INT64_MAX; /* longest gap within a run; shortest gap between two */

    number_runs_by_time(s);
    for (size_t i = 1; i < s->n; i++)
        if (s->v[i]->run != s->v[i - 1]->run)
            between = tl_ns_min(between, gap_before(s, i));
        else
            inside = tl_ns_max(inside, gap_before(s, i));
    return between > 0 && (s->nruns <= most || between > inside);
}

/* Puts the k-th file of each rank into run k. */
static void divide_by_count(tl_slice *s)
{
    tl_map seen = { 0 }; /* rank -> number of its earlier files */

    s->nruns = 1;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t rank = (uint64_t)s->v[i]->rank;
        uint32_t before = tl_map_get(&seen, rank);
        before = before == TL_MAP_NONE ? 0 : before;
        s->v[i]->run = (int32_t)before;
        s->nruns = before + 1 > s->nruns ? before + 1 : s->nruns;
        tl_map_put(&seen, rank, before + 1);
    }
    tl_map_free(&seen);
}

uint64_t tl_family_of(const tl_input *t)
{
    tl_text digits = tl_rank_digits(t->path);
    if (digits.n == 0 || t->name_rank != t->rank) {
        const char *base = strrchr(t->path, '/');
        tl_text host = tl_host_of_name(t->path, t->origin.pid);
        return tl_hash_mix(tl_hash_bytes(t->path, base != NULL ? (size_t)(base - t->path) : 0),
                           tl_hash_bytes(host.p, host.n));
    }
    const char *after = digits.p + digits.n;
    uint64_t before = tl_hash_bytes(t->path, (size_t)(digits.p - t->path));
    return tl_hash_mix(before, tl_hash_bytes(after, strlen(after)));
}

/* Divides by name; runs in order of their oldest file.  Returns whether the result is accepted. */
static bool divide_by_name(tl_slice *s, size_t most)
{
    tl_map family = { 0 }, member = { 0 }; /* family -> run; (run, rank) -> 0 */
    bool once = true;                      /* no rank occurs twice in a run */

    s->nruns = 0;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t key = tl_family_of(s->v[i]);
        uint32_t at = tl_map_get(&family, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)s->nruns++;
            tl_map_put(&family, key, at);
        }
        s->v[i]->run = (int32_t)at;
        key = tl_run_rank_key((int32_t)at, s->v[i]->rank);
        once = once && tl_map_get(&member, key) == TL_MAP_NONE;
        tl_map_put(&member, key, 0);
    }
    tl_map_free(&family);
    tl_map_free(&member);
    return s->nruns == most && once;
}

void tl_runs_part(tl_slice *s)
{
    bool timed = true; /* the begin of each trace is known */

    divide_by_count(s);
    size_t most = s->nruns; /* largest number of files of a rank */
    if (most == 1)
        return;
    for (size_t i = 0; i < s->n; i++)
        timed = timed && tl_input_is_timed(s->v[i]);
    bool by_time = divide_by_time(s, most);
    if ((by_time && (timed || s->nruns == 1)) || divide_by_name(s, most))
        return;
    if (by_time)
        number_runs_by_time(s);
    else
        divide_by_count(s);
}
