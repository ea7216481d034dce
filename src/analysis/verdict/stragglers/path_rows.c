/* path_rows.c - the critical paths of the job and of each rank as rows of their tables. */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/path_tables.h"

static void add_row(tl_table *table, int32_t rank, int activity, int64_t path_ns, int64_t imbalance_ns)
{
    const tl_path_row row = { .rank = rank,
                              .activity = (uint8_t)activity,
                              .path_ns = path_ns,
                              .imbalance_ns = tl_ns_max(imbalance_ns, 0) };
    if (path_ns != 0)
        tl_table_append(table, &row, 1);
}

static int64_t mean_own(const tl_path *path, size_t nranks, int activity)
{
    int64_t sum = 0;
    for (size_t r = 0; r < nranks; r++)
        sum += path->own[r].ns[activity] / (int64_t)nranks;
    return sum;
}

/* ------------------------------------------------------------------------------------------------ of each rank */

static void add_sum(int32_t rank, const tl_path_step *step, int32_t peer, tl_table *table)
{
    const int64_t *ns = step->sum.ns;
    tl_path_sum row = { .rank = rank,
                        .step = step->step,
                        .cpu_ns = ns[TL_BOUND_CPU],
                        .launch_ns = ns[TL_BOUND_LAUNCH],
                        .kernel_kernel_ns = ns[TL_BOUND_KERNEL_KERNEL],
                        .compute_ns = ns[TL_BOUND_COMPUTE],
                        .comm_ns = ns[TL_BOUND_COMM],
                        .copy_ns = ns[TL_BOUND_COPY],
                        .input_ns = ns[TL_BOUND_INPUT],
                        .sync_ns = ns[TL_BOUND_SYNC],
                        .peer_ns = ns[TL_BOUND_PEER],
                        .unexplained_ns = ns[TL_BOUND_UNEXPLAINED],
                        .peer = peer };
    for (int bound = 0; bound < TL_NBOUNDS; bound++) {
        row.wall_ns = tl_ns_add(row.wall_ns, ns[bound]);
        row.bound_by = ns[bound] > ns[row.bound_by] ? (uint8_t)bound : row.bound_by;
    }
    tl_table_append(table, &row, 1);
}

static void add_sums(const tl_path *path, const int32_t *ranks, size_t nranks, tl_table *table)
{
    tl_path_step whole = { .step = -1 };
    bool any = false;
    for (size_t r = 0; r < nranks; r++)
        for (size_t s = 0; s < path->ranks[r].nsteps; s++) {
            const tl_path_step *step = &path->ranks[r].steps[s];
            any = true;
            add_sum(ranks[r], step, step->peer >= 0 ? ranks[step->peer] : -1, table);
            for (int bound = 0; s == 0 && bound < TL_NBOUNDS; bound++)
                whole.sum.ns[bound] = tl_ns_add(whole.sum.ns[bound], step->sum.ns[bound]);
        }
    if (any)
        add_sum(-1, &whole, -1, table);
    tl_table_sort(table);
}

/* Returns the row of a name in /names. */
static uint32_t row_of_name(const tl_tables *tables, uint64_t key)
{
    uint32_t id = key != 0 && tables->names != NULL ? tl_map_get(&tables->names->map, key) : TL_MAP_NONE;
    return id != TL_MAP_NONE ? id : TL_NO_NAME;
}

static void add_piece(tl_table *table, tl_rank_path_row row, tl_bound what, int64_t start_ns, int64_t end_ns)
{
    row.what = (uint8_t)what;
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.duration_ns = end_ns - start_ns;
    if (end_ns > start_ns)
        tl_table_append(table, &row, 1);
}

/* Adds a row of table `path` for each piece of a path.  rank: the path's rank; -1: the path is the job's.
 * ranks: rank numbers by index. */
static void add_path_rows(const tl_rank_path *path, int32_t rank, const int32_t *ranks, tl_tables *tables)
{
    tl_table *table = tl_tables_get(tables, &tl_rank_path_row_schema);
    size_t first = table->n;
    for (size_t i = path->npieces; i-- > 0;) {
        const tl_path_piece *piece = &path->pieces[i];
        tl_rank_path_row row = { .rank = rank,
                                 .number = (int64_t)(table->n - first),
                                 .step = piece->step,
                                 .name = row_of_name(tables, path->names[i].name),
                                 .operator= row_of_name(tables, path->names[i].operator),
                                 .annotation = row_of_name(tables, path->names[i].annotation),
                                 .device = path->names[i].device,
                                 .stream = path->names[i].stream,
                                 .peer = piece->peer >= 0 ? ranks[piece->peer] : -1 };
        int64_t met_ns = piece->port != TL_NONE ? piece->met_ns : piece->start_ns;
        add_piece(table, row, TL_BOUND_PEER, piece->start_ns, met_ns);
        row.number = (int64_t)(table->n - first);
        row.peer = piece->port != TL_NONE ? -1 : row.peer;
        add_piece(table, row, (tl_bound)piece->bound, met_ns, piece->end_ns);
    }
}

/* --------------------------------------------------------------------------------------------------------- of all */

void tl_path_rows(const tl_path *path, const int32_t *ranks, size_t nranks, tl_tables *tables)
{
    tl_table *table = tl_tables_get(tables, &tl_path_row_schema);

    for (int activity = 0; activity < TL_NACTIVITIES; activity++) {
        int64_t ns = path->sum.ns[activity];
        add_row(table, -1, activity, ns, activity < TL_ACTIVITY_DEVICE ? ns - mean_own(path, nranks, activity) : 0);
    }
    add_row(table, -1, TL_NACTIVITIES, path->before_ns, 0);
    for (size_t r = 0; r < nranks; r++)
        for (int activity = 0; activity < TL_NACTIVITIES; activity++)
            add_row(table, ranks[r], activity, path->by_rank[r].ns[activity], 0);
    tl_table_sort(table);
    add_sums(path, ranks, nranks, tl_tables_get(tables, &tl_path_sum_schema));
    add_path_rows(&path->job, -1, ranks, tables);
    for (size_t r = 0; r < nranks; r++)
        add_path_rows(&path->ranks[r], ranks[r], ranks, tables);
}
