/* json.c - a JSON value of the caller's, written as the rest of a line is. */
#include "json.h"

#include <string.h>

static void skip_space(const char **at)
{
    *at += strspn(*at, " \t\n\r");
}

/* The word, and past it. */
static bool skip_word(const char **at, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Bytes of the escape that begins there; 0: none that may be. */
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

/* Past digits; how many they are. */
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

bool tl_record_json_add(tl_record_text *text, const char *json)
{
    const char *at = json, *ends[TL_RECORD_JSON_DEEPEST]; /* of what is open, the innermost last */
    size_t depth = 0;

    for (;;) {
        if (depth > 0 && *ends[depth - 1] == '}' && !add_key(text, &at))
            return false;
        skip_space(&at);
        if (*at == '{' || *at == '[') {
            if (depth == TL_RECORD_JSON_DEEPEST)
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
