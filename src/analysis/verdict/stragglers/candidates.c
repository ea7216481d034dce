/* candidates.c - which ranks and links are late, in which steps, and could the lateness be chance?
 *
 * The scale of noise is pooled over all ranks and steps of a role: a role has hundreds of cells, one rank may have
 * five. Lateness in n steps is tested (lateness_test.c) against Student's t with min((ranks - 1) (steps - 1), 4 + 2 n)
 * degrees of freedom: heavy tails for single steps, nearly normal ones for long windows.  The p-value is corrected for
 * the number of tests (tries): ranks, windows, families and roles, and links and windows.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- two hosts */

/* Compares the ranks of a role by host, if the role lies on two hosts.
 *
 *     lateness of eight ranks     0  0  0  0 | 5  5  5  5     no rank stands out: half of them are late
 *     lateness of their hosts     0          | 5              the second host stands out, as one of two ranks would
 *
 * A host's lateness is the median over its ranks; each of the two hosts is the peer of the other one.
 */

/* Fills host_of_member[members] with the host (0 or 1) of each rank of a role.  Returns false unless the
 * role lies on exactly two known hosts with two ranks or more each. */
static bool two_hosts_of(const tl_baseline *b, uint32_t role, uint8_t *host_of_member)
{
    const tl_role_ranks *of = &b->roles[role];
    const uint64_t first = b->host_of != NULL && of->n > 0 ? b->host_of[b->members[of->first]] : 0;
    uint64_t other = 0;
    size_t nother = 0;
    for (size_t i = 0; i < of->n; i++) {
        uint64_t host = first != 0 ? b->host_of[b->members[of->first + i]] : 0;
        if (host == 0 || (host != first && other != 0 && host != other))
            return false;
        host_of_member[i] = host != first;
        other = host_of_member[i] ? host : other;
        nother += host_of_member[i];
    }
    return nother > 1 && of->n - nother > 1;
}

/* Returns the median lateness over the ranks of host `which` in the step at x, ns; x[n * nsteps]: of n ranks.  column:
 * [n] scratch. */
static double host_middle(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n, uint8_t which,
                          double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (host_of_member[i] == which)
            column[at++] = x[i * nsteps];
    return tl_real_median(column, at);
}

/* Fills of_hosts[2 * nsteps] with the lateness of each host against the other one, ns.  column: [n] scratch. */
static void two_hosts_lateness(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n,
                               double *of_hosts, double *column)
{
    for (size_t s = 0; s < nsteps; s++) {
        of_hosts[s] = host_middle(x + s, nsteps, host_of_member, n, 0, column) -
                      host_middle(x + s, nsteps, host_of_member, n, 1, column);
        of_hosts[nsteps + s] = -of_hosts[s];
    }
}

/* Whether each rank of host `which` is later than every rank of the other, over the steps that are `on`; x[n * nsteps]:
 * lateness of n ranks, ns. */
static bool host_is_later(const double *x, size_t nsteps, const bool *on, const uint8_t *host_of_member, size_t n,
                          uint8_t which)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t s = 0; s < nsteps; s++)
            sum += on[s] ? x[i * nsteps + s] : 0;
        least = host_of_member[i] == which ? fmin(least, sum) : least;
        most = host_of_member[i] != which ? fmax(most, sum) : most;
    }
    return least > most;
}

