/* annotations.c - under which annotation of the device a kernel ran.
 *
 *     annotations    [ ProfilerStep#7             )
 *                    .....[ Optimizer.step )......
 *     kernels        .[ a ]..[ b ]......[ c ].[ d ]
 *                      step   optimizer  optimizer  step        to touch is not to overlap
 *
 * Of the annotations on a kernel's track that overlap it, the shortest has it.  HTA keeps that by the times of kernels:
 * those with the same start and end, wherever they are, have one annotation, which the last track that has any decides.
 */
#include "tlmpi/compat/hta/frame/peaks.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* What one rank has: device rows, and the annotations that may claim them. */
typedef struct claims {
    const tl_hta_frame *frame;
    const tl_hta_symbols *symbols;
    TL_VEC(const tl_hta_row *) kernels, notes; /* in row order */
    uint32_t *by_track;                        /* kernels: by track, ts and end */
    uint32_t *time;                            /* of a kernel: one number for those with the same start and end */
    uint32_t *owner;                           /* of such a time: symbol of the annotation, or TL_NO_NAME */
    uint32_t *notes_order;                     /* by track, the last one first; of a track the shortest first */
    tl_arena arena;
    tl_hta_peaks ends; /* of the kernels of one track that are not claimed yet */
} claims;

static double end_of(const tl_hta_row *row)
{
    return row->ts + row->dur;
}

/* Numbers before texts. */
static int compare_ids(const tl_hta_frame *frame, int64_t x, uint32_t x_text, int64_t y, uint32_t y_text)
{
    if (x_text == TL_NO_NAME || y_text == TL_NO_NAME)
        return x_text == y_text ? TL_COMPARE(x, y) : x_text == TL_NO_NAME ? -1 : 1;
    return strcmp(tl_names_text(&frame->track_names, x_text).p, tl_names_text(&frame->track_names, y_text).p);
}

/* By pid, then tid. */
static int compare_tracks(const tl_hta_frame *frame, uint32_t a, uint32_t b)
{
    const tl_track *x = &frame->tracks.v[a], *y = &frame->tracks.v[b];
    int order = a != b ? compare_ids(frame, x->pid, x->pid_text, y->pid, y->pid_text) : 0;
    if (order == 0 && a != b)
        order = compare_ids(frame, x->tid, x->tid_text, y->tid, y->tid_text);
    return order != 0 ? order : TL_COMPARE(a, b);
}

static int by_times(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    const tl_hta_row *x = c->kernels.v[a], *y = c->kernels.v[b];
    int order = TL_COMPARE(x->ts, y->ts);
    return order != 0 ? order : TL_COMPARE(end_of(x), end_of(y));
}

static int by_track(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return compare_tracks(c->frame, c->kernels.v[a]->track, c->kernels.v[b]->track);
}

static int by_track_of_note(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return compare_tracks(c->frame, c->notes.v[b]->track, c->notes.v[a]->track);
}

/* Device rows and annotations.  True: a row of either is shorter than nothing, which HTA cannot hold. */
static bool find_rows(claims *c, const tl_hta_symbols *symbols)
{
    const tl_hta_frame *frame = c->frame;
    const uint32_t cat = tl_names_find(&symbols->texts, "gpu_user_annotation", sizeof "gpu_user_annotation" - 1);
    bool negative = false;

    TL_EACH (const tl_hta_row, row, frame->rows) {
        bool kernel = tl_hta_on_device(row, symbols), note = row->cat == cat;
        if (kernel)
            tl_vec_push(&c->kernels, row);
        if (note)
            tl_vec_push(&c->notes, row);
        negative = negative || ((kernel || note) && row->dur < 0);
    }
    return negative;
}

/* Kernels by time, each time with a number, then by track. */
static void order_kernels(claims *c)
{
    const size_t n = c->kernels.n;
    uint32_t ntimes = 0;

    c->by_track = tl_sorted_index(n, by_times, c);
    c->time = tl_arena_take(&c->arena, n, sizeof *c->time);
    c->owner = tl_arena_take(&c->arena, n, sizeof *c->owner);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && by_times(c, c->by_track[i - 1], c->by_track[i]) != 0)
            ntimes++;
        c->time[c->by_track[i]] = ntimes;
        c->owner[i] = TL_NO_NAME;
    }
    tl_sort_index(c->by_track, n, by_track, c);
}

/* By duration, the shortest first: HTA's order is the reverse of it, and the last claim counts there. */
static void order_notes(claims *c)
{
    const size_t n = c->notes.n;
    uint32_t *group = tl_sorted_index(n, by_track_of_note, c);
    uint32_t *order = tl_arena_take(&c->arena, n, sizeof *order);
    double *durs = tl_arena_take(&c->arena, n, sizeof *durs);

    c->notes_order = tl_arena_take(&c->arena, n, sizeof *c->notes_order);
    TL_GROUPS (from, to, group, n, by_track_of_note, c) {
        for (size_t i = from; i < to; i++) /* a descending sort is an ascending one of the reversed column */
            durs[i - from] = c->notes.v[group[to - 1 - (i - from)]]->dur;
        tl_numpy_argsort(order, durs, to - from);
        for (size_t i = from; i < to; i++)
            c->notes_order[i] = group[to - 1 - order[i - from]];
    }
    free(group);
}

