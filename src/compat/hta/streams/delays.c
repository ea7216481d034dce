/* delays.c - how long operators take to launch their kernels.
 *
 *     host     [ aten::linear                      ]
 *              ...[ aten::addmm          ]
 *              .......[launch a][launch b]
 *     stream   ................[ a ].....[ b ]
 *                 |<->|                                 delay of addmm: to its first launch
 *                     |<----->|                         delay of the runtime: to the start of that kernel
 *
 * A launch belongs to the aten operator that starts last of those that hold the launch whole, on whatever thread.  Kernels of
 * operators of one name that start at one time on one thread are one run; runs with the same operator and kernels are a
 * row.
 */
#include "peaks.h"
#include "series.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/compat/hta/streams.h"
#include <math.h>
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
    uint32_t kernels; /* names id of the bytes of their symbols */
    double op_us, runtime_us;
} run;

/* Runs of the same operator with the same kernels: a row of the table. */
typedef struct group {
    size_t from, n; /* of the runs in order */
} group;

typedef struct delays {
    const tl_hta_frame *frame;
    const tl_hta_symbols *symbols;
    tl_arena arena;
    uint32_t *ops; /* places of rows, by ts */
    size_t nops;
    tl_hta_peaks ends;           /* of ops */
    uint32_t *nkernels, *kernel; /* by index of a launch: how many rows are linked to it, and the place of the last */
    size_t nindices;
    TL_VEC(launched) launched;
    tl_names lists; /* of kernels */
    run *runs;
    uint32_t *order; /* of the runs: those of a group stand together */
    group *groups;
    size_t nruns, ngroups;
} delays;

static bool launches(tl_text name)
{
    return (tl_text_starts(name, "cuda") && tl_text_has((tl_text){ name.p + 4, name.n - 4 }, "LaunchKernel")) ||
           tl_text_starts(name, "cuLaunchKernel") || tl_text_starts(name, "runFunction");
}

/* Of operators that start at one time the first in row order is taken: it stands last. */
static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    int order = TL_COMPARE(rows[a].ts, rows[b].ts);
    return order != 0 ? order : TL_COMPARE(b, a);
}

static bool find_ops(delays *d)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_op = tl_arena_take(&d->arena, d->symbols->v.n, sizeof *is_op);

    for (size_t i = 0; is_op != NULL && i < d->symbols->v.n; i++)
        is_op[i] = tl_text_starts(tl_names_text(&d->symbols->texts, (uint32_t)i), "aten::");
    d->ops = tl_arena_take(&d->arena, d->frame->rows.n, sizeof *d->ops);
    if (d->arena.failed)
        return false;
    for (size_t i = 0; i < d->frame->rows.n; i++)
        if (is_op[rows[i].name])
            d->ops[d->nops++] = (uint32_t)i;
    if (!tl_sort_index(d->ops, d->nops, by_ts, rows) || !tl_hta_peaks_make(&d->ends, d->nops))
        return false;
    for (size_t i = 0; i < d->nops; i++)
        tl_hta_peaks_set(&d->ends, i, rows[d->ops[i]].end);
    return true;
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

static bool count_kernels(delays *d)
{
    const tl_hta_row *rows = d->frame->rows.v;

    for (size_t i = 0; i < d->frame->rows.n; i++)
        d->nindices = rows[i].index >= d->nindices ? (size_t)rows[i].index + 1 : d->nindices;
    d->nkernels = tl_arena_zeroed(&d->arena, d->nindices, sizeof *d->nkernels);
    d->kernel = tl_arena_take(&d->arena, d->nindices, sizeof *d->kernel);
    for (size_t i = 0; !d->arena.failed && i < d->frame->rows.n; i++)
        if (rows[i].link >= 0 && (uint64_t)rows[i].link < d->nindices) {
            d->nkernels[rows[i].link]++;
            d->kernel[rows[i].link] = (uint32_t)i;
        }
    return !d->arena.failed;
}

/* *alone: each launch of an operator has one kernel. */
static bool find_launched(delays *d, bool *alone)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_launch = tl_arena_take(&d->arena, d->symbols->v.n, sizeof *is_launch);

    for (size_t i = 0; is_launch != NULL && i < d->symbols->v.n; i++)
        is_launch[i] = launches(tl_names_text(&d->symbols->texts, (uint32_t)i));
    if (d->arena.failed)
        return false;
    for (size_t i = 0; i < d->frame->rows.n && *alone; i++) {
        const tl_hta_row *launch = &rows[i], *op = is_launch[launch->name] ? op_of(d, launch) : NULL;
        if (op == NULL)
            continue;
        *alone = d->nkernels[launch->index] == 1;
        if (!*alone)
            break;
        const tl_hta_row *kernel = &rows[d->kernel[launch->index]];
        const tl_track *track = &d->frame->tracks.v[launch->track];
        if (!tl_vec_room(&d->launched))
            return false;
        d->launched.v[d->launched.n++] =
            (launched){ op->ts,   launch->ts - op->ts, kernel->ts - launch->ts, track->tid, track->tid_text,
                        op->name, kernel->name };
    }
    return true;
}

