/* changes.c - a change, read from the words of a user, and the work that it selects. */
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/base/pattern.h"
#include "tlmpi/model/kind.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_NAME, KEY_OPERATOR, KEY_ANNOTATION, KEY_KIND, KEY_RANK, KEY_STEP, NKEYS };

static const char *const keys[NKEYS] = { "name", "operator", "annotation", "kind", "rank", "step" };

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Returns the key at the beginning of the text, *n: its length; NKEYS: none. */
static int key_at(const char *text, size_t *n)
{
    for (int key = 0; key < NKEYS; key++) {
        *n = strlen(keys[key]);
        if (strncmp(text, keys[key], *n) != 0)
            continue;
        const char *sign = text + *n + (text[*n] == '!');
        if (*sign == '=' || *sign == '~')
            return key;
    }
    return NKEYS;
}

/* Ends the condition at the comma before the next condition, which is returned; NULL: there is none. */
static char *cut_condition(char *text)
{
    size_t n;
    while ((text = strchr(text, ',')) != NULL && key_at(text + 1, &n) == NKEYS)
        text++;
    if (text != NULL)
        *text++ = '\0';
    return text;
}

static bool is_kind(const char *word)
{
    static const char *const more[] = { "copy", "host", "input", "gc", "allocator", NULL };
    const char *const *const lists[] = { more, tl_kind_labels, &tl_collective_labels[TL_COLL_UNKNOWN] };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const char *const *known = lists[i]; *known != NULL; known++)
            if (strcmp(word, *known) == 0)
                return known != &tl_kind_labels[TL_SYNC];
    return false;
}

static tl_status read_condition(const char *option, const char *text, tl_whatif_change *change, tl_error *err)
{
    size_t n;
    const char *part;
    int key = key_at(text, &n);
    if (key == NKEYS)
        return tl_fail(err, TL_EUSAGE,
                       "%s: '%s'; expected KEY=TEXT, !=, KEY~REGEX or !~, parted by commas, with the keys name, "
                       "operator, annotation, kind, rank and step",
                       option, text);
    bool wanted = text[n] != '!', finds = text[n + !wanted] == '~';
    const char *value = &text[n + !wanted + 1];
    tl_vec_push(&change->conditions, (tl_whatif_condition){ .key = (uint8_t)key, .wanted = wanted, .text = value });
    tl_whatif_condition *c = &change->conditions.v[change->conditions.n - 1];
    if (key >= KEY_RANK)
        return !finds && tl_ranges_read(value, NULL, 0, &c->numbers, &part) == TL_RANGES_FINE
                   ? TL_OK
                   : tl_fail(err, TL_EUSAGE, "%s: '%s' has no numbers, as rank=0-3,7", option, text);
    if (key == KEY_KIND && !finds && !is_kind(value))
        return tl_fail(err, TL_EUSAGE,
                       "%s: there is no kind '%s'; kinds are compute, comm, memcpy (or copy), memset, those of "
                       "collectives as all_reduce, and of the host: host, input, gc, allocator",
                       option, value);
    tl_status st = finds ? tl_pattern_compile(&c->pattern, option, value, err) : TL_OK;
    c->has_pattern = finds && st == TL_OK;
    return st;
}

/* Reads the factor after the last colon, and cuts the text there. */
static tl_status read_factor(tl_whatif_change *change, tl_error *err)
{
    char *colon = strrchr(change->words, ':'), *end = NULL;
    if (colon != NULL) {
        change->factor = strtod(colon + 1, &end);
        *colon = '\0';
    }
    if (colon == NULL || end == colon + 1 || *end != '\0' || !(change->factor >= 0 && change->factor <= TL_WHATIF_MOST))
        return tl_fail(err, TL_EUSAGE, "--scale: '%s' ends in no factor from 0 to %d, as name~gemm:0.5", change->text,
                       TL_WHATIF_MOST);
    return TL_OK;
}

tl_status tl_whatif_change_read(tl_whatif_sort sort, const char *text, tl_whatif_changes *changes, tl_error *err)
{
    static const char *const options[] = { "--scale", "--overlap", "--remove-sync", "--no-launch-overhead", "--top" };
    char *words = tl_strndup(text, strlen(text));
    tl_vec_push(changes, (tl_whatif_change){ .text = text, .words = words, .sort = (uint8_t)sort, .factor = 1 });
    tl_whatif_change *change = &changes->v[changes->n - 1];
    if (sort == TL_WHATIF_REMOVE_SYNC || sort == TL_WHATIF_NO_LAUNCH_OVERHEAD)
        return TL_OK;
    if (sort == TL_WHATIF_FASTER) {
        change->sort = TL_WHATIF_SCALE;
        change->factor = 1 - TL_WHATIF_FASTER_PERCENT / 100.;
        return read_condition(options[sort], words, change, err);
    }
    tl_status st = sort == TL_WHATIF_SCALE ? read_factor(change, err) : TL_OK;
    for (char *next; st == TL_OK && words != NULL; words = next) {
        next = cut_condition(words);
        st = read_condition(options[sort], words, change, err);
    }
    return st;
}

void tl_whatif_changes_free(tl_whatif_changes *changes)
{
    TL_EACH (tl_whatif_change, change, *changes) {
        TL_EACH (tl_whatif_condition, c, change->conditions) {
            if (c->has_pattern)
                regfree(&c->pattern);
            free(c->numbers.v);
        }
        free(change->conditions.v);
        free(change->words);
    }
    free(changes->v);
    *changes = (tl_whatif_changes){ 0 };
}

/* -------------------------------------------------------------------------------------------------------- selection */

static bool has_word(const tl_whatif_condition *c, const char *word)
{
    return word != NULL && (c->has_pattern ? regexec(&c->pattern, word, 0, NULL, 0) == 0 : strcmp(word, c->text) == 0);
}

bool tl_whatif_selects_step(const tl_whatif_change *change, int32_t step)
{
    bool all = true;
    TL_EACH (const tl_whatif_condition, c, change->conditions)
        all = all && (c->key != KEY_STEP || tl_ranges_has(&c->numbers, step) == c->wanted);
    return all;
}

bool tl_whatif_selects(const tl_whatif_change *change, int32_t rank, const tl_node_label *label)
{
    const bool host = label->name == NULL;
    const char *const of_host = label->kind != TL_ACTIVITY_HOST ? tl_activity_labels[label->kind] : NULL,
                      *const kind = host ? "host" : tl_kind_labels[label->kind],
                      *const copy = !host && label->kind == TL_MEMCPY ? "copy" : NULL,
                      *const collective =
                          !host && label->kind == TL_COMM ? tl_collective_labels[label->collective] : NULL;
    const char *const words[][3] = { [KEY_NAME] = { label->name },
                                     [KEY_OPERATOR] = { label->operator_name },
                                     [KEY_ANNOTATION] = { label->annotation },
                                     [KEY_KIND] = { kind, host ? of_host : copy, collective } };
    bool all = true, by_kind = false;
    if (host && (TL_HOST_ACTIVITIES >> label->kind & 1U) == 0)
        return false;
    TL_EACH (const tl_whatif_condition, c, change->conditions) {
        if (c->key == KEY_STEP)
            continue;
        bool of_rank = c->key == KEY_RANK, holds = of_rank && tl_ranges_has(&c->numbers, rank);
        for (size_t i = 0; i < 3 && !of_rank; i++)
            holds = holds || has_word(c, words[c->key][i]);
        by_kind = by_kind || (c->key == KEY_KIND && holds && c->wanted);
        all = all && holds == c->wanted && (of_rank || words[c->key][0] != NULL);
    }
    return all && (by_kind || !host);
}
