/* flop.c - which launches do the floating-point operations of which operators?
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
        const uint32_t at = name != TL_NO_NAME && computes[name] ? tl_side_find(&shapes, ops->v[i]) : TL_NONE;
        const tl_shape_args *s = at != TL_NONE ? &e->shapes.v[at] : NULL;
        if (s != NULL && s->computes)
            tl_vec_push(list, (tl_computing_op){ .flop = s->flop, .op = (uint32_t)i, .precision = s->dtype });
    }
    free(computes);
}

/* Fills past and around. */
static void nest(const tl_ops *ops, tl_computing_ops *list)
{
    const tl_thread *thread = ops->threads;

    for (uint32_t i = 0; i < list->n; i++) {
        tl_computing_op *c = &list->v[i];
        while (c->op >= thread->first + thread->n)
            thread++;
        size_t past = c->op + 1;
        TL_BISECT(past, thread->first + thread->n, mid, ops->start_ns[mid] < tl_op_end(ops, c->op));
        c->past = (uint32_t)past;
        c->around = i > 0 ? i - 1 : TL_NONE;
        while (c->around != TL_NONE && list->v[c->around].past <= c->op)
            c->around = list->v[c->around].around;
    }
}

/* Returns the innermost of the list that has the op in it; NULL: none. */
static tl_computing_op *innermost(const tl_computing_ops *list, uint32_t op)
{
    size_t low = 0;
    TL_BISECT(low, list->n, mid, list->v[mid].op <= op);
    uint32_t at = low > 0 && op != TL_NONE ? (uint32_t)low - 1 : TL_NONE;

    while (at != TL_NONE && list->v[at].past <= op)
        at = list->v[at].around;
    return at != TL_NONE ? &list->v[at] : NULL;
}

void tl_flops_find(tl_computing_ops *list, tl_linked *out)
{
    const tl_rank_view *view = &out->view;
    TL_VEC(tl_flop) flops = { 0 };
    tl_computing_op **of = list->n > 0 ? tl_malloc((view->nlaunches + 1) * sizeof *of) : NULL; /* by launch */

    nest(&view->ops, list);
    for (size_t i = 0; list->n > 0 && i < view->nlaunches; i++) {
        of[i] = view->launches[i].nkernels > 0 ? innermost(list, view->launches[i].op) : NULL;
        if (of[i] != NULL)
            of[i]->launches = true;
    }
    for (size_t i = list->n; i-- > 0;)
        if ((list->v[i].launches || list->v[i].outer) && list->v[i].around != TL_NONE)
            list->v[list->v[i].around].outer = true;
    for (size_t i = 0; list->n > 0 && i < view->nlaunches; i++)
        if (of[i] != NULL && !of[i]->outer) {
            tl_vec_push(&flops,
                        (tl_flop){ of[i]->launches ? of[i]->flop : 0, (uint32_t)i, of[i]->op, of[i]->precision });
            of[i]->launches = false;
        }
    free(of);
    out->view.flops = tl_arena_move(&out->rest, flops.v, flops.n, sizeof *flops.v);
    out->view.nflops = flops.n;
}
