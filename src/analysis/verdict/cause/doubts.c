/* doubts.c - the reasons to trust an answer less: the condition of each, and which of the four answers about a culprit
 * it weakens.  tl_doubt_in_words has a sentence for each. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/work_tables.h"

#define BIT(doubt) (1u << (doubt))

/* Grave doubts: each one alone makes the confidence of an answer low. */
static const unsigned grave = BIT(TL_DOUBT_ONE_STEP) | BIT(TL_DOUBT_HARDLY_MATCHED) | BIT(TL_DOUBT_UNMARKED) |
                              BIT(TL_DOUBT_HIDDEN) | BIT(TL_DOUBT_SIZES) | BIT(TL_DOUBT_DUPLICATES) |
                              BIT(TL_DOUBT_UNKNOWN) | BIT(TL_DOUBT_NO_VERDICT);

bool tl_clocks_blur(const tl_facts *a)
{
    double hidden = 2 * (double)a->trust.clock_uncertainty_ns * (double)a->trust.blurred;
    if (a->trust.untied) /* the clock error is unknown, so no hidden time can be computed */
        return (double)a->trust.blurred > TL_VERDICT_ALPHA * (double)a->trust.matched;
    return a->trust.blurred > 0 && hidden >= TL_VERDICT_LEAST_COST * (double)a->wall_ns;
}

/* Whether the clock offset error, summed over matched collectives, is more than a little part of the gain
 * (TL_LITTLE_PART); without a gain, at least the least cost. */
static bool clocks_move_waits(const tl_facts *a, const tl_suspect *c)
{
    double moved_ns = (double)a->trust.clock_off_ns * (double)a->trust.matched;
    double found_ns = c != NULL && c->row.gain_ns > 0 ? (double)c->row.gain_ns / (double)TL_LITTLE_PART
                                                      : TL_VERDICT_LEAST_COST * (double)a->wall_ns;
    return moved_ns > 0 && moved_ns >= found_ns;
}

/* Whether waits do not confirm the rank: clocks hide more waiting than is known, and the known mean wait of other ranks
 * for it in its flagged steps is less than half of its gain. */
static bool waits_are_hidden(const tl_judgement *j, const tl_suspect *c)
{
    const tl_trust *t = &j->facts.trust;
    int64_t waited_ns = t->nranks > c->nmembers ? c->steps_blame_ns / (int64_t)(t->nranks - c->nmembers) : 0;
    return tl_clocks_blur(&j->facts) && t->hidden_wait_ns > t->known_wait_ns && waited_ns < c->row.gain_ns / 2;
}

/* Whether the gain does not fit the visible lateness.  Either the lateness is more than twice the gain, so that the
 * replay may miss a part of the cost; for a rank that drains its device, by a wait or to free memory, the mean wait of
 * others counts as lateness as well.  Or the gain in the flagged steps is more than twice the excess and more than
 * twice the mean wait of other ranks. */
static bool gain_does_not_fit(const tl_suspect *c)
{
    bool drains = c->rank->cause == TL_CAUSE_SYNC_DRAIN || c->rank->cause == TL_CAUSE_ALLOCATOR;
    int64_t late_ns = drains ? tl_ns_max(c->late_ns, c->row.waited_ns) : c->late_ns;
    return (c->row.gain_ns >= 0 && c->row.gain_ns < late_ns / 2) ||
           c->in_steps_ns / 2 > tl_ns_max(c->row.excess_ns, c->row.waited_ns);
}

/* Whether the share of events without a duration is TL_NOTHING_SHARE or more.  A rank has hundreds of events in a step,
 * so most steps then have an untimed one. */
static bool lacks_durations(int64_t untimed, int64_t events)
{
    return untimed > 0 && (double)untimed >= TL_NOTHING_SHARE * (double)events;
}

static tl_confidence confidence_with(unsigned doubts)
{
    int n = 0;
    for (unsigned rest = doubts; rest != 0; rest &= rest - 1)
        n++;
    return (doubts & grave) != 0 || n >= TL_DOUBTS_MANY ? TL_CONFIDENCE_LOW
           : n > 0                                      ? TL_CONFIDENCE_MEDIUM
                                                        : TL_CONFIDENCE_HIGH;
}

