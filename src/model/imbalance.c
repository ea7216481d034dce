/* imbalance.c - what the job loses that nobody is at fault for: roles of unlike work, chance, hosts. */
#include "tlmpi/model/imbalance.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"

/* The row of a scenario, if it gains enough beyond what those who are named cost; NULL. */
static const tl_whatif_row *row_of(const tl_table *whatif, tl_scenario_kind scenario, int64_t named_ns,
                                   int64_t least_ns)
{
    TL_ROWS (const tl_whatif_row, row, whatif)
        if (row->scenario == scenario && row->gain_ns - named_ns >= least_ns)
            return row;
    return NULL;
}

/* What all who are named cost together, ranks and links. */
static int64_t named_by(const tl_table *whatif)
{
    int64_t most = 0;
    TL_ROWS (const tl_whatif_row, row, whatif) {
        bool named = row->scenario == TL_SCENARIO_RANK || row->scenario == TL_SCENARIO_LINKS ||
                     row->scenario == TL_SCENARIO_SUSPECTS;
        most = named && row->gain_ns > most ? row->gain_ns : most;
    }
    return most;
}

/* What those cost of them whose hosts are late, no more than all do. */
static int64_t named_hosts(tl_tables *tables, int64_t named_ns)
{
    const tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    int64_t sum = 0;
    TL_ROWS (const tl_straggler, row, stragglers) {
        if (row->verdict == TL_VERDICT_STRAGGLER && tl_cause_is_of_host((tl_cause)row->cause))
            sum = tl_ns_add(sum, row->gain_ns > 0 ? row->gain_ns
                                                  : named_ns); /* those who hide each other gain nothing alone */
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
    int64_t named_ns = named_by(whatif), hosts_ns = named_hosts(tables, named_ns);
    const tl_table *parameters = tl_tables_get(tables, &tl_parameter_schema);
    int64_t least_ns =
        (int64_t)(tl_parameter_value(parameters, "verdict_least_cost", TL_VERDICT_LEAST_COST) * (double)wall_ns);
    const tl_whatif_row *roles = row_of(whatif, TL_SCENARIO_BALANCED, 0, least_ns),
                        *ideal = row_of(whatif, TL_SCENARIO_IDEAL, named_ns, least_ns),
                        *hosts = row_of(whatif, TL_SCENARIO_HOST_FREE, hosts_ns, least_ns);
    tl_imbalance all = { .rank = -1, .hosts_rank = -1 };
    if (wall_ns <= 0)
        return all;
    if (roles != NULL) {
        all.rank = roles->rank;
        all.times = roles->slowdown;
        all.roles_ns = roles->gain_ns;
    }
    all.chance_ns = ideal != NULL ? ideal->gain_ns - named_ns : 0;
    all.hosts_ns = hosts != NULL ? hosts->gain_ns - hosts_ns : 0;
    all.hosts_rank = hosts != NULL ? idle_rank(tables) : -1;
    all.named_hosts_ns = hosts_ns;
    return all;
}
