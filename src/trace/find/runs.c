/* runs.c - files to ranks and runs.
 *
 * A rank takes part in a run once; the ranks of a run begin together, runs begin one after another:
 *
 *     time    0 1  2 3            0  1 2 3         1 0 2          files, by the rank they know
 *             '--run 0--'         '--run 1--'      run 2          (not complete: rank 3 is missing)
 *
 * By time: a rank that is seen again proves that a run has ended since it was seen first, at the widest gap between.
 * That is believed when it makes no more runs than a rank has files, or when the runs are set apart: the shortest gap
 * between two is longer than the longest inside one.  It is not where there is no gap at all: a rank that begins twice
 * at the same instant has a copy of its trace, and no second run.
 *
 * By name: files that differ in nothing but the rank in their path are of one run (run1/rank_0, run1/rank_1; run2/...).
 * That is believed when it makes as many runs as a rank has files, each rank once in each.
 *
 * Time goes first, unless all that is known is when the file was written: copying changes that.  Where neither is to be
 * believed, the k-th file of a rank, in order of time, is of run k.
 */
#include "input.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

typedef struct run {
    int64_t first_ns, last_ns; /* begin of its first and last trace */
    size_t nranks;
    int64_t next_free; /* no smaller number is free */
    size_t at, end;    /* its traces with a rank above next_free, in order of (run, rank) */
} run;

typedef struct deciding {
    tl_inventory *inventory;
    tl_input **known;   /* traces that know their rank, in order of time */
    tl_input **unknown; /* the others, in order of path */
    size_t nknown, nunknown;
    run *runs;
    size_t nruns;
} deciding;