/* The causes of a delay that may be charged to an activity; an activity that is no work of the rank fits any cause. */
static const unsigned fits_activity[TL_NACTIVITIES] = {
    [TL_ACTIVITY_COMPUTE] = BIT(TL_CAUSE_COMPUTE_SLOW) | BIT(TL_CAUSE_THROTTLED) | BIT(TL_CAUSE_MORE_WORK),
    [TL_ACTIVITY_H2D] = BIT(TL_CAUSE_H2D),
    [TL_ACTIVITY_HOST] = BIT(TL_CAUSE_HOST_LATE),
    [TL_ACTIVITY_INPUT] = BIT(TL_CAUSE_INPUT),
    [TL_ACTIVITY_GC] = BIT(TL_CAUSE_GC),
    [TL_ACTIVITY_SYNC] = BIT(TL_CAUSE_SYNC_DRAIN),
    [TL_ACTIVITY_ALLOCATOR] = BIT(TL_CAUSE_ALLOCATOR),
};

/* Whether more than half of the delay costs are charged to activities that do not fit the cause.  The cause is the work
 * that the rank has more of than its peers; a charge is the work that took longer before one collective.  The two may
 * differ if a device is never idle, or if one delay shows in many collectives. */
static bool delay_costs_differ(const tl_judgement *j, const tl_suspect *c)
{
    uint8_t cause = c->rank->cause;
    int64_t others_ns = 0, activities[TL_NACTIVITIES + 1];
    tl_delay_costs_by_activity(j->blame, c->members, c->nmembers, activities);
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        if (fits_activity[activity] != 0 && (fits_activity[activity] & BIT(cause)) == 0)
            others_ns = tl_ns_add(others_ns, activities[activity]);
    return cause != TL_CAUSE_MIXED && cause != TL_CAUSE_UNKNOWN && others_ns > c->row.blame_ns / 2;
}

/* Whether unexplained time casts doubt.  On a culprit: its gain is less than the unexplained time.  On "no culprit":
 * the unexplained time and the mean wait of a rank both reach the least cost. */
static bool is_unexplained(const tl_facts *a, const tl_suspect *c)
{
    double least_ns = TL_VERDICT_LEAST_COST * (double)a->wall_ns;
    if (c != NULL)
        return c->row.gain_ns >= 0 && c->row.gain_ns < a->unexplained_ns;
    return (double)a->unexplained_ns >= least_ns && (double)a->wait_ns >= least_ns * (double)a->trust.nranks;
}

/* Whether communication that may be waiting or transfer is more than a little part of the culprit's gain or, without a
 * simulated culprit, reaches the least cost. */
static bool comm_is_unknown(const tl_facts *a, const tl_suspect *c)
{
    if (c != NULL && c->row.gain_ns >= 0)
        return a->comm_unknown_ns > c->row.gain_ns / TL_LITTLE_PART;
    return (double)a->comm_unknown_ns >= TL_VERDICT_LEAST_COST * (double)a->wall_ns;
}

/* Whether the rank with the largest excess over its peers exceeds them by the least cost and has more than half of the
 * job's waiting charged to it; or each rank of its host exceeds its peers by the least cost, and the host has more than
 * half of the waiting charged to it. */
static bool one_is_in_excess(const tl_judgement *j)
{
    const double least_ns = TL_VERDICT_LEAST_COST * (double)j->facts.wall_ns;
    const tl_straggler *rows = tl_table_row(j->stragglers, 0);
    const tl_rank *of = j->largest_excess != NULL ? tl_rank_row(j->tables, j->largest_excess->rank) : NULL;
    const uint64_t host = of != NULL ? tl_host_key(of) : 0;
    int64_t blame_ns = 0, excess_ns = j->largest_excess_ns;
    size_t others = 0;
    for (size_t i = 0; host != 0 && i < j->stragglers->n; i++) {
        const tl_rank *next = tl_rank_row(j->tables, rows[i].rank);
        if (next == NULL || tl_host_key(next) != host) {
            others++;
            continue;
        }
        blame_ns = tl_ns_add(blame_ns, rows[i].blame_ns);
        excess_ns = tl_ns_min(excess_ns, j->excess_ns[i]);
    }
    bool alone = j->largest_excess != NULL && j->largest_excess->blame_ns > j->facts.wait_ns / 2 &&
                 (double)j->largest_excess_ns >= least_ns;
    return alone || (others > 0 && blame_ns > j->facts.wait_ns / 2 && (double)excess_ns >= least_ns);
}

/* Returns the longest direct wait, ns, of one rank for `rank` in a step.  Reads rows of blame from *at on, and moves
 * *at behind them. */
