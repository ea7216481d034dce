/* kernels.c - kernels and annotations by name and rank: statistics of their durations, with HTA's "others"; and launch
 * calls with their kernels.
 *
 *     names by their sum, descending            a   b   c   d   e   f
 *     running total                             5   8  10  11  12  12.5
 *     0.8-quantile of these totals, by default                  |
 *     others                                                     [ f ]      total above it, or beyond names_max
 *
 * HTA then groups by name once more, with the sums as durations: the maximum, minimum and mean of a name equal its sum,
 * and the statistics of "others" are those of its names' sums.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define OTHERS TL_TEXT("others")

typedef struct tally {
    const tl_hta_frame *frame;
    tl_text name; /* a symbol's text, or "others" */
    tl_real_stats durs;
} tally;

typedef TL_VEC(tally) tallies;

/* Selects the rows on streams of a class; with TL_HTA_NCLASSES, the rows of a category.  If a rank has more than
 * names_max names, names above this quantile of the running totals become "others". */
typedef struct choice {
    tl_hta_class class;
    uint32_t cat; /* a symbol */
    size_t names_max;
    double quantile;
} choice;

TL_ORDER_BY(by_name, tl_hta_row, name)

static int by_name_and_rank(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = tl_text_compare(x->name, y->name);
    return order != 0 ? order : TL_COMPARE(x->frame->rank, y->frame->rank);
}

/* Joins the names that count as "others"; returns the number of tallies left. */
static size_t join_others(tally *v, size_t n, const choice *c)
{
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, n, sizeof *order);
    double *totals = tl_arena_take(&arena, n, sizeof *totals);
    double *sums = tl_arena_take(&arena, n, sizeof *sums); /* of all, reversed; then the totals; then of "others" */
    tally *largest = tl_arena_take(&arena, n, sizeof *largest);
    size_t nleft = 0, nothers = 0;
    double total = 0;

    /* Sorted by sum, descending: as pandas does, the reversed column is sorted, ascending, and the result reversed. */
    for (size_t i = 0; i < n; i++)
        sums[i] = v[n - 1 - i].durs.sum;
    tl_numpy_argsort(order, sums, n);
    for (size_t i = 0; i < n; i++)
        largest[i] = v[n - 1 - order[n - 1 - i]];
    for (size_t i = 0; i < n; i++)
        sums[i] = totals[i] = total += largest[i].durs.sum;
    tl_real_sort(sums, n);
    double limit = tl_real_quantile(sums, n, c->quantile);
    for (size_t i = 0; i < n; i++) {
        const tally *t = &largest[i];
        if (totals[i] > limit || i >= c->names_max || tl_text_compare(t->name, OTHERS) == 0)
            sums[nothers++] = t->durs.sum;
        else
            v[nleft++] = (tally){ t->frame, t->name, TL_STATS(NULL, 1, t, durs.sum) };
    }
    if (nothers > 0)
        v[nleft++] = (tally){ largest->frame, OTHERS, tl_stats_of(NULL, nothers, sums, sizeof *sums) };
    tl_arena_free(&arena);
    return nleft;
}

/* Returns the tallies of all ranks, sorted by rank, then by name. */
static tallies tallies_of(const tl_hta_job *job, const choice *c)
{
    tallies all = { 0 };

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const size_t before = all.n;
        const tl_hta_row *rows = frame->rows.v;
        TL_VEC(uint32_t) order = { 0 };
        for (uint32_t i = 0; i < frame->rows.n; i++)
            if (c->class == TL_HTA_NCLASSES
                    ? rows[i].cat == c->cat
                    : tl_hta_on_stream(&rows[i]) && tl_hta_symbol_of(frame, &rows[i])->class == c->class)
                tl_vec_push(&order, i);
        tl_sort_index(order.v, order.n, by_name, rows);
        TL_GROUPS (from, to, order.v, order.n, by_name, rows) {
            tl_vec_push(&all, (tally){ frame, tl_hta_name(frame, &rows[order.v[from]]),
                                       TL_STATS(order.v + from, to - from, rows, dur) });
        }
        free(order.v);
        if (all.n == before)
            continue;
        qsort(all.v + before, all.n - before, sizeof *all.v, by_name_and_rank);
        if (all.n - before > c->names_max)
            all.n = before + join_others(all.v + before, all.n - before, c);
        qsort(all.v + before, all.n - before, sizeof *all.v, by_name_and_rank);
    }
    return all;
}

