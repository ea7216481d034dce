/* links.c - rows of a trace and the nodes of the execution trace of the same run: a row's External id is its node's rf_id.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/trace/text/json.h"

/* The least and the largest id; none: least > largest. */
typedef struct extent {
    int64_t least, largest;
} extent;

static void widen(extent *e, int64_t id)
{
    e->least = id < e->least ? id : e->least;
    e->largest = id > e->largest ? id : e->largest;
}

/* A row without an External id has -1. */
static extent extent_of_rows(const tl_hta_frame *frame)
{
    extent e = { INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < frame->externals.n; i++)
        widen(&e, frame->externals.v[i].id);
    if (frame->externals.n < frame->nloaded)
        widen(&e, -1);
    return e;
}

static extent extent_of_nodes(const tl_exec *exec)
{
    extent e = { INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < exec->nodes.n; i++)
        if (!tl_exec_is_frame(exec, &exec->nodes.v[i]))
            widen(&e, exec->nodes.v[i].rf_id);
    return e;
}

/* The first rank with a row of the process that the execution trace is of; where it names none the first. */
static const tl_hta_frame *frame_of(const tl_hta_job *job, const tl_exec *exec)
{
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        if (!exec->has_pid)
            return frame;
        for (size_t t = 0; t < frame->tracks.n; t++)
            if (frame->tracks.v[t].pid == exec->pid && frame->tracks.v[t].pid_text == TL_NO_NAME)
                return frame;
    }
    return NULL;
}

static const int64_t *external_of(const tl_hta_frame *frame, uint32_t index)
{
    size_t i = 0;
    TL_BISECT(i, frame->externals.n, mid, frame->externals.v[mid].index < index);
    return i < frame->externals.n && frame->externals.v[i].index == index ? &frame->externals.v[i].id : NULL;
}

/* A row's other categories have no node: et_node is a column of doubles. */
static void write_row(tl_csv *csv, tl_text name, const tl_hta_row *row, int64_t external, const tl_exec *exec,
                      const tl_exec_node *node)
{
    TL_CELLS(csv, row->index, name, external, (double)node->id);
    for (int k = 0; k < TL_EXEC_NTEXTS; k++) {
        tl_text json = tl_names_text(&exec->texts, node->texts[k]);
        tl_bytes words = { 0 };
        if (k < TL_EXEC_INPUT_SHAPES)
            tl_python_string(tl_json_string(json), &words);
        else
            tl_python_list(json, &words);
        TL_CELLS(csv, &words);
        tl_bytes_free(&words);
    }
    tl_csv_end_row(csv);
}

static void write_links(tl_hta_job *job, const tl_hta_frame *frame, const tl_exec *exec)
{
    tl_csv csv = tl_csv_open(&job->out, "execution_trace_links.csv",
                             "index,s_name,external_id,et_node,et_node_name,op_schema,input_shapes,input_types,"
                             "output_shapes,output_types");

    TL_EACH (const tl_hta_row, row, frame->rows) {
        const int64_t *external = external_of(frame, row->index);
        if (external == NULL || !tl_exec_links(tl_hta_text(&job->symbols, row->cat)))
            continue;
        uint32_t node = tl_exec_node_of(exec, *external);
        if (node != TL_MAP_NONE)
            write_row(&csv, tl_hta_text(&job->symbols, row->name), row, *external, exec, &exec->nodes.v[node]);
    }
    tl_csv_close(&csv);
}

/* Why HTA does not link them; NULL: it does. */
static const char *reason_of(const tl_exec *exec, const tl_hta_frame *frame)
{
    if (exec->nodes.n == 0)
        return "no node has an id and an rf_id";
    if (frame == NULL)
        return "no trace has a row of its process";
    extent rows = extent_of_rows(frame), nodes = extent_of_nodes(exec);
    return nodes.least < rows.least || nodes.largest > rows.largest
               ? "its rf_ids are not all among the trace's External ids: HTA does not link them"
               : NULL;
}

void tl_hta_execution_trace_links(tl_hta_job *job)
{
    tl_exec exec = { .found = false };
    const char *path = job->execution_trace;
    tl_error why;

    if (path == NULL)
        return;
    tl_status st = tl_exec_read(path, TL_EXEC_ALL_TEXTS, &exec, &why);
    const tl_hta_frame *frame = frame_of(job, &exec);
    const char *reason = st != TL_OK ? why.text : reason_of(&exec, frame);
    if (exec.damaged)
        tl_hta_note(job, "execution_trace_links: %s: damaged, or cut short: %s", path, exec.fault);
    if (reason != NULL)
        tl_hta_note(job, "execution_trace_links: %s: no table: %s", path, reason);
    else
        write_links(job, frame, &exec);
    job->incomplete |= exec.damaged || reason != NULL;
    tl_exec_free(&exec);
}
