/* execution.c - an execution trace, byte by byte, to its nodes. */
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define LOOK_BYTES  ((size_t)1 << 20) /* the nodes begin before */

/* What is open where: the document, its array of nodes, a node. */
enum { IN_DOCUMENT = 1, IN_NODES, IN_NODE };

typedef struct reading {
    tl_exec *exec;
    unsigned wanted; /* texts */
    tl_grammar grammar;
    char key[8], digits[24]; /* of the document: the key at hand, and its value where it is a number */
    size_t nkey, ndigits;
    uint64_t at; /* bytes of the text taken */
    bool in_nodes;
    tl_bytes node; /* the text of the one at hand */
    bool no_memory;
} reading;

static bool key_is(const reading *r, const char *word)
{
    return r->nkey == strlen(word) && memcmp(r->key, word, r->nkey) == 0;
}

/* What is known of the node at hand. */
typedef struct taken {
    tl_exec_node node;
    bool has_id, has_rf;
} taken;

static void keep(reading *r, taken *t, int text, tl_text value)
{
    if (!(r->wanted >> text & 1))
        return;
    t->node.texts[text] = tl_names_intern(&r->exec->texts, value.p, value.n);
}

static bool is_number(tl_text key, const char *word, tl_text value, int64_t *number)
{
    return tl_text_is(key, word) && tl_decimal_to_int(value.p, value.n, number);
}

/* "inputs" or "outputs" of the newer schema; `shapes` is the first of the two texts.  In the older one it is an array. */
static void take_tensors(reading *r, taken *t, int shapes, tl_text object)
{
    tl_text rest = tl_json_inside(object), key, value;
    while (object.n > 0 && object.p[0] == '{' && tl_json_member(&rest, &key, &value)) {
        if (tl_text_is(key, "shapes"))
            keep(r, t, shapes, value);
        else if (tl_text_is(key, "types"))
            keep(r, t, shapes + 1, value);
    }
}

/* "attrs" of the newer schema. */
static void take_attributes(reading *r, taken *t, tl_text array)
{
    tl_text rest = tl_json_inside(array), attribute;
    while (tl_json_element(&rest, &attribute)) {
        tl_text name = tl_json_string(tl_json_value(attribute, "name")), value = tl_json_value(attribute, "value");
        t->has_rf |= is_number(name, "rf_id", value, &t->node.rf_id);
        if (tl_text_is(name, "op_schema"))
            keep(r, t, TL_EXEC_SCHEMA, value);
    }
}

static void take_member(reading *r, taken *t, tl_text key, tl_text value)
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

static void take_node(reading *r)
{
    tl_text node = { r->node.v, r->node.n }, rest = tl_json_inside(node), key, value;
    tl_exec *exec = r->exec;
    taken t = { .node = { .parent = -1 } };

    for (size_t k = 0; k < TL_EXEC_NTEXTS; k++)
        t.node.texts[k] = TL_NO_NAME;
    while (tl_json_member(&rest, &key, &value))
        take_member(r, &t, key, value);
    exec->without_id += !t.has_id || !t.has_rf;
    if (!t.has_id || !t.has_rf || r->no_memory)
        return;
    tl_vec_room(&exec->nodes);
    r->no_memory = exec->nodes.n >= TL_MAP_NONE;
    if (!r->no_memory)
        tl_map_put(&exec->by_rf, (uint64_t)t.node.rf_id, (uint32_t)exec->nodes.n);
    if (!r->no_memory)
        exec->nodes.v[exec->nodes.n++] = t.node;
}

/* A byte of the document outside of the nodes. */
static void take_outer(reading *r, tl_grammar_state before, char c)
{
    tl_grammar_state now = r->grammar.state;

    if (now == TL_IN_STRING && r->grammar.key) {
        if (before != TL_IN_STRING && before != TL_IN_ESCAPE)
            r->nkey = r->ndigits = 0;
        else if (r->nkey < sizeof r->key)
            r->key[r->nkey++] = c;
    } else if (now == TL_IN_INTEGER || now == TL_IN_ZERO) {
        if (r->ndigits < sizeof r->digits)
            r->digits[r->ndigits++] = c;
    } else if (r->ndigits > 0) {
        if (key_is(r, "pid"))
            r->exec->has_pid = tl_decimal_to_int(r->digits, r->ndigits, &r->exec->pid);
        r->ndigits = 0;
    }
}

