/* rules.c - a user's classification rules, from JSON.
 *
 *     [
 *       {"contains": "my_ring", "kind": "comm", "collective": "all_reduce"},
 *       {"starts": "zero_fill", "kind": "memset"}
 *     ]
 *
 * A rules file is written by hand, so mistakes are refused with the number of the rule, also a rule that can never
 * match.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

/* In bytes: about 500 rules.  yajl frees a tree by recursion, as deep as brackets are nested. */
#define LARGEST_FILE ((size_t)32 << 10)

typedef enum key { CONTAINS, STARTS, EQUALS, KIND, COLLECTIVE, NKEYS } key;

/* ---- the file ---- */

/* Returns the text of the file, 0-terminated; the caller frees it; NULL, with *err: it cannot be read. */
static char *read_file(const char *path, tl_error *err)
{
    char *text = tl_calloc(LARGEST_FILE + 2, 1);
    FILE *f = fopen(path, "rb");
    size_t n = f != NULL ? fread(text, 1, LARGEST_FILE + 1, f) : 0;
    bool failed = f == NULL || ferror(f) != 0;
    int cause = errno;

    if (f != NULL)
        fclose(f);
    if (!failed && n <= LARGEST_FILE && strlen(text) == n)
        return text;
    free(text);
    tl_fail(err, TL_EUSAGE, "%s: %s", path,
            failed             ? strerror(cause)
            : n > LARGEST_FILE ? "expected rules of at most 32 KiB"
                               : "expected JSON, found a byte 0x00");
    return NULL;
}

/* Returns TL_EUSAGE if the text is not JSON; the message names the line. */
static tl_status check_json(const char *path, const char *text, tl_error *err)
{
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    yajl_handle h = yajl_alloc(NULL, &memory, NULL);
    const unsigned char *bytes = (const unsigned char *)text;
    size_t line = 1;
    tl_status st = TL_OK;

    yajl_config(h, yajl_allow_comments, 1);
    bool parsed = yajl_parse(h, bytes, strlen(text)) == yajl_status_ok;
    size_t at = yajl_get_bytes_consumed(h);
    if (!parsed || yajl_complete_parse(h) != yajl_status_ok) {
        unsigned char *why = yajl_get_error(h, 0, bytes, strlen(text));
        for (size_t i = 0; i < at; i++)
            line += text[i] == '\n';
        st = tl_fail(err, TL_EUSAGE, "%s:%zu: expected JSON: %.*s", path, line, (int)strcspn((const char *)why, "\n"),
                     (const char *)why);
        yajl_free_error(h, why);
    }
    yajl_free(h);
    return st;
}

/* ---- one rule ---- */

/* Returns the index of a word among NULL-terminated labels; -1: not found, or word is NULL. */
static int label_of(const char *word, const char *const *labels)
{
    for (int i = 0; word != NULL && labels[i] != NULL; i++)
        if (strcmp(word, labels[i]) == 0)
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

/* Reads the texts of the keys of a rule; NULL: the key is missing.  *what: the first mistake; "": none. */
static void read_keys(yajl_val value, const char *texts[NKEYS], char *what, size_t size)
{
    static const char *const keys[] = { "contains", "starts", "equals", "kind", "collective", NULL };

    for (size_t i = 0; i < value->u.object.len && *what == '\0'; i++) {
        const char *word = value->u.object.keys[i];
        int k = label_of(word, keys);
        if (k < 0)
            snprintf(what, size,
                     "\"%.60s\" is no key of a rule: expected contains, starts or equals; kind; for communication "
                     "collective",
                     word);
        else if (texts[k] != NULL)
            snprintf(what, size, "\"%s\" stands twice in this rule", word);
        else if (!YAJL_IS_STRING(value->u.object.values[i]))
            snprintf(what, size, "expected a text in double quotes under \"%s\"", word);
        else
            texts[k] = YAJL_GET_STRING(value->u.object.values[i]);
    }
}

/* Appends the rule.  *what: the first mistake; "": none; a rule with a mistake is not appended, or can never match. */
static void add_rule(yajl_val value, tl_rules *rules, char *what, size_t size)
{
    static const tl_match matches[] = { TL_MATCH_CONTAINS, TL_MATCH_STARTS, TL_MATCH_EQUALS };
    const char *texts[NKEYS] = { NULL }, *wrong = NULL;
    tl_rule rule = { .needle = "" };
    int needles = 0;

    if (!YAJL_IS_OBJECT(value))
        snprintf(what, size, "expected an object in braces");
    else
        read_keys(value, texts, what, size);
    if (*what != '\0')
        return;
    for (int k = CONTAINS; k <= EQUALS; k++) {
        needles += texts[k] != NULL;
        if (texts[k] != NULL)
            rule = (tl_rule){ .needle = texts[k], .match = matches[k] };
    }
    int kind = label_of(texts[KIND], tl_kind_labels), collective = label_of(texts[COLLECTIVE], tl_collective_labels);
    if (needles == 0)
        wrong = "expected contains, starts or equals";
    else if (needles > 1)
        wrong = "expected one of contains, starts and equals, found several";
    else if (*rule.needle == '\0')
        wrong = "expected a text that is not empty";
    else if (kind < 0 || kind == TL_SYNC)
        wrong = "expected a kind: compute, comm, memcpy or memset";
    else if (texts[COLLECTIVE] != NULL && kind != TL_COMM)
        wrong = "a collective goes with kind comm alone";
    else if (texts[COLLECTIVE] != NULL && collective <= TL_COLL_NONE)
        wrong = "expected a collective: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
                "scatter, send, recv, send_recv, barrier, meeting or unknown";
    snprintf(what, size, "%s", wrong != NULL ? wrong : "");
    for (size_t i = 0; *what == '\0' && i < rules->user.n; i++)
        if (covers(&rules->user.v[i], &rule))
            snprintf(what, size, "no name comes to this rule: rule %zu takes them all", i + 1);
    if (*what != '\0')
        return;
    rule.needle = tl_strndup(rule.needle, strlen(rule.needle));
    rule.kind = (uint8_t)kind;
    if (kind == TL_COMM)
        rule.collective = (uint8_t)(collective < 0 ? TL_COLL_UNKNOWN : collective);
    tl_vec_push(&rules->user, rule);
}

tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err)
{
    char *text = read_file(path, err), what[300] = "", why[100];

    if (text == NULL || check_json(path, text, err) != TL_OK) {
        free(text);
        return TL_EUSAGE;
    }
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    tl_status st = TL_OK;
    if (!YAJL_IS_ARRAY(root) || strstr(text, "\\u0000") != NULL)
        st = tl_fail(err, TL_EUSAGE, "%s: expected a JSON array of rules, without \\u0000 in their texts", path);
    for (size_t i = 0; st == TL_OK && i < root->u.array.len; i++) {
        add_rule(root->u.array.values[i], rules, what, sizeof what);
        if (*what != '\0')
            st = tl_fail(err, TL_EUSAGE, "%s: rule %zu: %s", path, i + 1, what);
    }
    yajl_tree_free(root);
    free(text);
    return st;
}

void tl_rules_free(tl_rules *rules)
{
    for (size_t i = 0; i < rules->user.n; i++)
        free((void *)(uintptr_t)rules->user.v[i].needle);
    free(rules->user.v);
    free(rules->behave);
    *rules = (tl_rules){ 0 };
}
