/* rules.c - a user's classification rules, from JSON.
 *
 *     [
 *       {"contains": "my_ring", "kind": "comm", "collective": "all_reduce"},
 *       {"starts": "zero_fill", "kind": "memset"}
 *     ]
 *
 * A file of rules is written by hand, so what is wrong in it is refused with its line, and so is what has no meaning: a
 * rule that would never be asked is a mistake, not a wish.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#define LARGEST_FILE ((size_t)1 << 20)

typedef enum key { CONTAINS, STARTS, EQUALS, KIND, COLLECTIVE, NKEYS } key;

static const char *const keys[] = { "contains", "starts", "equals", "kind", "collective", NULL };

typedef struct parsing {
    const char *path;
    const char *text;
    yajl_handle yajl;
    size_t counted, line; /* bytes of text looked at for line ends; the line there */
    bool in_array, in_rule, done;
    size_t rule_line; /* where the rule at hand begins */
    key key;          /* that was read last */
    bool seen[NKEYS]; /* keys of the rule at hand */
    tl_rule rule;
    TL_VEC(size_t) lines; /* of the rules that have been taken */
    tl_rules *rules;
    tl_status status;
    tl_error *err;
} parsing;

/* ---- what is wrong, and where ---- */

static size_t line_now(parsing *p)
{
    size_t now = yajl_get_bytes_consumed(p->yajl);
    for (; p->counted < now; p->counted++)
        p->line += p->text[p->counted] == '\n';
    return p->line;
}

/* Ends the parsing, as every callback does that returns 0. */
static int refuse_at(parsing *p, size_t line, const char *what)
{
    p->status = tl_fail(p->err, TL_EUSAGE, "%s:%zu: %s", p->path, line, what);
    return 0;
}

static int refuse(parsing *p, const char *what)
{
    return refuse_at(p, line_now(p), what);
}

static int refuse_text(parsing *p, tl_text text, const char *because)
{
    char what[400];
    snprintf(what, sizeof what, "\"%.*s\" %s", text.n < 60 ? (int)text.n : 60, text.p, because);
    return refuse(p, what);
}

/* A value that cannot stand here. */
static int refuse_value(parsing *p)
{
    return refuse(p, p->in_rule    ? "expected a text in double quotes"
                     : p->in_array ? "expected a rule: an object in braces"
                                   : "expected a JSON array of rules");
}

/* ---- one rule ---- */

/* The place of a word among NULL-terminated labels, -1 when it is none of them. */
static int label_of(tl_text word, const char *const *labels)
{
    for (int i = 0; labels[i] != NULL; i++)
        if (tl_text_is(word, labels[i]))
            return i;
    return -1;
}

/* Whether every name that b matches is matched by a. */
static bool covers(const tl_rule *a, const tl_rule *b)
{
    if (a->match == TL_MATCH_CONTAINS)
        return strstr(b->needle, a->needle) != NULL;
    if (a->match == TL_MATCH_STARTS)
        return b->match != TL_MATCH_CONTAINS && strncmp(b->needle, a->needle, strlen(a->needle)) == 0;
    return b->match == TL_MATCH_EQUALS && strcmp(a->needle, b->needle) == 0;
}

static int begin_rule(void *arg)
{
    parsing *p = arg;
    if (p->in_rule || !p->in_array)
        return refuse(p, p->in_rule ? "expected a text, found an object"
                                    : "expected a JSON array of rules, found an object");
    p->in_rule = true;
    p->rule_line = line_now(p);
    p->rule = (tl_rule){ .needle = NULL };
    memset(p->seen, 0, sizeof p->seen);
    return 1;
}

static int take_key(void *arg, const unsigned char *bytes, size_t n)
{
    parsing *p = arg;
    tl_text text = { (const char *)bytes, n };
    int k = label_of(text, keys);
    if (k < 0)
        return refuse_text(
            p, text, "is no key of a rule: expected contains, starts or equals; kind; for communication collective");
    if (p->seen[k])
        return refuse_text(p, text, "stands twice in this rule");
    p->seen[k] = true;
    p->key = (key)k;
    return 1;
}

static int take_text(void *arg, const unsigned char *bytes, size_t n)
{
    static const tl_match matches[] = { TL_MATCH_CONTAINS, TL_MATCH_STARTS, TL_MATCH_EQUALS };
    parsing *p = arg;
    tl_text text = { (const char *)bytes, n };

    if (!p->in_rule)
        return refuse(p, p->in_array ? "expected a rule, found a text" : "expected a JSON array of rules");
    if (p->key == KIND) {
        int label = label_of(text, tl_kind_labels);
        if (label < 0 || label == TL_SYNC)
            return refuse_text(p, text, "is no kind: expected compute, comm, memcpy or memset");
        p->rule.kind = (uint8_t)label;
        return 1;
    }
    if (p->key == COLLECTIVE) {
        int label = label_of(text, tl_collective_labels);
        if (label <= TL_COLL_NONE)
            return refuse_text(
                p, text,
                "is no collective: expected all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, "
                "reduce, gather, scatter, send, recv, send_recv, barrier, meeting or unknown");
        p->rule.collective = (uint8_t)label;
        return 1;
    }
    if (p->rule.needle != NULL)
        return refuse(p, "expected one of contains, starts and equals in a rule, found two");
    if (n == 0 || memchr(text.p, 0, n) != NULL)
        return refuse(p, n == 0 ? "expected a text that is not empty" : "expected a text without \\u0000");
    p->rule.match = matches[p->key];
    p->rule.needle = tl_strndup(text.p, n);
    return 1;
}