typedef struct finding {
    const tl_baseline *b;
    tl_findings *out;
    double alpha, least_cost;
    size_t nfull;  /* number of judged steps */
    size_t nnoise; /* number of steps in which noise is measured: all that are not cut */
    bool *judged;  /* [nsteps] the step is not cut, nor the first or last of a recording */
    bool *on;      /* [nsteps] steps in which the current candidate is late */
    tl_arena arena;
    size_t members; /* number of members under test: the ranks of a role, or its two hosts */
    double *x;      /* [members * nsteps] lateness of the members, ns */
    double *full;   /* [members * nfull] x in judged steps */
    double *column;
    int64_t *scratch;
    bool *up;       /* [nfull] the member is late */
    bool *excluded; /* [nfull] steps of the member's earlier candidates */
    bool *rest_up;  /* scratch: up of the steps that are not excluded */
    double *rest;   /* scratch: lateness in the steps that are not excluded */
    double *host_x; /* [2 * nsteps] x of two hosts; host_full: full of two hosts */
    double *host_full;
    uint8_t *host_of_member; /* [members] host (0 or 1) of each rank of the role */
    bool on_two_hosts;       /* the role lies on exactly two hosts */
    bool *of_host[2];        /* [nfull] steps in which the host's ranks are late together */
    double *worst;           /* [members] scratch: lateness of other members in their worst steps */
    int64_t *host_ns;        /* [ranks * nsteps] lateness of hosts */
    double least;            /* least scale of noise, ns */
    double tail_degrees;     /* of the noise of the members under test */
    double tries;            /* number of tests: ranks times families, and links */
    double largest;          /* number of sets with one latest member each: roles times families, and sorts of links */
} finding;

/* Fills f->on with the steps in which the candidate is late.  The first and last step of a recording are not tested;
 * such a step counts as late if its lateness exceeds half of the least lateness of a late step, and the step is next to
 * a late step or is as late as late steps are. */
static void mark_late_steps(const finding *f, const tl_candidate *candidate, const double *x)
{
    const tl_baseline *b = f->b;
    double least = INFINITY, most = 0;
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        f->on[s] = f->judged[s] && f->up[at++];
        least = f->on[s] ? fmin(least, x[s]) : least;
        most = f->on[s] ? fmax(most, x[s]) : most;
    }
    for (size_t s = 0; s < b->nsteps; s++) {
        bool beside =
            (s > 0 && f->judged[s - 1] && f->on[s - 1]) || (s + 1 < b->nsteps && f->judged[s + 1] && f->on[s + 1]);
        bool alike = x[s] >= TL_MOST_SHARE * least && TL_MOST_SHARE * x[s] <= most;
        if (!f->judged[s] && !b->cut[s] && (alike || beside) && x[s] > fmax(0, least / 2) &&
            (candidate->rank == TL_NONE || !tl_is_unjudged(b, candidate->rank, s)))
            f->on[s] = true;
    }
}

/* Whether a family's lateness bounds the gain of its repair.  It does not for families that count pieces: without an
 * additional piece the host may also run ahead. */
static bool bounds_gain(tl_family family)
{
    return family != TL_FAMILY_ADDITIONAL && family != TL_FAMILY_WAIT;
}

static void add_candidate(finding *f, tl_candidate candidate, const double *x)
{
    const tl_baseline *b = f->b;
    double share, span_ns = 0;
    candidate.on = tl_calloc(b->nsteps + 1, sizeof *candidate.on);
    tl_vec_room(&f->out->candidates);
    tl_vec_room(&f->out->slight);
    memcpy(candidate.on, f->on, b->nsteps * sizeof *candidate.on);
    tl_put_pattern(b, candidate.on, candidate.shape.pattern == TL_PATTERN_DRIFTING, &candidate.shape, &share);
    for (size_t s = 0; s < b->nsteps; s++) {
        candidate.late_ns += candidate.on[s] ? (int64_t)x[s] : 0;
        span_ns += candidate.on[s] ? (double)f->out->step_ns[s] : 0;
    }
    candidate.solo_gain_ns = candidate.late_ns;
    if (bounds_gain((tl_family)candidate.family) && (double)candidate.late_ns < f->least_cost * span_ns)
        f->out->slight.v[f->out->slight.n++] = candidate;
    else
        f->out->candidates.v[f->out->candidates.n++] = candidate;
}

/* Returns the mean of x over the judged steps in which the member is not late; *n: the number of these steps. */
static double mean_of_other_steps(const finding *f, const double *x, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t s = 0; s < f->nfull; s++)
        if (!f->up[s]) {
            sum += x[s];
            ++*n;
        }
    return *n > 0 ? sum / (double)*n : 0;
}

/* Tests a member's lateness in the steps that are not excluded.  *found: chance does not explain the lateness; then the
 * candidate has its shape, z and p, f->on has its steps, and these steps become excluded. */
