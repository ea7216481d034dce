/* read.c - kernels, operators, collectives, classes of idle time and call paths of the results, by name.
 *
 *     kernels, collectives                       of the compared steps
 *     operators, call paths, idle time           of all marked steps, which are the compared ones but for unsound steps
 *     without marks of steps, all of them        of the whole recording, divided by its number of steps
 *
 * Operators, call paths and idle time are not compared if the compared traces of a side are cut: sums over all marked
 * steps lack the work of some.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/work_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t intern_word(tl_diff *diff, const char *text)
{
    return tl_names_intern(&diff->names, text, strlen(text));
}

uint32_t tl_diff_name_in(tl_diff *diff, int which, uint32_t id)
{
    const tl_diff_side *in = diff->side[which].in;
    tl_text t = in->name(in->name_arg, id);
    return tl_names_intern(&diff->names, t.p != NULL ? t.p : "", t.n);
}

/* Adds what a rank ran of a work, if the rank is compared. */
static void add_rank(const side *s, amount *to, int32_t rank, double count, int64_t ns)
{
    size_t at = place_of(s->ranks.v, s->ranks.n, rank);
    if (at == s->ranks.n)
        return;
    to->count += s->weight[at] * count;
    to->ns = tl_ns_sum(to->ns, weighted(s, at, ns));
}

/* ------------------------------------------------------------------------------------------------ rows, one by one */

static void take_interval(tl_diff *diff, int which, const tl_interval *row)
{
    const side *s = &diff->side[which];
    size_t step = s->marked ? place_of(s->steps.v, s->steps.n, row->step) : 0,
           rank = place_of(s->ranks.v, s->ranks.n, row->rank);
    if (step == s->steps.n || rank == s->ranks.n || row->name == TL_NO_NAME || row->kind == TL_SYNC)
        return; /* waits for the device are no kernels */
    uint64_t key = ((uint64_t)row->name << 32 | (uint32_t)row->rank) << 1 | (uint64_t)which;
    uint32_t at = tl_map_number(&diff->series_of, key, diff->series.n);
    if (at == diff->series.n) {
        const work *w = tl_diff_works_at(&diff->of[KERNELS], intern_word(diff, tl_kind_labels[row->kind]),
                                         tl_diff_name_in(diff, which, row->name));
        tl_vec_push(&diff->series, (series){ .work = (uint32_t)(w - diff->of[KERNELS].v.v),
                                             .unit = s->unit[rank],
                                             .rank = row->rank,
                                             .side = which,
                                             .step = tl_calloc(s->steps.n, sizeof(amount)) });
    }
    series *x = &diff->series.v[at];
    if (s->marked && row->launch_ns != TL_TIME_UNKNOWN && !x->launched) {
        /* Work without a launch may come from before the first step, which then seems to have more of it. */
        memset(x->step, 0, s->steps.n * sizeof *x->step);
        x->sum = (amount){ 0 };
        x->launched = true;
    }
    if (x->launched && row->launch_ns == TL_TIME_UNKNOWN)
        return;
    x->step[step].count++;
    x->step[step].ns = tl_ns_sum(x->step[step].ns, row->duration_ns);
    x->sum.count++;
    x->sum.ns = tl_ns_sum(x->sum.ns, row->duration_ns);
    if (row->operator== TL_NO_NAME)
        return;
    /* The kernel's operator is the one that launches most of its time. */
    works *launched = &diff->of[LAUNCHED];
    work *kernel = &diff->of[KERNELS].v.v[x->work];
    const uint32_t name = tl_diff_name_in(diff, which, row->operator), before = kernel->operator;
    int64_t *ns = &tl_diff_works_at(launched, x->work, name)->side->ns;
    const int64_t own_ns = tl_ns_sum(*ns, row->duration_ns);
    *ns = own_ns;
    if (before == TL_NO_NAME || own_ns > tl_diff_works_at(launched, x->work, before)->side->ns)
        kernel->operator= name;
}

/* Takes waiting and transfer of a collective that is matched completely, by sort of group, kind and size class; if the
 * sides have the same ranks, also by their number. */
