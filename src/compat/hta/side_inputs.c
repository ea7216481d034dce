/* side_inputs.c - links from rows of a trace to nodes of the execution trace of the same run, whose rf_id is the row's
 * External id; and tables of a memory timeline. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/trace/read/memory.h"
#include "tlmpi/trace/text/json.h"

/* Returns the first rank with a row of the execution trace's process, or the first rank if that process is unknown. */
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

static void write_links(tl_hta_job *job, const tl_hta_frame *frame, const tl_exec *exec)
{
    tl_csv csv = tl_csv_open(&job->out, "execution_trace_links.csv",
                             "index,s_name,external_id,et_node,et_node_name,op_schema,input_shapes,input_types,"
                             "output_shapes,output_types");

    TL_EACH (const tl_hta_row, row, frame->rows) {
        const int64_t id = tl_hta_args_of(frame, row->index)->external;
        if (id == TL_REF_NONE || !tl_exec_links(tl_hta_cat(frame, row)))
            continue;
        uint32_t node = tl_exec_node_of(exec, id);
        if (node == TL_MAP_NONE)
            continue;
        TL_CELLS(&csv, row->index, tl_hta_name(frame, row), id, exec->nodes.v[node].id);
        for (int k = 0; k < TL_EXEC_NTEXTS; k++) {
            tl_text json = tl_names_text(&exec->texts, exec->nodes.v[node].texts[k]);
            tl_bytes words = { 0 };
            if (k < TL_EXEC_INPUT_SHAPES)
                tl_json_read_string(json, &words);
            else
                tl_python_list(json, false, &words);
            TL_CELLS(&csv, &words);
            tl_bytes_free(&words);
        }
        tl_csv_end_row(&csv);
    }
    tl_csv_close(&csv);
}

/* Returns why HTA does not link rows and nodes; NULL: HTA does.  An rf_id below or above all External ids, of which -1
 * is that of rows without one, is not among them. */
static const char *reason_of(const tl_exec *exec, const tl_hta_frame *frame)
{
    int64_t least = INT64_MAX, largest = INT64_MIN;
    size_t nexternals = 0;

    if (exec->nodes.n == 0)
        return "no node has an id and an rf_id";
    if (frame == NULL)
        return "no trace has a row of its process";
    TL_EACH (const tl_hta_args, args, frame->args)
        if (args->external != TL_REF_NONE) {
            least = args->external < least ? args->external : least;
            largest = args->external > largest ? args->external : largest;
            nexternals++;
        }
    if (nexternals < frame->nloaded) {
        least = least > -1 ? -1 : least;
        largest = largest < -1 ? -1 : largest;
    }
    TL_EACH (const tl_exec_node, node, exec->nodes)
        if (!tl_exec_is_frame(exec, node) && (node->rf_id < least || node->rf_id > largest))
            return "its rf_ids are not all among the trace's External ids: HTA does not link them";
    return NULL;
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
        tl_hta_note(&job->out, "execution_trace_links: %s: damaged, or cut short: %s", path, exec.fault);
    if (reason != NULL)
        tl_hta_note(&job->out, "execution_trace_links: %s: no table: %s", path, reason);
    else
        write_links(job, frame, &exec);
    job->incomplete |= exec.damaged || reason != NULL;
    tl_exec_free(&exec);
}

/* ---------------------------------------------------------------------------------------------- the memory timeline */

/* The profiler's memory timeline: one row for each time, with the bytes of each category after the last change at that
 * time; memory allocated before the recording is shown at the earliest time.  The file is read twice: for the earliest
 * time and the extremes, then for the rows. */

static const char *const names[TL_MEMORY_SUMS] = { "Parameter", "Optimizer state", "Input",   "Temporary", "Activation",
                                                   "Gradient",  "Autograd",        "Unknown", "total" };

typedef struct timeline {
    tl_csv *csv;         /* table of the rows; NULL: the first reading */
    int64_t earliest_ns; /* set by the first reading */
    int64_t last[TL_MEMORY_SUMS], max[TL_MEMORY_SUMS], min[TL_MEMORY_SUMS];
} timeline;

static void take_state(void *arg, const tl_memory_state *state)
{
    timeline *t = arg;

    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t->max[i] = state->bytes[i] > t->max[i] ? state->bytes[i] : t->max[i];
        t->min[i] = state->bytes[i] < t->min[i] ? state->bytes[i] : t->min[i];
        t->last[i] = state->bytes[i];
    }
    if (t->csv == NULL)
        return;
    TL_CELLS(t->csv, state->time_ns < 0 ? t->earliest_ns : state->time_ns);
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        TL_CELLS(t->csv, state->bytes[i]);
    tl_csv_end_row(t->csv);
}

void tl_hta_memory_timeline(const char *path, tl_csv_folder *folder)
{
    timeline t = { .csv = NULL };
    tl_memory_report report;

    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t.max[i] = INT64_MIN;
        t.min[i] = INT64_MAX;
    }
    if (tl_csv_failed(folder) || tl_memory_timeline_read(path, take_state, &t, &report, &folder->error) != TL_OK)
        return;
    t.earliest_ns =
        report.earliest_ns != INT64_MAX ? report.earliest_ns : -1; /* -1: no event after the initial memory */
    tl_csv rows = tl_csv_open(folder, "memory_timeline.csv", NULL);
    tl_csv_head(&rows, "time");
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        tl_csv_head(&rows, names[i]);
    tl_csv_end_row(&rows);
    t.csv = &rows;
    if (!tl_csv_failed(folder))
        (void)tl_memory_timeline_read(path, take_state, &t, &report, &folder->error);
    tl_csv_close(&rows);
    tl_csv csv = tl_csv_open(folder, "memory_timeline_summary.csv", "category,max_bytes,min_bytes,last_bytes");
    for (size_t i = 0; i < TL_MEMORY_SUMS && report.entries > 0; i++)
        TL_ROW(&csv, names[i], t.max[i], t.min[i], t.last[i]);
    tl_csv_close(&csv);
}
