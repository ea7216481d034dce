/* step.c - step windows.
 *
 *     marks    [ProfilerStep#4 ][ProfilerStep#5  ]   [ProfilerStep#6]
 *     windows  [       4       )[        5           )[      6      )
 *
 * Only marks of the host count: Kineto mirrors them on the device, where they say when the step's kernels ran.
 */
#include "step.h"
#include <stdlib.h>

enum { NO_MARK = -1, TOO_LARGE = -2 };

/* The k of "ProfilerStep#k", white space around the '#' allowed. */
static int32_t number_of(tl_text name)
{
    int64_t number = 0;
    size_t i = 12, digits = 0;

    if (!tl_text_starts(name, "ProfilerStep"))
        return NO_MARK;
    while (i < name.n && name.p[i] == ' ')
        i++;
    if (i >= name.n || name.p[i++] != '#')
        return NO_MARK;
    while (i < name.n && name.p[i] == ' ')
        i++;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9'; i++, digits++)
        if ((number = number * 10 + (name.p[i] - '0')) > INT32_MAX)
            return TOO_LARGE;
    return digits > 0 ? (int32_t)number : NO_MARK;
}

static int by_number(const void *a, const void *b)
{
    const tl_step_window *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_start(const void *a, const void *b)
{
    const tl_step_window *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

bool tl_steps_collect(const tl_trace *trace, int64_t base_ns, tl_step_window **steps, size_t *n, size_t *nlost)
{
    const tl_events *e = &trace->events;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    TL_VEC(tl_step_window) marks = { 0 };

    *steps = NULL;
    *n = *nlost = 0;
    for (size_t i = 0; i < e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & host) || !(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        int32_t number = number_of(tl_names_text(&e->names, e->name[i]));
        *nlost += number == TOO_LARGE;
        if (number < 0)
            continue;
        if (!tl_vec_room(&marks)) {
            free(marks.v);
            return false;
        }
        int64_t start = e->ts_ns[i] + base_ns;
        marks.v[marks.n++] = (tl_step_window){ start, start + e->dur_ns[i], number, e->name[i] };
    }
    if (marks.n == 0)
        return true;

    qsort(marks.v, marks.n, sizeof *marks.v, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < marks.n; i++) {
        if (kept > 0 && marks.v[kept - 1].number == marks.v[i].number) {
            if (marks.v[i].end_ns > marks.v[kept - 1].end_ns)
                marks.v[kept - 1].end_ns = marks.v[i].end_ns;
        } else {
            marks.v[kept++] = marks.v[i];
        }
    }
    qsort(marks.v, kept, sizeof *marks.v, by_start);
    for (size_t i = 0; i + 1 < kept; i++)
        marks.v[i].end_ns = marks.v[i + 1].start_ns;
    *steps = marks.v;
    *n = kept;
    return true;
}
