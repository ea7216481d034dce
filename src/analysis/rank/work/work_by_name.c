/* work_by_name.c - the names with most of a rank's time, step by step: device work by duration; operators and calls of
 * launching threads by the idle time that they cover; and waits by the idle time after them.
 *
 *     host     [launch a][item                ]....................[launch b]
 *     device          [      a      ]                                   [ b ]
 *                                   |<-- idle time that follows the wait -->|
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/rank/work/local.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* -------------------------------------------------------------------------------------------- idle time of the host */

/* Sums over an activity, which is borrowed.  host_idle_free ends it. */
typedef struct tl_host_idle {
    const tl_activity *activity;
    int64_t *before;  /* by block of stretches: idle time before the block, ns */
    int64_t *longest; /* tree of maxima: leaf nblocks + b has the largest idle time, ns, of one span that begins in
                       * block b */
    size_t nblocks;
} tl_host_idle;

/* Sums of the idle time that the host causes.
 *
 *     activity    ccc.ccch..ccccccssccccc.cccc      idle: h, s by the host, . by the device
 *     spans         |   |--      |-     |          each from the first instant without work to the next work
 */

/* Number of stretches in a block: each block has a stored sum. */
enum { BLOCK = 16 };

static bool is_idle(const tl_activity *a, size_t i)
{
    return a->kind[i] > TL_ACTIVITY_COMM;
}

/* Returns how long the device idles because of the host in stretch i, in ns. */
static int64_t host_idle_in_stretch(const tl_activity *a, size_t i)
{
    return is_idle(a, i) && a->kind[i] != TL_ACTIVITY_DEVICE ? a->start_ns[i + 1] - a->start_ns[i] : 0;
}

/* Returns the sum of host_idle_in_stretch, in ns, over the idle span that begins with stretch *i; moves *i to the first
 * stretch after the span. */
static int64_t host_idle_in_span(const tl_activity *a, size_t *i)
{
    int64_t sum = 0;
    for (; *i < a->n && is_idle(a, *i); ++*i)
        sum += host_idle_in_stretch(a, *i);
    return sum;
}

static void host_idle_make(tl_host_idle *idle, const tl_activity *a)
{
    size_t n = a->n / BLOCK + 1;
    int64_t sum = 0;

    *idle = (tl_host_idle){ .activity = a,
                            .before = tl_malloc(n * sizeof *idle->before),
                            .longest = tl_calloc(2 * n, sizeof *idle->longest),
                            .nblocks = n };
    for (size_t i = 0; i <= a->n; i++) {
        if (i % BLOCK == 0)
            idle->before[i / BLOCK] = sum;
        sum += i < a->n ? host_idle_in_stretch(a, i) : 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        int64_t *leaf = &idle->longest[n + i / BLOCK];
        *leaf = tl_ns_max(*leaf, host_idle_in_span(a, &i)); /* stretch i is work then: skipped */
    }
    for (size_t i = n; i-- > 1;)
        idle->longest[i] = tl_ns_max(idle->longest[2 * i], idle->longest[2 * i + 1]);
}

static void host_idle_free(tl_host_idle *idle)
{
    free(idle->before);
    free(idle->longest);
    *idle = (tl_host_idle){ 0 };
}

/* Returns the first stretch from `at` on that ends after t; searches in doubling steps, since it is often near. */
static size_t first_ending_after(const tl_activity *a, size_t at, int64_t t_ns)
{
    size_t low = at, step = 1;
    while (at < a->n && a->start_ns[at + 1] <= t_ns) {
        low = at + 1;
        at = a->n - at > step ? at + step : a->n;
        step *= 2;
    }
    TL_BISECT(low, at, mid, a->start_ns[mid + 1] <= t_ns);
    return low;
}

/* Returns the idle time caused by the host before t, in ns; stretch `at` is the first that ends after t. */
static int64_t idle_before(const tl_host_idle *idle, size_t at, int64_t t_ns)
{
    const tl_activity *a = idle->activity;
    size_t i = at / BLOCK * BLOCK;
    int64_t sum = idle->before[at / BLOCK];

    for (; i < at; i++)
        sum += host_idle_in_stretch(a, i);
    return at < a->n && host_idle_in_stretch(a, at) > 0 && t_ns > a->start_ns[at] ? sum + (t_ns - a->start_ns[at])
                                                                                  : sum;
}

/* Returns the idle time that the host causes in [start, end), in ns.  *at: 0 in the first call, then left as it is;
 * calls ascend by start. */
