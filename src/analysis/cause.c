/* cause.c - see cause.h. */
#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/robust.h"
#include <math.h>
#include <stdlib.h>

/* A cause has this share of the surplus, or it is mixed; a place this share of the largest name's. */
static const double most = 0.8;
/* A name stands out when it has this share of the surplus. */
static const double half = 0.5;
/* Within so many median deviations of its peers a rank is one of them. */
static const double by_chance = 3;
/* Kernels below this share of the rank's compute tell little of how fast it computes. */
static const double small = 0.01;
/* One delay is met again in no more intervals than so many times over. */
static const double met_most = 40;

/* One name: the rank's own, and the median of its peers. */
typedef struct entry {
    uint64_t name;
    double ns, peers_ns;
    double count, peers_count;
    double size, peers_size, peers_most; /* of each piece of work, of a part all; the most that any peer has */
    double spread;                       /* of the peers' ns: they differ by chance, and so may the rank */
    uint32_t depth;
    uint8_t kind, part;
    bool frame;
} entry;

typedef struct finding {
    entry *v;
    size_t n;
    double over[TL_NPARTS]; /* surplus of each part */
    double more[TL_NPARTS]; /* host's time for a part beyond that of the peers, whether the device ran dry or not */
    double all, idle;       /* positive ones: all, and those of idle time that is the host's doing */
    bool common[TL_NPARTS]; /* the peers' hosts do most of it, too */
} finding;

static int by_key(const void *a, const void *b)
{
    const tl_cause_row *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->kind == TL_DETAIL_PART && x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool same_key(const tl_cause_row *x, const tl_cause_row *y)
{
    return x->kind == y->kind && x->name == y->name && (x->kind != TL_DETAIL_PART || x->part == y->part);
}

/* Of npeers values, of which n are given and the rest is 0. */
static double median(double *v, size_t n, size_t npeers)
{
    while (n < npeers)
        v[n++] = 0;
    if (n == 0)
        return 0;
    tl_real_sort(v, n);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The median of how far n values, sorted, are from their median. */
static double deviation(double *v, size_t n, double middle)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - middle);
    return median(v, n, n);
}

/* A name's rows to an entry; scratch: room for 3 * (npeers + 1) numbers. */
static entry compare(const tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, double *scratch)
{
    entry e = { .name = rows->name, .kind = rows->kind, .part = rows->part, .frame = rows->frame };
    double *ns = scratch, *count = ns + npeers + 1, *size = count + npeers + 1;
    size_t m = 0, sized = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        double each = row->count > 0                ? (double)row->size / row->count
                      : row->kind == TL_DETAIL_PART ? (double)row->size
                                                    : 0;
        if (row->rank == rank) {
            e.ns = (double)row->ns;
            e.count = row->count;
            e.size = each;
            e.depth = row->depth;
        } else if (m < npeers) {
            ns[m] = (double)row->ns;
            count[m++] = row->count;
            e.peers_most = each > e.peers_most ? each : e.peers_most;
            if (each > 0)
                size[sized++] = each;
        }
    }
    e.peers_ns = median(ns, m, npeers);
    e.spread = deviation(ns, npeers, e.peers_ns);
    e.peers_count = median(count, m, npeers);
    e.peers_size = median(size, sized, rows->kind == TL_DETAIL_PART ? npeers : sized);
    return e;
}

/* --------------------------------------------------------------------------------------------------------- compute */

static double mean_of(double ns, double count)
{
    return count > 0 ? ns / count : 0;
}

/* A name with the largest surplus, if it has half of all. */
static uint64_t largest_of(const finding *f, tl_detail_kind kind, int part, double all)
{
    const entry *best = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (e->kind == kind && e->part == part && (best == NULL || e->ns - e->peers_ns > best->ns - best->peers_ns))
            best = e;
    }
    return best != NULL && best->ns - best->peers_ns >= half * all ? best->name : 0;
}

/* Larger than that of any peer, and by so much that it explains work that takes `longer` times as long. */
static bool is_larger(const entry *e, double longer)
{
    return e->peers_size > 0 && e->size > e->peers_most &&
           e->size - e->peers_size >= half * (longer - 1) * e->peers_size;
}

