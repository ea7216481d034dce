/* select.c - reduces a trace to some of its steps, or some of its time.
 *
 *     steps    [    4    )[    5    )[    6    )           selected: 5
 *     host     [a]   [b] [c]  [d]    [e]
 *     stream      [ a ]    [ b ][ c ][ d ]  [ e ]
 *     kept               [c]  [d]
 *                               [ c ][ d ]
 *
 * An event of the host is kept if it begins in a window.  Device work is kept if the call that queued it is, and a
 * recorded wait if its call is, whenever they run; without a call in the trace their own start counts.  An event that
 * is not kept loses its time, and readers of the columns skip events without time.
 *
 * Windows of steps stay those of the whole trace: otherwise a step after a dropped one would begin earlier.  Impossible
 * ends of device work (device.c) are found in the whole trace as well: the events that reveal them may be dropped.
 */
#include "internal.h"
#include "tlmpi/base/span.h"

/* ---------------------------------------------------------------------------------------------------------- windows */

/* Fills the selected spans of time. */
static void find_windows(const tl_selection *s, const tl_step_window *steps, size_t nsteps, tl_spans *out)
{
    tl_spans of_steps = { 0 }, of_times = { 0 }, outside = { 0 };
    bool by_step = s->steps->n > 0, by_time = s->times->n > 0;
    tl_span *v = tl_malloc((s->times->n + 1) * sizeof *v);

    for (size_t i = 0; by_step && i < nsteps; i++)
        if (tl_ranges_has(s->steps, steps[i].number))
            tl_spans_add(&of_steps, steps[i].start_ns, steps[i].end_ns);
    for (size_t i = 0; i < s->times->n; i++)
        v[i] = (tl_span){ tl_ns_sum(s->origin_ns, s->times->v[i].first),
                          tl_ns_add(tl_ns_sum(s->origin_ns, s->times->v[i].last), 1) };
    tl_spans_add_all(&of_times, v, s->times->n);
    free(v);
    if (by_step && by_time)
        tl_spans_subtract(&outside, &of_steps, &of_times);
    tl_spans_subtract(out, by_step ? &of_steps : &of_times, &outside);
    tl_spans_free(&of_steps);
    tl_spans_free(&of_times);
    tl_spans_free(&outside);
}

/* Returns the window that contains at_ns; NULL: none. */
static const tl_span *window_at(const tl_spans *windows, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, windows->n, mid, windows->v[mid].start_ns <= at_ns);
    return low > 0 && at_ns < windows->v[low - 1].end_ns ? &windows->v[low - 1] : NULL;
}

/* ------------------------------------------------------------------------------------------------- events and steps */

static void add_number(tl_ranges *set, int64_t number)
{
    tl_vec_room(set);
    tl_range *next = &set->v[set->n], *last = next - (set->n > 0);
    if (set->n > 0 && number >= last->first && (number <= last->last || number - 1 == last->last)) {
        last->last = tl_ns_max(last->last, number);
    } else {
        *next = (tl_range){ number, number };
        set->n++;
    }
}

static void append_ranges(tl_ranges *to, const tl_ranges *more)
{
    for (size_t i = 0; i < more->n; i++) {
        tl_vec_push(to, more->v[i]);
    }
}

/* Adds the instant to found->times once for each selected span of time that contains it; `empty`: spans without an
 * event so far. */
static void add_time(tl_ranges *empty, int64_t since_ns, tl_found *found)
{
    for (size_t i = 0; i < empty->n;) {
        if (since_ns >= empty->v[i].first && since_ns <= empty->v[i].last) {
            empty->v[i] = empty->v[--empty->n];
            add_number(&found->times, since_ns);
        } else {
            i++;
        }
    }
}

static void select_events(tl_events *e, const tl_event_list *calls, const tl_selection *selection,
                          const tl_spans *windows, tl_found *found)
{
    tl_ranges empty = { 0 };
    size_t near = 0;

    append_ranges(&empty, selection->times);
    for (size_t i = 0; i < e->n; i++) {
        if (!(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        bool of_device = (TL_CAT_BIT(tl_event_cat(e, i)) & (TL_SET_WORK | TL_SET_WAITS)) != 0;
        uint32_t call = of_device ? tl_call_of(e, calls, (uint32_t)i, &near) : TL_NONE;
        int64_t start_ns = e->ts_ns[i], at_ns = call != TL_NONE ? e->ts_ns[calls->v[call]] : start_ns;
        bool first = found->events++ == 0;
        found->first_ns = first ? start_ns : tl_ns_min(found->first_ns, start_ns);
        found->last_ns = first ? start_ns : tl_ns_max(found->last_ns, start_ns);
        if (window_at(windows, at_ns) != NULL) {
            found->selected++;
            add_time(&empty, tl_ns_between(at_ns, selection->origin_ns), found);
        } else {
            e->flags[i] &= (uint8_t)~TL_EVENT_HAS_TS;
        }
    }
    free(empty.v);
}

/* Adds the trace's steps, and the requested ones that are partly selected, to *found.  Keeps the steps that lie in one
 * window completely: a step cut short would look fast. */
static void select_steps(const tl_spans *windows, const tl_ranges *asked, tl_step_window *steps, size_t *n,
                         tl_found *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const tl_step_window step = steps[i];
        const tl_span *window = window_at(windows, step.start_ns);
        size_t next = 0; /* index of the first window that ends after the step begins */
        TL_BISECT(next, windows->n, mid, windows->v[mid].end_ns <= step.start_ns);
        bool met = next < windows->n && windows->v[next].start_ns < step.end_ns;
        add_number(&found->steps, step.number);
        if (met && asked->n > 0 && tl_ranges_has(asked, step.number))
            add_number(&found->taken, step.number);
        if (window != NULL && step.end_ns <= window->end_ns)
            steps[kept++] = step;
    }
    *n = kept;
}

void tl_events_select(tl_events *e, const tl_event_list *calls, const tl_selection *selection, tl_step_window *steps,
                      size_t *nsteps, tl_found *found)
{
    tl_spans windows = { 0 };

    find_windows(selection, steps, *nsteps, &windows);
    select_steps(&windows, selection->steps, steps, nsteps, found);
    select_events(e, calls, selection, &windows, found);
    tl_spans_free(&windows);
}

void tl_found_add(tl_found *sum, const tl_found *more)
{
    if (more->events > 0) {
        sum->first_ns = sum->events > 0 ? tl_ns_min(sum->first_ns, more->first_ns) : more->first_ns;
        sum->last_ns = sum->events > 0 ? tl_ns_max(sum->last_ns, more->last_ns) : more->last_ns;
    }
    sum->events += more->events;
    sum->selected += more->selected;
    append_ranges(&sum->steps, &more->steps);
    append_ranges(&sum->taken, &more->taken);
    append_ranges(&sum->times, &more->times);
}

void tl_found_free(tl_found *found)
{
    free(found->steps.v);
    free(found->taken.v);
    free(found->times.v);
    *found = (tl_found){ 0 };
}
