/* cut.c - HTA leaves out the last profiler step, because the profiler may have been stopped in it.
 *
 *     host     [ ProfilerStep#5 )[ ProfilerStep#6 )
 *               [launch a]        [launch b]
 *     stream   .........[ a ]..............[ b ]...        b goes, and so does everything from step 6 on
 *                               ^ from here on
 */
#include "tlmpi/compat/hta/frame/frame.h"
#include "tlmpi/base/hash.h"
#include <math.h>
#include <stdlib.h>

/* The host rows with correlation -1 join the device rows with -1 (an event synchronisation may be one), each with each.
 * More rows than this are given up. */
#define ROWS_MAX ((size_t)1 << 28)

/* Up to where host rows stay. */
typedef struct cut {
    double last_start, last_end;
    bool include_last;
    bool any_host;
    tl_map launches; /* correlation -> host rows that stay and have it */
} cut;

/* The last step by its rows on the host, annotations of the device among them; without any, the whole of the host rows.
 * `end` is not aligned and ts is: with absolute time stamps include_last therefore keeps every host row. */
static void find_cut(cut *c, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    double first_start = INFINITY, host_end = -INFINITY;
    bool any_step = false;

    c->last_start = c->last_end = -INFINITY;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (tl_hta_on_device(row, symbols))
            continue;
        c->any_host = true;
        first_start = fmin(first_start, row->ts);
        host_end = fmax(host_end, row->end);
        if (symbols->v.v[row->name].step_name) {
            any_step = true;
            c->last_start = fmax(c->last_start, row->ts);
            c->last_end = fmax(c->last_end, row->end);
        }
    }
    if (!any_step) {
        c->last_start = first_start;
        c->last_end = host_end;
    }
}

/* How often the row stands in the frame after the cut. */
static uint32_t copies_of(const cut *c, const tl_hta_row *row, bool on_device)
{
    if (!on_device)
        return c->include_last ? row->ts <= c->last_end : row->ts < c->last_start;
    uint32_t n = tl_map_get(&c->launches, (uint64_t)row->correlation);
    return n == TL_MAP_NONE ? 0 : n;
}

static void count_launches(cut *c, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (tl_hta_on_device(row, symbols) || copies_of(c, row, false) == 0)
            continue;
        uint32_t n = tl_map_get(&c->launches, (uint64_t)row->correlation);
        tl_map_put(&c->launches, (uint64_t)row->correlation, n == TL_MAP_NONE ? 1 : n + 1);
    }
}

/* Device rows, then host rows, each in file order. */
static size_t gather(tl_hta_row *left, const cut *c, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    size_t n = 0;

    for (int device = 1; device >= 0; device--)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            if (tl_hta_on_device(row, symbols) != device)
                continue;
            for (uint32_t copies = copies_of(c, row, device); copies > 0; copies--)
                left[n++] = *row;
        }
    return n;
}

tl_status tl_hta_frame_cut(tl_hta_frame *frame, bool include_last, const tl_hta_symbols *symbols, tl_error *err)
{
    cut c = { .include_last = include_last };
    size_t n = 0;
    tl_status st = TL_OK;

    find_cut(&c, frame, symbols);
    if (!c.any_host)
        return TL_OK;
    count_launches(&c, frame, symbols);
    for (size_t i = 0; i < frame->rows.n && n <= ROWS_MAX; i++)
        n += copies_of(&c, &frame->rows.v[i], tl_hta_on_device(&frame->rows.v[i], symbols));
    if (n > ROWS_MAX) {
        st = tl_fail(err, TL_EINPUT, "%s: leaving out the last step as HTA does would make more than %zu rows of %zu",
                     frame->path, ROWS_MAX, frame->rows.n);
    } else {
        tl_hta_row *left = tl_malloc(n * sizeof *left);
        n = gather(left, &c, frame, symbols);
        free(frame->rows.v);
        frame->rows.v = left;
        frame->rows.n = frame->rows.cap = n;
    }
    tl_map_free(&c.launches);
    return st;
}
