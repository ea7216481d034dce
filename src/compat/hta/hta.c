/* hta.c - HTA's tables from the files of a job; and the rank that HTA gives a file. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/compat/hta/hta.h"
#include "tlmpi/model/schema.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tl_hta_table *const tables[] = { TL_HTA_TABLES };

/* Beginnings of the names of tables that not every job has: tables of an earlier job are removed first. */
static const char *const sometimes[] = { "callgraph_",        "callstack_old_",  "frequent_patterns_",
                                         "patterns_overlay_", "cupti_counters_", "execution_trace_links",
                                         "memory_timeline",   "critical_path_",  NULL };

tl_status tl_compat_hta(const tl_hta_options *options, bool *incomplete, tl_error *err)
{
    tl_hta_job job = { .out = { .dir = options->out_dir } };
    tl_csv_folder *out = &job.out;

    if (tl_make_folders(options->out_dir, &out->error) == TL_OK)
        tl_csv_clear(options->out_dir, sometimes);
    if (options->memory_timeline != NULL)
        tl_hta_memory_timeline(options->memory_timeline, out);
    if (!tl_csv_failed(out))
        tl_hta_job_load(&job, options);
    if (!tl_csv_failed(out) && job.frames.n > 0)
        tl_hta_job_align(&job, options->include_last_step);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && job.frames.n > 0 && !tl_csv_failed(out); i++)
        tables[i](&job);
    tl_csv_write_notes(out);
    if (!tl_csv_failed(out) && job.frames.n == 0 && options->nfiles > 0)
        tl_fail(&out->error, TL_EINPUT, "no file has an entry with a duration and a category; %s/notes.txt tells more",
                options->out_dir);
    if (tl_csv_failed(out))
        *err = out->error;
    tl_status st = out->error.status;
    *incomplete = job.incomplete;
    tl_hta_job_free(&job);
    return st;
}

/* ------------------------------------------------------------------------------------------------- the rank of a file
 *
 * HTA searches each line for "rank":\s+(\d+), whatever the JSON structure: compact JSON, without white space after the
 * colon, has no rank, and the first "rank" counts even if it belongs to another object. */

#define BLOCK_BYTES ((size_t)256 << 10)

tl_status tl_hta_rank_of_file(const char *path, int64_t *rank, tl_error *err)
{
    static const char key[] = "\"rank\":";
    tl_source *source;
    size_t n = 1, nkey = 0, nblanks = 0, ndigits = 0; /* of the key, the blanks and the number: what was read */
    bool found = false;
    tl_status st = tl_source_open(path, &source, err);

    if (st != TL_OK)
        return st;
    char *block = tl_malloc(BLOCK_BYTES);
    *rank = 0;
    while (!found && n > 0) {
        /* No message: the reading of the trace itself reports the error. */
        if (tl_source_read(source, block, BLOCK_BYTES, &n, NULL) != TL_OK)
            n = 0;
        for (size_t i = 0; i < n && !found; i++) {
            const char c = block[i];
            if (nkey < sizeof key - 1) {
                /* The second quote may begin the key anew. */
                nkey = c == key[nkey] ? nkey + 1 : c == key[0] ? 1 : nkey == 6 && c == key[1] ? 2 : 0;
            } else if (nblanks > 0 && tl_is_digit(c)) {
                ndigits++;
                *rank = *rank < INT64_MAX / 10 ? 10 * *rank + (c - '0') : *rank;
            } else if (ndigits == 0 && (c == ' ' || c == '\t' || c == '\v' || c == '\f')) { /* within a line */
                nblanks++;
            } else {
                found = ndigits > 0;
                nkey = c == key[0];
                nblanks = 0;
            }
        }
    }
    free(block);
    tl_source_close(source);
    return TL_OK;
}

/* -------------------------------------------------------------------------------------------------- files to frames */

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
    tl_bytes_free(&job->out.notes);
    if (job->symbols != NULL)
        tl_hta_symbols_free(job->symbols);
    free(job->symbols);
    *job = (tl_hta_job){ 0 };
}

/* Adds a note about a file, on stderr too. */
#define warn(job, file, format, ...)                                                                                   \
    tl_csv_note(&(job)->out, true, "rank %lld: " format, (long long)(file)->rank, __VA_ARGS__)