static int64_t host_idle_within(const tl_host_idle *idle, size_t *at, int64_t start_ns, int64_t end_ns)
{
    const tl_activity *a = idle->activity;

    *at = first_ending_after(a, *at, start_ns);
    if (*at == a->n || a->start_ns[*at] >= end_ns)
        return 0;
    if (a->start_ns[*at + 1] >= end_ns)
        return host_idle_in_stretch(a, *at) > 0 ? end_ns - tl_ns_max(start_ns, a->start_ns[*at]) : 0;
    return idle_before(idle, first_ending_after(a, *at, end_ns), end_ns) - idle_before(idle, *at, start_ns);
}

/* Returns the first stretch that begins after t. */
static size_t first_beginning_after(const tl_activity *a, int64_t t_ns)
{
    size_t low = 0;
    TL_BISECT(low, a->n, mid, a->start_ns[mid] <= t_ns);
    return low;
}

/* Returns the largest host_idle_in_span, in ns, of the spans that begin in stretches [from, to). */
static int64_t longest_of(const tl_activity *a, size_t from, size_t to)
{
    int64_t most = 0;
    for (size_t i = from; i < to; i++) {
        size_t after = i;
        if (is_idle(a, i) && (i == 0 || !is_idle(a, i - 1)))
            most = tl_ns_max(most, host_idle_in_span(a, &after));
    }
    return most;
}

/* Returns the largest idle time, in ns, that the host causes in one idle span that begins in (from, to]. */
static int64_t host_idle_longest(const tl_host_idle *idle, int64_t from_ns, int64_t to_ns)
{
    const tl_activity *a = idle->activity;
    size_t from = first_beginning_after(a, from_ns), to = first_beginning_after(a, to_ns);
    size_t low = (from + BLOCK - 1) / BLOCK, high = to / BLOCK;

    if (low >= high)
        return longest_of(a, from, to);
    int64_t most = tl_ns_max(longest_of(a, from, low * BLOCK), longest_of(a, high * BLOCK, to));
    for (low += idle->nblocks, high += idle->nblocks; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1)
            most = tl_ns_max(most, idle->longest[low++]);
        if (high % 2 == 1)
            most = tl_ns_max(most, idle->longest[--high]);
    }
    return most;
}

/* The depth given to calls: deeper than any operator. */
enum { DEPTH_OF_CALLS = 100000 };
/* An operator may seem to end this long before a call in it, since both times are rounded. */
static const int64_t rounding_ns = 1000;

/* The span from the previous turn's to_ns to to_ns, in which thread `track` alone launches work: other threads are
 * taken to wait for it. */
typedef struct turn {
    int64_t to_ns;
    uint32_t track;
} turn;

/* The end of the last span of a name, on the thread of number `walk`. */
typedef struct cover {
    int64_t to_ns;
    uint32_t walk;
} cover;

typedef struct gathering {
    const tl_rank_view *view;
    tl_map index_of; /* (kind, step, name) -> index in rows */
    TL_VEC(tl_named_work) rows;
    tl_host_idle idle;
    tl_arena arena;
    int64_t *working; /* starts of the launches of work, in order of time */
    size_t nworking;
    turn *turns; /* of the threads that launch work, in order of time */
    size_t nturns;
    cover *covered;            /* by name */
    uint32_t nwalks;           /* number of the current thread, from 1 */
    uint8_t *of_call, *of_op;  /* by name: the idle activity of a call, or operator, of that name */
    bool *is_step;             /* by name: a step mark, whose time lies under other names */
    const tl_call_rule **rule; /* by name: the rule of a call of that name */
} gathering;

/* Adds time, size and count to the row of (kind, step, name). */
static void add_to_name(gathering *g, tl_named_work_kind kind, int32_t step, uint32_t name, tl_activity_kind activity,
                        tl_named_work what)
{
    name = tl_name_key(g->view, name);
    uint64_t key = tl_hash_mix(tl_hash_mix((uint64_t)kind, (uint64_t)(int64_t)step), (uint64_t)name);
    const uint32_t at = tl_map_number(&g->index_of, key, g->rows.n);
    if (at >= g->rows.n)
        tl_vec_push(&g->rows, (tl_named_work){ .rank = g->view->rank,
                                               .step = step,
                                               .name = name,
                                               .kind = (uint8_t)kind,
                                               .activity = (uint8_t)activity });
    tl_named_work *row = &g->rows.v[at];
    row->ns = tl_ns_add(row->ns, what.ns);
    row->size = tl_ns_add(row->size, what.size);
    row->count += what.count;
    row->depth = what.depth > row->depth ? what.depth : row->depth;
    row->frame = what.frame;
}