#define HEADER "name,sum (us),max (us),min (us),stddev,mean (us)"

/* Writes the tallies of all ranks: kernels by name and rank, annotations by rank and name. */
static void write_tallies(tl_csv *csv, const tl_hta_job *job, const choice *c)
{
    tallies all = tallies_of(job, c);

    if (c->class != TL_HTA_NCLASSES)
        tl_vec_sort(&all, by_name_and_rank);
    TL_EACH (const tally, t, all) {
        TL_CELLS(csv, t->name, t->durs.sum, t->durs.max, t->durs.min, t->durs.n > 1 ? t->durs.std : 0, t->durs.mean);
        if (c->class != TL_HTA_NCLASSES)
            TL_CELLS(csv, tl_hta_class_labels[c->class]);
        TL_ROW(csv, t->frame->rank);
    }
    free(all.v);
}

/* Writes the kernels by class, classes in the order of their labels; TL_HTA_OTHER is no kernel. */
static void write_kernels(tl_hta_job *job, const char *table, size_t names_max, double quantile)
{
    static const tl_hta_class classes[] = { TL_HTA_COMMUNICATION, TL_HTA_COMPUTATION, TL_HTA_MEMORY };
    tl_csv csv = tl_csv_open(&job->out, table, HEADER ",kernel_type,rank");

    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++)
        write_tallies(&csv, job, &(choice){ classes[k], TL_NO_NAME, names_max, quantile });
    tl_csv_close(&csv);
}

void tl_hta_kernel_breakdown(tl_hta_job *job)
{
    write_kernels(job, "kernel_breakdown_all.csv", SIZE_MAX, 1);
    write_kernels(job, "kernel_breakdown_default.csv", (size_t)job->parameters->num_kernels,
                  job->parameters->duration_ratio);
}

/* HTA's default number of annotations that keep a line of their own. */
#define ANNOTATION_NAMES 1000

/* As in HTA, the category is looked up among all texts, names included; without it there is no table. */
static void write_annotations(tl_hta_job *job, const char *table, tl_text category)
{
    const choice c = { TL_HTA_NCLASSES, tl_names_find(&job->symbols->texts, category.p, category.n), ANNOTATION_NAMES,
                       tl_hta_defaults.duration_ratio };
    tl_csv csv = tl_csv_open(&job->out, table, HEADER ",rank");

    if (c.cat != TL_NO_NAME)
        write_tallies(&csv, job, &c);
    else
        tl_hta_note(&job->out, "%.*s: all ranks: no row of this category, where HTA has no table",
                    (int)(strlen(table) - strlen(".csv")), table);
    tl_csv_end(&csv, c.cat != TL_NO_NAME);
}

void tl_hta_user_annotations(tl_hta_job *job)
{
    write_annotations(job, "cpu_user_annotation_breakdown.csv", TL_TEXT("user_annotation"));
    write_annotations(job, "gpu_user_annotation_breakdown.csv", TL_TEXT("gpu_user_annotation"));
}

/* --------------------------------------------------------------------------------------------------------- launches */

/* Launch calls and their kernels.
 *
 *     host     ..[ launch ]...................      cpu_duration
 *     stream   .....................[ kernel ]      gpu_duration
 *                         |<------->|               launch_delay, not below 0
 *
 * HTA knows few launch calls by name.  Of the rows with the correlation of such a call, each row without a stream
 * counts as a call and is paired with each row on a stream, which counts as a kernel. */

/* Names of launch calls; copies come after the first NKERNELS names. */
static const char *const launches[] = { "cudaLaunchKernel", "cudaLaunchKernelExC",
                                        "runFunction - job_prep_and_submit_for_execution", "cudaMemcpyAsync",
                                        "cudaMemsetAsync" };
#define NLAUNCHES (sizeof launches / sizeof launches[0])
#define NKERNELS  3

/* Most pairs of a rank: PAIRS_A_ROW for each row, and PAIRS_FREE more; a rank with more is left out, since one
 * correlation on n host and n device rows makes n * n pairs. */
#define PAIRS_A_ROW 4
#define PAIRS_FREE  ((size_t)1 << 20)

