/* duplicate_ranks.c - resolves a rank that occurs twice in a run: one of the two files has a wrong number.
 *
 *     file 0 1 2 3 4 5 6 7        world size 8, all begun at almost the same time
 *     rank 0 1 2 3 4 5 6 3
 *
 * Such files are still one run if the gap before its second part is not an outstanding one, the files are no more than
 * the world has ranks, and the two are not of one process, nor of one rank by their names.
 *
 * The file whose name and process id fit the number keeps it.  The other file gets the number in its own name, or the
 * one that its process id has in a sequence, if that number is free; else it is left out.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <inttypes.h>

/* --------------------------------------------------------------------------------------------------- one run or two */

/* Whether two files with the same rank are certainly of two different ranks. */
static bool are_two_ranks(const tl_input *a, const tl_input *b)
{
    if (a->name_rank >= 0 && b->name_rank >= 0)
        return a->name_rank != b->name_rank;
    return a->origin.pid > 0 && b->origin.pid > 0 && a->origin.pid != b->origin.pid;
}

/* Whether v[0 .. n) may all be of one run. */
static bool may_be_one(tl_input *const *v, size_t n, int64_t world_size)
{
    tl_map rank = { 0 }, name = { 0 };
    bool one = world_size < 0 || (int64_t)n <= world_size;

    for (size_t i = 0; one && i < n; i++) {
        bool again = tl_map_get(&rank, (uint64_t)v[i]->rank) != TL_MAP_NONE;
        for (size_t k = 0; again && one && k < i; k++)
            one = v[k]->rank != v[i]->rank || are_two_ranks(v[k], v[i]);
        tl_map_put(&rank, (uint64_t)v[i]->rank, 0);
        if (world_size >= 0)
            continue;
        one = one && v[i]->name_rank >= 0 && tl_map_get(&name, (uint64_t)v[i]->name_rank) == TL_MAP_NONE;
        tl_map_put(&name, (uint64_t)v[i]->name_rank, 0);
    }
    tl_map_free(&rank);
    tl_map_free(&name);
    return one;
}

/* Returns the end index of the run that begins at `from`. *longest: raised to its longest gap between two begins,
 * ns. */
static size_t end_of_run(const tl_slice *s, size_t from, int64_t *longest)
{
    size_t to = from + 1;
    for (; to < s->n && s->v[to]->run == s->v[from]->run; to++)
        *longest = tl_ns_max(*longest, tl_begin_gap(s->v[to - 1], s->v[to]));
    return to;
}

void tl_duplicate_ranks_join(tl_slice *s)
{
    s->nruns = 0;
    for (size_t from = 0, to; from < s->n; from = to) {
        int64_t longest = 0;
        to = end_of_run(s, from, &longest);
        while (to < s->n) {
            int64_t inside = longest, gap = tl_begin_gap(s->v[to - 1], s->v[to]);
            size_t next = end_of_run(s, to, &inside);
            if ((gap > inside && gap > TL_BLINK_NS) || !may_be_one(s->v + from, next - from, s->world_size))
                break;
            longest = tl_ns_max(gap, inside);
            to = next;
        }
        for (size_t i = from; i < to; i++)
            s->v[i]->run = (int32_t)s->nruns;
        s->nruns++;
    }
}

/* ----------------------------------------------------------------------------------------------------- whose number */

/* The traces of a slice, by run and rank. */
typedef struct seen_ranks {
    tl_map first; /* run and rank -> its first trace */
    tl_map twice; /* run and rank -> 0: there are several */
} seen_ranks;

static bool is_twice(const seen_ranks *p, const tl_input *t)
{
    return tl_map_get(&p->twice, tl_run_rank_key(t->run, t->rank)) != TL_MAP_NONE;
}

