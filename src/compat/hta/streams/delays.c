/* delays.c - how long operators take to launch their kernels.
 *
 *     host     [ aten::linear                      ]
 *              ...[ aten::addmm          ]
 *              .......[launch a][launch b]
 *     stream   ................[ a ].....[ b ]
 *                 |<->|                                 delay of addmm: to its first launch
 *                     |<----->|                         delay of the runtime: to the start of that kernel
 *
 * A launch belongs to the aten operator that starts last among the operators that span the launch, on any thread.
 * Kernels of operators of one name that start at one time on one thread are one run; runs with the same operator and
 * kernels are a row.
 */
#include "tlmpi/compat/hta/frame/peaks.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A launch of an operator, and its kernel. */
typedef struct launched {
    double op_ts;
    double op_us, runtime_us; /* delays */
    int64_t tid;
    uint32_t tid_text;
    uint32_t op, kernel; /* symbols */
} launched;

/* An operator with its kernels; delays of its first launch. */
typedef struct run {
    uint32_t op;
    uint32_t kernels; /* names id of the text "a -> b -> c" */
    double op_us, runtime_us;
} run;

typedef struct delays {
    const tl_hta_frame *frame;
    const tl_hta_symbols *symbols;
    uint32_t *ops; /* positions of operators, by ts */
    size_t nops;
    tl_hta_peaks ends; /* of ops */
    TL_VEC(launched) launched;
    tl_names lists; /* of kernels */
    TL_VEC(run) runs;
} delays;

static bool launches(tl_text name)
{
    return (tl_text_starts(name, "cuda") && tl_text_has((tl_text){ name.p + 4, name.n - 4 }, "LaunchKernel")) ||
           tl_text_starts(name, "cuLaunchKernel") || tl_text_starts(name, "runFunction");
}

static bool is_aten(tl_text name)
{
    return tl_text_starts(name, "aten::");
}

/* ------------------------------------------------------------------------------------------------------- operators */

/* By start; of operators with one start the first in row order stands last, and is taken. */
static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    int order = TL_COMPARE(rows[a].ts, rows[b].ts);
    return order != 0 ? order : TL_COMPARE(b, a);
}

static void find_ops(delays *d)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_op = tl_hta_symbols_that(d->symbols, is_aten);

    d->ops = tl_malloc(d->frame->rows.n * sizeof *d->ops);
    for (size_t i = 0; i < d->frame->rows.n; i++)
        if (is_op[rows[i].name])
            d->ops[d->nops++] = (uint32_t)i;
    free(is_op);
    tl_sort_index(d->ops, d->nops, by_ts, rows);
    tl_hta_peaks_make(&d->ends, d->nops);
    for (size_t i = 0; i < d->nops; i++)
        tl_hta_peaks_set(&d->ends, i, rows[d->ops[i]].end);
}

/* The operator that a launch belongs to; NULL without one. */
static const tl_hta_row *op_of(const delays *d, const tl_hta_row *launch)
{
    const tl_hta_row *rows = d->frame->rows.v;
    size_t started = 0;
    TL_BISECT(started, d->nops, mid, rows[d->ops[mid]].ts <= launch->ts);
    size_t i = tl_hta_peaks_last(&d->ends, started, launch->end);
    return i != TL_HTA_NO_PEAK ? &rows[d->ops[i]] : NULL;
}

/* By index of a launch: how many rows are linked to it, and the last of these rows. */
typedef struct linked {
    uint32_t n, last;
} linked;

static linked *find_linked(const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    size_t n = 1;

    for (size_t i = 0; i < frame->rows.n; i++)
        n = rows[i].index >= n ? (size_t)rows[i].index + 1 : n;
    linked *of = tl_calloc(n, sizeof *of);
    for (size_t i = 0; i < frame->rows.n; i++)
        if (rows[i].link >= 0 && (uint64_t)rows[i].link < n)
            of[rows[i].link] = (linked){ of[rows[i].link].n + 1, (uint32_t)i };
    return of;
}

/* False: a launch of an operator has no kernel, or more than one. */
static bool find_launched(delays *d)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_launch = tl_hta_symbols_that(d->symbols, launches), alone = true;
    linked *of = find_linked(d->frame);

    for (size_t i = 0; i < d->frame->rows.n && alone; i++) {
        const tl_hta_row *launch = &rows[i], *op = is_launch[launch->name] ? op_of(d, launch) : NULL;
        if (op == NULL)
            continue;
        const tl_hta_row *kernel = &rows[of[launch->index].last];
        const tl_track *track = &d->frame->tracks.v[launch->track];
        alone = of[launch->index].n == 1;
        tl_vec_push(&d->launched, (launched){ op->ts, launch->ts - op->ts, kernel->ts - launch->ts, track->tid,
                                              track->tid_text, op->name, kernel->name });
    }
    free(is_launch);
    free(of);
    return alone;
}

