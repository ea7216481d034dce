/* name.c - which groups have a slow link, and between whom? */
#include "ends.h"
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include <math.h>

/* What is less than this share of the largest surplus of any group is jitter. */
static const double least_of_most = 0.3;
static const double significant = 0.05;
/* One step alone needs transfers of twice their length, or several long ones: so many, or all of two. */
enum { LONG_IN_ONE_STEP = 3, ALL_OF = 2 };
/* Relabelled at random, fewer groups than this say little of steps here and there. */
enum { GROUPS_LEAST = 5 };

/* Whether so much is long in its flagged steps that it is no hiccup of a single transfer: so many long ones, or twice
 * the time for all. */
static bool is_event(const tl_link_finding *f, uint32_t unit, size_t long_least)
{
    size_t n = 0, all = 0;
    double took = 0, should = 0;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t c = f->order[i];
        if (f->unit[c] != unit || !f->flagged[tl_link_place(f, c)])
            continue;
        all++;
        n += tl_ns_between(f->took_ns[c], f->should_ns[c]) >= f->long_ns[c];
        took += (double)f->took_ns[c];
        should += (double)f->should_ns[c];
    }
    return n >= long_least || (n == all && n >= ALL_OF && f->found[unit].nflagged == 1) || took >= 2 * should;
}

static double total_of(const tl_link_finding *f, size_t unit)
{
    double sum = 0;
    for (size_t i = 0; i < f->in->nsteps; i++)
        sum += f->flagged[unit * f->in->nsteps + i] ? f->charge[unit * f->in->nsteps + i] : 0;
    return sum;
}

static bool is_slow(const tl_link_finding *f, uint32_t unit, double most)
{
    const tl_persistence *p = &f->found[unit];
    if (p->nflagged == 0 || total_of(f, unit) < least_of_most * most)
        return false;
    /* Steps here and there that chance may have given to one of many: it does not double what they take. */
    if (p->pattern == TL_PATTERN_SPORADIC && f->nunits >= GROUPS_LEAST && p->p_value > significant)
        return is_event(f, unit, SIZE_MAX);
    bool doubtful = p->nflagged == 1 || (p->pattern == TL_PATTERN_SPORADIC && f->nunits < GROUPS_LEAST);
    return !doubtful || is_event(f, unit, LONG_IN_ONE_STEP);
}

static int64_t surplus_of(const tl_link_finding *f, uint32_t collective)
{
    return tl_ns_between(f->took_ns[collective], f->should_ns[collective]);
}

static bool is_flagged(const tl_link_finding *f, uint32_t collective)
{
    return f->flagged[tl_link_place(f, collective)];
}

static bool is_quiet(const tl_link_finding *f, uint32_t collective)
{
    return surplus_of(f, collective) < f->long_ns[collective];
}

/* Those of f->order[from .. to) to its front; how many. */
static size_t to_front(tl_link_finding *f, size_t from, size_t to,
                       bool (*which)(const tl_link_finding *f, uint32_t collective))
{
    size_t n = from;
    for (size_t i = from; i < to; i++)
        if (which(f, f->order[i])) {
            uint32_t c = f->order[i];
            f->order[i] = f->order[n];
            f->order[n++] = c;
        }
    return n - from;
}

/* Whether transfers of a cell are too long in flagged steps: what else the group does may be none the slower. */
static bool is_long(const tl_link_finding *f, size_t from, size_t to)
{
    double surplus = 0, least = 0;
    for (size_t i = from; i < to; i++)
        if (is_flagged(f, f->order[i])) {
            surplus += (double)surplus_of(f, f->order[i]);
            least += (double)f->long_ns[f->order[i]];
        }
    return surplus > 0 && surplus >= least;
}

static bool any_long(const tl_link_finding *f, uint32_t unit)
{
    bool any = false;
    for (size_t i = 0, to; i < f->n; i = to) {
        to = tl_link_cell_end(f, i);
        any = any || (f->unit[f->order[i]] == unit && is_long(f, i, to));
    }
    return any;
}

static void describe(tl_link_finding *f, size_t from, size_t n, tl_slow_link *link)
{
    link->like = f->order[from];
    link->evidence = f->evidence[f->order[from]];
    for (size_t i = 0; i < n; i++)
        f->scratch[i] = f->took_ns[f->order[from + i]];
    link->here_ns = tl_median(f->scratch, n);
    for (size_t i = 0; i < n; i++)
        f->scratch[i] = f->should_ns[f->order[from + i]];
    link->elsewhere_ns = tl_median(f->scratch, n);
}

static bool add_link(tl_link_finding *f, uint32_t unit)
{
    tl_slow_link *link = &f->out->of[f->out->n];
    int64_t most = 0;
    bool each = any_long(f, unit); /* else they are too long together */
    *link = (tl_slow_link){ .found = f->found[unit] };
    if (f->nunits == 1) /* there is nobody to change labels with */
        link->found.p_value = NAN;
    for (size_t i = 0, to; i < f->n; i = to) {
        int64_t sum = 0;
        to = tl_link_cell_end(f, i);
        if (f->unit[f->order[i]] != unit || (each && !is_long(f, i, to)))
            continue;
        size_t n = to_front(f, i, to, is_flagged);
        for (size_t k = i; k < i + n; k++) {
            uint32_t c = f->order[k];
            int64_t more = surplus_of(f, c);
            f->out->surplus_ns[c] = more > 0 ? more : 0;
            f->out->link_of[c] = (uint32_t)f->out->n;
            sum = tl_ns_sum(sum, f->out->surplus_ns[c]);
        }
        link->surplus_ns = tl_ns_sum(link->surplus_ns, sum);
        if (sum <= most)
            continue;
        most = sum;
        describe(f, i, n, link);
        size_t quiet = to_front(f, i + n, to, is_quiet);
        if (!tl_link_ends(f->in, f->order + i, n, n + quiet, link))
            return false;
    }
    f->out->n += most > 0;
    return true;
}

/* Where hosts are not known, several that are slower than others may be those that lie across hosts. */
static void drop_unlike(tl_link_finding *f)
{
    tl_slow_link *of = f->out->of;
    for (size_t i = 0; i < f->out->n; i++)
        for (size_t k = 0; k < f->out->n; k++) {
            uint32_t a = of[i].like, b = of[k].like;
            if (i != k && f->class_of[a] == f->class_of[b] && of[i].evidence == TL_LINK_BY_GROUPS &&
                f->in->collectives[a].span == TL_SPAN_UNKNOWN)
                of[i].nends = 0;
        }
}

bool tl_link_name_all(tl_link_finding *f)
{
    double most = 0;
    f->out->of = tl_calloc(f->nunits + 1, sizeof *f->out->of);
    if (f->out->of == NULL)
        return false;
    for (size_t u = 0; u < f->nunits; u++) {
        double total = total_of(f, u);
        most = total > most ? total : most;
    }
    for (uint32_t u = 0; u < f->nunits; u++)
        if (is_slow(f, u, most) && !add_link(f, u))
            return false;
    drop_unlike(f);
    return true;
}
