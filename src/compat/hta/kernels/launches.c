/* launches.c - the calls that launch something, and what they launched.
 *
 *     host     ..[ launch ]...................      cpu_duration
 *     stream   .....................[ kernel ]      gpu_duration
 *                         |<------->|               launch_delay, not below 0
 *
 * HTA knows few launch calls by name.  It takes all rows with the correlation of one of them: those without a stream
 * for calls, those with one for kernels, and each with each.
 */
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

/* The calls that copy come last. */
static const char *const launches[] = { "cudaLaunchKernel", "cudaLaunchKernelExC",
                                        "runFunction - job_prep_and_submit_for_execution", "cudaMemcpyAsync",
                                        "cudaMemsetAsync" };
#define NLAUNCHES (sizeof launches / sizeof launches[0])
#define NKERNELS  3

/* One correlation on n rows of either side makes n * n pairs.  A rank with more of them is given up. */
#define PAIRS_A_ROW 4
#define PAIRS_FREE  ((size_t)1 << 20)

typedef struct pair {
    int64_t correlation;
    double host, device, delay;
} pair;

/* Zero-initialise; free(pairs.v) ends it. */
typedef struct pairs {
    pair *v;
    size_t n, cap, max;
    bool too_many;
} pairs;

/* Rows on a stream by their correlation, and in their order. */
static int by_correlation(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return TL_COMPARE(rows[a].correlation, rows[b].correlation);
}

static bool add_pair(pairs *all, const tl_hta_row *host, const tl_hta_row *device)
{
    if (all->n == all->max) {
        all->too_many = true;
        return true;
    }
    if (!tl_vec_room(all))
        return false;
    all->v[all->n++] = (pair){ host->correlation, host->dur, device->dur, fmax(0, device->ts - host->ts - host->dur) };
    return true;
}

/* The host rows whose correlation is one of the launches', each with the device rows of it. */
static bool join(pairs *all, const tl_hta_frame *frame, const tl_map *wanted, const uint32_t *device, size_t ndevice)
{
    const tl_hta_row *rows = frame->rows.v;

    for (size_t i = 0; i < frame->rows.n && !all->too_many; i++) {
        size_t k = 0;
        if (tl_hta_on_stream(&rows[i]) || tl_map_get(wanted, (uint64_t)rows[i].correlation) == TL_MAP_NONE)
            continue;
        TL_BISECT(k, ndevice, mid, rows[device[mid]].correlation < rows[i].correlation);
        for (; k < ndevice && rows[device[k]].correlation == rows[i].correlation && !all->too_many; k++)
            if (!add_pair(all, &rows[i], &rows[device[k]]))
                return false;
    }
    return true;
}

static tl_status find_pairs(pairs *all, const tl_hta_frame *frame, const tl_hta_symbols *symbols, bool copies,
                            tl_error *err)
{
    uint32_t ids[NLAUNCHES];
    size_t nids = copies ? NLAUNCHES : NKERNELS, n = 0;
    tl_map wanted = { 0 }; /* the correlations of the launches */
    uint32_t *device = tl_malloc(frame->rows.n * sizeof *device);
    bool ok = device != NULL;

    all->max = PAIRS_A_ROW * frame->rows.n + PAIRS_FREE;
    for (size_t i = 0; i < nids; i++)
        ids[i] = tl_names_find(&symbols->texts, launches[i], strlen(launches[i]));
    for (size_t i = 0; i < frame->rows.n && ok; i++)
        for (size_t k = 0; k < nids && ok; k++)
            if (frame->rows.v[i].name == ids[k])
                ok = tl_map_put(&wanted, (uint64_t)frame->rows.v[i].correlation, 0) == 0;
    for (size_t i = 0; i < frame->rows.n && ok; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (tl_hta_on_stream(row) && tl_map_get(&wanted, (uint64_t)row->correlation) != TL_MAP_NONE)
            device[n++] = (uint32_t)i;
    }
    ok = ok && tl_sort_index(device, n, by_correlation, frame->rows.v);
    ok = ok && join(all, frame, &wanted, device, n);
    tl_map_free(&wanted);
    free(device);
    return ok ? TL_OK : tl_fail_memory(err, "the launches of a rank");
}

