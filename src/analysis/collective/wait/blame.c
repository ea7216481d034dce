/* blame.c - charges the waits of all collectives, from the last to the first: each also passes on what later ones
 * charged to its arrivals.
 *
 * For one collective, arrivals in order of start, a[0] .. a[n-1]:
 *
 *     slice i      [start of a[i-1], start of a[i]): a[0] .. a[i-1] wait, each until its own end at most; a[i] ..
 *                  a[n-1] are late
 *     own          an arrival's wait in a slice, charged in equal parts to the arrivals that are late in it
 *     passed on    the amount that later collectives charged to an arrival's wait, divided in proportion to its own
 *                  wait in each slice
 *
 * The remainder of a division, less than one ns for each late arrival and slice, goes to the last arrival, which is
 * late in every slice.
 */
#include "blame.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <string.h>

typedef struct blaming {
    const tl_blame_input *in;
    void (*take)(void *, const tl_delay_cost *);
    void *arg;
    tl_arena arena;
    /* of all collectives */
    int64_t *last;           /* [ncollectives] last start */
    int64_t *until;          /* [narrivals] end of the arrival's wait */
    uint32_t *order;         /* collectives in order of last start */
    uint32_t *turn;          /* [ncollectives]: index in order */
    uint32_t *collective_of; /* [narrivals] */
    uint32_t *by_start;      /* arrivals of each collective, in order of start */
    uint32_t *by_rank;       /* arrivals by (rank, start) */
    uint32_t *position;      /* [narrivals]: index in by_rank */
    int64_t *passed;         /* [narrivals]: charged to the arrival's wait by later collectives */
    /* of the current collective, by arrival in order of start */
    const uint32_t *sorted; /* the collective's part of by_start */
    int64_t *due;           /* amount charged to each arrival */
    int64_t *onward;        /* amount that each arrival passes on to earlier collectives */
    int64_t *waited;        /* each arrival's wait in other groups since its previous collective here */
} blaming;

__extension__ typedef __int128 wide;

/* Fractional bits of a nanosecond in sums of divided slices, and of a rate (ns charged per ns of waiting). */
enum { FRACTION = 24, RATE_FRACTION = 40 };

static int64_t wait_of(const blaming *b, uint32_t at)
{
    return b->until[at] - b->in->arrivals[at].start_ns;
}

/* Largest number of earlier arrivals of a rank that are searched for its waits in other groups. */
enum { LOOK_BACK = 16384 };

/* Returns the wait of arrival `at`, ns, in collectives of other groups since its previous collective with the same
 * ranks.  With amount > 0, also divides the amount over these waits in proportion to their length; total: their sum.
 * Collectives that have been processed do not count. */
static int64_t waited_elsewhere(blaming *b, uint32_t at, int64_t amount, int64_t total)
{
    const tl_blame_arrival *a = &b->in->arrivals[at];
    int64_t from_ns = a->previous != TL_NONE ? b->in->arrivals[a->previous].end_ns : INT64_MIN, sum = 0, given = 0;
    uint32_t receiver = TL_NONE;

    uint32_t nearest = b->position[at], farthest = nearest > LOOK_BACK ? nearest - LOOK_BACK : 0;

    for (uint32_t i = nearest; i-- > farthest;) {
        uint32_t j = b->by_rank[i];
        const tl_blame_arrival *other = &b->in->arrivals[j];
        if (other->rank != a->rank || j == a->previous || other->end_ns < from_ns)
            break;
        if (b->in->collectives[b->collective_of[j]].how == TL_BLAME_IGNORED ||
            b->turn[b->collective_of[j]] >= b->turn[b->collective_of[at]])
            continue;
        int64_t wait = wait_of(b, j);
        if (wait == 0)
            continue;
        sum += wait;
        if (amount > 0) {
            int64_t ns = tl_portion(amount, wait, total);
            b->passed[j] += ns;
            given += ns;
            receiver = j;
        }
    }
    if (receiver != TL_NONE)
        b->passed[receiver] += amount - given;
    return sum;
}

/* -------------------------------------------------------------------------------------------------- one collective */

/* The ranks whose waits are charged: one rank, or several together. */
typedef struct waiter {
    uint32_t rank; /* TL_NONE: several */
    bool many;     /* all arrivals before the late one that waited to the end */
    bool direct;   /* the waits are their own, not passed on from later collectives */
} waiter;

/* Emits after_last / TL_SHARE_ONE of each activity; with `rest`, the remaining part. */
static void emit_cost(blaming *b, tl_delay_cost *cost, const int64_t *ns, uint16_t after_last, bool rest)
{
    bool any = false;
    for (int activity = 0; activity <= TL_NACTIVITIES; activity++) {
        int64_t part = after_last > 0 ? tl_portion(ns[activity], after_last, TL_SHARE_ONE) : 0;
        cost->ns[activity] = rest ? ns[activity] - part : part;
        any = any || cost->ns[activity] != 0;
    }
    if (any)
        b->take(b->arg, cost);
}

