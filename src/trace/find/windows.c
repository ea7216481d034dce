/* windows.c - finds runs that are windows of one start of a job.
 *
 *     run 1   host7 4000, 4001, 4002, 4003     processes
 *     run 2   host7 4000, 4001, 4002, 4003     the same processes, later: another window of run 1
 *     run 3   host7 5100, 5101, 5102, 5103     other processes: another start
 * A profiler with schedule(repeat=2), or one that writes every tenth iteration, makes a set of files for each window.
 * A process is identified by its rank, its host if known, and its process id.
 */
#include "internal.h"

static bool are_of_one_process(const tl_input *a, const tl_input *b)
{
    const char *x = a->origin.host, *y = b->origin.host;
    return a->origin.pid > 0 && a->origin.pid == b->origin.pid && (*x == '\0' || *y == '\0' || strcmp(x, y) == 0);
}

/* Returns why run r is not a window beside the runs with these ranks (rank -> input): TL_APART_NOT if they share a
 * rank, and each shared rank is of one process. */
static tl_run_apart apart_of(const tl_inventory *inventory, int32_t r, const tl_map *ranks)
{
    const tl_run_info *run = &inventory->runs[r], *taken = &inventory->runs[inventory->run];
    tl_run_apart apart = TL_APART_NO_RANK;

    if ((run->world_size >= 0 && taken->world_size >= 0 && run->world_size != taken->world_size) ||
        (run->gpu != 0 && taken->gpu != 0 && run->gpu != taken->gpu))
        return TL_APART_OTHER_JOB;
    TL_EACH (const tl_input, t, inventory->inputs) {
        uint32_t at = t->run == r ? tl_map_get(ranks, (uint64_t)t->rank) : TL_MAP_NONE;
        const tl_input *other = at != TL_MAP_NONE ? &inventory->inputs.v[at] : t;
        if (t->run != r)
            continue;
        if (t->why[0] != '\0' || other->why[0] != '\0' || t->rank_source != other->rank_source)
            return TL_APART_NO_RANK; /* the number of one is uncertain */
        if (other == t)
            continue;
        if (t->origin.pid <= 0 || other->origin.pid <= 0)
            return TL_APART_UNKNOWN;
        if (!are_of_one_process(t, other))
            return TL_APART_OTHER_PROCESSES;
        apart = TL_APART_NOT;
    }
    return apart;
}

static void add_ranks(const tl_inventory *inventory, int32_t run, tl_map *ranks)
{
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].run == run)
            tl_map_put(ranks, (uint64_t)inventory->inputs.v[i].rank, (uint32_t)i);
}

size_t tl_inventory_join_windows(tl_inventory *inventory)
{
    tl_map ranks = { 0 };
    size_t n = 1;

    add_ranks(inventory, inventory->run, &ranks);
    for (int32_t r = 0; r < inventory->nruns && inventory->nruns > 1; r++) {
        tl_run_info *run = &inventory->runs[r];
        if (r != inventory->run)
            run->apart = apart_of(inventory, r, &ranks);
        run->joined = run->apart == TL_APART_NOT;
        if (run->joined && r != inventory->run) {
            add_ranks(inventory, r, &ranks);
            n++;
        }
    }
    tl_map_free(&ranks);
    return n;
}

void tl_inventory_leave_windows(tl_inventory *inventory, tl_run_apart apart)
{
    for (int32_t r = 0; r < inventory->nruns && inventory->runs != NULL; r++)
        if (inventory->runs[r].joined && r != inventory->run)
            inventory->runs[r].apart = apart;
    for (int32_t r = 0; r < inventory->nruns && inventory->runs != NULL; r++)
        inventory->runs[r].joined = false;
}

bool tl_inventory_takes(const tl_inventory *inventory, const tl_input *input)
{
    return input->run >= 0 &&
           (input->run == inventory->run || (inventory->runs != NULL && inventory->runs[input->run].joined));
}
