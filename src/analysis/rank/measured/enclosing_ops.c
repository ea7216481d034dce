/* enclosing_ops.c - finds the operators and annotations around an instant, or around a call.
 *
 *     host      [annotation          ]
 *                 [op       ]
 *                   [op ]
 *     instants  1    2   3    4           1, 4: in the annotation alone; 2: in the inner operator; 3: in the outer one
 */
#include "enclosing_ops.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"

typedef struct placing {
    const tl_rank_view *view;
    const uint32_t *only; /* by op, TL_NONE: the op is ignored; NULL: no op is ignored */
    tl_instant *instants;
    tl_names *names; /* receives the texts of stacks; NULL: no stacks */
    tl_open_ops operators, annotations;
    tl_bytes text;
} placing;

TL_ORDER_BY(by_thread, tl_instant, track, at_ns)

static void open_op(placing *p, uint32_t op)
{
    const tl_ops *ops = &p->view->ops;
    if (p->only != NULL ? p->only[op] == TL_NONE : ops->name[op] == TL_NO_NAME)
        return;
    if (p->only != NULL || ops->kind[op] == TL_OP)
        tl_open_ops_push(&p->operators, op);
    else if (ops->kind[op] == TL_ANNOTATION && !tl_is_step_mark(p->view->names, p->view->served, ops->name[op]))
        tl_open_ops_push(&p->annotations, op);
}

/* Sets *stack to the id of the text of the n outermost open operators. */
static void put_stack(placing *p, size_t n, uint32_t *stack)
{
    p->text.n = 0;
    for (size_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(p->view->names, p->view->ops.name[p->operators.stack.v[i]]);
        if (i != 0)
            tl_bytes_put(&p->text, " > ", 3);
        tl_bytes_put(&p->text, name.p, name.n);
    }
    if (n > 0)
        *stack = tl_names_intern(p->names, p->text.v, p->text.n);
}

/* Finds the ops around the instants order[0, n) of one thread, in order of time. */
static void sweep(placing *p, const tl_thread *thread, const uint32_t *order, size_t n)
{
    size_t at = thread->first, end = thread->first + thread->n;

    p->operators.stack.n = p->annotations.stack.n = 0;
    for (size_t i = 0; i < n; i++) {
        tl_instant *instant = &p->instants[order[i]];
        for (; at < end && p->view->ops.start_ns[at] <= instant->at_ns; at++)
            open_op(p, (uint32_t)at);
        size_t nops = tl_open_ops_around(&p->operators, instant->at_ns, instant->until_ns);
        size_t nannotations = tl_open_ops_around(&p->annotations, instant->at_ns, instant->until_ns);
        instant->op = nops > 0 ? p->operators.stack.v[nops - 1] : TL_NONE;
        instant->annotation = nannotations > 0 ? p->annotations.stack.v[nannotations - 1] : TL_NONE;
        if (p->names != NULL)
            put_stack(p, nops, &instant->stack);
    }
}

void tl_instants_find_ops(const tl_rank_view *view, const uint32_t *only, tl_instant *instants, size_t n,
                          tl_names *names)
{
    placing p = { view, only, instants, names, { .ops = &view->ops }, { .ops = &view->ops }, { 0 } };
    uint32_t *order = tl_sorted_index(n, by_thread, instants);

    for (size_t i = 0; i < n; i++)
        instants[i].op = instants[i].annotation = instants[i].stack = TL_NONE;
    for (size_t t = 0, from = 0, to; t < view->ops.nthreads; t++, from = to) { /* threads are sorted by track as well */
        const tl_thread *thread = &view->ops.threads[t];
        while (from < n && instants[order[from]].track < thread->track)
            from++;
        for (to = from; to < n && instants[order[to]].track == thread->track; to++)
            ;
        sweep(&p, thread, order + from, to - from);
    }
    free(order);
    free(p.operators.stack.v);
    free(p.annotations.stack.v);
    tl_bytes_free(&p.text);
}
