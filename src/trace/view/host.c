/* host.c - host events: threads, names without addresses, operators around launches, and the backward pass.
 *
 *     in the file   [op][op][call][op]      calls and ops are separate lists
 *     in the view   [1: op][1: op][2: op]   each sorted by thread, start, then longer first
 */
#include "internal.h"

static int by_time(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    return e->ts_ns[a] != e->ts_ns[b] ? TL_COMPARE(e->ts_ns[a], e->ts_ns[b]) : tl_narrow_compare(&e->dur_ns, b, a);
}

tl_event_list tl_host_order(const tl_events *e, uint32_t cats, tl_arena *arena, const tl_thread **threads,
                            size_t *nthreads)
{
    tl_thread *v = tl_arena_take(arena, e->tracks.n, sizeof *v);
    size_t *end = tl_calloc(e->tracks.n + 1, sizeof *end); /* by track: where its next event goes, finally its end */

    for (size_t i = 0; i < e->n; i++)
        end[tl_event_track(e, i) + 1] += tl_event_in(e, i, cats);
    for (size_t t = 0; t < e->tracks.n; t++)
        end[t + 1] += end[t];
    const size_t n = end[e->tracks.n];
    tl_event_list list = { .v = tl_malloc(n * sizeof *list.v), .n = n, .cap = n };
    for (size_t i = 0; i < e->n; i++)
        if (tl_event_in(e, i, cats))
            list.v[end[tl_event_track(e, i)]++] = (uint32_t)i;
    *threads = v;
    *nthreads = 0;
    for (size_t t = 0, from = 0; t < e->tracks.n; from = end[t++]) {
        tl_sort_index(list.v + from, end[t] - from, by_time, e);
        if (end[t] > from)
            v[(*nthreads)++] = (tl_thread){ (uint32_t)t, from, end[t] - from };
    }
    free(end);
    return list;
}

/* ------------------------------------------------------------------------------------------------------------ names */

typedef struct tl_name_pair {
    uint32_t name, key;
} tl_name_pair;

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Writes the text with each address replaced by "0x" and an ellipsis to out (room for twice the text).  Returns its
 * length; 0: the text has no address. */
static size_t without_addresses(tl_text text, char *out)
{
    size_t n = 0;
    bool any = false;

    for (size_t i = 0; i < text.n;) {
        if (i + 2 < text.n && text.p[i] == '0' && text.p[i + 1] == 'x' && is_hex(text.p[i + 2])) {
            for (i += 2; i < text.n && is_hex(text.p[i]); i++)
                ;
            memcpy(out + n, "0x\xe2\x80\xa6", 5);
            n += 5;
            any = true;
        } else {
            out[n++] = text.p[i++];
        }
    }
    return any ? n : 0;
}

const uint32_t *tl_name_keys_make(tl_names *names, tl_arena *arena)
{
    size_t n = names->n, cap = 0;
    TL_VEC(tl_name_pair) pairs = { 0 };
    char *room = NULL;

    for (uint32_t id = 0; id < n; id++) {
        tl_text text = tl_names_text(names, id);
        if (!tl_text_has(text, "0x"))
            continue;
        tl_grow((void **)&room, &cap, 2 * text.n + 8, 1);
        size_t length = without_addresses(text, room);
        if (length == 0)
            continue;
        tl_vec_push(&pairs, (tl_name_pair){ id, tl_names_intern(names, room, length) });
    }
    free(room);
    if (pairs.n == 0)
        return NULL;
    uint32_t *keys = tl_arena_take(arena, names->n, sizeof *keys);
    for (uint32_t id = 0; id < names->n; id++)
        keys[id] = id;
    for (size_t i = 0; i < pairs.n; i++)
        keys[pairs.v[i].name] = pairs.v[i].key;
    free(pairs.v);
    return keys;
}

/* ------------------------------------------------------------------------------------------- operators around launches
 *
 *     annotation  [forward                      ]        on the main thread
 *     operator      [aten::linear       ]
 *     operator        [aten::addmm ]
 *     launch            [1]       [2 ]   [3 ]       1: in aten::addmm, 2: in aten::linear, 3: in none; all in forward
 *
 * A call belongs to the innermost operator that lasts at least as long as the call: an operator returns after its
 * calls.  A call that outlasts every operator around its start belongs to the innermost of them: calls and operators
 * are timed by two clocks.
 *
 * One sweep over the operators of each thread and its launches, both in order of time; another one over the annotations
 * of the main thread and the launches of threads without annotations.
 */

typedef struct finding_ops {
    const tl_rank_view *view;
    tl_launch *launches;
    bool *is_mark; /* by name: is a step mark */
    tl_open_ops operators, annotations;
} finding_ops;

static uint32_t innermost_around(tl_open_ops *open, const tl_launch *launch)
{
    size_t n = tl_open_ops_around(open, launch->start_ns, launch->end_ns);
    return n > 0 ? open->stack.v[n - 1] : TL_NONE;
}

/* Sets the operators and annotations of the launches order[0, n), in order of time, from the ops of a thread.  own: the
 * launches are the thread's; else they are of other threads, and get the annotation that is open when they begin. */
static void sweep_thread(finding_ops *p, const tl_thread *thread, const uint32_t *order, size_t n, bool own)
{
    const tl_ops *ops = &p->view->ops;
    uint32_t at = (uint32_t)thread->first, end = (uint32_t)(thread->first + thread->n);

    p->operators.stack.n = p->annotations.stack.n = 0;
    for (size_t i = 0; i < n; i++) {
        tl_launch *launch = &p->launches[order[i]];
        for (; at < end && ops->start_ns[at] <= launch->start_ns; at++)
            if (ops->kind[at] == TL_OP)
                tl_open_ops_push(&p->operators, at);
            else if (ops->kind[at] == TL_ANNOTATION && ops->name[at] != TL_NO_NAME && !p->is_mark[ops->name[at]])
                tl_open_ops_push(&p->annotations, at);
        if (own)
            launch->op = innermost_around(&p->operators, launch);
        launch->annotation =
            own ? innermost_around(&p->annotations, launch) : tl_open_ops_innermost(&p->annotations, launch->start_ns);
    }
}

