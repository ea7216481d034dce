/* launched.c - device work in the order in which it was launched, and a sequence of it in words.
 *
 *     thread 1   |launch 1      |launch 2, of a graph
 *     device     ...[a]...........[b][c][b]            a b c b
 *
 * The hash of a stretch is computed from the hashes of two prefixes, as its sum is from two prefix sums.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, ...)    twice, and
 *     Memcpy DtoD (Device -> Device)
 *
 *     vectorized_elementwise_kernel<4, FillFunctor<float>> x 2 | Memcpy DtoD
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

#define PRIME ((UINT64_C(1) << 61) - 1)
#define BASE  UINT64_C(1442695040888963407)

static uint64_t reduce(uint64_t x)
{
    x = (x & PRIME) + (x >> 61);
    return x >= PRIME ? x - PRIME : x;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return reduce((uint64_t)(product & PRIME) + (uint64_t)(product >> 61));
}

static uint64_t hash_of_name(const tl_rank_view *view, uint32_t name)
{
    return name != TL_NO_NAME ? reduce(view->names->v[tl_name_key(view, name)].key) : 1;
}

void tl_launched_find(tl_launched *l, const tl_rank_view *view, tl_arena *arena)
{
    size_t n = view->nkernels;
    uint32_t *position = tl_arena_take(arena, view->nlaunches, sizeof *position), /* by launch: its index in by.v */
        *group_of = tl_arena_take(arena, n, sizeof *group_of);

    l->first = tl_arena_take(arena, view->nlaunches + 1, sizeof *l->first);
    l->kernel = tl_arena_take(arena, n, sizeof *l->kernel);
    l->ns = tl_arena_zeroed(arena, n + 1, sizeof *l->ns);
    l->hash = tl_arena_zeroed(arena, n + 1, sizeof *l->hash);
    l->power = tl_arena_take(arena, n + 1, sizeof *l->power);
    tl_launches_by_thread(view, arena, &l->by);
    for (uint32_t p = 0; p < view->nlaunches; p++)
        position[l->by.v[p]] = p;
    for (size_t i = 0; i < n; i++)
        group_of[i] = view->kernels[i].launch != TL_NONE ? position[view->kernels[i].launch] : TL_NONE;
    tl_group_rows(group_of, n, view->nlaunches, l->first, l->kernel);
    l->n = l->first[view->nlaunches];
    l->power[0] = 1;
    for (size_t i = 0; i < l->n; i++) {
        const tl_kernel *k = &view->kernels[l->kernel[i]];
        l->ns[i + 1] = tl_ns_add(l->ns[i], k->end_ns - k->start_ns);
        l->hash[i + 1] = reduce(times(l->hash[i], BASE) + hash_of_name(view, k->name));
        l->power[i + 1] = times(l->power[i], BASE);
    }
}

uint64_t tl_launched_hash(const tl_launched *l, size_t from, size_t to)
{
    return reduce(l->hash[to] + PRIME - times(l->hash[from], l->power[to - from]));
}

/* ------------------------------------------------------------------------------------------------------------ words */

enum {
    LONGEST_NAME = 56, /* bytes of a kernel's name */
    LONGEST = 240      /* bytes of the text of a sequence, which is truncated */
};

#define UNNAMED "(anonymous namespace)"

/* Writes the name without return type, namespaces and parameters to out, which has room for LONGEST_NAME + 3; returns
 * its length. */
static size_t shorten(tl_text name, char *out)
{
    size_t n = 0, i = tl_text_starts(name, "void ") ? 5 : 0, end;
    int depth = 0; /* of template arguments */

    for (; i < name.n && n < LONGEST_NAME; i = end) {
        tl_text rest = { name.p + i, name.n - i };
        for (end = i; end < name.n && (tl_is_letter(name.p[end]) || tl_is_digit(name.p[end]) || name.p[end] == '_'); end++)
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
        uint32_t name = tl_name_key(view, view->kernels[l->kernel[i]].name);
        for (n = 1; i + n < to && tl_name_key(view, view->kernels[l->kernel[i + n]].name) == name; n++)
            ;
        length += shorten(tl_names_text(view->names, name), part + length);
        if (n > 1)
            length += (size_t)snprintf(part + length, sizeof part - length, " x %zu", n);
        tl_bytes_put(words, part, length);
    }
}