/* Reads a file into a frame of the job.  HTA ignores a rank without kept rows. */
static void load_file(tl_hta_job *job, const tl_hta_file *file, const tl_hta_options *how)
{
    tl_verbatim words = { 0 };
    const tl_entry_hook hook = tl_verbatim_hook(&words, how->execution_trace != NULL);
    const tl_read_options options = { .keep = (1u << TL_NCATS) - 1, .hook = &hook };
    tl_hta_frame frame = { .rank = file->rank, .path = file->path };
    tl_error why;
    tl_trace trace;

    tl_status st = tl_trace_read(file->path, &options, &trace, &why);
    if (st == TL_OK) {
        const tl_read_report *report = &trace.report;
        if (report->first_bad[0] != '\0')
            warn(job, file, "%s: %s", file->path, report->first_bad);
        job->incomplete |= report->cut || report->source_fault || report->dropped > 0;
        tl_hta_frame_fill(&frame, &trace, &words, how->ns, job->symbols);
        if (frame.rows.n == 0)
            warn(job, file, "%s: no entry has a duration and a category; the rank is left out", file->path);
    } else if (st == TL_EINPUT) {
        warn(job, file, "left out: %s", why.text);
    } else {
        job->out.error = why;
    }
    if (frame.rows.n > 0) {
        tl_hta_frame_link(&frame);
        tl_hta_frame_iterate(&frame);
        tl_vec_push(&job->frames, frame);
    } else {
        job->incomplete = true;
        tl_hta_frame_free(&frame);
    }
    tl_trace_free(&trace);
    tl_verbatim_free(&words);
}

TL_SORT_BY(by_rank, tl_hta_frame, rank)

void tl_hta_job_load(tl_hta_job *job, const tl_hta_options *options)
{
    job->symbols = tl_calloc(1, sizeof *job->symbols);
    job->execution_trace = options->execution_trace;
    job->parameters = options->parameters != NULL ? options->parameters : &tl_hta_defaults;
    for (size_t i = 0; i < options->nfiles && !tl_csv_failed(&job->out); i++) {
        const tl_hta_file *file = &options->files[i];
        bool later = false;
        for (size_t j = i + 1; j < options->nfiles; j++)
            later |= options->files[j].rank == file->rank;
        if (later) {
            job->incomplete = true;
            warn(job, file, "%s: left out, a later file is of this rank, too", file->path);
        } else {
            load_file(job, file, options);
        }
    }
    tl_vec_sort(&job->frames, by_rank);
}

void tl_hta_job_align(tl_hta_job *job, bool include_last_step)
{
    size_t nsteps = 0;

    job->zero = INFINITY;
    TL_EACH (const tl_hta_frame, frame, job->frames)
        if (frame->raw_min_ts < job->zero) {
            job->zero = frame->raw_min_ts;
            job->zero_whole = frame->ts_whole;
        }
    TL_EACH (tl_hta_frame, frame, job->frames) {
        TL_EACH (tl_hta_row, row, frame->rows)
            row->ts -= job->zero;
        frame->ts_whole = frame->ts_whole && job->zero_whole;
    }
    /* Step names are shared by all ranks.  With fewer than two steps no step is cut. */
    TL_EACH (const tl_hta_symbol, symbol, job->symbols->v)
        nsteps += (symbol->traits & TL_HTA_STEP_NAME) != 0;
    if (nsteps < 2)
        return;
    if (job->frames.v[0].vendor == TL_HTA_MTIA) {
        tl_hta_note(&job->out,
                    "all ranks: the last profiler step stays: the device is an MTIA, for which HTA has rules of "
                    "its own that are not applied here");
        return;
    }
    for (size_t i = 0; i < job->frames.n && !tl_csv_failed(&job->out); i++)
        (void)tl_hta_frame_cut(&job->frames.v[i], include_last_step, &job->out.error);
}

void tl_hta_write_ranks(tl_hta_job *job, const char *file, const char *header, tl_hta_rows *rows)
{
    tl_csv csv = tl_csv_open(&job->out, file, header);
    TL_EACH (const tl_hta_frame, frame, job->frames)
        rows(&csv, frame);
    tl_csv_close(&csv);
}
