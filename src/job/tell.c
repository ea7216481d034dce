/* tell.c - what proc 0 prints: the runs in a folder, the summary at the end of a run, the results of tlmpi whatif; and
 * the exit status that the input calls for. */
#include "stages.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/report/summary.h"
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* ------------------------------------------------------------------------------------------------------------- runs */

#define HOUR_NS INT64_C(3600000000000)

/* The most lost runs that are named in warnings of their own; one warning counts the rest. */
#define NAMED 5

void tl_tell_runs(const tl_inventory *inventory)
{
    printf("run  ranks  of world  begins (UTC)         host              first file\n");
    for (int32_t run = 0; run < inventory->nruns; run++) {
        const tl_run_info *r = &inventory->runs[run];
        if (r->ntraces == 0)
            continue;
        const tl_input *first = &inventory->inputs.v[r->first];
        char when[32] = "unknown", world[24] = "-", path[1024];
        struct tm utc;
        time_t begin = (time_t)(r->begin_ns / 1000000000);
        if (r->timed && gmtime_r(&begin, &utc) != NULL)
            strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &utc);
        if (r->world_size >= 0)
            snprintf(world, sizeof world, "%" PRId64, r->world_size);
        bool told = first->origin.host[0] != 0;
        tl_text by_name = tl_host_of_name(first->path, first->origin.pid);
        tl_text host = told ? (tl_text){ first->origin.host, strlen(first->origin.host) } : by_name;
        tl_printable(path, sizeof path, first->path);
        printf("%3d  %5zu  %8s  %-19s  %-16.*s  %s%s\n", run + 1, r->ntraces, world, when, host.n > 0 ? (int)host.n : 1,
               host.n > 0 ? host.p : "-", path, run == inventory->run || r->joined ? "  <- taken by default" : "");
    }
}

/* Returns why the other runs are not windows of the chosen one, as the end of a clause; empty: unknown. */
static const char *apart_words(const tl_inventory *inventory)
{
    static const char *const words[] = {
        [TL_APART_NOT] = "",
        [TL_APART_OTHER_JOB] = " alone: the others are of another job",
        [TL_APART_OTHER_PROCESSES] = " alone: the others are of other processes, thus of another start",
        [TL_APART_UNKNOWN] = " alone: the traces do not tell their processes, so the others may be of another start",
        [TL_APART_ANEW] = " alone: the others count steps and correlation ids anew, thus are of another start",
        [TL_APART_TIMES] = " alone: the others overlap it in time",
        [TL_APART_STEPS] = " alone: the numbers of its steps are too large to tell those of the others from",
        [TL_APART_NO_RANK] = "",
    };
    tl_run_apart all = TL_APART_NOT;
    for (int32_t r = 0; r < inventory->nruns && inventory->runs != NULL; r++) {
        tl_run_apart apart = inventory->runs[r].apart;
        if (r == inventory->run)
            continue;
        if (all != TL_APART_NOT && all != apart)
            return "";
        all = apart;
    }
    return words[all];
}

/* Writes to `out` in words how a run differs from the run that is analysed. */
static void difference_in_words(const tl_inventory *inventory, int32_t run, char *out, size_t size)
{
    const tl_run_info *r = &inventory->runs[run], *taken = &inventory->runs[inventory->run];
    int64_t later_ns = r->timed && taken->timed ? tl_ns_between(r->begin_ns, taken->begin_ns) : 0;
    double hours = (double)(later_ns < 0 ? -later_ns : later_ns) / (double)HOUR_NS;

    if (r->world_size >= 0 && taken->world_size >= 0 && r->world_size != taken->world_size)
        snprintf(out, size, "of a job of %" PRId64 " ranks, not %" PRId64, r->world_size, taken->world_size);
    else if (r->gpu != 0 && taken->gpu != 0 && r->gpu != taken->gpu)
        snprintf(out, size, "its devices are of another kind");
    else if (hours >= 1)
        snprintf(out, size, "it begins %.0f %s %s", hours < 72 ? hours : hours / 24, hours < 72 ? "h" : "days",
                 later_ns < 0 ? "earlier" : "later");
    else
        snprintf(out, size, "%s", r->job != taken->job ? "of another job" : "of another run");
}

/* Warns of the traces of a run that were left out, and why. */
static void warn_lost(const tl_inventory *inventory, int32_t run)
{
    const tl_run_info *r = &inventory->runs[run];
    const tl_input *first = &inventory->inputs.v[r->first];
    const char *path = first->path;
    size_t length = strlen(path), shown = 100;
    char why[sizeof first->why], count[32] = "";

    snprintf(why, sizeof why, "%s", first->why);
    if (why[0] == 0)
        difference_in_words(inventory, run, why, sizeof why);
    if (r->ntraces > 1)
        snprintf(count, sizeof count, " and %zu more", r->ntraces - 1);
    tl_warn("left out: %s%s%s: %s; --run %d takes %s", length > shown ? "..." : "",
            path + (length > shown ? length - shown : 0), count, why, run + 1, r->ntraces > 1 ? "them" : "it");
}

