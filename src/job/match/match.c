/* match.c - the phases of matching, one after the other. */
#include "internal.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Keys by the rules that need nothing but the participant and its group; what these leave, by alignment. */
static void give_keys(tl_matching *m)
{
    tl_match_keys(m->set->participants.v, m->set->participants.n, m->fates);
    tl_match_pairs(m);
    tl_match_align(m);
}

/* Every collective of this proc through every analysis, in order of time. */
static void analyse(const tl_matching *m, const tl_collective_run *runs, size_t n, int64_t first, tl_tables *tables,
                    tl_late_rows *late)
{
    const tl_job_facts facts = { .groups = m->groups, .ngroups = m->ngroups, .ranks = m->ranks, .nranks = m->nranks };

    for (size_t r = 0; r < n; r++) {
        tl_collective_view c = tl_collective_of_run(m->set->participants.v, &runs[r], &facts);
        c.number = first + (int64_t)r;
        for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
            if ((*a)->per_collective != NULL)
                (*a)->per_collective(&c, tables);
        tl_late_rows_add(late, &c);
    }
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->fold != NULL)
            (*a)->fold(tables);
}

void tl_match_run(tl_participants *set, tl_exposures *exposures, int64_t world, tl_clock_mode mode, tl_tables *tables,
                  tl_late_rows *late)
{
    tl_matching m = { .set = set,
                      .world = world,
                      .group_rows = tl_tables_get(tables, &tl_group_row_schema),
                      .clock_rows = tl_tables_get(tables, &tl_clock_schema),
                      .rank_rows = tl_tables_get(tables, &tl_rank_schema) };
    tl_collective_run *runs = NULL;
    size_t nruns = 0;
    int64_t first = 0;

    tl_match_sends(&m);
    tl_match_groups(&m);
    give_keys(&m);
    tl_match_to_owners(&m);
    tl_match_clocks(&m, mode);
    tl_match_by_time(&m, &runs, &nruns, &first);
    analyse(&m, runs, nruns, first, tables, late);
    tl_participants_free(set);
    tl_match_peers(&m, exposures, late, tables);
    free(runs);
    free(m.fates);
    free(m.groups);
    free(m.ranks);
    free(exposures->v);
    *exposures = (tl_exposures){ 0 };
}
