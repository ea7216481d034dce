/* launches.c - the calls that launch something, and what they launched.
 *
 *     host     ..[ launch ]...................      cpu_duration
 *     stream   .....................[ kernel ]      gpu_duration
 *                         |<------->|               launch_delay, not below 0
 *
 * HTA knows few launch calls by name.  It takes all rows with the correlation of one of them: those without a stream
 * for calls, those with one for kernels, and each with each.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* The calls that copy come last. */
static const char *const launches[] = { "cudaLaunchKernel", "cudaLaunchKernelExC",
                                        "runFunction - job_prep_and_submit_for_execution", "cudaMemcpyAsync",
                                        "cudaMemsetAsync" };
#define NLAUNCHES (sizeof launches / sizeof launches[0])
#define NKERNELS  3

/* Pairs allowed, for each row of a rank and in any case; a rank with more is given up: one correlation on n rows of
 * either side makes n * n pairs. */
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

static void add_pair(pairs *all, const tl_hta_row *host, const tl_hta_row *device)
{
    all->too_many = all->n == all->max;
    if (!all->too_many)
        tl_vec_push(all,
                    (pair){ host->correlation, host->dur, device->dur, fmax(0, device->ts - host->ts - host->dur) });
}

/* Pairs each host row that has the correlation of a launch with each device row of that correlation. */
static void join(pairs *all, const tl_hta_frame *frame, const tl_map *wanted, const uint32_t *device, size_t ndevice)
{
    const tl_hta_row *rows = frame->rows.v;

    for (size_t i = 0; i < frame->rows.n && !all->too_many; i++) {
        size_t k = 0;
        if (tl_hta_on_stream(&rows[i]) || tl_map_get(wanted, (uint64_t)rows[i].correlation) == TL_MAP_NONE)
            continue;
        TL_BISECT(k, ndevice, mid, rows[device[mid]].correlation < rows[i].correlation);
        for (; k < ndevice && rows[device[k]].correlation == rows[i].correlation && !all->too_many; k++)
            add_pair(all, &rows[i], &rows[device[k]]);
    }
}

static pairs find_pairs(const tl_hta_frame *frame, const tl_hta_symbols *symbols, bool copies)
{
    const tl_hta_row *rows = frame->rows.v;
    pairs all = { .max = PAIRS_A_ROW * frame->rows.n + PAIRS_FREE };
    uint32_t ids[NLAUNCHES];
    size_t nids = copies ? NLAUNCHES : NKERNELS, n = 0;
    tl_map wanted = { 0 }; /* the correlations of the launches */
    uint32_t *device = tl_malloc(frame->rows.n * sizeof *device);

    for (size_t i = 0; i < nids; i++)
        ids[i] = tl_names_find(&symbols->texts, launches[i], strlen(launches[i]));
    for (size_t i = 0; i < frame->rows.n; i++)
        for (size_t k = 0; k < nids; k++)
            if (rows[i].name == ids[k])
                tl_map_put(&wanted, (uint64_t)rows[i].correlation, 0);
    for (size_t i = 0; i < frame->rows.n; i++)
        if (tl_hta_on_stream(&rows[i]) && tl_map_get(&wanted, (uint64_t)rows[i].correlation) != TL_MAP_NONE)
            device[n++] = (uint32_t)i;
    tl_sort_index(device, n, by_correlation, rows);
    join(&all, frame, &wanted, device, n);
    tl_map_free(&wanted);
    free(device);
    return all;
}

static void write_pairs(tl_csv *csv, const tl_hta_frame *frame, const pairs *all)
{
    TL_EACH (const pair, p, *all)
        TL_ROW(csv, frame->rank, p->correlation, tl_number(p->host, frame->dur_whole),
               tl_number(p->device, frame->dur_whole), tl_number(p->delay, frame->ts_whole && frame->dur_whole));
}

static void write_summary(tl_csv *csv, const tl_hta_parameters *cutoff, const tl_hta_frame *frame, const pairs *all,
                          bool copies)
{
    const size_t n = all->n;
    const bool dur_whole = frame->dur_whole, delay_whole = frame->ts_whole && frame->dur_whole;
    int64_t nshort = 0, nslow = 0, nlate = 0;
    double max_delay = n > 0 ? 0 : NAN;

    TL_EACH (const pair, p, *all) {
        bool slow = p->host > (double)cutoff->runtime_cutoff;
        nshort += !slow && p->device < p->host;
        nslow += slow;
        nlate += p->delay > (double)cutoff->launch_delay_cutoff;
        max_delay = fmax(max_delay, p->delay);
    }
    TL_ROW(csv, frame->rank, copies ? "True" : "False", cutoff->runtime_cutoff, cutoff->launch_delay_cutoff, n, nshort,
           nslow, nlate, tl_number(n > 0 ? TL_SUM(NULL, n, all->v, host) : 0, dur_whole),
           tl_number(n > 0 ? TL_SUM(NULL, n, all->v, device) : 0, dur_whole),
           tl_number(n > 0 ? TL_SUM(NULL, n, all->v, delay) : 0, delay_whole), tl_number(max_delay, delay_whole));
}

/* Two lines of a rank, and its pairs where copies count. */
void tl_hta_launch_stats(tl_hta_job *job)
{
    tl_csv each = tl_csv_open(&job->out, "launch_stats.csv", "rank,correlation,cpu_duration,gpu_duration,launch_delay");
    tl_csv summary = tl_csv_open(&job->out, "launch_stats_summary.csv",
                                 "rank,include_memory_events,runtime_cutoff,launch_delay_cutoff,pairs,short_kernels,"
                                 "runtime_outliers,launch_delay_outliers,sum_cpu,sum_gpu,sum_delay,max_delay");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        bool too_many = false;
        for (int copies = 1; copies >= 0 && !too_many; copies--) {
            pairs all = find_pairs(frame, &job->symbols, copies);
            too_many = all.too_many;
            if (copies && !too_many)
                write_pairs(&each, frame, &all);
            if (!too_many)
                write_summary(&summary, job->parameters, frame, &all, copies);
            free(all.v);
        }
        if (too_many)
            tl_hta_note(job, "launch_stats: rank %lld: left out: too many calls and kernels have the same correlation",
                        (long long)frame->rank);
    }
    tl_csv_close(&each);
    tl_csv_close(&summary);
}
