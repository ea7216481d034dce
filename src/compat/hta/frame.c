/* frame.c - the entries that HTA keeps, with their time stamps, links and steps; and the cut of the last step. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/schema.h"
#include <stdlib.h>

void tl_hta_frame_free(tl_hta_frame *frame)
{
    free(frame->rows.v);
    free(frame->row_at);
    free(frame->tracks.v);
    free(frame->args.v);
    tl_names_free(&frame->texts);
    *frame = (tl_hta_frame){ 0 };
}

/* Whether HTA keeps the event: it has finite times, a duration and a category other than "Trace", and any ph. */
static bool is_kept(const tl_events *events, const tl_verbatim *words, size_t i)
{
    const tl_category *category = tl_event_category(events, i);

    return (events->flags[i] & TL_EVENT_HAS_DUR) && isfinite(words->ts[i]) && isfinite(words->dur[i]) &&
           category->text != TL_NO_NAME && !tl_text_is(tl_names_text(&events->names, category->text), "Trace");
}

/* Returns the symbol of a text of the trace, looked up once and kept in translate[id + 1]; translate[0] is the
 * symbol of TL_NO_NAME. */
static uint32_t symbol_of_text(uint32_t *translate, uint32_t id, const tl_events *events, tl_hta_symbols *symbols)
{
    uint32_t *place = &translate[id == TL_NO_NAME ? 0 : (size_t)id + 1];
    if (*place == TL_NO_NAME)
        *place = tl_hta_symbol_id(symbols, tl_names_text(&events->names, id));
    return *place;
}

/* Returns the row of event i.  `round`: start and end move inwards to full microseconds, as HTA converts
 * nanoseconds.  The end is the sum of the unrounded doubles. */
static tl_hta_row row_of(const tl_events *events, const tl_verbatim *words, size_t i, bool round)
{
    bool flow = events->flags[i] & (TL_EVENT_PH_START | TL_EVENT_PH_END); /* its correlation is the flow's id */
    double ts = words->ts[i], end = ts + words->dur[i];
    tl_hta_row row = {
        .ts = round ? ceil(ts) : ts,
        .dur = round ? floor(end) - ceil(ts) : words->dur[i],
        .stream = words->stream[i],
        .correlation = (events->flags[i] & TL_EVENT_HAS_CORR) && !flow ? tl_event_corr(events, i) : -1,
        .index = events->uid[i],
        .track = tl_event_track(events, i),
    };
    row.end = row.ts + row.dur;
    row.link = row.correlation < 0 ? row.correlation : 0;
    return row;
}

/* Copies a text of the trace into the frame and returns its id there; TL_NO_NAME stays. */
static uint32_t copy_text(tl_hta_frame *frame, const tl_events *events, uint32_t id)
{
    tl_text text = tl_names_text(&events->names, id);
    return id != TL_NO_NAME ? tl_names_intern(&frame->texts, text.p, text.n) : TL_NO_NAME;
}

/* Args with all values absent. */
static const tl_hta_args no_args = {
    .range = TL_NO_NAME, .wait_stream = -1, .wait_record = -1, .external = TL_REF_NONE
};

/* Positions of the walk over the events in the lists of their args, which ascend by event. */
typedef struct places {
    size_t copy, wait, range;
} places;

