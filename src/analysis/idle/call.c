/* call.c - a call of the runtime or driver: what it queued, and what it waits for. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/call.h"

/* ----------------------------------------------------------------------------------------------------------- names */

static uint8_t direction_named(tl_text name)
{
    if (tl_text_has(name, "DtoH") || tl_text_has(name, "DeviceToHost"))
        return TL_SYNC_D2H;
    return tl_text_has(name, "HtoD") || tl_text_has(name, "HostToDevice") ? TL_SYNC_H2D : TL_SYNC_NONE;
}

static uint8_t wait_of(const tl_call_rule *rule)
{
    if (rule->does == TL_DOES_FREE)
        return rule->after == TL_AFTER_ALL ? TL_SYNC_IMPLICIT : TL_SYNC_NONE;
    if (rule->does != TL_DOES_WAIT)
        return TL_SYNC_NONE;
    return rule->after == TL_AFTER_STREAM  ? TL_SYNC_STREAM
           : rule->after == TL_AFTER_EVENT ? TL_SYNC_EVENT
                                           : TL_SYNC_DEVICE;
}

static tl_idle_call call_named(tl_text name)
{
    const tl_call_rule *rule = tl_call_rule_of(name);
    bool graph = rule->does == TL_DOES_LAUNCH_GRAPH, copy = rule->does == TL_DOES_COPY;

    return (tl_idle_call){ .call = graph || rule->does == TL_DOES_LAUNCH                          ? TL_CALL_LAUNCH
                                   : rule->does == TL_DOES_ALLOCATE || rule->does == TL_DOES_FREE ? TL_CALL_ALLOC
                                                                                                  : TL_CALL_OTHER,
                           .wait = wait_of(rule),
                           .implicit_if_long = rule->after == TL_AFTER_ALL_IF_LONG,
                           .copy = copy,
                           .async = copy && rule->after == TL_AFTER_PERHAPS,
                           .direction = copy ? direction_named(name) : TL_SYNC_NONE,
                           .graph = graph,
                           .kernel = rule->does == TL_DOES_LAUNCH,
                           .captures = tl_text_has(name, "StreamBeginCapture") ? 1
                                       : tl_text_has(name, "StreamEndCapture") ? -1
                                                                               : 0,
                           .stream_waits = rule->does == TL_DOES_HOLD };
}

/* ----------------------------------------------------------------------------------------------------------- calls */

const tl_idle_call *tl_idle_look_at(tl_idle_rank *k, uint32_t name)
{
    static const tl_idle_call nameless = { .call = TL_CALL_OTHER, .plain = true };
    if (name == TL_NO_NAME)
        return &nameless;
    tl_idle_call *call = &k->name[name];
    *call = call_named(tl_names_text(k->view->names, name));
    call->plain =
        call->wait == TL_SYNC_NONE && !call->implicit_if_long && !call->copy && !call->graph && !call->kernel &&
        call->captures == 0 && !call->stream_waits;
    k->name_known[name] = 1;
    return call;
}

bool tl_idle_is_graph(tl_idle_rank *k, uint32_t launch)
{
    return tl_idle_call_named(k, k->view->launches[launch].name)->graph;
}

bool tl_idle_is_later_node(tl_idle_rank *k, const tl_idle_gap *g)
{
    return g->launch != TL_NONE && k->first_kernel[g->launch] != g->next && tl_idle_is_graph(k, g->launch);
}

static bool is_before(const tl_launch *l, int64_t start_ns, uint32_t uid)
{
    return l->start_ns < start_ns || (l->start_ns == start_ns && l->uid < uid);
}

uint32_t tl_idle_launch_of_call(const tl_rank_view *view, uint32_t call)
{
    uint32_t uid = view->calls.uid[call];
    size_t low = 0;
    TL_BISECT(low, view->nlaunches, mid, is_before(&view->launches[mid], view->calls.start_ns[call], uid));
    return low < view->nlaunches && view->launches[low].uid == uid ? (uint32_t)low : TL_NONE;
}

const tl_kernel *tl_idle_copy_of_call(const tl_idle_rank *k, uint32_t call)
{
    uint32_t launch = tl_idle_launch_of_call(k->view, call);
    if (launch == TL_NONE || k->first_kernel[launch] == TL_NONE)
        return NULL;
    const tl_kernel *copy = &k->view->kernels[k->first_kernel[launch]];
    return copy->kind == TL_MEMCPY ? copy : NULL;
}

/* The direction as the arguments of a HIP call say. */
static uint8_t direction_of_args(const tl_idle_rank *k, uint32_t call)
{
    int8_t kind = k->view->calls.copy[call];
    return kind == 2 ? TL_SYNC_D2H : kind == 1 ? TL_SYNC_H2D : TL_SYNC_NONE;
}

/* By the copy itself.  Where that says nothing (ROCm calls a copy to pinned memory one on the device) by the call. */
static uint8_t blocking_copy(const tl_idle_rank *k, uint32_t call, const tl_idle_call *name)
{
    const tl_calls *c = &k->view->calls;
    const tl_kernel *copy = tl_idle_copy_of_call(k, call);
    uint8_t direction = TL_SYNC_NONE;
    bool blocks = !name->async;

    if (copy != NULL) {
        tl_text text = tl_names_text(k->view->names, copy->name);
        direction = direction_named(text);
        blocks = tl_text_has(text, "Pageable") || c->start_ns[call] + c->dur_ns[call] >= copy->end_ns;
    }
    if (direction == TL_SYNC_NONE)
        direction = direction_of_args(k, call);
    if (direction == TL_SYNC_NONE)
        direction = name->direction;
    return blocks ? direction : TL_SYNC_NONE;
}

uint8_t tl_idle_wait_kind(const tl_idle_rank *k, uint32_t call, const tl_idle_call *name)
{
    if (name->copy)
        return blocking_copy(k, call, name);
    if (name->implicit_if_long && k->view->calls.dur_ns[call] > k->config->implicit_ns)
        return TL_SYNC_IMPLICIT;
    return name->wait;
}