static void say_fault(reading *r, const char *expected)
{
    r->exec->damaged = true;
    snprintf(r->exec->fault, sizeof r->exec->fault, "byte %llu: expected %s; the nodes before it count",
             (unsigned long long)r->at, expected);
}

/* Takes a byte that the grammar has taken; where it stood there is `depth` and `before`. */
static void take(reading *r, char c, uint64_t depth, tl_grammar_state before)
{
    uint64_t now = r->grammar.depth;

    if (depth == IN_DOCUMENT && now == IN_NODES) {
        r->in_nodes = c == '[' && key_is(r, "nodes");
        r->exec->found |= r->in_nodes;
    } else if (now <= IN_DOCUMENT) {
        take_outer(r, before, c);
    }
    if (!r->in_nodes || depth < IN_NODES || (depth == IN_NODES && now != IN_NODE))
        return;
    if (depth == IN_NODES)
        r->node.n = 0;
    if (r->node.n < TL_ENTRY_MAX && !r->no_memory)
        tl_bytes_put(&r->node, &c, 1);
    if (now != IN_NODES)
        return;
    if (r->node.n < TL_ENTRY_MAX)
        take_node(r);
    else
        say_fault(r, "a node of less than 16 MB");
}

/* A byte order mark before the document, or white space and zeros behind it. */
static bool is_around(const reading *r, char c)
{
    if (tl_grammar_is_over(&r->grammar))
        return c == 0 || strchr(" \t\r\n", c) != NULL;
    return r->at < 3 && (c & 0x80) && r->grammar.state == TL_WANT_VALUE && r->grammar.depth == 0;
}

/* Takes bytes to the end of the text, or to what is wrong; a `look` ends where the nodes begin. */
static void read_source(reading *r, tl_source *source, char *block, bool look)
{
    tl_exec *exec = r->exec;
    tl_error err;
    size_t n = 0;

    for (size_t sum = 0; !look || sum < LOOK_BYTES; sum += n) {
        if (tl_source_read(source, block, BLOCK_BYTES, &n, &err) != TL_OK) {
            r->no_memory = r->no_memory || err.status == TL_ENOMEM;
            exec->damaged = true;
            tl_printable(exec->fault, sizeof exec->fault, err.text);
            return;
        }
        if (n == 0)
            break;
        for (size_t i = 0; i < n; i++, r->at++) {
            uint64_t depth = r->grammar.depth;
            tl_grammar_state before = r->grammar.state;
            if (exec->damaged || r->no_memory || (look && exec->found))
                return;
            if (is_around(r, block[i]))
                continue;
            if (tl_grammar_is_over(&r->grammar))
                say_fault(r, "the end of the file");
            else if (tl_grammar_step(&r->grammar, block[i]))
                take(r, block[i], depth, before);
            else
                say_fault(r, tl_grammar_wants(&r->grammar));
        }
    }
    exec->cut = !exec->damaged && !tl_grammar_is_over(&r->grammar);
    if (exec->cut)
        say_fault(r, tl_grammar_wants(&r->grammar));
}

static tl_status read_file(const char *path, unsigned texts, tl_exec *exec, bool look, tl_error *err)
{
    reading r = { .exec = exec, .wanted = texts | 1u << TL_EXEC_NAME };
    tl_source *source;

    char *block = tl_malloc(BLOCK_BYTES);
    tl_status st = tl_source_open(path, &source, err);
    if (st == TL_OK) {
        read_source(&r, source, block, look);
        tl_source_close(source);
        if (r.no_memory)
            st = tl_fail_memory(err, "an execution trace");
    }
    tl_grammar_free(&r.grammar);
    tl_bytes_free(&r.node);
    free(block);
    return st;
}

tl_status tl_exec_read(const char *path, unsigned texts, tl_exec *exec, tl_error *err)
{
    return read_file(path, texts, exec, false, err);
}

tl_status tl_exec_is(const char *path, bool *is, tl_error *err)
{
    tl_exec exec = { .found = false };
    tl_error why = { 0 };

    tl_status st = read_file(path, 0, &exec, true, &why);
    *is = st == TL_OK && exec.found;
    tl_exec_free(&exec);
    return st == TL_ENOMEM ? tl_fail(err, st, "%s", why.text) : TL_OK;
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