typedef struct pair {
    int64_t correlation;
    double host, device, delay;
    bool copy; /* no kernel is launched with the correlation */
} pair;

typedef TL_VEC(pair) pairs;

/* Pairs each host row that has the correlation of a launch with each device row of that correlation, in row order.
 * False: too many pairs. */
static bool find_pairs(pairs *all, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    const size_t most = PAIRS_A_ROW * frame->rows.n + PAIRS_FREE;
    tl_map wanted = { 0 }; /* correlation of a launch -> whether it launches copies alone */
    tl_map first = { 0 };  /* by correlation: its first device row */
    uint32_t *next = tl_malloc((frame->rows.n + 1) * sizeof *next); /* by row: next device row of its correlation */

    for (size_t k = NLAUNCHES; k-- > 0;) {
        const uint32_t id = tl_names_find(&frame->symbols->texts, launches[k], strlen(launches[k]));
        TL_EACH (const tl_hta_row, row, frame->rows)
            if (row->name == id)
                tl_map_put(&wanted, (uint64_t)row->correlation, k >= NKERNELS);
    }
    for (uint32_t i = (uint32_t)frame->rows.n; i-- > 0;)
        if (tl_hta_on_stream(&rows[i])) {
            next[i] = tl_map_get(&first, (uint64_t)rows[i].correlation);
            tl_map_put(&first, (uint64_t)rows[i].correlation, i);
        }
    TL_EACH (const tl_hta_row, host, frame->rows) {
        const uint32_t copy = tl_hta_on_stream(host) ? TL_MAP_NONE : tl_map_get(&wanted, (uint64_t)host->correlation);
        uint32_t k = copy == TL_MAP_NONE ? TL_MAP_NONE : tl_map_get(&first, (uint64_t)host->correlation);
        for (; k != TL_MAP_NONE && all->n <= most; k = next[k])
            tl_vec_push(all, (pair){ host->correlation, host->dur, rows[k].dur,
                                     fmax(0, rows[k].ts - host->ts - host->dur), copy != 0 });
    }
    tl_map_free(&wanted);
    tl_map_free(&first);
    free(next);
    return all->n <= most;
}

static void write_summary(tl_csv *csv, const tl_hta_parameters *cutoff, const tl_hta_frame *frame, const pairs *all,
                          bool copies)
{
    int64_t n = 0, nshort = 0, nslow = 0, nlate = 0;
    double host = 0, device = 0, delay = 0, max_delay = NAN;

    TL_EACH (const pair, p, *all) {
        bool slow = p->host > (double)cutoff->runtime_cutoff;
        if (p->copy && !copies)
            continue;
        n++;
        host += p->host;
        device += p->device;
        delay += p->delay;
        nshort += !slow && p->device < p->host;
        nslow += slow;
        nlate += p->delay > (double)cutoff->launch_delay_cutoff;
        max_delay = fmax(max_delay, p->delay);
    }
    TL_ROW(csv, frame->rank, copies ? "True" : "False", cutoff->runtime_cutoff, cutoff->launch_delay_cutoff, n, nshort,
           nslow, nlate, host, device, delay, max_delay);
}

/* Writes two summary lines for each rank, with and without copies, and the pairs, copies included. */
void tl_hta_launch_stats(tl_hta_job *job)
{
    tl_csv each = tl_csv_open(&job->out, "launch_stats.csv", "rank,correlation,cpu_duration,gpu_duration,launch_delay");
    tl_csv summary = tl_csv_open(&job->out, "launch_stats_summary.csv",
                                 "rank,include_memory_events,runtime_cutoff,launch_delay_cutoff,pairs,short_kernels,"
                                 "runtime_outliers,launch_delay_outliers,sum_cpu,sum_gpu,sum_delay,max_delay");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        pairs all = { 0 };
        if (find_pairs(&all, frame)) {
            TL_EACH (const pair, p, all)
                TL_ROW(&each, frame->rank, p->correlation, p->host, p->device, p->delay);
            write_summary(&summary, job->parameters, frame, &all, true);
            write_summary(&summary, job->parameters, frame, &all, false);
        } else {
            tl_hta_note_rank(&job->out, "launch_stats", frame, "%s",
                             "left out: too many calls and kernels have the same correlation");
        }
        free(all.v);
    }
    tl_csv_close(&each);
    tl_csv_close(&summary);
}
