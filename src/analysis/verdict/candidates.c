/* candidates.c - who is late, in which steps, and could it be chance?
 *
 * The scale of noise is pooled over all ranks and steps of a role: it rests on hundreds of cells, where one rank has
 * five.  Lateness is tested (lateness_test.c) against T of min((ranks - 1) (steps - 1), 4 + 2 n) degrees: single steps
 * are judged with heavy tails, long windows nearly normally.  Tries are the ranks, windows, families and roles, and the
 * links and windows, that could have shown it.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct finding {
    const tl_baseline *b;
    tl_findings *out;
    double alpha, least_cost;
    size_t nfull;  /* steps that are judged */
    size_t nnoise; /* steps whose noise is measured: all that are not cut */
    bool *judged;  /* [nsteps] not cut, nor the first or last of a recording */
    bool *on;      /* [nsteps] where the candidate that is looked at is up, of these, too */
    tl_arena arena;
    size_t members; /* that are looked at: the ranks of a role, or its two hosts */
    double *x;      /* what they are late by: [members * nsteps] */
    double *full;   /* the same in full steps */
    double *column;
    int64_t *scratch;
    bool *up;       /* [nsteps] of full steps */
    bool *excluded; /* [nsteps] of full steps: taken by candidates that the member has already */
    bool *rest_up;  /* [nsteps] of the steps that are not excluded */
    double *rest;   /* [nsteps] lateness in these */
    double *host_x; /* [2 * nsteps] x and full of two hosts, while those of ranks are kept */
    double *host_full;
    uint8_t *host_of_member; /* [members] on which of two hosts each rank of the role is */
    bool on_two_hosts;       /* there are two */
    bool *of_host[2];        /* [nsteps] full steps in which all ranks of the host are late together */
    double *worst;           /* [members] what each of the others is late by at most */
    int64_t *host_ns;        /* [ranks * nsteps] lateness of hosts */
    double least;            /* the least scale */
    double tries;            /* ranks and families, and links, that are looked at */
    double largest;          /* roles and families, and sorts of links: each has one that is later than all others */
} finding;

/* Fills f->on with the steps in which the candidate is up.  The first and last step of recordings are not tested.  Such
 * a step counts as up if it exceeds half of the least step that is up, and lies beside one or is as late as these are.
 */
static void join_edges(const finding *f, const tl_candidate *candidate, const double *x)
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
        bool alike = candidate->shape.nup > 1 && x[s] >= TL_CAUSE_SHARE * least && TL_CAUSE_SHARE * x[s] <= most;
        if (!f->judged[s] && !b->cut[s] && (alike || beside) && x[s] > fmax(0, least / 2) &&
            (candidate->rank == TL_NONE || !tl_is_unjudged(b, candidate->rank, s)))
            f->on[s] = true;
    }
}

/* Whether a family's lateness bounds the gain of its repair.  Dropping a counted piece may let the host run ahead,
 * too. */
static bool takes_time(tl_family family)
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
    if (takes_time((tl_family)candidate.family) && (double)candidate.late_ns < f->least_cost * span_ns)
        f->out->slight.v[f->out->slight.n++] = candidate;
    else
        f->out->candidates.v[f->out->candidates.n++] = candidate;
}

/* Returns the mean lateness of the *n steps in which a member is not up. */
static double base_of(const finding *f, const double *x, size_t *n)
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

/* Whether a member that is compared with its own steps does as usual where it is up: in most steps, unless these are a
 * run between others.  It has less to do in the other steps. */
static bool is_usual(const finding *f, const tl_shape *shape)
{
    bool between =
        shape->pattern == TL_PATTERN_BOUNDED && shape->first > f->b->first_whole && shape->last < f->b->last_whole;
    return shape->pattern != TL_PATTERN_DRIFTING && !between && 2 * shape->nup > f->nnoise;
}

/* Whether chance does not explain what a member is late by; then the candidate has its shape, z and p, f->on its steps,
 * and these are taken. */
