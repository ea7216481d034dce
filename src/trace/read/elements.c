/* elements.c - a file of JSON through the grammar, byte by byte, to the elements of one array. */
#include "elements.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdio.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define AROUND_MAX  ((size_t)1 << 20)

typedef struct walk {
    const tl_elements *how;
    tl_elements_report *report;
    tl_grammar grammar;
    uint64_t depth; /* open brackets between two elements */
    uint64_t at;    /* bytes of the text taken */
    bool in_array;
    tl_bytes element; /* the text of the one at hand */
} walk;

/* Notes that `expected` is not there, but c: a byte, or EOF for the end of the text. */
static void fault(walk *w, const char *expected, int c)
{
    char found[32] = "the end of the text";

    if (c > ' ' && c < 0x7f)
        snprintf(found, sizeof found, "'%c'", c);
    else if (c != EOF)
        snprintf(found, sizeof found, "a byte 0x%02x", (unsigned)c);
    snprintf(w->report->fault, sizeof w->report->fault, "byte %llu: expected %s, found %s", (unsigned long long)w->at,
             expected, found);
}

/* Whether the text around the array ends with its key and a colon: the bracket is taken already. */
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

/* Sorts a byte that the grammar has just taken; before it `depth` brackets were open. */
static void sort_byte(walk *w, char c, uint64_t depth)
{
    const uint64_t now = w->grammar.depth;
    tl_error wrong;

    if (!w->in_array || (depth == w->depth && now < depth)) {
        if (w->report->around.n < AROUND_MAX)
            tl_bytes_put(&w->report->around, &c, 1);
        w->in_array = now == w->depth && depth < now && c == '[' && ends_with_key(&w->report->around, w->how->key);
        w->report->found |= w->in_array;
        return;
    }
    if (depth == w->depth)
        w->element.n = 0;
    if ((depth > w->depth || now > w->depth) && w->element.n < TL_ENTRY_MAX)
        tl_bytes_put(&w->element, &c, 1);
    if (now != w->depth || depth == now)
        return;
    if (w->element.n >= TL_ENTRY_MAX)
        fault(w, "an element of less than 16 MB", (unsigned char)c);
    else if (w->element.v[0] == w->how->opening &&
             w->how->take(w->how->arg, (tl_text){ w->element.v, w->element.n }, &wrong) != TL_OK)
        snprintf(w->report->fault, sizeof w->report->fault, "byte %llu: %.200s", (unsigned long long)w->at, wrong.text);
}

/* A byte order mark before the document; white space, and zeros as a crash leaves them, behind it. */
static bool is_around(const walk *w, char c)
{
    if (tl_grammar_is_over(&w->grammar))
        return strchr(" \t\r\n", c) != NULL;
    return w->at < 3 && (c & 0x80) && w->grammar.state == TL_WANT_VALUE && w->grammar.depth == 0;
}

static void take_byte(walk *w, char c)
{
    const uint64_t depth = w->grammar.depth;

    if (is_around(w, c))
        return;
    if (tl_grammar_is_over(&w->grammar))
        fault(w, "the end of the file", (unsigned char)c);
    else if (!tl_grammar_step(&w->grammar, c))
        fault(w, tl_grammar_wants(&w->grammar), (unsigned char)c);
    else
        sort_byte(w, c, depth);
}

tl_status tl_elements_read(const char *path, const tl_elements *how, tl_elements_report *report, tl_error *err)
{
    walk w = { .how = how, .report = report, .depth = 2 };
    tl_source *source = NULL;
    tl_error ended = { 0 };
    size_t n = 1;

    *report = (tl_elements_report){ .found = false };
    tl_status st = tl_source_open(path, &source, err);
    if (st != TL_OK)
        return st;
    char *block = tl_malloc(BLOCK_BYTES);
    while (n > 0 && report->fault[0] == 0) {
        if (tl_source_read(source, block, BLOCK_BYTES, &n, &ended) != TL_OK)
            tl_printable(report->fault, sizeof report->fault, tl_source_reason(source, &ended));
        for (size_t i = 0; i < n && report->fault[0] == 0; i++, w.at++)
            take_byte(&w, block[i]);
    }
    report->cut = report->fault[0] == 0 && !tl_grammar_is_over(&w.grammar);
    if (report->cut)
        fault(&w, tl_grammar_wants(&w.grammar), EOF);
    tl_grammar_free(&w.grammar);
    tl_bytes_free(&w.element);
    free(block);
    tl_source_close(source);
    return TL_OK;
}
