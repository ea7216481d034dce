/* around.c - what the host is in at an instant.
 *
 *     host      [annotation          ]
 *                 [op       ]
 *                   [op ]
 *     instants  1    2   3    4           1, 4: in the annotation alone; 2: in the inner operator, 3: in the outer one
 */
#include "around.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

typedef struct placing {
    const tl_rank_view *view;
    tl_instant *instants;
    TL_VEC(uint32_t) open; /* ops, the innermost last */
} placing;

static int by_thread(const void *context, uint32_t a, uint32_t b)
{
    const tl_instant *i = context;
    return i[a].track != i[b].track ? TL_COMPARE(i[a].track, i[b].track) : TL_COMPARE(i[a].at_ns, i[b].at_ns);
}

/* Closes what has ended by the instant; the innermost that is open then, by name. */
static uint32_t innermost(placing *p, int64_t ns)
{
    const tl_ops *ops = &p->view->ops;
    while (p->open.n > 0 && ops->start_ns[p->open.v[p->open.n - 1]] + ops->dur_ns[p->open.v[p->open.n - 1]] <= ns)
        p->open.n--;
    return p->open.n > 0 ? ops->name[p->open.v[p->open.n - 1]] : TL_NO_NAME;
}

static bool counts(const placing *p, size_t op, tl_op_kind kind)
{
    const tl_ops *ops = &p->view->ops;
    if (ops->kind[op] != kind || ops->name[op] == TL_NO_NAME)
        return false;
    return kind != TL_ANNOTATION || !tl_text_starts(tl_names_text(p->view->names, ops->name[op]), "ProfilerStep#");
}

/* The instants order[0, n) of one thread, in order of time. */
static bool sweep(placing *p, const tl_thread *thread, tl_op_kind kind, const uint32_t *order, size_t n)
{
    const tl_ops *ops = &p->view->ops;
    size_t at = thread->first, end = thread->first + thread->n;

    p->open.n = 0;
    for (size_t i = 0; i < n; i++) {
        tl_instant *instant = &p->instants[order[i]];
        for (; at < end && ops->start_ns[at] <= instant->at_ns; at++) {
            if (!counts(p, at, kind))
                continue;
            (void)innermost(p, ops->start_ns[at]);
            if (!tl_vec_room(&p->open))
                return false;
            p->open.v[p->open.n++] = (uint32_t)at;
        }
        *(kind == TL_OP ? &instant->op : &instant->annotation) = innermost(p, instant->at_ns);
    }
    return true;
}

bool tl_instants_place(const tl_rank_view *view, tl_instant *instants, size_t n)
{
    placing p = { .view = view, .instants = instants };
    uint32_t *order = tl_malloc(n * sizeof *order);
    bool ok = order != NULL || n == 0;

    for (size_t i = 0; ok && i < n; i++) {
        order[i] = (uint32_t)i;
        instants[i].op = instants[i].annotation = TL_NO_NAME;
    }
    ok = ok && tl_sort_index(order, n, by_thread, instants);
    for (size_t t = 0, from = 0, to; ok && t < view->ops.nthreads; t++, from = to) { /* threads are by track, too */
        const tl_thread *thread = &view->ops.threads[t];
        while (from < n && instants[order[from]].track < thread->track)
            from++;
        for (to = from; to < n && instants[order[to]].track == thread->track; to++)
            ;
        ok = sweep(&p, thread, TL_OP, order + from, to - from) &&
             sweep(&p, thread, TL_ANNOTATION, order + from, to - from);
    }
    free(order);
    free(p.open.v);
    return ok;
}
