/* changes.c - what a user would have otherwise, read from words. */
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/kind.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NAME, KEY_OPERATOR, KEY_ANNOTATION, KEY_KIND, KEY_RANK, KEY_STEP, NKEYS };

static const char *const keys[NKEYS] = { "name", "operator", "annotation", "kind", "rank", "step" };

static const char *const option_of[] = { "--scale", "--overlap", "--remove-sync", "--no-launch-overhead",
                                         "--top" };

static const char form[] = "expected KEY=TEXT, !=, KEY~REGEX or !~, parted by commas, with the keys name, operator, "
                           "annotation, kind, rank and step";

/* --------------------------------------------------------------------------------------------------------- reading */

/* Returns the key with which the text begins, before = ~ != or !~; NKEYS: none.  *sign: length of the key. */
static int key_at(const char *text, size_t *sign)
{
    for (int key = 0; key < NKEYS; key++) {
        *sign = strlen(keys[key]);
        if (strncmp(text, keys[key], *sign) != 0)
            continue;
        const char *after = text + *sign + (text[*sign] == '!');
        if (*after == '=' || *after == '~')
            return key;
    }
    return NKEYS;
}

/* Returns the length of the condition: up to a comma before another condition, or to the end. */
static size_t condition_length(const char *text, const char *end)
{
    size_t sign;
    const char *at = text;
    while (at < end && !(*at == ',' && key_at(at + 1, &sign) < NKEYS))
        at++;
    return (size_t)(at - text);
}

static bool is_kind(const char *word)
{
    static const char *const more[] = { "copy", "host", "input", "gc", "allocator" };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(word, more[i]) == 0)
            return true;
    for (size_t i = 0; tl_kind_labels[i] != NULL; i++)
        if (i != TL_SYNC && strcmp(word, tl_kind_labels[i]) == 0)
            return true;
    for (size_t i = TL_COLL_UNKNOWN; tl_collective_labels[i] != NULL; i++)
        if (strcmp(word, tl_collective_labels[i]) == 0)
            return true;
    return false;
}

