/* detail_device.c - what a rank's device did, by name, and the time of each step by activity. */
#include "detail_rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static bool add_work(tl_detail_rows *rows)
{
    bool ok = true;
    for (size_t i = 0; ok && i < rows->view->nkernels; i++) {
        const tl_kernel *k = &rows->view->kernels[i];
        tl_detail what = { .ns = k->end_ns - k->start_ns, .count = 1 };
        if (k->name == TL_NO_NAME)
            continue;
        if (k->kind == TL_COMM)
            what.size = rows->view->colls[k->coll].bytes;
        else
            what.size = k->kind == TL_COMPUTE ? k->blocks : k->bytes;
        what.size = what.size > 0 ? what.size : 0;
        ok = tl_detail_add(rows, k->kind == TL_COMM ? TL_DETAIL_COMM : TL_DETAIL_WORK, k->step, k->name,
                           tl_activity_of_work(rows->view, k), &what);
    }
    return ok;
}

static bool add_parts(tl_detail_rows *rows, const tl_activity *activity, tl_activity_cursor *cursor, int32_t step,
                      int64_t from_ns, int64_t to_ns)
{
    tl_activity_ns sum = { { 0 } };
    bool ok = true;
    tl_activity_add(activity, cursor, from_ns, to_ns, &sum);
    for (int kind = 0; ok && kind < TL_NACTIVITIES; kind++)
        if (sum.ns[kind] > 0)
            ok = tl_detail_add(rows, TL_DETAIL_ACTIVITY, step, TL_NO_NAME, (tl_activity_kind)kind,
                               &(tl_detail){ .ns = sum.ns[kind] });
    return ok;
}

/* busy_to[i]: the last end of the work of earlier steps that starts before start i, and of all for i = n. */
static void find_ends(const tl_rank_view *view, const tl_step_starts *starts, int64_t *busy_to)
{
    for (uint32_t i = 0; i < view->nkernels; i++) {
        size_t low = 0;
        TL_BISECT(low, starts->n, mid, tl_kernel_by_start_uid(view->kernels, starts->v[mid], i) <= 0);
        if (low == starts->n || view->kernels[i].step < view->kernels[starts->v[low]].step)
            busy_to[low] = tl_ns_max(busy_to[low], view->kernels[i].end_ns);
    }
    for (size_t i = 1; i <= starts->n; i++)
        busy_to[i] = tl_ns_max(busy_to[i], busy_to[i - 1]);
}

static bool add_steps(tl_detail_rows *rows, const tl_activity *activity)
{
    const tl_kernel *kernels = rows->view->kernels;
    int64_t from = activity->n > 0 ? activity->start_ns[0] : 0, *busy_to = NULL;
    tl_activity_cursor cursor = { 0 };
    tl_step_starts starts = { 0 };
    bool ok = tl_detail_starts(rows->view, &starts);

    if (ok)
        busy_to = tl_malloc((starts.n + 1) * sizeof *busy_to);
    ok = busy_to != NULL;
    for (size_t i = 0; ok && i <= starts.n; i++)
        busy_to[i] = from;
    if (ok)
        find_ends(rows->view, &starts, busy_to);
    for (size_t i = 0; ok && i <= starts.n; i++) {
        int64_t cut = i < starts.n ? tl_ns_min(busy_to[i], kernels[starts.v[i]].start_ns) : busy_to[i];
        ok = add_parts(rows, activity, &cursor, i > 0 ? kernels[starts.v[i - 1]].step : -1, from, cut);
        from = cut;
    }
    free(busy_to);
    free(starts.v);
    return ok;
}

bool tl_detail_device(tl_detail_rows *rows, const tl_activity *activity)
{
    return add_work(rows) && add_steps(rows, activity);
}