/* Adds the args of event i to the frame, unless all values are absent. */
static void add_args(tl_hta_frame *frame, const tl_events *events, const tl_verbatim *words, uint32_t i, places *at)
{
    tl_hta_args args = no_args;

    args.index = events->uid[i];
    for (; at->copy < events->copies.n && events->copies.v[at->copy].event <= i; at->copy++)
        if (events->copies.v[at->copy].event == i && isfinite(events->copies.v[at->copy].gb_per_s))
            args.gb_per_s = events->copies.v[at->copy].gb_per_s;
    for (; at->wait < events->waits.n && events->waits.v[at->wait].event <= i; at->wait++)
        if (events->waits.v[at->wait].event == i) {
            args.wait_stream = events->waits.v[at->wait].wait_on_stream;
            args.wait_record = events->waits.v[at->wait].wait_on_corr;
        }
    for (; at->range < words->ranges.n && words->ranges.v[at->range].event <= i; at->range++)
        if (words->ranges.v[at->range].event == i)
            args.range = copy_text(frame, events, words->ranges.v[at->range].args);
    if (words->more != NULL && words->more[i].external_id < TL_REF_NUMBER)
        args.external = words->more[i].external_id;
    if (args.gb_per_s != 0 || args.wait_stream != -1 || args.wait_record != -1 || args.range != TL_NO_NAME ||
        args.external != TL_REF_NONE)
        tl_vec_push(&frame->args, args);
}

/* Sets row_at and nindices from the current rows. */
static void index_rows(tl_hta_frame *frame)
{
    frame->nindices = 1;
    TL_EACH (const tl_hta_row, row, frame->rows)
        frame->nindices = row->index >= frame->nindices ? (size_t)row->index + 1 : frame->nindices;
    free(frame->row_at);
    frame->row_at = tl_calloc(frame->nindices, sizeof *frame->row_at);
    for (uint32_t i = 0; i < frame->rows.n; i++)
        frame->row_at[frame->rows.v[i].index] = i + 1;
}

/* Sets the fields that summarise the rows and the trace's metadata. */
static void summarise_rows(tl_hta_frame *frame, const tl_meta *meta)
{
    unsigned traits = 0;

    frame->nloaded = frame->rows.n;
    frame->raw_min_ts = INFINITY;
    frame->raw_max_ts = -INFINITY;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        frame->raw_min_ts = fmin(frame->raw_min_ts, row->ts);
        frame->raw_max_ts = fmax(frame->raw_max_ts, row->ts);
        traits |= tl_hta_symbol_of(frame, row)->traits;
    }
    frame->world_size = meta->world_size;
    frame->has_base = meta->has_base;
    frame->base_ns = meta->base_ns;
    frame->vendor = strstr(meta->backend, "mtia:hccl") != NULL ? TL_HTA_MTIA
                    : traits & TL_HTA_OF_NVIDIA                ? TL_HTA_NVIDIA
                    : traits & TL_HTA_OF_AMD                   ? TL_HTA_AMD
                    : traits & TL_HTA_OF_MTIA                  ? TL_HTA_MTIA
                                                               : TL_HTA_NO_LAUNCH;
}

void tl_hta_frame_fill(tl_hta_frame *frame, const tl_trace *trace, const tl_verbatim *words, bool ns,
                       tl_hta_symbols *symbols)
{
    const tl_events *events = &trace->events;
    bool round = trace->report.fractional_ts && !ns;
    places places_of_args = { 0 };
    uint32_t *translate = tl_malloc_none(events->names.n + 1);

    frame->symbols = symbols;
    TL_EACH (const tl_track, each, events->tracks) {
        tl_vec_push(&frame->tracks, *each);
        tl_track *track = &frame->tracks.v[frame->tracks.n - 1];
        track->pid_text = copy_text(frame, events, each->pid_text);
        track->tid_text = copy_text(frame, events, each->tid_text);
    }
    for (size_t i = 0; i < events->n; i++) {
        frame->nplain += (events->flags[i] & TL_EVENT_PH_X) != 0 &&
                         (TL_CAT_BIT(tl_event_cat(events, i)) & TL_HTA_KEPT_OFF_PATH) == 0;
        if (!is_kept(events, words, i))
            continue;
        tl_hta_row row = row_of(events, words, i, round);
        row.name = symbol_of_text(translate, events->name[i], events, symbols);
        row.cat = symbol_of_text(translate, tl_event_category(events, i)->text, events, symbols);
        add_args(frame, events, words, (uint32_t)i, &places_of_args);
        tl_vec_push(&frame->rows, row);
    }
    free(translate);

    frame->ts_whole = round || !trace->report.fractional_ts;
    frame->nentries = trace->report.entries;
    index_rows(frame);
    summarise_rows(frame, &trace->meta);
}