static void write_pairs(tl_sheet *csv, const tl_hta_frame *frame, const pairs *all)
{
    for (size_t i = 0; i < all->n; i++) {
        tl_sheet_int(csv, frame->rank);
        tl_sheet_int(csv, all->v[i].correlation);
        tl_sheet_number(csv, all->v[i].host, frame->dur_whole);
        tl_sheet_number(csv, all->v[i].device, frame->dur_whole);
        tl_sheet_number(csv, all->v[i].delay, frame->ts_whole && frame->dur_whole);
        tl_sheet_end_row(csv);
    }
}

static void write_summary(tl_sheet *csv, const tl_hta_job *job, const tl_hta_frame *frame, const pairs *all,
                          bool copies)
{
    int64_t runtime_cutoff = job->parameters->runtime_cutoff, delay_cutoff = job->parameters->launch_delay_cutoff;
    const size_t stride = sizeof *all->v / sizeof(double);
    int64_t nshort = 0, nslow = 0, nlate = 0;
    double max_delay = 0;

    for (size_t i = 0; i < all->n; i++) {
        const pair *p = &all->v[i];
        nshort += p->host <= (double)runtime_cutoff && p->device < p->host;
        nslow += p->host > (double)runtime_cutoff;
        nlate += p->delay > (double)delay_cutoff;
        max_delay = fmax(max_delay, p->delay);
    }
    tl_sheet_int(csv, frame->rank);
    tl_sheet_words(csv, copies ? "True" : "False");
    tl_sheet_int(csv, runtime_cutoff);
    tl_sheet_int(csv, delay_cutoff);
    tl_sheet_int(csv, (int64_t)all->n);
    tl_sheet_int(csv, nshort);
    tl_sheet_int(csv, nslow);
    tl_sheet_int(csv, nlate);
    tl_sheet_number(csv, all->n > 0 ? tl_numpy_sum(&all->v->host, all->n, stride) : 0, frame->dur_whole);
    tl_sheet_number(csv, all->n > 0 ? tl_numpy_sum(&all->v->device, all->n, stride) : 0, frame->dur_whole);
    tl_sheet_number(csv, all->n > 0 ? tl_numpy_sum(&all->v->delay, all->n, stride) : 0,
                    frame->ts_whole && frame->dur_whole);
    if (all->n > 0)
        tl_sheet_number(csv, max_delay, frame->ts_whole && frame->dur_whole);
    else
        tl_sheet_blank(csv);
    tl_sheet_end_row(csv);
}

/* The two lines of a rank, and its pairs where copies count. */
static tl_status write_rank(tl_sheet *each, tl_sheet *summary, const tl_hta_job *job, const tl_hta_frame *frame,
                            bool *too_many, tl_error *err)
{
    for (int copies = 1; copies >= 0; copies--) {
        pairs all = { 0 };
        tl_status st = find_pairs(&all, frame, &job->symbols, copies, err);
        *too_many = all.too_many;
        if (st == TL_OK && !all.too_many) {
            if (copies)
                write_pairs(each, frame, &all);
            write_summary(summary, job, frame, &all, copies);
        }
        free(all.v);
        if (st != TL_OK || *too_many)
            return st;
    }
    return TL_OK;
}

tl_status tl_hta_launch_stats(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet each, summary;
    tl_status st =
        tl_sheet_open(&each, dir, "launch_stats.csv", "rank,correlation,cpu_duration,gpu_duration,launch_delay", err);
    if (st != TL_OK)
        return st;
    st = tl_sheet_open(&summary, dir, "launch_stats_summary.csv",
                       "rank,include_memory_events,runtime_cutoff,launch_delay_cutoff,pairs,short_kernels,"
                       "runtime_outliers,launch_delay_outliers,sum_cpu,sum_gpu,sum_delay,max_delay",
                       err);
    if (st != TL_OK) {
        tl_sheet_abandon(&each);
        return st;
    }

    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&each);
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&summary);
        for (size_t i = 0; i < job->frames.n && st == TL_OK; i++) {
            const tl_hta_frame *frame = &job->frames.v[i];
            bool too_many;
            st = write_rank(&each, &summary, job, frame, &too_many, err);
            if (st == TL_OK && too_many && pass == 1)
                st = tl_hta_job_note(job, err,
                                     "launch_stats: rank %lld: left out: too many calls and kernels have the same "
                                     "correlation",
                                     (long long)frame->rank);
        }
    }
    if (st != TL_OK) {
        tl_sheet_abandon(&each);
        tl_sheet_abandon(&summary);
        return st;
    }
    st = tl_sheet_close(&each, err);
    if (st == TL_OK)
        return tl_sheet_close(&summary, err);
    tl_sheet_abandon(&summary);
    return st;
}
