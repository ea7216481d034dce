/* json.c - skips over values; resolves the escapes of a string with yajl. */
#include "tlmpi/trace/text/json.h"
#include <stdint.h>
#include <string.h>
#include <yajl/yajl_parse.h>

static void skip(tl_text *t, size_t n)
{
    t->p += n;
    t->n -= n;
}

static void skip_blanks(tl_text *t)
{
    while (t->n > 0 && tl_json_is_space(*t->p))
        skip(t, 1);
}

/* Returns the length of the string at the beginning of t, with quotes. */
static size_t string_length(tl_text t)
{
    const char *end = t.n > 1 ? memchr(t.p + 1, '"', t.n - 1) : NULL;
    size_t n = 1;
    if (end != NULL && end[-1] != '\\')
        return (size_t)(end - t.p) + 1;
    while (n < t.n && t.p[n] != '"')
        n += t.p[n] == '\\' ? 2 : 1;
    return n < t.n ? n + 1 : t.n;
}

/* Returns the length of the value at the beginning of t. */
static size_t value_length(tl_text t)
{
    enum { PLAIN, QUOTE, OPENS, CLOSES, ENDS };
    static const uint8_t class_of[256] = {
        ['"'] = QUOTE, ['{'] = OPENS, ['['] = OPENS, ['}'] = CLOSES, [']'] = CLOSES, [','] = ENDS,
        [' '] = ENDS,  ['\t'] = ENDS, ['\n'] = ENDS, ['\v'] = ENDS,  ['\f'] = ENDS,  ['\r'] = ENDS
    };
    size_t n = 0, depth = 0;

    while (n < t.n) {
        const uint8_t class = class_of[(unsigned char)t.p[n]];
        if (class == PLAIN || (depth > 0 && class == ENDS)) {
            n++;
            continue;
        }
        if (depth == 0 && class >= CLOSES)
            break;
        n += class == QUOTE ? string_length((tl_text){ t.p + n, t.n - n }) : 1;
        depth += class == OPENS;
        depth -= class == CLOSES;
        if (depth == 0 && (class == QUOTE || class == CLOSES))
            break;
    }
    return n;
}

static tl_text inside(tl_text value, const char *ends)
{
    if (value.n < 2 || value.p[0] != ends[0] || value.p[value.n - 1] != ends[1])
        return (tl_text){ "", 0 };
    return (tl_text){ value.p + 1, value.n - 2 };
}

tl_text tl_json_inside(tl_text value)
{
    return inside(value, value.n > 0 && value.p[0] == '[' ? "[]" : "{}");
}

tl_text tl_json_string(tl_text value)
{
    return inside(value, "\"\"");
}

bool tl_json_element(tl_text *rest, tl_text *value)
{
    skip_blanks(rest);
    if (rest->n > 0 && *rest->p == ',')
        skip(rest, 1);
    skip_blanks(rest);
    *value = (tl_text){ rest->p, value_length(*rest) };
    skip(rest, value->n);
    return value->n > 0;
}

bool tl_json_member(tl_text *rest, tl_text *key, tl_text *value)
{
    if (!tl_json_element(rest, key) || key->n < 2 || *key->p != '"')
        return false;
    *key = tl_json_string(*key);
    skip_blanks(rest);
    if (rest->n == 0 || *rest->p != ':')
        return false;
    skip(rest, 1);
    skip_blanks(rest);
    *value = (tl_text){ rest->p, value_length(*rest) };
    skip(rest, value->n);
    return value->n > 0;
}

tl_text tl_json_value(tl_text object, const char *key)
{
    tl_text rest = tl_json_inside(object), at, value, found = { "", 0 };

    while (tl_json_member(&rest, &at, &value))
        if (tl_text_is(at, key))
            found = value;
    return found;
}

static int on_string(void *out, const unsigned char *p, size_t n)
{
    tl_bytes_put(out, p, n);
    return 1;
}

void tl_json_read_string(tl_text value, tl_bytes *out)
{
    static const yajl_callbacks text_alone = { .yajl_string = on_string };
    yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
    const tl_text string = tl_json_string(value);
    bool plain = true;

    for (size_t i = 0; i < string.n; i++)
        plain = plain && string.p[i] >= ' ' && string.p[i] != '\\' && (string.p[i] & 0x80) == 0;
    if (plain) {
        tl_bytes_put(out, string.p, string.n);
        return;
    }
    char *repaired = tl_malloc(4 * value.n);
    yajl_handle h = yajl_alloc(&text_alone, &memory, out);
    (void)yajl_parse(h, (const unsigned char *)repaired, tl_repair_json(value.p, value.n, repaired));
    yajl_free(h);
    free(repaired);
}
