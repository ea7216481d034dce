/* runs.c - traces of one job to its runs.
 *
 * A rank takes part in a run once; the ranks of a run begin together, runs begin one after another:
 *
 *     time    0 1  2 3            0  1 2 3         1 0 2          files, by the rank they know
 *             '--run 0--'         '--run 1--'      run 2          (not complete: rank 3 is missing)
 *
 * By time: a rank that is seen again proves that a run has ended since it was seen first, at the widest gap between;
 * unless all else says that its number is wrong, and the run one (duplicate_ranks.c).  That is believed when it makes
 * no more runs than a rank has files, or when the runs are set apart: the shortest gap between two is longer than the
 * longest inside one.  It is not where there is no gap at all: a rank that begins twice at the same instant has a copy
 * of its trace, and no second run.
 *
 * By name: files that differ in nothing but the rank in their path are of one run (run1/rank_0, run1/rank_1; run2/...).
 * That is believed when it makes as many runs as a rank has files, each rank once in each.
 *
 * Time goes first where each trace tells when it began.  Where neither is to be believed, the k-th file of a rank, in
 * order of time and path, is of run k.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"

static int64_t gap_before(const tl_slice *s, size_t i)
{
    return tl_begin_gap(s->v[i - 1], s->v[i]);
}

/* Runs by time: a rank that is seen again has its run end before, at the widest gap since, of equal gaps the last. */
static void cut_by_time(tl_slice *s)
{
    tl_map last = { 0 }; /* rank -> where it was seen last */
    size_t start = 0;    /* of the run that is being filled */
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

/* Runs by time.  Returns whether they are to be believed, where a rank has at most `most` files. */
static bool part_by_time(tl_slice *s, size_t most)
{
    int64_t inside = -1, between = INT64_MAX; /* the longest gap inside a run, the shortest between two */

    cut_by_time(s);
    for (size_t i = 1; i < s->n; i++)
        if (s->v[i]->run != s->v[i - 1]->run)
            between = tl_ns_min(between, gap_before(s, i));
        else
            inside = tl_ns_max(inside, gap_before(s, i));
    return between > 0 && (s->nruns <= most || between > inside);
}

/* The k-th file of a rank becomes one of run k. */
static void part_by_count(tl_slice *s)
{
    tl_map seen = { 0 }; /* rank -> its files before this one */

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

/* Runs by name, the one with the oldest file first.  Returns whether they are to be believed. */
static bool part_by_name(tl_slice *s, size_t most)
{
    tl_map family = { 0 }, member = { 0 }; /* family -> run; (run, rank) -> it has one */
    bool once = true;                      /* no rank is twice in one of them */

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
    bool timed = true; /* each trace knows its time */

    part_by_count(s);
    size_t most = s->nruns; /* files of one rank, at most */
    if (most == 1)
        return;
    for (size_t i = 0; i < s->n; i++)
        timed = timed && tl_input_is_timed(s->v[i]);
    bool by_time = part_by_time(s, most);
    if ((by_time && (timed || s->nruns == 1)) || part_by_name(s, most))
        return;
    if (by_time)
        cut_by_time(s);
    else
        part_by_count(s);
}
