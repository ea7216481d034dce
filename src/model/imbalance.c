/* imbalance.c - time that the job loses though no rank is at fault: unlike roles, chance, hosts. */
#include "tlmpi/model/imbalance.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"

/* Returns by how much the gain of a balance may be larger, ns. */
static int64_t of_balance(const tl_whatif_row *row)
{
    return row->scenario == TL_SCENARIO_BALANCED ? row->unexplained_ns : 0;
}

/* Returns the row of a scenario whose gain, with what may come on top, exceeds named_ns by at least least_ns; NULL:
 * there is none. */
static const tl_whatif_row *row_with_gain(const tl_table *whatif, tl_scenario_kind scenario, int64_t named_ns,
                                          int64_t least_ns)
{
    TL_ROWS (const tl_whatif_row, row, whatif)
        if (row->scenario == scenario && row->gain_ns + of_balance(row) - named_ns >= least_ns)
            return row;
    return NULL;
}

/* Returns the largest gain, ns, of repairing named ranks or links, one or all together. */
static int64_t gain_of_named(const tl_table *whatif)
{
    int64_t most = 0;
    TL_ROWS (const tl_whatif_row, row, whatif) {
        bool named = row->scenario == TL_SCENARIO_RANK || row->scenario == TL_SCENARIO_LINKS ||
                     row->scenario == TL_SCENARIO_SUSPECTS;
        most = named && row->gain_ns > most ? row->gain_ns : most;
    }
    return most;
}

/* Returns the sum of the gains, ns, of repairing the named ranks whose hosts are late, at most named_ns. */
static int64_t gain_of_named_hosts(tl_tables *tables, int64_t named_ns)
{
    const tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    int64_t sum = 0;
    TL_ROWS (const tl_straggler, row, stragglers) {
        if (row->verdict == TL_VERDICT_STRAGGLER && tl_cause_is_of_host((tl_cause)row->cause))
            sum = tl_ns_add(sum, row->gain_ns > 0 ? row->gain_ns
                                                  : named_ns); /* ranks that hide each other gain nothing alone */
    }
    return tl_ns_min(sum, named_ns);
}

/* Returns the rank that has most of the idle time of all ranks; -1: none has. */
static int32_t idle_rank(tl_tables *tables)
{
    int64_t all_ns = 0, most_ns = 0;
    int32_t rank = -1;
    TL_ROWS (const tl_breakdown, row, tl_tables_get(tables, &tl_breakdown_schema)) {
        if (row->rank < 0 || row->device != -1 || row->step != -1)
            continue;
        all_ns = tl_ns_sum(all_ns, row->idle_ns);
        rank = row->idle_ns > most_ns ? row->rank : rank;
        most_ns = tl_ns_max(most_ns, row->idle_ns);
    }
    return (double)most_ns >= TL_MOST_SHARE * (double)all_ns ? rank : -1;
}

tl_imbalance tl_imbalance_of(tl_tables *tables, int64_t wall_ns)
{
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int64_t named_ns = gain_of_named(whatif), hosts_ns = gain_of_named_hosts(tables, named_ns);
    const tl_table *parameters = tl_tables_get(tables, &tl_parameter_schema);
    int64_t least_ns =
        (int64_t)(tl_parameter_value(parameters, "verdict_least_cost", TL_VERDICT_LEAST_COST) * (double)wall_ns);
    const tl_whatif_row *roles = row_with_gain(whatif, TL_SCENARIO_BALANCED, 0, least_ns),
                        *ideal = row_with_gain(whatif, TL_SCENARIO_IDEAL, named_ns, least_ns),
                        *hosts = row_with_gain(whatif, TL_SCENARIO_HOST_FREE, hosts_ns, least_ns);
    tl_imbalance all = { .rank = -1, .hosts_rank = -1 };
    if (wall_ns <= 0)
        return all;
    if (roles != NULL) {
        all.rank = roles->rank;
        all.times = roles->slowdown;
        all.roles_ns = roles->gain_ns + of_balance(roles);
        all.at_most = of_balance(roles) > 0;
        TL_ROWS (const tl_straggler, row, tl_tables_get(tables, &tl_straggler_schema))
            all.alone |=
                row->rank == all.rank && row->verdict != TL_VERDICT_STRAGGLER && row->against != TL_AGAINST_PEERS;
    }
    all.chance_ns = ideal != NULL ? ideal->gain_ns - named_ns : 0;
    all.hosts_ns = hosts != NULL ? hosts->gain_ns - hosts_ns : 0;
    all.hosts_rank = hosts != NULL ? idle_rank(tables) : -1;
    all.named_hosts_ns = hosts_ns;
    return all;
}