static void test_member(finding *f, size_t member, double sigma, tl_candidate *candidate, bool *found)
{
    const tl_baseline *b = f->b;
    bool link = candidate->link != TL_NONE, alone = f->members < 2;
    const tl_lateness_test t = {
        .nsteps = f->nfull,
        .x = f->full,
        .sigma = sigma,
        .alpha = f->alpha,
        .chance = { .members = f->members,
                    .nsteps = f->nnoise,
                    .tries = f->tries,
                    .largest = f->largest,
                    .degrees = link || candidate->family == TL_FAMILY_COPY ? TL_TAIL_DEGREES / 2 : f->tail_degrees },
        .excluded = f->excluded,
        .up = f->up,
        .rest_up = f->rest_up,
        .rest = f->rest,
        .column = f->column,
        .worst = f->worst
    };
    tl_late_sums sums = tl_late_shape(&t, member, &candidate->shape);

    *found = false;
    if (candidate->shape.nup == 0 || sums.tx <= 0)
        return;
    mark_late_steps(f, candidate, f->x + member * b->nsteps);
    tl_shape joined = candidate->shape;
    double share;
    tl_put_pattern(b, f->on, candidate->shape.pattern == TL_PATTERN_DRIFTING, &joined, &share);
    if (alone && joined.pattern == TL_PATTERN_PERSISTENT)
        return;
    for (size_t s = 0; candidate->shape.pattern != TL_PATTERN_DRIFTING && s < b->nsteps; s++)
        if (f->on[s] && !f->judged[s]) { /* an untested edge step counts at most the mean of tested ones */
            sums.tx += fmin(f->x[member * b->nsteps + s], sums.tx / sums.t1);
            sums.t1 += 1;
            sums.t2 += 1;
        }
    size_t ndown;
    double base = alone ? mean_of_other_steps(f, f->full + member * f->nfull, &ndown) : 0,
           n = sums.t1 * sums.t1 / sums.t2;
    if (alone && ndown > 0) { /* difference of two measured levels: both are uncertain */
        sums.tx -= sums.t1 * base;
        sums.t2 += sums.t1 * sums.t1 / (double)ndown;
    }
    candidate->p = tl_late_chance(&t, member, &candidate->shape, &sums, n, &candidate->z);
    *found = candidate->p < f->alpha;
    for (size_t s = 0; *found && s < f->nfull; s++)
        f->excluded[s] = f->excluded[s] || f->up[s];
}

/* Tests a member again and again, each time without the steps of the candidates found so far, until chance explains the
 * rest: a delay need not be the same in all steps.  A member without peers is tested once. */
static void find_member_candidates(finding *f, uint32_t role, size_t member, tl_family family, double sigma)
{
    const tl_baseline *b = f->b;
    const uint32_t of = b->members[b->roles[role].first + member];
    const bool link = family == TL_FAMILY_TRANSFER;
    bool found = true;
    for (size_t s = 0, at = 0; s < b->nsteps; s++)
        if (f->judged[s]) {
            f->excluded[at] =
                (!link && tl_is_unjudged(b, of, s)) || (f->on_two_hosts && f->of_host[f->host_of_member[member]][at]);
            at++;
        }
    while (found) {
        tl_candidate candidate = {
            .rank = link ? TL_NONE : of, .link = link ? of : TL_NONE, .role = role, .family = (uint8_t)family
        };
        test_member(f, member, sigma, &candidate, &found);
        const double *late = f->x + member * b->nsteps;
        if (found)
            add_candidate(f, candidate, late);
        found = found && f->members > 1;
    }
}

/* Fills f->full with the members' lateness in the judged steps or, with `whole`, in all steps that are not cut. */
static void copy_steps(finding *f, bool whole)
{
    for (size_t i = 0, at = 0; i < f->members; i++)
        for (size_t s = 0; s < f->b->nsteps; s++)
            if (whole ? !f->b->cut[s] : f->judged[s])
                f->full[at++] = f->x[i * f->b->nsteps + s];
}

/* Returns the scale of noise, ns, of the members' lateness in all steps that are not cut; fills f->full with the judged
 * steps, and f->tail_degrees. */
