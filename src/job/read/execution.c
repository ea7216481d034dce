/* execution.c - makes rows of execution traces: nodes, the events linked to them, or why a node has no event. */
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/job/read/execution.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/trace/event/values.h"
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/trace/text/json.h"
#include <string.h>

static bool belongs_to(const tl_plan *plan, const tl_plan_side *side, const tl_plan_item *item)
{
    return side->kind == TL_INPUT_EXECUTION &&
           (item != NULL ? side->item != SIZE_MAX && &plan->items[side->item] == item : side->item == SIZE_MAX);
}

bool tl_executions_are_of(const tl_plan *plan, const tl_plan_item *item)
{
    for (size_t i = 0; i < plan->nsides; i++)
        if (belongs_to(plan, &plan->sides[i], item))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- records */

#define KEY_EXTERNAL_ID TL_KEY_HOOK
#define KEY_FUNCTION_ID ((tl_key)(TL_KEY_HOOK + 1))

static tl_key key_of(const char *p, size_t n)
{
    if (n == 11 && memcmp(p, "External id", n) == 0)
        return KEY_EXTERNAL_ID;
    return n == 18 && memcmp(p, "Record function id", n) == 0 ? KEY_FUNCTION_ID : TL_KEY_UNKNOWN;
}

/* Records event i; records of events from i on are dropped first: the reader has taken these back. */
static void keep(void *arg, tl_events *events, const tl_fields *fields, uint32_t i)
{
    tl_records *records = arg;
    const tl_value *cat = tl_fields_get(fields, TL_KEY_CAT);

    while (records->v.n > 0 && records->v.v[records->v.n - 1].event >= i)
        records->v.n--;
    if (cat != NULL && tl_exec_links(cat->text))
        tl_vec_push(&records->v, (tl_record){ tl_value_int(tl_fields_get(fields, KEY_EXTERNAL_ID), -1),
                                              tl_value_int(tl_fields_get(fields, KEY_FUNCTION_ID), -1),
                                              events->tracks.v[tl_event_track(events, i)].pid, i, events->uid[i] });
}

tl_entry_hook tl_executions_hook(tl_records *records)
{
    return (tl_entry_hook){ .key_of = key_of, .keep = keep, .arg = records };
}

/* ------------------------------------------------------------------------------------------------------------- file */

static void read_file(const tl_plan_side *side, unsigned texts, tl_exec *exec, tl_side_file *row)
{
    tl_error why = { 0 };
    tl_status st = tl_exec_read(side->path, texts, exec, &why);
    const char *words = st != TL_OK ? tl_error_reason(&why, side->path) : exec->fault;

    *row = (tl_side_file){ .kind = TL_SIDE_EXECUTION,
                           .file = side->number,
                           .rank = side->rank <= INT32_MAX ? (int32_t)side->rank : -1,
                           .entries = (int64_t)exec->nodes.n,
                           .lost = exec->without_id,
                           .replaced_by = -1,
                           .linked_by = TL_EXECUTION_NO_TRACE };
    row->status = st != TL_OK || (exec->damaged && !exec->found) ? TL_SIDE_UNREADABLE
                  : exec->cut                                    ? TL_SIDE_CUT
                  : exec->damaged                                ? TL_SIDE_DAMAGED
                  : exec->nodes.n == 0                           ? TL_SIDE_EMPTY
                                                                 : TL_SIDE_OK;
    words = row->status != TL_SIDE_OK && words[0] == '\0' ? "no node has an id and an rf_id" : words;
    tl_cell_text(row->error, sizeof row->error, words, strlen(words));
    tl_cell_path(row->path, sizeof row->path, side->path);
}

void tl_executions_list(const tl_plan *plan, const tl_plan_item *item, tl_tables *out)
{
    for (size_t i = 0; i < plan->nsides; i++) {
        const tl_plan_side *side = &plan->sides[i];
        tl_exec exec = { .found = false };
        tl_side_file row;
        if (!belongs_to(plan, side, item) || (item == NULL && !tl_plan_is_mine(side, TL_INPUT_EXECUTION)))
            continue;
        read_file(side, 0, &exec, &row);
        tl_exec_free(&exec);
        tl_table_append(tl_tables_get(out, &tl_side_file_schema), &row, 1);
    }
}

/* ------------------------------------------------------------------------------------------------------------ links */

typedef struct linking {
    const tl_exec *exec;
    const tl_records *records;
    tl_trace *trace;
    const tl_rank_view *view;
    tl_side_file *file;
    uint32_t *node_of, *parent_of; /* by op, by node */
    tl_execution_node *rows;
} linking;

static int64_t id_of(const linking *l, const tl_record *record)
{
    return l->file->linked_by == TL_EXECUTION_BY_RECORD ? record->function : record->external;
}

/* Returns the node with the record's id; TL_MAP_NONE: none.  Ids are at least 1. */
static uint32_t node_of(const linking *l, const tl_record *record)
{
    int64_t id = id_of(l, record);
    return id > 0 ? tl_exec_node_of(l->exec, id) : TL_MAP_NONE;
}

static tl_execution_by link_rule_of(const linking *l)
{
    tl_execution_by by = TL_EXECUTION_NO_IDS;
    bool same = !l->exec->has_pid || l->records->v.n == 0;

    TL_EACH (const tl_record, r, l->records->v) {
        same = same || r->pid == l->exec->pid;
        if (r->function > 0)
            by = TL_EXECUTION_BY_RECORD;
        else if (r->external > 0 && by == TL_EXECUTION_NO_IDS)
            by = TL_EXECUTION_BY_EXTERNAL;
    }
    return same ? by : TL_EXECUTION_OTHER_PROCESS;
}

/* Returns the name id of a JSON string, escapes resolved as in names of events. */
static uint32_t name_of(linking *l, tl_text json)
{
    tl_bytes text = { 0 };

    tl_json_read_string(json, &text);
    uint32_t name = tl_value_keep(&l->trace->events, (tl_text){ text.n > 0 ? text.v : "", text.n }, TL_TEXT_MAX);
    tl_bytes_free(&text);
    return name;
}

static uint32_t text_of(linking *l, uint32_t text)
{
    return text != TL_NO_NAME ? tl_value_keep(&l->trace->events, tl_names_text(&l->exec->texts, text), TL_TEXT_MAX)
                              : TL_NO_NAME;
}

/* Fills the rows of nodes from the file, without events. */
static void make_rows(linking *l)
{
    tl_map by_id = { 0 };

    for (size_t i = 0; i < l->exec->nodes.n; i++) {
        const tl_exec_node *node = &l->exec->nodes.v[i];
        tl_map_put(&by_id, (uint64_t)node->id, (uint32_t)i);
        l->rows[i] = (tl_execution_node){
            .rank = l->view->rank,
            .file = l->file->file,
            .row = (int64_t)i,
            .id = node->id,
            .parent = node->parent,
            .rf_id = node->rf_id,
            .name = name_of(l, tl_names_text(&l->exec->texts, node->texts[TL_EXEC_NAME])),
            .input_shapes = text_of(l, node->texts[TL_EXEC_INPUT_SHAPES]),
            .input_types = text_of(l, node->texts[TL_EXEC_INPUT_TYPES]),
            .link = tl_exec_is_frame(l->exec, node)                                 ? TL_EXECUTION_FRAME
                    : node->rf_id > 0 && tl_exec_node_of(l->exec, node->rf_id) != i ? TL_EXECUTION_SAME_ID
                                                                                    : TL_EXECUTION_NO_EVENT,
            .start_ns = TL_TIME_UNKNOWN,
        };
    }
    for (size_t i = 0; i < l->exec->nodes.n; i++) {
        int64_t id = l->rows[i].parent;
        uint32_t parent = id != -1 ? tl_map_get(&by_id, (uint64_t)id) : TL_MAP_NONE;
        l->parent_of[i] = parent != TL_MAP_NONE && parent != i ? parent : TL_NONE;
    }
    tl_map_free(&by_id);
}

static size_t record_of(const tl_records *records, uint32_t uid)
{
    size_t i = 0;
    TL_BISECT(i, records->v.n, mid, records->v.v[mid].uid < uid);
    return i < records->v.n && records->v.v[i].uid == uid ? i : SIZE_MAX;
}

/* Links events to nodes by id and name, and sets why the other nodes have no event. */
static void find_events(linking *l)
{
    const tl_ops *ops = &l->view->ops;
    int64_t least = INT64_MAX, largest = INT64_MIN;

    for (size_t i = 0; i < l->records->v.n; i++) {
        int64_t id = id_of(l, &l->records->v.v[i]);
        uint32_t node = node_of(l, &l->records->v.v[i]);
        least = id > 0 && id < least ? id : least;
        largest = id > largest ? id : largest;
        if (node != TL_MAP_NONE && l->rows[node].link == TL_EXECUTION_NO_EVENT)
            l->rows[node].link = TL_EXECUTION_LEFT_OUT;
    }
    for (size_t op = 0; op < ops->n; op++) {
        size_t at = record_of(l->records, ops->uid[op]);
        uint32_t node = at != SIZE_MAX ? node_of(l, &l->records->v.v[at]) : TL_MAP_NONE;
        if (node == TL_MAP_NONE || l->rows[node].link == TL_EXECUTION_FRAME)
            continue;
        bool same = ops->name[op] == l->rows[node].name;
        if (same)
            l->node_of[op] = node;
        if (same || l->rows[node].link == TL_EXECUTION_LEFT_OUT)
            l->rows[node].link = same ? TL_EXECUTION_LINKED : TL_EXECUTION_OTHER_NAME;
    }
    for (size_t i = 0; i < l->exec->nodes.n; i++)
        if (l->rows[i].link == TL_EXECUTION_NO_EVENT && (l->rows[i].rf_id < least || l->rows[i].rf_id > largest))
            l->rows[i].link = TL_EXECUTION_OUTSIDE;
}

static void link_nodes(linking *l, tl_table *out)
{
    size_t n = l->exec->nodes.n;
    tl_arena arena = { 0 };

    l->node_of = tl_arena_take(&arena, l->view->ops.n, sizeof *l->node_of);
    l->parent_of = tl_arena_take(&arena, n, sizeof *l->parent_of);
    tl_table_reserve(out, n);
    l->rows = tl_table_row(out, out->n);
    make_rows(l);
    for (size_t i = 0; i < l->view->ops.n; i++)
        l->node_of[i] = TL_NONE;
    if (l->file->linked_by == TL_EXECUTION_BY_RECORD || l->file->linked_by == TL_EXECUTION_BY_EXTERNAL)
        find_events(l);
    tl_execution_sum_up(l->view, l->node_of, l->parent_of, l->rows, n);
    for (size_t i = 0; i < n; i++) {
        l->file->linked += l->rows[i].link == TL_EXECUTION_LINKED;
        l->file->frames += l->rows[i].link == TL_EXECUTION_FRAME;
    }
    out->n += n;
    tl_arena_free(&arena);
}

void tl_executions_link(const tl_plan *plan, const tl_plan_item *item, const tl_records *records, tl_trace *trace,
                        const tl_rank_view *view, tl_tables *out)
{
    const unsigned texts = 1u << TL_EXEC_INPUT_SHAPES | 1u << TL_EXEC_INPUT_TYPES;

    for (size_t i = 0; i < plan->nsides; i++) {
        const tl_plan_side *side = &plan->sides[i];
        tl_exec exec = { .found = false };
        tl_side_file file;
        linking l = { .exec = &exec, .records = records, .trace = trace, .view = view, .file = &file };
        if (!belongs_to(plan, side, item))
            continue;
        read_file(side, texts, &exec, &file);
        if (side->rank < 0 || side->rank == view->rank) {
            file.rank = view->rank;
            file.linked_by = (uint8_t)link_rule_of(&l);
            link_nodes(&l, tl_tables_get(out, &tl_execution_node_schema));
        }
        tl_table_append(tl_tables_get(out, &tl_side_file_schema), &file, 1);
        tl_exec_free(&exec);
    }
}
