/* phase_files.c - files that are no traces, of phases and of memory: found on proc 0, known to all. */
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

static bool add(const char *path, paths *out)
{
    size_t n = strlen(path) + 1;
    if (!tl_grow((void **)&out->v, &out->cap, out->n + n, 1))
        return false;
    memcpy(out->v + out->n, path, n);
    out->n += n;
    return true;
}

static tl_status find_named(const char *pattern, paths *out, tl_error *err)
{
    glob_t found;
    int got = glob(pattern, 0, NULL, &found);
    bool ok = got != GLOB_NOSPACE;
    tl_status st = ok && got != 0 ? tl_fail(err, TL_EINPUT, "--events %s: no such file", pattern) : TL_OK;

    for (size_t i = 0; st == TL_OK && ok && i < found.gl_pathc; i++)
        ok = add(found.gl_pathv[i], out);
    globfree(&found);
    return ok ? st : tl_fail_memory(err, "the files of phases");
}

static tl_status find_beside(const tl_plan *plan, tl_input_kind kind, paths *out, tl_error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < plan->inventory.inputs.n; i++)
        if (plan->inventory.inputs.v[i].kind == kind)
            ok = add(plan->inventory.inputs.v[i].path, out);
    return ok ? TL_OK : tl_fail_memory(err, "the list of files");
}

/* Collective: the paths of proc 0 to all; then they are theirs. */
static tl_status share(tl_status st, paths *found, char **v, size_t *n, tl_error *err)
{
    st = tl_par_agree(st, err);
    *v = found->v;
    *n = found->n;
    return st == TL_OK ? tl_par_share((void **)v, n, 1, err) : st;
}

tl_status tl_phase_files_find(const tl_options *options, tl_plan *plan, tl_error *err)
{
    paths found = { 0 };
    tl_status st = TL_OK;

    if (tl_par_proc() == 0)
        st = options->events != NULL ? find_named(options->events, &found, err)
                                     : find_beside(plan, TL_INPUT_PHASES, &found, err);
    return share(st, &found, &plan->phases, &plan->phases_bytes, err);
}

tl_status tl_memory_files_find(tl_plan *plan, tl_error *err)
{
    paths found = { 0 };
    tl_status st = tl_par_proc() == 0 ? find_beside(plan, TL_INPUT_MEMORY, &found, err) : TL_OK;
    return share(st, &found, &plan->memory, &plan->memory_bytes, err);
}
