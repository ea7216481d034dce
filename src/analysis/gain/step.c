/* step.c - what repairs gain step by step: of ranks, and of many ranks together. */
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many hosts, at most, are repaired together with others, too. */
enum { HOSTS_ASKED = 4 };

/* So many, at most, are repaired one by one to see what it gains in each step. */
enum { STEPPED_MOST = 32 };

typedef struct had_more {
    int64_t ns;
    uint32_t rank;
} had_more;

static int by_more(const void *a, const void *b)
{
    const had_more *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return TL_COMPARE(x->rank, y->rank);
}

/* gain_ns: of the replay's steps; all_ns: of all of the job.  A step gains no more than it is long: where a recording begins
 * before the first mark, what is more was gained there. */
static void put_steps(const tl_gains *g, int64_t *gain_ns, int64_t all_ns, const tl_job_step *steps, size_t nsteps,
                      double *wall_ns)
{
    const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
    tl_gains_to_steps(gain_ns, facts->nsteps, all_ns);
    for (size_t i = 0; i < nsteps; i++) {
        size_t s = tl_index_of(facts->steps, facts->nsteps, steps[i].number);
        wall_ns[i] = s < facts->nsteps ? fmin((double)gain_ns[s], (double)steps[i].ns) : 0;
    }
}

/* Of the first step, what the marked rank's device had more to do. */
static double sure_gain(tl_gains *g, const tl_job_step *first, int64_t *gain_ns)
{
    double sure_ns = 0;
    const tl_scenario s = { .repaired = g->marked,
                            .parts = 1U << TL_PART_COMPUTE | 1U << TL_PART_H2D | 1U << TL_PART_COPY,
                            .in_steps = true,
                            .first_step = first->number,
                            .last_step = first->number };
    int64_t all_ns = tl_whatif_gain(g->whatif, &s, gain_ns);
    put_steps(g, gain_ns, all_ns, first, 1, &sure_ns);
    return sure_ns;
}

/* Those that have most first. */
static had_more *list_by_more(const tl_gains *g)
{
    size_t nranks = g->in->nranks;
    had_more *more = tl_malloc((nranks + 1) * sizeof *more);
    for (uint32_t r = 0; more != NULL && r < nranks; r++)
        more[r] = (had_more){ tl_whatif_all_surplus(g->whatif, r), r };
    if (more != NULL)
        qsort(more, nranks, sizeof *more, by_more);
    return more;
}

bool tl_gains_own(tl_gains *g, int64_t *own_ns)
{
    had_more *more = list_by_more(g);
    int64_t ideal_ns = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true }, NULL);

    memset(own_ns, 0, g->in->nranks * sizeof *own_ns);
    for (size_t i = 0; more != NULL && i < g->in->nranks && i < STEPPED_MOST && more[i].ns > 0; i++) {
        uint32_t r = more[i].rank;
        g->marked[r] = 1;
        own_ns[r] = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true, .own = g->marked }, NULL) - ideal_ns;
        g->marked[r] = 0;
    }
    free(more);
    return more != NULL;
}

/* What the rank had more to do than its peers, or what its repair has just taken off; of_step has room for the replay's steps. */
static void put_surplus(const tl_gains *g, const tl_job_step *steps, size_t nsteps, uint32_t rank, bool repaired,
                        int64_t *of_step, int64_t *surplus_ns)
{
    const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
    tl_whatif_step_surplus(g->whatif, rank, repaired, of_step);
    for (size_t i = 0; i < nsteps; i++) {
        size_t s = tl_index_of(facts->steps, facts->nsteps, steps[i].number);
        surplus_ns[i] = s < facts->nsteps ? of_step[s] : 0;
    }
}

bool tl_gains_by_step(tl_gains *g, const tl_job_step *steps, size_t nsteps, double *wall_ns, double *sure_ns,
                      int64_t *late_ns)
{
    size_t nranks = g->in->nranks;
    had_more *more = list_by_more(g);
    int64_t *gain_ns = tl_malloc((tl_whatif_facts_of(g->whatif)->nsteps + 1) * sizeof *gain_ns);
    bool whole = more != NULL && gain_ns != NULL;

    for (size_t i = 0; whole && i < nranks * nsteps; i++)
        wall_ns[i] = 0;
    for (uint32_t r = 0; whole && r < nranks; r++) {
        sure_ns[r] = 0;
        put_surplus(g, steps, nsteps, r, false, gain_ns, late_ns + r * nsteps);
    }
    for (size_t i = 0; whole && i < nranks && i < STEPPED_MOST && more[i].ns > 0; i++) {
        uint32_t r = more[i].rank;
        g->marked[r] = 1;
        int64_t all_ns = tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, gain_ns);
        put_steps(g, gain_ns, all_ns, steps, nsteps, wall_ns + r * nsteps);
        put_surplus(g, steps, nsteps, r, true, gain_ns, late_ns + r * nsteps);
        if (nsteps == 1 && steps[0].number < 0) /* all of the recording is one */
            wall_ns[r] = all_ns > 0 ? (double)all_ns : 0;
        if (nsteps > 0 && wall_ns[r * nsteps] > 0)
            sure_ns[r] = sure_gain(g, steps, gain_ns);
        g->marked[r] = 0;
    }
    free(more);
    free(gain_ns);
    return whole;
}