static int64_t longest_wait(const tl_table *blame, int32_t rank, int32_t step, size_t *at)
{
    int64_t most_ns = 0, ns = 0;
    for (int32_t from = -1; *at < blame->n; ++*at) {
        const tl_blame *row = tl_table_row(blame, *at);
        if (row->to_rank > rank || (row->to_rank == rank && row->step > step))
            break;
        if (row->to_rank != rank || row->step != step)
            continue;
        bool several = row->from_rank < 0 && row->waiters > 0;
        ns = tl_ns_add(row->from_rank == from ? ns : 0, several ? row->direct_ns / row->waiters : row->direct_ns);
        from = row->from_rank;
        most_ns = tl_ns_max(most_ns, ns);
    }
    return most_ns;
}

/* Whether a rank is late in a step, and another rank waits for it, both by a large cost of the step: a delay cannot
 * cost more than the longest wait for it. */
static bool one_is_late_in_a_step(const tl_judgement *j)
{
    for (size_t i = 0, at = 0; i < j->blame_steps->n; i++) {
        const tl_blame_step *row = tl_table_row(j->blame_steps, i);
        double late_ns = (double)tl_ns_min(row->excess_ns, longest_wait(j->blame, row->rank, row->step, &at));
        if (row->step_ns > 0 && late_ns >= TL_VERDICT_LARGE_COST * (double)row->step_ns &&
            !tl_step_is_left_out(j->health, row->step))
            return true;
    }
    return false;
}

/* Whether some launches of any rank have no work in the trace. */
static bool work_is_lost(const tl_judgement *j)
{
    bool lost = false;
    for (size_t i = 0; i < j->health->n; i++)
        lost = lost || ((const tl_health *)tl_table_row(j->health, i))->defect == TL_DEFECT_LOST;
    return lost;
}

/* Whether kernels without a rule of their own are counted as communication. */
static bool kernels_are_taken_for_comm(const tl_judgement *j)
{
    const tl_table *kernels = tl_tables_get(j->tables, &tl_kernel_ranks_schema);
    bool taken = false;
    for (size_t i = 0; kernels != NULL && i < kernels->n; i++) {
        const tl_kernel_ranks *row = tl_table_row(kernels, i);
        taken = taken || (row->unclassified && row->kind == TL_COMM);
    }
    return taken;
}

/* The answers: who the culprit is, why it is late, who waits, in which steps. */
enum { OF_WHO, OF_WHY, OF_WAITING, OF_STEPS, NANSWERS };
enum { WHO = BIT(OF_WHO), WHY = BIT(OF_WHY), WAITING = BIT(OF_WAITING), STEPS = BIT(OF_STEPS) };
enum { ALL = WHO | WHY | WAITING | STEPS };

/* The doubts about each answer: sets of tl_doubt. */
typedef struct doubts {
    unsigned about[NANSWERS];
} doubts;

typedef struct reason {
    tl_doubt doubt;
    unsigned against;
    bool holds;
} reason;

/* Adds the doubts that hold to each answer that they weaken. */
static void add_doubts(const reason *reasons, size_t n, doubts *out)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned answer = 0; answer < NANSWERS; answer++)
            if (reasons[i].holds && (reasons[i].against & BIT(answer)) != 0)
                out->about[answer] |= BIT(reasons[i].doubt);
}

