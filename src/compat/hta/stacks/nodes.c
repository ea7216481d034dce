/* nodes.c - an execution trace, byte by byte, to its nodes. */
#include "nodes.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define LOOK_BYTES  ((size_t)1 << 20) /* the nodes begin before */

/* What is open where: the document, its array of nodes, a node. */
enum { IN_DOCUMENT = 1, IN_NODES, IN_NODE };

typedef struct reading {
    tl_exec *exec;
    tl_grammar grammar;
    char key[8], digits[24]; /* of the document: the key at hand, and its value where it is a number */
    size_t nkey, ndigits;
    bool in_nodes;
    tl_bytes node; /* the text of the one at hand */
    bool no_memory;
} reading;

static bool key_is(const reading *r, const char *word)
{
    return r->nkey == strlen(word) && memcmp(r->key, word, r->nkey) == 0;
}

static uint32_t keep(reading *r, tl_text text)
{
    uint32_t id = tl_names_intern(&r->exec->texts, text.p, text.n);
    r->no_memory = r->no_memory || id == TL_NO_NAME;
    return id;
}

static void take_node(reading *r)
{
    static const char *const keys[TL_EXEC_NTEXTS] = { "name",        "op_schema",     "input_shapes",
                                                      "input_types", "output_shapes", "output_types" };
    tl_text node = { r->node.v, r->node.n }, rest = tl_json_inside(node), key, value;
    tl_exec_node n;
    bool has_id = false, has_rf = false;

    for (size_t k = 0; k < TL_EXEC_NTEXTS; k++)
        n.texts[k] = TL_NO_NAME;
    while (tl_json_member(&rest, &key, &value)) {
        has_id |= tl_text_is(key, "id") && tl_decimal_to_int(value.p, value.n, &n.id);
        has_rf |= tl_text_is(key, "rf_id") && tl_decimal_to_int(value.p, value.n, &n.rf_id);
        for (size_t k = 0; k < TL_EXEC_NTEXTS; k++)
            if (tl_text_is(key, keys[k]))
                n.texts[k] = keep(r, value);
    }
    if (!has_id || !has_rf || r->no_memory)
        return;
    if (tl_vec_room(&r->exec->nodes))
        r->exec->nodes.v[r->exec->nodes.n++] = n;
    else
        r->no_memory = true;
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
    if (r->node.n < TL_ENTRY_MAX)
        r->no_memory = r->no_memory || !tl_bytes_put(&r->node, &c, 1);
    if (now != IN_NODES)
        return;
    if (r->node.n < TL_ENTRY_MAX)
        take_node(r);
    else
        r->exec->damaged = true;
}

/* Takes bytes to the end of the document, or to what is wrong; a `look` ends where the nodes
 * begin. */
static void read_source(reading *r, tl_source *source, char *block, bool look)
{
    tl_exec *exec = r->exec;
    tl_error err;
    size_t n = 0;

    for (size_t sum = 0; !look || sum < LOOK_BYTES; sum += n) {
        if (tl_source_read(source, block, BLOCK_BYTES, &n, &err) != TL_OK || n == 0)
            return;
        for (size_t i = 0; i < n; i++) {
            uint64_t depth = r->grammar.depth;
            tl_grammar_state before = r->grammar.state;
            if (tl_grammar_is_over(&r->grammar) || exec->damaged || r->no_memory || (look && exec->found))
                return;
            exec->damaged = !tl_grammar_step(&r->grammar, block[i]);
            if (!exec->damaged)
                take(r, block[i], depth, before);
        }
    }
}

static tl_status read_file(const char *path, tl_exec *exec, bool look, tl_error *err)
{
    reading r = { .exec = exec };
    tl_source *source;

    char *block = tl_malloc(BLOCK_BYTES);
    if (block == NULL)
        return tl_fail_memory(err, "an execution trace");
    tl_status st = tl_source_open(path, &source, err);
    if (st == TL_OK) {
        read_source(&r, source, block, look);
        tl_source_close(source);
        exec->damaged = exec->damaged || !tl_grammar_is_over(&r.grammar);
        if (r.no_memory || r.grammar.no_memory)
            st = tl_fail_memory(err, "an execution trace");
    }
    tl_grammar_free(&r.grammar);
    tl_bytes_free(&r.node);
    free(block);
    return st;
}

tl_status tl_exec_read(const char *path, tl_exec *exec, tl_error *err)
{
    return read_file(path, exec, false, err);
}

bool tl_hta_is_execution_trace(const char *path)
{
    tl_exec exec = { .found = false };
    tl_error err;

    bool is = read_file(path, &exec, true, &err) == TL_OK && exec.found;
    tl_exec_free(&exec);
    return is;
}

void tl_exec_free(tl_exec *exec)
{
    free(exec->nodes.v);
    tl_names_free(&exec->texts);
    *exec = (tl_exec){ 0 };
}
