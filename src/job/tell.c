/* tell.c - what proc 0 prints at the end of a run, and the exit status that the input calls for. */
#include "tell.h"
#include "tlmpi/analysis/measured.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/summary.h"
#include "tlmpi/trace/find.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Returns the rows of a table, and their number. */
static const void *rows_of(tl_tables *job, const tl_schema *schema, size_t *n)
{
    const tl_table *table = tl_tables_get(job, schema);
    *n = table->n;
    return table->rows;
}

int tl_exit_of_input(const tl_plan *plan, tl_tables *job)
{
    size_t nranks, nphases, nmemory, nexecutions, unreadable = 0, damaged = tl_plan_lost(plan);
    const tl_rank *ranks = rows_of(job, &tl_rank_schema, &nranks);
    const tl_phase_file *phases = rows_of(job, &tl_phase_file_schema, &nphases);
    const tl_memory_file *memory = rows_of(job, &tl_memory_file_schema, &nmemory);
    const tl_execution_trace *executions = rows_of(job, &tl_execution_trace_schema, &nexecutions);
    int64_t records = 0;

    for (int32_t run = 0; run < plan->inventory.nruns && plan->inventory.runs != NULL; run++)
        damaged += plan->inventory.runs[run].lost;
    for (size_t i = 0; i < nranks; i++) {
        unreadable += ranks[i].status == TL_RANK_UNREADABLE;
        damaged += ranks[i].status == TL_RANK_DAMAGED || ranks[i].status == TL_RANK_CUT || ranks[i].dropped > 0 ||
                   ranks[i].duplicates > 0;
    }
    for (size_t i = 0; i < nphases; i++) {
        records += phases[i].records;
        damaged += phases[i].status != TL_PHASE_FILE_OK || phases[i].replaced + phases[i].left_out > 0;
    }
    for (size_t i = 0; i < nmemory; i++) {
        records += memory[i].entries;
        damaged += memory[i].status != TL_MEMORY_FILE_OK;
    }
    for (size_t i = 0; i < nexecutions; i++)
        damaged += executions[i].status != TL_PHASE_FILE_OK;
    return unreadable == nranks && records == 0 ? TL_EXIT_NOTHING
           : unreadable + damaged > 0           ? TL_EXIT_PARTIAL
                                                : TL_EXIT_DONE;
}

const char *tl_inputs_word(tl_tables *job)
{
    bool traces = tl_tables_get(job, &tl_rank_schema)->n > 0;
    return !traces && tl_tables_get(job, &tl_phase_file_schema)->n > 0    ? "files of phases"
           : !traces && tl_tables_get(job, &tl_memory_file_schema)->n > 0 ? "memory timelines"
                                                                          : "traces";
}

/* Records that other files have again. */
static void tell_replaced(const tl_phase_file *files, size_t n)
{
    const tl_phase_file *first = NULL;
    int64_t replaced = 0;
    size_t more = 0;
    char others[48] = "";

    for (size_t i = 0; i < n; i++) {
        if (files[i].replaced == 0)
            continue;
        more += first != NULL;
        first = first != NULL ? first : &files[i];
        replaced += files[i].replaced;
    }
    if (first == NULL)
        return;
    if (more > 0)
        snprintf(others, sizeof others, " and of %zu other file%s", more, more == 1 ? "" : "s");
    const tl_phase_file *by = &files[first->replaced_by];
    tl_warn("%" PRId64 " record%s of %.*s%s %s there again in %.*s%s, with other durations: the later file's count; is "
            "that another run?",
            replaced, replaced == 1 ? "" : "s", (int)sizeof first->path, first->path, others,
            replaced == 1 ? "is" : "are", (int)sizeof by->path, by->path, more > 0 ? " and others" : "");
}

/* A file whose name tells another rank than all of its lines. */
static void tell_other_rank(const tl_phase_file *f)
{
    char path[sizeof f->path + 1] = "";
    memcpy(path, f->path, sizeof f->path);
    int64_t named = tl_rank_of_name(path);
    if (named >= 0 && f->rank >= 0 && f->rank != named)
        tl_warn("%s: its name tells rank %" PRId64 ", its lines tell rank %d, which counts", path, named, (int)f->rank);
}

