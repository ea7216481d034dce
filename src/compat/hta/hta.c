/* hta.c - files in, HTA's tables out. */
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/compat/sheet.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tl_hta_table *const tables[] = {
    tl_hta_load_summary,
    tl_hta_events_by_category,
    tl_hta_events_by_iteration,
    tl_hta_gpu_events,
    tl_hta_profiler_steps,
    tl_hta_profiler_step_windows,
    tl_hta_filter_counts,
    tl_hta_names,
    tl_hta_temporal_breakdown,
    tl_hta_comm_comp_overlap,
    tl_hta_kernel_types,
    tl_hta_kernel_breakdown,
    tl_hta_timeline_gpu,
    tl_hta_launch_stats,
    tl_hta_potential_stragglers,
    tl_hta_user_annotations,
    tl_hta_kernels_of_annotations,
    tl_hta_op_delays,
    tl_hta_idle_time,
    tl_hta_queues,
    tl_hta_bandwidths,
    tl_hta_counter_events,
    tl_hta_call_graphs,
    tl_hta_frequent_patterns,
    tl_hta_cupti_counters,
    tl_hta_call_stacks,
    tl_hta_execution_trace_links,
};

static tl_status write_notes(const tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet file;
    tl_status st = tl_sheet_open(&file, dir, "notes.txt", NULL, err);
    if (st != TL_OK)
        return st;
    if (job->notes.n > 0)
        fwrite(job->notes.v, 1, job->notes.n, file.file);
    return tl_sheet_close(&file, err);
}

/* Tables of a rank, or of an operator, that are there from an earlier job, and that this one may have none of. */
static void remove_older(const char *dir)
{
    static const char *const begins[] = { "callgraph_",        "callstack_old_",  "frequent_patterns_",
                                          "patterns_overlay_", "cupti_counters_", "execution_trace_links",
                                          "memory_timeline" };
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        size_t n = strlen(entry->d_name);
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
            if (n > 4 && strcmp(entry->d_name + n - 4, ".csv") == 0 &&
                strncmp(entry->d_name, begins[i], strlen(begins[i])) == 0)
                (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

tl_status tl_compat_hta(const tl_hta_options *options, bool *incomplete, tl_error *err)
{
    tl_hta_job job = { 0 };
    tl_status st = tl_make_folders(options->out_dir, err);

    if (st == TL_OK)
        remove_older(options->out_dir);
    if (st == TL_OK && options->memory_timeline != NULL)
        st = tl_hta_memory_timeline(options->memory_timeline, options->out_dir, err);
    if (st == TL_OK && options->memory_timeline != NULL && options->nfiles == 0) {
        st = write_notes(&job, options->out_dir, err);
        goto done;
    }
    if (st == TL_OK)
        st = tl_hta_job_load(&job, options, err);
    if (st == TL_OK && job.frames.n == 0) {
        st = write_notes(&job, options->out_dir, err);
        if (st == TL_OK)
            st = tl_fail(err, TL_EINPUT, "no file has an entry with a duration and a category; %s/notes.txt tells more",
                         options->out_dir);
        goto done;
    }
    if (st == TL_OK)
        st = tl_hta_job_settle(&job, options->include_last_step, err);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && st == TL_OK; i++)
        st = tables[i](&job, options->out_dir, err);
    if (st == TL_OK)
        st = write_notes(&job, options->out_dir, err);
done:
    *incomplete = job.incomplete;
    tl_hta_job_free(&job);
    return st;
}