/* Claims the kernels [from, to) of by_track, which are on one track.  A claimed kernel leaves `ends`. */
static void claim(claims *c, const tl_hta_row *note, size_t from, size_t to)
{
    size_t before = from;
    TL_BISECT(before, to, mid, c->kernels.v[c->by_track[mid]]->ts < end_of(note));

    for (size_t i; (i = tl_hta_peaks_last(&c->ends, before - from, nextafter(note->ts, INFINITY))) != TL_HTA_NO_PEAK;) {
        uint32_t *owner = &c->owner[c->time[c->by_track[from + i]]];
        if (*owner == TL_NO_NAME)
            *owner = note->name;
        tl_hta_peaks_set(&c->ends, i, -INFINITY);
    }
}

static void claim_all(claims *c)
{
    const tl_hta_row *const *notes = c->notes.v, *const *kernels = c->kernels.v;

    for (size_t k = 0, end; k < c->notes.n; k = end) {
        const uint32_t track = notes[c->notes_order[k]]->track;
        size_t from = 0, to;
        TL_BISECT(from, c->kernels.n, mid, compare_tracks(c->frame, kernels[c->by_track[mid]]->track, track) < 0);
        to = from;
        TL_BISECT(to, c->kernels.n, mid, compare_tracks(c->frame, kernels[c->by_track[mid]]->track, track) <= 0);
        tl_hta_peaks_make(&c->ends, to - from);
        for (size_t i = from; i < to; i++)
            tl_hta_peaks_set(&c->ends, i - from, end_of(kernels[c->by_track[i]]));
        for (end = k; end < c->notes.n && notes[c->notes_order[end]]->track == track; end++)
            claim(c, notes[c->notes_order[end]], from, to);
        tl_hta_peaks_free(&c->ends);
    }
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static uint32_t owner_of(const claims *c, uint32_t kernel)
{
    return c->owner[c->time[kernel]];
}

static tl_text owner_name(const claims *c, uint32_t kernel)
{
    return tl_hta_text(c->symbols, owner_of(c, kernel));
}

static void write_kernels(tl_csv *csv, const claims *c)
{
    for (uint32_t i = 0; i < c->kernels.n; i++) {
        const tl_hta_row *row = c->kernels.v[i];
        TL_ROW(csv, row->index, tl_number(row->ts, c->frame->ts_whole), tl_number(row->dur, c->frame->dur_whole),
               row->stream, tl_hta_tid(c->frame, row->track), owner_name(c, i), c->frame->rank);
    }
}

static int by_owner(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return owner_of(c, a) == owner_of(c, b) ? 0 : tl_text_compare(owner_name(c, a), owner_name(c, b));
}

/* Kernels of an annotation, and how long they ran; ascending by its name, "" for none. */
static void write_sums(tl_csv *csv, const claims *c)
{
    const size_t n = c->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_owner, c);
    double *durs = tl_malloc(n * sizeof *durs);

    TL_GROUPS (from, to, order, n, by_owner, c) {
        for (size_t i = from; i < to; i++)
            durs[i - from] = c->kernels.v[order[i]]->dur;
        TL_ROW(csv, c->frame->rank, owner_name(c, order[from]), to - from,
               tl_number(tl_pandas_sum(durs, to - from), c->frame->dur_whole));
    }
    free(order);
    free(durs);
}

void tl_hta_kernels_of_annotations(tl_hta_job *job)
{
    tl_csv kernels = tl_csv_open(&job->out, "gpu_kernels_with_user_annotation.csv",
                                 "index,ts,dur,stream,tid,s_user_annotation,rank");
    tl_csv sums = tl_csv_open(&job->out, "gpu_kernels_by_user_annotation.csv", "rank,s_user_annotation,count,sum");
    bool any = false, any_notes = false;

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        claims c = { .frame = frame, .symbols = &job->symbols };
        bool negative = find_rows(&c, &job->symbols);
        any_notes |= c.notes.n > 0;
        if (c.notes.n > 0 && negative) {
            tl_hta_note(job,
                        "gpu_kernels_with_user_annotation: rank %lld: rounding has made durations negative; HTA gives "
                        "up the rank",
                        (long long)frame->rank);
        } else if (c.notes.n > 0) {
            any = true;
            order_kernels(&c);
            order_notes(&c);
            claim_all(&c);
            write_kernels(&kernels, &c);
            write_sums(&sums, &c);
        }
        free(c.kernels.v);
        free(c.notes.v);
        free(c.by_track);
        tl_arena_free(&c.arena);
    }
    tl_csv_end(&kernels, any);
    tl_csv_end(&sums, any);
    if (!any_notes)
        tl_hta_note(job, "gpu_kernels_with_user_annotation: no rank has annotations of the device to tell kernels by");
}