static int by_time(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int by_run_and_rank(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return TL_COMPARE(x->rank, y->rank);
}

/* -------------------------------------------------------------------------------------------- ranks that are known */

/* Gives every input the rank that it knows itself, and parts the traces into those that know and those that do not. */
static bool collect(deciding *d)
{
    tl_inventory *inventory = d->inventory;
    size_t n = inventory->inputs.n;

    d->known = tl_calloc(n + 1, sizeof(tl_input *));
    d->unknown = tl_calloc(n + 1, sizeof(tl_input *));
    if (d->known == NULL || d->unknown == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        tl_input *input = &inventory->inputs.v[i];
        input->run = -1;
        input->rank = -1;
        input->rank_source = TL_RANK_ORDER;
        if (input->kind == TL_INPUT_OTHER)
            continue;
        if (input->meta_rank >= 0 || input->name_rank >= 0) {
            input->rank = input->meta_rank >= 0 ? input->meta_rank : input->name_rank;
            input->rank_source = input->meta_rank >= 0 ? TL_RANK_META : TL_RANK_NAME;
        }
        if (input->kind != TL_INPUT_TRACE)
            continue;
        if (input->rank >= 0)
            d->known[d->nknown++] = input;
        else
            d->unknown[d->nunknown++] = input;
    }
    if (d->nknown > 0)
        qsort(d->known, d->nknown, sizeof *d->known, by_time);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ runs */

static int64_t gap_before(const deciding *d, size_t i)
{
    return d->known[i]->begin_ns - d->known[i - 1]->begin_ns;
}

/* Where the widest gap after i ends, up to j; of equal ones the last. */
static size_t after_widest_gap(const deciding *d, size_t i, size_t j)
{
    size_t widest = j;
    for (size_t k = j; k > i; k--)
        if (gap_before(d, k) > gap_before(d, widest))
            widest = k;
    return widest;
}

/* Runs by time: a rank that is seen again has its run end before.  *apart: there is time between any two runs. */
static bool cut_by_time(deciding *d, bool *apart)
{
    tl_map last = { 0 }; /* rank -> where it was seen last */
    size_t start = 0;    /* of the run that is being filled */
    int32_t now = 0;
    bool fine = true;

    *apart = true;
    for (size_t j = 0; j < d->nknown && fine; j++) {
        uint32_t i = tl_map_get(&last, (uint64_t)d->known[j]->rank);
        if (i != TL_MAP_NONE && i >= start) {
            start = after_widest_gap(d, i, j);
            *apart = *apart && gap_before(d, start) > 0;
            now++;
            for (size_t k = start; k < j; k++)
                d->known[k]->run = now;
        }
        d->known[j]->run = now;
        fine = tl_map_put(&last, (uint64_t)d->known[j]->rank, (uint32_t)j) == 0;
    }
    tl_map_free(&last);
    d->nruns = (size_t)now + 1;
    return fine;
}

/* Whether the shortest gap between runs is longer than the longest inside one. */
static bool set_apart(const deciding *d)
{
    int64_t inside = -1, between = INT64_MAX;
    for (size_t i = 1; i < d->nknown; i++) {
        int64_t gap = gap_before(d, i);
        if (d->known[i]->run != d->known[i - 1]->run)
            between = gap < between ? gap : between;
        else
            inside = gap > inside ? gap : inside;
    }
    return between > inside;
}

/* The k-th file of a rank becomes one of run k. */
static bool cut_by_count(deciding *d)
{
    tl_map seen = { 0 }; /* rank -> files of it so far */
    bool fine = true;

    d->nruns = 1;
    for (size_t i = 0; i < d->nknown && fine; i++) {
        uint64_t rank = (uint64_t)d->known[i]->rank;
        uint32_t before = tl_map_get(&seen, rank);
        before = before == TL_MAP_NONE ? 0 : before;
        d->known[i]->run = (int32_t)before;
        if (before + 1 > d->nruns)
            d->nruns = before + 1;
        fine = tl_map_put(&seen, rank, before + 1) == 0;
    }
    tl_map_free(&seen);
    return fine;
}

/* What two files of one run have in common: the path around the rank in it; the folder, where the rank is not in it. */
static uint64_t family_of(const tl_input *t)
{
    tl_text digits = tl_rank_digits(t->path);
    if (digits.n == 0 || t->name_rank != t->rank) {
        const char *base = strrchr(t->path, '/');
        return tl_hash_bytes(t->path, base != NULL ? (size_t)(base - t->path) : 0);
    }
    const char *after = digits.p + digits.n;
    uint64_t before = tl_hash_bytes(t->path, (size_t)(digits.p - t->path));
    return tl_hash_mix(before, tl_hash_bytes(after, strlen(after)));
}

/* Runs by name, the one with the oldest file first.  *once: no rank is twice in one of them. */
static bool cut_by_name(deciding *d, bool *once)
{
    tl_map family = { 0 }, member = { 0 }; /* family -> run; (run, rank) -> it has one */
    bool fine = true;

    *once = true;
    d->nruns = 0;
    for (size_t i = 0; i < d->nknown && fine; i++) {
        uint64_t key = family_of(d->known[i]);
        uint32_t at = tl_map_get(&family, key);
        if (at == TL_MAP_NONE) {
            at = (uint32_t)d->nruns++;
            fine = tl_map_put(&family, key, at) == 0;
        }
        d->known[i]->run = (int32_t)at;
        key = (uint64_t)at << 32 | (uint64_t)d->known[i]->rank; /* ranks fit 32 bits */
        *once = *once && tl_map_get(&member, key) == TL_MAP_NONE;
        fine = fine && tl_map_put(&member, key, 0) == 0;
    }
    tl_map_free(&family);
    tl_map_free(&member);
    return fine;
}

static bool times_are_their_own(const deciding *d)
{
    for (size_t i = 0; i < d->nknown; i++)
        if (d->known[i]->begin_ns == d->known[i]->mtime_ns)
            return false;
    return true;
}

static bool part_into_runs(deciding *d)
{
    if (!cut_by_count(d))
        return false;
    if (d->nruns == 1)
        return true;
    size_t most = d->nruns; /* files of one rank, at most */
    bool timed = times_are_their_own(d), once, apart;

    for (int turn = 0; turn < 2; turn++) {
        if (timed == (turn == 0)) {
            if (!cut_by_time(d, &apart))
                return false;
            if (apart && (d->nruns <= most || set_apart(d)))
                return true;
        } else {
            if (!cut_by_name(d, &once))
                return false;
            if (d->nruns == most && once)
                return true;
        }
    }
    return cut_by_count(d);
}

/* Fills in d->runs from the traces that know their rank. */
static bool sum_up(deciding *d)
{
    d->runs = tl_calloc(d->nruns, sizeof *d->runs);
    if (d->runs == NULL)
        return false;
    if (d->nknown > 0)
        qsort(d->known, d->nknown, sizeof *d->known, by_run_and_rank);
    for (size_t i = 0; i < d->nknown; i++) {
        const tl_input *t = d->known[i];
        run *r = &d->runs[t->run];
        bool first = r->nranks == 0;
        if (first)
            r->at = i;
        r->first_ns = first || t->begin_ns < r->first_ns ? t->begin_ns : r->first_ns;
        r->last_ns = first || t->begin_ns > r->last_ns ? t->begin_ns : r->last_ns;
        r->end = i + 1;
        r->nranks++;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- ranks that are not known */

static int64_t distance(const run *r, int64_t ns)
{
    return ns < r->first_ns ? r->first_ns - ns : ns > r->last_ns ? ns - r->last_ns : 0;
}

/* The run whose time is nearest, the older of two. */
static size_t nearest_run(const deciding *d, int64_t ns)
{
    size_t nearest = 0;
    for (size_t k = 1; k < d->nruns; k++)
        if (distance(&d->runs[k], ns) < distance(&d->runs[nearest], ns))
            nearest = k;
    return nearest;
}

/* The others take the next free numbers of their run, in order of path. */
static void number_unknown(deciding *d)
{
    for (size_t i = 0; i < d->nunknown; i++) {
        tl_input *t = d->unknown[i];
        t->run = (int32_t)nearest_run(d, t->begin_ns);
        run *r = &d->runs[t->run];
        while (r->at < r->end && d->known[r->at]->rank <= r->next_free) {
            r->next_free = d->known[r->at]->rank + 1;
            r->at++;
        }
        t->rank = r->next_free++;
        r->nranks++;
    }
}

/* ------------------------------------------------------------------------------------------- the run that is taken */

/* The newest run that has every rank seen anywhere; where there is none, the newest of those with most ranks. */
static int32_t choose(const deciding *d)
{
    size_t best = 0;
    for (size_t k = 1; k < d->nruns; k++)
        if (d->runs[k].nranks >= d->runs[best].nranks)
            best = k;
    return (int32_t)best;
}

tl_status tl_inventory_decide(tl_inventory *inventory, int which, tl_error *err)
{
    deciding d = { .inventory = inventory };
    tl_status st = TL_OK;

    if (!collect(&d) || !part_into_runs(&d) || !sum_up(&d)) {
        st = tl_fail_memory(err, "the list of ranks");
        goto done;
    }
    number_unknown(&d);
    inventory->nruns = (int32_t)d.nruns;
    if (which < 0 || which > inventory->nruns) {
        st = tl_fail(err, TL_EUSAGE, "there is no run %d: the traces are of %d run%s", which, inventory->nruns,
                     inventory->nruns == 1 ? "" : "s");
        goto done;
    }
    inventory->run = which > 0 ? which - 1 : choose(&d);
    st = tl_inventory_learn(inventory, err);

done:
    free(d.known);
    free(d.unknown);
    free(d.runs);
    return st;
}

/* ----------------------------------------------------------------------------------------- at one and the same time */

static bool is_timed(const tl_input *t, int64_t rank)
{
    return t->kind == TL_INPUT_TRACE && t->rank == rank && t->begin_ns != t->mtime_ns;
}

size_t tl_inventory_duplicates(const tl_inventory *inventory, int64_t rank, int64_t within_ns)
{
    const tl_input *own = NULL;
    size_t n = 0;

    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].run == inventory->run && is_timed(&inventory->inputs.v[i], rank))
            own = &inventory->inputs.v[i];
    for (size_t i = 0; own != NULL && i < inventory->inputs.n; i++) {
        const tl_input *t = &inventory->inputs.v[i];
        if (t->run == inventory->run || !is_timed(t, rank))
            continue;
        int64_t apart_ns = tl_ns_between(t->begin_ns, own->begin_ns);
        n += apart_ns != 0 && apart_ns < within_ns && apart_ns > -within_ns; /* at the same instant: a copy */
    }
    return n;
}
