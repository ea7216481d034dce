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
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A device row, or an annotation. */
typedef struct piece {
    const tl_hta_row *row;
    double ts, end, dur;
    uint32_t track; /* its place in the order of pids and tids */
    uint32_t time;  /* of a kernel: one number for those with the same start and end */
} piece;

TL_ORDER_BY(by_times, piece, ts, end)
TL_ORDER_BY(by_track, piece, track)

/* The shortest of a track first, of equal ones the last. */
static int by_track_and_length(const void *context, uint32_t a, uint32_t b)
{
    const piece *x = (const piece *)context + a, *y = (const piece *)context + b;
    int order = TL_ORDER(x, y, track, dur);
    return order != 0 ? order : TL_COMPARE(b, a);
}

/* What one rank has: device rows, and the annotations that may claim them. */
typedef struct claims {
    const tl_hta_frame *frame;
    TL_VEC(piece) kernels, notes; /* in row order */
    uint32_t *owner;              /* of a time: symbol of the annotation, or TL_NO_NAME */
} claims;

/* By pid, then tid; numbers before texts. */
static int by_ids(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_frame *frame = context;
    const tl_track *x = &frame->tracks.v[a], *y = &frame->tracks.v[b];
    const int64_t numbers[][2] = { { x->pid, y->pid }, { x->tid, y->tid } };
    const uint32_t texts[][2] = { { x->pid_text, y->pid_text }, { x->tid_text, y->tid_text } };
    int order = 0;

    for (size_t k = 0; k < 2 && order == 0; k++) {
        bool number_x = texts[k][0] == TL_NO_NAME, number_y = texts[k][1] == TL_NO_NAME;
        order = number_x != number_y ? number_y - number_x
                : number_x
                    ? TL_COMPARE(numbers[k][0], numbers[k][1])
                    : strcmp(tl_names_text(&frame->texts, texts[k][0]).p, tl_names_text(&frame->texts, texts[k][1]).p);
    }
    return order;
}

/* Device rows and annotations.  True: a row of either is shorter than nothing, which HTA cannot hold. */
static bool find_pieces(claims *c)
{
    const tl_hta_frame *frame = c->frame;
    const uint32_t cat = tl_names_find(&frame->symbols->texts, "gpu_user_annotation", sizeof "gpu_user_annotation" - 1);
    uint32_t *order = tl_sorted_index(frame->tracks.n, by_ids, frame);
    uint32_t *place = tl_malloc(frame->tracks.n * sizeof *place);
    bool negative = false;

    for (uint32_t i = 0; i < frame->tracks.n; i++)
        place[order[i]] = i;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        const piece p = { row, row->ts, row->ts + row->dur, row->dur, place[row->track], 0 };
        bool kernel = tl_hta_on_device(frame, row), note = row->cat == cat;
        if (kernel)
            tl_vec_push(&c->kernels, p);
        if (note)
            tl_vec_push(&c->notes, p);
        negative = negative || ((kernel || note) && row->dur < 0);
    }
    free(order);
    free(place);
    return negative;
}

/* Kernels by track, start and end, each time with a number; nothing is claimed yet. */
static uint32_t *order_kernels(claims *c)
{
    const size_t n = c->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_times, c->kernels.v), ntimes = 0;

    c->owner = tl_malloc(n * sizeof *c->owner);
    TL_GROUPS (from, to, order, n, by_times, c->kernels.v) {
        c->owner[ntimes] = TL_NO_NAME;
        for (size_t i = from; i < to; i++)
            c->kernels.v[order[i]].time = ntimes;
        ntimes++;
    }
    tl_sort_index(order, n, by_track, c->kernels.v);
    return order;
}

/* Each note takes the kernels of its track that it overlaps, the last track first. */
static void claim_all(claims *c)
{
    const size_t n = c->kernels.n;
    uint32_t *kernels = order_kernels(c), *notes = tl_sorted_index(c->notes.n, by_track_and_length, c->notes.v);
    tl_hta_peaks ends = { 0 }; /* of the kernels of one track that are not claimed yet */

    for (size_t last = c->notes.n, first; last > 0; last = first) {
        const uint32_t track = c->notes.v[notes[last - 1]].track;
        size_t from = 0, to;
        for (first = last; first > 0 && c->notes.v[notes[first - 1]].track == track;)
            first--;
        TL_BISECT(from, n, mid, c->kernels.v[kernels[mid]].track < track);
        to = from;
        TL_BISECT(to, n, mid, c->kernels.v[kernels[mid]].track <= track);
        tl_hta_peaks_make(&ends, to - from);
        for (size_t i = from; i < to; i++)
            tl_hta_peaks_set(&ends, i - from, c->kernels.v[kernels[i]].end);
        for (size_t k = first; k < last; k++) {
            const piece *note = &c->notes.v[notes[k]];
            size_t before = from;
            TL_BISECT(before, to, mid, c->kernels.v[kernels[mid]].ts < note->end);
            for (size_t i;
                 (i = tl_hta_peaks_last(&ends, before - from, nextafter(note->ts, INFINITY))) != TL_HTA_NO_PEAK;) {
                uint32_t *owner = &c->owner[c->kernels.v[kernels[from + i]].time];
                if (*owner == TL_NO_NAME)
                    *owner = note->row->name;
                tl_hta_peaks_set(&ends, i, -INFINITY);
            }
        }
        tl_hta_peaks_free(&ends);
    }
    free(kernels);
    free(notes);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static int by_owner(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return tl_hta_by_text(c->frame->symbols, c->owner[c->kernels.v[a].time], c->owner[c->kernels.v[b].time]);
}

/* The kernels one by one; and those of an annotation, and how long they ran: ascending by its name, "" for none. */
static void write_rank(tl_csv *each, tl_csv *sums, const claims *c)
{
    const tl_hta_frame *frame = c->frame;
    const size_t n = c->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_owner, c);

    TL_EACH (const piece, k, c->kernels)
        TL_ROW(each, k->row->index, k->ts, k->dur, k->row->stream, tl_hta_tid(frame, k->row->track),
               tl_hta_text(frame->symbols, c->owner[k->time]), frame->rank);
    TL_GROUPS (from, to, order, n, by_owner, c) {
        TL_ROW(sums, frame->rank, tl_hta_text(frame->symbols, c->owner[c->kernels.v[order[from]].time]), to - from,
               TL_STATS(order + from, to - from, c->kernels.v, dur).sum);
    }
    free(order);
}

void tl_hta_kernels_of_annotations(tl_hta_job *job)
{
    tl_csv each = tl_csv_open(&job->out, "gpu_kernels_with_user_annotation.csv",
                              "index,ts,dur,stream,tid,s_user_annotation,rank");
    tl_csv sums = tl_csv_open(&job->out, "gpu_kernels_by_user_annotation.csv", "rank,s_user_annotation,count,sum");
    bool any = false, any_notes = false;

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        claims c = { .frame = frame };
        bool negative = find_pieces(&c), told = c.notes.n > 0 && !negative;
        any_notes |= c.notes.n > 0;
        any |= told;
        if (told) {
            claim_all(&c);
            write_rank(&each, &sums, &c);
        } else if (c.notes.n > 0) {
            tl_hta_note_rank(job, "gpu_kernels_with_user_annotation", frame, "%s",
                             "rounding has made durations negative; HTA gives up the rank");
        }
        free(c.kernels.v);
        free(c.notes.v);
        free(c.owner);
    }
    tl_csv_end(&each, any);
    tl_csv_end(&sums, any);
    if (!any_notes)
        tl_hta_note(job, "gpu_kernels_with_user_annotation: no rank has annotations of the device to tell kernels by");
}
