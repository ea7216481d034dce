/* doubt.c - what speaks against each of the four answers about a culprit, and so how far each is to be trusted. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

#define BIT(doubt) (1u << (doubt))

static const unsigned grave = BIT(TL_DOUBT_ONE_STEP) | BIT(TL_DOUBT_HARDLY_MATCHED) | BIT(TL_DOUBT_UNMARKED) |
                              BIT(TL_DOUBT_HIDDEN) | BIT(TL_DOUBT_SIZES) | BIT(TL_DOUBT_DUPLICATES) |
                              BIT(TL_DOUBT_UNKNOWN) | BIT(TL_DOUBT_NO_VERDICT);

bool tl_clocks_blur(const tl_facts *a)
{
    double hidden = 2 * (double)a->trust.clock_uncertainty_ns * (double)a->trust.blurred;
    if (a->trust.untied) /* which may be any time */
        return a->trust.blurred > a->trust.matched / TL_CLOCK_WRONG_MATCHES;
    return a->trust.blurred > 0 && hidden >= TL_VERDICT_LEAST_COST * (double)a->wall_ns;
}

/* Others do not confirm that it was the rank that they waited for: what little waiting can be told of may be the least
 * of it. */
static bool waits_are_hidden(const tl_facts *a)
{
    return tl_clocks_blur(a) && a->trust.hidden_wait_ns > a->trust.known_wait_ns;
}

/* A step has hundreds of events of a rank: of so many, most steps have one. */
static bool lacks_durations(int64_t untimed, int64_t events)
{
    return untimed > 0 && (double)untimed >= TL_UNTIMED_SHARE * (double)events;
}

/* Of all, or of those of the ranks that are named. */
static unsigned doubts_of_events(const tl_facts *a, const tl_suspect *c)
{
    return lacks_durations(a->trust.untimed, a->trust.events) || (c != NULL && lacks_durations(c->untimed, c->events))
               ? BIT(TL_DOUBT_UNTIMED)
               : 0;
}

/* The steps in which it stands out are not all that it costs. */
static bool gains_elsewhere(const tl_suspect *c)
{
    return c->in_steps_ns > 0 && c->in_steps_ns < c->gain_ns / 2;
}

tl_confidence tl_confidence_with(unsigned doubts)
{
    int n = 0;
    for (unsigned rest = doubts; rest != 0; rest &= rest - 1)
        n++;
    return (doubts & grave) != 0 || n >= TL_DOUBTS_MANY ? TL_CONFIDENCE_LOW
           : n > 0                                      ? TL_CONFIDENCE_MEDIUM
                                                        : TL_CONFIDENCE_HIGH;
}

static unsigned doubts_of_steps(const tl_trust *t)
{
    return (t->nsteps < 2                        ? BIT(TL_DOUBT_ONE_STEP)
            : t->nsteps < TL_PATTERN_LEAST_STEPS ? BIT(TL_DOUBT_FEW_STEPS)
                                                 : 0) |
           (t->outside > t->matched / TL_LITTLE_PART ? BIT(TL_DOUBT_OUTSIDE) : 0);
}

static unsigned if_any(size_t ranks, tl_doubt doubt)
{
    return ranks > 0 ? BIT(doubt) : 0;
}

static unsigned doubts_of_data(const tl_trust *t)
{
    unsigned doubts = if_any(t->missing, TL_DOUBT_MISSING) | if_any(t->damaged, TL_DOUBT_DAMAGED) |
                      if_any(t->duplicates, TL_DOUBT_DUPLICATES) |
                      if_any(t->nranks > 0 ? t->workless : 0, TL_DOUBT_NO_WORK) |
                      if_any(t->launchless, TL_DOUBT_NO_LAUNCHES) | if_any(t->unmarked, TL_DOUBT_UNMARKED) |
                      if_any(t->following, TL_DOUBT_FOLLOWING) | (t->world != t->other_world ? BIT(TL_DOUBT_SIZES) : 0);
    if (t->matched < t->collectives / 2 + t->collectives % 2)
        doubts |= BIT(TL_DOUBT_HARDLY_MATCHED);
    else if (t->matched < t->collectives - t->collectives / TL_LITTLE_PART)
        doubts |= BIT(TL_DOUBT_PARTLY_MATCHED);
    return doubts;
}

/* Whether a cause may show as this activity of a rank's time; what is no part of its own contradicts none. */
static bool may_show_as(int activity, uint8_t cause)
{
    switch (activity) {
    case TL_ACTIVITY_COMPUTE:
        return cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_THROTTLED || cause == TL_CAUSE_MORE_WORK;
    case TL_ACTIVITY_H2D:
        return cause == TL_CAUSE_H2D;
    case TL_ACTIVITY_HOST:
        return cause == TL_CAUSE_HOST_LATE;
    case TL_ACTIVITY_INPUT:
        return cause == TL_CAUSE_INPUT;
    case TL_ACTIVITY_GC:
        return cause == TL_CAUSE_GC;
    case TL_ACTIVITY_SYNC:
        return cause == TL_CAUSE_SYNC_DRAIN;
    case TL_ACTIVITY_ALLOCATOR:
        return cause == TL_CAUSE_ALLOCATOR;
    default:
        return true;
    }
}

