/* tell.c - see tell.h. */
#include "tell.h"
#include "tlmpi/base/log.h"
#include "tlmpi/job/digest.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/print.h"
#include "tlmpi/report/summary.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const tl_rank *rank_rows(tl_tables *job, size_t *n)
{
    const tl_table *ranks = tl_tables_get(job, &tl_rank_schema);
    *n = ranks->n;
    return (const tl_rank *)(const void *)ranks->rows;
}

/* Whether the file is one of those that were to be read. */
static bool is_planned(const tl_plan *plan, const tl_input *in)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->items[i].path, in->path) == 0)
            return true;
    return false;
}

int tl_exit_of_input(const tl_plan *plan, tl_tables *job)
{
    size_t n, unreadable = 0, damaged = 0;
    const tl_rank *ranks = rank_rows(job, &n);

    for (size_t i = 0; i < plan->inventory.inputs.n; i++)
        damaged += plan->inventory.inputs.v[i].kind == TL_INPUT_UNREADABLE;

    for (size_t i = 0; i < n; i++) {
        unreadable += ranks[i].status == TL_RANK_UNREADABLE;
        damaged += ranks[i].status == TL_RANK_DAMAGED || ranks[i].status == TL_RANK_CUT || ranks[i].dropped > 0;
    }
    return unreadable == n ? TL_EXIT_NOTHING : unreadable + damaged > 0 ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}

void tl_tell_runs(const tl_inventory *inventory)
{
    printf("run  ranks  begins (UTC)          first file\n");
    for (int32_t run = 0; run < inventory->nruns; run++) {
        size_t n = 0;
        const tl_input *first = NULL;
        char when[32] = "unknown";
        for (size_t i = 0; i < inventory->inputs.n; i++) {
            const tl_input *in = &inventory->inputs.v[i];
            if (in->run != run)
                continue;
            n++;
            if (first == NULL || in->rank < first->rank)
                first = in;
        }
        if (first == NULL)
            continue;
        struct tm utc;
        time_t begin = (time_t)(first->begin_ns / 1000000000);
        if (gmtime_r(&begin, &utc) != NULL)
            strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &utc);
        char path[1024];
        tl_printable(path, sizeof path, first->path);
        printf("%3d  %5zu  %-20s  %s%s\n", run + 1, n, when, path, run == inventory->run ? "  <- taken by default" : "");
    }
}

void tl_tell_problems(const tl_plan *plan, tl_tables *job)
{
    const tl_inventory *inventory = &plan->inventory;
    size_t n;
    const tl_rank *ranks = rank_rows(job, &n);

    for (size_t i = 0; i < inventory->inputs.n; i++) {
        const tl_input *in = &inventory->inputs.v[i];
        if (in->kind == TL_INPUT_OTHER)
            tl_warn("left alone: %s", in->why);
        else if (in->kind == TL_INPUT_UNREADABLE && !is_planned(plan, in))
            tl_warn("cannot be read: %s", in->why);
    }
    for (size_t i = 0; i < n; i++) {
        if (ranks[i].error[0] == 0)
            continue;
        char counts[96] = "";
        if (ranks[i].dropped > 0 || ranks[i].repaired > 0)
            snprintf(counts, sizeof counts, " (%" PRId64 " entries lost, %" PRId64 " repaired)", ranks[i].dropped,
                     ranks[i].repaired);
        tl_warn("rank %d: %s: %s%s", (int)ranks[i].rank, ranks[i].file, ranks[i].error, counts);
    }
}

void tl_tell_summary(const tl_plan *plan, tl_tables *job, const tl_options *options, const char *output, double seconds)
{
    const tl_inventory *inventory = &plan->inventory;
    const tl_table *breakdown = tl_tables_get(job, &tl_breakdown_schema), *steps = tl_tables_get(job, &tl_step_schema);
    const tl_table *quality = tl_tables_get(job, &tl_quality_schema);
    const char **skipped = calloc(inventory->inputs.n + 1, sizeof *skipped);
    struct stat st;
    tl_summary s = {
        .version = TLMPI_VERSION,
        .breakdown = (const tl_breakdown *)(const void *)breakdown->rows, .nbreakdown = breakdown->n,
        .steps = (const tl_step *)(const void *)steps->rows, .nsteps = steps->n,
        .quality = (const tl_quality *)(const void *)quality->rows, .nquality = quality->n,
        .world_size = inventory->world_size,
        .missing = inventory->missing.v, .nmissing_listed = inventory->missing.n, .nmissing = inventory->nmissing,
        .skipped = skipped,
        .run = inventory->run + 1, .nruns = inventory->nruns, .run_asked = options->run > 0,
        .nprocs = tl_par_nprocs(), .seconds = seconds,
        .output = output, .output_bytes = stat(output, &st) == 0 ? (int64_t)st.st_size : 0,
    };

    s.ranks = rank_rows(job, &s.nranks);
    for (size_t i = 0; skipped != NULL && i < inventory->inputs.n; i++)
        if (inventory->inputs.v[i].kind == TL_INPUT_OTHER ||
            (inventory->inputs.v[i].kind == TL_INPUT_UNREADABLE && !is_planned(plan, &inventory->inputs.v[i])))
            skipped[s.nskipped++] = inventory->inputs.v[i].why;
    tl_print_summary(stdout, &s);
    free(skipped);
}

void tl_tell_inventory(const tl_plan *plan, tl_tables *job)
{
    static const char *const names[] = { "rank", "status", "events", "kept", "dropped", "repaired", "gzip", "file_bytes",
                                         "file" };
    uint32_t columns[sizeof names / sizeof names[0]];
    const tl_table *ranks = tl_tables_get(job, &tl_rank_schema);
    const tl_inventory *inventory = &plan->inventory;
    tl_printer printer = { .out = stdout, .schema = &tl_rank_schema, .format = TL_FORMAT_TABLE,
                           .columns = columns };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        columns[printer.ncolumns++] = (uint32_t)(tl_schema_field(&tl_rank_schema, names[i]) - tl_rank_schema.fields);
    if (tl_print_begin(&printer))
        tl_print_rows(&printer, ranks->rows, ranks->n);
    tl_print_end(&printer);
    if (inventory->nmissing > 0)
        printf("%zu of %" PRId64 " ranks have no trace here\n", inventory->nmissing, inventory->world_size);
    if (inventory->nruns > 1)
        printf("run %d of %d; --run N chooses another, --run list lists them\n", inventory->run + 1, inventory->nruns);
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
