/* cupti.c - the hardware counters of each kernel launch, with the operators around it.
 *
 *     host     [ aten::conv2d                        ]
 *               [ aten::cudnn_convolution     ]
 *                [ launch ]      [ launch ]            the i-th launch by time has
 *     ranges     [ range ]     [ range ]               the i-th range by time
 */
#include "graph.h"
#include "ranges.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/hta/stacks.h"
#include <stdio.h>
#include <stdlib.h>

/* Of the names over and under all launches, which each of them lists: no trace makes a table as large. */
#define MOST_BYTES ((size_t)1 << 30)

typedef struct counting {
    const tl_hta_graph *graph;
    const tl_hta_frame *frame;
    const tl_hta_symbols *symbols;
    tl_arena arena;
    uint32_t *ranges, *launches; /* positions; once sorted, by time */
    size_t nranges, nlaunches;
    uint32_t *ops; /* positions of operators, of one launch after the other */
    size_t *first; /* of each launch in ops, by its number, and where the last one's end */
    char why[128]; /* there is no table, because ... */
} counting;

static int by_time(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return rows[a].ts != rows[b].ts ? TL_COMPARE(rows[a].ts, rows[b].ts) : TL_COMPARE(rows[a].index, rows[b].index);
}

static tl_text cat_of(const counting *c, uint32_t at)
{
    return tl_names_text(&c->symbols->texts, c->frame->rows.v[at].cat);
}

static bool is_op(const counting *c, uint32_t at)
{
    return tl_text_is(cat_of(c, at), "cpu_op");
}

/* Of a row's name in a list; the way past a row that is not listed weighs something, too. */
static size_t weight_of(const counting *c, uint32_t at)
{
    return 1 + tl_names_text(&c->symbols->texts, c->frame->rows.v[at].name).n;
}

static bool find_rows(counting *c)
{
    size_t n = c->frame->rows.n;

    c->ranges = tl_arena_take(&c->arena, n, sizeof *c->ranges);
    c->launches = tl_arena_take(&c->arena, n, sizeof *c->launches);
    if (c->arena.failed)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        tl_text name = tl_names_text(&c->symbols->texts, c->frame->rows.v[i].name);
        if (tl_text_is(cat_of(c, i), "cuda_profiler_range"))
            c->ranges[c->nranges++] = i;
        else if (tl_text_starts(cat_of(c, i), "cuda_runtime") && tl_text_starts(name, "cudaLaunchKernel"))
            c->launches[c->nlaunches++] = i;
    }
    return tl_sort_index(c->launches, c->nlaunches, by_time, c->frame->rows.v);
}

/* Calls `take` for each operator above each launch, and for each under it; launches by their numbers.  `number` has that
 * of a row at its position, where it is a launch, else UINT32_MAX. */
typedef void take_op(counting *c, uint32_t launch, uint32_t op);

static void each_op(counting *c, const uint32_t *number, uint32_t *above, take_op *take)
{
    const tl_hta_graph *g = c->graph;
    size_t nbytes = 0;

    for (uint32_t k = 0; k < c->nlaunches; k++)
        if (g->node[c->launches[k]].depth >= 0)
            for (uint32_t up = g->node[c->launches[k]].parent; up != TL_HTA_TOP; up = g->node[up].parent) {
                nbytes += weight_of(c, up);
                if (nbytes > MOST_BYTES)
                    goto too_deep;
                if (is_op(c, up))
                    take(c, k, up);
            }
    /* `above`: the nearest launch that a row stands in. */
    for (size_t i = 0; i < g->nopened; i++) {
        uint32_t at = g->opened[i], up = g->node[at].parent;
        above[at] = up == TL_HTA_TOP ? UINT32_MAX : number[up] != UINT32_MAX ? number[up] : above[up];
        for (uint32_t k = is_op(c, at) ? above[at] : UINT32_MAX; k != UINT32_MAX; k = above[c->launches[k]]) {
            nbytes += weight_of(c, at);
            if (nbytes > MOST_BYTES)
                goto too_deep;
            take(c, k, at);
        }
    }
    return;

too_deep:
    snprintf(c->why, sizeof c->why, "the operators around the launches have more than %zu bytes of names", MOST_BYTES);
}