static void test(finding *f, size_t member, double sigma, tl_candidate *candidate, bool *found)
{
    const tl_baseline *b = f->b;
    bool link = candidate->link != TL_NONE, alone = f->members < 2;
    const tl_lateness_test t = { .nsteps = f->nfull,
                                 .x = f->full,
                                 .sigma = sigma,
                                 .alpha = f->alpha,
                                 .chance = { .members = f->members,
                                             .efficiency = 1,
                                             .nsteps = f->nnoise,
                                             .tries = f->tries,
                                             .largest = f->largest,
                                             .degrees = link || candidate->family == TL_FAMILY_COPY
                                                            ? TL_TRANSFER_TAIL_DEGREES
                                                            : TL_TAIL_DEGREES },
                                 .excluded = f->excluded,
                                 .up = f->up,
                                 .rest_up = f->rest_up,
                                 .rest = f->rest,
                                 .column = f->column,
                                 .worst = f->worst };
    tl_late_sums sums = tl_late_shape(&t, member, &candidate->shape);

    *found = false;
    if (candidate->shape.nup == 0 || sums.tx <= 0)
        return;
    join_edges(f, candidate, f->x + member * b->nsteps);
    tl_shape joined = candidate->shape;
    double share;
    tl_put_pattern(b, f->on, candidate->shape.pattern == TL_PATTERN_DRIFTING, &joined, &share);
    if (alone && (joined.pattern == TL_PATTERN_PERSISTENT || is_usual(f, &joined)))
        return;
    for (size_t s = 0; candidate->shape.pattern != TL_PATTERN_DRIFTING && s < b->nsteps; s++)
        if (f->on[s] && !f->judged[s]) { /* it counts for no more than a step within */
            sums.tx += fmin(f->x[member * b->nsteps + s], sums.tx / sums.t1);
            sums.t1 += 1;
            sums.t2 += 1;
        }
    size_t ndown;
    double base = alone ? base_of(f, f->full + member * f->nfull, &ndown) : 0, n = sums.t1 * sums.t1 / sums.t2;
    if (alone && ndown > 0) { /* two levels of its own, and both are uncertain */
        sums.tx -= sums.t1 * base;
        sums.t2 += sums.t1 * sums.t1 / (double)ndown;
    }
    candidate->p = tl_late_chance(&t, member, &candidate->shape, &sums, n, &candidate->z);
    *found = candidate->p < f->alpha;
    for (size_t s = 0; *found && s < f->nfull; s++)
        f->excluded[s] = f->excluded[s] || f->up[s];
}

/* Whether a role that is late by late[nsteps], beside other stages or beside how heavy a step is for them, does more
 * work in the steps of the candidate than in its other steps: if not, the others do less.  x: of one of two ranks,
 * beyond the other; NULL: of the role.  True if it is late in all steps, which tells nothing. */
static bool has_risen(finding *f, const tl_candidate *candidate, const double *late, const double *x)
{
    const tl_baseline *b = f->b;
    const bool added = candidate->family == TL_FAMILY_ADDITIONAL;
    double up = 0, down = 0, excess = 0, *own_ns = f->host_x;
    size_t nup = 0, ndown = 0;
    if (candidate->family > TL_FAMILY_ADDITIONAL)
        return true;
    tl_own_work(b, candidate->role, added ? TL_FAMILY_DEVICE : (tl_family)candidate->family, own_ns, f->scratch);
    for (size_t s = 0, at = 0; s < b->nsteps; s++) {
        if (!f->judged[s])
            continue;
        double ns = own_ns[s] + (x != NULL ? x[s] : 0);
        up += f->on[s] ? ns : 0;
        excess += f->on[s] ? late[s] : 0;
        nup += f->on[s];
        if (!f->on[s] && !f->excluded[at]) {
            down += ns;
            ndown++;
        }
        at++;
    }
    return nup == 0 || ndown == 0 || 2 * (up / (double)nup - down / (double)ndown) >= excess / (double)nup;
}

/* A delay need not be the same in all steps: what is left of a member may be late by less, and chance not explain it
 * either. */
static void look_at_all(finding *f, uint32_t role, size_t member, tl_family family, double sigma)
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
        tl_candidate candidate = { .rank = link ? TL_NONE : of,
                                   .link = link ? of : TL_NONE,
                                   .role = role,
                                   .family = (uint8_t)family };
        test(f, member, sigma, &candidate, &found);
        const double *late = f->x + member * b->nsteps;
        if (found && (link || (f->members > 1 && !tl_is_two_stages(b, role)) ||
                      has_risen(f, &candidate, late, f->members > 1 ? late : NULL)))
            add_candidate(f, candidate, late);
        found = found && f->members > 1;
    }
}

/* What members are late by in the steps that are judged, or in all that are not cut. */
static void take_steps(finding *f, bool whole)
{
    for (size_t i = 0, at = 0; i < f->members; i++)
        for (size_t s = 0; s < f->b->nsteps; s++)
            if (whole ? !f->b->cut[s] : f->judged[s])
                f->full[at++] = f->x[i * f->b->nsteps + s];
}

/* The noise of what members are late by, in all steps that are not cut; then f->full has the steps that are judged. */
static double take_noise(finding *f)
{
    take_steps(f, true);
    double sigma = fmax(tl_noise_of(f->full, f->members, f->nnoise, f->column, f->rest), f->least);
    take_steps(f, false);
    return sigma;
}

/* Adds a candidate for each rank of a host that is late.  Its lateness counts from the middle of the other host's
 * ranks. */
