/* frame.c - which entries of a trace HTA keeps, with which time stamps, and which it leaves out again. */
#include "tlmpi/compat/hta/frame/frame.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/schema.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_hta_frame_free(tl_hta_frame *frame)
{
    free(frame->rows.v);
    free(frame->tracks.v);
    free(frame->externals.v);
    free(frame->copies.v);
    tl_names_free(&frame->track_names);
    *frame = (tl_hta_frame){ 0 };
}

/* HTA keeps whatever has a duration and a category other than "Trace", whatever its ph.  A row without a finite time it
 * could not order either. */
static bool is_kept(const tl_events *events, const tl_verbatim *words, size_t i)
{
    const tl_category *category = &events->categories.v[events->category[i]];

    return (events->flags[i] & TL_EVENT_HAS_DUR) && isfinite(words->ts[i]) && isfinite(words->dur[i]) &&
           category->text != TL_NO_NAME && !tl_text_is(tl_names_text(&events->names, category->text), "Trace");
}

/* The local id of a text of the trace to its symbol, each looked up once: translate[id + 1], so that TL_NO_NAME has a
 * place. */
static uint32_t translated(uint32_t *translate, uint32_t id, const tl_events *events, tl_hta_symbols *symbols)
{
    uint32_t *place = &translate[id == TL_NO_NAME ? 0 : (size_t)id + 1];
    if (*place == TL_NO_NAME)
        *place = tl_hta_symbol_id(symbols, tl_names_text(&events->names, id));
    return *place;
}

/* HTA's way from nanoseconds to microseconds: both ends move inwards to a full one.  The sum is that of the doubles as
 * they are, not of the decimal text. */
static void round_inwards(tl_hta_row *row)
{
    double end = row->ts + row->dur;
    row->ts = ceil(row->ts);
    row->dur = floor(end) - row->ts;
}

static tl_hta_row row_of(const tl_events *events, const tl_verbatim *words, size_t i, bool round)
{
    const tl_lane *lane = &events->lanes.v[events->lane[i]];
    bool flow = events->flags[i] & (TL_EVENT_PH_START | TL_EVENT_PH_END); /* its correlation is the id of the arrow */
    tl_hta_row row = {
        .ts = words->ts[i],
        .dur = words->dur[i],
        .stream = lane->stream == TL_LANE_ABSENT ? -1 : lane->stream,
        .correlation = (events->flags[i] & TL_EVENT_HAS_CORR) && !flow ? events->corr[i] : -1,
        .index = events->uid[i],
        .track = events->track[i],
    };
    if (round)
        round_inwards(&row);
    row.end = row.ts + row.dur;
    row.link = row.correlation < 0 ? row.correlation : 0;
    return row;
}

/* The tracks of the trace, and the texts in them. */
static void take_tracks(tl_hta_frame *frame, const tl_events *events)
{
    for (size_t i = 0; i < events->tracks.n; i++) {
        tl_track track = events->tracks.v[i];
        uint32_t *const texts[] = { &track.pid_text, &track.tid_text };
        for (size_t k = 0; k < 2; k++) {
            tl_text text = tl_names_text(&events->names, *texts[k]);
            if (*texts[k] != TL_NO_NAME)
                *texts[k] = tl_names_intern(&frame->track_names, text.p, text.n);
        }
        tl_vec_push(&frame->tracks, track);
    }
}

/* A text is no External id of an execution trace's. */
static void take_external(tl_hta_frame *frame, tl_ref id, uint32_t index)
{
    if (id != TL_REF_NONE && id < TL_REF_NUMBER)
        tl_vec_push(&frame->externals, (tl_hta_external){ id, index });
}

static void take_copies(tl_hta_frame *frame, const tl_events *events)
{
    TL_EACH (const tl_copy_args, copy, events->copies)
        if (isfinite(copy->gb_per_s))
            tl_vec_push(&frame->copies, (tl_hta_copy){ events->uid[copy->event], copy->gb_per_s });
}

/* What the frame knows of all its rows. */
static void describe(tl_hta_frame *frame, const tl_meta *meta, const tl_hta_symbols *symbols)
{
    bool launches[TL_HTA_MTIA + 1] = { false };

    frame->nloaded = frame->rows.n;
    frame->raw_min_ts = INFINITY;
    frame->raw_max_ts = -INFINITY;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        frame->raw_min_ts = fmin(frame->raw_min_ts, row->ts);
        frame->raw_max_ts = fmax(frame->raw_max_ts, row->ts);
        launches[symbols->v.v[row->name].launch] = true;
    }
    frame->world_size = meta->world_size;
    frame->has_base = meta->has_base;
    frame->base_ns = meta->base_ns;
    frame->vendor = strstr(meta->backend, "mtia:hccl") != NULL ? TL_HTA_MTIA
                    : launches[TL_HTA_NVIDIA]                  ? TL_HTA_NVIDIA
                    : launches[TL_HTA_AMD]                     ? TL_HTA_AMD
                    : launches[TL_HTA_MTIA]                    ? TL_HTA_MTIA
                                                               : TL_HTA_NO_LAUNCH;
}

