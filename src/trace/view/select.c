/* select.c - a trace as if it held some steps, or some time, alone.
 *
 *     steps    [    4    )[    5    )[    6    )           selected: 5
 *     host     [a]   [b] [c]  [d]    [e]
 *     stream      [ a ]    [ b ][ c ][ d ]  [ e ]
 *     left               [c]  [d]
 *                               [ c ][ d ]
 *
 * An event of the host is in when it begins in a window.  Work of a device is in when the call is that queued it, and a
 * recorded wait when the call is that it belongs to, wherever they run; what has no such call in the trace goes by its
 * own start.  An event that is out loses its time, and every reader of the columns skips an event without time.
 *
 * Windows of steps stay those of the whole trace: what comes after a step that is left would else begin later.  So do ends
 * of device work that cannot be (overrun.h): what shows that may be out.
 */
#include "select.h"
#include "overrun.h"
#include "part.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

#define OF_DEVICE (TL_CAT_GPU_WORK | TL_CAT_BIT(TL_CAT_SYNC))
#define CALLS     (TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER))

typedef struct call {
    int64_t correlation, start_ns;
    uint32_t uid;
} call;

/* A cut of an event's duration, in ns. */
typedef struct cut {
    uint32_t event;
    int64_t less_ns;
} cut;

typedef struct selecting {
    tl_events *e;
    int64_t base_ns;
    tl_spans windows;
    int64_t origin_ns;
    tl_ranges empty; /* selected spans of time without an event yet */
    TL_VEC(cut) too_long;
    TL_VEC(call) calls; /* by (correlation, start, uid) */
} selecting;

/* --------------------------------------------------------------------------------------------------------- windows */

/* The part of a that lies in b, too. */
static void intersect(tl_spans *out, const tl_spans *a, const tl_spans *b)
{
    tl_spans outside = { 0 };
    tl_spans_subtract(&outside, a, b);
    tl_spans_subtract(out, a, &outside);
    tl_spans_free(&outside);
}

static void windows_of_steps(const tl_ranges *numbers, const tl_step_window *steps, size_t n, tl_spans *out)
{
    for (size_t i = 0; i < n; i++)
        if (tl_ranges_has(numbers, steps[i].number))
            tl_spans_add(out, steps[i].start_ns, steps[i].end_ns);
}

static void windows_of_times(const tl_selection *s, tl_spans *out)
{
    tl_span *v = tl_malloc((s->times->n + 1) * sizeof *v);
    for (size_t i = 0; i < s->times->n; i++)
        v[i] = (tl_span){ tl_ns_sum(s->origin_ns, s->times->v[i].first),
                          tl_ns_add(tl_ns_sum(s->origin_ns, s->times->v[i].last), 1) };
    tl_spans_add_all(out, v, s->times->n);
    free(v);
}

static void find_windows(const tl_selection *s, const tl_step_window *steps, size_t n, tl_spans *out)
{
    tl_spans of_steps = { 0 }, of_times = { 0 };
    bool by_step = s->steps->n > 0, by_time = s->times->n > 0;
    if (by_step)
        windows_of_steps(s->steps, steps, n, by_time ? &of_steps : out);
    if (by_time)
        windows_of_times(s, by_step ? &of_times : out);
    if (by_step && by_time)
        intersect(out, &of_steps, &of_times);
    tl_spans_free(&of_steps);
    tl_spans_free(&of_times);
}

/* The last window that begins by then, or NULL. */
static const tl_span *window_at(const tl_spans *windows, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, windows->n, mid, windows->v[mid].start_ns <= at_ns);
    return low > 0 && at_ns < windows->v[low - 1].end_ns ? &windows->v[low - 1] : NULL;
}

/* ---------------------------------------------------------------------------------------------------------- events */

static int64_t start_of(const selecting *s, size_t event)
{
    return tl_since_base(s->e->ts_ns[event], s->base_ns);
}

static int by_correlation(const void *a, const void *b)
{
    const call *x = a, *y = b;
    if (x->correlation != y->correlation)
        return TL_COMPARE(x->correlation, y->correlation);
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(x->uid, y->uid);
}

static void collect_calls(selecting *s)
{
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;

    for (size_t i = 0; i < s->e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(s->e, i)) & CALLS) || (s->e->flags[i] & span) != span || s->e->corr[i] <= 0)
            continue;
        tl_vec_room(&s->calls);
        s->calls.v[s->calls.n++] = (call){ s->e->corr[i], start_of(s, i), s->e->uid[i] };
    }
    if (s->calls.n > 1)
        qsort(s->calls.v, s->calls.n, sizeof *s->calls.v, by_correlation);
}

/* Whether a call comes before what a device began then: its correlation is smaller, or the same and it had begun. */
static bool comes_before(const call *c, int64_t correlation, int64_t start_ns)
{
    return c->correlation != correlation ? c->correlation < correlation : c->start_ns <= start_ns;
}

