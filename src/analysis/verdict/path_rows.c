/* path_rows.c - the critical path as rows of its table. */
#include "internal.h"
#include "tlmpi/model/blame_tables.h"

typedef struct writing {
    const tl_path *path;
    tl_table *table;
    int64_t whole_ns;
} writing;

static void add(const writing *w, int32_t rank, int activity, int64_t path_ns, int64_t own_ns)
{
    const tl_path_row row = { .rank = rank,
                              .activity = (uint8_t)activity,
                              .path_ns = path_ns,
                              .share = w->whole_ns > 0 ? (double)path_ns / (double)w->whole_ns : 0,
                              .own_ns = own_ns,
                              .imbalance_ns = rank < 0 && activity < TL_ACTIVITY_DEVICE && path_ns > own_ns
                                                  ? path_ns - own_ns
                                                  : 0 };
    if (path_ns != 0 || own_ns != 0)
        tl_table_append(w->table, &row, 1);
}

static int64_t mean_own(const tl_path *path, size_t nranks, int activity)
{
    int64_t sum = 0;
    for (size_t r = 0; r < nranks; r++)
        sum += path->own[r].ns[activity] / (int64_t)nranks;
    return sum;
}

void tl_path_rows(const tl_path *path, const int32_t *ranks, size_t nranks, tl_table *table)
{
    writing w = { .path = path, .table = table, .whole_ns = path->before_ns };

    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        w.whole_ns += path->sum.ns[activity];
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        add(&w, -1, activity, path->sum.ns[activity], mean_own(path, nranks, activity));
    add(&w, -1, TL_NACTIVITIES, path->before_ns, 0);
    for (size_t r = 0; r < nranks; r++)
        for (int activity = 0; activity < TL_NACTIVITIES; activity++)
            add(&w, ranks[r], activity, path->by_rank[r].ns[activity], path->own[r].ns[activity]);
    tl_table_sort(table);
}