static double measure_noise(finding *f)
{
    copy_steps(f, true);
    double sigma = fmax(tl_noise_of(f->full, f->members, f->nnoise, f->column, f->rest), f->least);
    f->tail_degrees = tl_tail_degrees_of(f->full, f->members, f->nnoise, f->column);
    copy_steps(f, false);
    return sigma;
}

/* Adds a candidate for each rank of a late host.  The rank's lateness is taken against the median of the other host's
 * ranks. */
static void add_host(finding *f, const tl_candidate *candidate, uint8_t which, size_t members, double *x)
{
    const tl_baseline *b = f->b;
    for (size_t s = 0; s < b->nsteps; s++) {
        double usual = f->on[s] ? host_middle(x + s, b->nsteps, f->host_of_member, members, !which, f->column) : 0;
        for (size_t i = 0; i < members; i++)
            x[i * b->nsteps + s] -= usual;
    }
    for (size_t i = 0; i < members; i++) {
        tl_candidate of = *candidate;
        of.rank = b->members[b->roles[candidate->role].first + i];
        if (f->host_of_member[i] == which)
            add_candidate(f, of, x + i * b->nsteps);
    }
}

/* Tests the two hosts of a role as two members: if all ranks of a host are late, and half of the role runs on that
 * host, no single rank stands out. */
static void find_host_candidates(finding *f, uint32_t role, tl_family family)
{
    double *x = f->x, *full = f->full;
    const size_t members = f->members, nsteps = f->b->nsteps;
    f->on_two_hosts = family != TL_FAMILY_TRANSFER && two_hosts_of(f->b, role, f->host_of_member);
    if (!f->on_two_hosts)
        return;
    f->x = f->host_x;
    f->full = f->host_full;
    f->members = 2;
    two_hosts_lateness(x, nsteps, f->host_of_member, members, f->x, f->column);
    const double sigma = measure_noise(f);
    for (uint8_t which = 0; which < 2; which++) {
        bool found = true;
        memset(f->excluded, 0, f->nfull * sizeof *f->excluded);
        memset(f->of_host[which], 0, f->nfull * sizeof *f->excluded);
        while (found) {
            tl_candidate candidate = { .rank = TL_NONE, .link = TL_NONE, .role = role, .family = (uint8_t)family };
            test_member(f, which, sigma, &candidate, &found);
            found = found && host_is_later(x, nsteps, f->on, f->host_of_member, members, which);
            for (size_t s = 0; found && s < f->nfull; s++)
                f->of_host[which][s] = f->of_host[which][s] || f->up[s];
            if (found)
                add_host(f, &candidate, which, members, x);
        }
    }
    f->x = x;
    f->full = full;
    f->members = members;
}

/* Tests the members of a role or sort of links in one family.  A guessed link alone in its sort is not tested: its
 * ranks may wait for other ranks, and no like link shows the usual transfer time. */
static void find_role_candidates(finding *f, uint32_t role, tl_family family)
{
    const tl_baseline *b = f->b;
    size_t n = b->roles[role].n;

    if (f->nfull == 0 || (family == TL_FAMILY_TRANSFER && n == 1 && b->links[b->members[b->roles[role].first]].guessed))
        return;
    f->members = n;
    tl_lateness(b, role, family, f->x, f->scratch);
    find_host_candidates(f, role, family);
    const double sigma = measure_noise(f);
    for (size_t i = 0; i < n; i++) {
        size_t rank = b->members[b->roles[role].first + i];
        for (size_t s = 0; family < TL_FAMILY_WAIT && s < b->nsteps; s++) {
            double *z = &f->out->z[rank * b->nsteps + s];
            if (tl_is_unjudged(b, rank, s))
                continue;
            (family == TL_FAMILY_HOST ? f->host_ns : f->out->late_ns)[rank * b->nsteps + s] +=
                (int64_t)f->x[i * b->nsteps + s];
            *z = fmax(*z, f->x[i * b->nsteps + s] / sigma); /* fmax ignores NAN */
        }
        find_member_candidates(f, role, i, family, sigma);
    }
}

TL_SORT_BY(by_rank, tl_candidate, rank, family, link, shape.first)