size_t tl_tell_lost(const tl_inventory *inventory)
{
    size_t n = 0;
    for (int32_t run = 0; run < inventory->nruns && inventory->runs != NULL; run++)
        if (inventory->runs[run].lost && ++n <= NAMED)
            warn_lost(inventory, run);
    if (n > NAMED)
        tl_warn("left out: %zu runs more; --run list lists them", n - NAMED);
    return n;
}

/* -------------------------------------------------------------------------------------------------- the input */

int tl_exit_of_input(const tl_plan *plan, tl_tables *job)
{
    const tl_table *ranks = tl_tables_get(job, &tl_rank_schema);
    size_t unreadable = 0, damaged = tl_plan_lost(plan);
    int64_t records = 0;

    for (int32_t run = 0; run < plan->inventory.nruns && plan->inventory.runs != NULL; run++)
        damaged += plan->inventory.runs[run].lost;
    TL_ROWS (const tl_rank, r, ranks) {
        unreadable += r->status == TL_RANK_UNREADABLE;
        damaged += r->status == TL_RANK_DAMAGED || r->status == TL_RANK_CUT || r->dropped > 0 || r->duplicates > 0;
    }
    TL_ROWS (const tl_side_file, f, tl_tables_get(job, &tl_side_file_schema)) {
        records += f->kind != TL_SIDE_EXECUTION ? f->entries : 0;
        damaged += f->status != TL_SIDE_OK || f->replaced + f->left_out > 0;
    }
    return unreadable == ranks->n && records == 0 ? TL_EXIT_NOTHING
           : unreadable + damaged > 0             ? TL_EXIT_PARTIAL
                                                  : TL_EXIT_DONE;
}

tl_status tl_fail_unreadable(tl_tables *job, tl_error *err)
{
    const tl_table *ranks = tl_tables_get(job, &tl_rank_schema), *sides = tl_tables_get(job, &tl_side_file_schema);
    const tl_rank *rank = ranks->n > 0 ? tl_table_row(ranks, 0) : NULL;
    const tl_side_file *side = rank == NULL && sides->n > 0 ? tl_table_row(sides, 0) : NULL;
    const char *word = side == NULL                   ? "traces"
                       : side->kind == TL_SIDE_PHASES ? "files of phases"
                                                      : "memory timelines",
               *path = rank != NULL   ? rank->file
                       : side != NULL ? side->path
                                      : "",
               *cause = rank != NULL   ? rank->error
                        : side != NULL ? side->error
                                       : "";
    return *cause == '\0' ? tl_fail(err, TL_EINPUT, "none of the %s could be read", word)
                          : tl_fail(err, TL_EINPUT, "none of the %s could be read: %.256s: %.256s", word, path, cause);
}

/* Warns of records that other files repeat. */
static void tell_replaced(const tl_table *files)
{
    const tl_side_file *first = NULL;
    int64_t replaced = 0;
    size_t more = 0;
    char others[48] = "";

    TL_ROWS (const tl_side_file, f, files) {
        more += first != NULL && f->replaced > 0;
        first = first == NULL && f->replaced > 0 ? f : first;
        replaced += f->replaced;
    }
    if (first == NULL)
        return;
    if (more > 0)
        snprintf(others, sizeof others, " and of %zu other file%s", more, more == 1 ? "" : "s");
    const tl_side_file *by = tl_table_row(files, (size_t)first->replaced_by);
    tl_warn("%" PRId64 " record%s of %.*s%s %s there again in %.*s%s, with other durations: the later file's count; is "
            "that another run?",
            replaced, replaced == 1 ? "" : "s", (int)sizeof first->path, first->path, others,
            replaced == 1 ? "is" : "are", (int)sizeof by->path, by->path, more > 0 ? " and others" : "");
}

/* Warns of a file whose name tells another rank than its lines do. */
static void tell_other_rank(const tl_side_file *f)
{
    char path[sizeof f->path + 1] = "";
    memcpy(path, f->path, sizeof f->path);
    int64_t named = tl_rank_of_name(path);
    if (named >= 0 && f->rank >= 0 && f->rank != named)
        tl_warn("%s: its name tells rank %" PRId64 ", its lines tell rank %d, which counts", path, named, (int)f->rank);
}

