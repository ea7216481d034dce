/* detail_starts.c - with which work the device passes from step to step.
 *
 *     compute 7: | step 1      | step 2      |      A step begins with its first work on the stream where it computes
 *     memcpy 13:   2   3   4                        most: batches that are copied ahead on a stream of their own are
 *                                                   there long before the step is.
 */
#include "detail_rows.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* What a step computes on a stream. */
typedef struct share {
    int64_t ns;
    int32_t device, stream;
} share;

typedef struct finding {
    const tl_rank_view *view;
    tl_map shares; /* (step, device, stream) -> index in v */
    tl_map main;   /* step -> index in v, of the largest */
    TL_VEC(share) v;
} finding;

static bool is_own(const tl_kernel *k)
{
    return k->kind != TL_COMM && k->step >= 0;
}

static bool add_compute(finding *f, const tl_kernel *k)
{
    uint64_t step = (uint64_t)k->step, stream = (uint64_t)(uint32_t)k->device << 32 | (uint32_t)k->stream,
             key = tl_hash_mix(tl_hash_mix(0, step), stream);
    uint32_t at = tl_map_get(&f->shares, key), most = tl_map_get(&f->main, step);

    if (f->v.v == NULL || at == TL_MAP_NONE) {
        at = (uint32_t)f->v.n;
        if (!tl_vec_room(&f->v) || tl_map_put(&f->shares, key, at) != 0)
            return false;
        f->v.v[f->v.n++] = (share){ .device = k->device, .stream = k->stream };
    }
    f->v.v[at].ns = tl_ns_add(f->v.v[at].ns, k->end_ns - k->start_ns);
    return (most != TL_MAP_NONE && f->v.v[most].ns >= f->v.v[at].ns) || tl_map_put(&f->main, step, at) == 0;
}

/* Of a step that computes nothing any stream is. */
static bool is_main(const finding *f, const tl_kernel *k)
{
    uint32_t at = tl_map_get(&f->main, (uint64_t)k->step);
    return f->v.v == NULL || at == TL_MAP_NONE || (f->v.v[at].device == k->device && f->v.v[at].stream == k->stream);
}

static bool find_first(const finding *f, tl_step_starts *starts)
{
    const tl_kernel *kernels = f->view->kernels;
    tl_map of_step = { 0 };
    uint32_t at = 0;
    bool ok = true;

    for (uint32_t i = 0; ok && i < f->view->nkernels; i++) {
        if (!is_own(&kernels[i]) || !is_main(f, &kernels[i]))
            continue;
        uint64_t step = (uint64_t)kernels[i].step;
        if (starts->v == NULL || kernels[starts->v[at]].step != kernels[i].step)
            at = tl_map_get(&of_step, step);
        if (starts->v == NULL || at == TL_MAP_NONE) {
            at = (uint32_t)starts->n;
            ok = tl_vec_room(starts) && tl_map_put(&of_step, step, at) == 0;
            if (ok && starts->v != NULL)
                starts->v[starts->n++] = i;
        } else if (tl_kernel_by_start_uid(kernels, i, starts->v[at]) < 0) {
            starts->v[at] = i;
        }
    }
    tl_map_free(&of_step);
    return ok && (starts->n == 0 || tl_sort_index(starts->v, starts->n, tl_kernel_by_start_uid, kernels));
}

/* The device passes to a step once, and does not go back. */
static void drop_returns(const tl_rank_view *view, tl_step_starts *starts)
{
    size_t n = 0;
    for (size_t i = 0; i < starts->n; i++)
        if (n == 0 || view->kernels[starts->v[i]].step > view->kernels[starts->v[n - 1]].step)
            starts->v[n++] = starts->v[i];
    starts->n = n;
}

bool tl_detail_starts(const tl_rank_view *view, tl_step_starts *starts)
{
    finding f = { .view = view };
    bool ok = true;

    for (size_t i = 0; ok && i < view->nkernels; i++)
        if (view->kernels[i].kind == TL_COMPUTE && is_own(&view->kernels[i]))
            ok = add_compute(&f, &view->kernels[i]);
    ok = ok && find_first(&f, starts);
    drop_returns(view, starts);
    tl_map_free(&f.shares);
    tl_map_free(&f.main);
    free(f.v.v);
    return ok;
}
