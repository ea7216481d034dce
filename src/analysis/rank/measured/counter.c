/* counter.c - what did the hardware counters say, by call stack and kernel?
 *
 *     host     [conv                   ]     [add     ]
 *               |launch 1   |launch 2          |launch 3
 *     ranges   [  1   ][  2   ][  3   ]                       by order: their times are shares of all the time
 */
#include "enclosing_ops.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/call.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The profiler's text for a kernel without a known name. */
#define NAMELESS "__missing__"

/* A range has the values of one kernel; ranges are in the order of the kernels' launches. */
typedef struct counting {
    const tl_rank_view *view;
    TL_VEC(size_t) ranges;       /* index of the first value of each in view->counted; the end */
    TL_VEC(uint32_t) kernels;    /* kernels, in order of launches */
    TL_VEC(tl_instant) launches; /* of the ranges, unless these are known by nothing */
    tl_counted_by known_by;
    TL_VEC(tl_counter_row) rows;
} counting;

/* ------------------------------------------------------------------------------------------------------ attribution */

static int by_launch(const void *context, uint32_t a, uint32_t b)
{
    const tl_kernel *k = context;
    return k[a].launch != k[b].launch ? TL_COMPARE(k[a].launch, k[b].launch) : tl_kernel_by_start_uid(k, a, b);
}

/* Whether no range is named like another kernel than the one of its launch. */
static bool names_agree(const counting *c)
{
    for (size_t i = 0; i < c->kernels.n; i++) {
        const uint32_t name = c->view->counted[c->ranges.v[i]].name;
        if (name != TL_NO_NAME && !tl_text_is(tl_names_text(c->view->names, name), NAMELESS) &&
            name != c->view->kernels[c->kernels.v[i]].name)
            return false;
    }
    return true;
}

TL_SORT_BY(by_time, tl_instant, at_ns)

/* Lists the calls that launch a kernel, whether the kernel is in the trace or not, in order of time. */
static void find_launching_calls(counting *c)
{
    const tl_calls *calls = &c->view->calls;
    for (size_t i = 0; i < calls->n; i++)
        if (tl_call_rule_of(tl_names_text(c->view->names, calls->name[i]))->does == TL_DOES_LAUNCH)
            tl_vec_push(&c->launches, (tl_instant){ .at_ns = calls->start_ns[i],
                                                    .until_ns = tl_call_end(calls, i),
                                                    .track = tl_call_track(calls, i) });
    tl_vec_sort(&c->launches, by_time);
}

