/* cupti.c - the hardware counters of each kernel launch, with the operators around it.
 *
 *     host     [ aten::conv2d                        ]
 *               [ aten::cudnn_convolution     ]
 *                [ launch ]      [ launch ]            launch i by time belongs to
 *     ranges     [ range ]     [ range ]               range i by time
 *
 * The counters are the args of the ranges, as written.
 */
#include "graph.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/event/fields.h"
#include "tlmpi/trace/text/json.h"
#include <stdlib.h>

typedef TL_VEC(uint32_t) positions;

typedef struct counting {
    const tl_hta_graph *graph;
    const tl_hta_frame *frame;
    tl_arena arena;
    uint32_t *ranges, *launches; /* positions; launches sorted by time */
    size_t nranges, nlaunches;
    uint32_t *place; /* by position of a row: its index in graph->opened; nopened for a row not in it */
    tl_names keys;   /* names of counters without a fixed column, in order of first sight */
    char why[128];   /* why there is no table; "": there is a table */
} counting;

TL_ORDER_BY(by_time, tl_hta_row, ts, index)

static void find_rows(counting *c)
{
    const size_t n = c->frame->rows.n;

    c->ranges = tl_arena_take(&c->arena, n, sizeof *c->ranges);
    c->launches = tl_arena_take(&c->arena, n, sizeof *c->launches);
    for (uint32_t i = 0; i < n; i++) {
        const tl_hta_row *row = &c->frame->rows.v[i];
        if (tl_text_is(tl_hta_cat(c->frame, row), "cuda_profiler_range"))
            c->ranges[c->nranges++] = i;
        else if (tl_text_starts(tl_hta_cat(c->frame, row), "cuda_runtime") &&
                 tl_text_starts(tl_hta_name(c->frame, row), "cudaLaunchKernel"))
            c->launches[c->nlaunches++] = i;
    }
    tl_sort_index(c->launches, c->nlaunches, by_time, c->frame->rows.v);
}

/* Whether row `above` is row `at` or an ancestor of it. */
static bool is_within(const tl_hta_graph *g, uint32_t at, uint32_t above)
{
    while (at != TL_HTA_TOP && at != above)
        at = g->node[at].parent;
    return at == above;
}

/* Adds the row if it is an operator. */
static void add_if_operator(const counting *c, positions *ops, uint32_t at)
{
    if (tl_text_is(tl_hta_cat(c->frame, &c->frame->rows.v[at]), "cpu_op"))
        tl_vec_push(ops, at);
}

/* Sets *ops to the operators above and below a launch, sorted by time. */
static void find_ops(const counting *c, uint32_t launch, positions *ops)
{
    const tl_hta_graph *g = c->graph;

    ops->n = 0;
    if (g->node[launch].depth < 0)
        return;
    for (uint32_t at = g->node[launch].parent; at != TL_HTA_TOP; at = g->node[at].parent)
        add_if_operator(c, ops, at);
    for (size_t i = (size_t)c->place[launch] + 1; i < g->nopened && is_within(g, g->opened[i], launch); i++)
        add_if_operator(c, ops, g->opened[i]);
    tl_sort_index(ops->v, ops->n, by_time, c->frame->rows.v);
}

/* Sets `place`, and `why` if a launch has no operator above or below it. */
static void check_ops(counting *c)
{
    positions ops = { 0 };

    c->place = tl_arena_take(&c->arena, c->frame->rows.n, sizeof *c->place);
    for (size_t i = 0; i < c->frame->rows.n; i++)
        c->place[i] = (uint32_t)c->graph->nopened;
    for (uint32_t i = 0; i < c->graph->nopened; i++)
        c->place[c->graph->opened[i]] = i;
    for (size_t k = 0; k < c->nlaunches && c->why[0] == '\0'; k++) {
        find_ops(c, c->launches[k], &ops);
        if (ops.n == 0)
            snprintf(c->why, sizeof c->why, "the launch of entry %u stands in no operator",
                     c->frame->rows.v[c->launches[k]].index);
    }
    free(ops.v);
}

