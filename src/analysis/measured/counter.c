/* counter.c - what did the hardware counters say, by call stack and kernel?
 *
 *     host     [conv                   ]     [add     ]
 *               |launch 1   |launch 2          |launch 3
 *     ranges   [  1   ][  2   ][  3   ]                       by order: their times are shares of all the time
 */
#include "enclosing_ops.h"
#include "tlmpi/analysis/measured.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/call.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The profiler's text for a kernel without a known name. */
#define NAMELESS "__missing__"

typedef struct range {
    size_t first, n; /* of the range in view->counted */
    uint32_t kernel; /* name of the kernel */
    uint32_t op;     /* name of the operator */
    uint32_t stack;  /* id of the text of all operators around the launch */
} range;

/* A value of a range. */
typedef struct sample {
    uint32_t stack, kernel, counter, op;
    double value;
} sample;

typedef struct counting {
    const tl_rank_view *view;
    tl_names *names; /* receives the texts of call stacks */
    TL_VEC(range) ranges;
    TL_VEC(uint32_t) kernels;    /* in order of launch */
    TL_VEC(tl_instant) launches; /* of the ranges */
    tl_counted_by known_by;
    TL_VEC(sample) samples;
    TL_VEC(tl_counter_row) rows;
} counting;

static void find_ranges(counting *c)
{
    const tl_counted *v = c->view->counted;

    for (size_t i = 0, n; i < c->view->ncounted; i += n) {
        for (n = 1; i + n < c->view->ncounted && v[i + n].uid == v[i].uid; n++)
            ;
        tl_vec_push(&c->ranges, (range){ i, n, v[i].name, TL_NO_NAME, TL_NO_NAME });
    }
}

static bool is_nameless(const counting *c, uint32_t name)
{
    return name == TL_NO_NAME || tl_text_is(tl_names_text(c->view->names, name), NAMELESS);
}

/* ------------------------------------------------------------------------------------------------------ attribution */

static int by_launch(const void *context, uint32_t a, uint32_t b)
{
    const tl_kernel *k = context;
    return k[a].launch != k[b].launch ? TL_COMPARE(k[a].launch, k[b].launch) : tl_kernel_by_start_uid(k, a, b);
}

/* Lists the kernels in order of launch, without those that have no launch. */
static void find_kernels(counting *c)
{
    const tl_kernel *k = c->view->kernels;

    for (size_t i = 0; i < c->view->nkernels; i++) {
        if (k[i].launch == TL_NONE || k[i].kind == TL_MEMCPY || k[i].kind == TL_MEMSET)
            continue;
        tl_vec_push(&c->kernels, (uint32_t)i);
    }
    tl_sort_index(c->kernels.v, c->kernels.n, by_launch, k);
}

static bool names_agree(const counting *c)
{
    for (size_t i = 0; i < c->ranges.n; i++)
        if (!is_nameless(c, c->ranges.v[i].kernel) && c->ranges.v[i].kernel != c->view->kernels[c->kernels.v[i]].name)
            return false;
    return true;
}

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const tl_calls *c = context;
    return c->start_ns[a] != c->start_ns[b] ? TL_COMPARE(c->start_ns[a], c->start_ns[b])
                                            : TL_COMPARE(c->uid[a], c->uid[b]);
}

/* Lists the calls that launch a kernel, whether the kernel is in the trace or not, in order of time. */
static void find_launches(counting *c)
{
    const tl_calls *calls = &c->view->calls;
    uint32_t *order = tl_sorted_index(calls->n, by_time, calls);
    tl_map launches = { 0 }; /* name -> whether its calls launch a kernel */

    for (size_t i = 0; i < calls->n; i++) {
        uint32_t call = order[i], does = tl_map_get(&launches, calls->name[call]);
        if (does == TL_MAP_NONE) {
            does = tl_call_rule_of(tl_names_text(c->view->names, calls->name[call]))->does == TL_DOES_LAUNCH;
            tl_map_put(&launches, calls->name[call], does);
        }
        if (does)
            tl_vec_push(&c->launches, (tl_instant){ .at_ns = calls->start_ns[call],
                                                    .until_ns = tl_call_end(calls, call),
                                                    .track = tl_call_track(calls, call) });
    }
    free(order);
    tl_map_free(&launches);
}

