/* delays.c - how long operators take to launch their kernels.
 *
 *     host     [ aten::linear                      ]
 *              ...[ aten::addmm          ]
 *              .......[launch a][launch b]
 *     stream   ................[ a ].....[ b ]
 *                 |<->|                                 delay of addmm: to its first launch
 *                     |<----->|                         delay of the runtime: to the start of that kernel
 *
 * A launch belongs to the aten operator that starts last of those that hold the launch whole, on whatever thread.
 * Kernels of operators of one name that start at one time on one thread are one run; runs with the same operator and
 * kernels are a row.
 */
#include "delays.h"
#include "tlmpi/compat/hta/streams.h"
#include <stdlib.h>

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

static bool find_ops(tl_hta_delays *d)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_op = tl_arena_take(&d->arena, d->symbols->v.n, sizeof *is_op);

    for (size_t i = 0; is_op != NULL && i < d->symbols->v.n; i++)
        is_op[i] = tl_text_starts(tl_names_text(&d->symbols->texts, (uint32_t)i), "aten::");
    d->ops = tl_arena_take(&d->arena, d->frame->rows.n, sizeof *d->ops);
    if (is_op == NULL || d->arena.failed)
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
static const tl_hta_row *op_of(const tl_hta_delays *d, const tl_hta_row *launch)
{
    const tl_hta_row *rows = d->frame->rows.v;
    size_t started = 0;
    TL_BISECT(started, d->nops, mid, rows[d->ops[mid]].ts <= launch->ts);
    size_t i = tl_hta_peaks_last(&d->ends, started, launch->end);
    return i != TL_HTA_NO_PEAK ? &rows[d->ops[i]] : NULL;
}

static bool count_kernels(tl_hta_delays *d)
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
static bool find_launched(tl_hta_delays *d, bool *alone)
{
    const tl_hta_row *rows = d->frame->rows.v;
    bool *is_launch = tl_arena_take(&d->arena, d->symbols->v.n, sizeof *is_launch);

    for (size_t i = 0; is_launch != NULL && i < d->symbols->v.n; i++)
        is_launch[i] = launches(tl_names_text(&d->symbols->texts, (uint32_t)i));
    if (is_launch == NULL || d->arena.failed)
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
            (tl_hta_launched){ op->ts,   launch->ts - op->ts, kernel->ts - launch->ts, track->tid, track->tid_text,
                               op->name, kernel->name };
    }
    return true;
}

static int by_run(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_launched *x = (const tl_hta_launched *)context + a, *y = (const tl_hta_launched *)context + b;
    int order = TL_COMPARE(x->tid, y->tid);
    order = order != 0 ? order : TL_COMPARE(x->tid_text, y->tid_text);
    order = order != 0 ? order : TL_COMPARE(x->op, y->op);
    return order != 0 ? order : TL_COMPARE(x->op_ts, y->op_ts);
}

/* The launches of a run are together, in row order. */
static bool find_runs(tl_hta_delays *d)
{
    const tl_hta_launched *all = d->launched.v;
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
        const tl_hta_launched *first = &all[order[from]];
        for (to = from; to < n && by_run(all, order[from], order[to]) == 0; to++)
            kernels[to - from] = all[order[to]].kernel;
        uint32_t list = tl_names_intern(&d->lists, (const char *)kernels, (to - from) * sizeof *kernels);
        if (list == TL_NO_NAME)
            return false;
        d->runs[d->nruns++] = (tl_hta_run){ first->op, list, first->op_us, first->runtime_us };
    }
    return true;
}

static int by_group(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_run *x = (const tl_hta_run *)context + a, *y = (const tl_hta_run *)context + b;
    int order = TL_COMPARE(x->op, y->op);
    return order != 0 ? order : TL_COMPARE(x->kernels, y->kernels);
}

static bool find_groups(tl_hta_delays *d)
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
            d->groups[d->ngroups++] = (tl_hta_run_group){ .from = i };
        d->groups[d->ngroups - 1].n++;
    }
    return true;
}

static tl_status take_rank(tl_sheet *csv, tl_hta_job *job, const tl_hta_frame *frame, bool *any, tl_error *err)
{
    tl_hta_delays d = { .frame = frame, .symbols = &job->symbols };
    bool alone = true;
    tl_status st = TL_OK;

    bool ok = find_ops(&d) && count_kernels(&d) && find_launched(&d, &alone);
    if (ok && (!alone || d.launched.n == 0))
        st = tl_hta_job_note(
            job, err, "aten_op_kernels_and_delay: rank %lld: %s; HTA gives up the rank", (long long)frame->rank,
            alone ? "no aten operator launches by a call that HTA knows" : "a launch has no kernel, or more than one");
    else if (ok) {
        *any = true;
        ok = find_runs(&d) && find_groups(&d) && tl_hta_write_delays(csv, &d);
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
    tl_sheet_drop(&csv);
    return st;
}
