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
#include "tlmpi/trace/text/json.h"
#include <stdlib.h>

/* An operator above or below a launch in the call graph. */
typedef struct op {
    uint32_t launch; /* position in counting.launches */
    const tl_hta_row *row;
} op;

TL_SORT_BY(by_launch, op, launch)
TL_SORT_BY(by_launch_and_time, op, launch, row->ts, row->index)
TL_ORDER_BY(by_time, tl_hta_row, ts, index)

typedef struct counting {
    const tl_hta_graph *graph;
    const tl_hta_frame *frame;
    TL_VEC(uint32_t) ranges, launches; /* positions of rows, in the end sorted by time */
    TL_VEC(op) ops;                    /* sorted by launch, then by time */
    tl_names keys;                     /* names of counters without a fixed column, in order of first sight */
} counting;

static void find_rows(counting *c)
{
    for (uint32_t i = 0; i < c->frame->rows.n; i++) {
        const tl_hta_row *row = &c->frame->rows.v[i];
        if (tl_text_is(tl_hta_cat(c->frame, row), "cuda_profiler_range"))
            tl_vec_push(&c->ranges, i);
        else if (tl_text_starts(tl_hta_cat(c->frame, row), "cuda_runtime") &&
                 tl_text_starts(tl_hta_name(c->frame, row), "cudaLaunchKernel"))
            tl_vec_push(&c->launches, i);
    }
}

static void find_ops(counting *c)
{
    const tl_hta_graph *g = c->graph;
    const tl_hta_row *rows = c->frame->rows.v;
    uint32_t *number = tl_malloc_none(c->frame->rows.n); /* by position of a launch: its number */

    for (uint32_t k = 0; k < c->launches.n; k++)
        number[c->launches.v[k]] = k;
    for (size_t i = 0; i < g->nest.nopened; i++) {
        const uint32_t at = g->nest.opened[i];
        const bool is_op = tl_text_is(tl_hta_cat(c->frame, &rows[at]), "cpu_op");
        for (uint32_t above = g->nest.node[at].parent; above != TL_HTA_TOP; above = g->nest.node[above].parent) {
            if (number[at] != UINT32_MAX && tl_text_is(tl_hta_cat(c->frame, &rows[above]), "cpu_op"))
                tl_vec_push(&c->ops, (op){ number[at], &rows[above] });
            if (number[above] != UINT32_MAX && is_op)
                tl_vec_push(&c->ops, (op){ number[above], &rows[at] });
        }
    }
    tl_vec_sort(&c->ops, by_launch_and_time);
    free(number);
}

/* Returns the first launch without an operator; the number of launches: each has one. */
static size_t find_lone_launch(const counting *c)
{
    size_t k = 0;
    TL_RUNS (from, to, &c->ops, by_launch)
        k += c->ops.v[from].launch == k;
    return k;
}

/* ----------------------------------------------------------------------------------------------- the args of ranges */

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
    const uint32_t index = c->frame->rows.v[c->ranges.v[range]].index;
    return tl_names_text(&c->frame->texts, tl_hta_args_of(c->frame, index)->range);
}

/* Collects the names of the counters. */
static void find_counters(counting *c)
{
    for (size_t i = 0; i < c->ranges.n; i++) {
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
            tl_json_read_string(value, &words);
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
    const tl_text args = args_of(c, range);

    for (size_t i = 0; i < NCOLUMNS; i++) {
        tl_text value = tl_json_value(args, columns[i].key);
        put_value(csv, value.n > 0 ? value : tl_text_of(columns[i].absent));
    }
    for (uint32_t i = 0; i < c->keys.n; i++) {
        tl_text value = tl_json_value(args, tl_names_text(&c->keys, i).p);
        put_value(csv, value.n > 0 ? value : TL_TEXT("-1"));
    }
}

/* Range i belongs to launch i; each launch has operators. */
static void write_table(counting *c, tl_csv_folder *folder)
{
    const tl_hta_frame *frame = c->frame;
    tl_csv csv = tl_csv_open_rank(folder, "cupti_counters", frame->rank, NULL);
    tl_bytes stack = { 0 };

    tl_csv_head(&csv, "index,cat,name,pid,tid,ts,dur,stream,correlation");
    for (size_t i = 0; i < NCOLUMNS; i++)
        TL_CELLS(&csv, columns[i].column);
    for (uint32_t i = 0; i < c->keys.n; i++)
        TL_CELLS(&csv, tl_names_text(&c->keys, i));
    tl_csv_head(&csv, "index_correlation,iteration,end," TL_HTA_GRAPH_HEADER
                      ",index_runtime,op_stack,top_level_op,bottom_level_op");
    tl_csv_end_row(&csv);
    TL_RUNS (from, to, &c->ops, by_launch) {
        const size_t i = c->ops.v[from].launch;
        const uint32_t at = c->ranges.v[i];
        const tl_hta_row *row = &frame->rows.v[at];
        TL_CELLS(&csv, row->index, tl_hta_cat(frame, row), tl_hta_name(frame, row), tl_hta_pid(frame, row->track),
                 tl_hta_tid(frame, row->track), row->ts, row->dur, row->stream, row->correlation);
        put_args(c, i, &csv);
        TL_CELLS(&csv, row->link, tl_hta_step(row->iteration), row->end);
        tl_hta_graph_cells(c->graph, at, &csv);
        stack.n = 0;
        for (size_t k = from; k < to; k++)
            tl_bytes_join(&stack, "|", tl_hta_name(frame, c->ops.v[k].row));
        TL_ROW(&csv, frame->rows.v[c->launches.v[i]].index, &stack, tl_hta_name(frame, c->ops.v[from].row),
               tl_hta_name(frame, c->ops.v[to - 1].row));
    }
    tl_bytes_free(&stack);
    tl_csv_close(&csv);
}

/* A rank without ranges has no table and needs no call graph. */
void tl_hta_cupti_counters(tl_hta_job *job)
{
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        counting c = { .frame = frame };
        tl_hta_graph graph = { .nstacks = 0 };
        find_rows(&c);
        find_counters(&c);
        tl_sort_index(c.ranges.v, c.ranges.n, by_time, frame->rows.v);
        tl_sort_index(c.launches.v, c.launches.n, by_time, frame->rows.v);
        if (c.ranges.n > 0)
            graph = tl_hta_graph_of(frame);
        c.graph = &graph;
        if (c.ranges.n != c.launches.n && c.ranges.n > 0) {
            tl_hta_note_rank(&job->out, "cupti_counters", frame, "no table: %zu ranges and %zu launches", c.ranges.n,
                             c.launches.n);
        } else if (graph.why[0] != '\0') {
            tl_hta_note_rank(&job->out, "cupti_counters", frame, "no table: %s", "there is no call graph");
        } else if (c.ranges.n > 0) {
            find_ops(&c);
            const size_t lone = find_lone_launch(&c);
            if (lone < c.launches.n)
                tl_hta_note_rank(&job->out, "cupti_counters", frame,
                                 "no table: the launch of entry %u stands in no operator",
                                 frame->rows.v[c.launches.v[lone]].index);
            else
                write_table(&c, &job->out);
        }
        tl_hta_graph_free(&graph);
        tl_names_free(&c.keys);
        free(c.ranges.v);
        free(c.launches.v);
        free(c.ops.v);
    }
}