static void tell_side_files(tl_tables *job)
{
    const tl_table *files = tl_tables_get(job, &tl_side_file_schema);
    TL_ROWS (const tl_side_file, f, files) {
        int64_t again = f->superseded - f->replaced;
        if (f->status != TL_SIDE_OK)
            tl_warn("%.*s: %s: %.*s; entries that count: %" PRId64 ", lost: %" PRId64, (int)sizeof f->path, f->path,
                    tl_side_status_labels[f->status], (int)sizeof f->error, f->error, f->entries, f->lost);
        if (f->kind == TL_SIDE_PHASES)
            tell_other_rank(f);
        if (again > 0 || (f->repeated > 0 && f->repeated < f->entries)) /* of a copy of a file nothing is lost */
            tl_warn("%.*s: %" PRId64 " record%s stand%s there more than once, and count once; %" PRId64
                    " are of steps that were run again, of which the last counts",
                    (int)sizeof f->path, f->path, f->repeated, f->repeated == 1 ? "" : "s", f->repeated == 1 ? "s" : "",
                    again);
    }
    tell_replaced(files);
}

void tl_tell_problems(const tl_plan *plan, tl_tables *job)
{
    tl_plan_warn(plan);
    (void)tl_tell_lost(&plan->inventory);
    TL_ROWS (const tl_rank, r, tl_tables_get(job, &tl_rank_schema)) {
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
        /* text that fills its cell has no 0 at the end */
        tl_warn("rank %d: %.*s: %.*s%s", (int)r->rank, (int)sizeof r->file, r->file, (int)sizeof r->error, r->error,
                counts);
    }
    tell_side_files(job);
}

void tl_tell_summary(const tl_plan *plan, tl_tables *job, const tl_answers *answers, const tl_options *options,
                     const char *output, double seconds)
{
    const tl_inventory *inventory = &plan->inventory;
    struct stat st;
    tl_summary s = {
        .version = TLMPI_VERSION,
        .ranks = tl_tables_get(job, &tl_rank_schema),
        .breakdown = tl_tables_get(job, &tl_breakdown_schema),
        .steps = tl_tables_get(job, &tl_step_schema),
        .idle = tl_tables_get(job, &tl_idle_schema),
        .classes = tl_tables_get(job, &tl_idle_summary_schema),
        .stragglers = tl_tables_get(job, &tl_straggler_schema),
        .phases = tl_tables_get(job, &tl_phase_schema),
        .memory = tl_tables_get(job, &tl_memory_category_schema),
        .side_files = tl_tables_get(job, &tl_side_file_schema),
        .kernels = tl_tables_get(job, &tl_kernel_ranks_schema),
        .names = job->names,
        .noise_ns = options->config.idle.noise_ns,
        .answers = answers,
        .world_size = inventory->world_size,
        .missing = inventory->missing.v,
        .nmissing_listed = inventory->missing.n,
        .nmissing = inventory->nmissing,
        .run = inventory->run + 1,
        .nruns = inventory->nruns,
        .run_asked = options->run > 0,
        .windows = inventory->windows,
        .apart = options->run > 0 ? "" : apart_words(inventory),
        .nprocs = tl_par_nprocs(),
        .seconds = seconds,
        .output = output,
        .output_bytes = stat(output, &st) == 0 ? (int64_t)st.st_size : 0,
    };
    tl_print_summary(stdout, &s);
}

/* Prints the n named columns of a table, unless the table is empty. */
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

/* Prints for each file which answers its format does not allow. */
static void print_formats(const tl_inventory *inventory)
{
    const char *before = "";
    char words[1024];

    TL_EACH (const tl_input, in, inventory->inputs) {
        size_t n = tl_file_length(in->path);
        if (in->kind == TL_INPUT_TRACE && !in->pipe && strncmp(before, in->path, n) != 0) {
            char *file = tl_strndup(in->path, n);
            tl_format_say(file, words, sizeof words);
            if (words[0] != '\0')
                printf("%s: %s\n", file, words);
            free(file);
        }
        before = in->path;
    }
}