void tl_hta_frame_fill(tl_hta_frame *frame, const tl_trace *trace, const tl_verbatim *words, bool ns,
                       tl_hta_symbols *symbols)
{
    const tl_events *events = &trace->events;
    bool round = trace->report.fractional_ts && !ns, fractions = false;
    uint64_t ndurs = 0;
    uint32_t *translate = tl_malloc((events->names.n + 1) * sizeof *translate);

    for (size_t i = 0; i <= events->names.n; i++)
        translate[i] = TL_NO_NAME;
    take_tracks(frame, events);
    take_copies(frame, events);
    for (size_t i = 0; i < events->n; i++) {
        ndurs += (events->flags[i] & TL_EVENT_HAS_DUR) != 0;
        if (!is_kept(events, words, i))
            continue;
        tl_hta_row row = row_of(events, words, i, round);
        row.name = translated(translate, events->name[i], events, symbols);
        row.cat = translated(translate, events->categories.v[events->category[i]].text, events, symbols);
        if (words->more != NULL)
            take_external(frame, words->more[i].external_id, row.index);
        fractions |= row.dur != floor(row.dur);
        tl_vec_push(&frame->rows, row);
    }
    free(translate);

    /* One entry without a duration, kept or not, turns the whole column of a data frame into doubles. */
    frame->ts_whole = round || !trace->report.fractional_ts;
    frame->dur_whole = !fractions && ndurs == trace->report.entries;
    frame->nentries = trace->report.entries;
    describe(frame, &trace->meta, symbols);
}

static tl_cell id_cell(const tl_hta_frame *frame, int64_t number, uint32_t text)
{
    return text == TL_NO_NAME ? tl_int(number) : tl_string(tl_names_text(&frame->track_names, text));
}

tl_cell tl_hta_pid(const tl_hta_frame *frame, uint32_t track)
{
    return id_cell(frame, frame->tracks.v[track].pid, frame->tracks.v[track].pid_text);
}

tl_cell tl_hta_tid(const tl_hta_frame *frame, uint32_t track)
{
    return id_cell(frame, frame->tracks.v[track].tid, frame->tracks.v[track].tid_text);
}

tl_cell tl_hta_step(const tl_hta_frame *frame, int64_t step)
{
    return step == TL_HTA_STEP_UNKNOWN ? tl_blank() : tl_number((double)step, frame->iteration_whole);
}

static uint32_t id_of(const tl_hta_row *row, tl_hta_id by)
{
    return by == TL_HTA_BY_NAME ? row->name : by == TL_HTA_BY_CATEGORY ? row->cat : row->track;
}

/* Counts, then their sums, then each row to the place that its group has reached. */
tl_hta_groups tl_hta_groups_of(const tl_hta_frame *frame, tl_hta_id by, size_t n,
                               bool (*takes)(const void *context, const tl_hta_row *row), const void *context)
{
    const tl_hta_row *rows = frame->rows.v;
    tl_hta_groups g = { .first = tl_calloc(n + 2, sizeof *g.first), .n = n };

    for (size_t i = 0; i < frame->rows.n; i++)
        if (takes == NULL || takes(context, &rows[i]))
            g.first[id_of(&rows[i], by) + 2]++;
    for (size_t k = 2; k < n + 2; k++)
        g.first[k] += g.first[k - 1];
    g.order = tl_malloc(g.first[n + 1] * sizeof *g.order);
    for (size_t i = 0; i < frame->rows.n; i++)
        if (takes == NULL || takes(context, &rows[i]))
            g.order[g.first[id_of(&rows[i], by) + 1]++] = (uint32_t)i;
    return g;
}

void tl_hta_groups_free(tl_hta_groups *groups)
{
    free(groups->order);
    free(groups->first);
}

void tl_hta_frame_align(tl_hta_frame *frame, double zero, bool zero_whole)
{
    for (size_t i = 0; i < frame->rows.n; i++)
        frame->rows.v[i].ts -= zero;
    frame->ts_whole = frame->ts_whole && zero_whole;
}

double tl_hta_frame_duration(const tl_hta_frame *frame)
{
    double min = NAN, max = NAN;
    for (size_t i = 0; i < frame->rows.n; i++) {
        min = fmin(min, frame->rows.v[i].ts);
        max = fmax(max, frame->rows.v[i].ts);
    }
    return max - min;
}

/* ------------------------------------------------------------------------------------------------------------ the cut
 *
 * HTA leaves out the last profiler step, because the profiler may have been stopped in it.
 *
 *     host     [ ProfilerStep#5 )[ ProfilerStep#6 )
 *               [launch a]        [launch b]
 *     stream   .........[ a ]..............[ b ]...        b goes, and so does everything from step 6 on
 *                               ^ from here on
 */

/* The host rows with correlation -1 join the device rows with -1 (an event synchronisation may be one), each with each.
 * More rows than this are given up. */
#define ROWS_MAX ((size_t)1 << 28)

/* Which host rows stay: up to last_start, last_end. */
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
