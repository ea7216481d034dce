/* slow_link.c - transfers against their like, step by step; see slow_link.h. */
#include "tlmpi/analysis/slow_link.h"
#include "slow_link_ends.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A surplus counts from this part of what should have been. */
enum { PART_USUAL = 4, PART_LOOSE = 3 };
/* Against its own other steps, where these hardly differ: so many times as much as they do, a twentieth at least, and
 * what matters of the step. */
enum { STEADY_STEPS = 6, TIMES_NOISE = 8, PART_STEADY = 20 };
static const double matters = 0.04, to_deviation = 1.4826;
/* Own steps tell from so many collectives of a kind and size on. */
enum { OWN_LEAST = 4 };
/* What is less than this share of the largest surplus of any group is jitter. */
static const double least_of_most = 0.3;
static const double significant = 0.05;
/* One step alone needs transfers of twice their length, or several long ones. */
enum { LONG_IN_ONE_STEP = 3 };
/* Relabelled at random, fewer groups than this say little of steps here and there. */
enum { GROUPS_LEAST = 5 };

typedef struct finding {
    const tl_link_input *in;
    tl_slow_links *out;
    tl_map units, classes;                  /* sets of ranks; what should take the same time */
    uint32_t *unit, *class_of;              /* [ncollectives], TL_NONE: not looked at */
    int64_t *took_ns, *should_ns, *long_ns; /* long_ns: a surplus from which on it counts */
    uint8_t *evidence;
    uint32_t *order; /* those looked at, by class, unit and length */
    size_t n;
    double *charge; /* [nunits * nsteps] */
    bool *flagged;  /* the same */
    tl_persistence *found;
    size_t nunits;
    int64_t *scratch;
} finding;

static bool is_pair(uint8_t kind)
{
    return kind == TL_SEND || kind == TL_RECV || kind == TL_SEND_RECV;
}

/* Of unknown size, or of several, or where ranks are missing: only how they end can tell; but stages send each other
 * what others like them do. */
static bool is_comparable(const tl_link_collective *c)
{
    return !c->partial && (c->bytes >= 0 || c->stages != 0);
}

static bool is_loose(const tl_link_collective *c)
{
    return c->n > 2 && !tl_is_synchronising((tl_collective)c->kind);
}

/* --------------------------------------------------------------------------------------------------- what is alike */

static bool number_of(tl_map *map, uint64_t key, uint32_t *number)
{
    *number = tl_map_get(map, key);
    if (*number != TL_MAP_NONE)
        return true;
    *number = (uint32_t)map->n;
    return tl_map_put(map, key, *number) == 0;
}

static int64_t size_class(const tl_link_collective *c)
{
    int64_t size = 1;
    if (!is_loose(c))
        return c->bytes;
    while (size <= c->bytes / 2)
        size *= 2;
    return size;
}

static bool list(finding *f)
{
    bool whole = true;
    for (uint32_t i = 0; whole && i < f->in->ncollectives; i++) {
        const tl_link_collective *c = &f->in->collectives[i];
        int64_t last_start = INT64_MIN, last_end = INT64_MIN;
        uint64_t members = c->n;
        for (uint32_t k = 0; k < c->n; k++) {
            const tl_link_end *e = &f->in->ends[c->first + k];
            last_start = e->start_ns > last_start ? e->start_ns : last_start;
            last_end = e->end_ns > last_end ? e->end_ns : last_end;
            members = tl_hash_mix(members, e->rank);
        }
        f->unit[i] = f->out->link_of[i] = TL_NONE;
        f->took_ns[i] = tl_ns_between(last_end, last_start);
        if (c->n < 2 || c->step >= f->in->nsteps || (is_pair(c->kind) && c->n > 2) || f->took_ns[i] <= 0)
            continue;
        uint64_t key = tl_hash_mix(tl_hash_mix(is_pair(c->kind) ? TL_SEND : c->kind, (uint64_t)size_class(c)),
                                   tl_hash_mix(c->stages, (uint64_t)c->n << 8 | c->span));
        whole = number_of(&f->units, members, &f->unit[i]) && number_of(&f->classes, key, &f->class_of[i]);
        f->order[f->n++] = i;
    }
    f->nunits = f->units.n;
    return whole;
}