static int by_run(const void *context, uint32_t a, uint32_t b)
{
    const launched *x = (const launched *)context + a, *y = (const launched *)context + b;
    int order = TL_COMPARE(x->tid, y->tid);
    order = order != 0 ? order : TL_COMPARE(x->tid_text, y->tid_text);
    order = order != 0 ? order : TL_COMPARE(x->op, y->op);
    return order != 0 ? order : TL_COMPARE(x->op_ts, y->op_ts);
}

/* The launches of a run are together, in row order. */
static bool find_runs(delays *d)
{
    const launched *all = d->launched.v;
    const size_t n = d->launched.n;
    uint32_t *order = tl_arena_take(&d->arena, n, sizeof *order);
    uint32_t *kernels = tl_arena_take(&d->arena, n, sizeof *kernels);
    d->runs = tl_arena_take(&d->arena, n, sizeof *d->runs);
    if (d->arena.failed)
        return false;

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    if (!tl_sort_index(order, n, by_run, all))
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        const launched *first = &all[order[from]];
        for (to = from; to < n && by_run(all, order[from], order[to]) == 0; to++)
            kernels[to - from] = all[order[to]].kernel;
        uint32_t list = tl_names_intern(&d->lists, (const char *)kernels, (to - from) * sizeof *kernels);
        if (list == TL_NO_NAME)
            return false;
        d->runs[d->nruns++] = (run){ first->op, list, first->op_us, first->runtime_us };
    }
    return true;
}

static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const run *x = (const run *)context + a, *y = (const run *)context + b;
    int order = TL_COMPARE(x->op, y->op);
    return order != 0 ? order : TL_COMPARE(x->kernels, y->kernels);
}

