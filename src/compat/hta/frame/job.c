/* job.c - files to frames, and what needs all of them: the common zero and the cut of the last step. */
#include "tlmpi/compat/hta/frame/job.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/schema.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
    for (size_t i = 0; i < job->frames.n; i++)
        tl_hta_frame_free(&job->frames.v[i]);
    free(job->frames.v);
    free(job->notes.v);
    tl_hta_symbols_free(&job->symbols);
    *job = (tl_hta_job){ 0 };
}

static tl_status add_note(tl_hta_job *job, bool warn, const char *format, va_list args, tl_error *err)
    __attribute__((format(printf, 3, 0)));

static tl_status add_note(tl_hta_job *job, bool warn, const char *format, va_list args, tl_error *err)
{
    char line[2048];

    int n = vsnprintf(line, sizeof line - 1, format, args);
    if (warn && n >= 0)
        tl_warn("%s", line);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[length++] = '\n';
    if (!tl_grow((void **)&job->notes.v, &job->notes.cap, job->notes.n + length, 1))
        return tl_fail_memory(err, "the notes");
    memcpy(job->notes.v + job->notes.n, line, length);
    job->notes.n += length;
    return TL_OK;
}

tl_status tl_hta_job_note(tl_hta_job *job, tl_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tl_status st = add_note(job, false, format, args, err);
    va_end(args);
    return st;
}

/* The same of something that is wrong with a file, which is said on stderr as well. */
__attribute__((format(printf, 3, 4))) static tl_status warn(tl_hta_job *job, tl_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tl_status st = add_note(job, true, format, args, err);
    va_end(args);
    return st;
}

/* Takes one read trace into the job.  A rank of which nothing is kept is no rank to HTA. */
static tl_status take_trace(tl_hta_job *job, const tl_hta_file *file, const tl_trace *trace, const tl_verbatim *words,
                            bool ns, tl_error *err)
{
    const tl_read_report *report = &trace->report;
    tl_hta_frame frame = { .rank = file->rank, .path = file->path };
    tl_status st = TL_OK;

    if (report->first_bad[0] != '\0')
        st = warn(job, err, "rank %lld: %s: %s", (long long)file->rank, file->path, report->first_bad);
    job->incomplete |= report->cut || report->source_fault || report->dropped > 0;

    if (st == TL_OK)
        st = tl_hta_frame_fill(&frame, trace, words, ns, &job->symbols, err);
    if (st == TL_OK && frame.rows.n == 0) {
        tl_hta_frame_free(&frame);
        job->incomplete = true;
        return warn(job, err, "rank %lld: %s: no entry has a duration and a category; the rank is left out",
                    (long long)file->rank, file->path);
    }
    if (st == TL_OK)
        st = tl_hta_frame_link(&frame, &job->symbols, err);
    if (st == TL_OK)
        st = tl_hta_frame_iterate(&frame, &job->symbols, err);
    if (st == TL_OK && !tl_vec_room(&job->frames))
        st = tl_fail_memory(err, "the ranks");
    if (st != TL_OK) {
        tl_hta_frame_free(&frame);
        return st;
    }
    job->frames.v[job->frames.n++] = frame;
    return TL_OK;
}

static tl_status load_file(tl_hta_job *job, const tl_hta_file *file, const tl_hta_options *how, tl_error *err)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, how->execution_trace != NULL);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    tl_error why;
    tl_trace trace;

    tl_status st = tl_trace_read(file->path, &options, &trace, &why);
    if (st == TL_OK)
        st = take_trace(job, file, &trace, &words, how->ns, err);
    else if (st == TL_EINPUT) {
        job->incomplete = true;
        st = warn(job, err, "rank %lld: left out: %s", (long long)file->rank, why.text);
    } else {
        tl_fail(err, st, "%s", why.text);
    }
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
    return st;
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

tl_status tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options, tl_error *err)
{
    job->execution_trace = options->execution_trace;
    job->parameters = options->parameters != NULL ? options->parameters : &tl_hta_defaults;
    for (size_t i = 0; i < options->nfiles; i++) {
        const tl_hta_file *file = &options->files[i];
        tl_status st;
        if (comes_later(options, i)) {
            job->incomplete = true;
            st = warn(job, err, "rank %lld: %s: left out, a later file is of this rank, too", (long long)file->rank,
                      file->path);
        } else {
            st = load_file(job, file, options, err);
        }
        if (st != TL_OK)
            return st;
    }
    if (job->frames.n > 0)
        qsort(job->frames.v, job->frames.n, sizeof *job->frames.v, by_rank);
    return TL_OK;
}

/* Names of steps, the same on all ranks.  With fewer than two there is no last one to leave out. */
static size_t count_step_names(const tl_hta_symbols *symbols)
{
    size_t n = 0;
    for (size_t i = 0; i < symbols->v.n; i++)
        n += symbols->v.v[i].step_name;
    return n;
}

tl_status tl_hta_job_settle(tl_hta_job *job, bool include_last_step, tl_error *err)
{
    job->zero = INFINITY;
    for (size_t i = 0; i < job->frames.n; i++)
        if (job->frames.v[i].raw_min_ts < job->zero) {
            job->zero = job->frames.v[i].raw_min_ts;
            job->zero_whole = job->frames.v[i].ts_whole;
        }
    for (size_t i = 0; i < job->frames.n; i++)
        tl_hta_frame_align(&job->frames.v[i], job->zero, job->zero_whole);

    if (count_step_names(&job->symbols) < 2)
        return TL_OK;
    if (job->frames.v[0].vendor == TL_HTA_MTIA)
        return tl_hta_job_note(job, err,
                               "all ranks: the last profiler step stays: the device is an MTIA, for which HTA "
                               "has rules of its own that are not applied here");
    for (size_t i = 0; i < job->frames.n; i++) {
        tl_status st = tl_hta_frame_cut(&job->frames.v[i], include_last_step, &job->symbols, err);
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}