/* ------------------------------------------------------------------------------------------------------ its columns */

static tl_cell id_cell(const tl_hta_frame *frame, int64_t number, uint32_t text)
{
    return text == TL_NO_NAME ? tl_int(number) : tl_string(tl_names_text(&frame->texts, text));
}

tl_cell tl_hta_pid(const tl_hta_frame *frame, uint32_t track)
{
    return id_cell(frame, frame->tracks.v[track].pid, frame->tracks.v[track].pid_text);
}

tl_cell tl_hta_tid(const tl_hta_frame *frame, uint32_t track)
{
    return id_cell(frame, frame->tracks.v[track].tid, frame->tracks.v[track].tid_text);
}

const tl_hta_args *tl_hta_args_of(const tl_hta_frame *frame, uint32_t index)
{
    size_t at = 0;
    TL_BISECT(at, frame->args.n, mid, frame->args.v[mid].index < index);
    return at < frame->args.n && frame->args.v[at].index == index ? &frame->args.v[at] : &no_args;
}

double tl_hta_frame_duration(const tl_hta_frame *frame)
{
    double min = NAN, max = NAN;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        min = fmin(min, row->ts);
        max = fmax(max, row->ts);
    }
    return max - min;
}

/* ------------------------------------------------------------------------------------------------------------ the cut
 *
 * HTA leaves out the last profiler step, because the profiler may have stopped during this step.
 *
 *     host     [ ProfilerStep#5 )[ ProfilerStep#6 )
 *               [launch a]        [launch b]
 *     stream   .........[ a ]..............[ b ]...        b is cut, as is everything from step 6 on
 *                               ^ from here on
 */

/* Most rows after the cut.  Each host row with correlation -1 matches each device row with correlation -1, such as an
 * event synchronisation, so the product can be huge. */
#define ROWS_MAX ((size_t)1 << 28)

/* The last step is that of the step rows off the device, which include device annotations; without step rows, all host
 * rows.  As in HTA, ts is aligned and `end` is not: with absolute time stamps include_last therefore keeps every host
 * row. */
tl_status tl_hta_frame_cut(tl_hta_frame *frame, bool include_last, tl_error *err)
{
    double host_start = INFINITY, host_end = -INFINITY, last_start = -INFINITY, last_end = -INFINITY;
    tl_map kept = { 0 }; /* correlation -> number of kept host rows with it */
    size_t n = 0;
    tl_status st = TL_OK;

    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (tl_hta_on_device(frame, row))
            continue;
        host_start = fmin(host_start, row->ts);
        host_end = fmax(host_end, row->end);
        if (tl_hta_is(frame->symbols, row->name, TL_HTA_STEP_NAME)) {
            last_start = fmax(last_start, row->ts);
            last_end = fmax(last_end, row->end);
        }
    }
    if (isinf(host_start)) /* there is no host row */
        return TL_OK;
    if (isinf(last_start)) {
        last_start = host_start;
        last_end = host_end;
    }
    uint32_t *copies = tl_calloc(frame->rows.n, sizeof *copies); /* by row: how many copies remain */
    for (int device = 0; device <= 1; device++)
        for (size_t i = 0; i < frame->rows.n && n <= ROWS_MAX; i++) {
            const tl_hta_row *row = &frame->rows.v[i];
            const uint32_t nkept = tl_map_get(&kept, (uint64_t)row->correlation);
            if (tl_hta_on_device(frame, row) != device)
                continue;
            copies[i] = device         ? (nkept != TL_MAP_NONE ? nkept : 0)
                        : include_last ? row->ts <= last_end
                                       : row->ts < last_start;
            if (!device && copies[i] > 0)
                tl_map_count(&kept, (uint64_t)row->correlation);
            n += copies[i];
        }
    if (n > ROWS_MAX) {
        st = tl_fail(err, TL_EINPUT, "%s: leaving out the last step as HTA does would make more than %zu rows of %zu",
                     frame->path, ROWS_MAX, frame->rows.n);
    } else {
        tl_hta_row *left = tl_malloc(n * sizeof *left), *next = left;
        for (int device = 1; device >= 0; device--) /* device rows, then host rows, each in file order */
            for (size_t i = 0; i < frame->rows.n; i++)
                for (uint32_t k = copies[i]; k > 0 && tl_hta_on_device(frame, &frame->rows.v[i]) == device; k--)
                    *next++ = frame->rows.v[i];
        free(frame->rows.v);
        frame->rows.v = left;
        frame->rows.n = frame->rows.cap = n;
        index_rows(frame);
    }
    tl_map_free(&kept);
    free(copies);
    return st;
}