static int by_class(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    if (f->class_of[a] != f->class_of[b])
        return f->class_of[a] < f->class_of[b] ? -1 : 1;
    if (f->unit[a] != f->unit[b])
        return f->unit[a] < f->unit[b] ? -1 : 1;
    return (f->took_ns[a] > f->took_ns[b]) - (f->took_ns[a] < f->took_ns[b]);
}

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    if (f->class_of[a] != f->class_of[b])
        return f->class_of[a] < f->class_of[b] ? -1 : 1;
    if (f->unit[a] != f->unit[b])
        return f->unit[a] < f->unit[b] ? -1 : 1;
    uint32_t x = f->in->collectives[a].step, y = f->in->collectives[b].step;
    return (x > y) - (x < y);
}

/* Behind those of one group and class. */
static size_t end_of_cell(const finding *f, size_t i)
{
    size_t to = i;
    while (to < f->n && f->class_of[f->order[to]] == f->class_of[f->order[i]] &&
           f->unit[f->order[to]] == f->unit[f->order[i]])
        to++;
    return to;
}

/* From the other groups of [from, to), one class; without another group from the shorter half of the own. */
static void expect(finding *f, size_t from, size_t to)
{
    for (size_t i = from, end; i < to; i = end) {
        size_t n = 0;
        end = end_of_cell(f, i);
        for (size_t k = from, next; k < to; k = next) {
            next = end_of_cell(f, k);
            if (k != i && !f->in->collectives[f->order[k]].partial)
                f->scratch[n++] = f->took_ns[f->order[k + (next - k - 1) / 2]];
        }
        int64_t should = n > 0 ? tl_median(f->scratch, n) : f->took_ns[f->order[i + (end - i - 1) / 4]];
        for (size_t k = i; k < end; k++) {
            bool tells = is_comparable(&f->in->collectives[f->order[k]]);
            f->should_ns[f->order[k]] = tells && (n > 0 || end - i >= OWN_LEAST) ? should : f->took_ns[f->order[k]];
            f->evidence[f->order[k]] = n > 0 && tells ? TL_LINK_BY_GROUPS : TL_LINK_BY_STEPS;
        }
    }
}

static void expect_all(finding *f)
{
    for (size_t i = 0, to; i < f->n; i = to) {
        for (to = i; to < f->n && f->class_of[f->order[to]] == f->class_of[f->order[i]];)
            to = end_of_cell(f, to);
        expect(f, i, to);
    }
}

static size_t place(const finding *f, uint32_t collective)
{
    return (size_t)f->unit[collective] * f->in->nsteps + f->in->collectives[collective].step;
}