/* The cause is what the rank did more than its peers; charges are what it did longer before each collective.  Where a
 * device is never idle, or one delay shows in many collectives, they may tell of different parts: most of the charges
 * of another one, or of several others together. */
static bool delay_costs_differ(const tl_judgement *j, const tl_suspect *c)
{
    int64_t others_ns = 0, activities[TL_NACTIVITIES + 1];
    tl_delay_costs_by_activity(tl_tables_get(j->tables, &tl_blame_schema), c->members, c->nmembers, activities);
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        others_ns = tl_ns_add(others_ns, may_show_as(activity, c->rank->cause) ? 0 : activities[activity]);
    return c->rank->cause != TL_CAUSE_MIXED && others_ns > c->blame_ns / 2;
}

static unsigned doubts_of_cause(const tl_judgement *j, const tl_suspect *c)
{
    if (c->rank == NULL)
        return 0;
    /* Where all kernels are slower it is none of them. */
    unsigned doubts = c->rank->place[0] == '\0' && c->rank->cause != TL_CAUSE_THROTTLED ? BIT(TL_DOUBT_NO_PLACE) : 0;
    if (c->rank->cause == TL_CAUSE_UNKNOWN)
        return doubts | BIT(TL_DOUBT_UNKNOWN);
    doubts |= delay_costs_differ(j, c) ? BIT(TL_DOUBT_CHARGES) : 0;
    return doubts |
           (c->rank->cause == TL_CAUSE_MIXED || !(c->rank->cause_share >= TL_CAUSE_SHARE) ? BIT(TL_DOUBT_MIXED) : 0);
}

/* Those of the data that speak against what is told of one rank, whoever it is compared with. */
static unsigned lost_with(unsigned data)
{
    return data & ~(BIT(TL_DOUBT_HARDLY_MATCHED) | BIT(TL_DOUBT_PARTLY_MATCHED) | BIT(TL_DOUBT_UNMARKED) |
                    BIT(TL_DOUBT_FOLLOWING));
}

static tl_doubts doubts_of_nobody(const tl_judgement *j, unsigned steps, unsigned data, unsigned clocks)
{
    const unsigned nothing = BIT(TL_DOUBT_NO_VERDICT);
    unsigned lost = lost_with(data);

    if (j->nobody != TL_CULPRIT_NOBODY)
        return (tl_doubts){ .who = nothing,
                            .cause = j->nobody == TL_CULPRIT_NO_WORK || j->nobody == TL_CULPRIT_INCONCLUSIVE ? nothing
                                                                                                             : lost,
                            .waiting = nothing,
                            .steps = nothing | lost };
    return (tl_doubts){ .who = steps | data | clocks, .cause = lost, .waiting = data | clocks, .steps = steps | lost };
}

tl_doubts tl_doubts_of(const tl_judgement *j, const tl_suspect *c)
{
    const tl_trust *t = &j->facts.trust;
    unsigned steps = doubts_of_steps(t), data = doubts_of_data(t) | doubts_of_events(&j->facts, c),
             clocks = tl_clocks_blur(&j->facts) ? BIT(TL_DOUBT_CLOCKS) : 0;

    if (c == NULL)
        return doubts_of_nobody(j, steps, data, clocks);
    /* Where clocks hide most arrivals, nobody is seen to wait for it. */
    unsigned hidden = t->blurred > t->matched / 2 ? clocks : 0;
    unsigned gain = c->gain_ns < 0                                            ? BIT(TL_DOUBT_NOT_REPLAYED)
                    : c->rank != NULL && c->gain_ns < tl_waited_for(j, c) / 2 ? BIT(TL_DOUBT_GAIN)
                                                                              : 0;
    gain |= c->gain_ns >= 0 && c->gain_ns < j->facts.unexplained_ns ? BIT(TL_DOUBT_UNEXPLAINED) : 0;
    steps |= c->p_value > TL_VERDICT_ALPHA ? BIT(TL_DOUBT_CHANCE) : 0;
    return (tl_doubts){
        .who = steps | data | gain | (c->rank != NULL && waits_are_hidden(&j->facts) ? BIT(TL_DOUBT_HIDDEN) : hidden),
        .cause = lost_with(data) | hidden | doubts_of_cause(j, c),
        .waiting = data | clocks,
        .steps = steps | (gains_elsewhere(c) ? BIT(TL_DOUBT_ELSEWHERE) : 0) | lost_with(data),
    };
}