/* Fills judged: steps that are neither cut nor at the edge of a recording; if there are none, all that are not cut.
 * Returns the least scale of noise, ns. */
static double least_scale(finding *f)
{
    size_t n = 0;
    for (size_t s = 0; s < f->b->nsteps; s++) {
        f->judged[s] = !f->b->cut[s] && !f->b->edge[s];
        f->nfull += f->judged[s];
        if (!f->b->cut[s])
            f->column[n++] = (double)f->out->step_ns[s];
    }
    for (size_t s = 0; f->nfull == 0 && s < f->b->nsteps; s++)
        f->judged[s] = !f->b->cut[s];
    f->nfull = f->nfull > 0 ? f->nfull : n;
    f->nnoise = n;
    return n > 0 ? fmax(1, TL_NOTHING_SHARE * tl_real_median(f->column, n)) : 1;
}

void tl_candidates_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out)
{
    size_t n = b->nlinks > b->graph->nranks ? b->nlinks : b->graph->nranks, most = n * b->nsteps;
    finding f = { .b = b, .out = out, .alpha = options->alpha, .least_cost = options->least_cost };
    f.x = tl_arena_take(&f.arena, most, sizeof *f.x);
    f.full = tl_arena_take(&f.arena, most, sizeof *f.full);
    f.column = tl_arena_take(&f.arena, most + n + b->nsteps, sizeof *f.column);
    f.scratch = tl_arena_take(&f.arena, n + b->nsteps, sizeof *f.scratch);
    f.up = tl_arena_take(&f.arena, b->nsteps, sizeof *f.up);
    f.judged = tl_arena_take(&f.arena, b->nsteps, sizeof *f.judged);
    f.on = tl_arena_take(&f.arena, b->nsteps, sizeof *f.on);
    f.excluded = tl_arena_take(&f.arena, b->nsteps, sizeof *f.excluded);
    f.rest_up = tl_arena_take(&f.arena, b->nsteps, sizeof *f.rest_up);
    f.rest = tl_arena_take(&f.arena, b->nsteps, sizeof *f.rest);
    f.worst = tl_arena_take(&f.arena, n, sizeof *f.worst);
    f.host_x = tl_arena_take(&f.arena, 2 * b->nsteps, sizeof *f.host_x);
    f.host_full = tl_arena_take(&f.arena, 2 * b->nsteps, sizeof *f.host_full);
    f.host_of_member = tl_arena_take(&f.arena, n, sizeof *f.host_of_member);
    for (int i = 0; i < 2; i++)
        f.of_host[i] = tl_arena_take(&f.arena, b->nsteps, sizeof *f.of_host[i]);
    f.host_ns = tl_arena_zeroed(&f.arena, b->graph->nranks * b->nsteps, sizeof *f.host_ns);

    for (size_t i = 0; i < b->graph->nranks * b->nsteps; i++) {
        out->z[i] = NAN;
        out->late_ns[i] = 0;
    }
    f.least = least_scale(&f);
    for (uint32_t q = 0; q < b->nroles; q++)
        f.tries += (double)(b->roles[q].n + (two_hosts_of(b, q, f.host_of_member) ? 2 : 0)) * TL_NFAMILIES;
    f.tries += (double)b->nlinks;
    f.largest = (double)(b->nroles * TL_NFAMILIES + b->nsorts);
    for (uint32_t role = 0; role < b->nroles; role++)
        for (int family = 0; family < TL_NFAMILIES; family++)
            find_role_candidates(&f, role, (tl_family)family);
    for (uint32_t sort = 0; sort < b->nsorts; sort++)
        find_role_candidates(&f, (uint32_t)b->nroles + sort, TL_FAMILY_TRANSFER);
    for (size_t i = 0; i < b->graph->nranks * b->nsteps; i++)
        out->late_ns[i] = tl_ns_max(out->late_ns[i], f.host_ns[i]);
    if (out->candidates.n > 1)
        qsort(out->candidates.v, out->candidates.n, sizeof *out->candidates.v, by_rank);
    if (out->slight.n > 1)
        qsort(out->slight.v, out->slight.n, sizeof *out->slight.v, by_rank);
    tl_arena_free(&f.arena);
}