/* What has no other group: against the own steps that are not flagged; where none is, by how it ended. */
static bool expect_alone(finding *f)
{
    for (size_t i = 0, to; i < f->n; i = to) {
        uint32_t unit = f->unit[f->order[i]];
        size_t quiet = 0;
        to = end_of_cell(f, i);
        if (f->evidence[f->order[i]] != TL_LINK_BY_STEPS)
            continue;
        if (f->found[unit].nflagged == 0 || !is_comparable(&f->in->collectives[f->order[i]])) {
            if (!tl_link_by_tails(f->in, f->order + i, to - i, f->took_ns, f->should_ns, f->evidence))
                return false;
            continue;
        }
        for (size_t k = i; k < to; k++)
            if (!f->flagged[place(f, f->order[k])])
                f->scratch[quiet++] = f->took_ns[f->order[k]];
        int64_t should = quiet >= OWN_LEAST / 2 ? tl_median(f->scratch, quiet) : f->should_ns[f->order[i]];
        for (size_t k = i; k < to; k++)
            f->should_ns[f->order[k]] = should;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------- surplus */

static int by_length(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The middle surplus of a cell's collectives of the step of order[i]; *next: behind them. */
static int64_t middle_surplus(finding *f, size_t i, size_t to, size_t *next)
{
    uint32_t step = f->in->collectives[f->order[i]].step;
    for (*next = i; *next < to && f->in->collectives[f->order[*next]].step == step; (*next)++)
        f->scratch[*next - i] = tl_ns_between(f->took_ns[f->order[*next]], f->should_ns[f->order[*next]]);
    qsort(f->scratch, *next - i, sizeof *f->scratch, by_length);
    return f->scratch[(*next - i - 1) / 2];
}

/* By how much a cell's steps differ from each other, for a collective; INT64_MAX where that is not known.  It is asked
 * of the rest of scratch, as steps are fewer than collectives. */
static int64_t noise_of(finding *f, size_t from, size_t to)
{
    int64_t *of_steps = f->scratch + (to - from);
    size_t n = 0;
    for (size_t i = from, next; i < to; i = next)
        of_steps[n++] = middle_surplus(f, i, to, &next);
    if (n < STEADY_STEPS || f->evidence[f->order[from]] != TL_LINK_BY_STEPS)
        return INT64_MAX;
    return llround(to_deviation * (double)tl_mad(of_steps, n, tl_median(of_steps, n)));
}

static int64_t part_of(const finding *f, uint32_t collective)
{
    return f->should_ns[collective] / (is_loose(&f->in->collectives[collective]) ? PART_LOOSE : PART_USUAL);
}

/* Where its steps are so steady. */
static int64_t steady_part_of(const finding *f, uint32_t collective, int64_t noise_ns)
{
    int64_t part_ns = part_of(f, collective);
    double least = fmax((double)f->should_ns[collective] / PART_STEADY, TIMES_NOISE * (double)noise_ns);
    return least < (double)part_ns ? (int64_t)least : part_ns;
}

/* What a cell's collectives of one step took too long: as many times the middle one as there are, so that one that had
 * a hiccup does not stand for all. */
static void charge_cell(finding *f, size_t from, size_t to, double *least, double *steady)
{
    int64_t noise_ns = noise_of(f, from, to);
    for (size_t i = from, next; i < to; i = next) {
        uint32_t c = f->order[i];
        double middle = (double)middle_surplus(f, i, to, &next), part = 0, steady_part = 0;
        size_t n = next - i;
        for (size_t k = i; k < next; k++) {
            f->long_ns[f->order[k]] = steady_part_of(f, f->order[k], noise_ns);
            steady_part += (double)f->long_ns[f->order[k]];
            part += (double)part_of(f, f->order[k]);
        }
        f->charge[place(f, c)] += (double)n * middle;
        double doubt = 2 * (double)n * (double)f->in->collectives[c].uncertainty_ns;
        least[place(f, c)] += part > doubt ? part : doubt + 1;
        steady[place(f, c)] += steady_part > doubt ? steady_part : doubt + 1;
    }
}

/* A dummy that never has a surplus keeps a group alone company. */
static tl_status test(finding *f, tl_error *err)
{
    size_t nsteps = f->in->nsteps, cells = f->nunits * nsteps;
    double *least = tl_calloc(cells + 1, sizeof *least), *steady = tl_calloc(cells + 1, sizeof *steady);
    if (least == NULL || steady == NULL || !tl_sort_index(f->order, f->n, by_step, f)) {
        free(least);
        free(steady);
        return tl_fail_memory(err, "slow links");
    }
    memset(f->charge, 0, (cells + nsteps) * sizeof *f->charge);
    for (size_t i = 0, to; i < f->n; i = to) {
        to = end_of_cell(f, i);
        charge_cell(f, i, to, least, steady);
    }
    for (size_t i = 0; i < cells; i++)
        if (f->charge[i] < fmin(least[i], fmax(steady[i], matters * f->in->step_ns[i % nsteps])))
            f->charge[i] = 0;
    free(least);
    free(steady);
    const tl_charges charges = { f->charge, f->in->step_ns, f->nunits > 1 ? f->nunits : 2, nsteps };
    return tl_persistence_of(&charges, f->found, NULL, f->flagged, err);
}

/* ----------------------------------------------------------------------------------------------------------- links */

/* Whether so much is long in its one step that it is no hiccup of a single transfer. */
static bool is_event(const finding *f, uint32_t unit)
{
    size_t n = 0;
    double took = 0, should = 0;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t c = f->order[i];
        if (f->unit[c] != unit || !f->flagged[place(f, c)])
            continue;
        n += tl_ns_between(f->took_ns[c], f->should_ns[c]) >= f->long_ns[c];
        took += (double)f->took_ns[c];
        should += (double)f->should_ns[c];
    }
    return n >= LONG_IN_ONE_STEP || took >= 2 * should;
}

static double total_of(const finding *f, size_t unit)
{
    double sum = 0;
    for (size_t i = 0; i < f->in->nsteps; i++)
        sum += f->flagged[unit * f->in->nsteps + i] ? f->charge[unit * f->in->nsteps + i] : 0;
    return sum;
}

static bool is_slow(const finding *f, uint32_t unit, double most)
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
static size_t flagged_first(finding *f, size_t from, size_t to)
{
    size_t n = from;
    for (size_t i = from; i < to; i++)
        if (f->flagged[place(f, f->order[i])]) {
            uint32_t c = f->order[i];
            f->order[i] = f->order[n];
            f->order[n++] = c;
        }
    return n - from;
}

static void describe(finding *f, size_t from, size_t n, tl_slow_link *link)
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

static bool add_link(finding *f, uint32_t unit)
{
    tl_slow_link *link = &f->out->of[f->out->n];
    int64_t most = 0;
    *link = (tl_slow_link){ .found = f->found[unit] };
    if (f->nunits == 1) /* there is nobody to change labels with */
        link->found.p_value = NAN;
    for (size_t i = 0, to; i < f->n; i = to) {
        int64_t sum = 0;
        to = end_of_cell(f, i);
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
static void drop_unlike(finding *f)
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

static bool name_links(finding *f)
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

/* ------------------------------------------------------------------------------------------------------------- all */

static tl_status find(finding *f, tl_error *err)
{
    size_t cells = (f->nunits + 1) * f->in->nsteps + 1;
    f->charge = tl_calloc(cells, sizeof *f->charge);
    f->flagged = tl_calloc(cells, sizeof *f->flagged);
    f->found = tl_calloc(f->nunits + 2, sizeof *f->found);
    if (f->charge == NULL || f->flagged == NULL || f->found == NULL || !tl_sort_index(f->order, f->n, by_class, f))
        return tl_fail_memory(err, "slow links");
    expect_all(f);
    tl_status st = test(f, err);
    if (st == TL_OK && !expect_alone(f))
        st = tl_fail_memory(err, "slow links");
    if (st == TL_OK)
        st = test(f, err);
    if (st == TL_OK && !name_links(f))
        st = tl_fail_memory(err, "slow links");
    return st;
}

tl_status tl_slow_links_find(const tl_link_input *in, tl_slow_links *out, tl_error *err)
{
    size_t n = in->ncollectives + 1;
    finding f = { .in = in,
                  .out = out,
                  .unit = tl_malloc(n * sizeof(uint32_t)),
                  .class_of = tl_malloc(n * sizeof(uint32_t)),
                  .took_ns = tl_malloc(n * sizeof(int64_t)),
                  .should_ns = tl_calloc(n, sizeof(int64_t)),
                  .long_ns = tl_calloc(n, sizeof(int64_t)),
                  .evidence = tl_calloc(n, 1),
                  .order = tl_malloc(n * sizeof(uint32_t)),
                  .scratch = tl_malloc(2 * n * sizeof(int64_t)) };
    out->link_of = tl_malloc(n * sizeof *out->link_of);
    out->surplus_ns = tl_calloc(n, sizeof *out->surplus_ns);
    bool whole = f.unit != NULL && f.class_of != NULL && f.took_ns != NULL && f.should_ns != NULL &&
                 f.long_ns != NULL && f.evidence != NULL && f.order != NULL && f.scratch != NULL &&
                 out->link_of != NULL && out->surplus_ns != NULL;
    tl_status st = whole && list(&f) ? TL_OK : tl_fail_memory(err, "slow links");

    if (st == TL_OK && f.n > 0)
        st = find(&f, err);
    tl_map_free(&f.units);
    tl_map_free(&f.classes);
    void *all[] = { f.unit,  f.class_of, f.took_ns, f.should_ns, f.long_ns, f.evidence,
                    f.order, f.scratch,  f.charge,  f.flagged,   f.found };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return st;
}

void tl_slow_links_free(tl_slow_links *links)
{
    free(links->of);
    free(links->link_of);
    free(links->surplus_ns);
    *links = (tl_slow_links){ 0 };
}