/* Adds doubts about the recording. */
static void add_data_doubts(const tl_judgement *j, const tl_suspect *c, doubts *out)
{
    const tl_facts *a = &j->facts;
    const tl_trust *t = &a->trust;
    bool hardly = t->matched < t->collectives / 2 + t->collectives % 2, silent = c != NULL && t->collectives == 0;
    bool blurred = tl_clocks_blur(a), hidden = c != NULL && c->rank != NULL && waits_are_hidden(j, c);
    bool lacks = lacks_durations(t->untimed, t->events) || (c != NULL && lacks_durations(c->untimed, c->events));
    const reason reasons[] = {
        { TL_DOUBT_ONE_STEP, WHO | STEPS, t->nsteps < 2 },
        { TL_DOUBT_FEW_STEPS, WHO | STEPS, t->nsteps >= 2 && t->nsteps - t->left_out < TL_PATTERN_LEAST },
        { TL_DOUBT_HARDLY_MATCHED, WHO | WAITING, hardly || silent },
        { TL_DOUBT_COMM_UNKNOWN, WHO | WAITING, comm_is_unknown(a, c) },
        { TL_DOUBT_OUTSIDE, WHO | STEPS, t->outside > t->matched / TL_LITTLE_PART },
        /* Steps that are left out are not cleared either, and waits in them are not known to be for others. */
        { TL_DOUBT_OUTSIDE, c == NULL ? WHO | STEPS | WAITING : WAITING,
          t->left_out > t->nsteps / (size_t)TL_LITTLE_PART },
        { TL_DOUBT_CLOCKS, WAITING, blurred },
        /* If clocks hide most arrivals, the waits for a culprit cannot be seen. */
        { TL_DOUBT_CLOCKS, c == NULL ? WHO : WHO | WHY,
          blurred && !hidden && (c == NULL || t->blurred > t->matched / 2) },
        { TL_DOUBT_CLOCKS, WHO | WAITING, clocks_move_waits(a, c) },
        /* A clock step makes the work between the collectives around it uncertain by its size. */
        { TL_DOUBT_CLOCKS, ALL, t->clock_step_ns > 0 || t->apart },
        { TL_DOUBT_HIDDEN, WHO, hidden },
        { TL_DOUBT_MISSING, ALL, t->missing > 0 },
        { TL_DOUBT_DAMAGED, ALL, t->damaged > 0 },
        { TL_DOUBT_UNTIMED, ALL, lacks },
        { TL_DOUBT_SIZES, ALL, t->world != t->other_world },
        { TL_DOUBT_DUPLICATES, ALL, t->duplicates > 0 },
        { TL_DOUBT_NO_WORK, ALL, t->nranks > 0 && t->workless > 0 },
        { TL_DOUBT_NO_LAUNCHES, ALL, t->launchless > 0 },
        { TL_DOUBT_LOST, ALL, work_is_lost(j) },
        { TL_DOUBT_TAKEN, ALL, kernels_are_taken_for_comm(j) },
        { TL_DOUBT_UNMARKED, WHO | WAITING, t->unmarked > 0 },
        { TL_DOUBT_FOLLOWING, WHO | WAITING, t->following > 0 },
        { TL_DOUBT_UNEXPLAINED, WHO, is_unexplained(a, c) },
        { TL_DOUBT_EXCESS, WHO, c == NULL && (j->has_long_step || one_is_in_excess(j) || one_is_late_in_a_step(j)) },
        { TL_DOUBT_ENDS, WHO, c != NULL && c->rank == NULL && c->nmembers == 0 },
        { TL_DOUBT_OTHER_STAGES, WHO,
          c != NULL &&
              (c->rank != NULL ? c->rank->against != TL_AGAINST_PEERS : c->link->evidence == TL_LINK_BY_STEPS) },
        { TL_DOUBT_HALF, WHO,
          c != NULL && c->nmembers > 1 && 2 * c->nmembers >= t->nranks && c->row.pattern == TL_PATTERN_PERSISTENT },
    };
    add_doubts(reasons, sizeof reasons / sizeof reasons[0], out);
}

/* Whether the rank may be late in the step (-1: in no step) without being judged in it: next to a flagged step, and
 * either the first, the last, or a step whose work is lost. */
static bool may_be_late_unseen(const tl_judgement *j, int32_t rank, int32_t step)
{
    const size_t first = tl_table_from_rank(j->blame_steps, rank);
    const tl_blame_step *row;
    const tl_health *of;
    bool unseen = true, lost = false;
    for (size_t at = tl_table_from_rank(j->health, rank);
         at < j->health->n && (of = tl_table_row(j->health, at))->rank == rank; at++)
        lost = lost || (of->step == step && of->done == TL_REMEDY_NOT_JUDGED);
    for (size_t at = first; at < j->blame_steps->n && (row = tl_table_row(j->blame_steps, at))->rank == rank; at++) {
        bool begins = at == first, ends = at + 1 == j->blame_steps->n || row[1].rank != rank;
        if (row->step == step)
            unseen = !row->flagged && (begins || ends || lost) &&
                     ((!begins && row[-1].flagged) || (!ends && row[1].flagged));
    }
    return unseen;
}

/* Whether more than a little part of the waits for the culprit lies in steps in which it is not judged: the gain lacks
 * these. */
static bool costs_outside_steps(const tl_judgement *j, const tl_suspect *c)
{
    int64_t all_ns = 0, outside_ns = 0;
    const tl_blame *row;
    for (size_t k = 0; k < c->nmembers; k++)
        for (size_t i = tl_table_from_rank(j->blame, c->members[k]);
             i < j->blame->n && (row = tl_table_row(j->blame, i))->to_rank == c->members[k]; i++) {
            if (tl_step_is_left_out(j->health, row->step))
                continue;
            all_ns = tl_ns_add(all_ns, row->direct_ns);
            outside_ns = tl_ns_add(outside_ns, may_be_late_unseen(j, row->to_rank, row->step) ? row->direct_ns : 0);
        }
    return j->facts.trust.nsteps > 0 && outside_ns > all_ns / TL_LITTLE_PART;
}

