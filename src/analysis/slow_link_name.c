/* slow_link_name.c - which groups have a slow link, and between whom? */
#include "slow_link_ends.h"
#include "slow_link_parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include <math.h>

/* What is less than this share of the largest surplus of any group is jitter. */
static const double least_of_most = 0.3;
static const double significant = 0.05;
/* One step alone needs transfers of twice their length, or several long ones. */
enum { LONG_IN_ONE_STEP = 3 };
/* Relabelled at random, fewer groups than this say little of steps here and there. */
enum { GROUPS_LEAST = 5 };

/* Whether so much is long in its one step that it is no hiccup of a single transfer. */
static bool is_event(const tl_link_finding *f, uint32_t unit)
{
    size_t n = 0;
    double took = 0, should = 0;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t c = f->order[i];
        if (f->unit[c] != unit || !f->flagged[tl_link_place(f, c)])
            continue;
        n += tl_ns_between(f->took_ns[c], f->should_ns[c]) >= f->long_ns[c];
        took += (double)f->took_ns[c];
        should += (double)f->should_ns[c];
    }
    return n >= LONG_IN_ONE_STEP || took >= 2 * should;
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
    if (p->pattern == TL_PATTERN_SPORADIC && f->nunits >= GROUPS_LEAST && p->p_value > significant)
        return false;
    if (p->pattern == TL_PATTERN_SPORADIC && f->nunits < GROUPS_LEAST && !is_event(f, unit))
        return false;
    return p->nflagged > 1 || is_event(f, unit);
}

/* The flagged ones of a cell, to the front of f->order[from ..); how many. */
static size_t flagged_first(tl_link_finding *f, size_t from, size_t to)
{
    size_t n = from;
    for (size_t i = from; i < to; i++)
        if (f->flagged[tl_link_place(f, f->order[i])]) {
            uint32_t c = f->order[i];
            f->order[i] = f->order[n];
            f->order[n++] = c;
        }
    return n - from;
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
    *link = (tl_slow_link){ .found = f->found[unit] };
    if (f->nunits == 1) /* there is nobody to change labels with */
        link->found.p_value = NAN;
    for (size_t i = 0, to; i < f->n; i = to) {
        int64_t sum = 0;
        to = tl_link_cell_end(f, i);
        if (f->unit[f->order[i]] != unit)
            continue;
        size_t n = flagged_first(f, i, to);
        for (size_t k = i; k < i + n; k++) {
            uint32_t c = f->order[k];
            int64_t more = tl_ns_between(f->took_ns[c], f->should_ns[c]);
            f->out->surplus_ns[c] = more > 0 ? more : 0;
            f->out->link_of[c] = (uint32_t)f->out->n;
            sum = tl_ns_sum(sum, f->out->surplus_ns[c]);
        }
        link->surplus_ns = tl_ns_sum(link->surplus_ns, sum);
        if (sum <= most)
            continue;
        most = sum;
        describe(f, i, n, link);
        if (!tl_link_ends(f->in, f->order + i, n, to - i, link))
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