static void tell_phase_files(tl_tables *job)
{
    size_t n;
    const tl_phase_file *files = rows_of(job, &tl_phase_file_schema, &n);
    for (size_t i = 0; i < n; i++) {
        const tl_phase_file *f = &files[i];
        int64_t lost = f->no_json + f->no_key + f->no_duration, again = f->superseded - f->replaced;
        if (f->status != TL_PHASE_FILE_OK)
            tl_warn("%.*s: %s, %" PRId64 " of %" PRId64 " line%s lost: %.*s", (int)sizeof f->path, f->path,
                    tl_phase_file_labels[f->status], lost, f->lines, f->lines == 1 ? "" : "s", (int)sizeof f->error,
                    f->error);
        tell_other_rank(f);
        if (again > 0 || (f->repeated > 0 && f->repeated < f->records)) /* of a copy of a file nothing is lost */
            tl_warn("%.*s: %" PRId64 " record%s stand%s there more than once, and count once; %" PRId64
                    " are of steps that were run again, of which the last counts",
                    (int)sizeof f->path, f->path, f->repeated, f->repeated == 1 ? "" : "s", f->repeated == 1 ? "s" : "",
                    again);
    }
    tell_replaced(files, n);
}

static void tell_other_files(tl_tables *job)
{
    size_t nmemory, nexecutions;
    const tl_memory_file *m = rows_of(job, &tl_memory_file_schema, &nmemory);
    const tl_execution_trace *e = rows_of(job, &tl_execution_trace_schema, &nexecutions);
    for (; nmemory > 0; nmemory--, m++) {
        char words[TL_MEMORY_FILE_WORDS];
        if (m->status != TL_MEMORY_FILE_OK)
            tl_warn("%.*s: %s", (int)sizeof m->path, m->path, tl_memory_file_words(m, words));
    }
    for (; nexecutions > 0; nexecutions--, e++)
        if (e->status != TL_PHASE_FILE_OK)
            tl_warn("%.*s: %s: %.*s", (int)sizeof e->path, e->path, tl_phase_file_labels[e->status],
                    (int)sizeof e->error, e->error[0] != '\0' ? e->error : "no node has an id and an rf_id");
}

void tl_tell_problems(const tl_plan *plan, tl_tables *job)
{
    size_t n;
    const tl_rank *r = rows_of(job, &tl_rank_schema, &n);

    tl_plan_warn(plan);
    (void)tl_tell_lost(&plan->inventory);
    for (; n > 0; n--, r++) {
        char counts[96] = "";
        if (r->duplicates > 0)
            tl_warn("rank %d: left out: %d other trace%s of the same time that %s the same; --run list lists the runs",
                    (int)r->rank, (int)r->duplicates, r->duplicates == 1 ? "" : "s",
                    r->duplicates == 1 ? "says" : "say");
        if (r->error[0] == 0)
            continue;
        if (r->dropped > 0 || r->repaired > 0)
            snprintf(counts, sizeof counts, " (%" PRId64 " entr%s lost, %" PRId64 " repaired)", r->dropped,
                     r->dropped == 1 ? "y" : "ies", r->repaired);
        /* A full cell has no 0 after it. */
        tl_warn("rank %d: %.*s: %.*s%s", (int)r->rank, (int)sizeof r->file, r->file, (int)sizeof r->error, r->error,
                counts);
    }
    tell_phase_files(job);
    tell_other_files(job);
}

/* Lists what was left out: files, then runs, a text each. */
static size_t list_lost(const tl_plan *plan, char (*lost)[TL_LOST_BYTES], const char **texts)
{
    const tl_inventory *inventory = &plan->inventory;
    size_t n = 0;
    for (size_t i = 0; i < inventory->inputs.n; i++)
        if (!plan->planned[i] && tl_input_is_lost(&inventory->inputs.v[i]))
            tl_input_words(&inventory->inputs.v[i], lost[n++]);
    for (int32_t run = 0; inventory->runs != NULL && run < inventory->nruns; run++)
        if (inventory->runs[run].lost)
            tl_say_lost(inventory, run, lost[n++], sizeof *lost);
    for (size_t i = 0; i < n; i++)
        texts[i] = lost[i];
    return n;
}