static void count_op(counting *c, uint32_t launch, uint32_t op)
{
    (void)op;
    c->first[launch + 1]++;
    c->first[0]++;
}

static void put_op(counting *c, uint32_t launch, uint32_t op)
{
    c->ops[c->first[launch]++] = op;
}

static bool find_ops(counting *c)
{
    size_t n = c->frame->rows.n;
    bool ok = true;

    uint32_t *number = tl_arena_take(&c->arena, n, sizeof *number);
    uint32_t *above = tl_arena_take(&c->arena, n, sizeof *above);
    c->first = tl_arena_zeroed(&c->arena, c->nlaunches + 2, sizeof *c->first);
    if (c->arena.failed)
        return false;
    for (size_t i = 0; i < n; i++)
        number[i] = UINT32_MAX;
    for (uint32_t k = 0; k < c->nlaunches; k++)
        number[c->launches[k]] = k;

    each_op(c, number, above, count_op);
    if (c->why[0] != '\0')
        return true;
    c->ops = tl_arena_take(&c->arena, c->first[0], sizeof *c->ops);
    if (c->ops == NULL)
        return false;
    c->first[0] = 0;
    for (size_t k = 0; k < c->nlaunches && c->why[0] == '\0'; k++) {
        if (c->first[k + 1] == 0)
            snprintf(c->why, sizeof c->why, "the launch of entry %u stands in no operator",
                     c->frame->rows.v[c->launches[k]].index);
        c->first[k + 1] += c->first[k];
    }
    if (c->why[0] != '\0')
        return true;
    each_op(c, number, above, put_op); /* each beginning has moved on to the next one's */
    memmove(c->first + 1, c->first, c->nlaunches * sizeof *c->first);
    c->first[0] = 0;
    for (size_t k = 0; k < c->nlaunches && ok; k++)
        ok = tl_sort_index(c->ops + c->first[k], c->first[k + 1] - c->first[k], by_time, c->frame->rows.v);
    return ok;
}

