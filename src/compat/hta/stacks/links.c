/* links.c - rows of a trace and the nodes of the execution trace of the same run: a row's External id is its node's rf_id.
 */
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include "tlmpi/base/sort.h"

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
    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        if (!exec->has_pid)
            return frame;
        for (size_t t = 0; t < frame->tracks.n; t++)
            if (frame->tracks.v[t].pid == exec->pid && frame->tracks.v[t].pid_text == TL_NO_NAME)
                return frame;
    }
    return NULL;
}

static void put_string(tl_sheet *csv, tl_text json)
{
    tl_bytes words = { 0 };
    if (!tl_python_string(tl_json_string(json), &words))
        tl_sheet_no_memory(csv);
    tl_sheet_text(csv, (tl_text){ words.n > 0 ? words.v : "", words.n });
    tl_bytes_free(&words);
}

static void put_list(tl_sheet *csv, tl_text json)
{
    tl_bytes words = { 0 };
    if (!tl_python_list(json, &words))
        tl_sheet_no_memory(csv);
    tl_sheet_text(csv, (tl_text){ words.n > 0 ? words.v : "", words.n });
    tl_bytes_free(&words);
}

static const int64_t *external_of(const tl_hta_frame *frame, uint32_t index)
{
    size_t i = 0;
    TL_BISECT(i, frame->externals.n, mid, frame->externals.v[mid].index < index);
    return i < frame->externals.n && frame->externals.v[i].index == index ? &frame->externals.v[i].id : NULL;
}

static void write_row(tl_sheet *csv, tl_text name, const tl_hta_row *row, int64_t external, const tl_exec *exec,
                      const tl_exec_node *node)
{
    tl_sheet_int(csv, row->index);
    tl_sheet_text(csv, name);
    tl_sheet_int(csv, external);
    tl_sheet_real(csv, (double)node->id); /* rows of other categories have none: a column of doubles */
    put_string(csv, tl_names_text(&exec->texts, node->texts[TL_EXEC_NAME]));
    put_string(csv, tl_names_text(&exec->texts, node->texts[TL_EXEC_SCHEMA]));
    for (int k = TL_EXEC_INPUT_SHAPES; k < TL_EXEC_NTEXTS; k++)
        put_list(csv, tl_names_text(&exec->texts, node->texts[k]));
    tl_sheet_end_row(csv);
}

static tl_status write_links(const tl_hta_job *job, const tl_hta_frame *frame, const tl_exec *exec, const char *dir,
                             tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "execution_trace_links.csv",
                                 "index,s_name,external_id,et_node,et_node_name,op_schema,input_shapes,input_types,"
                                 "output_shapes,output_types",
                                 err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        tl_text cat = tl_names_text(&job->symbols.texts, row->cat);
        const int64_t *external = external_of(frame, row->index);
        if (external == NULL || !tl_exec_links(cat))
            continue;
        uint32_t node = tl_exec_node_of(exec, *external);
        if (node != TL_MAP_NONE)
            write_row(&csv, tl_names_text(&job->symbols.texts, row->name), row, *external, exec, &exec->nodes.v[node]);
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_execution_trace_links(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_exec exec = { .found = false };
    tl_error why;
    const char *path = job->execution_trace, *reason = NULL;

    if (path == NULL)
        return TL_OK;
    tl_status st = tl_exec_read(path, TL_EXEC_ALL_TEXTS, &exec, &why);
    if (st == TL_ENOMEM) {
        tl_exec_free(&exec);
        return tl_fail(err, st, "%s", why.text);
    }
    const tl_hta_frame *frame = frame_of(job, &exec);
    extent rows = { 0, 0 }, nodes = extent_of_nodes(&exec);
    if (frame != NULL)
        rows = extent_of_rows(frame);
    if (st != TL_OK)
        reason = why.text;
    else if (exec.nodes.n == 0)
        reason = "no node has an id and an rf_id";
    else if (frame == NULL)
        reason = "no trace has a row of its process";
    else if (nodes.least < rows.least || nodes.largest > rows.largest)
        reason = "its rf_ids are not all among the trace's External ids: HTA does not link them";

    st = TL_OK;
    if (exec.damaged) {
        job->incomplete = true;
        st = tl_hta_job_note(job, err, "execution_trace_links: %s: damaged, or cut short: %s", path, exec.fault);
    }
    if (st == TL_OK && reason != NULL) {
        job->incomplete = true;
        st = tl_hta_job_note(job, err, "execution_trace_links: %s: no table: %s", path, reason);
    } else if (st == TL_OK) {
        st = write_links(job, frame, &exec, dir, err);
    }
    tl_exec_free(&exec);
    return st;
}
