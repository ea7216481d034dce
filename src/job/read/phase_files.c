/* phase_files.c - the files of phases: found on proc 0, known to all. */
#include "tlmpi/job/read/phase_files.h"
#include "tlmpi/par/par.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

static bool add(const char *path, tl_plan *plan, size_t *cap)
{
    size_t n = strlen(path) + 1;
    if (!tl_grow((void **)&plan->phases, cap, plan->phases_bytes + n, 1))
        return false;
    memcpy(plan->phases + plan->phases_bytes, path, n);
    plan->phases_bytes += n;
    return true;
}

static tl_status find_named(const char *pattern, tl_plan *plan, tl_error *err)
{
    glob_t found;
    size_t cap = 0;
    int got = glob(pattern, 0, NULL, &found);
    bool ok = got != GLOB_NOSPACE;
    tl_status st = ok && got != 0 ? tl_fail(err, TL_EINPUT, "--events %s: no such file", pattern) : TL_OK;

    for (size_t i = 0; st == TL_OK && ok && i < found.gl_pathc; i++)
        ok = add(found.gl_pathv[i], plan, &cap);
    globfree(&found);
    return ok ? st : tl_fail_memory(err, "the files of phases");
}

static tl_status find_beside(tl_plan *plan, tl_error *err)
{
    bool ok = true;
    size_t cap = 0;
    for (size_t i = 0; ok && i < plan->inventory.inputs.n; i++)
        if (plan->inventory.inputs.v[i].kind == TL_INPUT_PHASES)
            ok = add(plan->inventory.inputs.v[i].path, plan, &cap);
    return ok ? TL_OK : tl_fail_memory(err, "the files of phases");
}

tl_status tl_phase_files_find(const tl_options *options, tl_plan *plan, tl_error *err)
{
    tl_status st = TL_OK;

    if (tl_par_proc() == 0)
        st = options->events != NULL ? find_named(options->events, plan, err) : find_beside(plan, err);
    st = tl_par_agree(st, err);
    return st == TL_OK ? tl_par_share((void **)&plan->phases, &plan->phases_bytes, 1, err) : st;
}
