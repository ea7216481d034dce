/* hosts.c - see hosts.h.
 *
 *     rank                  0  1  2  3 | 4  5  6  7 | 8 ...
 *     late by, ms           0  0  1  0 | 9 10  9 10 | 0
 *     gain, repaired alone  0  0  .1 0 | 0  .3 0 .2 | 0      somebody else of the host is as late
 *     all of the host            .1    |     9      | 0      what is tested, by the tests for ranks
 */
#include "hosts.h"
#include "tlmpi/analysis/role.h"
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/tables.h"
#include "parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks that come late by chance, each in steps of its own, gain together what they gain one by one; of ranks that come
 * late alike each gains next to nothing alone. */
enum { TIMES_ALONE = 2 };
/* As much of a host is the host.  Of four ranks three are late alike in one step of three by chance, in two steps still in
 * one of ten; of eight six in one of seven: all of four and seven of eight are so in hardly any. */
enum { WHOLE = 7, WHOLE_OF = 8, SELDOM = 2 };
/* A rank of the host has this part of what any of them but one has more than its peers: that one may have paused. */
static const double part_of_most = 0.5;

typedef struct hosting {
    const tl_host_input *in;
    const tl_verdict_input *job;
    tl_table *stragglers;
    double *step_ns;  /* [nsteps] */
    double *alone_ns; /* [nhosts * nsteps] what the ranks of a host gain one by one */
    double *cost_ns;  /* [nhosts * nsteps] of what the repair of a host gains, what is the host's */
    double *noise_ns; /* [nsteps] */
    bool *flagged;    /* [nhosts * nsteps] */
    double *p_value;  /* [nhosts] */
    tl_persistence *found;
    tl_standing *standing;
} hosting;

/* ----------------------------------------------------------------------------------------------------------- tests */

static bool late_alike(const hosting *h, uint32_t host, size_t step)
{
    size_t at = host * h->job->nsteps + step;
    return h->in->gain_ns[at] >= TIMES_ALONE * h->alone_ns[at];
}

/* Where one of its ranks is late by itself, as with a checkpoint, that is no fault of the host. */
static void find_costs(hosting *h)
{
    size_t nsteps = h->job->nsteps;
    for (size_t r = 0; r < h->job->nranks; r++)
        for (size_t s = 0; s < nsteps; s++)
            h->alone_ns[h->in->host_of[r] * nsteps + s] += h->job->gain_ns[r * nsteps + s];
    for (uint32_t i = 0; i < h->in->nhosts; i++)
        for (size_t s = 0; s < nsteps; s++) {
            double ns = h->in->gain_ns[i * nsteps + s], left = ns - h->alone_ns[i * nsteps + s];
            h->cost_ns[i * nsteps + s] = late_alike(h, i, s) ? ns : left > 0 ? left : 0;
        }
}

/* Where single ranks are late now and then, as with batches of random length, most of a host are so together in some
 * step: that is no more than chance unless it is more than any of them. */
static void find_noise(hosting *h)
{
    for (size_t r = 0; r < h->job->nranks; r++) {
        const tl_straggler *row = tl_table_row(h->stragglers, r);
        const double *gain_ns = h->job->gain_ns + r * h->job->nsteps;
        for (size_t s = 0; row->verdict != TL_VERDICT_STRAGGLER && s < h->job->nsteps; s++)
            h->noise_ns[s] = gain_ns[s] > h->noise_ns[s] ? gain_ns[s] : h->noise_ns[s];
    }
}

static tl_status look(hosting *h, tl_error *err)
{
    size_t nsteps = h->job->nsteps;
    find_costs(h);
    find_noise(h);
    for (size_t s = 0; s < nsteps; s++)
        h->step_ns[s] = (double)h->job->steps[s].ns;
    const tl_charges charges = { h->cost_ns, h->step_ns, h->in->nhosts, nsteps };
    tl_status st = tl_persistence_of(&charges, h->found, NULL, h->flagged, err);
    for (size_t i = 0; st == TL_OK && i < h->in->nhosts; i++)
        h->p_value[i] = h->found[i].p_value;
    const tl_costs costs = { h->cost_ns,    h->step_ns, h->flagged,    h->p_value,      NULL,
                             h->in->nhosts, nsteps,     h->job->begun, h->job->in_turn, h->noise_ns };
    return st == TL_OK ? tl_standing_of(&costs, h->standing, err) : st;
}

static double total(const double *ns, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ns[i];
    return sum;
}

/* Its ranks are late alike in most steps in which it stands out: in one of them some rank may pause for longer. */
static bool is_whole_host(const hosting *h, uint32_t host)
{
    size_t nsteps = h->job->nsteps, ranks = 0, steps = 0, alike = 0;
    for (size_t r = 0; r < h->job->nranks; r++)
        ranks += h->in->host_of[r] == host;
    for (size_t s = 0; s < nsteps; s++) {
        if (!h->flagged[host * nsteps + s])
            continue;
        alike += late_alike(h, host, s);
        steps++;
    }
    return ranks > 1 && 2 * alike > steps;
}

/* ----------------------------------------------------------------------------------------------------------- names */