/* Finds the launches of kernels; of a trace without any, the calls that launch. */
static void find_launches(counting *c)
{
    const tl_kernel *k = c->view->kernels;
    for (size_t i = 0; i < c->view->nkernels; i++)
        if (k[i].launch != TL_NONE && k[i].kind != TL_MEMCPY && k[i].kind != TL_MEMSET)
            tl_vec_push(&c->kernels, (uint32_t)i);
    tl_sort_index(c->kernels.v, c->kernels.n, by_launch, k);
    for (size_t i = 0; i < c->kernels.n; i++) {
        const tl_launch *launch = &c->view->launches[k[c->kernels.v[i]].launch];
        tl_vec_push(&c->launches,
                    (tl_instant){ .at_ns = launch->start_ns, .until_ns = launch->end_ns, .track = launch->track });
    }
    if (c->kernels.n == 0)
        find_launching_calls(c);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

TL_SORT_BY(by_stack, tl_counter_row, stack, kernel, counter)

static void add(void *sum, const void *row)
{
    tl_counter_row *all = sum;
    const tl_counter_row *one = row;
    all->count++;
    all->sum += one->sum;
    all->min = fmin(all->min, one->min);
    all->max = fmax(all->max, one->max);
}

/* Makes a row for each value, then one for each call stack, kernel and counter. */
static void sum_up(counting *c)
{
    for (size_t v = 0, i = 0; v < c->view->ncounted; v++) {
        const tl_counted *counted = &c->view->counted[v];
        while (!counted->sampled && v >= c->ranges.v[i + 1])
            i++;
        const tl_counted_by known_by = counted->sampled ? TL_COUNTED_BY_TIME : c->known_by;
        const bool by_kernel = known_by == TL_COUNTED_BY_KERNEL, by_launch = known_by == TL_COUNTED_BY_LAUNCH;
        const tl_instant *launch = by_kernel || by_launch ? &c->launches.v[i] : NULL;
        if (counted->counter == TL_NO_NAME)
            continue;
        tl_vec_push(&c->rows, (tl_counter_row){
                                  .rank = c->view->rank,
                                  .counter = counted->counter,
                                  .count = 1,
                                  .sum = counted->value,
                                  .min = counted->value,
                                  .max = counted->value,
                                  .known_by = (uint8_t)known_by,
                                  .operator= launch != NULL ? tl_op_name(c->view, launch->op) : TL_NO_NAME,
                                  .kernel = by_kernel          ? c->view->kernels[c->kernels.v[i]].name
                                            : counted->sampled ? TL_NO_NAME
                                                               : counted->name,
                                  .stack = launch != NULL ? launch->stack : TL_NO_NAME,
                              });
    }
    c->rows.n = tl_merge_equal(c->rows.v, c->rows.n, sizeof *c->rows.v, by_stack, add);
}

/* Returns the floating-point operations of one count: of one instruction of a thread; NaN for other counters. */
static double operations_of(tl_text counter)
{
    static const struct {
        const char *instruction;
        double operations;
    } counted[] = { { "ffma", 2 }, { "hfma", 2 }, { "dfma", 2 }, { "fmul", 1 }, { "fadd", 1 },
                    { "hmul", 1 }, { "hadd", 1 }, { "dmul", 1 }, { "dadd", 1 } };
    char name[64];

    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        snprintf(name, sizeof name, "smsp__sass_thread_inst_executed_op_%s_pred_on.sum", counted[i].instruction);
        if (tl_text_is(counter, name))
            return counted[i].operations;
    }
    return NAN;
}

static int compare_names(const counting *c, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_names_text(c->view->names, a), tl_names_text(c->view->names, b));
}

static int by_counter_and_sum(const void *context, uint32_t a, uint32_t b)
{
    const counting *c = context;
    const tl_counter_row *x = &c->rows.v[a], *y = &c->rows.v[b];
    int order = compare_names(c, x->counter, y->counter);
    order = order != 0 ? order : TL_COMPARE(y->sum, x->sum);
    order = order != 0 ? order : compare_names(c, x->stack, y->stack);
    return order != 0 ? order : compare_names(c, x->kernel, y->kernel);
}

static void counter_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_counter_row_schema);
    counting c = { .view = view, .known_by = TL_COUNTED_BY_NOTHING };
    (void)config;
    if (view->ncounted == 0)
        return;
    size_t n = 0;
    for (; n < view->ncounted && !view->counted[n].sampled; n++)
        if (n == 0 || view->counted[n].uid != view->counted[n - 1].uid)
            tl_vec_push(&c.ranges, n);
    tl_vec_push(&c.ranges, n);
    find_launches(&c);
    if (c.launches.n + 1 == c.ranges.n && names_agree(&c)) {
        c.known_by = c.kernels.n > 0 ? TL_COUNTED_BY_KERNEL : TL_COUNTED_BY_LAUNCH;
        tl_instants_find_ops(view, NULL, c.launches.v, c.launches.n, out->names);
    }
    sum_up(&c);
    uint32_t *order = tl_sorted_index(c.rows.n, by_counter_and_sum, &c);
    for (size_t i = 0; i < c.rows.n; i++) {
        tl_counter_row *row = &c.rows.v[order[i]];
        row->place = (int32_t)i + 1;
        row->flop = row->sum * operations_of(tl_names_text(view->names, row->counter));
        tl_table_append(table, row, 1);
    }
    free(order);
    free(c.ranges.v);
    free(c.kernels.v);
    free(c.launches.v);
    free(c.rows.v);
}

TL_TABLE_DEFINE_RARE_AS(counter_row, "counter", TL_COUNTER_FIELDS, TL_SCOPE_RANK, "hardware counters",
                        "What did the hardware counters of a rank say, by call stack and kernel?");

const tl_analysis tl_counter_analysis = { .needs = TL_NEEDS_HOST, .per_rank = counter_per_rank };