/* Hosts beside each other: what the repair of one gains by chance is what that of another gains on top of it. */
typedef struct hosting {
    const uint32_t *host_of;
    const tl_job_step *steps;
    uint32_t nhosts;
    size_t nsteps;
    int64_t *step_gain_ns; /* of the replay */
    double *both_ns, *chance_ns, *total_ns;
    had_more *more; /* of each host; its number is the rank */
} hosting;

static void mark_hosts(tl_gains *g, const hosting *h, uint32_t a, uint32_t b)
{
    for (size_t r = 0; r < g->in->nranks; r++)
        g->marked[r] = h->host_of[r] == a || h->host_of[r] == b;
}

static void repair_both(tl_gains *g, hosting *h, uint32_t a, uint32_t b, double *gain_ns)
{
    mark_hosts(g, h, a, b);
    int64_t all_ns = tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, h->step_gain_ns);
    put_steps(g, h->step_gain_ns, all_ns, h->steps, h->nsteps, gain_ns);
}

static void take_chance_off(tl_gains *g, hosting *h, uint32_t host, double *gain_ns)
{
    size_t tried = 0;
    for (size_t s = 0; s < h->nsteps; s++)
        h->chance_ns[s] = 0;
    for (uint32_t i = 1; i < h->nhosts && tried < TL_OTHERS_MOST; i++, tried++) {
        repair_both(g, h, host, (host + i) % h->nhosts, h->both_ns);
        for (size_t s = 0; s < h->nsteps; s++)
            h->chance_ns[s] += fmax(h->both_ns[s] - gain_ns[s], 0);
    }
    for (size_t s = 0; tried > 0 && s < h->nsteps; s++)
        gain_ns[s] = fmax(gain_ns[s] - h->chance_ns[s] / (double)tried, 0);
}

static void list_hosts_by_more(const tl_gains *g, hosting *h)
{
    for (uint32_t i = 0; i < h->nhosts; i++)
        h->more[i] = (had_more){ 0, i };
    for (uint32_t r = 0; r < g->in->nranks; r++)
        if (h->host_of[r] < h->nhosts)
            h->more[h->host_of[r]].ns = tl_ns_sum(h->more[h->host_of[r]].ns, tl_whatif_all_surplus(g->whatif, r));
    qsort(h->more, h->nhosts, sizeof *h->more, by_more);
}

/* What it gains by chance is asked of those that gain most: to the others it is only noise to be above. */
static void by_host(tl_gains *g, hosting *h, double *gain_ns, int64_t *surplus_ns)
{
    double most = 0;
    size_t asked = 0;
    for (size_t k = 0; k < h->nhosts && k < STEPPED_MOST && h->more[k].ns > 0; k++) {
        uint32_t i = h->more[k].rank;
        repair_both(g, h, i, i, gain_ns + i * h->nsteps);
        for (uint32_t r = 0; surplus_ns != NULL && r < g->in->nranks; r++)
            if (g->marked[r])
                put_surplus(g, h->steps, h->nsteps, r, true, h->step_gain_ns, surplus_ns + r * h->nsteps);
        for (size_t s = 0; s < h->nsteps; s++)
            h->total_ns[i] += gain_ns[i * h->nsteps + s];
        most = fmax(most, h->total_ns[i]);
    }
    for (uint32_t i = 0; i < h->nhosts && asked < HOSTS_ASKED; i++)
        if (h->total_ns[i] > 0 && 2 * h->total_ns[i] >= most) {
            take_chance_off(g, h, i, gain_ns + i * h->nsteps);
            asked++;
        }
}

bool tl_gains_by_host(tl_gains *g, const uint32_t *host_of, size_t nhosts, const tl_job_step *steps, size_t nsteps,
                      double *gain_ns, int64_t *surplus_ns)
{
    hosting h = { .host_of = host_of,
                  .steps = steps,
                  .nhosts = (uint32_t)nhosts,
                  .nsteps = nsteps,
                  .step_gain_ns = tl_malloc((tl_whatif_facts_of(g->whatif)->nsteps + 1) * sizeof *h.step_gain_ns),
                  .both_ns = tl_malloc((nsteps + 1) * sizeof *h.both_ns),
                  .chance_ns = tl_malloc((nsteps + 1) * sizeof *h.chance_ns),
                  .total_ns = tl_calloc(nhosts + 1, sizeof *h.total_ns),
                  .more = tl_malloc((nhosts + 1) * sizeof *h.more) };
    bool whole =
        h.step_gain_ns != NULL && h.both_ns != NULL && h.chance_ns != NULL && h.total_ns != NULL && h.more != NULL;

    for (size_t i = 0; whole && i < nhosts * nsteps; i++)
        gain_ns[i] = 0;
    for (uint32_t r = 0; whole && surplus_ns != NULL && r < g->in->nranks; r++)
        put_surplus(g, steps, nsteps, r, false, h.step_gain_ns, surplus_ns + r * nsteps);
    if (whole) {
        list_hosts_by_more(g, &h);
        by_host(g, &h, gain_ns, surplus_ns);
    }
    memset(g->marked, 0, g->in->nranks);
    free(h.step_gain_ns);
    free(h.both_ns);
    free(h.chance_ns);
    free(h.total_ns);
    free(h.more);
    return whole;
}