static bool find_groups(delays *d)
{
    d->order = tl_arena_take(&d->arena, d->nruns, sizeof *d->order);
    d->groups = tl_arena_take(&d->arena, d->nruns, sizeof *d->groups);
    if (d->arena.failed)
        return false;
    for (size_t i = 0; i < d->nruns; i++)
        d->order[i] = (uint32_t)i;
    if (!tl_sort_index(d->order, d->nruns, by_group, d->runs))
        return false;
    for (size_t i = 0; i < d->nruns; i++) {
        if (i == 0 || by_group(d->runs, d->order[i - 1], d->order[i]) != 0)
            d->groups[d->ngroups++] = (group){ .from = i };
        d->groups[d->ngroups - 1].n++;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- table */

/* "a -> b -> c" of the kernels of a run. */
static bool join_kernels(tl_bytes *out, const delays *d, const run *r)
{
    tl_text list = tl_names_text(&d->lists, r->kernels);
    bool ok = true;

    out->n = 0;
    for (size_t at = 0; ok && at < list.n; at += sizeof(uint32_t)) {
        uint32_t kernel;
        memcpy(&kernel, list.p + at, sizeof kernel);
        tl_text name = tl_names_text(&d->symbols->texts, kernel);
        ok = (at == 0 || tl_bytes_put(out, " -> ", 4)) && tl_bytes_put(out, name.p, name.n);
    }
    return ok;
}

/* Goes through the joined text of a list piece by piece: a name, or what stands between two. */
typedef struct joined {
    tl_text list, left; /* left: of the piece */
    bool between;
} joined;

static bool next_piece(joined *j, const tl_names *texts)
{
    while (j->left.n == 0) {
        uint32_t kernel;
        if (j->list.n == 0)
            return false;
        j->between = !j->between;
        if (j->between) {
            j->left = TL_TEXT(" -> ");
            continue;
        }
        memcpy(&kernel, j->list.p, sizeof kernel);
        j->list = (tl_text){ j->list.p + sizeof kernel, j->list.n - sizeof kernel };
        j->left = tl_names_text(texts, kernel);
    }
    return true;
}

/* As the joined texts would be. */
static int compare_lists(const delays *d, uint32_t a, uint32_t b)
{
    joined x = { .list = tl_names_text(&d->lists, a), .between = true };
    joined y = { .list = tl_names_text(&d->lists, b), .between = true };

    for (;;) {
        bool has_x = next_piece(&x, &d->symbols->texts), has_y = next_piece(&y, &d->symbols->texts);
        if (!has_x || !has_y)
            return has_x - has_y;
        size_t n = x.left.n < y.left.n ? x.left.n : y.left.n;
        int order = memcmp(x.left.p, y.left.p, n);
        if (order != 0)
            return order;
        x.left = (tl_text){ x.left.p + n, x.left.n - n };
        y.left = (tl_text){ y.left.p + n, y.left.n - n };
    }
}

/* The most frequent first, then by the texts, descending. */
static int by_count(const void *context, uint32_t a, uint32_t b)
{
    const delays *d = context;
    const group *x = &d->groups[a], *y = &d->groups[b];
    const run *x_run = &d->runs[d->order[x->from]], *y_run = &d->runs[d->order[y->from]];
    int order = TL_COMPARE(y->n, x->n);

    if (order == 0 && x_run->op != y_run->op)
        order = strcmp(tl_names_text(&d->symbols->texts, y_run->op).p, tl_names_text(&d->symbols->texts, x_run->op).p);
    return order != 0 ? order : compare_lists(d, y_run->kernels, x_run->kernels);
}

/* Half to even at the third decimal, by way of the scaled double. */
static double round3(double value)
{
    return rint(value * 1000) / 1000;
}

static bool write_groups(tl_sheet *csv, delays *d)
{
    uint32_t *order = tl_arena_take(&d->arena, d->ngroups, sizeof *order);
    double *op_us = tl_arena_take(&d->arena, d->nruns, sizeof *op_us);
    double *runtime_us = tl_arena_take(&d->arena, d->nruns, sizeof *runtime_us);
    tl_bytes text = { 0 };
    bool ok = !d->arena.failed;

    for (size_t i = 0; ok && i < d->ngroups; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, d->ngroups, by_count, d);
    for (size_t i = 0; ok && i < d->ngroups; i++) {
        const group *g = &d->groups[order[i]];
        const run *first = &d->runs[d->order[g->from]];
        for (size_t k = 0; k < g->n; k++) {
            op_us[k] = d->runs[d->order[g->from + k]].op_us;
            runtime_us[k] = d->runs[d->order[g->from + k]].runtime_us;
        }
        ok = join_kernels(&text, d, first);
        if (!ok)
            break;
        tl_sheet_int(csv, d->frame->rank);
        tl_sheet_text(csv, tl_names_text(&d->symbols->texts, first->op));
        tl_sheet_text(csv, (tl_text){ text.n > 0 ? text.v : "", text.n });
        tl_sheet_int(csv, (int64_t)g->n);
        tl_sheet_real(csv, round3(tl_pandas_mean(op_us, g->n)));
        tl_sheet_real(csv, round3(tl_pandas_mean(runtime_us, g->n)));
        tl_sheet_end_row(csv);
    }
    tl_bytes_free(&text);
    return ok;
}

static tl_status take_rank(tl_sheet *csv, tl_hta_job *job, const tl_hta_frame *frame, bool *any, tl_error *err)
{
    delays d = { .frame = frame, .symbols = &job->symbols };
    bool alone = true;
    tl_status st = TL_OK;

    bool ok = find_ops(&d) && count_kernels(&d) && find_launched(&d, &alone);
    if (ok && (!alone || d.launched.n == 0))
        st = tl_hta_job_note(
            job, err, "aten_op_kernels_and_delay: rank %lld: %s; HTA gives up the rank", (long long)frame->rank,
            alone ? "no aten operator launches by a call that HTA knows" : "a launch has no kernel, or more than one");
    else if (ok) {
        *any = true;
        ok = find_runs(&d) && find_groups(&d) && write_groups(csv, &d);
    }
    if (!ok)
        st = tl_fail_memory(err, "the operators of a rank");
    tl_hta_peaks_free(&d.ends);
    tl_names_free(&d.lists);
    free(d.launched.v);
    tl_arena_free(&d.arena);
    return st;
}

tl_status tl_hta_op_delays(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    bool any = false;

    tl_status st = tl_sheet_open(&csv, dir, "aten_op_kernels_and_delay.csv",
                                 "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay,"
                                 "avg_runtime_delay",
                                 err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = take_rank(&csv, job, &job->frames.v[i], &any, err);
    if (st == TL_OK && any)
        return tl_sheet_close(&csv, err);
    tl_sheet_abandon(&csv);
    return st;
}