/* More to compute on: it is sent more than its peers, or copies more to the device. */
static bool is_given_more(const finding *f, double longer)
{
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        bool given = e->kind == TL_DETAIL_COMM || (e->kind == TL_DETAIL_WORK && e->part == TL_PART_H2D);
        if (given && is_larger(e, longer))
            return true;
    }
    return false;
}

/* What there is more of has to come to the device, too. */
static bool copies_more(const finding *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].kind == TL_DETAIL_WORK && f->v[i].part == TL_PART_H2D && is_larger(&f->v[i], 1))
            return true;
    return false;
}

/* The same kernels, longer; or more of them, or larger ones? */
static tl_cause of_compute(const finding *f, uint64_t *place)
{
    double all = 0, sum = 0, more = 0, grown = 0, positive = 0, slower_ns = 0;
    size_t kernels = 0, slower = 0;

    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_WORK || e->part != TL_PART_COMPUTE)
            continue;
        double over = e->ns - e->peers_ns, usual = e->peers_count > 0 ? mean_of(e->peers_ns, e->peers_count) : INFINITY;
        double own = mean_of(e->ns, e->count), each = usual < own ? usual : own;
        if (e->count > e->peers_count)
            more += (e->count - e->peers_count) * each;
        if (over > 0 && is_larger(e, own / usual))
            grown += over;
        positive += over > 0 ? over : 0;
        all += over;
        sum += e->ns;
    }
    *place = largest_of(f, TL_DETAIL_WORK, TL_PART_COMPUTE, all);
    double usual = sum - all, third = usual > 0 ? all / usual / 3 : 0;
    if (more >= half * positive || grown >= half * positive || is_given_more(f, 1 + 3 * third))
        return TL_CAUSE_MORE_WORK;

    /* How many kernels are slower, by a third of what all are together at least? */
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_WORK || e->part != TL_PART_COMPUTE || e->ns < small * sum || !(e->peers_count > 0))
            continue;
        bool longer = mean_of(e->ns, e->count) >= (1 + third) * mean_of(e->peers_ns, e->peers_count);
        kernels++;
        slower += longer;
        slower_ns += longer ? e->ns : 0;
    }
    if (kernels > 1 && 3 * slower >= 2 * kernels && slower_ns >= 0.75 * sum) {
        *place = 0;
        return TL_CAUSE_THROTTLED;
    }
    return TL_CAUSE_COMPUTE_SLOW;
}

/* ------------------------------------------------------------------------------------------------------------ idle */

/* What the peers' hosts do for as long, if under cover of the device, makes nobody late: that the device had run dry
 * there is the host's lateness. */
static void leave_what_peers_do(finding *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_PART || e->part >= TL_NPARTS || !tl_part_is_of_host((tl_part)e->part))
            continue;
        double more = e->size > e->peers_size ? e->size - e->peers_size : 0;
        f->more[e->part] = more;
        if (f->over[e->part] > more) {
            f->common[e->part] = more < half * f->over[e->part];
            f->over[TL_PART_HOST] += f->over[e->part] - more;
            f->over[e->part] = more;
        }
    }
}

/* Names of operators say more than those of functions, where both stand for the same. */
static bool says_more(const entry *e, const entry *than, int part)
{
    if (part != TL_PART_HOST && e->frame != than->frame)
        return than->frame;
    return e->depth > than->depth;
}

/* Whether a name may tell what a part of the idle time was, any part where it is HOST. */
static bool tells(const finding *f, const entry *e, int part)
{
    return e->kind == TL_DETAIL_HOST && (part == TL_PART_HOST ? !f->common[e->part] : e->part == part);
}

/* The innermost name that covers nearly as much of the idle surplus as any; of those alone that stand for `part`, if it
 * is not HOST.  NULL where none stands out. */
static const entry *innermost(const finding *f, int part)
{
    const entry *best = NULL;
    double largest = 0;

    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        double over = e->ns - e->peers_ns;
        if (tells(f, e, part) && over > largest)
            largest = over;
    }
    if (largest < half * (part == TL_PART_HOST ? f->idle : f->over[part]))
        return NULL;
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (tells(f, e, part) && e->ns - e->peers_ns >= most * largest && (best == NULL || says_more(e, best, part)))
            best = e;
    }
    return best;
}

/* Of waits before one gap the longest has emptied the queue. */
static bool drains_more(const entry *e, const entry *than)
{
    double over = e->ns - e->peers_ns, other = than->ns - than->peers_ns;
    return over > other || (!(over < other) && e->size * e->count > than->size * than->count);
}