/* Whether the table of excesses or the row names work that the rank does longer than its peers. */
static bool has_dominant_work(const tl_judgement *j, const tl_straggler *of)
{
    const tl_table *table = tl_tables_get(j->tables, &tl_excess_row_schema);
    size_t at = tl_table_from_rank(table, of->rank);
    return of->place[0] != '\0' ||
           (at < table->n && ((const tl_excess_row *)tl_table_row(table, at))->rank == of->rank);
}

/* Adds doubts about this culprit. */
static void add_culprit_doubts(const tl_judgement *j, const tl_suspect *c, doubts *out)
{
    const tl_straggler *row = c->rank;
    bool ranked = row != NULL, unknown = ranked && row->cause == TL_CAUSE_UNKNOWN;
    bool mixed = ranked && (row->cause == TL_CAUSE_MIXED || !(row->cause_share >= TL_MOST_SHARE));
    const reason reasons[] = {
        { TL_DOUBT_CHANCE, WHO | STEPS, c->row.p_value > TL_VERDICT_SURE_CHANCE },
        /* z is the delay in standard errors. */
        { TL_DOUBT_CHANCE, WHO, c->row.z < (double)TL_LITTLE_PART },
        /* Less than half of the gain lies in the flagged steps. */
        { TL_DOUBT_ELSEWHERE, STEPS, c->in_steps_ns > 0 && c->in_steps_ns < c->row.gain_ns / 2 },
        /* Other steps lose a part of the gain of the flagged steps, as if the job's end is not whole: the gain is too
         * low. */
        { TL_DOUBT_ELSEWHERE, WHO,
          c->row.gain_ns > 0 && c->in_steps_ns > c->row.gain_ns + c->row.gain_ns / TL_LITTLE_PART },
        { TL_DOUBT_OUTSIDE, WHO | STEPS, costs_outside_steps(j, c) },
        { TL_DOUBT_NOT_REPLAYED, WHO, c->row.gain_ns < 0 },
        { TL_DOUBT_GAIN, WHO, ranked && gain_does_not_fit(c) },
        { TL_DOUBT_MIXED, WHY, mixed && !unknown },
        { TL_DOUBT_UNKNOWN, WHY, unknown },
        /* If all kernels are slower (THROTTLED), no single name is dominant. */
        { TL_DOUBT_NO_PLACE, WHY, ranked && !has_dominant_work(j, row) && row->cause != TL_CAUSE_THROTTLED },
        { TL_DOUBT_CHARGES, WHY, ranked && delay_costs_differ(j, c) },
    };
    add_doubts(reasons, sizeof reasons / sizeof reasons[0], out);
}

void tl_doubts_write(const tl_judgement *j, const tl_suspect *c, tl_culprit *row)
{
    const unsigned nothing = BIT(TL_DOUBT_NO_VERDICT);
    bool open = j->no_culprit_kind == TL_CULPRIT_NO_WORK || j->no_culprit_kind == TL_CULPRIT_INCONCLUSIVE;
    doubts d = { { 0 } };

    add_data_doubts(j, c, &d);
    if (c != NULL)
        add_culprit_doubts(j, c, &d);
    else if (j->no_culprit_kind != TL_CULPRIT_NONE) /* doubts about single ranks remain */
        d = (doubts){ { nothing, open ? nothing : d.about[OF_WHY], nothing, nothing | d.about[OF_WHY] } };
    row->confidence = (uint8_t)confidence_with(d.about[OF_WHO]);
    row->cause_confidence = (uint8_t)confidence_with(d.about[OF_WHY]);
    row->waiting_confidence = (uint8_t)confidence_with(d.about[OF_WAITING]);
    row->steps_confidence = (uint8_t)confidence_with(d.about[OF_STEPS]);
    tl_doubts_text(d.about[OF_WHO], row->doubts, sizeof row->doubts);
    tl_doubts_text(d.about[OF_WHY], row->cause_doubts, sizeof row->cause_doubts);
    tl_doubts_text(d.about[OF_WAITING], row->waiting_doubts, sizeof row->waiting_doubts);
    tl_doubts_text(d.about[OF_STEPS], row->steps_doubts, sizeof row->steps_doubts);
}