/* Charges the amounts `due` of late arrivals to the activities in which they have an excess; the share of
 * communication, if the arrival waited in other groups, goes to `onward` instead. */
static void charge_late_arrivals(blaming *b, uint32_t n, uint32_t first_late, waiter from)
{
    for (uint32_t i = first_late; i < n; i++) {
        const uint32_t late = b->sorted[i];
        const tl_blame_arrival *a = &b->in->arrivals[late];
        int64_t left = b->due[i], ns[TL_NACTIVITIES + 1] = { 0 };
        if (left == 0)
            continue;
        for (int activity = 0; left > 0 && activity < TL_NACTIVITIES; activity++) {
            if (a->share[activity] == 0)
                continue;
            int64_t part = tl_portion(b->due[i], a->share[activity], TL_SHARE_ONE);
            left -= part;
            if (activity == TL_ACTIVITY_COMM && b->waited[i] > 0)
                b->onward[i] += part;
            else
                ns[activity] = part;
        }
        ns[TL_NACTIVITIES] = left;
        tl_delay_cost cost = { .from = from.rank, .to = a->rank, .waiters = from.many ? i : 1, .direct = from.direct };
        cost.step = b->in->collectives[b->collective_of[late]].step - 1;
        if (a->after_last > 0)
            emit_cost(b, &cost, ns, a->after_last, false);
        cost.step++;
        emit_cost(b, &cost, ns, a->after_last, true);
    }
}

/* Returns the number of arrivals before the end of the arrival at `position`; n if ranks cannot leave the collective
 * early. */
static uint32_t waited_for(const blaming *b, uint32_t n, uint32_t position)
{
    const tl_blame_arrival *a = b->in->arrivals;
    int64_t left_ns = tl_ns_sum(a[b->sorted[position]].end_ns, TL_CLOCK_ERROR_NS);
    uint32_t m = n;
    if (b->in->collectives[b->collective_of[b->sorted[position]]].loose)
        while (m > position + 2 && a[b->sorted[m - 1]].start_ns > left_ns)
            m--;
    return m;
}

/* Returns the amount to charge for an arrival's wait, ns: its own wait, or what later collectives charged to it. */
static int64_t amount_of(const blaming *b, uint32_t at, bool own)
{
    return own ? wait_of(b, at) : b->passed[at];
}

/* Fills due[i] with the amount charged to each arrival after `first` for the waits of arrivals [first, end) that last
 * until `until`; the amount of each is spread evenly over its wait.  Returns whether there is any. */
static bool divide_waits(blaming *b, uint32_t n, uint32_t first, uint32_t end, int64_t until, bool own)
{
    const tl_blame_arrival *a = b->in->arrivals;
    const uint32_t *sorted = b->sorted, m = waited_for(b, n, end - 1);
    int64_t left = 0;
    wide rate = 0, each = 0;

    for (uint32_t i = first; i < end; i++)
        left += b->until[sorted[i]] == until ? amount_of(b, sorted[i], own) : 0;
    if (left == 0)
        return false;
    for (uint32_t i = first + 1; i < n; i++) {
        uint32_t before = sorted[i - 1];
        int64_t from = a[before].start_ns, to = tl_ns_min(a[sorted[i]].start_ns, until);
        if (i <= end && b->until[before] == until && until > from)
            rate += ((wide)amount_of(b, before, own) << RATE_FRACTION) / (until - from);
        if (to > from && i < m)
            each += (rate * (to - from) >> (RATE_FRACTION - FRACTION)) / (m - i);
        b->due[i] = i < m ? (int64_t)(each >> FRACTION) : 0;
        left -= b->due[i];
    }
    b->due[m - 1] += left;
    return true;
}

/* Charges the waits of arrivals [first, end) that last until `until`: their own part, then the part passed on. */
static void charge_waits(blaming *b, uint32_t n, uint32_t first, uint32_t end, int64_t until)
{
    const uint32_t at = b->sorted[first];
    waiter from = { n <= TL_BLAME_PAIRS_MAX ? b->in->arrivals[at].rank : TL_NONE, end > first + 1, true };
    if (b->in->collectives[b->collective_of[at]].how == TL_BLAME_CHARGES && divide_waits(b, n, first, end, until, true))
        charge_late_arrivals(b, n, first + 1, from);
    from.direct = false;
    if (divide_waits(b, n, first, end, until, false))
        charge_late_arrivals(b, n, first + 1, from);
}

