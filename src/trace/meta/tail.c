/* tail.c - the metadata in the last bytes of a file, without reading what is before them.
 *
 *     ... {"ph": "X", ..., "args": {"distributedInfo": {"rank": 9}}}], "distributedInfo": {"rank": 3}, "traceName": "t"}
 *                                   ^ no key of the document: what stands after it does not close the text
 */
#include "tlmpi/trace/meta.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/text/grammar.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL ((size_t)1 << 20)

/* Places of a key that are tried, at most: only a hostile text has more. */
#define TRIES_MAX 8

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip(tl_text t, size_t i)
{
    while (i < t.n && is_space(t.p[i]))
        i++;
    return i;
}

/* The text after the last `key` and colon that stand before `end`, and in *end the place of the key; empty without
 * one. */
static tl_text value_after_last(tl_text t, const char *key, size_t *end)
{
    size_t n = strlen(key);

    for (size_t i = *end >= n ? *end - n + 1 : 0; i-- > 0;) {
        if (t.p[i] != key[0] || memcmp(t.p + i, key, n) != 0)
            continue;
        size_t at = skip(t, i + n);
        if (at == t.n || t.p[at] != ':')
            continue;
        at = skip(t, at + 1);
        *end = i;
        return (tl_text){ t.p + at, t.n - at };
    }
    return (tl_text){ "", 0 };
}

/* Whether `rest` goes on as the text does after a member of the document: to its closing brace and the end, or to where
 * it is cut. */
static bool closes_document(tl_text rest)
{
    static const char before[] = "{\"\":0 ";
    tl_grammar g = { 0 };
    size_t n = 0;
    bool fits = tl_grammar_run(&g, before, sizeof before - 1) == sizeof before - 1;

    if (fits)
        n = tl_grammar_run(&g, rest.p, rest.n);
    while (n < rest.n && (is_space(rest.p[n]) || rest.p[n] == 0))
        n++;
    tl_grammar_free(&g);
    return fits && n == rest.n;
}

/* Length of the value at the start of t, which begins with one of `begins`; 0 where it does not, or does not end. */
static size_t value_length(tl_text t, const char *begins)
{
    tl_grammar g = { 0 };

    if (t.n == 0 || t.p[0] == 0 || strchr(begins, t.p[0]) == NULL)
        return 0;
    size_t n = tl_grammar_run(&g, t.p, t.n);
    bool over = tl_grammar_is_over(&g) || n < t.n; /* a number ends before the byte that is none of it */
    tl_grammar_free(&g);
    return over ? n : 0;
}

/* The value of a key of the document, of several the first; empty where there is none. */
static tl_text find(tl_text t, const char *key, const char *begins)
{
    tl_text found = { "", 0 };
    size_t end = t.n;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        tl_text rest = value_after_last(t, key, &end);
        if (rest.n == 0)
            break;
        size_t n = value_length(rest, begins);
        if (n > 0 && closes_document((tl_text){ rest.p + n, rest.n - n }))
            found = (tl_text){ rest.p, n };
    }
    return found;
}

/* What a text says, the end of a trace. */
static void parse(tl_text t, tl_meta *meta)
{
    tl_text info = find(t, "\"distributedInfo\"", "{"), base = find(t, "\"baseTimeNanoseconds\"", "\"0123456789");

    if (info.n > 0 && meta->rank < 0)
        (void)tl_meta_parse_distributed(info.p, info.n, meta, NULL);
    if (base.n > 1 && base.p[0] == '"')
        base = (tl_text){ base.p + 1, base.n - 2 };
    while (base.n > 0 && is_space(base.p[base.n - 1]))
        base.n--;
    if (!meta->has_base)
        tl_meta_set_base(meta, base);
}

/* The last bytes of a plain file, read at their place: n of them in buf, which has room for TAIL. */
static size_t plain_tail(const char *path, char *buf)
{
    struct stat st;
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0) {
        off_t from = st.st_size > (off_t)TAIL ? st.st_size - (off_t)TAIL : 0;
        while (n < TAIL) {
            ssize_t got = pread(fd, buf + n, TAIL - n, from + (off_t)n);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break;
            n += (size_t)got;
        }
    }
    (void)close(fd);
    return n;
}

/* The last bytes of the text, after inflating all of it: n of them in buf, which has room for 2 * TAIL. */
static size_t inflated_tail(tl_source *source, tl_text after, char *buf)
{
    size_t n = after.n < TAIL ? after.n : TAIL, got = 0;

    if (n > 0)
        memcpy(buf, after.p + after.n - n, n);
    while (tl_source_read(source, buf + n, 2 * TAIL - n, &got, NULL) == TL_OK && got > 0) {
        n += got;
        if (n == 2 * TAIL) {
            memmove(buf, buf + TAIL, TAIL);
            n = TAIL;
        }
    }
    return n;
}

void tl_tail_read(const char *path, tl_source *source, tl_text after, tl_meta *meta)
{
    char *buf = tl_malloc(2 * TAIL);
    size_t n = tl_source_packing(source) != NULL ? inflated_tail(source, after, buf) : plain_tail(path, buf);
    parse((tl_text){ buf, n }, meta);
    free(buf);
}
