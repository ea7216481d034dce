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
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A launch of an operator and its kernel; or, of a run, its first launch and all its kernels. */
typedef struct launched {
    double op_ts;
    double op_us, runtime_us; /* delays */
    int64_t tid;
    uint32_t tid_text;
    uint32_t op;      /* a symbol */
    uint32_t kernels; /* a symbol; of a run: names id of the text "a -> b -> c" */
} launched;

typedef TL_VEC(launched) launches;

TL_ORDER_BY(by_run, launched, tid, tid_text, op, op_ts)
TL_ORDER_BY(by_kernels, launched, op, kernels)

static bool is_launch(tl_text name)
{
    return (tl_text_starts(name, "cuda") && tl_text_has((tl_text){ name.p + 4, name.n - 4 }, "LaunchKernel")) ||
           tl_text_starts(name, "cuLaunchKernel") || tl_text_starts(name, "runFunction");
}

static bool is_aten(tl_text name)
{
    return tl_text_starts(name, "aten::");
}

/* By start; of operators with one start the first in row order stands last, and is taken. */
static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return rows[a].ts != rows[b].ts ? TL_COMPARE(rows[a].ts, rows[b].ts) : TL_COMPARE(b, a);
}

/* By index of a launch: how many rows are linked to it, and the last of these rows. */
typedef struct linked {
    uint32_t n, last;
} linked;

/* The launches of operators.  False: one of them has no kernel, or more than one. */
static bool find_launches(launches *out, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    const size_t n = frame->rows.n, nindices = tl_hta_nindices(frame);
    tl_arena arena = { 0 };
    bool *op_names = tl_hta_symbols_that(frame->symbols, is_aten);
    bool *launch_names = tl_hta_symbols_that(frame->symbols, is_launch), alone = true;
    linked *of = tl_arena_zeroed(&arena, nindices, sizeof *of);
    uint32_t *ops = tl_arena_take(&arena, n, sizeof *ops); /* by ts */
    tl_hta_peaks ends = { 0 };                             /* of ops */
    size_t nops = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (op_names[rows[i].name])
            ops[nops++] = i;
        if (rows[i].link >= 0 && (uint64_t)rows[i].link < nindices)
            of[rows[i].link] = (linked){ of[rows[i].link].n + 1, i };
    }
    tl_sort_index(ops, nops, by_ts, rows);
    tl_hta_peaks_make(&ends, nops);
    for (size_t i = 0; i < nops; i++)
        tl_hta_peaks_set(&ends, i, rows[ops[i]].end);
    for (size_t k = 0; k < n && alone; k++) {
        const tl_hta_row *launch = &rows[k];
        size_t started = 0;
        if (!launch_names[launch->name])
            continue;
        TL_BISECT(started, nops, mid, rows[ops[mid]].ts <= launch->ts);
        size_t i = tl_hta_peaks_last(&ends, started, launch->end);
        if (i == TL_HTA_NO_PEAK)
            continue;
        const tl_hta_row *op = &rows[ops[i]], *kernel = &rows[of[launch->index].last];
        const tl_track *track = &frame->tracks.v[launch->track];
        alone = of[launch->index].n == 1;
        tl_vec_push(out, (launched){ op->ts, launch->ts - op->ts, kernel->ts - launch->ts, track->tid, track->tid_text,
                                     op->name, kernel->name });
    }
    free(op_names);
    free(launch_names);
    tl_hta_peaks_free(&ends);
    tl_arena_free(&arena);
    return alone;
}

/* Makes runs of the launches, which are in row order; `lists` gets the texts of their kernels. */
static launches runs_of(const launches *all, tl_names *lists, const tl_hta_symbols *symbols)
{
    launches runs = { 0 };
    uint32_t *order = tl_sorted_index(all->n, by_run, all->v);
    tl_bytes list = { 0 };

    TL_GROUPS (from, to, order, all->n, by_run, all->v) {
        launched run = all->v[order[from]];
        list.n = 0;
        for (size_t i = from; i < to; i++) {
            tl_text name = tl_hta_text(symbols, all->v[order[i]].kernels);
            tl_bytes_put(&list, " -> ", i > from ? 4 : 0);
            tl_bytes_put(&list, name.p, name.n);
        }
        run.kernels = tl_names_intern(lists, tl_bytes_text(&list).p, list.n);
        tl_vec_push(&runs, run);
    }
    tl_bytes_free(&list);
    free(order);
    return runs;
}

/* Runs of the same operator with the same kernels. */
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

static void write_rank(tl_csv *csv, const tl_hta_frame *frame, const launches *all)
{
    tl_names lists = { 0 };
    launches runs = runs_of(all, &lists, frame->symbols);
    uint32_t *order = tl_sorted_index(runs.n, by_kernels, runs.v);
    TL_VEC(row) rows = { 0 };

    TL_GROUPS (from, to, order, runs.n, by_kernels, runs.v) {
        const launched *first = &runs.v[order[from]];
        tl_vec_push(&rows, (row){ tl_hta_text(frame->symbols, first->op), tl_names_text(&lists, first->kernels),
                                  (int64_t)(to - from), round3(TL_STATS(order + from, to - from, runs.v, op_us).mean),
                                  round3(TL_STATS(order + from, to - from, runs.v, runtime_us).mean) });
    }
    if (rows.n > 1)
        qsort(rows.v, rows.n, sizeof *rows.v, by_count);
    TL_EACH (const row, r, rows)
        TL_ROW(csv, frame->rank, r->op, r->kernels, r->n, r->op_us, r->runtime_us);
    free(rows.v);
    free(order);
    free(runs.v);
    tl_names_free(&lists);
}

void tl_hta_op_delays(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "aten_op_kernels_and_delay.csv",
                             "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay,"
                             "avg_runtime_delay");
    bool any = false;

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        launches all = { 0 };
        bool alone = find_launches(&all, frame), told = alone && all.n > 0;
        any |= told;
        if (told)
            write_rank(&csv, frame, &all);
        else
            tl_hta_note_rank(job, "aten_op_kernels_and_delay", frame, "%s; HTA gives up the rank",
                             alone ? "no aten operator launches by a call that HTA knows"
                                   : "a launch has no kernel, or more than one");
        free(all.v);
    }
    tl_csv_end(&csv, any);
}