static int end_rule(void *arg)
{
    parsing *p = arg;
    tl_rule *rule = &p->rule;
    char what[120];

    p->in_rule = false;
    if (rule->needle == NULL)
        return refuse_at(p, p->rule_line, "expected contains, starts or equals in this rule");
    if (!p->seen[KIND])
        return refuse_at(p, p->rule_line, "expected a kind in this rule: compute, comm, memcpy or memset");
    if (p->seen[COLLECTIVE] && rule->kind != TL_COMM)
        return refuse_at(p, p->rule_line, "a collective goes with kind comm alone");
    if (rule->kind == TL_COMM && !p->seen[COLLECTIVE])
        rule->collective = TL_COLL_UNKNOWN;
    for (size_t i = 0; i < p->rules->user.n; i++)
        if (covers(&p->rules->user.v[i], rule)) {
            snprintf(what, sizeof what, "no name comes to this rule: that of line %zu takes them all", p->lines.v[i]);
            return refuse_at(p, p->rule_line, what);
        }
    tl_vec_room(&p->rules->user);
    tl_vec_room(&p->lines);
    p->rules->user.v[p->rules->user.n++] = *rule;
    p->lines.v[p->lines.n++] = p->rule_line;
    rule->needle = NULL;
    return 1;
}

/* ---- the array, and what has no place in it ---- */

static int begin_array(void *arg)
{
    parsing *p = arg;
    if (p->in_array)
        return refuse(p, p->in_rule ? "expected a text, found an array" : "expected a rule, found an array");
    p->in_array = true;
    return 1;
}

static int end_array(void *arg)
{
    ((parsing *)arg)->done = true;
    return 1;
}

static int take_null(void *arg)
{
    return refuse_value(arg);
}

static int take_bool(void *arg, int value)
{
    (void)value;
    return refuse_value(arg);
}

static int take_number(void *arg, const char *text, size_t n)
{
    (void)text;
    (void)n;
    return refuse_value(arg);
}

static const yajl_callbacks callbacks = {
    .yajl_null = take_null,
    .yajl_boolean = take_bool,
    .yajl_number = take_number,
    .yajl_string = take_text,
    .yajl_start_map = begin_rule,
    .yajl_map_key = take_key,
    .yajl_end_map = end_rule,
    .yajl_start_array = begin_array,
    .yajl_end_array = end_array,
};

/* ---- the file ---- */

/* The text of the file, of the caller; NULL, with *err, where it cannot be read. */
static char *read_file(const char *path, size_t *n, tl_error *err)
{
    char *text = tl_malloc(LARGEST_FILE + 1);
    FILE *f = fopen(path, "rb");
    *n = f != NULL ? fread(text, 1, LARGEST_FILE + 1, f) : 0;
    bool failed = f == NULL || ferror(f) != 0;
    int cause = errno;
    if (f != NULL)
        fclose(f);
    if (!failed && *n <= LARGEST_FILE)
        return text;
    free(text);
    tl_fail(err, TL_EUSAGE, "%s: %s", path, failed ? strerror(cause) : "expected rules of at most 1 MiB");
    return NULL;
}

/* Says what the parser has against the text, in a line. */
static void refuse_json(parsing *p, size_t n)
{
    char what[300] = "expected a JSON array of rules, found nothing";
    unsigned char *why = yajl_get_error(p->yajl, 0, (const unsigned char *)p->text, n);
    if (why != NULL) {
        snprintf(what, sizeof what, "expected JSON: %s", (const char *)why);
        what[strcspn(what, "\n")] = '\0';
        yajl_free_error(p->yajl, why);
    }
    refuse(p, what);
}

tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err)
{
    parsing p = { .path = path, .line = 1, .rules = rules, .status = TL_OK, .err = err };
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    size_t n;
    char *text = read_file(path, &n, err);

    if (text == NULL)
        return TL_EUSAGE;
    p.text = text;
    p.yajl = yajl_alloc(&callbacks, &memory, &p);
    yajl_config(p.yajl, yajl_allow_comments, 1);
    bool whole = yajl_parse(p.yajl, (const unsigned char *)text, n) == yajl_status_ok;
    (void)line_now(&p); /* the end of the text is counted from its last line */
    whole = whole && yajl_complete_parse(p.yajl) == yajl_status_ok && p.done;
    if (!whole && p.status == TL_OK)
        refuse_json(&p, n);
    yajl_free(p.yajl);
    free((void *)(uintptr_t)p.rule.needle);
    free(p.lines.v);
    free(text);
    return p.status;
}

void tl_rules_free(tl_rules *rules)
{
    for (size_t i = 0; i < rules->user.n; i++)
        free((void *)(uintptr_t)rules->user.v[i].needle);
    free(rules->user.v);
    free(rules->behave);
    *rules = (tl_rules){ 0 };
}