/* -------------------------------------------------------------------------------------------------- links and steps */

/* Links between launch calls and device work, and the step of each row.
 *
 *     host    ..[ ProfilerStep#7        )[ ProfilerStep#8  )...
 *               .[launch 12]..[launch 13]....
 *     stream  ................[ kernel 12 ]....[ kernel 13 ]...      both kernels belong to step 7 */

/* Links each host row with the last device row, in file order, of the same correlation, and each device row with the
 * last such host row.  A graph launch thus links to its last kernel. */
void tl_hta_frame_link(tl_hta_frame *frame)
{
    tl_map last[2] = { { 0 } }; /* host rows, device rows: correlation -> last position in rows */

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (row->correlation != -1)
            tl_map_put(&last[tl_hta_on_device(frame, row)], (uint64_t)row->correlation,
                       (uint32_t)(row - frame->rows.v));
    TL_EACH (tl_hta_row, row, frame->rows) {
        uint32_t partner = row->correlation != -1
                               ? tl_map_get(&last[!tl_hta_on_device(frame, row)], (uint64_t)row->correlation)
                               : TL_MAP_NONE;
        if (partner != TL_MAP_NONE)
            row->link = frame->rows.v[partner].index;
    }
    tl_map_free(&last[0]);
    tl_map_free(&last[1]);
}

/* Step rows of positive duration. */
typedef TL_VEC(const tl_hta_row *) windows;

/* Returns the step at a time; if windows overlap, the last in file order counts. */
static int64_t step_at(const windows *steps, const tl_hta_symbols *symbols, double ts)
{
    for (size_t i = steps->n; i-- > 0;)
        if (steps->v[i]->ts <= ts && ts < steps->v[i]->end)
            return symbols->v.v[steps->v[i]->name].step;
    return TL_HTA_NO_STEP;
}

/* The step of a row without a stream, and of a cpu_op on stream 0, is the step at its start; of a row on a stream
 * above 0, the step of its launch; of other rows on stream 0, such as AMD's device work, unknown. */
void tl_hta_frame_iterate(tl_hta_frame *frame)
{
    windows steps = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_symbol_of(frame, row)->step >= 0 && row->dur > 0)
            tl_vec_push(&steps, row);
    frame->iteration_whole = true;
    TL_EACH (tl_hta_row, row, frame->rows) {
        bool host_op = row->stream == 0 && tl_text_is(tl_hta_cat(frame, row), "cpu_op");
        row->iteration = row->stream < 0 || host_op ? step_at(&steps, frame->symbols, row->ts) : TL_HTA_STEP_UNKNOWN;
        frame->iteration_whole = frame->iteration_whole && (row->stream != 0 || host_op);
    }
    TL_EACH (tl_hta_row, row, frame->rows) {
        const tl_hta_row *launch = row->stream > 0 && row->link > 0 ? tl_hta_row_at(frame, row->link) : NULL;
        if (row->stream > 0)
            row->iteration = launch != NULL ? launch->iteration : TL_HTA_NO_STEP;
    }
    free(steps.v);
}