static bool put_ops(const counting *c, size_t launch, tl_sheet *csv)
{
    size_t from = c->first[launch], n = c->first[launch + 1] - from;
    tl_text *names = tl_malloc(n * sizeof *names);

    if (names == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        names[i] = tl_names_text(&c->symbols->texts, c->frame->rows.v[c->ops[from + i]].name);
    tl_sheet_joined(csv, names, n, '|');
    tl_sheet_text(csv, names[0]);
    tl_sheet_text(csv, names[n - 1]);
    free(names);
    return true;
}

static void put_id(tl_sheet *csv, const tl_hta_frame *frame, int64_t number, uint32_t text)
{
    if (text != TL_NO_NAME)
        tl_sheet_text(csv, tl_names_text(&frame->track_names, text));
    else
        tl_sheet_int(csv, number);
}

/* `order`: numbers of the ranges by time. */
static void put_rows(const counting *c, const tl_hta_ranges *ranges, const uint32_t *order, tl_sheet *csv)
{
    const tl_hta_frame *frame = c->frame;

    for (size_t i = 0; i < c->nranges; i++) {
        uint32_t at = c->ranges[order[i]];
        const tl_hta_row *row = &frame->rows.v[at];
        const tl_track *track = &frame->tracks.v[row->track];

        tl_sheet_int(csv, row->index);
        tl_sheet_text(csv, cat_of(c, at));
        tl_sheet_text(csv, tl_names_text(&c->symbols->texts, row->name));
        put_id(csv, frame, track->pid, track->pid_text);
        put_id(csv, frame, track->tid, track->tid_text);
        tl_sheet_number(csv, row->ts, frame->ts_whole);
        tl_sheet_number(csv, row->dur, frame->dur_whole);
        tl_sheet_int(csv, row->stream);
        tl_sheet_int(csv, row->correlation);
        tl_hta_ranges_cells(ranges, order[i], csv);
        tl_sheet_int(csv, row->link);
        if (row->iteration == TL_HTA_STEP_UNKNOWN)
            tl_sheet_blank(csv);
        else
            tl_sheet_number(csv, (double)row->iteration, frame->iteration_whole);
        tl_sheet_number(csv, row->end, frame->ts_whole && frame->dur_whole);
        tl_hta_graph_cells(c->graph, at, csv);
        tl_sheet_int(csv, frame->rows.v[c->launches[i]].index);
        if (!put_ops(c, i, csv))
            tl_sheet_no_memory(csv);
        tl_sheet_end_row(csv);
    }
}

typedef struct placed {
    const tl_hta_row *rows;
    const uint32_t *at;
} placed;

static int by_time_of(const void *context, uint32_t a, uint32_t b)
{
    const placed *p = context;
    return by_time(p->rows, p->at[a], p->at[b]);
}

static tl_status write_table(counting *c, const char *dir, tl_error *err)
{
    char name[64];
    tl_hta_ranges ranges = { .args = NULL };
    const placed placed_ranges = { c->frame->rows.v, c->ranges };
    tl_sheet csv;
    tl_status st = TL_OK;

    uint32_t *order = tl_arena_take(&c->arena, c->nranges, sizeof *order);
    for (uint32_t i = 0; order != NULL && i < c->nranges; i++)
        order[i] = i;
    if (order == NULL || !tl_sort_index(order, c->nranges, by_time_of, &placed_ranges) ||
        !tl_hta_ranges_read(&ranges, c->frame, c->ranges, c->nranges)) {
        st = tl_fail_memory(err, "the counters of a rank");
        goto done;
    }
    if (ranges.too_many)
        snprintf(c->why, sizeof c->why, "there are too many counters");
    for (size_t i = 0; i < c->nranges && c->why[0] == '\0'; i++)
        if (ranges.args[i] == TL_NO_NAME)
            snprintf(c->why, sizeof c->why, "entry %u was not found again", c->frame->rows.v[c->ranges[i]].index);
    if (c->why[0] != '\0')
        goto done;

    snprintf(name, sizeof name, "cupti_counters_rank%lld.csv", (long long)c->frame->rank);
    st = tl_sheet_open(&csv, dir, name, NULL, err);
    if (st != TL_OK)
        goto done;
    tl_sheet_head(&csv, "index,cat,name,pid,tid,ts,dur,stream,correlation");
    tl_hta_ranges_head(&ranges, &csv);
    tl_sheet_head(&csv, "index_correlation,iteration,end,depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,"
                        "first_kernel_start,last_kernel_end,index_runtime,op_stack,top_level_op,bottom_level_op");
    tl_sheet_end_row(&csv);
    tl_sheet_look(&csv);
    put_rows(c, &ranges, order, &csv);
    tl_sheet_write(&csv);
    put_rows(c, &ranges, order, &csv);
    st = tl_sheet_close(&csv, err);
done:
    tl_hta_ranges_free(&ranges);
    return st;
}

static tl_status write_rank(tl_hta_job *job, const tl_hta_frame *frame, const char *dir, tl_error *err)
{
    tl_hta_graph graph = { .frame = frame };
    counting c = { .graph = &graph, .frame = frame, .symbols = &job->symbols };
    tl_status st = find_rows(&c) ? TL_OK : tl_fail_memory(err, "the counters of a rank");

    if (st == TL_OK && c.nranges > 0) {
        if (c.nranges != c.nlaunches)
            snprintf(c.why, sizeof c.why, "%zu ranges and %zu launches", c.nranges, c.nlaunches);
        else
            st = tl_hta_graph_of(&graph, frame, &job->symbols, err);
        if (st == TL_OK && graph.why[0] != '\0')
            snprintf(c.why, sizeof c.why, "there is no call graph");
        if (st == TL_OK && c.why[0] == '\0')
            st = find_ops(&c) ? TL_OK : tl_fail_memory(err, "the operators of a rank");
        if (st == TL_OK && c.why[0] == '\0')
            st = write_table(&c, dir, err);
        if (st == TL_OK && c.why[0] != '\0')
            st = tl_hta_job_note(job, err, "cupti_counters: rank %lld: no table: %s", (long long)frame->rank, c.why);
    }
    tl_hta_graph_free(&graph);
    tl_arena_free(&c.arena);
    return st;
}

tl_status tl_hta_cupti_counters(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = write_rank(job, &job->frames.v[i], dir, err);
    return st;
}