static void take_collective(tl_diff *diff, int which, const tl_collective_row *row)
{
    side *s = &diff->side[which];
    const bool matched = row->state == TL_COLL_WHOLE && row->suspect == TL_SUSPECT_NOTHING;
    s->comm_ns[row->kind] = tl_ns_sum(s->comm_ns[row->kind], row->kernel_sum_ns);
    s->unmatched_ns[row->kind] = tl_ns_sum(s->unmatched_ns[row->kind], matched ? 0 : row->kernel_sum_ns);
    if (!matched || row->n < 2 || (s->marked && place_of(s->steps.v, s->steps.n, row->step) == s->steps.n))
        return;
    const tl_group_row *group = tl_group_of(table_of(s, &tl_group_row_schema), row->group);
    char text[128], ranks[24] = "", size[40] = "";
    if (!diff->basis.by_role)
        snprintf(ranks, sizeof ranks, ", %d ranks", (int)row->n);
    if (row->bytes > 0)
        snprintf(size, sizeof size, ", from %llu bytes", 1ULL << (63 - __builtin_clzll((uint64_t)row->bytes)));
    snprintf(text, sizeof text, "%s of %s%s%s", tl_collective_labels[row->kind],
             group != NULL ? tl_parallelism_labels[group->parallelism] : "", ranks, size);
    const int64_t ns[] = { row->wait_sum_ns, row->kernel_sum_ns - row->wait_sum_ns };
    for (int i = 0; i < 2; i++) {
        work *w = tl_diff_works_at(&diff->of[COLLECTIVES], intern_word(diff, tl_diff_part_labels[TL_DIFF_WAITING + i]),
                                   intern_word(diff, text));
        w->collective = row->kind;
        w->side[which].count += (double)row->n;
        w->side[which].ns = tl_ns_sum(w->side[which].ns, ns[i]);
    }
}

/* Returns the node.  Device work may be joined with any work under the same call; other nodes with those of names that
 * differ in numbers. */
static uint32_t node_at(tl_diff *diff, uint32_t parent, uint8_t kind, uint32_t name)
{
    uint32_t place = (parent == TL_MAP_NONE ? 0 : parent + 1) * TL_NTREE_KINDS + kind;
    work *w = tl_diff_works_at(&diff->of[CALLS], place, name);
    w->operator= kind == TL_TREE_WORK ? place : TL_NO_NAME;
    return (uint32_t)(w - diff->of[CALLS].v.v);
}

static void take_node(tl_diff *diff, int which, const tl_call_tree *row)
{
    const side *s = &diff->side[which];
    if (place_of(s->ranks.v, s->ranks.n, row->rank) == s->ranks.n)
        return;
    size_t depth = row->depth > 0 ? (size_t)row->depth : 0;
    diff->stack[which].n = depth < diff->stack[which].n ? depth : diff->stack[which].n;
    uint32_t parent = diff->stack[which].n > 0 ? diff->stack[which].v[diff->stack[which].n - 1] : TL_MAP_NONE;
    uint32_t name = row->name != TL_NO_NAME ? tl_diff_name_in(diff, which, row->name) : TL_NO_NAME;
    uint32_t at = node_at(diff, parent, row->kind, name);
    add_rank(s, &diff->of[CALLS].v.v[at].side[which], row->rank, (double)(s->marked ? row->steps_count : row->count),
             s->marked ? row->steps_ns : row->device_ns);
    tl_vec_push(&diff->stack[which], at);
}

const tl_schema *const *tl_diff_streams(size_t *n)
{
    static const tl_schema *const streams[] = { &tl_interval_schema, &tl_call_tree_schema, &tl_collective_row_schema };
    *n = sizeof streams / sizeof streams[0];
    return streams;
}

void tl_diff_take(tl_diff *diff, int which, const tl_schema *schema, const void *row)
{
    if (schema == &tl_interval_schema)
        take_interval(diff, which, row);
    else if (schema == &tl_call_tree_schema)
        take_node(diff, which, row);
    else
        take_collective(diff, which, row);
}

/* -------------------------------------------------------------------------------------------------- tables of works */

/* Marks the operators that launch copies from the device. */
static void find_waiting(tl_diff *diff)
{
    const uint32_t operators = intern_word(diff, "operator");
    TL_EACH (const work, x, diff->of[LAUNCHED].v) {
        const tl_text copy = tl_names_text(&diff->names, diff->of[KERNELS].v.v[x->kind].name);
        if (tl_text_has(copy, "DtoH") || tl_text_has(copy, "DeviceToHost"))
            tl_diff_works_at(&diff->of[OPERATORS], operators, x->name)->waits = true;
    }
}

static void read_kernels(tl_diff *diff, int which, bool cut)
{
    const side *s = &diff->side[which];
    const uint32_t operators = intern_word(diff, "operator");
    TL_EACH (const series, x, diff->series)
        if (x->side == which)
            add_rank(s, &diff->of[KERNELS].v.v[x->work].side[which], x->rank, x->sum.count, x->sum.ns);
    TL_ROWS (const tl_operator_row, row, table_of(s, &tl_operator_row_schema)) {
        if (row->name == TL_NO_NAME || cut)
            continue;
        work *x = tl_diff_works_at(&diff->of[OPERATORS], operators, tl_diff_name_in(diff, which, row->name));
        add_rank(s, &x->side[which], row->rank, (double)(s->marked ? row->steps_count : row->count),
                 s->marked ? row->steps_ns : row->host_self_ns);
    }
    TL_ROWS (const tl_launch_row, row, table_of(s, &tl_launch_row_schema)) {
        if (row->kernels > 0 || row->name == TL_NO_NAME || cut)
            continue; /* the others wait for the device */
        const uint32_t name = tl_diff_name_in(diff, which, row->name);
        work *x = tl_diff_works_at(&diff->of[OPERATORS], intern_word(diff, TL_DIFF_CALL), name);
        const double count = s->marked ? (double)row->step_median : (double)row->calls / s->recorded,
                     ns = (double)row->host_ns * count / (double)row->calls;
        x->waits = true;
        add_rank(s, &x->side[which], row->rank, s->marks * count, llround(s->marks * ns));
        tl_diff_add_host(diff, which, row->rank, name, (amount){ count, llround(ns) });
    }
}

