/* hta_trace.h - traces of a few lines for the tests of HTA's tables, and the jobs that they make. */
#ifndef TESTS_UNIT_HTA_TRACE_H
#define TESTS_UNIT_HTA_TRACE_H

#include "scratch.h"
#include "src/compat/hta/frame.h"
#include "unit.h"

#define TRACE(entries) "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 7000, \"traceEvents\": [" entries "]}"
#define ENTRY(cat, name, ts, dur, args)                                                                                \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts ",\"dur\":" dur           \
    ",\"args\":{" args "}}"
#define OP(name, ts, dur) ENTRY("cpu_op", name, ts, dur, "")
#define STEP(k, ts, dur) ENTRY("user_annotation", "ProfilerStep#" k, ts, dur, "")
#define LAUNCH(corr, ts, dur) ENTRY("cuda_runtime", "cudaLaunchKernel", ts, dur, "\"correlation\":" corr)
#define KERNEL(name, stream, corr, ts, dur) \
    ENTRY("kernel", name, ts, dur, "\"device\":0,\"stream\":" stream ",\"correlation\":" corr)
#define META "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"ts\":0,\"args\":{}}"

/* Steps 5 and 6 at [100, 110) and [110, 120); launch 1 in the one, launch 2 in the other, launch 3 after both. */
#define TWO_STEPS                                                                                                 \
    TRACE(KERNEL("k", "7", "1", "112", "1") "," STEP("5", "100", "10") "," LAUNCH("1", "101", "1") ","            \
          STEP("6", "110", "10") "," LAUNCH("2", "111", "1") "," KERNEL("k", "7", "2", "115", "1") ","            \
          LAUNCH("3", "125", "1") "," KERNEL("k", "7", "3", "126", "1") "," KERNEL("k", "7", "9", "101", "1"))

/* The job of one trace, or of two. */
static inline tl_hta_job load(const char *text, const char *text_1, bool ns)
{
    tl_hta_file files[] = { { scratch_text("rank0.json", text), 0 },
                            { text_1 != NULL ? scratch_text("rank1.json", text_1) : NULL, 1 } };
    tl_hta_options options = { .files = files, .nfiles = text_1 != NULL ? 2 : 1, .ns = ns };
    tl_hta_job job = { 0 };

    tl_hta_job_load(&job, &options);
    CU_ASSERT_FALSE_FATAL(tl_csv_failed(&job.out));
    CU_ASSERT_EQUAL_FATAL(job.frames.n, options.nfiles);
    return job;
}

static inline tl_hta_row row(const tl_hta_job *job, size_t i)
{
    CU_ASSERT_FATAL(i < job->frames.v[0].rows.n);
    return job->frames.v[0].rows.v[i];
}

static inline void settle(tl_hta_job *job, bool include_last)
{
    tl_hta_job_align(job, include_last);
    CU_ASSERT_FALSE_FATAL(tl_csv_failed(&job->out));
}

/* Writes the table into a folder. */
static inline tl_status write_table(tl_hta_job *job, tl_hta_table *write, const char *dir)
{
    job->out = (tl_csv_folder){ .dir = dir, .notes = job->out.notes };
    write(job);
    return job->out.error.status;
}

/* "3 5 4 " for the rows with these indices. */
static inline const char *indices(const tl_hta_frame *frame)
{
    static char text[256];
    int at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < frame->rows.n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%u ", frame->rows.v[i].index);
    return text;
}

/* The whole of a file in the scratch folder; good until the next call. */
static inline const char *content(const char *name)
{
    static char text[8192];
    FILE *f = fopen(scratch_path(name), "rb");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f == NULL)
        return "(no file)";
    fclose(f);
    return text;
}

/* What `write` makes of one trace, or of two, in the file of that name; good until the next call.  The notes are in
 * table_notes. */
static char table_notes[512];
static inline const char *table_of(tl_hta_table *write, const char *file, const char *text, const char *text_1, bool ns)
{
    tl_hta_job job = load(text, text_1, ns);

    scratch_text(file, "(old)\n");
    settle(&job, false);
    CU_ASSERT_EQUAL(write_table(&job, write, scratch_folder), TL_OK);
    snprintf(table_notes, sizeof table_notes, "%.*s", (int)job.out.notes.n, job.out.notes.v != NULL ? job.out.notes.v : "");
    tl_hta_job_free(&job);
    return content(file);
}

#endif
