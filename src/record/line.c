/* line.c - the line of a phase without its duration: keys sorted, ", " between them and ": " before their values. */
#include "internal.h"

#include <string.h>

enum { JSON_DEEPEST = 64 };

/* --------------------------------------------------------------------------------------------- values that are JSON */

static void skip_space(const char **at)
{
    *at += strspn(*at, " \t\n\r");
}

/* Advances past the word; returns whether it is there. */
static bool skip_word(const char **at, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Returns the length of the escape sequence, bytes; 0: it is invalid. */
static size_t escape_length(const char *at)
{
    if (at[0] == '\\' && at[1] == 'u')
        return strspn(at + 2, "0123456789abcdefABCDEF") >= 4 ? 6 : 0;
    return at[0] == '\\' && at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
}

static bool add_string(tl_record_text *text, const char **at)
{
    if (!skip_word(at, "\""))
        return false;
    tl_record_text_literal(text, "\"");
    while (!skip_word(at, "\"")) {
        const size_t n = escape_length(*at);
        if (n == 0 && (**at == '\\' || (unsigned char)**at < ' '))
            return false;
        if (n == 0)
            tl_record_text_code_point(text, tl_record_text_next(at));
        tl_record_text_add(text, *at, n);
        *at += n;
    }
    tl_record_text_literal(text, "\"");
    return true;
}

/* Advances past digits; returns their number. */
static size_t skip_digits(const char **at)
{
    const size_t n = strspn(*at, "0123456789");
    *at += n;
    return n;
}

static bool add_number(tl_record_text *text, const char **at)
{
    const char *from = *at;
    (void)skip_word(at, "-");
    bool good = skip_word(at, "0") || skip_digits(at) > 0;
    if (skip_word(at, "."))
        good = good && skip_digits(at) > 0;
    if (skip_word(at, "e") || skip_word(at, "E")) {
        *at += **at == '-' || **at == '+';
        good = good && skip_digits(at) > 0;
    }
    tl_record_text_add(text, from, (size_t)(*at - from));
    return good;
}

static bool add_scalar(tl_record_text *text, const char **at)
{
    static const char *const words[] = { "true", "false", "null", "NaN", "Infinity", "-Infinity" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (skip_word(at, words[i])) {
            tl_record_text_literal(text, words[i < 3 ? i : 2]);
            return true;
        }
    return **at == '"' ? add_string(text, at) : add_number(text, at);
}

static bool add_key(tl_record_text *text, const char **at)
{
    skip_space(at);
    if (!add_string(text, at))
        return false;
    skip_space(at);
    tl_record_text_literal(text, ": ");
    return skip_word(at, ":");
}

/* Adds a JSON value of the caller with ", " and ": " and no other space, in ASCII; NaN and Infinity, which json.dumps
 * writes, become null.  Numbers, escapes and the order of keys are kept: output of json.dumps(sort_keys=True) is
 * unchanged.  Returns false if the text is not JSON, or nested deeper than JSON_DEEPEST lists and objects; a part may
 * have been added. */
static bool add_json(tl_record_text *text, const char *json)
{
    const char *at = json, *ends[JSON_DEEPEST]; /* closing brackets of what is open, the innermost last */
    size_t depth = 0;

    for (;;) {
        if (depth > 0 && *ends[depth - 1] == '}' && !add_key(text, &at))
            return false;
        skip_space(&at);
        if (*at == '{' || *at == '[') {
            if (depth == JSON_DEEPEST)
                return false;
            tl_record_text_add(text, at, 1);
            ends[depth++] = *at++ == '{' ? "}" : "]";
            skip_space(&at);
            if (*at != *ends[depth - 1])
                continue;
        } else if (!add_scalar(text, &at)) {
            return false;
        }
        for (skip_space(&at); depth > 0 && skip_word(&at, ends[depth - 1]); skip_space(&at))
            tl_record_text_literal(text, ends[--depth]);
        if (depth == 0 || !skip_word(&at, ","))
            return depth == 0 && *at == '\0';
        tl_record_text_literal(text, ", ");
    }
}

/* ------------------------------------------------------------------------------------------------------------ line */

enum { OWN = 4 };
static const char *const own[OWN] = { "duration_ms", "name", "rank", "step" };

_Static_assert(TLMPI_RECORD_MAX_METADATA == 32, "the words below say so");

/* Returns the i-th key: first the recorder's own, which are sorted, then those of metadata. */
static const char *key_at(const tl_record_said *said, size_t i)
{
    return i < OWN ? own[i] : said->metadata[i - OWN].key;
}

/* Sorts the keys; returns false if two keys are equal. */
static bool sort_keys(tl_record_said *said)
{
    for (size_t i = 0; i < OWN + said->nmetadata; i++) {
        size_t at = i;
        int compared = 1;
        for (; i >= OWN && at > 0; at--) {
            compared = tl_record_text_compare(key_at(said, i), key_at(said, said->order[at - 1]));
            if (compared >= 0)
                break;
            said->order[at] = said->order[at - 1];
        }
        if (compared == 0)
            return false;
        said->order[at] = (unsigned char)i;
    }
    return true;
}

const char *tl_record_line_fault(tl_record_said *said)
{
    tl_record_text nowhere = { .failed = true };
    if (said->name == NULL || said->name[0] == '\0')
        return "it has no name";
    if (said->step < 0 || said->step > INT32_MAX)
        return "a step is 0 to 2147483647";
    if (said->nmetadata > TLMPI_RECORD_MAX_METADATA)
        return "it has more than 32 metadata values";
    if (said->metadata == NULL && said->nmetadata > 0)
        return "it has no metadata, and is said to";
    for (size_t i = 0; i < said->nmetadata; i++) {
        const tlmpi_record_value *value = &said->metadata[i];
        if (value->key == NULL || value->type < TLMPI_RECORD_STRING || value->type > TLMPI_RECORD_JSON)
            return "a metadata value has no key, or no known type";
        if (value->type == TLMPI_RECORD_JSON && value->as.text != NULL && !add_json(&nowhere, value->as.text))
            return "a metadata value is no JSON";
    }
    return sort_keys(said) ? NULL : "a metadata key is duration_ms, name, rank or step, or there twice";
}

static void add_value(tl_record_text *text, const tlmpi_record_value *value)
{
    if (value->type == TLMPI_RECORD_INT)
        tl_record_text_integer(text, value->as.integer);
    else if (value->type == TLMPI_RECORD_DOUBLE)
        tl_record_text_double(text, value->as.real);
    else if (value->type == TLMPI_RECORD_BOOL)
        tl_record_text_literal(text, value->as.integer != 0 ? "true" : "false");
    else if (value->as.text == NULL)
        tl_record_text_literal(text, "null");
    else if (value->type == TLMPI_RECORD_JSON)
        (void)add_json(text, value->as.text);
    else
        tl_record_text_string(text, value->as.text);
}

void tl_record_line_add(tl_record_text *text, const tl_record_said *said, size_t *duration_at)
{
    for (size_t i = 0; i < OWN + said->nmetadata; i++) {
        tl_record_text_literal(text, i == 0 ? "{" : ", ");
        tl_record_text_string(text, key_at(said, said->order[i]));
        tl_record_text_literal(text, ": ");
        switch (said->order[i]) {
        case 0:
            *duration_at = text->n;
            break;
        case 1:
            tl_record_text_string(text, said->name);
            break;
        case 2:
            tl_record_text_integer(text, said->rank);
            break;
        case 3:
            tl_record_text_integer(text, said->step);
            break;
        default:
            add_value(text, &said->metadata[said->order[i] - OWN]);
        }
    }
    tl_record_text_literal(text, "}\n");
}
