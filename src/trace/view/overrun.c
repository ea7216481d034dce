/* overrun.c - device work that seems to run on for longer than it can.
 *
 *     stream   [ a ][ b ===================================================...
 *                        [ c ][ d ]  [ e ]
 *     cut      [ a ][ b ][ c ][ d ]  [ e ]
 *
 * A stream does one thing after the other.  Work may begin while what is before it still runs, where it is launched so
 * (programmatic dependent launch), but then it waits for that, and does not end before it.  So work that
 *
 *     runs on        when the next of its stream, of another launch, has ended long since, or
 *     runs on        when all that was recorded is over long since, where nothing is next,
 *
 * has an end that cannot be.  It is taken to have ended when the next began, the latest that can be, or with the
 * recording.
 *
 * Branches of a graph run side by side, whatever stream the trace names.  Where a tenth of a stream's work outlasts the
 * next, the stream is no queue but a name for several: none of its work is cut.
 */
#include "overrun.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

typedef struct cutting {
    const tl_columns *work;
    const uint32_t *launch;
    tl_rank_view *view;
    int64_t last_ns; /* of the recording, once it is needed; else TL_TIME_UNKNOWN */
} cutting;

static int64_t latest(int64_t last_ns, const int64_t *start_ns, const int64_t *dur_ns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        last_ns = tl_ns_max(last_ns, tl_ns_sum(start_ns[i], dur_ns != NULL ? dur_ns[i] : 0));
    return last_ns;
}

/* The last instant that is recorded, ends of device work apart. */
static int64_t last_of(cutting *c)
{
    const tl_rank_view *v = c->view;
    if (c->last_ns == TL_TIME_UNKNOWN) {
        c->last_ns = latest(c->last_ns, c->work->start_ns, NULL, c->work->n);
        c->last_ns = latest(c->last_ns, v->calls.start_ns, v->calls.dur_ns, v->calls.n);
        c->last_ns = latest(c->last_ns, v->ops.start_ns, v->ops.dur_ns, v->ops.n);
    }
    return c->last_ns;
}

/* Returns the latest possible end of work i, where its recorded end is not possible; else INT64_MAX.  next: the next
 * work of the stream that another launch queued, SIZE_MAX without one. */
static int64_t end_of(cutting *c, size_t i, size_t next)
{
    const tl_columns *w = c->work;
    int64_t end = w->start_ns[i] + w->dur_ns[i];
    if (next != SIZE_MAX) {
        int64_t next_end = w->start_ns[next] + w->dur_ns[next];
        return end > next_end && end - next_end > TL_OVERRUN_NS ? w->start_ns[next] : INT64_MAX;
    }
    if (w->dur_ns[i] <= TL_LAST_WORK_MOST_NS || tl_ns_between(end, last_of(c)) <= TL_LAST_WORK_MOST_NS)
        return INT64_MAX;
    return tl_ns_max(w->start_ns[i], last_of(c));
}

/* Cuts work i to end at end_ns, and the work before it with the same start, whose end is no later, where it is longer,
 * too. */
static void cut(cutting *c, size_t first, size_t i, int64_t end_ns)
{
    const tl_columns *w = c->work;
    int64_t start_ns = w->start_ns[i], dur_ns = end_ns - start_ns;

    for (; w->start_ns[i] == start_ns && w->dur_ns[i] > dur_ns; i--) {
        c->view->ntoo_long++;
        c->view->too_long_ns = tl_ns_add(c->view->too_long_ns, w->dur_ns[i] - dur_ns);
        w->dur_ns[i] = dur_ns;
        if (i == first)
            break;
    }
}

/* Walks from the last work of the stream to the first, so that the next work has its true end already.  Returns how
 * many recorded ends are not possible. */
static size_t walk(cutting *c, const tl_stream_events *stream, bool cuts)
{
    size_t end = stream->first + stream->n, next = SIZE_MAX, n = 0;

    for (size_t i = end; i-- > stream->first;) {
        if (i + 1 < end && (c->launch[i] == TL_NONE || c->launch[i] != c->launch[i + 1]))
            next = i + 1;
        int64_t end_ns = end_of(c, i, next);
        n += end_ns != INT64_MAX;
        if (end_ns != INT64_MAX && cuts)
            cut(c, stream->first, i, end_ns);
    }
    return n;
}

void tl_overruns_cut(tl_device *work, int64_t last_ns, tl_rank_view *view)
{
    cutting c = { .work = &work->columns, .launch = work->launch, .view = view, .last_ns = last_ns };

    for (size_t s = 0; s < work->streams.n; s++) {
        const tl_stream_events *stream = &work->streams.v[s];
        size_t n = stream->stream >= 0 ? walk(&c, stream, false) : 0;
        if (n > 0 && n <= 1 + stream->n / (size_t)TL_LITTLE_PART)
            (void)walk(&c, stream, true);
    }
}