/* Adds kernels, copies and memsets. */
static void add_device_work(gathering *g)
{
    for (size_t i = 0; i < g->view->nkernels; i++) {
        const tl_kernel *k = &g->view->kernels[i];
        int64_t size = k->kind == TL_COMM      ? g->view->colls[k->coll].bytes
                       : k->kind == TL_COMPUTE ? k->blocks
                                               : k->bytes;
        if (k->name != TL_NO_NAME)
            add_to_name(g, k->kind == TL_COMM ? TL_NAMED_COMM : TL_NAMED_WORK, k->step, k->name,
                        tl_activity_of_work(g->view, k),
                        (tl_named_work){ .ns = k->end_ns - k->start_ns, .size = tl_ns_max(size, 0), .count = 1 });
    }
}

/* ------------------------------------------------------------------------------------------------------------- host */

static void list_launches(gathering *g)
{
    g->working = tl_arena_take(&g->arena, g->view->nlaunches, sizeof *g->working);
    g->turns = tl_arena_take(&g->arena, g->view->nlaunches, sizeof *g->turns);
    for (size_t i = 0; i < g->view->nlaunches; i++) {
        const tl_launch *launch = &g->view->launches[i];
        if (launch->nkernels == 0)
            continue;
        g->working[g->nworking++] = launch->start_ns;
        g->nturns += g->nturns == 0 || g->turns[g->nturns - 1].track != launch->track;
        g->turns[g->nturns - 1] = (turn){ launch->start_ns, launch->track };
    }
}

/* Returns the part of [start, end), in ns, that lies in the thread's turns. */
static int64_t time_in_turn(const gathering *g, uint32_t track, int64_t start_ns, int64_t end_ns)
{
    size_t i = 0;
    int64_t sum_ns = 0;
    TL_BISECT(i, g->nturns, mid, g->turns[mid].to_ns <= start_ns);
    for (; i < g->nturns && start_ns < end_ns; start_ns = g->turns[i++].to_ns)
        if (g->turns[i].track == track)
            sum_ns += tl_ns_min(g->turns[i].to_ns, end_ns) - start_ns;
    return sum_ns;
}

static void prepare_host(gathering *g)
{
    size_t n = g->view->names->n;
    g->covered = tl_arena_zeroed(&g->arena, n, sizeof *g->covered);
    g->of_call = tl_arena_take(&g->arena, n, sizeof *g->of_call);
    g->of_op = tl_arena_take(&g->arena, n, sizeof *g->of_op);
    g->is_step = tl_arena_take(&g->arena, n, sizeof *g->is_step);
    g->rule = tl_arena_take(&g->arena, n, sizeof *g->rule);
    for (uint32_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(g->view->names, i);
        g->of_call[i] = (uint8_t)tl_idle_activity_of_call(name);
        g->of_op[i] = (uint8_t)tl_idle_activity_of_op(name);
        g->is_step[i] = tl_is_step_mark(g->view->names, g->view->served, i);
        g->rule[i] = tl_call_rule_of(name);
    }
    list_launches(g);
}

/* Returns the start of the first launch of work from t on; INT64_MAX: none. */
static int64_t next_launch(const gathering *g, int64_t t_ns)
{
    size_t low = 0;
    TL_BISECT(low, g->nworking, mid, g->working[mid] < t_ns);
    return low < g->nworking ? g->working[low] : INT64_MAX;
}

/* Host work belongs to the step of its beginning, as in the graph (graph/host.c). */
static int32_t step_at(const gathering *g, int64_t start_ns)
{
    return tl_step_at(g->view->steps, g->view->nsteps, start_ns);
}

/* Adds the idle time that a span covers to its name, unless the span lies within another one of that name. */
static void add_span(gathering *g, uint32_t name, tl_activity_kind activity, int64_t start_ns, int64_t end_ns,
                     int64_t idle_ns, uint32_t depth, bool frame)
{
    uint32_t key = tl_name_key(g->view, name);
    if (idle_ns <= 0 || (g->covered[key].walk == g->nwalks && start_ns < g->covered[key].to_ns))
        return;
    g->covered[key] = (cover){ end_ns, g->nwalks };
    add_to_name(g, TL_NAMED_HOST, step_at(g, start_ns), name, activity,
                (tl_named_work){ .ns = idle_ns, .count = 1, .depth = depth, .frame = frame });
}

