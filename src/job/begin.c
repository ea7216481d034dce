/* begin.c - the beginning of a run: its rules, the plan of what is read, and the file that will hold the result. */
#include "stages.h"
#include "tell.h"
#include "write.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/part_file.h"

tl_status tl_job_prepare(tl_job *j, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_init(&j->tables, schemas, n);
    tl_status st = tl_output_check(j->options, err);
    if (st == TL_OK && j->options->rules != NULL)
        st = tl_rules_read(j->options->rules, &j->rules, err);
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = tl_plan_make(j->options, &j->plan, err);
    if (st == TL_OK && j->plan.n == 0 && !tl_plan_has(&j->plan, TL_INPUT_PHASES) && !tl_plan_has(&j->plan, TL_INPUT_MEMORY)) {
        if (tl_is_first())
            tl_tell_problems(&j->plan, &j->tables);
        st = tl_fail(err, TL_EINPUT, "%s%s: no traces found (.json, .json.gz, .json.zst), phases (.jsonl) nor memory timelines (.raw.json.gz)",
                     j->options->paths[0], j->options->npaths > 1 ? " ..." : "");
    }
    return st;
}

/* No trace is written over, nor are the rules. */
static tl_status check_inputs_kept(const tl_job *j, tl_error *err)
{
    const tl_inventory *inventory = &j->plan.inventory;
    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *in = &inventory->inputs.v[i];
        if (tl_would_replace(j->output, in->device, in->inode))
            return tl_fail(err, TL_EUSAGE, "%s would be written over, and is read as %s: choose another name with -o",
                           j->output, in->path);
    }
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
        if (st == TL_OK)
            st = tl_write_begin(j->store, err);
    }
    return tl_par_agree(st, err);
}
