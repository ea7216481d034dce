/* execution.c - reads the nodes of an execution trace: the file as a stream through the JSON grammar, byte by byte,
 * until an error; one node is held at a time. */
#include "tlmpi/trace/read/execution.h"
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/json.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define AROUND_MAX  ((size_t)1 << 20)

enum { BETWEEN_NODES = 2 }; /* number of open brackets between nodes */

typedef struct reading {
    tl_exec *exec;
    unsigned wanted; /* bits of the wanted texts */
    tl_grammar grammar;
    uint64_t at; /* number of bytes of the text that are read */
    bool in_nodes;
    tl_bytes node;   /* text of the current node */
    tl_bytes around; /* text around the nodes, its first MiB at most */
    char fault[221]; /* the byte, what was expected there and found; empty: no error */
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

static void add_node(const reading *r, tl_text node)
{
    tl_exec *exec = r->exec;
    tl_text rest = tl_json_inside(node), key, value;
    taken t = { .node = { .parent = -1 } };

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

/* Records the first error: `expected` is missing, c is found: a byte, or EOF for the end of the text. */
static void set_fault(reading *r, const char *expected, int c)
{
    char found[32] = "the end of the text";

    if (c > ' ' && c < 0x7f)
        snprintf(found, sizeof found, "'%c'", c);
    else if (c != EOF)
        snprintf(found, sizeof found, "a byte 0x%02x", (unsigned)c);
    snprintf(r->fault, sizeof r->fault, "byte %llu: expected %s, found %s", (unsigned long long)r->at, expected, found);
}

/* Whether the text around the nodes ends with their key, a colon and the bracket. */
static bool ends_with_key(const tl_bytes *around)
{
    static const char key[] = "nodes";
    size_t n = around->n - 1, length = sizeof key - 1;

    for (int marks = 0; marks < 2; marks++) { /* the colon, and the quote before it */
        while (n > 0 && strchr(" \t\r\n", around->v[n - 1]) != NULL)
            n--;
        if (n == 0 || around->v[--n] != ":\""[marks])
            return false;
    }
    return n > length && around->v[n - length - 1] == '"' && memcmp(around->v + n - length, key, length) == 0;
}

/* Adds a byte that the grammar has accepted to the node or to the text around.  depth: number of open brackets before
 * it. */
static void sort_byte(reading *r, char c, uint64_t depth)
{
    const uint64_t now = r->grammar.depth;

    if (!r->in_nodes || (depth == BETWEEN_NODES && now < depth)) {
        if (r->around.n < AROUND_MAX)
            tl_bytes_put(&r->around, &c, 1);
        r->in_nodes = now == BETWEEN_NODES && depth < now && c == '[' && ends_with_key(&r->around);
        r->exec->found |= r->in_nodes;
        return;
    }
    if (depth == BETWEEN_NODES)
        r->node.n = 0;
    if ((depth > BETWEEN_NODES || now > BETWEEN_NODES) && r->node.n < TL_ENTRY_MAX)
        tl_bytes_put(&r->node, &c, 1);
    if (now != BETWEEN_NODES || depth == now)
        return;
    if (r->node.n >= TL_ENTRY_MAX)
        set_fault(r, "a node of less than 16 MB", (unsigned char)c);
    else if (r->node.v[0] == '{')
        add_node(r, (tl_text){ r->node.v, r->node.n });
}

/* Whether the byte lies outside of the document: a byte order mark before it; after it white space, or zeros left by a
 * crash. */
static bool is_around(const reading *r, char c)
{
    if (tl_grammar_is_over(&r->grammar))
        return strchr(" \t\r\n", c) != NULL;
    return r->at < 3 && (c & 0x80) && r->grammar.state == TL_WANT_VALUE && r->grammar.depth == 0;
}

static void take_byte(reading *r, char c)
{
    const uint64_t depth = r->grammar.depth;

    if (is_around(r, c))
        return;
    if (tl_grammar_is_over(&r->grammar))
        set_fault(r, "the end of the file", (unsigned char)c);
    else if (!tl_grammar_step(&r->grammar, c))
        set_fault(r, tl_grammar_wants(&r->grammar), (unsigned char)c);
    else
        sort_byte(r, c, depth);
}

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

static void read_text(reading *r, tl_source *source)
{
    char *block = tl_malloc(BLOCK_BYTES);
    tl_error ended = { 0 };
    size_t n = 1;

    while (n > 0 && r->fault[0] == 0) {
        if (tl_source_read(source, block, BLOCK_BYTES, &n, &ended) != TL_OK)
            tl_printable(r->fault, sizeof r->fault, tl_source_reason(source, &ended));
        for (size_t i = 0; i < n && r->fault[0] == 0; i++, r->at++)
            take_byte(r, block[i]);
    }
    free(block);
}

tl_status tl_exec_read(const char *path, unsigned texts, tl_exec *exec, tl_error *err)
{
    reading r = { .exec = exec, .wanted = texts | 1u << TL_EXEC_NAME };
    tl_source *source;
    tl_status st = tl_source_open(path, &source, err);

    if (st != TL_OK)
        return st;
    read_text(&r, source);
    tl_source_close(source);
    exec->cut = r.fault[0] == 0 && !tl_grammar_is_over(&r.grammar);
    if (exec->cut)
        set_fault(&r, tl_grammar_wants(&r.grammar), EOF);
    exec->damaged = r.fault[0] != 0;
    if (exec->damaged)
        snprintf(exec->fault, sizeof exec->fault, "%s; the nodes before it count", r.fault);
    exec->has_pid = read_pid((tl_text){ r.around.v, r.around.n }, &exec->pid);
    tl_grammar_free(&r.grammar);
    tl_bytes_free(&r.node);
    tl_bytes_free(&r.around);
    return TL_OK;
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
