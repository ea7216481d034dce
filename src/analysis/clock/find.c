/* find.c - from bounds to a clock for each rank: the fewest unknowns that break nothing. */
#include "search.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <string.h>

/* Wrong matches are looked for so often. */
enum { TRIALS = 4 };

static tl_status count_broken(tl_clock_search *s, int64_t *broken, tl_error *err)
{
    const tl_clock_trial t = tl_clock_trial_of(s, 1);
    *broken = tl_clock_bounds_broken(s->b, &t, s->offset);
    return s->procs->sum(broken, 1, err);
}

/* Leaves out what is broken by more than half of the worst, if that is few of all: so far off are wrong matches, not
 * clocks. */
static tl_status leave_out_worst(tl_clock_search *s, tl_clock_bounds *b, bool *any, tl_error *err)
{
    int64_t worst = 0, n = 0;
    for (size_t k = 0; k < b->all.n; k++)
        worst = b->all.v[k].broken_ns <= b->most_ns ? tl_ns_min(worst, -b->all.v[k].broken_ns) : worst;
    tl_status st = s->procs->least(&worst, 1, err);
    for (size_t k = 0; k < b->all.n; k++)
        n += b->all.v[k].broken_ns > -worst / 2;
    if (st == TL_OK)
        st = s->procs->sum(&n, 1, err);
    *any = st == TL_OK && worst < 0 && n <= s->nbounds / TL_CLOCK_WRONG_MATCHES;
    b->most_ns = *any ? -worst / 2 : b->most_ns;
    return st;
}

/* Offsets, and drifts where none are feasible without; 0 where none are feasible. */
static tl_status try_clocks(tl_clock_search *s, tl_clock_bounds *b, int64_t *broken, tl_error *err)
{
    bool feasible = false, more = true;
    tl_status st = TL_OK;

    for (int k = 0; st == TL_OK && !feasible && more && k < TRIALS; k++) {
        memset(s->drift, 0, s->nclocks * sizeof *s->drift);
        st = tl_clock_take_offsets(s, &feasible, err);
        if (st == TL_OK && !feasible)
            st = tl_clock_find_drifts(s, err);
        if (st == TL_OK && !feasible)
            st = tl_clock_take_offsets(s, &feasible, err);
        if (st == TL_OK && !feasible)
            st = leave_out_worst(s, b, &more, err);
    }
    b->most_ns = INT64_MAX;
    for (size_t c = 0; !feasible && c < s->nclocks; c++)
        s->offset[c] = s->drift[c] = 0;
    return st == TL_OK ? count_broken(s, broken, err) : st;
}

/* Clocks by host, where that is known and asked for; else one a rank. */
static void number_clocks(tl_clock_search *s, bool by_host)
{
    s->nclocks = 0;
    for (size_t i = 0; i < s->nrank_clocks; i++) {
        size_t k = by_host && s->rank_clocks[i].host >= 0 ? 0 : i;
        while (k < i && s->rank_clocks[k].host != s->rank_clocks[i].host)
            k++;
        s->clock[i] = k < i ? s->clock[k] : (int32_t)s->nclocks++;
    }
}

static tl_status find_components(tl_clock_search *s, tl_error *err)
{
    const tl_clock_trial t = tl_clock_trial_of(s, 1);
    int64_t settled = 0;
    tl_status st = TL_OK;

    for (size_t c = 0; c < s->nclocks; c++)
        s->component[c] = (int64_t)c;
    while (st == TL_OK && settled == 0) {
        settled = tl_clock_bounds_label(s->b, &t, s->component) ? 1 : 0;
        st = s->procs->least(s->component, s->nclocks, err);
        if (st == TL_OK)
            st = s->procs->least(&settled, 1, err);
    }
    return st;
}

/* Takes the value of the middle rank of each component off all its clocks.  Of an even number it is the lower, so that
 * it is some rank's: two hosts of equal size do not meet halfway. */
static void set_zero(tl_clock_search *s, int64_t *value)
{
    for (size_t component = 0; component < s->nclocks; component++) {
        size_t n = 0;
        for (size_t i = 0; i < s->nrank_clocks; i++)
            if (s->component[s->clock[i]] == (int64_t)component)
                s->values[n++] = value[s->clock[i]];
        if (n == 0)
            continue;
        int64_t middle = tl_lower_median(s->values, n);
        for (size_t c = 0; c < s->nclocks; c++)
            if (s->component[c] == (int64_t)component)
                value[c] = tl_ns_between(value[c], middle);
    }
}

/* What was tried, into the rank_clocks. */
static void keep(tl_clock_search *s, tl_clock_mode mode)
{
    const tl_clock_trial t = tl_clock_trial_of(s, 1);
    set_zero(s, s->offset);
    set_zero(s, s->drift);
    for (size_t i = 0; i < s->nrank_clocks; i++) {
        size_t c = (size_t)s->clock[i];
        s->rank_clocks[i].clock = s->clock[i];
        s->rank_clocks[i].component = (int32_t)s->component[c];
        s->rank_clocks[i].offset_ns = s->offset[c];
        s->rank_clocks[i].drift_ppb = s->drift[c];
        s->rank_clocks[i].middle_ns = t.middle_ns;
        s->rank_clocks[i].applied = mode != TL_CLOCK_NONE && (s->offset[c] != 0 || s->drift[c] != 0);
    }
}