void tl_tell_inventory(const tl_plan *plan, tl_tables *job)
{
    static const char *const of_ranks[] = { "rank",    "status",   "events",     "kept",
                                            "dropped", "repaired", "file_bytes", "file" };
    static const char *const of_sides[] = { "kind",     "rank",       "status",   "entries", "lost",
                                            "repeated", "superseded", "left_out", "path" };
    const tl_inventory *inventory = &plan->inventory;

    print_columns(tl_tables_get(job, &tl_rank_schema), of_ranks, sizeof of_ranks / sizeof *of_ranks);
    print_columns(tl_tables_get(job, &tl_side_file_schema), of_sides, sizeof of_sides / sizeof *of_sides);
    print_formats(inventory);
    if (inventory->nmissing > 0)
        printf("%zu of %" PRId64 " ranks %s no trace here\n", inventory->nmissing, inventory->world_size,
               inventory->nmissing == 1 ? "has" : "have");
    if (inventory->windows[0] != '\0')
        printf("%s; --run N takes one of them\n", inventory->windows);
    else if (inventory->nruns > 1)
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
        tl_result_digest_names(result, &hash);
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

/* -------------------------------------------------------------------------- what the job would have taken otherwise */

/* Prints a table; in JSON as a member of one object, else after a line of words. */
static bool print_table(const char *name, const char *words, const tl_table *table, const tl_printer *print)
{
    tl_printer printer = *print;
    printer.schema = table->schema;
    if (print->format == TL_FORMAT_JSON)
        printf("\"%s\": ", name);
    else if (print->format == TL_FORMAT_TABLE)
        printf("\n%s\n", words);
    bool ok = tl_print_begin(&printer) && tl_print_rows(&printer, table->rows, table->n);
    return tl_print_end(&printer) && ok;
}

static void say_whatif(const tl_whatif_study *r, size_t nmissing)
{
    int64_t gain_ns = r->recorded_ns - r->time_ns;
    printf("Recorded: %s, from the first step, operator or launch to the end of the last device work or wait for it.\n"
           "Replayed without a change: %s%s.\n",
           tl_duration(r->recorded_ns).text, r->error_ns == 0 ? "the same" : "off by ",
           r->error_ns == 0 ? "" : tl_duration(r->error_ns).text);
    if (r->changes.n == 0)
        return;
    printf("With all changes: %s, %s %s (%s).\n", tl_duration(r->time_ns).text,
           tl_duration(gain_ns < 0 ? -gain_ns : gain_ns).text, gain_ns < 0 ? "more" : "less",
           tl_part_in_words(gain_ns < 0 ? -gain_ns : gain_ns, r->recorded_ns).text);
    printf(
        "Of the critical path then, %s (as recorded %s) is explained by no work, transfer or known wait, and was left "
        "as it is%s.\n",
        tl_duration(r->unexplained_ns).text, tl_duration(r->recorded_unexplained_ns).text,
        gain_ns > 0 && gain_ns <= r->unexplained_ns ? ": it exceeds the gain, which is uncertain" : "");
    if (r->unmatched_ns > 0)
        printf("%s of the communication is matched with no other rank's, and was scaled with the waiting in it.\n",
               tl_duration(r->unmatched_ns).text);
    if (nmissing > 0)
        printf(
            "%zu rank%s as before: no trace of %s is here, or selected.  The critical path waits for %s %s, and more "
            "where it is not known when %s came, which then counts as transfer.\n",
            nmissing, nmissing > 1 ? "s do" : " does", nmissing > 1 ? "them" : "it", nmissing > 1 ? "them" : "it",
            tl_duration(r->untraced_ns).text, nmissing > 1 ? "they" : "it");
    const tl_phrase unsure = tl_phrase_of("; for the last two, and for clocks, steps may be wrong by %s in all",
                                          tl_duration(r->unsure_ns).text);
    printf("Not modelled: how full queues and memory would be, how far apart ranks would begin to record, and what "
           "kernels lose beside communication%s.\n",
           r->unsure_ns > 0 ? unsure.text : "");
}

/* Warns of changes that select nothing. */
static void warn_of_nothing(const tl_whatif_study *r)
{
    TL_ROWS (const tl_whatif_change_row, row, &r->change_rows)
        if (row->place > 0 && row->pieces == 0)
            fprintf(stderr, "tlmpi: nothing in these traces is selected by: %s\n",
                    tl_cell_in_words(row->change, sizeof row->change).text);
}

tl_status tl_whatif_tell(const tl_whatif_study *r, const tl_printer *print, size_t nmissing, tl_error *err)
{
    const struct {
        const char *name, *words;
        const tl_table *table;
    } tables[] = { { "change", "Each change alone; place 0: all together", &r->change_rows },
                   { "step", "Steps, with all changes", &r->step_rows },
                   { "path", "What binds the job: its critical path, as recorded and with all changes", &r->path_rows },
                   { "top", "What the job gains if work takes 10 % less time", &r->top_rows } };
    bool json = print->format == TL_FORMAT_JSON, ok = true, any = false;
    if (print->format == TL_FORMAT_TABLE)
        say_whatif(r, nmissing);
    warn_of_nothing(r);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && ok; i++) {
        if (i < 3 ? r->changes.n == 0 : r->top == 0)
            continue;
        if (json)
            fputs(any ? ", " : "{ ", stdout);
        else if (print->format != TL_FORMAT_TABLE)
            printf("# whatif_%s\n", tables[i].name);
        ok = print_table(tables[i].name, tables[i].words, tables[i].table, print);
        any = true;
    }
    if (json && any)
        puts("}");
    if (fflush(stdout) != 0 || ferror(stdout))
        return tl_fail(err, TL_EOUTPUT, "standard output: it cannot be written");
    return ok ? TL_OK : tl_fail_memory(err, "the tables of what-if");
}
