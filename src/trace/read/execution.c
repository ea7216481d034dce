/* execution.c - reads the nodes of an execution trace, one at a time. */
#include "tlmpi/trace/read/execution.h"
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/trace/text/json.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct reading {
    tl_exec *exec;
    unsigned wanted; /* bits of the wanted texts */
} reading;

/* ----------------------------------------------------------------------------------------------------------- a node */

/* The current node. */
typedef struct taken {
    tl_exec_node node;
    bool has_id, has_rf;
} taken;

static void keep(const reading *r, taken *t, int text, tl_text value)
{
    if (r->wanted >> text & 1)
        t->node.texts[text] = tl_names_intern(&r->exec->texts, value.p, value.n);
}

static bool is_number(tl_text key, const char *word, tl_text value, int64_t *number)
{
    return tl_text_is(key, word) && tl_decimal_to_int(value.p, value.n, number);
}

/* Reads "inputs" or "outputs" of the newer schema; `shapes` is the first of the two texts.  In the older schema they
 * are arrays. */
static void take_tensors(const reading *r, taken *t, int shapes, tl_text object)
{
    tl_text rest = tl_json_inside(object), key, value;
    while (object.n > 0 && object.p[0] == '{' && tl_json_member(&rest, &key, &value)) {
        if (tl_text_is(key, "shapes"))
            keep(r, t, shapes, value);
        else if (tl_text_is(key, "types"))
            keep(r, t, shapes + 1, value);
    }
}

/* Reads "attrs" of the newer schema. */
static void take_attributes(const reading *r, taken *t, tl_text array)
{
    tl_text rest = tl_json_inside(array), attribute;
    while (tl_json_element(&rest, &attribute)) {
        tl_text name = tl_json_string(tl_json_value(attribute, "name")), value = tl_json_value(attribute, "value");
        t->has_rf |= is_number(name, "rf_id", value, &t->node.rf_id);
        if (tl_text_is(name, "op_schema"))
            keep(r, t, TL_EXEC_SCHEMA, value);
    }
}

static void take_member(const reading *r, taken *t, tl_text key, tl_text value)
{
    static const char *const keys[TL_EXEC_NTEXTS] = { "name",        "op_schema",     "input_shapes",
                                                      "input_types", "output_shapes", "output_types" };

    t->has_id |= is_number(key, "id", value, &t->node.id);
    t->has_rf |= is_number(key, "rf_id", value, &t->node.rf_id);
    (void)(is_number(key, "parent", value, &t->node.parent) || is_number(key, "ctrl_deps", value, &t->node.parent));
    for (int k = 0; k < TL_EXEC_NTEXTS; k++)
        if (tl_text_is(key, keys[k]))
            keep(r, t, k, value);
    if (tl_text_is(key, "inputs"))
        take_tensors(r, t, TL_EXEC_INPUT_SHAPES, value);
    else if (tl_text_is(key, "outputs"))
        take_tensors(r, t, TL_EXEC_OUTPUT_SHAPES, value);
    else if (tl_text_is(key, "attrs"))
        take_attributes(r, t, value);
}

static void add_node(tl_elements *e, tl_text node)
{
    const reading *r = e->arg;
    tl_exec *exec = r->exec;
    tl_text rest = tl_json_inside(node), key, value;
    taken t = { .node = { .parent = -1 } };

    if (*node.p != '{')
        return;
    for (size_t k = 0; k < TL_EXEC_NTEXTS; k++)
        t.node.texts[k] = TL_NO_NAME;
    while (tl_json_member(&rest, &key, &value))
        take_member(r, &t, key, value);
    exec->without_id += !t.has_id || !t.has_rf;
    if (t.has_id && t.has_rf) {
        tl_mem_indexable(exec->nodes.n);
        tl_map_put(&exec->by_rf, (uint64_t)t.node.rf_id, (uint32_t)exec->nodes.n);
        tl_vec_push(&exec->nodes, t.node);
    }
}

/* --------------------------------------------------------------------------------------------------------- the text */

/* Returns the members of the object at the beginning of the text, after an optional byte order mark; empty if there is
 * none. */
static tl_text members_of(tl_text text)
{
    while (text.n > 0 && (strchr(" \t\r\n", *text.p) != NULL || (*text.p & 0x80))) {
        text.p++;
        text.n--;
    }
    return text.n > 0 && *text.p == '{' ? (tl_text){ text.p + 1, text.n - 1 } : TL_TEXT("");
}

/* Reads the process id of the execution trace, which usually comes before the nodes. */
static bool read_pid(tl_text text, int64_t *pid)
{
    tl_text rest = members_of(text), key, value;
    bool has_pid = false;

    while (tl_json_member(&rest, &key, &value))
        has_pid |= is_number(key, "pid", value, pid);
    return has_pid;
}

tl_status tl_exec_read(const char *path, unsigned texts, tl_exec *exec, tl_error *err)
{
    reading r = { exec, texts | 1u << TL_EXEC_NAME };
    tl_elements e = { .key = "nodes", .kind = "a node", .most = TL_ENTRY_MAX, .take = add_node, .arg = &r };
    tl_status st = tl_elements_read(&e, path, err);

    exec->found = e.found;
    exec->cut = e.cut;
    exec->damaged = e.fault[0] != 0;
    if (exec->damaged)
        snprintf(exec->fault, sizeof exec->fault, "%s; the nodes before it count", e.fault);
    exec->has_pid = read_pid((tl_text){ e.around.v, e.around.n }, &exec->pid);
    tl_elements_free(&e);
    return st;
}

bool tl_exec_is_frame(const tl_exec *exec, const tl_exec_node *node)
{
    tl_text name = tl_names_text(&exec->texts, node->texts[TL_EXEC_NAME]);
    return tl_text_has(name, "execution_trace|thread") || tl_text_has(name, "execution_trace|process");
}

void tl_exec_free(tl_exec *exec)
{
    free(exec->nodes.v);
    tl_map_free(&exec->by_rf);
    tl_names_free(&exec->texts);
    *exec = (tl_exec){ 0 };
}

/* ------------------------------------------------------------------------------------------------------- the format */

static const char *const endings[] = { ".json", ".json.gz", ".json.zst", NULL };

/* Whether the document begins with an array of nodes; *schema: after a schema number. */
static bool has_nodes(tl_text head, bool *schema)
{
    tl_text rest = members_of(head), key, value;

    *schema = false;
    if (!tl_text_has(head, "\"nodes\"")) /* as in most files */
        return false;
    while (tl_json_member(&rest, &key, &value)) {
        if (tl_text_is(key, "nodes"))
            return value.p[0] == '[';
        *schema |= tl_text_is(key, "schema");
    }
    return false;
}

bool tl_exec_is(const char *path)
{
    char head[TL_HEAD_BYTES];
    bool schema;

    return has_nodes((tl_text){ head, tl_source_head(path, head, sizeof head) }, &schema);
}

static bool claims(const char *path, tl_text head)
{
    bool schema;

    (void)path;
    return has_nodes(head, &schema) && schema;
}

static void look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    (void)path;
    (void)deep;
    (void)should_be;
    tl_look_say(out, TL_INPUT_EXECUTION, "an execution trace (schema, nodes), which holds no times of devices");
    (void)read_pid(head, &out->origin.pid);
}

const tl_reader tl_execution_reader = { .name = "execution",
                                        .kind = TL_INPUT_EXECUTION,
                                        .endings = endings,
                                        .claims = claims,
                                        .look = look,
                                        .reason = "an execution trace, which holds no events" };