/* Ends a row with the operators of a launch, the first and the last operator. */
static void put_ops(const counting *c, uint32_t launch, tl_csv *csv)
{
    positions ops = { 0 };
    tl_bytes stack = { 0 };
    tl_text first = { 0 }, last = { 0 };

    find_ops(c, launch, &ops);
    TL_EACH (const uint32_t, op, ops) {
        last = tl_hta_name(c->frame, &c->frame->rows.v[*op]);
        first = op == ops.v ? last : first;
        tl_bytes_put(&stack, "|", op > ops.v);
        tl_bytes_put(&stack, last.p, last.n);
    }
    TL_ROW(csv, &stack, first, last);
    tl_bytes_free(&stack);
    free(ops.v);
}

/* ------------------------------------------------------------------------------------------------- the args of ranges
 */

/* Columns from the args of a row, and their values where the args lack the key. */
static const struct {
    const char *column, *key, *absent;
} columns[] = {
    { "bytes", "bytes", "-1" },
    { "memory_bw_gbps", "memory bandwidth (GB/s)", "0.0" },
    { "wait_on_stream", "wait_on_stream", "-1" },
    { "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", "-1" },
    { "input_dims", "Input Dims", "\"-1\"" },
    { "input_type", "Input type", "\"-1\"" },
    { "input_strides", "Input Strides", "\"-1\"" },
    { "external_id", "External id", "-1" },
    { "python_id", "Python id", "-1" },
    { "python_parent_id", "Python parent id", "-1" },
    { "collective_name", "Collective name", "\"\"" },
    { "in_msg_nelems", "In msg nelems", "0" },
    { "out_msg_nelems", "Out msg nelems", "0" },
    { "msg_dtype", "dtype", "\"\"" },
    { "group_size", "Group size", "0" },
    { "process_rank", "Rank", "-1" },
    { "in_split_size", "In split size", "\"[]\"" },
    { "out_split_size", "Out split size", "\"[]\"" },
};
#define NCOLUMNS (sizeof columns / sizeof columns[0])

static bool is_column(tl_text key)
{
    for (size_t i = 0; i < NCOLUMNS; i++)
        if (tl_text_is(key, columns[i].key))
            return true;
    return tl_text_is(key, "stream") || tl_text_is(key, "correlation");
}

/* Returns the args of a range; empty: none. */
static tl_text args_of(const counting *c, size_t range)
{
    const uint32_t index = c->frame->rows.v[c->ranges[range]].index;
    return tl_names_text(&c->frame->texts, tl_hta_args_of(c->frame, index)->range);
}

/* Collects the names of the counters. */
static void find_counters(counting *c)
{
    for (size_t i = 0; i < c->nranges; i++) {
        tl_text rest = tl_json_inside(args_of(c, i)), key, value;
        while (tl_json_member(&rest, &key, &value))
            if (!is_column(key))
                tl_names_intern(&c->keys, key.p, key.n);
    }
}

/* ------------------------------------------------------------------------------------------------------- the table */

static void put_value(tl_csv *csv, tl_text value)
{
    tl_bytes words = { 0 };
    int64_t whole;
    double real;

    if (value.p[0] == '"' || value.p[0] == '[') {
        if (value.p[0] == '"')
            tl_yajl_string(value, &words);
        else
            tl_python_list(value, false, &words);
        TL_CELLS(csv, &words);
        tl_bytes_free(&words);
    } else if (tl_decimal_to_int(value.p, value.n, &whole)) {
        TL_CELLS(csv, whole);
    } else if (tl_decimal_to_double(value.p, value.n, &real)) {
        TL_CELLS(csv, real);
    } else {
        TL_CELLS(csv, value);
    }
}

