/* titles.c - which phase a row of phase_step is of: it has the whole name, and table phase as much of it as a cell has room for.
 */
#include "timed.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <limits.h>
#include <stdlib.h>

/* Whether the title is the whole name.  A byte that is no text, and a 0, is U+FFFD in names; in a title the byte is as it
 * was, and a 0 the end. */
static bool is_title(tl_text title, tl_text name)
{
    const tl_text unknown = TL_TEXT("\xEF\xBF\xBD");
    size_t i = 0, k = 0;
    while (i < name.n && k < title.n) {
        bool any = name.n - i >= unknown.n && memcmp(name.p + i, unknown.p, unknown.n) == 0;
        bool also = title.n - k >= unknown.n && memcmp(title.p + k, unknown.p, unknown.n) == 0;
        if (!any && name.p[i] != title.p[k])
            return false;
        i += any ? unknown.n : 1;
        k += any && also ? unknown.n : 1;
    }
    return k == title.n && (i == name.n || tl_text_starts((tl_text){ name.p + i, name.n - i }, unknown.p));
}

/* Whether it is the name's begin and end with "..." between: 1, or the number after "~", where others are called so
 * already; 0: it is not. */
static unsigned long is_shortened(tl_text title, tl_text name)
{
    for (size_t i = 0; i + 3 <= title.n && title.n < name.n + 3; i++) {
        size_t end = title.n - i - 3;
        const char *from = title.p + i + 3, *again = memchr(from, '~', end);
        size_t plain = again != NULL ? (size_t)(again - from) : end;
        if (memcmp(title.p + i, "...", 3) != 0 || memcmp(title.p, name.p, i) != 0)
            continue;
        if (memcmp(from, name.p + name.n - end, end) == 0)
            return 1;
        if (plain < end && memcmp(from, name.p + name.n - plain, plain) == 0)
            return strtoul(again + 1, NULL, 10);
    }
    return 0;
}

/* The first title that the name may have and no other has: they are numbered in the order of names.  NULL: none. */
static tl_timed_phase *title_of(tl_timed *t, tl_text name)
{
    tl_timed_phase *first = NULL;
    unsigned long least = ULONG_MAX;
    for (size_t k = 0; k < t->phases.n; k++) {
        tl_timed_phase *phase = &t->phases.v[k];
        const tl_text title = { phase->title, strnlen(phase->title, sizeof phase->title) };
        char ended[sizeof phase->title + 1] = ""; /* for a number at its very end */
        memcpy(ended, title.p, title.n);
        unsigned long number = is_title(title, name)          ? 1
                               : name.n > sizeof phase->title ? is_shortened((tl_text){ ended, title.n }, name)
                                                              : 0;
        if (phase->name != TL_NO_NAME || number == 0 || number >= least)
            continue;
        least = number;
        first = phase;
    }
    return first;
}

static int compare_names(const void *context, uint32_t a, uint32_t b)
{
    const tl_timed *t = context;
    return tl_text_compare(t->name(t->name_arg, t->names.v[a].id), t->name(t->name_arg, t->names.v[b].id));
}

bool tl_timed_match_names(tl_timed *t)
{
    uint32_t *index = tl_calloc(t->names.n + 1, sizeof *index);
    bool ok = index != NULL;
    for (size_t i = 0; ok && i < t->names.n; i++)
        index[i] = (uint32_t)i;
    ok = ok && tl_sort_index(index, t->names.n, compare_names, t);
    for (size_t i = 0; ok && i < t->names.n; i++) {
        tl_timed_name *name = &t->names.v[index[i]];
        tl_timed_phase *phase = title_of(t, t->name(t->name_arg, name->id));
        if (phase == NULL)
            continue;
        phase->name = name->id;
        name->heat = phase->heat;
    }
    free(index);
    return ok;
}
