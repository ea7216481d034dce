/* place.c - in which operator and annotation each launch was made.
 *
 *     annotation  [forward                      ]        on the main thread
 *     operator      [aten::linear       ]
 *     operator        [aten::addmm ]
 *     launch            [1]       [2 ]   [3 ]            1: in aten::addmm, 2: in aten::linear, 3: in none; all in forward
 *
 * A call is in the innermost operator that lasts as long as the call: an operator returns after its calls.  A call that
 * outlasts every operator around its start is in the innermost of them: two clocks time calls and operators.
 *
 * One sweep over the operators of a thread and its launches, both in order of time; another over the annotations of the
 * main thread and the launches of threads that have none around them.
 */
#include "place.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

typedef struct placing {
    const tl_rank_view *view;
    tl_launch *launches;
    bool *is_mark; /* by name: of a step; NULL where there are no names */
    tl_open_ops operators, annotations;
} placing;

static void take_op(placing *p, uint32_t op)
{
    const tl_ops *ops = &p->view->ops;
    if (ops->kind[op] == TL_OP) {
        tl_open_ops_push(&p->operators, op);
        return;
    }
    bool named = ops->kind[op] == TL_ANNOTATION && ops->name[op] != TL_NO_NAME && !p->is_mark[ops->name[op]];
    if (named)
        tl_open_ops_push(&p->annotations, op);
}

static uint32_t around(tl_open_ops *open, const tl_launch *launch)
{
    size_t n = tl_open_ops_around(open, launch->start_ns, launch->end_ns);
    return n > 0 ? open->stack.v[n - 1] : TL_NONE;
}

/* The ops of a thread and the launches order[0, n), in order of time: those of the thread, or of others, which are in
 * what is open when they begin. */
static void sweep(placing *p, const tl_thread *thread, const uint32_t *order, size_t n, bool own)
{
    const tl_ops *ops = &p->view->ops;
    size_t at = thread->first, end = thread->first + thread->n;

    p->operators.stack.n = p->annotations.stack.n = 0;
    for (size_t i = 0; i < n; i++) {
        tl_launch *launch = &p->launches[order[i]];
        for (; at < end && ops->start_ns[at] <= launch->start_ns; at++)
            take_op(p, (uint32_t)at);
        if (own)
            launch->op = around(&p->operators, launch);
        launch->annotation =
            own ? around(&p->annotations, launch) : tl_open_ops_innermost(&p->annotations, launch->start_ns);
    }
}

static void place_all(placing *p, const tl_thread_launches *by)
{
    const tl_ops *ops = &p->view->ops;
    size_t rest = 0;

    for (size_t t = 0; t < ops->nthreads; t++) {
        const tl_thread *thread = &ops->threads[t];
        if (thread->track >= by->ntracks)
            continue;
        const size_t *first = by->first + thread->track;
        sweep(p, thread, by->v + first[0], first[1] - first[0], true);
    }
    for (size_t i = 0; i < p->view->nlaunches; i++)
        if (p->launches[i].annotation == TL_NONE)
            by->v[rest++] = (uint32_t)i;
    const tl_thread *thread = rest > 0 ? tl_main_thread(&p->view->ops) : NULL;
    if (thread != NULL)
        sweep(p, thread, by->v, rest, false);
}

static bool *find_marks(const tl_names *names)
{
    bool *is_mark = tl_calloc(names->n, sizeof *is_mark);
    for (uint32_t id = 0; id < names->n; id++)
        is_mark[id] = tl_is_step_mark(names, id);
    return is_mark;
}

void tl_launches_place(const tl_rank_view *view, tl_launch *launches)
{
    placing p = { .view = view, .launches = launches };
    tl_arena arena = { 0 };
    tl_thread_launches by;

    p.operators.ops = p.annotations.ops = &view->ops;
    p.is_mark = find_marks(view->names);
    tl_launches_by_thread(view, &arena, &by);
    place_all(&p, &by);

    for (size_t i = 0; i < view->nlaunches; i++) {
        tl_launch *launch = &launches[i];
        launch->op_name = launch->op != TL_NONE ? view->ops.name[launch->op] : TL_NO_NAME;
        launch->annotation_name = launch->annotation != TL_NONE ? view->ops.name[launch->annotation] : TL_NO_NAME;
    }
    free(p.is_mark);
    tl_arena_free(&arena);
    free(p.operators.stack.v);
    free(p.annotations.stack.v);
}