/* Sets the kernels of ranges and lists the launches of the kernels. */
static void list_launches_of_kernels(counting *c)
{
    for (size_t i = 0; i < c->ranges.n; i++) {
        const tl_kernel *k = &c->view->kernels[c->kernels.v[i]];
        const tl_launch *launch = &c->view->launches[k->launch];
        c->ranges.v[i].kernel = k->name;
        tl_vec_push(&c->launches,
                    (tl_instant){ .at_ns = launch->start_ns, .until_ns = launch->end_ns, .track = launch->track });
    }
}

/* Finds the operators of each range, and its kernel if the range does not name it. */
static void attribute(counting *c)
{
    find_kernels(c);
    c->known_by = TL_COUNTED_BY_NOTHING;
    if (c->kernels.n > 0 && (c->kernels.n != c->ranges.n || !names_agree(c)))
        return;
    if (c->kernels.n > 0)
        list_launches_of_kernels(c);
    else
        find_launches(c);
    if (c->launches.n != c->ranges.n)
        return;
    c->known_by = c->kernels.n > 0 ? TL_COUNTED_BY_KERNEL : TL_COUNTED_BY_LAUNCH;
    tl_instants_find_ops(c->view, NULL, c->launches.v, c->launches.n, c->names);
    for (size_t i = 0; i < c->ranges.n; i++) {
        c->ranges.v[i].op = tl_op_name(c->view, c->launches.v[i].op);
        c->ranges.v[i].stack = c->launches.v[i].stack;
    }
}

/* ------------------------------------------------------------------------------------------------------------- rows */

TL_ORDER_BY(by_stack, sample, stack, kernel, counter)

/* Adds a row for each call stack, kernel and counter. */
static void sum_up(counting *c)
{
    TL_EACH (const range, r, c->ranges)
        for (const tl_counted *v = c->view->counted + r->first; v < c->view->counted + r->first + r->n; v++)
            if (v->counter != TL_NO_NAME)
                tl_vec_push(&c->samples, (sample){ r->stack, r->kernel, v->counter, r->op, v->value });
    uint32_t *order = tl_sorted_index(c->samples.n, by_stack, c->samples.v);
    TL_GROUPS (from, to, order, c->samples.n, by_stack, c->samples.v) {
        const sample *first = &c->samples.v[order[from]];
        tl_counter_row row = { .rank = c->view->rank,
                               .counter = first->counter,
                               .count = (int64_t)(to - from),
                               .min = first->value,
                               .max = first->value,
                               .known_by = (uint8_t)c->known_by,
                               .operator= first->op,
                               .kernel = first->kernel,
                               .stack = first->stack };
        for (size_t i = from; i < to; i++) {
            const double value = c->samples.v[order[i]].value;
            row.min = value < row.min ? value : row.min;
            row.max = value > row.max ? value : row.max;
            row.sum += value;
        }
        tl_vec_push(&c->rows, row);
    }
    free(order);
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
    if (order == 0)
        order = TL_COMPARE(y->sum, x->sum);
    if (order == 0)
        order = compare_names(c, x->stack, y->stack);
    return order != 0 ? order : compare_names(c, x->kernel, y->kernel);
}

static void add_rows(counting *c, tl_table *table)
{
    uint32_t *order = tl_sorted_index(c->rows.n, by_counter_and_sum, c);
    tl_table_reserve(table, c->rows.n);
    for (size_t i = 0; i < c->rows.n; i++) {
        tl_counter_row *row = &c->rows.v[order[i]];
        row->place = (int32_t)i + 1;
        row->flop = row->sum * operations_of(tl_names_text(c->view->names, row->counter));
        tl_table_append(table, row, 1);
    }
    free(order);
}

static void counter_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    counting c = { .view = view, .names = out->names };
    (void)config;
    if (view->ncounted == 0)
        return;
    find_ranges(&c);
    attribute(&c);
    sum_up(&c);
    add_rows(&c, tl_tables_get(out, &tl_counter_row_schema));
    free(c.ranges.v);
    free(c.kernels.v);
    free(c.launches.v);
    free(c.samples.v);
    free(c.rows.v);
}

TL_TABLE_DEFINE_RARE_AS(counter_row, "counter", TL_COUNTER_FIELDS, TL_SCOPE_RANK, "hardware counters",
                        "What did the hardware counters of a rank say, by call stack and kernel?");

const tl_analysis tl_counter_analysis = {
    .name = "counter",
    .question = "What did the hardware counters say?",
    .needs = TL_NEEDS_HOST,
    .tables = TL_SCHEMAS(&tl_counter_row_schema),
    .per_rank = counter_per_rank,
};