static void charge_collective(blaming *b, const tl_blame_collective *c, int64_t last)
{
    uint32_t n = c->n;
    b->sorted = b->by_start + c->first;
    for (uint32_t i = 0; i < n; i++) {
        b->onward[i] = 0;
        b->waited[i] = i > 0 ? waited_elsewhere(b, b->sorted[i], 0, 0) : 0;
    }
    const bool together = n > TL_BLAME_PAIRS_MAX;
    if (together)
        charge_waits(b, n, 0, n - 1, last);
    for (uint32_t i = 0; i + 1 < n; i++)
        if (!together || b->until[b->sorted[i]] < last)
            charge_waits(b, n, i, i + 1, b->until[b->sorted[i]]);
    for (uint32_t i = 1; i < n; i++)
        if (b->onward[i] > 0)
            waited_elsewhere(b, b->sorted[i], b->onward[i], b->waited[i]);
}

/* ------------------------------------------------------------------------------------------------------------- all */

static int by_last_start(const void *context, uint32_t x, uint32_t y)
{
    const int64_t *last = context;
    return TL_COMPARE(last[x], last[y]);
}

TL_ORDER_BY(by_rank_and_time, tl_blame_arrival, rank, start_ns, uid)
TL_ORDER_BY(by_arrival, tl_blame_arrival, start_ns, rank)

/* Sorts the arrivals of a collective, and finds the end of each wait; `due` serves as scratch. */
static void find_waits(blaming *b, uint32_t number)
{
    const tl_blame_arrival *a = b->in->arrivals;
    const tl_blame_collective *c = &b->in->collectives[number];
    uint32_t *sorted = b->by_start + c->first;

    b->last[number] = INT64_MIN;
    if (c->n == 0)
        return;
    for (uint32_t i = 0; i < c->n; i++)
        sorted[i] = c->first + i;
    tl_sort_index(sorted, c->n, by_arrival, a);
    for (uint32_t i = 0; i < c->n; i++)
        b->due[i] = a[sorted[i]].start_ns;
    b->last[number] = b->due[c->n - 1];
    const int64_t *counts = c->loose ? b->due : &b->last[number];
    for (uint32_t i = c->first; i < c->first + c->n; i++) {
        b->collective_of[i] = number;
        b->until[i] = tl_ns_max(tl_wait_end(counts, c->loose ? c->n : 1, a[i].end_ns), a[i].start_ns);
    }
}

static void sort_arrivals(blaming *b)
{
    const tl_blame_input *in = b->in;
    size_t na = in->narrivals, nc = in->ncollectives, largest = 1;

    for (size_t c = 0; c < in->ncollectives; c++)
        largest = in->collectives[c].n > largest ? in->collectives[c].n : largest;
    b->last = tl_arena_take(&b->arena, nc, sizeof *b->last);
    b->until = tl_arena_take(&b->arena, na, sizeof *b->until);
    b->turn = tl_arena_take(&b->arena, nc, sizeof *b->turn);
    b->collective_of = tl_arena_take(&b->arena, na, sizeof *b->collective_of);
    b->by_start = tl_arena_take(&b->arena, na, sizeof *b->by_start);
    b->position = tl_arena_take(&b->arena, na, sizeof *b->position);
    b->passed = tl_arena_zeroed(&b->arena, na, sizeof *b->passed);
    b->due = tl_arena_take(&b->arena, largest, sizeof *b->due);
    b->onward = tl_arena_take(&b->arena, largest, sizeof *b->onward);
    b->waited = tl_arena_take(&b->arena, largest, sizeof *b->waited);

    for (uint32_t c = 0; c < nc; c++)
        find_waits(b, c);
    b->order = tl_sorted_index(nc, by_last_start, b->last);
    b->by_rank = tl_sorted_index(na, by_rank_and_time, in->arrivals);
    for (uint32_t i = 0; i < in->ncollectives; i++)
        b->turn[b->order[i]] = i;
    for (uint32_t i = 0; i < in->narrivals; i++)
        b->position[b->by_rank[i]] = i;
}

/* Whether the sum of all waits fits in an int64_t; times of a damaged trace need not. */
static bool is_summable(const blaming *b)
{
    wide sum = 0;
    for (uint32_t i = 0; i < b->in->narrivals; i++)
        if (b->in->collectives[b->collective_of[i]].how == TL_BLAME_CHARGES)
            sum += wait_of(b, i);
    return sum <= INT64_MAX;
}

tl_status tl_delay_cost_each(const tl_blame_input *input, void (*take)(void *, const tl_delay_cost *), void *arg,
                             tl_error *err)
{
    blaming b = { .in = input, .take = take, .arg = arg };
    tl_status st = TL_OK;
    sort_arrivals(&b);
    if (!is_summable(&b))
        st = tl_fail(err, TL_EINPUT, "expected waits that sum up to less than 292 years");
    for (size_t i = input->ncollectives; st == TL_OK && i-- > 0;) {
        const tl_blame_collective *c = &input->collectives[b.order[i]];
        if (c->how != TL_BLAME_IGNORED && c->n > 0)
            charge_collective(&b, c, b.last[b.order[i]]);
    }
    free(b.order);
    free(b.by_rank);
    tl_arena_free(&b.arena);
    return st;
}
