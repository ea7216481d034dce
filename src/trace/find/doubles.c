/* doubles.c - a rank that is in a run twice: one of the two files has a wrong number.
 *
 *     file 0 1 2 3 4 5 6 7        of a world of 8, all begun within the same blink
 *     rank 0 1 2 3 4 5 6 3
 *
 * It is one run all the same where the gap before its second part is none that stands out, its files are no more than
 * the world has ranks, and the two are not of one process, nor of one rank by their names.
 *
 * The number stays with the file whose name and process id speak for it.  The other gets the number that its own name,
 * or its place among process ids that follow upon one another, says, where that is free; else it is left out.
 */
#include "decide.h"
#include <inttypes.h>
#include <stdio.h>

/* No rank is recorded twice within that time. */
#define BLINK_NS INT64_C(1000000000)

/* ---------------------------------------------------------------------------------------------------- one run or two */

/* Whether it is sure that these, which say they are the same rank, are not. */
static bool are_two_ranks(const tl_input *a, const tl_input *b)
{
    if (a->name_rank >= 0 && b->name_rank >= 0)
        return a->name_rank != b->name_rank;
    return a->origin.pid > 0 && b->origin.pid > 0 && a->origin.pid != b->origin.pid;
}

/* Whether v[0 .. n) may all be of one run; *fine false: memory is out. */
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

/* Returns where the run that begins at `from` ends.  *longest: its longest gap between two begins, in ns, if longer
 * than before. */
static size_t end_of_run(const tl_slice *s, size_t from, int64_t *longest)
{
    size_t to = from + 1;
    for (; to < s->n && s->v[to]->run == s->v[from]->run; to++) {
        int64_t gap = s->v[to]->begin_ns - s->v[to - 1]->begin_ns;
        *longest = gap > *longest ? gap : *longest;
    }
    return to;
}

void tl_doubles_join(tl_slice *s)
{
    size_t from = 0, nruns = 0;
    int64_t longest = 0;

    for (size_t to = s->n > 0 ? end_of_run(s, 0, &longest) : 0; from < s->n;) {
        int64_t inside = longest;
        size_t next = to < s->n ? end_of_run(s, to, &inside) : to;
        int64_t gap = to < s->n ? s->v[to]->begin_ns - s->v[to - 1]->begin_ns : INT64_MAX;
        bool near = to < s->n && (gap <= inside || gap <= BLINK_NS);

        if (near && may_be_one(s->v + from, next - from, s->world_size)) {
            longest = gap > inside ? gap : inside;
            for (size_t i = to; i < next; i++)
                s->v[i]->run = s->v[from]->run;
            to = next;
            continue;
        }
        for (size_t i = from; i < to; i++)
            s->v[i]->run = (int32_t)nruns;
        nruns++;
        from = to;
        longest = 0;
        to = from < s->n ? end_of_run(s, from, &longest) : from;
    }
    s->nruns = nruns;
}

/* ----------------------------------------------------------------------------------------------------- whose number */

/* The traces of a slice, by run and rank. */
typedef struct places {
    tl_map first; /* run and rank -> its first trace */
    tl_map twice; /* run and rank -> 0: there are several */
} places;

static uint64_t place_of(int32_t run, int64_t rank)
{
    return (uint64_t)run << 32 | (uint64_t)rank; /* ranks fit 32 bits */
}

static bool is_twice(const places *p, const tl_input *t)
{
    return tl_map_get(&p->twice, place_of(t->run, t->rank)) != TL_MAP_NONE;
}

/* Returns process id less rank, where most files of the run whose rank occurs once agree on it; else -1. */
static int64_t pid_above_rank(const tl_slice *s, const places *p, int32_t run)
{
    int64_t above = -1, votes = 0, n = 0, agree = 0;

    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < s->n; i++) {
            const tl_input *t = s->v[i];
            if (t->run != run || t->origin.pid <= t->rank || is_twice(p, t))
                continue;
            int64_t own = t->origin.pid - t->rank;
            if (turn > 0) {
                n++;
                agree += own == above;
            } else if (votes == 0 || own == above) { /* what most say has votes left in the end */
                above = own;
                votes++;
            } else {
                votes--;
            }
        }
    }
    return agree >= 2 && 2 * agree > n ? above : -1;
}

