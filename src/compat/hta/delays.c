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
 * Launches on one thread by operators of one name and start are one run; runs with equal operator and kernels are one
 * row.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define NONE UINT32_MAX

/* A launch by an operator, with its kernel; or a run: its first launch, with the kernels of all its launches. */
typedef struct launched {
    double op_ts;
    double op_us, runtime_us; /* delays */
    int64_t tid;
    uint32_t tid_text;
    uint32_t op;      /* a symbol */
    uint32_t kernels; /* symbol of the kernel; of a run: id of the text "a -> b -> c" */
} launched;

typedef TL_VEC(launched) launches;

TL_SORT_BY(by_run, launched, tid, tid_text, op, op_ts)
TL_SORT_BY(by_kernels, launched, op, kernels)

/* Sorted by start; ties by row order, descending, so that the first row in file order is taken. */
static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return rows[a].ts != rows[b].ts ? TL_COMPARE(rows[a].ts, rows[b].ts) : TL_COMPARE(b, a);
}

/* The number of rows linked to a launch, and the position of the last. */
typedef struct linked {
    uint32_t n, last;
} linked;

/* Adds the launches by operators to *out.  False: a launch has no kernel, or several. */
static bool find_launches(launches *out, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    const size_t n = frame->rows.n, nindices = frame->nindices;
    tl_arena arena = { 0 };
    bool alone = true;
    linked *of = tl_arena_zeroed(&arena, nindices, sizeof *of);
    uint32_t *ops = tl_arena_take(&arena, n, sizeof *ops);       /* by ts */
    uint32_t *within = tl_arena_take(&arena, n, sizeof *within); /* by op: the last op before it that ends later */
    size_t nops = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (tl_hta_is(frame->symbols, rows[i].name, TL_HTA_IS_ATEN))
            ops[nops++] = i;
        if (rows[i].link >= 0 && (uint64_t)rows[i].link < nindices)
            of[rows[i].link] = (linked){ of[rows[i].link].n + 1, i };
    }
    tl_sort_index(ops, nops, by_ts, rows);
    for (uint32_t i = 0; i < nops; i++)
        for (within[i] = i - 1; within[i] != NONE && rows[ops[within[i]]].end <= rows[ops[i]].end;)
            within[i] = within[within[i]];
    for (size_t k = 0; k < n && alone; k++) {
        const tl_hta_row *launch = &rows[k];
        size_t started = 0;
        if (!tl_hta_is(frame->symbols, launch->name, TL_HTA_LAUNCHES_OP))
            continue;
        TL_BISECT(started, nops, mid, rows[ops[mid]].ts <= launch->ts);
        uint32_t i = (uint32_t)started - 1;
        while (i != NONE && rows[ops[i]].end < launch->end)
            i = within[i];
        if (i == NONE)
            continue;
        const tl_hta_row *op = &rows[ops[i]], *kernel = &rows[of[launch->index].last];
        const tl_track *track = &frame->tracks.v[launch->track];
        alone = of[launch->index].n == 1;
        tl_vec_push(out, (launched){ op->ts, launch->ts - op->ts, kernel->ts - launch->ts, track->tid, track->tid_text,
                                     op->name, kernel->name });
    }
    tl_arena_free(&arena);
    return alone;
}

/* Joins the launches, in row order, into runs; adds the texts of the runs' kernels to `lists`. */
static void make_runs(launches *all, tl_names *lists, const tl_hta_symbols *symbols)
{
    tl_bytes list = { 0 };
    size_t nruns = 0;

    tl_vec_sort(all, by_run);
    TL_RUNS (from, to, all, by_run) {
        launched run = all->v[from];
        list.n = 0;
        for (size_t i = from; i < to; i++)
            tl_bytes_join(&list, " -> ", tl_hta_text(symbols, all->v[i].kernels));
        run.kernels = tl_names_intern(lists, tl_bytes_text(&list).p, list.n);
        all->v[nruns++] = run;
    }
    all->n = nruns;
    tl_bytes_free(&list);
}

/* Runs of the same operator with the same kernels. */
typedef struct row {
    tl_text op, kernels;
    int64_t n;
    double op_us, runtime_us;
} row;

/* Sorted by count, descending; ties by the texts, descending. */
static int by_count(const void *a, const void *b)
{
    const row *x = a, *y = b;
    int order = TL_COMPARE(y->n, x->n);
    order = order != 0 ? order : tl_text_compare(y->op, x->op);
    return order != 0 ? order : tl_text_compare(y->kernels, x->kernels);
}

static void write_runs(tl_csv *csv, const tl_hta_frame *frame, launches *runs)
{
    tl_names lists = { 0 };
    TL_VEC(row) rows = { 0 };

    make_runs(runs, &lists, frame->symbols);
    tl_vec_sort(runs, by_kernels);
    TL_RUNS (from, to, runs, by_kernels) {
        const launched *first = &runs->v[from];
        tl_vec_push(&rows,
                    (row){ tl_hta_text(frame->symbols, first->op), tl_names_text(&lists, first->kernels),
                           (int64_t)(to - from), tl_numpy_round(1000, TL_STATS(NULL, to - from, first, op_us).mean),
                           tl_numpy_round(1000, TL_STATS(NULL, to - from, first, runtime_us).mean) });
    }
    tl_vec_sort(&rows, by_count);
    TL_EACH (const row, r, rows)
        TL_ROW(csv, frame->rank, r->op, r->kernels, r->n, r->op_us, r->runtime_us);
    free(rows.v);
    tl_names_free(&lists);
}

static void write_rank(tl_csv *csv, const tl_hta_frame *frame)
{
    launches all = { 0 };

    if (!find_launches(&all, frame))
        tl_hta_note_rank(csv->folder, "aten_op_kernels_and_delay", frame, "%s",
                         "a launch has no kernel, or more than one; HTA gives up the rank");
    else if (all.n == 0)
        tl_hta_note_rank(csv->folder, "aten_op_kernels_and_delay", frame, "%s",
                         "no aten operator launches by a call that HTA knows; HTA gives up the rank");
    else
        write_runs(csv, frame, &all);
    free(all.v);
}

void tl_hta_op_delays(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "aten_op_kernels_and_delay.csv",
                             "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay,"
                             "avg_runtime_delay");
    TL_EACH (const tl_hta_frame, frame, job->frames)
        write_rank(&csv, frame);
    tl_csv_close_rows(&csv);
}
