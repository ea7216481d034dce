/* begin.c - the beginning of a run: its rules, the plan of what is read, and the file that will hold the result. */
#include "stages.h"
#include "tlmpi/job/run.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/part_file.h"
#include <string.h>

/* Returns the length of the text without the first of the endings that it has. */
static size_t length_without(const char *text, size_t n, const char *const *endings)
{
    for (; *endings != NULL; endings++) {
        size_t m = strlen(*endings);
        if (n > m && memcmp(text + n - m, *endings, m) == 0)
            return n - m;
    }
    return n;
}

/* Returns the path of the result file: PREFIX.h5.  Without -o PREFIX is the last component of the input path, less
 * .json, .json.gz and .pt.trace; "tlmpi" if there are several input paths or the component is no name (".", "..", "/").
 * The caller frees. */
char *tl_output_path(const tl_options *options)
{
    static const char *const written[] = { ".h5", NULL }, *const packed[] = { ".gz", ".zst", NULL },
                             *const json[] = { ".json", ".jsonl", NULL }, *const pt[] = { ".pt.trace", NULL };
    const char *prefix = options->output;
    size_t n;

    if (prefix != NULL) {
        n = length_without(prefix, strlen(prefix), written);
    } else {
        const char *path = options->npaths == 1 && tl_path_is_given(options->paths[0]) ? options->paths[0] : "";
        n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
            n--;
        size_t from = n;
        while (from > 0 && path[from - 1] != '/')
            from--;
        prefix = path + from;
        n = length_without(prefix, length_without(prefix, length_without(prefix, n - from, packed), json), pt);
        if (n == 0 || (prefix[0] == '.' && (n == 1 || (n == 2 && prefix[1] == '.')))) {
            prefix = "tlmpi";
            n = 5;
        }
    }
    char *path = tl_malloc(n + 4);
    memcpy(path, prefix, n);
    memcpy(path + n, ".h5", 4);
    return path;
}

/* TL_EUSAGE: -o is given and names no file: it is "-", or ends in '/', ".", ".." or nothing. */
static tl_status check_output(const tl_options *options, tl_error *err)
{
    const char *output = options->output;
    if (output == NULL)
        return TL_OK;
    if (strcmp(output, "-") == 0)
        return tl_fail(err, TL_EUSAGE,
                       "-o -: the result is an HDF5 file, which cannot go to standard output; write it with "
                       "-o PREFIX, then print its tables with tlmpi show");
    const char *slash = strrchr(output, '/'), *name = slash != NULL ? slash + 1 : output;
    if (name[0] == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return tl_fail(err, TL_EUSAGE, "-o %s: expected PREFIX, the result's path less .h5", output);
    return TL_OK;
}

tl_status tl_job_prepare(tl_job *j, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_init(&j->tables, schemas, n);
    tl_status st = check_output(j->options, err);
    if (st == TL_OK && j->options->rules != NULL)
        st = tl_rules_read(j->options->rules, &j->rules, err);
    j->rules.step_name = j->options->step_name;
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_plan_make(j->options, &j->plan, err);
    if (st == TL_OK)
        tl_pack_holes(j->plan.holes, j->plan.nholes);
    if (st == TL_OK && j->plan.n == 0 && !tl_plan_has(&j->plan, TL_INPUT_PHASES) &&
        !tl_plan_has(&j->plan, TL_INPUT_MEMORY)) {
        if (tl_is_first())
            tl_tell_problems(&j->plan, &j->tables);
        st = tl_fail(err, TL_EINPUT,
                     "%s%s: no traces, phases nor memory timelines found (tlmpi describe formats says what is read)",
                     j->options->paths[0], j->options->npaths > 1 ? " ..." : "");
    }
    return st;
}

/* Fails if the output would replace one of the traces or the file of rules. */
static tl_status check_inputs_kept(const tl_job *j, tl_error *err)
{
    const tl_inventory *inventory = &j->plan.inventory;
    TL_EACH (const tl_input, in, inventory->inputs)
        if (tl_would_replace(j->output, in->device, in->inode))
            return tl_fail(err, TL_EUSAGE, "%s would be written over, and is read as %s: choose another name with -o",
                           j->output, in->path);
    return j->options->rules != NULL ? tl_check_input_kept(j->output, j->options->rules, err) : TL_OK;
}

tl_status tl_job_open_output(tl_job *j, tl_error *err)
{
    tl_status st = TL_OK;
    tl_chunk_same_bytes(j->options->reproducible);
    if (tl_is_first()) {
        j->output = tl_output_path(j->options);
        st = check_inputs_kept(j, err);
        if (st == TL_OK)
            st = tl_store_create(j->output, j->options->force, &j->store, err);
        for (size_t i = 0; st == TL_OK && i < j->tables.n; i++)
            st = tl_store_add_table(j->store, j->tables.v[i].schema, err);
    }
    return tl_par_agree(st, err);
}
