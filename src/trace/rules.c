/* rules.c - a user's classification rules, from JSON. */
#include "tlmpi/trace/classify.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#define LARGEST_FILE ((size_t)1 << 20)

static tl_status read_file(const char *path, char **out, tl_error *err)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return tl_fail(err, TL_EUSAGE, "%s: %s", path, strerror(errno));
    char *text = tl_malloc(LARGEST_FILE + 1);
    size_t n = text != NULL ? fread(text, 1, LARGEST_FILE + 1, f) : 0;
    bool failed = ferror(f) != 0;
    fclose(f);
    if (text == NULL)
        return tl_fail_memory(err, "the rules file");
    if (failed || n > LARGEST_FILE) {
        free(text);
        return tl_fail(err, TL_EUSAGE, "%s: %s", path, failed ? strerror(errno) : "expected rules of at most 1 MiB");
    }
    text[n] = 0;
    *out = text;
    return TL_OK;
}

/* The place of word among NULL-terminated labels, -1 when it is none of them. */
static int label_of(const char *word, const char *const *labels)
{
    for (int i = 0; word != NULL && labels[i] != NULL; i++)
        if (strcmp(word, labels[i]) == 0)
            return i;
    return -1;
}

static const char *member(yajl_val object, const char *key)
{
    const char *path[] = { key, NULL };
    return YAJL_GET_STRING(yajl_tree_get(object, path, yajl_t_string));
}

static tl_status read_rule(yajl_val object, const char *path, size_t number, tl_rules *rules, tl_error *err)
{
    static const struct {
        const char *key;
        tl_match match;
    } ways[] = { { "contains", TL_MATCH_CONTAINS }, { "starts", TL_MATCH_STARTS }, { "equals", TL_MATCH_EQUALS } };
    const char *needle = NULL;
    tl_rule rule = { 0 };

    for (size_t i = 0; needle == NULL && i < sizeof ways / sizeof ways[0]; i++) {
        needle = member(object, ways[i].key);
        rule.match = ways[i].match;
    }
    const char *collective = member(object, "collective");
    int kind = label_of(member(object, "kind"), tl_kind_labels);
    int coll = collective != NULL ? label_of(collective, tl_collective_labels) : TL_COLL_NONE;
    if (needle == NULL || needle[0] == 0)
        return tl_fail(err, TL_EUSAGE, "%s: rule %zu: expected \"contains\", \"starts\" or \"equals\" with a text", path, number);
    if (kind < 0 || kind == TL_SYNC)
        return tl_fail(err, TL_EUSAGE, "%s: rule %zu: expected \"kind\": \"compute\", \"comm\", \"memcpy\" or \"memset\"", path,
                       number);
    if (coll < 0)
        return tl_fail(err, TL_EUSAGE, "%s: rule %zu: \"%s\" is no collective (all_reduce, all_gather ...)", path, number,
                       collective);
    rule.kind = (uint8_t)kind;
    rule.collective = (uint8_t)(kind == TL_COMM && coll == TL_COLL_NONE ? TL_COLL_UNKNOWN : coll);
    rule.needle = tl_strndup(needle, strlen(needle));
    if (rule.needle == NULL || !tl_vec_room(&rules->user)) {
        free((void *)(uintptr_t)rule.needle);
        return tl_fail_memory(err, "the rules");
    }
    rules->user.v[rules->user.n++] = rule;
    return TL_OK;
}

tl_status tl_rules_read(const char *path, tl_rules *rules, tl_error *err)
{
    char *text = NULL, why[256] = "";
    tl_status st = read_file(path, &text, err);
    if (st != TL_OK)
        return st;
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    free(text);
    if (!YAJL_IS_ARRAY(root)) {
        for (char *c = why; *c != 0; c++)
            if (*c == '\n')
                *c = ' ';
        st = tl_fail(err, TL_EUSAGE, "%s: expected a JSON array of rules%s%s", path, why[0] ? ": " : "", why);
    }
    for (size_t i = 0; st == TL_OK && root != NULL && i < root->u.array.len; i++)
        st = read_rule(root->u.array.values[i], path, i + 1, rules, err);
    yajl_tree_free(root);
    return st;
}

void tl_rules_free(tl_rules *rules)
{
    for (size_t i = 0; i < rules->user.n; i++)
        free((void *)(uintptr_t)rules->user.v[i].needle);
    free(rules->user.v);
    *rules = (tl_rules){ 0 };
}
