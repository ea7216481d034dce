/* flop.c - finds the launches that do the floating-point operations of an operator.
 *
 *     aten::linear          [==========================]     2 m k n
 *     aten::addmm              [=================]           2 m k n, the same ones
 *     launch                [1]    [2]     [3]
 *
 * A launch belongs to the innermost operator around it whose operations are known.  Of operators around each other that
 * launch work, the innermost counts: addmm, whose work are 2 and 3; launch 1, a copy, is no part of it.
 */
#include "internal.h"

void tl_flops_collect(const tl_events *e, const tl_event_list *ops, tl_computing_ops *list)
{
    tl_side shapes = TL_SIDE(e->shapes);
    bool *computes = e->shapes.n > 0 ? tl_calloc(e->names.n + 1, sizeof *computes) : NULL; /* by name */

    TL_EACH (const tl_shape_args, s, e->shapes)
        if (s->computes)
            computes[e->name[s->event]] = true;
    for (size_t i = 0; e->shapes.n > 0 && i < ops->n; i++) {
        const uint32_t name = e->name[ops->v[i]];
        const tl_shape_args *s = name != TL_NO_NAME && computes[name] ? tl_side_find(&shapes, ops->v[i]) : NULL;
        if (s != NULL && s->computes)
            tl_vec_push(list, (tl_computing_op){ .flop = s->flop, .op = (uint32_t)i, .precision = s->dtype });
    }
    free(computes);
}

/* Returns the index of the innermost of the first n that has the op in it; TL_NONE: none. */
static uint32_t innermost(const tl_computing_ops *list, size_t n, uint32_t op)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, list->v[mid].op <= op);
    uint32_t at = low > 0 && op != TL_NONE ? (uint32_t)low - 1 : TL_NONE;

    while (at != TL_NONE && list->v[at].past <= op)
        at = list->v[at].around;
    return at;
}

void tl_flops_find(tl_computing_ops *list, tl_linked *out)
{
    const tl_rank_view *view = &out->view;
    const tl_thread *thread = view->ops.threads;
    TL_VEC(tl_flop) flops = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        tl_computing_op *c = &list->v[i];
        while (c->op >= thread->first + thread->n)
            thread++;
        size_t past = c->op + 1;
        TL_BISECT(past, thread->first + thread->n, mid, view->ops.start_ns[mid] < tl_op_end(&view->ops, c->op));
        c->past = (uint32_t)past;
        c->around = innermost(list, i, c->op);
    }
    for (size_t i = 0; list->n > 0 && i < view->nlaunches; i++) {
        uint32_t at = view->launches[i].nkernels > 0 ? innermost(list, list->n, view->launches[i].op) : TL_NONE;
        if (at == TL_NONE)
            continue;
        tl_vec_push(&flops, (tl_flop){ 0, (uint32_t)i, at, 0 });
        list->v[at].launches = true;
    }
    for (size_t i = list->n; i-- > 0;)
        if ((list->v[i].launches || list->v[i].outer) && list->v[i].around != TL_NONE)
            list->v[list->v[i].around].outer = true;
    for (size_t i = 0; i < flops.n; i++) {
        tl_computing_op *c = &list->v[flops.v[i].op];
        if (c->outer)
            continue;
        flops.v[n++] = (tl_flop){ c->launches ? c->flop : 0, flops.v[i].launch, c->op, c->precision };
        c->launches = false;
    }
    out->view.flops = tl_arena_move(&out->rest, flops.v, n, sizeof *flops.v);
    out->view.nflops = n;
}