uint32_t tl_diff_class_of(tl_diff *diff, const tl_idle_summary *row)
{
    return tl_names_intern(&diff->names, row->dominant_op, strnlen(row->dominant_op, sizeof row->dominant_op));
}

static void read_idle(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    TL_ROWS (const tl_idle_summary, row, table_of(s, &tl_idle_summary_schema)) {
        bool noise = row->drain_type == TL_DRAIN_NOISE;
        if (row->rank < 0 || row->device != -1 || row->step != -1 || (row->place == 0 && !noise))
            continue;
        char text[96];
        snprintf(text, sizeof text, "%s, %s", tl_drain_labels[row->drain_type], tl_doing_labels[row->cpu_during_gap]);
        work *x = tl_diff_works_at(&diff->of[IDLE], intern_word(diff, text), tl_diff_class_of(diff, row));
        add_rank(s, &x->side[which], row->rank, (double)(s->marked ? row->steps_count : row->count),
                 s->marked ? row->steps_ns : row->total_ns);
    }
}

typedef struct child {
    uint32_t at, parent; /* parent: index + 1; 0: none */
    int64_t change_ns;   /* absolute value */
} child;

static int by_change(const void *a, const void *b)
{
    const child *x = a, *y = b;
    return x->parent == y->parent && x->change_ns != y->change_ns ? TL_COMPARE(y->change_ns, x->change_ns)
                                                                  : TL_ORDER(x, y, parent, at);
}

/* Adds the rows of the nodes below `parent`.  children: n, by parent, those with the largest change first. */
static void put_calls(tl_diff *diff, const child *children, size_t n, uint32_t parent, int32_t depth)
{
    tl_table *table = &diff->tables[TABLE_CALL_PATH];
    size_t i = 0;
    TL_BISECT(i, n, mid, children[mid].parent < parent);
    for (; i < n && children[i].parent == parent; i++) {
        const work *x = &diff->of[CALLS].v.v[children[i].at];
        tl_diff_work *row = is_there(&x->side[A]) || is_there(&x->side[B]) ? tl_table_add(table) : NULL;
        if (row != NULL) {
            tl_diff_amounts(diff, &diff->of[CALLS], x, row);
            row->place = (int32_t)table->n;
            row->depth = depth;
            row->kind = intern_word(diff, tl_tree_kind_labels[x->kind % TL_NTREE_KINDS]);
            row->operator= TL_NO_NAME;
        }
        put_calls(diff, children, n, children[i].at + 1, depth + 1);
    }
}

/* Fills diff_call_path. */
static void put_tree(tl_diff *diff)
{
    works *calls = &diff->of[CALLS];
    const size_t n = calls->v.n;
    child *children = tl_calloc(n + 1, sizeof *children);
    tl_diff_tree_align(diff);
    for (size_t i = 0; i < n; i++) {
        const work *x = &calls->v.v[i];
        double change = (double)x->side[B].ns / calls->rate[B] - (double)x->side[A].ns / calls->rate[A];
        children[i] = (child){ (uint32_t)i, x->kind / TL_NTREE_KINDS, llround(fabs(change)) };
    }
    qsort(children, n, sizeof *children, by_change);
    put_calls(diff, children, n, 0, 0);
    free(children);
}

void tl_diff_read_works(tl_diff *diff)
{
    static const int tables[] = {
        [KERNELS] = TABLE_KERNEL, [OPERATORS] = TABLE_OPERATOR, [COLLECTIVES] = TABLE_COLLECTIVE, [IDLE] = TABLE_IDLE
    };
    const bool cut = diff->side[A].cut || diff->side[B].cut;
    for (int i = A; i <= B; i++) {
        read_kernels(diff, i, cut);
        if (!cut)
            read_idle(diff, i);
        tl_diff_read_input(diff, i);
    }
    find_waiting(diff);
    for (int i = KERNELS; i <= IDLE; i++) {
        tl_diff_works_align(diff, &diff->of[i]);
        if (i == KERNELS)
            tl_diff_kernel_steps(diff);
        tl_diff_works_table(diff, &diff->of[i], &diff->tables[tables[i]]);
    }
    if (!cut)
        put_tree(diff);
}