/* A wait for the device that its peers do not have, with most of the idle time behind it. */
static const entry *stray_wait(const finding *f)
{
    const entry *best = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const entry *e = &f->v[i];
        if (e->kind == TL_DETAIL_WAIT && e->count > e->peers_count && (best == NULL || drains_more(e, best)))
            best = e;
    }
    return best != NULL && best->ns - best->peers_ns >= half * f->idle ? best : NULL;
}

/* Whether it is known to wait for the device no more often than its peers, under whatever names: what is idle behind
 * the same waits is the time that its host takes to go on. */
static bool waits_as_peers_do(const finding *f)
{
    double own = 0, peers = 0;
    for (size_t i = 0; i < f->n; i++) {
        bool wait = f->v[i].kind == TL_DETAIL_WAIT && f->v[i].part == TL_PART_SYNC;
        own += wait ? f->v[i].count : 0;
        peers += wait ? f->v[i].peers_count : 0;
    }
    return own > 0 && own <= peers;
}

static bool is_idle(int part)
{
    return part >= TL_PART_HOST && part <= TL_PART_ALLOCATOR;
}

static tl_cause cause_of_idle(int part)
{
    switch (part) {
    case TL_PART_INPUT:
        return TL_CAUSE_INPUT;
    case TL_PART_GC:
        return TL_CAUSE_GC;
    case TL_PART_SYNC:
        return TL_CAUSE_SYNC_DRAIN;
    case TL_PART_ALLOCATOR:
        return TL_CAUSE_ALLOCATOR;
    default:
        return TL_CAUSE_HOST_LATE;
    }
}

