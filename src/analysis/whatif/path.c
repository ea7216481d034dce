/* path.c - the critical path of a job as rows of its table. */
#include "tlmpi/analysis/whatif.h"
#include "critical.h"
#include "tlmpi/model/blame_tables.h"

static bool add_row(tl_table *table, int64_t whole_ns, tl_path_row row)
{
    if (row.path_ns == 0 && row.own_ns == 0)
        return true;
    row.share = whole_ns > 0 ? (double)row.path_ns / (double)whole_ns : 0;
    return tl_table_append(table, &row, 1);
}

static bool add_rows(const tl_path *path, const int32_t *ranks, size_t nranks, tl_table *table)
{
    int64_t whole_ns = path->before_ns;
    bool added = true;

    for (int part = 0; part < TL_NPARTS; part++)
        whole_ns += path->sum.ns[part];
    for (int part = 0; added && part < TL_NPARTS; part++)
        added = add_row(table, whole_ns,
                        (tl_path_row){ .rank = -1,
                                       .activity = (uint8_t)part,
                                       .path_ns = path->sum.ns[part],
                                       .own_ns = path->mean.ns[part],
                                       .imbalance_ns = tl_path_imbalance(path, (tl_part)part) });
    added = added &&
            add_row(table, whole_ns, (tl_path_row){ .rank = -1, .activity = TL_NPARTS, .path_ns = path->before_ns });
    for (size_t r = 0; r < nranks; r++)
        for (int part = 0; added && part < TL_NPARTS; part++)
            added = add_row(table, whole_ns,
                            (tl_path_row){ .rank = ranks[r],
                                           .activity = (uint8_t)part,
                                           .path_ns = path->by_rank[r].ns[part],
                                           .own_ns = path->own[r].ns[part] });
    return added;
}

tl_status tl_path_find(tl_whatif *whatif, const int32_t *ranks, size_t nranks, tl_table *table, tl_error *err)
{
    tl_path path = { 0 };
    tl_status st = tl_critical_path(whatif, &path, err);

    if (st == TL_OK && path.n > 0 && !(add_rows(&path, ranks, nranks, table) && tl_table_sort(table)))
        st = tl_fail_memory(err, "the critical path");
    tl_path_free(&path);
    return st;
}
