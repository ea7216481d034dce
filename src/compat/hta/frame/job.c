/* job.c - files to frames; then, over all frames, the common zero of time and the cut of the last step. */
#include "tlmpi/compat/hta/frame/job.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/schema.h"
#include <stdlib.h>

const tl_hta_parameters tl_hta_defaults = {
    .num_kernels = 10,
    .duration_ratio = 0.8,
    .consecutive_kernel_delay = 30,
    .runtime_cutoff = 50,
    .launch_delay_cutoff = 100,
    .num_candidates = 2,
    .min_pattern_len = 3,
    .top_k = 5,
};

void tl_hta_job_free(tl_hta_job *job)
{
    TL_EACH (tl_hta_frame, frame, job->frames)
        tl_hta_frame_free(frame);
    free(job->frames.v);
    tl_bytes_free(&job->notes);
    tl_hta_symbols_free(&job->symbols);
    *job = (tl_hta_job){ 0 };
}

/* Notes what is wrong with a file, on stderr as well. */
#define warn(job, file, format, ...)                                                                                   \
    tl_csv_note(&(job)->notes, true, "rank %lld: " format, (long long)(file)->rank, __VA_ARGS__)

/* Takes one trace into the job.  A rank without a kept row is no rank to HTA. */
static void take_trace(tl_hta_job *job, const tl_hta_file *file, const tl_trace *trace, const tl_verbatim *words,
                       bool ns)
{
    const tl_read_report *report = &trace->report;
    tl_hta_frame frame = { .rank = file->rank, .path = file->path };

    if (report->first_bad[0] != '\0')
        warn(job, file, "%s: %s", file->path, report->first_bad);
    job->incomplete |= report->cut || report->source_fault || report->dropped > 0;
    tl_hta_frame_fill(&frame, trace, words, ns, &job->symbols);
    if (frame.rows.n == 0) {
        tl_hta_frame_free(&frame);
        job->incomplete = true;
        warn(job, file, "%s: no entry has a duration and a category; the rank is left out", file->path);
        return;
    }
    tl_hta_frame_link(&frame, &job->symbols);
    tl_hta_frame_iterate(&frame, &job->symbols);
    tl_vec_push(&job->frames, frame);
}

static void load_file(tl_hta_job *job, const tl_hta_file *file, const tl_hta_options *how)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, how->execution_trace != NULL);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    tl_error why;
    tl_trace trace;

    tl_status st = tl_trace_read(file->path, &options, &trace, &why);
    if (st == TL_OK) {
        take_trace(job, file, &trace, &words, how->ns);
    } else if (st == TL_EINPUT) {
        job->incomplete = true;
        warn(job, file, "left out: %s", why.text);
    } else {
        job->out.error = why;
    }
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
}

static bool comes_later(const tl_hta_options *options, size_t i)
{
    for (size_t j = i + 1; j < options->nfiles; j++)
        if (options->files[j].rank == options->files[i].rank)
            return true;
    return false;
}

static int by_rank(const void *a, const void *b)
{
    int64_t x = ((const tl_hta_frame *)a)->rank, y = ((const tl_hta_frame *)b)->rank;
    return TL_COMPARE(x, y);
}

void tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options)
{
    job->execution_trace = options->execution_trace;
    job->parameters = options->parameters != NULL ? options->parameters : &tl_hta_defaults;
    for (size_t i = 0; i < options->nfiles && !tl_csv_failed(&job->out); i++) {
        const tl_hta_file *file = &options->files[i];
        if (comes_later(options, i)) {
            job->incomplete = true;
            warn(job, file, "%s: left out, a later file is of this rank, too", file->path);
        } else {
            load_file(job, file, options);
        }
    }
    if (job->frames.n > 0)
        qsort(job->frames.v, job->frames.n, sizeof *job->frames.v, by_rank);
}

/* Names of steps, the same on all ranks.  With fewer than two there is no last one to leave out. */
static size_t count_step_names(const tl_hta_symbols *symbols)
{
    size_t n = 0;
    for (size_t i = 0; i < symbols->v.n; i++)
        n += symbols->v.v[i].step_name;
    return n;
}

void tl_hta_job_align(tl_hta_job *job, bool include_last_step)
{
    job->zero = INFINITY;
    TL_EACH (const tl_hta_frame, frame, job->frames)
        if (frame->raw_min_ts < job->zero) {
            job->zero = frame->raw_min_ts;
            job->zero_whole = frame->ts_whole;
        }
    TL_EACH (tl_hta_frame, frame, job->frames)
        tl_hta_frame_align(frame, job->zero, job->zero_whole);

    if (count_step_names(&job->symbols) < 2)
        return;
    if (job->frames.v[0].vendor == TL_HTA_MTIA) {
        tl_hta_note(job, "all ranks: the last profiler step stays: the device is an MTIA, for which HTA has rules of "
                         "its own that are not applied here");
        return;
    }
    for (size_t i = 0; i < job->frames.n && !tl_csv_failed(&job->out); i++)
        (void)tl_hta_frame_cut(&job->frames.v[i], include_last_step, &job->symbols, &job->out.error);
}

void tl_hta_write_ranks(tl_hta_job *job, const char *file, const char *header, tl_hta_rows *rows)
{
    tl_csv csv = tl_csv_open(&job->out, file, header);
    TL_EACH (const tl_hta_frame, frame, job->frames)
        rows(&csv, job, frame);
    tl_csv_close(&csv);
}