/* The call that queued what the device did: of several of its correlation the last that had begun, else the first; NULL
 * where there is none. */
static const call *call_of(const selecting *s, size_t event)
{
    int64_t correlation = s->e->corr[event];
    size_t low = 0;

    if (correlation <= 0)
        return NULL;
    TL_BISECT(low, s->calls.n, mid, comes_before(&s->calls.v[mid], correlation, start_of(s, event)));
    if (low > 0 && s->calls.v[low - 1].correlation == correlation)
        return &s->calls.v[low - 1];
    return low < s->calls.n && s->calls.v[low].correlation == correlation ? &s->calls.v[low] : NULL;
}

static int64_t queued_at(const selecting *s, size_t event)
{
    const call *by = call_of(s, event);
    return by != NULL ? by->start_ns : start_of(s, event);
}

static void note_number(tl_ranges *set, int64_t number)
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

/* Which spans of time have something in them: once each has, there is nothing left to do. */
static void note_time(selecting *s, int64_t at_ns, tl_found *found)
{
    int64_t since_ns = tl_ns_between(at_ns, s->origin_ns);
    for (size_t i = 0; i < s->empty.n;) {
        bool has = since_ns >= s->empty.v[i].first && since_ns <= s->empty.v[i].last;
        if (has)
            s->empty.v[i] = s->empty.v[--s->empty.n];
        else
            i++;
        if (has)
            note_number(&found->times, since_ns);
    }
}

static void select_events(selecting *s, tl_found *found)
{
    for (size_t i = 0; i < s->e->n; i++) {
        if (!(s->e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        bool of_device = (TL_CAT_BIT(tl_event_cat(s->e, i)) & OF_DEVICE) != 0;
        int64_t start_ns = start_of(s, i), at_ns = of_device ? queued_at(s, i) : start_ns;
        bool first = found->events++ == 0;
        found->first_ns = first ? start_ns : tl_ns_min(found->first_ns, start_ns);
        found->last_ns = first ? start_ns : tl_ns_max(found->last_ns, start_ns);
        if (window_at(&s->windows, at_ns) != NULL) {
            found->selected++;
            note_time(s, at_ns, found);
        } else {
            s->e->flags[i] &= (uint16_t)~TL_EVENT_HAS_TS;
        }
    }
}

/* ------------------------------------------------------------------------------------- work that ends when it cannot */

static bool is_work(const tl_events *e, size_t event)
{
    return (e->flags[event] & TL_EVENT_HAS_TS) && (TL_CAT_BIT(tl_event_cat(e, event)) & TL_CAT_GPU_WORK);
}

/* What of the device work its order and its ends need, in the order of a view. */
static void collect_work(const selecting *s, tl_device *work)
{
    const tl_events *e = s->e;
    tl_columns *c = &work->columns;
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++)
        n += is_work(e, i);
    c->start_ns = tl_malloc(n * sizeof *c->start_ns);
    c->dur_ns = tl_malloc(n * sizeof *c->dur_ns);
    c->track = tl_malloc(n * sizeof *c->track);
    c->lane = tl_malloc(n * sizeof *c->lane);
    c->event = tl_malloc(n * sizeof *c->event);
    c->kind = tl_malloc(n);
    uint32_t *order = tl_malloc(n * sizeof *order);

    for (size_t i = 0; i < e->n; i++) {
        if (!is_work(e, i))
            continue;
        size_t at = c->n++;
        c->start_ns[at] = start_of(s, i);
        c->dur_ns[at] = e->dur_ns[i];
        c->track[at] = e->track[i];
        c->lane[at] = e->lane[i];
        c->event[at] = (uint32_t)i;
        c->kind[at] = (uint8_t)tl_event_cat(e, i);
    }
    tl_order_by_stream(e, c, true, order, &work->streams);
    tl_columns_order(c, order);
    free(order);
    work->launch = tl_malloc(n * sizeof *work->launch);
    for (size_t i = 0; i < n; i++) {
        const call *by = call_of(s, c->event[i]);
        work->launch[i] = by != NULL ? (uint32_t)(by - s->calls.v) : TL_NONE;
    }
}

/* The last instant that is recorded, ends of device work apart. */
static int64_t last_instant(const selecting *s)
{
    const uint32_t host =
        CALLS | TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION);
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    int64_t last_ns = TL_TIME_UNKNOWN;

    for (size_t i = 0; i < s->e->n; i++) {
        if (is_work(s->e, i))
            last_ns = tl_ns_max(last_ns, start_of(s, i));
        else if ((TL_CAT_BIT(tl_event_cat(s->e, i)) & host) && (s->e->flags[i] & span) == span)
            last_ns = tl_ns_max(last_ns, tl_ns_sum(start_of(s, i), s->e->dur_ns[i]));
    }
    return last_ns;
}

