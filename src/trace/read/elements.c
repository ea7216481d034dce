#include "formats.h"
#include "tlmpi/base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define AROUND_MAX  ((size_t)1 << 20)

void tl_elements_fault(tl_elements *e, const char *format, ...)
{
    va_list args;
    const int n = snprintf(e->fault, sizeof e->fault, "byte %llu: ", (unsigned long long)e->at);

    va_start(args, format);
    (void)vsnprintf(e->fault + n, sizeof e->fault - (size_t)n, format, args);
    va_end(args);
}

/* Records that `expected` is missing, and c is found: a byte, or EOF for the end of the text. */
static void set_fault(tl_elements *e, const char *expected, int c)
{
    char found[32] = "the end of the text";

    if (c > ' ' && c < 0x7f)
        snprintf(found, sizeof found, "'%c'", c);
    else if (c != EOF)
        snprintf(found, sizeof found, "a byte 0x%02x", (unsigned)c);
    tl_elements_fault(e, "expected %s, found %s", expected, found);
}

/* Whether the text around the array ends with the key, a colon and the bracket. */
static bool ends_with_key(const tl_bytes *around, const char *key)
{
    size_t n = around->n - 1, length = strlen(key);

    for (int marks = 0; marks < 2; marks++) { /* the colon, and the quote before it */
        while (n > 0 && strchr(" \t\r\n", around->v[n - 1]) != NULL)
            n--;
        if (n == 0 || around->v[--n] != ":\""[marks])
            return false;
    }
    return n > length && around->v[n - length - 1] == '"' && memcmp(around->v + n - length, key, length) == 0;
}

/* Adds a byte that the grammar has accepted to the element or to the text around.  depth: number of open brackets
 * before it. */
static void sort_byte(tl_elements *e, char c, uint64_t depth)
{
    const uint64_t now = e->grammar.depth, between = e->key != NULL ? 2 : 1;

    if (!e->inside || (depth == between && now < depth)) {
        if (e->around.n < AROUND_MAX)
            tl_bytes_put(&e->around, &c, 1);
        if (e->key == NULL && depth == 0 && c != '[' && strchr(" \t\r\n", c) == NULL)
            set_fault(e, "an array", (unsigned char)c);
        e->inside = now == between && depth < now && c == '[' && (e->key == NULL || ends_with_key(&e->around, e->key));
        e->found |= e->inside;
        return;
    }
    if (depth == between)
        e->element.n = 0;
    if (depth == between && now == between && e->key == NULL && strchr(", \t\r\n", c) == NULL)
        set_fault(e, e->kind, (unsigned char)c);
    if ((depth > between || now > between) && e->element.n < e->most)
        tl_bytes_put(&e->element, &c, 1);
    if (now != between || depth == now)
        return;
    if (e->element.n >= e->most)
        tl_elements_fault(e, "expected %s of less than %zu bytes, found a longer one", e->kind, e->most);
    else
        e->take(e, (tl_text){ e->element.v, e->element.n });
}

/* Whether the byte lies outside of the document: a byte order mark before it; after it white space, or zeros left by a
 * crash. */
static bool is_around(const tl_elements *e, char c)
{
    if (tl_grammar_is_over(&e->grammar))
        return strchr(" \t\r\n", c) != NULL;
    return e->at < 3 && (c & 0x80) && e->grammar.state == TL_WANT_VALUE && e->grammar.depth == 0;
}

static void take_byte(tl_elements *e, char c)
{
    const uint64_t depth = e->grammar.depth;

    if (is_around(e, c))
        return;
    if (tl_grammar_is_over(&e->grammar))
        set_fault(e, "the end of the file", (unsigned char)c);
    else if (!tl_grammar_step(&e->grammar, c))
        set_fault(e, tl_grammar_wants(&e->grammar), (unsigned char)c);
    else
        sort_byte(e, c, depth);
}

tl_status tl_elements_read(tl_elements *e, const char *path, tl_error *err)
{
    tl_source *source;
    tl_error ended = { 0 };
    size_t n = 1;
    tl_status st = tl_source_open(path, &source, err);

    if (st != TL_OK)
        return st;
    char *block = tl_malloc(BLOCK_BYTES);
    while (n > 0 && e->fault[0] == 0) {
        if (tl_source_read(source, block, BLOCK_BYTES, &n, &ended) != TL_OK)
            tl_printable(e->fault, sizeof e->fault, tl_source_reason(source, &ended));
        for (size_t i = 0; i < n && e->fault[0] == 0; i++, e->at++)
            take_byte(e, block[i]);
    }
    free(block);
    tl_source_close(source);
    e->cut = e->fault[0] == 0 && !tl_grammar_is_over(&e->grammar);
    if (e->cut)
        set_fault(e, tl_grammar_wants(&e->grammar), EOF);
    return TL_OK;
}

void tl_elements_free(tl_elements *e)
{
    tl_grammar_free(&e->grammar);
    tl_bytes_free(&e->element);
    tl_bytes_free(&e->around);
}