/* What the host did instead is one thing, if one has most of it; a name that stands for something tells, too. */
static tl_cause of_idle(const finding *f, uint64_t *place)
{
    int largest = TL_PART_HOST;
    for (int part = TL_PART_HOST; part <= TL_PART_ALLOCATOR; part++)
        if (f->over[part] > f->over[largest])
            largest = part;
    if (f->over[largest] < most * f->idle && largest != TL_PART_HOST && f->over[largest] < half * f->idle)
        largest = TL_PART_HOST;

    const entry *wait = stray_wait(f);
    if (largest == TL_PART_SYNC && wait == NULL && waits_as_peers_do(f))
        largest = TL_PART_HOST;
    const entry *name = innermost(f, largest);
    if ((largest == TL_PART_HOST || largest == TL_PART_SYNC) && wait != NULL) {
        *place = wait->name;
        return cause_of_idle(wait->part);
    }
    if (largest == TL_PART_HOST && name != NULL && name->part != TL_PART_HOST)
        largest = name->part;
    *place = name != NULL ? name->name : 0;
    return cause_of_idle(largest);
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* So much of a part of the idle time, at most, is no surplus; how much it was. */
static double leave_idle(finding *f, int part, double ns)
{
    double less = ns < f->over[part] ? ns : f->over[part];
    f->over[part] -= less;
    f->idle -= less;
    f->all -= less;
    return less;
}

/* A host whose device is behind loses its lead: see cause.h. */
static void leave_lost_lead(finding *f, double work, double gain)
{
    double lost = work + f->idle - gain;
    if (gain > 0 && work >= half * f->all && lost > 0)
        (void)leave_idle(f, TL_PART_HOST, lost);
}

/* What a part alone would make the rank late by: a copy by its time, a pause of the host wherever the device ran dry.
 */
static double delay_of(const finding *f, int part)
{
    if (part == TL_PART_H2D)
        return f->over[part];
    if (!tl_part_is_of_host((tl_part)part))
        return 0;
    return f->over[part] > f->more[part] ? f->over[part] : f->more[part];
}

/* A host that launches no faster than its device works stays behind by one delay until the next wait for the device,
 * and its device stands idle for it in every interval between collectives: see cause.h. */
static void leave_met_again(finding *f, double gain)
{
    int told = TL_PART_H2D;
    for (int part = 0; part < TL_NPARTS; part++)
        if (delay_of(f, part) > delay_of(f, told))
            told = part;
    if (!(gain > 0) || gain * met_most < f->all || delay_of(f, told) < most * gain)
        return;
    double behind = delay_of(f, told) - f->over[told], lost = f->all - gain;
    behind = behind < f->over[TL_PART_HOST] ? behind : f->over[TL_PART_HOST];
    f->over[told] += behind;
    f->over[TL_PART_HOST] -= behind;
    if (lost > 0)
        lost -= leave_idle(f, TL_PART_HOST, lost);
    if (lost > 0)
        (void)leave_idle(f, TL_PART_SYNC, lost);
}

static void find(finding *f, int64_t gain_ns, tl_cause_found *found)
{
    double work = 0, spread[TL_NPARTS] = { 0 };
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].kind == TL_DETAIL_PART && f->v[i].part < TL_NPARTS && f->v[i].part != TL_PART_COMM) {
            double over = f->v[i].ns - f->v[i].peers_ns;
            f->over[f->v[i].part] = over > 0 ? over : 0;
            spread[f->v[i].part] = f->v[i].spread;
            f->all += over > 0 ? over : 0;
        } else if (f->v[i].kind == TL_DETAIL_PART && f->v[i].part == TL_PART_COMM)
            found->awaited_ns = (int64_t)(f->v[i].peers_ns - f->v[i].ns);
    leave_what_peers_do(f);
    for (int part = 0; part < TL_NPARTS; part++)
        f->idle += is_idle(part) ? f->over[part] : 0;
    found->ns = (int64_t)f->all;
    found->found = f->all > 0;
    if (!found->found)
        return;

    /* What the others have more by chance is no part of the cause. */
    double largest_ns = 0;
    for (int part = 0; part < TL_NPARTS; part++)
        largest_ns = f->over[part] > largest_ns ? f->over[part] : largest_ns;
    for (int part = 0; part < TL_NPARTS; part++)
        if (f->over[part] > 0 && f->over[part] < largest_ns && f->over[part] <= by_chance * spread[part]) {
            f->all -= f->over[part];
            f->idle -= is_idle(part) ? f->over[part] : 0;
            f->over[part] = 0;
        }

    /* A device that has run dry takes more of its time from launch to start: that is no cause where there is another.
     */
    if (f->over[TL_PART_DEVICE] < largest_ns) {
        f->all -= f->over[TL_PART_DEVICE];
        f->over[TL_PART_DEVICE] = 0;
    }
    int largest = TL_PART_COMPUTE;
    for (int part = 0; part < TL_NPARTS; part++)
        if (!is_idle(part) && f->over[part] > f->over[largest])
            largest = part;
    work = f->over[largest];
    leave_lost_lead(f, work, (double)gain_ns);
    leave_met_again(f, (double)gain_ns);
    if (f->idle >= work) {
        found->cause = of_idle(f, &found->place);
        found->share = f->idle / f->all;
    } else if (largest == TL_PART_COMPUTE) {
        found->cause = of_compute(f, &found->place);
        if (found->cause == TL_CAUSE_MORE_WORK && copies_more(f))
            work += f->over[TL_PART_H2D];
        found->share = work / f->all;
    } else if (largest == TL_PART_H2D) {
        found->cause = TL_CAUSE_H2D;
        found->share = work / f->all;
        found->place = largest_of(f, TL_DETAIL_WORK, TL_PART_H2D, work);
    } else {
        found->cause = TL_CAUSE_UNKNOWN;
        found->share = work / f->all;
    }
    if (found->share < most)
        found->cause = TL_CAUSE_MIXED;
}

bool tl_cause_find(tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int64_t gain_ns, tl_cause_found *found)
{
    double *scratch = tl_malloc(3 * (npeers + 1) * sizeof *scratch);
    finding f = { .v = tl_malloc((n + 1) * sizeof *f.v) };
    bool whole = scratch != NULL && f.v != NULL;

    *found = (tl_cause_found){ .cause = TL_CAUSE_UNKNOWN };
    if (whole && n > 1)
        qsort(rows, n, sizeof *rows, by_key);
    for (size_t i = 0, to; whole && i < n; i = to) {
        for (to = i + 1; to < n && same_key(&rows[i], &rows[to]); to++)
            ;
        f.v[f.n++] = compare(rows + i, to - i, rank, npeers, scratch);
    }
    if (whole && npeers > 0)
        find(&f, gain_ns, found);
    free(scratch);
    free(f.v);
    return whole;
}