/* An operator that has not ended; inner_ns: time in turn of the operators directly inside it. */
typedef struct open_span {
    size_t op;
    int64_t end_ns, inner_ns;
} open_span;

typedef TL_VEC(open_span) open_spans;

/* Removes the innermost open span; adds its own time in turn, without the spans inside it. */
static void close_span(gathering *g, const tl_thread *thread, open_spans *open)
{
    const tl_ops *ops = &g->view->ops;
    const open_span *s = &open->v[--open->n];
    int64_t start_ns = ops->start_ns[s->op], turn_ns = s->end_ns - start_ns;
    uint32_t name = ops->name[s->op];

    if (turn_ns > TL_CLOCK_ERROR_NS)
        turn_ns = time_in_turn(g, thread->track, start_ns, s->end_ns);
    if (open->n > 0)
        open->v[open->n - 1].inner_ns += turn_ns;
    if (turn_ns <= s->inner_ns || name == TL_NO_NAME || g->is_step[name])
        return;
    add_to_name(g, TL_NAMED_SPAN, step_at(g, start_ns), name, TL_ACTIVITY_HOST,
                (tl_named_work){ .ns = turn_ns - s->inner_ns, .count = 1, .frame = ops->kind[s->op] == TL_FRAME });
}

static void add_ops(gathering *g, const tl_thread *thread)
{
    const tl_ops *ops = &g->view->ops;
    open_spans open = { 0 }; /* the operators around operator i */
    size_t at = 0;

    g->nwalks++;
    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        int64_t start = ops->start_ns[i], end = tl_op_end(ops, i);
        while (open.n > 0 && open.v[open.n - 1].end_ns <= start)
            close_span(g, thread, &open);
        if (ops->name[i] != TL_NO_NAME)
            add_span(g, ops->name[i], (tl_activity_kind)g->of_op[ops->name[i]], start, end,
                     host_idle_within(&g->idle, &at, start, end), (uint32_t)open.n, ops->kind[i] == TL_FRAME);
        tl_vec_push(&open, (open_span){ .op = i, .end_ns = end });
    }
    while (open.n > 0)
        close_span(g, thread, &open);
    free(open.v);
}

/* Returns the name of the innermost operator around the call: the last that begins by its start and ends after it; the
 * call's own name without one.  *at: the thread's operators that begin by the start of the call; it only grows from
 * call to call. */
static uint32_t name_of_wait(const gathering *g, const tl_thread *thread, size_t *at, size_t call)
{
    const tl_ops *ops = &g->view->ops;
    int64_t start = g->view->calls.start_ns[call], end = tl_call_end(&g->view->calls, call);
    if (thread == NULL || g->of_call[g->view->calls.name[call]] == TL_ACTIVITY_ALLOCATOR)
        return g->view->calls.name[call];
    while (*at < thread->n && ops->start_ns[thread->first + *at] <= start)
        ++*at;
    /* Operators that launch are short: the enclosing one is near. */
    for (size_t i = *at, looked = 0; i-- > 0 && looked < 64; looked++) {
        size_t op = thread->first + i;
        if (ops->kind[op] == TL_OP && tl_op_end(ops, op) + rounding_ns >= end && ops->name[op] != TL_NO_NAME)
            return ops->name[op];
    }
    return g->view->calls.name[call];
}

/* Returns the largest idle span, in ns, that begins during the call, within the clock error after it or, for calls that
 * always wait, before the host's next launch (until then communication may keep the device busy). */
static int64_t idle_after(const gathering *g, int64_t start_ns, int64_t end_ns, const tl_call_rule *rule)
{
    bool sure = rule->does == TL_DOES_WAIT || rule->after == TL_AFTER_COPY;
    int64_t until = end_ns + TL_CLOCK_ERROR_NS;
    return host_idle_longest(&g->idle, start_ns, sure ? tl_ns_max(next_launch(g, end_ns), until) : until);
}

