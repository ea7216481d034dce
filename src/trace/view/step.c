/* step.c - finds the window of each step.
 *
 *     marks    [ProfilerStep#4 ][ProfilerStep#5  ]   [ProfilerStep#6]
 *     windows  [       4       )[        5           )[      6      )
 *
 * The last mark before a seam (reader.h) ends its own window.
 *
 * Only marks of the host count: Kineto mirrors them on the device, where they span the step's kernels.
 *
 *     marks    [ProfilerStep#5 ][ProfilerStep#6  ][ProfilerStep#5  ]       on one thread
 *     windows  [       5       )[        6       ).................    a step has one window; the second mark has none
 *
 *     marks    [ProfilerStep#5          ][ProfilerStep#6          ]        of two profilers: the outer ones count
 *               [ProfilerStep#0        ]  [ProfilerStep#1        ]
 *     windows  [           5            )[           6            )
 *
 * Without such marks, annotations of a server's iterations are the marks, numbered in order of time:
 *
 *     marks    [step[EXTEND bs=2]]....[step[DECODE bs=8]]..[step[DECODE bs=8]]
 *     windows  [        0              )[          1       )[        2        )
 *
 * Without these either, annotations that count are the marks: those of a family such as "iteration 5" or
 * "train_step[5]", whose word has "step" or "iter" in it and whose numbers are all different.  Of several families, the
 * one with the longest total time counts: parts of a step are shorter than the step.
 *
 * With --step-name, ranges of the names that it finds are the marks, and nothing else; their numbers are the first in
 * their names, if all have one and these differ, else their places in order of time.
 */
#include "internal.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include <ctype.h>

enum { NO_MARK = -1, NO_NUMBER = -2 };

/* Returns the k of "ProfilerStep#k", spaces around the '#' allowed; NO_MARK: other name; NO_NUMBER: k has a sign or is
 * too large. */
static int32_t number_of(tl_text name)
{
    int64_t number = 0;
    size_t i = strlen("ProfilerStep"), digits = 0;

    if (!tl_text_starts(name, "ProfilerStep"))
        return NO_MARK;
    for (; i < name.n && name.p[i] == ' '; i++)
        ;
    if (i >= name.n || name.p[i++] != '#')
        return NO_MARK;
    for (; i < name.n && name.p[i] == ' '; i++)
        ;
    bool out_of_range = i < name.n && (name.p[i] == '-' || name.p[i] == '+');
    for (i += out_of_range; i < name.n && tl_is_digit(name.p[i]); i++, digits++) {
        number = number <= INT32_MAX ? number * 10 + (name.p[i] - '0') : number;
        out_of_range |= number > INT32_MAX;
    }
    return digits == 0 ? NO_MARK : out_of_range ? NO_NUMBER : (int32_t)number;
}

/* family: hash of the text around the number of an annotation that counts. */
typedef struct mark {
    tl_step_window window;
    uint32_t track;
    uint64_t family;
} mark;

typedef TL_VEC(mark) mark_list;

TL_SORT_BY(by_thread, mark, track, window.start_ns, window.number)
TL_SORT_BY(by_number, mark, window.number, track, window.start_ns)
TL_SORT_BY(by_start, tl_step_window, start_ns, number)

/* Removes marks that lie within marks of other numbers on their thread, if as many are left: one mark whose end is
 * wrong may cover all others. */
static void drop_inner_marks(mark_list *m)
{
    mark *outer = tl_malloc((m->n + 1) * sizeof *outer);
    mark *last = NULL;
    size_t n = 0;

    qsort(m->v, m->n, sizeof *m->v, by_thread);
    for (size_t i = 0; i < m->n; i++) {
        const mark *next = &m->v[i];
        const tl_step_window *w = &next->window;
        const bool other =
            last != NULL && w->number >= 0 && last->track == next->track && last->window.number != w->number;
        if (other && w->start_ns == last->window.start_ns && w->end_ns > last->window.end_ns) {
            *last = *next;
        } else if (!other || w->end_ns > last->window.end_ns) {
            outer[n] = *next;
            last = w->number >= 0 ? &outer[n] : last;
            n++;
        }
    }
    if (2 * n >= m->n) {
        memcpy(m->v, outer, n * sizeof *outer);
        m->n = n;
    }
    free(outer);
}

/* Removes the number from marks that repeat on a thread after a mark of another step.  Returns how many marks that
 * are. */
static size_t drop_repeated_marks(mark_list *m)
{
    tl_map seen = { 0 }; /* (track, number) -> 0 */
    size_t n = 0;

    qsort(m->v, m->n, sizeof *m->v, by_thread);
    for (size_t i = 0; i < m->n; i++) {
        mark *now = &m->v[i];
        uint64_t key = (uint64_t)now->track << 32 | (uint32_t)now->window.number;
        bool goes_on = i > 0 && now[-1].track == now->track && now[-1].window.number == now->window.number;
        bool again = now->window.number >= 0 && !goes_on && tl_map_get(&seen, key) != TL_MAP_NONE;
        tl_map_put(&seen, key, 0);
        n += again;
        if (again)
            now->window.number = NO_MARK;
    }
    tl_map_free(&seen);
    return n;
}

