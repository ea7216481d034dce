/* words.c - a sequence of device work in words.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, ...)    twice, and
 *     Memcpy DtoD (Device -> Device)
 *
 *     vectorized_elementwise_kernel<4, FillFunctor<float>> x 2 | Memcpy DtoD
 */
#include "internal.h"
#include "tlmpi/base/text.h"
#include <stdio.h>

enum {
    LONGEST_NAME = 56, /* of a kernel */
    LONGEST = 240      /* of the sequence: what then comes is left out */
};

#define UNNAMED "(anonymous namespace)"

static bool is_of_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Without the type that it returns, namespaces and parameters, in room for LONGEST_NAME + 3; its length. */
static size_t shorten(tl_text name, char *out)
{
    size_t n = 0, i = tl_text_starts(name, "void ") ? 5 : 0, end;
    int depth = 0; /* of template arguments */

    for (; i < name.n && n < LONGEST_NAME; i = end) {
        tl_text rest = { name.p + i, name.n - i };
        for (end = i; end < name.n && is_of_word(name.p[end]); end++)
            ;
        if (tl_text_starts((tl_text){ name.p + end, name.n - end }, "::")) {
            end += 2;
        } else if (end > i) {
            size_t room = LONGEST_NAME - n, length = end - i;
            end = i + (length < room ? length : room);
            memcpy(out + n, rest.p, end - i);
            n += end - i;
        } else if (tl_text_starts(rest, UNNAMED)) {
            end = i + sizeof UNNAMED - 1;
        } else if (rest.p[0] == '(' && depth == 0 && n > 0) {
            end = name.n;
        } else {
            depth += (rest.p[0] == '<') - (rest.p[0] == '>' && depth > 0);
            out[n++] = rest.p[0];
            end = i + 1;
        }
    }
    n = tl_text_utf8((tl_text){ out, n });
    if (i < name.n) {
        memcpy(out + n, "...", 3);
        return n + 3;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    return n;
}

/* The name of work i, and how often it comes in a row: *n. */
static uint32_t run_at(const tl_launched *l, const tl_rank_view *view, size_t i, size_t to, size_t *n)
{
    uint32_t name = tl_name_key(view, view->kernels[l->kernel[i]].name);

    for (*n = 1; i + *n < to && tl_name_key(view, view->kernels[l->kernel[i + *n]].name) == name; ++*n)
        ;
    return name;
}

void tl_launched_words(const tl_launched *l, const tl_rank_view *view, size_t from, size_t to, tl_bytes *words)
{
    words->n = 0;
    for (size_t i = from, n; i < to; i += n) {
        char part[LONGEST_NAME + 64];
        size_t length = 0;
        if (i > from) {
            memcpy(part, " | ", 3);
            length = 3;
        }
        if (words->n >= LONGEST) {
            length += (size_t)snprintf(part + length, sizeof part - length, "... %zu more", to - i);
            tl_bytes_put(words, part, length);
            return;
        }
        uint32_t name = run_at(l, view, i, to, &n);
        length += shorten(tl_names_text(view->names, name), part + length);
        if (n > 1)
            length += (size_t)snprintf(part + length, sizeof part - length, " x %zu", n);
        tl_bytes_put(words, part, length);
    }
}
