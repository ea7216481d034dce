/* link.c - which call launched which device work, and in which step.
 *
 *     host    ..[ ProfilerStep#7        )[ ProfilerStep#8  )...
 *               .[launch 12]..[launch 13]....
 *     stream  ................[ kernel 12 ]....[ kernel 13 ]...      both kernels belong to step 7
 */
#include "tlmpi/compat/hta/frame/frame.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/group.h"

/* Every host row with a correlation is paired with every device row of the same one, and each pair writes both links:
 * what stays is, on either side, the last partner in file order.  A graph launch thus points at its last kernel. */
void tl_hta_frame_link(tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_map last[2] = { { 0 } }; /* of the host, of the device: correlation -> position in rows */
    tl_hta_row *rows = frame->rows.v;

    for (size_t i = 0; i < frame->rows.n; i++)
        if (rows[i].correlation != -1)
            tl_map_put(&last[tl_hta_on_device(&rows[i], symbols)], (uint64_t)rows[i].correlation, (uint32_t)i);
    for (size_t i = 0; i < frame->rows.n; i++) {
        if (rows[i].correlation == -1)
            continue;
        uint32_t partner = tl_map_get(&last[!tl_hta_on_device(&rows[i], symbols)], (uint64_t)rows[i].correlation);
        if (partner != TL_MAP_NONE)
            rows[i].link = rows[partner].index;
    }
    tl_map_free(&last[0]);
    tl_map_free(&last[1]);
}

/* The step windows as intervals of the time line: interval i is [from[i], from[i + 1]) and belongs to step[i]. */
typedef struct step_line {
    tl_arena arena;
    double *from;
    int64_t *step;
    uint32_t *free_from; /* the first interval from this one on that has no step yet, as far as is known */
    size_t n;
} step_line;

/* The last interval that begins at or before ts; SIZE_MAX when ts lies before all. */
static size_t interval_at(const step_line *line, double ts)
{
    size_t low = 0;
    TL_BISECT(low, line->n, mid, line->from[mid] <= ts);
    return low - 1;
}

static bool is_window(const tl_hta_row *row, const tl_hta_symbols *symbols)
{
    return symbols->v.v[row->name].step >= 0 && row->dur > 0;
}

/* Assigns steps to spans of time; where windows overlap, the last in file order counts.  Windows are laid down from the
 * last to the first, each on what is still free: so a span is written once, however many windows cover it. */
static void draw_steps(step_line *line, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    const tl_hta_row *rows = frame->rows.v;
    size_t nedges = 0;

    for (size_t i = 0; i < frame->rows.n; i++)
        nedges += is_window(&rows[i], symbols) ? 2 : 0;
    line->from = tl_arena_take(&line->arena, nedges, sizeof *line->from);
    line->step = tl_arena_take(&line->arena, nedges, sizeof *line->step);
    line->free_from = tl_arena_take(&line->arena, nedges + 1, sizeof *line->free_from);

    for (size_t i = 0; i < frame->rows.n; i++)
        if (is_window(&rows[i], symbols)) {
            line->from[line->n++] = rows[i].ts;
            line->from[line->n++] = rows[i].end;
        }
    tl_real_sort(line->from, line->n);
    for (size_t i = 0; i < line->n; i++) {
        line->step[i] = TL_HTA_NO_STEP;
        line->free_from[i] = (uint32_t)i;
    }
    line->free_from[line->n] = (uint32_t)line->n;

    for (size_t i = frame->rows.n; i-- > 0;)
        if (is_window(&rows[i], symbols)) {
            uint32_t k = (uint32_t)interval_at(line, rows[i].ts);
            for (size_t beyond = interval_at(line, rows[i].end); (k = tl_component_of(line->free_from, k)) < beyond;) {
                line->step[k] = symbols->v.v[rows[i].name].step;
                line->free_from[k] = k + 1;
            }
        }
}

static int64_t step_at(const step_line *line, double ts)
{
    size_t i = interval_at(line, ts);
    return i == SIZE_MAX ? TL_HTA_NO_STEP : line->step[i];
}

const tl_hta_row *tl_hta_row_of_index(const tl_hta_frame *frame, int64_t index)
{
    size_t low = 0;
    TL_BISECT(low, frame->rows.n, mid, frame->rows.v[mid].index < index);
    return low < frame->rows.n && frame->rows.v[low].index == index ? &frame->rows.v[low] : NULL;
}

/* A row without a stream belongs to the step it starts in, and so does a host operator whose arguments name stream 0; a
 * row on a stream to the step of its launch.  Stream 0, where AMD's device work is, gets no value. */
void tl_hta_frame_iterate(tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_hta_row *rows = frame->rows.v;
    step_line line = { 0 };

    draw_steps(&line, frame, symbols);
    frame->iteration_whole = true;
    for (size_t i = 0; i < frame->rows.n; i++) {
        bool host_op = rows[i].stream == 0 && tl_text_is(tl_hta_text(symbols, rows[i].cat), "cpu_op");
        rows[i].iteration = rows[i].stream < 0 || host_op ? step_at(&line, rows[i].ts) : TL_HTA_STEP_UNKNOWN;
        if (rows[i].stream == 0 && !host_op)
            frame->iteration_whole = false;
    }
    for (size_t i = 0; i < frame->rows.n; i++)
        if (rows[i].stream > 0) {
            const tl_hta_row *launch = rows[i].link > 0 ? tl_hta_row_of_index(frame, rows[i].link) : NULL;
            rows[i].iteration = launch != NULL ? launch->iteration : TL_HTA_NO_STEP;
        }
    tl_arena_free(&line.arena);
}