static int fit(const tl_input *t, int64_t above)
{
    int by_name = t->name_rank < 0 ? 0 : t->name_rank == t->rank ? 2 : -2;
    int by_pid = above < 0 || t->origin.pid <= 0 ? 0 : t->origin.pid - above == t->rank ? 1 : -1;
    return by_name + by_pid;
}

/* Whether the number is a possible rank that no trace of the run has. */
static bool is_free(const tl_slice *s, const places *p, int32_t run, int64_t rank)
{
    return rank >= 0 && rank <= INT32_MAX && (s->world_size < 0 || rank < s->world_size) &&
           tl_map_get(&p->first, place_of(run, rank)) == TL_MAP_NONE;
}

static void say(tl_input *t, const tl_input *keeps, int64_t was)
{
    char reason[sizeof t->why];
    const char *other = keeps->path;
    size_t n = strlen(other), shown = 90;
    int used = snprintf(reason, sizeof reason, "it says that it is rank %" PRId64 ", as %s%s does", was,
                        n > shown ? "..." : "", other + (n > shown ? n - shown : 0));

    if (t->rank != was && used > 0 && (size_t)used < sizeof reason)
        snprintf(reason + used, sizeof reason - (size_t)used, "; counts as rank %" PRId64 " by its %s", t->rank,
                 t->rank == t->name_rank ? "name" : "process id");
    snprintf(t->why, sizeof t->why, "%s", reason);
}

/* Another number for t, or a run of its own. */
static void move(tl_slice *s, places *p, tl_input *t, const tl_input *keeps, int64_t above)
{
    int64_t was = t->rank, by_pid = above >= 0 && t->origin.pid > 0 ? t->origin.pid - above : -1;

    if (is_free(s, p, t->run, t->name_rank))
        t->rank = t->name_rank;
    else if (t->name_rank < 0 && is_free(s, p, t->run, by_pid))
        t->rank = by_pid;
    else
        t->run = (int32_t)s->nruns++;
    t->renumbered = t->rank != was;
    if (t->renumbered)
        t->rank_source = t->rank == t->name_rank ? TL_RANK_NAME : TL_RANK_ORDER;
    say(t, keeps, was);
    tl_map_put(&p->first, place_of(t->run, t->rank), 0);
}

static void find_places(const tl_slice *s, places *p)
{
    for (size_t i = 0; i < s->n; i++) {
        uint64_t place = place_of(s->v[i]->run, s->v[i]->rank);
        bool again = tl_map_get(&p->first, place) != TL_MAP_NONE;
        tl_map_put(again ? &p->twice : &p->first, place, (uint32_t)i);
    }
}

/* Settles the files with the run and rank of v[at], which is the first of them: the best fit keeps the rank. */
static void settle_rank(tl_slice *s, places *p, size_t at)
{
    tl_input *first = s->v[at], *keeps = first;
    int32_t run = first->run;
    int64_t rank = first->rank, above = pid_above_rank(s, p, run);

    for (size_t i = at + 1; i < s->n; i++) {
        tl_input *t = s->v[i];
        if (t->run == run && t->rank == rank && fit(t, above) > fit(keeps, above))
            keeps = t;
    }
    for (size_t i = at; i < s->n; i++)
        if (s->v[i]->run == run && s->v[i]->rank == rank && s->v[i] != keeps)
            move(s, p, s->v[i], keeps, above);
}

void tl_doubles_settle(tl_slice *s)
{
    places p = { .first = { 0 } };
    find_places(s, &p);
    size_t n = s->n;

    for (size_t i = 0; p.twice.n > 0 && i < n; i++)
        if (!s->v[i]->renumbered && is_twice(&p, s->v[i]) &&
            tl_map_get(&p.first, place_of(s->v[i]->run, s->v[i]->rank)) == i)
            settle_rank(s, &p, i);
    tl_map_free(&p.first);
    tl_map_free(&p.twice);
}