void tl_launches_find_ops(const tl_rank_view *view, tl_launch *launches)
{
    finding_ops p = { .view = view, .launches = launches };
    tl_arena arena = { 0 };
    tl_thread_launches by;
    size_t rest = 0;

    p.operators.ops = p.annotations.ops = &view->ops;
    p.is_mark = tl_arena_zeroed(&arena, view->names->n, sizeof *p.is_mark);
    for (uint32_t id = 0; id < view->names->n; id++)
        p.is_mark[id] = tl_is_step_mark(view->names, view->served, id);
    tl_launches_by_thread(view, &arena, &by);
    for (size_t t = 0; t < view->ops.nthreads; t++) {
        const tl_thread *thread = &view->ops.threads[t];
        const size_t *first = by.first + thread->track;
        if (thread->track < by.ntracks)
            sweep_thread(&p, thread, by.v + first[0], first[1] - first[0], true);
    }
    for (size_t i = 0; i < view->nlaunches; i++)
        if (launches[i].annotation == TL_NONE)
            by.v[rest++] = (uint32_t)i;
    const tl_thread *main_thread = rest > 0 ? tl_main_thread(&view->ops) : NULL;
    if (main_thread != NULL)
        sweep_thread(&p, main_thread, by.v, rest, false);
    for (size_t i = 0; i < view->nlaunches; i++) {
        tl_launch *launch = &launches[i];
        launch->op_name = launch->op != TL_NONE ? view->ops.name[launch->op] : TL_NO_NAME;
        launch->annotation_name = launch->annotation != TL_NONE ? view->ops.name[launch->annotation] : TL_NO_NAME;
    }
    tl_arena_free(&arena);
    free(p.operators.stack.v);
    free(p.annotations.stack.v);
}

/* ------------------------------------------------------------------------------------------------------------ backward
 *
 * Links operators of the backward pass to those of the forward pass.
 *
 *     thread 1   [aten::addmm ]...............       an arrow of category fwdbwd: it begins as the one operator does,
 *                |--------------------->|               and ends as the other begins
 *     thread 2   .......................[AddmmBackward0]
 *
 * Of operators that begin at the same instant, the innermost counts.
 */

void tl_flows_collect(const tl_events *e, tl_flows *flows)
{
    const unsigned ends = TL_EVENT_PH_START | TL_EVENT_PH_END, need = TL_EVENT_HAS_TS | TL_EVENT_HAS_CORR;
    bool any = tl_events_have(e, TL_CAT_FWDBWD);

    for (size_t i = 0; any && i < e->n; i++) {
        unsigned flags = e->flags[i];
        if (tl_event_cat(e, i) != TL_CAT_FWDBWD || !(flags & ends) || (flags & need) != need)
            continue;
        tl_vec_room(flows);
        flows->v[flows->n++] = (tl_flow){ tl_event_corr(e, i), e->ts_ns[i], tl_event_track(e, i), e->uid[i],
                                          (flags & TL_EVENT_PH_END) != 0 };
    }
}

/* Largest number of operators searched that begin at one instant; only an artificial trace has more. */
enum { MOST_AT_ONCE = 256 };

/* Returns the innermost operator of the thread that begins at at_ns; TL_NONE: there is none. */
static uint32_t op_at(const tl_ops *ops, uint32_t track, int64_t at_ns)
{
    size_t t = 0, low;
    TL_BISECT(t, ops->nthreads, mid, ops->threads[mid].track < track);
    if (t == ops->nthreads || ops->threads[t].track != track)
        return TL_NONE;
    size_t first = ops->threads[t].first;
    low = first;
    TL_BISECT(low, first + ops->threads[t].n, mid, ops->start_ns[mid] <= at_ns);
    for (size_t n = 0; n < MOST_AT_ONCE && low > first && ops->start_ns[low - 1] == at_ns; n++)
        if (ops->kind[--low] == TL_OP)
            return (uint32_t)low;
    return TL_NONE;
}

TL_SORT_BY(flow_by_id, tl_flow, id, to, uid)
TL_SORT_BY(by_op, tl_backward, op, forward)

void tl_backwards_find(tl_flows *flows, tl_linked *out)
{
    const tl_ops *ops = &out->view.ops;
    TL_VEC(tl_backward) found = { 0 };
    uint32_t forward = TL_NONE;

    if (flows->n == 0)
        return;
    qsort(flows->v, flows->n, sizeof *flows->v, flow_by_id);
    for (size_t i = 0; i < flows->n; i++) {
        const tl_flow *f = &flows->v[i];
        if (i == 0 || flows->v[i - 1].id != f->id) /* of several beginnings of one id the first counts */
            forward = f->to ? TL_NONE : op_at(ops, f->track, f->at_ns);
        if (!f->to || forward == TL_NONE)
            continue;
        uint32_t op = op_at(ops, f->track, f->at_ns);
        if (op == TL_NONE || op == forward)
            continue;
        tl_vec_push(&found, (tl_backward){ op, forward });
    }
    if (found.n > 1)
        qsort(found.v, found.n, sizeof *found.v, by_op);
    out->view.backwards = tl_arena_move(&out->host, found.v, found.n, sizeof *found.v);
    out->view.nbackwards = found.n;
}