void tl_tell_summary(const tl_plan *plan, tl_tables *job, const tl_answers *answers, const tl_options *options,
                     const char *output, double seconds)
{
    const tl_inventory *inventory = &plan->inventory;
    size_t most = inventory->inputs.n + (size_t)inventory->nruns;
    tl_arena arena = { 0 };
    const char **skipped = tl_arena_take(&arena, most, sizeof *skipped);
    char(*lost)[TL_LOST_BYTES] = tl_arena_zeroed(&arena, most, sizeof *lost);
    struct stat st;
    tl_summary s = {
        .version = TLMPI_VERSION,
        .names = job->names,
        .noise_ns = options->config.idle.noise_ns,
        .answers = answers,
        .world_size = inventory->world_size,
        .missing = inventory->missing.v,
        .nmissing_listed = inventory->missing.n,
        .nmissing = inventory->nmissing,
        .skipped = skipped,
        .nskipped = list_lost(plan, lost, skipped),
        .run = inventory->run + 1,
        .nruns = inventory->nruns,
        .run_asked = options->run > 0,
        .nprocs = tl_par_nprocs(),
        .seconds = seconds,
        .output = output,
        .output_bytes = stat(output, &st) == 0 ? (int64_t)st.st_size : 0,
    };

    s.ranks = rows_of(job, &tl_rank_schema, &s.nranks);
    s.breakdown = rows_of(job, &tl_breakdown_schema, &s.nbreakdown);
    s.steps = rows_of(job, &tl_step_schema, &s.nsteps);
    s.kernels = rows_of(job, &tl_kernel_ranks_schema, &s.nkernels);
    s.idle = rows_of(job, &tl_idle_schema, &s.nidle);
    s.classes = rows_of(job, &tl_idle_summary_schema, &s.nclasses);
    s.stragglers = rows_of(job, &tl_straggler_schema, &s.nstragglers);
    s.phases = rows_of(job, &tl_phase_schema, &s.nphases);
    s.phase_files = rows_of(job, &tl_phase_file_schema, &s.nphase_files);
    s.memory = rows_of(job, &tl_memory_category_schema, &s.nmemory);
    s.memory_files = rows_of(job, &tl_memory_file_schema, &s.nmemory_files);
    s.executions = rows_of(job, &tl_execution_trace_schema, &s.nexecutions);
    tl_print_summary(stdout, &s);
    tl_arena_free(&arena);
}

/* Some columns of a table, unless it is empty. */
static void print_columns(const tl_table *table, const char *const *names, size_t n)
{
    uint32_t columns[16];
    tl_printer printer = { .out = stdout, .schema = table->schema, .format = TL_FORMAT_TABLE, .columns = columns };

    for (size_t i = 0; i < n; i++)
        columns[printer.ncolumns++] = (uint32_t)(tl_schema_field(table->schema, names[i]) - table->schema->fields);
    if (table->n > 0 && tl_print_begin(&printer))
        tl_print_rows(&printer, table->rows, table->n);
    tl_print_end(&printer);
}

void tl_tell_inventory(const tl_plan *plan, tl_tables *job)
{
    static const char *const of_ranks[] = { "rank",     "status", "events",     "kept", "dropped",
                                            "repaired", "gzip",   "file_bytes", "file" };
    static const char *const of_phases[] = { "rank",       "status",   "lines",       "records",
                                             "no_json",    "no_key",   "no_duration", "repeated",
                                             "superseded", "left_out", "file_bytes",  "path" };
    static const char *const of_memory[] = { "rank", "status", "entries", "path" };
    static const char *const of_executions[] = { "rank", "status", "nodes", "without_id", "path" };
    const tl_inventory *inventory = &plan->inventory;

    print_columns(tl_tables_get(job, &tl_rank_schema), of_ranks, sizeof of_ranks / sizeof *of_ranks);
    print_columns(tl_tables_get(job, &tl_phase_file_schema), of_phases, sizeof of_phases / sizeof *of_phases);
    print_columns(tl_tables_get(job, &tl_memory_file_schema), of_memory, sizeof of_memory / sizeof *of_memory);
    print_columns(tl_tables_get(job, &tl_execution_trace_schema), of_executions,
                  sizeof of_executions / sizeof *of_executions);
    if (inventory->nmissing > 0)
        printf("%zu of %" PRId64 " ranks %s no trace here\n", inventory->nmissing, inventory->world_size,
               inventory->nmissing == 1 ? "has" : "have");
    if (inventory->nruns > 1)
        printf("run %d of %d; --run N chooses another, --run list lists them\n", inventory->run + 1, inventory->nruns);
}

/* --------------------------------------------------------------------------------------------------------- digests */

tl_status tl_print_digests(FILE *out, tl_result *result, tl_error *err)
{
    uint64_t hash;
    tl_status st = TL_OK;

    for (size_t i = 0; st == TL_OK && i < tl_result_ntables(result); i++) {
        const tl_schema *table = tl_result_table(result, i);
        st = tl_result_digest(result, table, &hash, err);
        if (st == TL_OK)
            fprintf(out, "%s %016" PRIx64 "\n", table->name, hash);
    }
    if (st == TL_OK) {
        tl_result_digest_names(result, &hash, err);
        fprintf(out, "names %016" PRIx64 "\n", hash);
    }
    return st;
}

tl_status tl_tell_digest(const char *path, tl_error *err)
{
    tl_result *result;
    tl_status st = tl_result_open(path, &result, err);
    if (st != TL_OK)
        return st;
    st = tl_print_digests(stdout, result, err);
    tl_result_close(result);
    return st;
}
