/* imbalance.c - what the job loses that nobody is at fault for: roles of unlike work, chance, hosts. */
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/answers/say.h"

#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>

/* The row of a scenario, if it gains enough beyond what those who are named cost; NULL. */
static const tl_whatif_row *row_of(const tl_table *whatif, tl_scenario_kind scenario, int64_t named_ns, int64_t least_ns)
{
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *row = tl_table_row(whatif, i);
        if (row->scenario == scenario && row->gain_ns - named_ns >= least_ns)
            return row;
    }
    return NULL;
}

/* What all who are named cost together, ranks and links. */
static int64_t named_by(const tl_table *whatif)
{
    int64_t most = 0;
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *row = tl_table_row(whatif, i);
        bool named = row->scenario == TL_SCENARIO_RANK || row->scenario == TL_SCENARIO_LINKS || row->scenario == TL_SCENARIO_SUSPECTS;
        most = named && row->gain_ns > most ? row->gain_ns : most;
    }
    return most;
}

/* What those cost of them whose hosts are late, no more than all do. */
static int64_t named_hosts(tl_tables *tables, int64_t named_ns)
{
    const tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema);
    int64_t sum = 0;
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        bool host = row->cause == TL_CAUSE_HOST_LATE || row->cause == TL_CAUSE_INPUT || row->cause == TL_CAUSE_GC ||
                    row->cause == TL_CAUSE_SYNC_DRAIN || row->cause == TL_CAUSE_ALLOCATOR;
        if (row->verdict == TL_VERDICT_STRAGGLER && host)
            sum = tl_ns_add(sum, row->gain_ns > 0 ? row->gain_ns : named_ns); /* those who hide each other gain nothing alone */
    }
    return tl_ns_min(sum, named_ns);
}

tl_imbalance tl_imbalance_of(tl_tables *tables, int64_t wall_ns)
{
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int64_t named_ns = named_by(whatif), hosts_ns = named_hosts(tables, named_ns);
    int64_t least_ns = (int64_t)(TL_VERDICT_LEAST_COST * (double)wall_ns);
    const tl_whatif_row *roles = row_of(whatif, TL_SCENARIO_BALANCED, 0, least_ns),
                        *ideal = row_of(whatif, TL_SCENARIO_IDEAL, named_ns, least_ns),
                        *hosts = row_of(whatif, TL_SCENARIO_HOST_FREE, hosts_ns, least_ns);
    tl_imbalance all = { .rank = -1 };
    if (wall_ns <= 0)
        return all;
    if (roles != NULL) {
        all.rank = roles->rank;
        all.times = roles->slowdown;
        all.roles_ns = roles->gain_ns;
    }
    all.chance_ns = ideal != NULL ? ideal->gain_ns - named_ns : 0;
    all.hosts_ns = hosts != NULL ? hosts->gain_ns - hosts_ns : 0;
    return all;
}

bool tl_has_imbalance(const tl_answers *a)
{
    return a->imbalance.roles_ns > 0 || a->imbalance.chance_ns > 0 || a->imbalance.hosts_ns > 0;
}

/* "costs 4.3 %", and what divides it from what follows. */
static void say_cost(tl_wrap *w, const tl_answers *a, int64_t ns, bool more)
{
    tl_wrap_words(w, "costs");
    tl_wrap_piece(w, "%.1f %%%s", 100 * (double)ns / (double)a->wall_ns, more ? ";" : "");
}

void tl_say_imbalance(tl_wrap *w, const tl_answers *a)
{
    const tl_imbalance *of = &a->imbalance;
    int n = (of->roles_ns > 0) + (of->chance_ns > 0) + (of->hosts_ns > 0);

    if (a->nculprits > 0)
        tl_wrap_words(w, "beside what is named above,");
    if (of->roles_ns > 0) {
        tl_wrap_words(w, "that rank");
        tl_wrap_piece(w, "%" PRId32, of->rank);
        tl_wrap_words(w, "and those that do the same compute");
        tl_wrap_piece(w, "%.2f", of->times);
        tl_wrap_words(w, "times as long as the others");
        say_cost(w, a, of->roles_ns, of->chance_ns > 0 || of->hosts_ns > 0);
    }
    if (of->chance_ns > 0) {
        tl_wrap_words(w, "what takes longer than usual on one rank or another");
        say_cost(w, a, of->chance_ns, of->hosts_ns > 0);
    }
    if (of->hosts_ns > 0) {
        tl_wrap_words(w, "time that hosts need");
        say_cost(w, a, of->hosts_ns, false);
    }
    if (n > 1)
        tl_wrap_words(w, "(these overlap)");
}