/* Cuts what ends when it cannot. */
static void cut_overruns(selecting *s)
{
    tl_rank_view scratch = { .names = NULL };
    tl_device work = { .launch = NULL };
    collect_work(s, &work);

    tl_overruns_cut(&work, last_instant(s), &scratch);
    for (size_t i = 0; scratch.ntoo_long > 0 && i < work.columns.n; i++) {
        uint32_t event = work.columns.event[i];
        int64_t less_ns = s->e->dur_ns[event] - work.columns.dur_ns[i];
        if (less_ns != 0)
            tl_vec_room(&s->too_long);
        if (less_ns == 0)
            continue;
        s->too_long.v[s->too_long.n++] = (cut){ event, less_ns };
        s->e->dur_ns[event] = work.columns.dur_ns[i];
    }
    tl_device_free(&work);
}

static void count_overruns(const selecting *s, tl_rank_view *view)
{
    for (size_t i = 0; i < s->too_long.n; i++) {
        if (!(s->e->flags[s->too_long.v[i].event] & TL_EVENT_HAS_TS))
            continue;
        view->ntoo_long++;
        view->too_long_ns = tl_ns_add(view->too_long_ns, s->too_long.v[i].less_ns);
    }
}

/* ----------------------------------------------------------------------------------------------------------- steps */

/* Keeps the steps that lie in one window whole: a step cut in part would look short. */
static void select_steps(const tl_spans *windows, tl_step_window *steps, size_t *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        const tl_span *window = window_at(windows, steps[i].start_ns);
        if (window != NULL && steps[i].end_ns <= window->end_ns)
            steps[kept++] = steps[i];
    }
    *n = kept;
}

/* Whether a part of the step is in a window. */
static bool is_met(const tl_spans *windows, const tl_step_window *step)
{
    size_t low = 0;
    TL_BISECT(low, windows->n, mid, windows->v[mid].end_ns <= step->start_ns);
    return low < windows->n && windows->v[low].start_ns < step->end_ns;
}

static void note_steps(const selecting *s, const tl_ranges *asked, const tl_step_window *steps, size_t n,
                       tl_found *found)
{
    for (size_t i = 0; i < n; i++) {
        bool taken = asked->n > 0 && tl_ranges_has(asked, steps[i].number) && is_met(&s->windows, &steps[i]);
        note_number(&found->steps, steps[i].number);
        if (taken)
            note_number(&found->taken, steps[i].number);
    }
}

static void append(tl_ranges *to, const tl_ranges *more)
{
    for (size_t i = 0; i < more->n; i++) {
        tl_vec_room(to);
        to->v[to->n++] = more->v[i];
    }
}

void tl_events_select(tl_events *e, int64_t base_ns, const tl_selection *selection, tl_linked *out, tl_found *found)
{
    selecting s = { .e = e, .base_ns = base_ns, .origin_ns = selection->origin_ns };
    size_t nsteps = out->view.nsteps;
    append(&s.empty, selection->times);
    find_windows(selection, out->steps, nsteps, &s.windows);
    collect_calls(&s);
    cut_overruns(&s);
    note_steps(&s, selection->steps, out->steps, nsteps, found);
    select_events(&s, found);

    select_steps(&s.windows, out->steps, &out->view.nsteps);
    count_overruns(&s, &out->view);
    tl_spans_free(&s.windows);
    free(s.calls.v);
    free(s.empty.v);
    free(s.too_long.v);
}

void tl_found_add(tl_found *sum, const tl_found *more)
{
    if (more->events > 0) {
        sum->first_ns = sum->events > 0 ? tl_ns_min(sum->first_ns, more->first_ns) : more->first_ns;
        sum->last_ns = sum->events > 0 ? tl_ns_max(sum->last_ns, more->last_ns) : more->last_ns;
    }
    sum->events += more->events;
    sum->selected += more->selected;
    append(&sum->steps, &more->steps);
    append(&sum->taken, &more->taken);
    append(&sum->times, &more->times);
}

void tl_found_free(tl_found *found)
{
    free(found->steps.v);
    free(found->taken.v);
    free(found->times.v);
    *found = (tl_found){ 0 };
}

bool tl_events_begin(const tl_events *e, int64_t base_ns, int64_t *begin_ns)
{
    const uint32_t looked_at = TL_LINK_KEEP & ~(TL_CAT_BIT(TL_CAT_INSTANT) | TL_CAT_BIT(TL_CAT_PROFILER_RANGE));
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    bool any = false;

    for (size_t i = 0; i < e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & looked_at) || (e->flags[i] & span) != span)
            continue;
        int64_t start_ns = tl_since_base(e->ts_ns[i], base_ns);
        *begin_ns = any ? tl_ns_min(*begin_ns, start_ns) : start_ns;
        any = true;
    }
    return any;
}
