/* units.c - see units.h. */
#include "units.h"
#include "alike.h"
#include "hosts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

/* Where there are several hosts, and ranks that share them. */
static tl_status judge_hosts(const tl_verdict_input *job, tl_gains *gains, tl_tables *tables, tl_error *err)
{
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema);
    size_t n;
    const uint32_t *host_of = tl_gains_hosts(gains, &n);
    bool several = n > 1 && n < job->nranks;
    double *gain_ns = tl_calloc((several ? n * job->nsteps : 0) + 1, sizeof *gain_ns);
    int64_t *surplus_ns = tl_calloc((several ? job->nranks * job->nsteps : 0) + 1, sizeof *surplus_ns);
    bool whole = surplus_ns != NULL && gain_ns != NULL;

    if (whole && several)
        whole = tl_gains_by_host(gains, host_of, n, job->steps, job->nsteps, gain_ns, surplus_ns);
    tl_status st = whole ? TL_OK : tl_fail_memory(err, "the hosts of the job");
    const tl_host_input input = { job, ranks, host_of, n, gain_ns, surplus_ns };
    if (st == TL_OK && several)
        st = tl_hosts_judge(&input, tl_tables_get(tables, &tl_straggler_schema), err);
    free(surplus_ns);
    free(gain_ns);
    return st;
}

static bool all_named(const tl_table *stragglers, const uint32_t *unit_of)
{
    for (size_t r = 0; r < stragglers->n; r++) {
        const tl_straggler *row = tl_table_row(stragglers, r);
        if (unit_of[r] == 0 && row->verdict != TL_VERDICT_STRAGGLER)
            return false;
    }
    return true;
}

/* The gain of the first unit, all its ranks together, then those of the others, which are known. */
static bool gains_of_units(const tl_verdict_input *job, tl_gains *gains, const uint32_t *unit_of, double *gain_ns)
{
    size_t nsteps = job->nsteps;
    if (!tl_gains_by_host(gains, unit_of, 1, job->steps, nsteps, gain_ns, NULL))
        return false;
    for (size_t r = 0; r < job->nranks; r++)
        if (unit_of[r] > 0)
            memcpy(gain_ns + unit_of[r] * nsteps, job->gain_ns + r * nsteps, nsteps * sizeof *gain_ns);
    return true;
}

static tl_status judge_alike(const tl_verdict_input *job, const int64_t *own_ns, tl_gains *gains, tl_tables *tables,
                             tl_error *err)
{
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    uint32_t *unit_of = tl_malloc((job->nranks + 1) * sizeof *unit_of);
    size_t n = unit_of != NULL ? tl_alike_units(own_ns, job->nranks, unit_of) : 0;
    double *gain_ns = tl_calloc(n * job->nsteps + 1, sizeof *gain_ns);
    bool whole = unit_of != NULL && gain_ns != NULL;
    bool look = whole && n > 0 && stragglers->n == job->nranks && !all_named(stragglers, unit_of);

    if (look)
        whole = gains_of_units(job, gains, unit_of, gain_ns);
    tl_status st = whole ? TL_OK : tl_fail_memory(err, "the ranks that are late alike");
    const tl_host_input input = { job, NULL, unit_of, n, gain_ns, NULL };
    if (st == TL_OK && look)
        st = tl_hosts_judge(&input, stragglers, err);
    free(unit_of);
    free(gain_ns);
    return st;
}

tl_status tl_units_judge(const tl_verdict_input *job, const int64_t *own_ns, tl_gains *gains, tl_tables *tables,
                         tl_error *err)
{
    if (job->gain_ns == NULL)
        return TL_OK;
    tl_status st = judge_hosts(job, gains, tables, err);
    if (st == TL_OK)
        st = judge_alike(job, own_ns, gains, tables, err);
    if (st == TL_OK && (!tl_gains_of_named(gains) || !tl_gains_together(gains)))
        st = tl_fail_memory(err, "what would have been");
    return st;
}