/* Reads "0-3,7". */
static bool read_numbers(const char *text, tl_ranges *out)
{
    do {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text || first < 0)
            return false;
        if (*end == '-')
            last = strtol(text = end + 1, &end, 10);
        if (end == text || last < first || last > INT32_MAX)
            return false;
        tl_vec_push(out, (tl_range){ first, last });
        text = end;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

static tl_status read_condition(const char *option, char *text, tl_whatif_change *change, tl_error *err)
{
    size_t n = 0;
    int key = key_at(text, &n);
    if (key == NKEYS)
        return tl_fail(err, TL_EUSAGE, "%s: '%s'; %s", option, text, form);
    char *sign = text + n, *value = sign + (*sign == '!') + 1;
    bool finds = value[-1] == '~';
    tl_vec_push(&change->conditions, (tl_whatif_condition){ .key = (uint8_t)key, .wanted = *sign != '!' });
    tl_whatif_condition *c = &change->conditions.v[change->conditions.n - 1];
    if (key >= KEY_RANK)
        return !finds && read_numbers(value, &c->numbers)
                   ? TL_OK
                   : tl_fail(err, TL_EUSAGE, "%s: '%s' has no numbers, as rank=0-3,7", option, text);
    if (key == KEY_KIND && !finds && !is_kind(value))
        return tl_fail(err, TL_EUSAGE,
                       "%s: there is no kind '%s'; kinds are compute, comm, memcpy (or copy), memset, those of "
                       "collectives as all_reduce, and of the host: host, input, gc, allocator",
                       option, value);
    if (!finds) {
        c->text = tl_strndup(value, strlen(value));
        return TL_OK;
    }
    int why = regcomp(&c->pattern, value, REG_EXTENDED | REG_NOSUB);
    char words[200];
    c->has_pattern = why == 0;
    if (why == 0)
        return TL_OK;
    regerror(why, &c->pattern, words, sizeof words);
    return tl_fail(err, TL_EUSAGE, "%s: '%s' is no regular expression: %s", option, value, words);
}

/* Reads the factor behind the last colon of [text, *end), and ends the conditions before that colon. */
static tl_status read_factor(const char *text, const char **end, double *factor, tl_error *err)
{
    const char *colon = strrchr(text, ':');
    char *after = NULL;
    if (colon != NULL) {
        *end = colon;
        *factor = strtod(colon + 1, &after);
    }
    if (colon == NULL || after == colon + 1 || *after != '\0' || !isfinite(*factor) || *factor < 0 ||
        *factor > TL_WHATIF_MOST)
        return tl_fail(err, TL_EUSAGE, "--scale: '%s' ends in no factor from 0 to %d, as name~gemm:0.5", text,
                       TL_WHATIF_MOST);
    return TL_OK;
}

tl_status tl_whatif_change_read(tl_whatif_sort sort, const char *text, tl_whatif_changes *changes, tl_error *err)
{
    const char *at = text, *end = text + strlen(text);
    tl_status st = TL_OK;
    const bool faster = sort == TL_WHATIF_FASTER;
    tl_vec_push(changes, (tl_whatif_change){ .text = text,
                                             .sort = (uint8_t)(faster ? TL_WHATIF_SCALE : sort),
                                             .factor = faster ? 1 - TL_WHATIF_FASTER_PERCENT / 100. : 1 });
    tl_whatif_change *change = &changes->v[changes->n - 1];
    if (sort == TL_WHATIF_REMOVE_SYNC || sort == TL_WHATIF_NO_LAUNCH_OVERHEAD)
        return TL_OK;
    if (sort == TL_WHATIF_SCALE)
        st = read_factor(text, &end, &change->factor, err);
    for (size_t n; st == TL_OK && at <= end; at += n + 1) {
        n = faster ? (size_t)(end - at) : condition_length(at, end);
        char *word = tl_strndup(at, n);
        st = read_condition(option_of[sort], word, change, err);
        free(word);
    }
    return st;
}

void tl_whatif_changes_free(tl_whatif_changes *changes)
{
    TL_EACH (tl_whatif_change, change, *changes) {
        TL_EACH (tl_whatif_condition, c, change->conditions) {
            if (c->has_pattern)
                regfree(&c->pattern);
            free(c->text);
            free(c->numbers.v);
        }
        free(change->conditions.v);
    }
    free(changes->v);
    *changes = (tl_whatif_changes){ 0 };
}

/* ------------------------------------------------------------------------------------------------------- selecting */

static bool word_holds(const tl_whatif_condition *c, const char *word)
{
    return word != NULL && (c->has_pattern ? regexec(&c->pattern, word, 0, NULL, 0) == 0 : strcmp(word, c->text) == 0);
}

/* Whether all conditions hold that are not of the step.  words[nwords]: the words for the kind; label NULL: of the host. */
static bool selects(const tl_whatif_change *change, int32_t rank, const tl_work_label *label, const char *const *words,
                    size_t nwords)
{
    bool all = change->conditions.n > 0, of_host = false;
    TL_EACH (const tl_whatif_condition, c, change->conditions) {
        bool holds = false;
        if (c->key == KEY_STEP)
            continue;
        if (c->key == KEY_RANK)
            holds = tl_ranges_has(&c->numbers, rank);
        else if (c->key == KEY_KIND)
            for (size_t i = 0; i < nwords; i++)
                holds = holds || word_holds(c, words[i]);
        else if (label != NULL)
            holds = word_holds(c, c->key == KEY_NAME       ? label->name
                                  : c->key == KEY_OPERATOR ? label->operator_name
                                                           : label->annotation);
        of_host = of_host || (c->key == KEY_KIND && holds && c->wanted);
        all = all && (label != NULL || c->key == KEY_RANK || c->key == KEY_KIND) && holds == c->wanted;
    }
    return all && (label != NULL || of_host);
}

bool tl_whatif_selects_step(const tl_whatif_change *change, int32_t step)
{
    bool all = true;
    TL_EACH (const tl_whatif_condition, c, change->conditions)
        all = all && (c->key != KEY_STEP || tl_ranges_has(&c->numbers, step) == c->wanted);
    return all;
}

bool tl_whatif_selects(const tl_whatif_change *change, int32_t rank, const tl_work_label *label)
{
    const char *const words[] = { tl_kind_labels[label->kind], label->kind == TL_MEMCPY ? "copy" : NULL,
                                  label->kind == TL_COMM ? tl_collective_labels[label->collective] : NULL };
    return selects(change, rank, label, words, sizeof words / sizeof *words);
}

bool tl_whatif_selects_host(const tl_whatif_change *change, int32_t rank, tl_activity_kind activity)
{
    const char *const words[] = { "host", activity != TL_ACTIVITY_HOST ? tl_activity_labels[activity] : NULL };
    return (TL_HOST_ACTIVITIES >> activity & 1U) != 0 &&
           selects(change, rank, NULL, words, sizeof words / sizeof *words);
}