/* Makes one window of the marks of each number, with the name of the first mark.  A window ends where the next mark
 * begins, with or without a number. */
static void make_windows(const tl_rank_view *view, mark_list *m, tl_step_window *v, size_t *n)
{
    size_t kept = 0;

    qsort(m->v, m->n, sizeof *m->v, by_number);
    for (size_t i = 0; i < m->n; i++) {
        const tl_step_window *w = &m->v[i].window;
        if (kept > 0 && w->number >= 0 && v[kept - 1].number == w->number) {
            const tl_step_window so_far = v[kept - 1];
            v[kept - 1] = w->start_ns < so_far.start_ns ? *w : so_far;
            v[kept - 1].end_ns = tl_ns_max(so_far.end_ns, w->end_ns);
        } else {
            v[kept++] = *w;
        }
    }
    qsort(v, kept, sizeof *v, by_start);
    *n = 0;
    for (size_t i = 0; i < kept; i++) {
        if (i + 1 < kept && !tl_is_seam(view, v[i].start_ns, v[i + 1].start_ns))
            v[i].end_ns = v[i + 1].start_ns;
        if (v[i].number >= 0)
            v[(*n)++] = v[i];
    }
}

TL_SORT_BY(by_time, mark, window.start_ns, track)

/* Numbers marks, whose tracks are their windows of the recording, from 0 in each window.  A mark that begins within
 * another is a part of it; of fewer than `least`, none is left. */
static void number_in_order(mark_list *m, size_t least, const tl_events *e)
{
    size_t n = 0;
    tl_vec_sort(m, by_time);
    for (size_t i = 0; i < m->n; i++) {
        mark next = m->v[i];
        const mark *last = n > 0 ? &m->v[n - 1] : NULL;
        if (last != NULL && next.window.start_ns < last->window.end_ns)
            continue;
        next.window.number = last != NULL && last->track == next.track ? last->window.number + 1
                             : next.track > 0                          ? e->windows.v[next.track - 1].more_steps
                                                                       : 0;
        m->v[n++] = next;
    }
    m->n = n >= least ? n : 0;
}

/* Returns the first number in a name; NO_MARK: none.  *family: hash of the text around the number.  *counts: the words
 * before it are those of an annotation that counts. */
static int32_t count_of(tl_text name, uint64_t *family, bool *counts)
{
    char word[64];
    size_t from = 0;

    for (; from < name.n && !tl_is_digit(name.p[from]); from++)
        if (from < sizeof word)
            word[from] = (char)tolower((unsigned char)name.p[from]);
    tl_text rest = { name.p + from, name.n - from };
    const int32_t number = tl_decimal_take(&rest);
    const tl_text lower = { word, from < sizeof word ? from : sizeof word };
    *family = tl_hash_mix(tl_hash_bytes(name.p, from), tl_hash_bytes(rest.p, rest.n));
    *counts = number >= 0 && (tl_text_has(lower, "step") || tl_text_has(lower, "iter"));
    return number;
}

TL_SORT_BY(by_family, mark, family, window.number, window.start_ns, track)

/* Leaves the marks of the family with the longest total time, among those whose numbers are all different. */
static void choose_family(mark_list *m)
{
    size_t best = 0, nbest = 0;
    double longest = 0;

    tl_vec_sort(m, by_family);
    for (size_t from = 0, to; from < m->n; from = to) {
        bool different = true;
        double sum = 0;
        for (to = from; to < m->n && m->v[to].family == m->v[from].family; to++) {
            const tl_step_window *w = &m->v[to].window;
            different = different && (to == from || w->number != m->v[to - 1].window.number);
            sum += (double)(w->end_ns - w->start_ns);
        }
        if (different && to - from >= 2 && sum > longest) {
            longest = sum;
            best = from;
            nbest = to - from;
        }
    }
    for (size_t i = 0; i < nbest; i++)
        m->v[i] = m->v[best + i];
    m->n = nbest;
}

/* Numbers chosen marks in order if their names do not: some have no number, or two the same. */
static void number_chosen(mark_list *m, const tl_events *e)
{
    bool by_name = true;

    tl_vec_sort(m, by_number);
    for (size_t i = 0; i < m->n; i++)
        by_name =
            by_name && m->v[i].window.number >= 0 && (i == 0 || m->v[i].window.number != m->v[i - 1].window.number);
    if (!by_name)
        number_in_order(m, 1, e);
}

