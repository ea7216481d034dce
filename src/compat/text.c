/* text.c - a JSON array as Python's repr of the tuple or list with its elements. */
#include "tlmpi/base/decimal.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/trace/event/fields.h"
#include "tlmpi/trace/text/json.h"
#include <stdio.h>

/* The deepest nesting that is converted; a deeper list, or a list with an object in it, is shown as in the trace. */
#define DEEPEST 64

/* Appends the string in single quotes; in double quotes if it has a single quote and no double quote. */
static void put_string(tl_bytes *out, tl_text json)
{
    tl_bytes text = { 0 };

    tl_yajl_string(json, &text);
    const bool single = text.n > 0 && memchr(text.v, '\'', text.n) != NULL;
    const char quote = single && memchr(text.v, '"', text.n) == NULL ? '"' : '\'';
    tl_bytes_put(out, &quote, 1);
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.v[i];
        if (c == '\\' || c == quote)
            tl_bytes_say(out, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            tl_bytes_say(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            tl_bytes_say(out, "\\x%02x", (unsigned)c);
        else
            tl_bytes_put(out, &c, 1);
    }
    tl_bytes_put(out, &quote, 1);
    tl_bytes_free(&text);
}

/* Appends a JSON value, an array in brackets if `list`, else in parentheses.  False: the text is no JSON, has an
 * object, or is nested deeper than DEEPEST. */
static bool put_value(tl_bytes *out, tl_text json, bool list, int depth) /* NOLINT(misc-no-recursion): to DEEPEST */
{
    char text[TL_PYTHON_REPR_SIZE];
    double value;

    if (json.p[0] == '[') {
        tl_text rest = tl_json_inside(json), element;
        size_t n = 0;
        if (depth == DEEPEST || json.n < 2 || json.p[json.n - 1] != ']')
            return false;
        tl_bytes_say(out, "%s", list ? "[" : "(");
        for (; tl_json_element(&rest, &element); n++) {
            tl_bytes_say(out, "%s", n > 0 ? ", " : "");
            if (!put_value(out, element, list, depth + 1))
                return false;
        }
        tl_bytes_say(out, "%s", list ? "]" : n == 1 ? ",)" : ")");
        return true;
    }
    if (json.p[0] == '"') {
        put_string(out, json);
    } else if (json.p[0] == 't' || json.p[0] == 'f' || json.p[0] == 'n') {
        tl_bytes_say(out, "%s", json.p[0] == 't' ? "True" : json.p[0] == 'f' ? "False" : "None");
    } else if (json.p[0] != '{' && memchr(json.p, '.', json.n) == NULL && memchr(json.p, 'e', json.n) == NULL &&
               memchr(json.p, 'E', json.n) == NULL) {
        tl_bytes_put(out, json.p, json.n);
    } else {
        if (!tl_decimal_to_double(json.p, json.n, &value))
            return false;
        tl_python_repr(text, value);
        tl_bytes_say(out, "%s", text);
    }
    return true;
}

void tl_python_list(tl_text json, bool tuple, tl_bytes *out)
{
    const size_t before = out->n;

    if (json.n > 0 && json.p[0] == '[' && put_value(out, json, !tuple, 0))
        return;
    out->n = before;
    tl_bytes_put(out, json.p, json.n);
}