/* Returns process id minus rank, if most files of the run whose rank occurs once agree on it; else -1. */
static int64_t pid_above_rank(const tl_slice *s, const seen_ranks *p, int32_t run)
{
    int64_t *above = tl_malloc((s->n + 1) * sizeof *above);
    size_t n = 0, agree = 0;

    for (size_t i = 0; i < s->n; i++) {
        const tl_input *t = s->v[i];
        if (t->run == run && t->origin.pid > t->rank && !is_twice(p, t))
            above[n++] = t->origin.pid - t->rank;
    }
    tl_ns_sort(above, n);
    int64_t middle = n > 0 ? above[n / 2] : -1; /* a majority includes the middle value */
    for (size_t i = 0; i < n; i++)
        agree += above[i] == middle;
    free(above);
    return agree >= 2 && 2 * agree > n ? middle : -1;
}

static int fit_of(const tl_input *t, int64_t above)
{
    int by_name = t->name_rank < 0 ? 0 : t->name_rank == t->rank ? 2 : -2;
    int by_pid = above < 0 || t->origin.pid <= 0 ? 0 : t->origin.pid - above == t->rank ? 1 : -1;
    return by_name + by_pid;
}

/* Sets t's rank if it is valid and no trace of its run has it.  Returns whether it was set. */
static bool set_if_free(const tl_slice *s, const seen_ranks *p, tl_input *t, int64_t rank, tl_rank_source source)
{
    if (rank < 0 || rank > INT32_MAX || (s->world_size >= 0 && rank >= s->world_size) ||
        tl_map_get(&p->first, tl_run_rank_key(t->run, rank)) != TL_MAP_NONE)
        return false;
    t->rank = rank;
    t->rank_source = source;
    t->renumbered = true;
    return true;
}

/* Gives t another number, or a run of its own. */
static void renumber(tl_slice *s, seen_ranks *p, tl_input *t, const tl_input *keeps, int64_t above)
{
    int64_t was = t->rank, by_pid = above >= 0 && t->origin.pid > 0 ? t->origin.pid - above : -1;
    tl_shown_path other = tl_path_shown(keeps->path);

    t->renumbered = false;
    int n = snprintf(t->why, sizeof t->why, "it says that it is rank %" PRId64 ", as %s does", was, other.text);
    if (!set_if_free(s, p, t, t->name_rank, TL_RANK_NAME) &&
        (t->name_rank >= 0 || !set_if_free(s, p, t, by_pid, TL_RANK_ORDER)))
        t->run = (int32_t)s->nruns++;
    if (t->renumbered)
        snprintf(t->why + n, sizeof t->why - (size_t)n, "; counts as rank %" PRId64 " by its %s", t->rank,
                 t->rank == t->name_rank ? "name" : "process id");
    tl_map_put(&p->first, tl_run_rank_key(t->run, t->rank), 0);
}

/* Resolves the files with the run and rank of v[at], the first of them: the best fit keeps the rank. */
static void resolve_rank(tl_slice *s, seen_ranks *p, size_t at)
{
    tl_input *keeps = s->v[at];
    int32_t run = keeps->run;
    int64_t rank = keeps->rank, above = pid_above_rank(s, p, run);

    for (size_t i = at + 1; i < s->n; i++)
        if (s->v[i]->run == run && s->v[i]->rank == rank && fit_of(s->v[i], above) > fit_of(keeps, above))
            keeps = s->v[i];
    for (size_t i = at; i < s->n; i++)
        if (s->v[i]->run == run && s->v[i]->rank == rank && s->v[i] != keeps)
            renumber(s, p, s->v[i], keeps, above);
}

void tl_duplicate_ranks_resolve(tl_slice *s)
{
    seen_ranks p = { .first = { 0 } };

    for (size_t i = 0; i < s->n; i++) {
        uint64_t key = tl_run_rank_key(s->v[i]->run, s->v[i]->rank);
        bool again = tl_map_get(&p.first, key) != TL_MAP_NONE;
        tl_map_put(again ? &p.twice : &p.first, key, (uint32_t)i);
    }
    for (size_t i = 0; p.twice.n > 0 && i < s->n; i++)
        if (!s->v[i]->renumbered && is_twice(&p, s->v[i]) &&
            tl_map_get(&p.first, tl_run_rank_key(s->v[i]->run, s->v[i]->rank)) == i)
            resolve_rank(s, &p, i);
    tl_map_free(&p.first);
    tl_map_free(&p.twice);
}
