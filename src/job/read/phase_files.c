/* phase_files.c - files that are no traces, of phases, of memory, of executions: found on proc 0, known to all. */
#include "tlmpi/job/read/phase_files.h"
#include "tlmpi/par/par.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* Paths, each with a 0 after it. */
typedef struct paths {
    char *v;
    size_t n, cap;
} paths;

static void add(const char *path, paths *out)
{
    size_t n = strlen(path) + 1;
    tl_grow((void **)&out->v, &out->cap, out->n + n, 1);
    memcpy(out->v + out->n, path, n);
    out->n += n;
}

static tl_status find_named(const char *pattern, paths *out, tl_error *err)
{
    glob_t found;
    int got = glob(pattern, 0, NULL, &found);
    if (got == GLOB_NOSPACE)
        tl_mem_out(strlen(pattern));
    tl_status st = got != 0 ? tl_fail(err, TL_EINPUT, "--events %s: no such file", pattern) : TL_OK;

    for (size_t i = 0; st == TL_OK && i < found.gl_pathc; i++)
        add(found.gl_pathv[i], out);
    globfree(&found);
    return st;
}

static void find_beside(const tl_plan *plan, tl_input_kind kind, paths *out)
{
    for (size_t i = 0; i < plan->inventory.inputs.n; i++)
        if (plan->inventory.inputs.v[i].kind == kind)
            add(plan->inventory.inputs.v[i].path, out);
}

/* Collective: the paths of proc 0 to all; then they are theirs. */
static tl_status share(tl_status st, paths *found, char **v, size_t *n, tl_error *err)
{
    st = tl_par_agree(st, err);
    *v = found->v;
    *n = found->n;
    if (st != TL_OK)
        return st;
    tl_par_share((void **)v, n, 1);
    return TL_OK;
}

tl_status tl_phase_files_find(const tl_options *options, tl_plan *plan, tl_error *err)
{
    paths found = { 0 };
    tl_status st = TL_OK;

    if (tl_par_proc() == 0) {
        if (options->events != NULL) {
            st = find_named(options->events, &found, err);
        } else {
            find_beside(plan, TL_INPUT_PHASES, &found);
            st = TL_OK;
        }
    }
    return share(st, &found, &plan->phases, &plan->phases_bytes, err);
}

tl_status tl_memory_files_find(tl_plan *plan, tl_error *err)
{
    paths found = { 0 };
    if (tl_par_proc() == 0)
        find_beside(plan, TL_INPUT_MEMORY, &found);
    return share(TL_OK, &found, &plan->memory, &plan->memory_bytes, err);
}

/* The rank of an execution trace: that of its name; else of its process, where one trace alone is of that; else of the
 * trace that there is.  -1: it is not known. */
static int64_t rank_of(const tl_inventory *inventory, const tl_input *execution)
{
    const tl_input *of_process = NULL, *any = NULL;
    size_t nof_process = 0, n = 0;

    if (execution->name_rank >= 0)
        return execution->name_rank;
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *in = &inventory->inputs.v[i];
        if (in->kind != TL_INPUT_TRACE || in->run != inventory->run)
            continue;
        any = in;
        n++;
        if (in->origin.pid == 0 || in->origin.pid != execution->origin.pid)
            continue;
        of_process = in;
        nof_process++;
    }
    return nof_process == 1 ? of_process->rank : n == 1 ? any->rank : -1;
}

/* Adds the execution trace of a rank, unless --ranks leaves that rank out. */
static void add_execution(const tl_options *options, const tl_plan *plan, const tl_input *in, paths *out)
{
    int64_t rank = rank_of(&plan->inventory, in);
    if (rank >= 0 && !tl_ranges_has(&options->ranks, rank))
        return;
    size_t n = out->n;
    tl_grow((void **)&out->v, &out->cap, n + sizeof rank, 1);
    memcpy(out->v + n, &rank, sizeof rank);
    out->n += sizeof rank;
    add(in->path, out);
}

/* Proc 0: the rank of each and its path. */
static void find_executions(const tl_options *options, const tl_plan *plan, paths *out)
{
    for (size_t i = 0; i < plan->inventory.inputs.n; i++)
        if (plan->inventory.inputs.v[i].kind == TL_INPUT_EXECUTION)
            add_execution(options, plan, &plan->inventory.inputs.v[i], out);
}

/* Which trace is the rank's; of a file that is alone the number is known when it has been read. */
static size_t item_of(const tl_plan *plan, int64_t rank)
{
    for (size_t i = 0; i < plan->n; i++)
        if (plan->items[i].rank == rank || plan->items[i].alone)
            return i;
    return SIZE_MAX;
}

tl_status tl_execution_files_find(const tl_options *options, tl_plan *plan, tl_error *err)
{
    paths found = { 0 };
    size_t n = 0, cap = 0;

    if (tl_par_proc() == 0)
        find_executions(options, plan, &found);
    tl_status st = TL_OK;
    st = share(st, &found, &plan->execution_texts, &n, err);
    for (size_t at = 0; st == TL_OK && at < n;) {
        int64_t rank;
        memcpy(&rank, plan->execution_texts + at, sizeof rank);
        const char *path = plan->execution_texts + at + sizeof rank;
        size_t item = item_of(plan, rank);
        tl_grow((void **)&plan->executions, &cap, plan->nexecutions + 1, sizeof *plan->executions);
        plan->executions[plan->nexecutions++] = (tl_plan_execution){ path, rank, item };
        if (item != SIZE_MAX)
            plan->items[item].nslices = 1; /* what its rows are called by is taken of whole files only */
        at += sizeof rank + strlen(path) + 1;
    }
    return tl_par_agree(st, err);
}