/* How far what was tried may be off: to the farther end of what is feasible. */
static tl_status bound(tl_clock_search *s, tl_error *err)
{
    bool feasible;
    tl_status st = tl_clock_settle_from_one(s, 1, &feasible, err);
    for (size_t i = 0; st == TL_OK && i < s->nrank_clocks; i++) {
        size_t c = (size_t)s->clock[i];
        int64_t ahead = tl_ns_between(s->offset[c], s->offset[s->component[c]]);
        bool bounded = feasible && tl_clock_is_bounded(s->low[c], s->high[c]);
        int64_t most = tl_ns_max(tl_ns_between(s->low[c], ahead), tl_ns_between(ahead, s->high[c]));
        s->rank_clocks[i].sigma_ns = bounded ? tl_ns_max(most, 0) : INT64_MAX;
    }
    return st;
}

/* One numbering of clocks, with offsets or as recorded: kept where it breaks fewer than what was kept before. */
static tl_status try_one(tl_clock_search *s, tl_clock_bounds *b, tl_clock_mode mode, bool by_host, bool shift,
                         int64_t *least, tl_error *err)
{
    int64_t broken = 0;
    number_clocks(s, by_host);
    memset(s->offset, 0, s->nclocks * sizeof *s->offset);
    memset(s->drift, 0, s->nclocks * sizeof *s->drift);
    tl_status st = find_components(s, err);
    if (st == TL_OK)
        st = shift ? try_clocks(s, b, &broken, err) : count_broken(s, &broken, err);
    if (st == TL_OK && broken < *least) {
        keep(s, mode);
        *least = broken;
        st = bound(s, err);
    }
    return st;
}

static tl_status find_extent(tl_clock_search *s, const tl_clock_bounds *b, tl_error *err)
{
    int64_t ends[] = { b->first_ns, -b->last_ns };
    s->nbounds = (int64_t)b->all.n;
    tl_status st = s->procs->least(ends, 2, err);
    if (st == TL_OK)
        st = s->procs->sum(&s->nbounds, 1, err);
    s->first_ns = s->nbounds > 0 ? ends[0] : 0;
    s->last_ns = s->nbounds > 0 ? -ends[1] : 0;
    return st;
}

static tl_status find(tl_clock_search *s, tl_clock_bounds *b, tl_clock_mode mode, tl_error *err)
{
    int64_t least = INT64_MAX;
    tl_status st = find_extent(s, b, err);

    if (st == TL_OK)
        st = try_one(s, b, mode, true, false, &least, err);
    if (mode == TL_CLOCK_FORCE && least < INT64_MAX)
        least++;
    if (st == TL_OK && least > 0)
        st = try_one(s, b, mode, true, true, &least, err);
    if (st == TL_OK && least > 0 && s->nclocks < s->nrank_clocks) /* else each rank has had a clock of its own */
        st = try_one(s, b, mode, false, true, &least, err);
    return st;
}

tl_status tl_clocks_find(const tl_participant *participants, size_t n, tl_clock_mode mode, const tl_clock_procs *procs,
                         tl_rank_clock *rank_clocks, size_t nrank_clocks, tl_error *err)
{
    tl_clock_bounds b = { 0 };
    tl_clock_search s = {
        .b = &b, .procs = procs, .rank_clocks = rank_clocks, .nrank_clocks = nrank_clocks, .error_ns = TL_CLOCK_ERROR_NS
    };
    tl_arena arena = { 0 };
    int64_t *room = tl_arena_zeroed(&arena, (3 + 5 * TL_CLOCK_WINDOWS) * nrank_clocks + 2, sizeof *room);

    s.clock = tl_arena_zeroed(&arena, nrank_clocks, sizeof *s.clock);
    s.say = tl_arena_zeroed(&arena, TL_CLOCK_WINDOWS * nrank_clocks, sizeof *s.say);
    bool ok = !arena.failed && tl_clock_bounds_make(participants, n, rank_clocks, nrank_clocks, &b);
    int64_t failed = ok ? 0 : -1;
    tl_status st = procs->least(&failed, 1, err);
    if (st == TL_OK && failed != 0)
        st = tl_fail_memory(err, "the clocks");
    if (st == TL_OK) {
        s.component = room;
        s.drift = room + nrank_clocks;
        s.values = room + 2 * nrank_clocks;
        s.offset = room + 3 * nrank_clocks;
        s.middle = s.offset + TL_CLOCK_WINDOWS * nrank_clocks;
        s.half = s.middle + TL_CLOCK_WINDOWS * nrank_clocks;
        s.low = s.half + TL_CLOCK_WINDOWS * nrank_clocks;
        st = find(&s, &b, mode, err);
    }
    tl_clock_bounds_free(&b);
    tl_arena_free(&arena);
    return st;
}

int64_t tl_clock_correct(const tl_rank_clock *rank_clock, int64_t ns)
{
    if (!rank_clock->applied || ns == TL_TIME_UNKNOWN)
        return ns;
    int64_t gain = tl_clock_gained(rank_clock->drift_ppb, tl_ns_between(ns, rank_clock->middle_ns));
    return tl_ns_between(ns, tl_ns_sum(rank_clock->offset_ns, gain));
}

void tl_clocks_correct(tl_participant *participants, size_t n, const tl_job_facts *job)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &participants[i];
        const tl_rank_clock *rank_clock = tl_rank_clock_of(job, p->rank);
        if (rank_clock == NULL || !rank_clock->applied)
            continue;
        int64_t end_ns = tl_clock_correct(rank_clock, p->end_ns);
        p->start_ns = tl_clock_correct(rank_clock, p->start_ns);
        p->end_ns = end_ns > p->start_ns ? end_ns : p->start_ns;
        p->launch_ns = tl_clock_correct(rank_clock, p->launch_ns);
        p->done_ns = tl_clock_correct(rank_clock, p->done_ns);
    }
}
