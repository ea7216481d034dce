/* links.c - see links.h: whom a slow link names. */
#include "links.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include <stdio.h>

static const char *name_of(const tl_table *groups, int32_t group)
{
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->group == group)
            return row->description[0] != 0 ? row->description : row->name[0] != 0 ? row->name : "group";
    }
    return "group";
}

static void name_rank(const tl_slow_link_row *link, const char *group, int64_t unchanged_ns, tl_straggler *row)
{
    row->verdict = TL_VERDICT_STRAGGLER;
    row->cause = TL_CAUSE_SLOW_LINK;
    row->cause_share = 1;
    row->pattern = link->pattern;
    row->first_step = link->first_step;
    row->last_step = link->last_step;
    row->gain_ns = link->gain_ns;
    row->slowdown = unchanged_ns > link->gain_ns ? (double)unchanged_ns / (double)(unchanged_ns - link->gain_ns) : 1;
    snprintf(row->place, sizeof row->place, "%.80s %d,%d", group, link->rank, link->peer);
    snprintf(row->reason, sizeof row->reason, "%s between %d and %d takes %.1f times as long as %s", /* */
             tl_collective_labels[link->kind], link->rank, link->peer, link->ratio,
             link->evidence == TL_LINK_BY_GROUPS  ? "between others"
             : link->evidence == TL_LINK_BY_STEPS ? "in other steps"
             : link->evidence == TL_LINK_BY_LAST  ? "its ring would without the wires of their host"
                                                  : "its ring would without it");
}

/* Its charge is nothing that it did itself. */
static bool is_carried(const tl_straggler *row)
{
    return row->cause == TL_CAUSE_OTHER_GROUP || row->cause == TL_CAUSE_MIXED || row->cause == TL_CAUSE_UNKNOWN;
}

static bool in_window(const tl_straggler *row, const tl_slow_link_row *link)
{
    return row->first_step <= link->last_step && link->first_step <= row->last_step;
}

void tl_job_links_judge(const tl_verdict_input *job, bool simulated, tl_tables *tables)
{
    const tl_table *links = tl_tables_get(tables, &tl_slow_link_row_schema),
                   *groups = tl_tables_get(tables, &tl_group_row_schema);
    tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    const tl_whatif_row *unchanged =
        tl_whatif_row_of(tl_tables_get(tables, &tl_whatif_row_schema), TL_SCENARIO_UNCHANGED, -1);
    int64_t unchanged_ns = unchanged != NULL ? unchanged->time_ns : 0;

    for (size_t i = 0; i < stragglers->n; i++) {
        tl_straggler *row = tl_table_row(stragglers, i);
        const tl_slow_link_row *own = NULL, *other = NULL;
        bool straggler = row->verdict == TL_VERDICT_STRAGGLER;
        for (size_t k = 0; k < links->n; k++) {
            const tl_slow_link_row *link = tl_table_row(links, k);
            if (simulated && !tl_gain_matters(job, link->first_step, link->last_step, link->gain_ns))
                continue;
            if ((link->rank == row->rank || link->peer == row->rank) &&
                (own == NULL || link->surplus_ns > own->surplus_ns))
                own = link;
            if (link->rank >= 0 && in_window(row, link) && (other == NULL || link->surplus_ns > other->surplus_ns))
                other = link;
        }
        if (own != NULL && (!straggler || is_carried(row) || row->gain_ns < own->surplus_ns / 2)) {
            name_rank(own, name_of(groups, own->group), unchanged_ns, row);
        } else if (straggler && other != NULL && is_carried(row) && row->gain_ns < other->surplus_ns / 2) {
            row->verdict = TL_VERDICT_OK;
            snprintf(row->reason, sizeof row->reason, "late elsewhere, by the slow link between %d and %d", other->rank,
                     other->peer);
        }
    }
}