/* ------------------------------------------------------------------------------------------------------------ runs */

static int by_run(const void *context, uint32_t a, uint32_t b)
{
    const launched *x = (const launched *)context + a, *y = (const launched *)context + b;
    return TL_ORDER(x, y, tid, tid_text, op, op_ts);
}

/* The launches of a run are together, in row order. */
static void find_runs(delays *d)
{
    const launched *all = d->launched.v;
    const size_t n = d->launched.n;
    uint32_t *order = tl_sorted_index(n, by_run, all);
    tl_bytes list = { 0 };

    TL_GROUPS (from, to, order, n, by_run, all) {
        const launched *first = &all[order[from]];
        list.n = 0;
        for (size_t i = from; i < to; i++) {
            tl_text name = tl_hta_text(d->symbols, all[order[i]].kernel);
            tl_bytes_put(&list, " -> ", i > from ? 4 : 0);
            tl_bytes_put(&list, name.p, name.n);
        }
        uint32_t kernels = tl_names_intern(&d->lists, list.n > 0 ? list.v : "", list.n);
        tl_vec_push(&d->runs, (run){ first->op, kernels, first->op_us, first->runtime_us });
    }
    tl_bytes_free(&list);
    free(order);
}

static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const run *x = (const run *)context + a, *y = (const run *)context + b;
    return TL_ORDER(x, y, op, kernels);
}

/* Runs of the same operator with the same kernels: a row of the table. */
typedef struct row {
    tl_text op, kernels;
    int64_t n;
    double op_us, runtime_us;
} row;

/* The most frequent first, then by the texts, descending. */
static int by_count(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = TL_COMPARE(y->n, x->n);
    order = order != 0 ? order : tl_text_compare(y->op, x->op);
    return order != 0 ? order : tl_text_compare(y->kernels, x->kernels);
}

/* Half to even at the third decimal, by way of the scaled double. */
static double round3(double value)
{
    return rint(value * 1000) / 1000;
}

static void write_groups(tl_csv *csv, const delays *d)
{
    const run *runs = d->runs.v;
    const size_t n = d->runs.n;
    uint32_t *order = tl_sorted_index(n, by_group, runs);
    TL_VEC(row) rows = { 0 };

    TL_GROUPS (from, to, order, n, by_group, runs) {
        const run *first = &runs[order[from]];
        tl_vec_push(&rows, (row){ tl_hta_text(d->symbols, first->op), tl_names_text(&d->lists, first->kernels),
                                  (int64_t)(to - from), round3(TL_STATS(order + from, to - from, runs, op_us).mean),
                                  round3(TL_STATS(order + from, to - from, runs, runtime_us).mean) });
    }
    if (rows.n > 1)
        qsort(rows.v, rows.n, sizeof *rows.v, by_count);
    TL_EACH (const row, r, rows)
        TL_ROW(csv, d->frame->rank, r->op, r->kernels, r->n, r->op_us, r->runtime_us);
    free(rows.v);
    free(order);
}

/* False: HTA gives up the rank. */
static bool write_rank(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    delays d = { .frame = frame, .symbols = &job->symbols };

    find_ops(&d);
    bool alone = find_launched(&d), told = alone && d.launched.n > 0;
    if (told) {
        find_runs(&d);
        write_groups(csv, &d);
    } else {
        tl_hta_note(job, "aten_op_kernels_and_delay: rank %lld: %s; HTA gives up the rank", (long long)frame->rank,
                    alone ? "no aten operator launches by a call that HTA knows"
                          : "a launch has no kernel, or more than one");
    }
    tl_hta_peaks_free(&d.ends);
    tl_names_free(&d.lists);
    free(d.ops);
    free(d.launched.v);
    free(d.runs.v);
    return told;
}

void tl_hta_op_delays(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "aten_op_kernels_and_delay.csv",
                             "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay,"
                             "avg_runtime_delay");
    bool any = false;

    TL_EACH (const tl_hta_frame, frame, job->frames)
        any |= write_rank(&csv, job, frame);
    tl_csv_end(&csv, any);
}