static void add_calls(gathering *g, const tl_thread *thread, const tl_thread *ops)
{
    const tl_calls *calls = &g->view->calls;
    size_t at = 0, op_at = 0;

    g->nwalks++;
    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        int64_t start = calls->start_ns[i], end = tl_call_end(calls, i);
        uint32_t name = calls->name[i];
        if (name == TL_NO_NAME)
            continue;
        const tl_call_rule *rule = g->rule[name];
        /* Calls that launch work are left out if operators are recorded: operators say more about the host's work. */
        if (ops == NULL || (rule->does != TL_DOES_LAUNCH && rule->does != TL_DOES_LAUNCH_GRAPH))
            add_span(g, name, (tl_activity_kind)g->of_call[name], start, end,
                     host_idle_within(&g->idle, &at, start, end), DEPTH_OF_CALLS, false);
        if (rule->after == TL_AFTER_NOTHING) /* the call waits for no device work */
            continue;
        int64_t ns = idle_after(g, start, end, rule);
        if (ns > 0 || g->of_call[name] == TL_ACTIVITY_SYNC)
            add_to_name(g, TL_NAMED_WAIT, step_at(g, start), name_of_wait(g, ops, &op_at, i),
                        g->of_call[name] == TL_ACTIVITY_ALLOCATOR ? TL_ACTIVITY_ALLOCATOR : TL_ACTIVITY_SYNC,
                        (tl_named_work){ .ns = ns, .size = end - start, .count = 1 });
    }
}

/* Returns the thread of a track; NULL: none.  Threads ascend by track. */
static const tl_thread *thread_of(const tl_thread *threads, size_t n, uint32_t track)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, threads[mid].track < track);
    return low < n && threads[low].track == track ? &threads[low] : NULL;
}

/* Adds the operators and calls of threads that launch work. */
static void add_host(gathering *g)
{
    const tl_rank_view *view = g->view;
    tl_map launching = { 0 };
    prepare_host(g);
    tl_launching_tracks(view, &launching);
    for (size_t t = 0; t < view->ops.nthreads; t++)
        if (tl_map_get(&launching, view->ops.threads[t].track) != TL_MAP_NONE)
            add_ops(g, &view->ops.threads[t]);
    for (size_t t = 0; t < view->calls.nthreads; t++)
        if (tl_map_get(&launching, view->calls.threads[t].track) != TL_MAP_NONE)
            add_calls(g, &view->calls.threads[t],
                      thread_of(view->ops.threads, view->ops.nthreads, view->calls.threads[t].track));
    tl_map_free(&launching);
}

TL_SORT_BY(by_time, tl_named_work, kind, step, DOWN(ns), DOWN(depth), name)

/* The rows with most time of a kind and step, in order. */
typedef struct largest {
    tl_named_work v[TL_WORK_BY_NAME_MAX];
    size_t n;
} largest;

/* Appends the TL_WORK_BY_NAME_MAX rows with most time of each kind and step. */
static void keep_largest(const gathering *g, tl_work_by_name *work_by_name)
{
    tl_map number_of = { 0 };
    TL_VEC(largest) all = { 0 };

    TL_EACH (const tl_named_work, row, g->rows) {
        const uint64_t key = (uint64_t)row->kind << 32 | (uint32_t)row->step;
        const uint32_t number = tl_map_number(&number_of, key, all.n);
        if (number >= all.n)
            tl_vec_push(&all, (largest){ .n = 0 });
        largest *of = &all.v[number];
        of->n = tl_insert(of->v, of->n, TL_WORK_BY_NAME_MAX, row, sizeof *row, by_time);
    }
    tl_sort(all.v, all.n, sizeof *all.v, by_time);
    TL_EACH (largest, of, all)
        for (size_t i = 0; i < of->n; i++) {
            const tl_text name = tl_names_text(g->view->names, of->v[i].name);
            of->v[i].name = tl_names_intern(&work_by_name->names, name.p, name.n);
            tl_vec_push(&work_by_name->rows, of->v[i]);
        }
    free(all.v);
    tl_map_free(&number_of);
}

void tl_work_by_name_collect(const tl_rank_view *view, const tl_activity *activity, tl_work_by_name *work_by_name)
{
    gathering g = { .view = view };
    host_idle_make(&g.idle, activity);
    add_device_work(&g);
    add_host(&g);
    keep_largest(&g, work_by_name);
    host_idle_free(&g.idle);
    tl_map_free(&g.index_of);
    free(g.rows.v);
    tl_arena_free(&g.arena);
}

void tl_work_by_name_free(tl_work_by_name *work_by_name)
{
    free(work_by_name->rows.v);
    tl_names_free(&work_by_name->names);
    *work_by_name = (tl_work_by_name){ 0 };
}