/* Adds the cells that HTA takes from args, except stream and correlation: the fixed columns, then the counters. */
static void put_args(const counting *c, size_t range, tl_csv *csv)
{
    tl_text args = args_of(c, range), rest = tl_json_inside(args), key, value;
    tl_text *counters = tl_malloc(c->keys.n * sizeof *counters);

    for (size_t i = 0; i < NCOLUMNS; i++) {
        value = tl_json_value(args, columns[i].key);
        put_value(csv, value.n > 0 ? value : (tl_text){ columns[i].absent, strlen(columns[i].absent) });
    }
    for (size_t i = 0; i < c->keys.n; i++)
        counters[i] = TL_TEXT("-1");
    while (tl_json_member(&rest, &key, &value)) {
        uint32_t id = tl_names_find(&c->keys, key.p, key.n);
        if (id != TL_NO_NAME)
            counters[id] = value;
    }
    for (size_t i = 0; i < c->keys.n; i++)
        put_value(csv, counters[i]);
    free(counters);
}

static int by_time_of_range(const void *context, uint32_t a, uint32_t b)
{
    const counting *c = context;
    return by_time(c->frame->rows.v, c->ranges[a], c->ranges[b]);
}

static void write_table(counting *c, tl_csv_folder *folder)
{
    const tl_hta_frame *frame = c->frame;
    uint32_t *order = tl_sorted_index(c->nranges, by_time_of_range, c);
    tl_csv csv = tl_csv_open_rank(folder, "cupti_counters", frame->rank, NULL);

    tl_csv_head(&csv, "index,cat,name,pid,tid,ts,dur,stream,correlation");
    for (size_t i = 0; i < NCOLUMNS; i++)
        TL_CELLS(&csv, columns[i].column);
    for (uint32_t i = 0; i < c->keys.n; i++)
        TL_CELLS(&csv, tl_names_text(&c->keys, i));
    tl_csv_head(&csv, "index_correlation,iteration,end," TL_HTA_GRAPH_HEADER
                      ",index_runtime,op_stack,top_level_op,bottom_level_op");
    tl_csv_end_row(&csv);
    for (size_t i = 0; i < c->nranges; i++) {
        uint32_t at = c->ranges[order[i]];
        const tl_hta_row *row = &frame->rows.v[at];
        TL_CELLS(&csv, row->index, tl_hta_cat(frame, row), tl_hta_name(frame, row), tl_hta_pid(frame, row->track),
                 tl_hta_tid(frame, row->track), row->ts, row->dur, row->stream, row->correlation);
        put_args(c, order[i], &csv);
        TL_CELLS(&csv, row->link, tl_hta_step(row->iteration), row->end);
        tl_hta_graph_cells(c->graph, at, &csv);
        TL_CELLS(&csv, frame->rows.v[c->launches[i]].index);
        put_ops(c, c->launches[i], &csv);
    }
    free(order);
    tl_csv_close(&csv);
}

/* Prepares the table of a rank with ranges, or sets `why`. */
static void prepare_table(counting *c)
{
    if (c->nranges != c->nlaunches)
        snprintf(c->why, sizeof c->why, "%zu ranges and %zu launches", c->nranges, c->nlaunches);
    else if (c->graph->why[0] != '\0')
        snprintf(c->why, sizeof c->why, "there is no call graph");
    else
        check_ops(c);
    if (c->why[0] == '\0')
        find_counters(c);
}

/* A rank without ranges has no table and needs no call graph. */
void tl_hta_cupti_counters(tl_hta_job *job)
{
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        counting c = { .frame = frame };
        find_rows(&c);
        if (c.nranges > 0) {
            tl_hta_graph graph = tl_hta_graph_of(frame);
            c.graph = &graph;
            prepare_table(&c);
            if (c.why[0] != '\0')
                tl_hta_note_rank(job, "cupti_counters", frame, "no table: %s", c.why);
            else
                write_table(&c, &job->out);
            tl_hta_graph_free(&graph);
        }
        tl_names_free(&c.keys);
        tl_arena_free(&c.arena);
    }
}