static void name_rank(const hosting *h, uint32_t host, const char *name, size_t members, tl_straggler *row)
{
    const tl_persistence *p = &h->found[host];
    const tl_standing *s = &h->standing[host];
    row->verdict = TL_VERDICT_STRAGGLER;
    row->pattern = (uint8_t)p->pattern;
    row->share_steps = p->share_steps;
    row->first_step = h->job->steps[p->first].number;
    row->last_step = h->job->steps[p->last].number;
    row->p_value = p->p_value;
    double ms = total(h->cost_ns + host * h->job->nsteps, h->job->nsteps) / 1e6;
    if (name != NULL)
        snprintf(row->reason, sizeof row->reason,
                 "with %zu ranks of host %.40s, together %.1f ms, %.1f %% of %zu of %zu steps", members, name, ms,
                 tl_percent_of_step(s->share), s->nflagged, h->job->nsteps);
    else
        snprintf(row->reason, sizeof row->reason,
                 "one of %zu ranks that are late alike, together %.1f ms, %.1f %% of %zu of %zu steps", members, ms,
                 tl_percent_of_step(s->share), s->nflagged, h->job->nsteps);
}

/* In one step alone any two ranks, in one or two some of a host, are late by chance. */
static bool too_seldom(const hosting *h, uint32_t host, size_t late, size_t of_host)
{
    const tl_standing *s = &h->standing[host];
    if (h->in->ranks == NULL)
        return s->nflagged < 2;
    return s->ground == TL_GROUND_EVENT && s->nevents <= SELDOM && late * WHOLE_OF < of_host * WHOLE;
}

/* What a rank had more to do than its peers in the steps in which its host stands out; all ranks alike where these are no
 * hosts. */
static int64_t surplus_of(const hosting *h, uint32_t host, size_t rank)
{
    size_t nsteps = h->job->nsteps;
    int64_t sum = h->in->surplus_ns == NULL;
    for (size_t s = 0; h->in->surplus_ns != NULL && s < nsteps; s++)
        sum = tl_ns_add(sum, h->flagged[host * nsteps + s] ? h->in->surplus_ns[rank * nsteps + s] : 0);
    return h->in->host_of[rank] == host ? sum : 0;
}

static void name_host(const hosting *h, uint32_t host)
{
    int64_t first = 0, most = 0;
    size_t members = 0, of_host = 0;
    char number[16];
    const char *name = "";

    for (size_t r = 0; r < h->job->nranks; r++) {
        int64_t ns = surplus_of(h, host, r);
        most = ns > first ? first : ns > most ? ns : most;
        first = ns > first ? ns : first;
        of_host += h->in->host_of[r] == host;
    }
    for (size_t r = 0; r < h->job->nranks; r++)
        members += h->in->host_of[r] == host && (double)surplus_of(h, host, r) >= part_of_most * (double)most;
    if (most == 0 || members < 2 || too_seldom(h, host, members, of_host))
        return;
    for (size_t r = h->in->ranks != NULL ? h->job->nranks : 0; r-- > 0;) {
        const tl_rank *row = h->in->host_of[r] == host ? tl_host_row_of(h->in->ranks, h->job->ranks[r]) : NULL;
        name = row != NULL ? row->host : name;
    }
    if (h->in->ranks == NULL)
        name = NULL;
    else if (name[0] == 0) {
        snprintf(number, sizeof number, "%u", (unsigned)host);
        name = number;
    }
    for (size_t r = 0; r < h->job->nranks; r++)
        if (h->in->host_of[r] == host && (double)surplus_of(h, host, r) >= part_of_most * (double)most)
            name_rank(h, host, name, members, tl_table_row(h->stragglers, r));
}

/* ------------------------------------------------------------------------------------------------------------- all */

tl_status tl_hosts_judge(const tl_host_input *input, tl_table *stragglers, tl_error *err)
{
    size_t nhosts = input->nhosts, nsteps = input->job->nsteps;
    hosting h = { .in = input,
                  .job = input->job,
                  .stragglers = stragglers,
                  .step_ns = tl_calloc(nsteps + 1, sizeof(double)),
                  .alone_ns = tl_calloc(nhosts * nsteps + 1, sizeof(double)),
                  .cost_ns = tl_calloc(nhosts * nsteps + 1, sizeof(double)),
                  .noise_ns = tl_calloc(nsteps + 1, sizeof(double)),
                  .flagged = tl_calloc(nhosts * nsteps + 1, sizeof(bool)),
                  .p_value = tl_calloc(nhosts + 1, sizeof(double)),
                  .found = tl_calloc(nhosts + 1, sizeof(tl_persistence)),
                  .standing = tl_calloc(nhosts + 1, sizeof(tl_standing)) };
    bool whole = h.step_ns != NULL && h.alone_ns != NULL && h.cost_ns != NULL && h.noise_ns != NULL &&
                 h.flagged != NULL && h.p_value != NULL && h.found != NULL && h.standing != NULL;
    tl_status st = whole ? look(&h, err) : tl_fail_memory(err, "the hosts of the job");

    for (uint32_t i = 0; whole && st == TL_OK && i < nhosts; i++)
        if (tl_stands_out(&h.standing[i]) && is_whole_host(&h, i))
            name_host(&h, i);
    void *all[] = { h.step_ns, h.alone_ns, h.cost_ns, h.noise_ns, h.flagged, h.p_value, h.found, h.standing };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return st;
}