/* Fills the windows of the recording. */
static void collect_windows(const tl_events *e, int64_t base_ns, tl_linked *out)
{
    tl_recorded_window *windows = tl_arena_take(&out->rest, e->windows.n, sizeof *windows);
    for (size_t i = 0; i < e->windows.n; i++)
        windows[i] = (tl_recorded_window){ tl_since_base(e->windows.v[i].begin_ns, base_ns), e->windows.v[i].number };
    out->view.windows = windows;
    out->view.nwindows = e->windows.n;
}

typedef struct collecting {
    const tl_events *e;
    const regex_t *step_name;
    signed char *known;                /* by name: 1 step_name finds it, -1 it does not, 0 not known yet */
    size_t window;                     /* index after the event's window */
    mark_list marks, ordered, counted; /* ordered: iterations of a server, or chosen; their track is the window */
    size_t nlost;
} collecting;

static bool is_chosen(collecting *c, uint32_t name)
{
    if (name == TL_NO_NAME)
        return false;
    if (c->known[name] == 0)
        c->known[name] = regexec(c->step_name, tl_names_text(&c->e->names, name).p, 0, NULL, 0) == 0 ? 1 : -1;
    return c->known[name] > 0;
}

/* Returns the number of a mark in the whole job. */
static int32_t number_in_job(const collecting *c, int32_t number)
{
    const bool lost = number >= 0 && c->window > 0 &&
                      __builtin_add_overflow(number, c->e->windows.v[c->window - 1].more_steps, &number);
    return lost ? NO_NUMBER : number;
}

/* Adds the event of the host to the list of its kind of marks, if it is one. */
static void collect_mark(collecting *c, size_t i, int64_t base_ns)
{
    const tl_text name = tl_names_text(&c->e->names, c->e->name[i]);
    const int64_t start_ns = c->e->ts_ns[i] + base_ns;
    mark found = { .window = { start_ns, start_ns + tl_event_dur_ns(c->e, i), number_of(name), c->e->name[i] },
                   .track = tl_event_track(c->e, i) };
    int32_t *number = &found.window.number;
    mark_list *list = &c->marks;
    bool counts;

    if (c->step_name != NULL || *number == NO_MARK) {
        const bool other = c->marks.n == 0 && tl_event_cat(c->e, i) == TL_CAT_USER_ANNOTATION;
        if (c->step_name != NULL ? !is_chosen(c, c->e->name[i]) : !other)
            return;
        const bool ordered = c->step_name != NULL || tl_iteration_of(name).serving != TL_NOT_SERVING;
        *number = count_of(name, &found.family, &counts);
        if (!ordered && !counts)
            return;
        list = ordered ? &c->ordered : &c->counted;
        found.track = ordered ? (uint32_t)c->window : found.track;
    }
    c->nlost += *number == NO_NUMBER;
    *number = number_in_job(c, *number);
    tl_vec_push(list, found);
}

/* Returns the marks of the steps; *served: they are iterations of a server. */
static mark_list *choose_marks(collecting *c, const tl_rules *rules, bool *served)
{
    *served = false;
    if (c->step_name != NULL) {
        number_chosen(&c->ordered, c->e);
        return &c->ordered;
    }
    number_in_order(&c->ordered, 2, c->e);
    choose_family(&c->counted);
    *served = !rules->steps_differ && c->marks.n == 0 && c->ordered.n > 0;
    return c->marks.n > 0 ? &c->marks : *served ? &c->ordered : &c->counted;
}

tl_step_window *tl_steps_collect(const tl_events *e, int64_t base_ns, const tl_rules *rules, tl_linked *out)
{
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    collecting c = { .e = e, .step_name = rules->step_name, .known = tl_calloc(e->names.n + 1, 1) };
    tl_rank_view *view = &out->view;

    collect_windows(e, base_ns, out);
    for (size_t i = 0; i < e->n; i++) {
        while (c.window < e->windows.n && e->windows.v[c.window].first_event <= i)
            c.window++;
        if (TL_CAT_BIT(tl_event_cat(e, i)) & host && e->flags[i] & TL_EVENT_HAS_TS)
            collect_mark(&c, i, base_ns);
    }
    view->nlost_steps += c.nlost;
    mark_list *of = choose_marks(&c, rules, &view->served);
    tl_step_window *steps = of->n > 0 ? tl_arena_take(&out->rest, of->n, sizeof *steps) : NULL;
    if (steps != NULL) {
        drop_inner_marks(of);
        view->nagain_steps = drop_repeated_marks(of);
        make_windows(view, of, steps, &view->nsteps);
    }
    free(c.known);
    free(c.marks.v);
    free(c.ordered.v);
    free(c.counted.v);
    view->steps = steps;
    return steps;
}

void tl_link_steps(const tl_trace *trace, const tl_rules *rules, tl_linked *out)
{
    *out = (tl_linked){ 0 };
    tl_steps_collect(&trace->events, trace->meta.has_base ? trace->meta.base_ns : 0, rules, out);
}