static void add_host(finding *f, const tl_candidate *candidate, uint8_t which, size_t members, double *x)
{
    const tl_baseline *b = f->b;
    for (size_t s = 0; s < b->nsteps; s++) {
        double usual = f->on[s] ? tl_host_middle(x + s, b->nsteps, f->host_of_member, members, !which, f->column) : 0;
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

/* A rank does not stand out where all of its host are late, and half of the role are on that host: the two hosts are
 * looked at as two members are. */
static void look_at_hosts(finding *f, uint32_t role, tl_family family)
{
    double *x = f->x, *full = f->full;
    const size_t members = f->members, nsteps = f->b->nsteps;
    f->on_two_hosts = family != TL_FAMILY_TRANSFER && tl_two_hosts_of(f->b, role, f->host_of_member);
    if (!f->on_two_hosts)
        return;
    f->x = f->host_x;
    f->full = f->host_full;
    f->members = 2;
    tl_two_hosts_lateness(x, nsteps, f->host_of_member, members, f->x, f->column);
    const double sigma = take_noise(f);
    for (uint8_t which = 0; which < 2; which++) {
        bool found = true;
        memset(f->excluded, 0, f->nfull * sizeof *f->excluded);
        memset(f->of_host[which], 0, f->nfull * sizeof *f->excluded);
        while (found) {
            tl_candidate candidate = { .rank = TL_NONE, .link = TL_NONE, .role = role, .family = (uint8_t)family };
            test(f, which, sigma, &candidate, &found);
            found = found && tl_host_is_later(x, nsteps, f->on, f->host_of_member, members, which);
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

/* A link that is guessed and the only one of its sort is not looked at: its ranks may wait for others, and no link tells
 * what a transfer takes. */
static void look_at_role(finding *f, uint32_t role, tl_family family)
{
    const tl_baseline *b = f->b;
    size_t n = b->roles[role].n;

    if (f->nfull == 0 || (family == TL_FAMILY_TRANSFER && n == 1 && b->links[b->members[b->roles[role].first]].guessed))
        return;
    f->members = n;
    tl_lateness(b, role, family, f->x, f->scratch);
    look_at_hosts(f, role, family);
    const double sigma = take_noise(f);
    for (size_t i = 0; i < n; i++) {
        size_t rank = b->members[b->roles[role].first + i];
        for (size_t s = 0; family < TL_FAMILY_WAIT && s < b->nsteps; s++) {
            double *z = &f->out->z[rank * b->nsteps + s];
            if (tl_is_unjudged(b, rank, s))
                continue;
            (family == TL_FAMILY_HOST ? f->host_ns : f->out->late_ns)[rank * b->nsteps + s] +=
                (int64_t)f->x[i * b->nsteps + s];
            *z = fmax(*z, f->x[i * b->nsteps + s] / sigma); /* fmax knows NAN as nothing */
        }
        look_at_all(f, role, i, family, sigma);
    }
}

/* Whether a role is late by more than roles that have the same kernels differ for good, which is a few per cent. */
static bool stands_out(finding *f, size_t member, const tl_candidate *candidate)
{
    const tl_chance chance = { .members = f->members, .largest = f->largest, .degrees = TL_TAIL_DEGREES };
    double late = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->members; i++) {
        double sum = 0;
        for (size_t s = 0; s < f->b->nsteps; s++)
            sum += f->on[s] ? f->x[i * f->b->nsteps + s] : 0;
        if (i == member)
            late = sum;
        else
            f->worst[n++] = fabs(sum);
    }
    return n == 1 || tl_chance_to_stand_out(&chance, f->worst, n, candidate->shape.nup, late) < f->alpha;
}

/* Whether a member of the role is late in a step of f->on by itself. */
static bool has_candidate(const finding *f, uint32_t role, tl_family family)
{
    TL_EACH (const tl_candidate, c, f->out->candidates) {
        for (size_t s = 0; c->role == role && c->family == family && s < f->b->nsteps; s++)
            if (f->on[s] && c->on[s])
                return true;
    }
    return false;
}

/* The candidate of each rank of a role that is late. */
static void add_role(finding *f, const tl_candidate *candidate, const double *x)
{
    const tl_baseline *b = f->b;
    const tl_role_ranks *role = &b->roles[candidate->role];
    for (size_t i = 0; i < role->n; i++) {
        tl_candidate of = *candidate;
        of.rank = b->members[role->first + i];
        for (size_t s = 0; s < b->nsteps; s++)
            f->out->late_ns[of.rank * b->nsteps + s] += f->on[s] ? (int64_t)x[s] : 0;
        add_candidate(f, of, x);
    }
}

/* The inner stages, one row each in f->x; of[members] which roles they are. */
static void take_roles(finding *f, uint32_t *of)
{
    const tl_baseline *b = f->b;
    f->members = 0;
    tl_lateness_across(b, f->x);
    for (uint32_t role = 0; role < b->nroles; role++) {
        if (!tl_is_inner_stage(b, role))
            continue;
        memmove(f->x + f->members * b->nsteps, f->x + role * b->nsteps, b->nsteps * sizeof *f->x);
        of[f->members++] = role;
    }
}

/* All ranks of a role may be slow, and none of them stand out: then what other roles need for the same kernels
 * tells. */
static void look_across(finding *f)
{
    const tl_baseline *b = f->b;
    if (b->nroles < 2 || f->nfull == 0)
        return;
    uint32_t *of = tl_arena_take(&f->arena, b->nroles, sizeof *of);
    take_roles(f, of);
    if (f->members < 2)
        return;
    const double sigma = take_noise(f);
    for (size_t i = 0; i < f->members; i++) {
        bool found = true;
        memset(f->excluded, 0, f->nfull * sizeof *f->excluded);
        while (found) {
            tl_candidate candidate = { .rank = TL_NONE,
                                       .link = TL_NONE,
                                       .role = of[i],
                                       .family = TL_FAMILY_DEVICE,
                                       .against = TL_AGAINST_STAGES };
            test(f, i, sigma, &candidate, &found);
            found = found && candidate.shape.nup >= (size_t)TL_SPREAD_LEAST && stands_out(f, i, &candidate);
            const double *late = f->x + i * b->nsteps;
            if (found && !has_candidate(f, of[i], TL_FAMILY_DEVICE) && has_risen(f, &candidate, late, NULL))
                add_role(f, &candidate, late);
        }
    }
}

/* All ranks of a role may be late in some steps: then the role's other steps tell. */
static void look_at_own_steps(finding *f, uint32_t role, tl_family family)
{
    tl_candidate candidate = { .rank = TL_NONE,
                               .link = TL_NONE,
                               .role = role,
                               .family = (uint8_t)family,
                               .against = TL_AGAINST_OWN_STEPS };
    bool found;
    f->members = 1;
    tl_lateness_of_own(f->b, role, family, f->x, f->scratch);
    const double sigma = take_noise(f);
    memset(f->excluded, 0, f->nfull * sizeof *f->excluded);
    test(f, 0, sigma, &candidate, &found);
    if (found && !has_candidate(f, role, family) && has_risen(f, &candidate, f->x, NULL))
        add_role(f, &candidate, f->x);
}

static int by_rank(const void *a, const void *b)
{
    const tl_candidate *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    if (x->family != y->family)
        return TL_COMPARE(x->family, y->family);
    return x->link != y->link ? TL_COMPARE(x->link, y->link) : TL_COMPARE(x->shape.first, y->shape.first);
}

/* Fills judged: the inner steps of recordings, or all steps that are not cut if there are none.  Returns the least
 * scale of noise, ns. */
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
    return n > 0 ? fmax(1, TL_LATENESS_LEAST_SCALE * tl_real_median(f->column, n)) : 1;
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
        f.tries += (double)(b->roles[q].n + (tl_two_hosts_of(b, q, f.host_of_member) ? 2 : 0)) * TL_NFAMILIES;
    f.tries += (double)b->nlinks;
    f.tries += b->nroles > 1 ? (double)(2 + TL_FAMILY_HOST) * (double)b->nroles : 0; /* across, and its own steps */
    f.largest = (double)(b->nroles * TL_NFAMILIES + b->nsorts + (b->nroles > 1));
    for (uint32_t role = 0; role < b->nroles; role++)
        for (int family = 0; family < TL_NFAMILIES; family++)
            look_at_role(&f, role, (tl_family)family);
    look_across(&f);
    for (uint32_t role = 0; f.nfull > 0 && b->nroles > 1 && role < b->nroles; role++)
        for (int family = 0; b->roles[role].n > 1 && family <= TL_FAMILY_HOST; family++)
            look_at_own_steps(&f, role, (tl_family)family);
    for (uint32_t sort = 0; sort < b->nsorts; sort++)
        look_at_role(&f, (uint32_t)b->nroles + sort, TL_FAMILY_TRANSFER);
    for (size_t i = 0; i < b->graph->nranks * b->nsteps; i++)
        out->late_ns[i] = tl_ns_max(out->late_ns[i], f.host_ns[i]);
    if (out->candidates.n > 1)
        qsort(out->candidates.v, out->candidates.n, sizeof *out->candidates.v, by_rank);
    if (out->slight.n > 1)
        qsort(out->slight.v, out->slight.n, sizeof *out->slight.v, by_rank);
    tl_arena_free(&f.arena);
}
