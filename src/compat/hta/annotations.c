/* annotations.c - the device annotation of each kernel.
 *
 *     annotations    [ ProfilerStep#7             )
 *                    .....[ Optimizer.step )......
 *     kernels        .[ a ]..[ b ]......[ c ].[ d ]
 *                      step   optimizer  optimizer  step        touching is no overlap
 *
 * A kernel's annotation is the shortest annotation on its track that overlaps the kernel.  HTA stores annotations by
 * the kernels' times: kernels with equal start and end, on any tracks, share the annotation of the last track that has
 * one.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A device row, or an annotation. */
typedef struct piece {
    const tl_hta_row *row;
    double ts, end;
    uint32_t track; /* position in the order of pids and tids */
    uint32_t owner; /* of a kernel: symbol of its annotation; TL_NO_NAME: none */
} piece;

TL_ORDER_BY(by_track, piece, track, ts)
TL_ORDER_BY(by_times, piece, ts, end)

/* The device rows and device annotations of one rank. */
typedef struct claims {
    const tl_hta_frame *frame;
    TL_VEC(piece) kernels, notes; /* in row order */
} claims;

/* Sorted by pid, then tid; numbers before texts. */
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

/* Collects device rows and annotations.  True: one has a negative duration, on which HTA fails. */
static bool collect_pieces(claims *c)
{
    const tl_hta_frame *frame = c->frame;
    const uint32_t cat = tl_names_find(&frame->symbols->texts, "gpu_user_annotation", sizeof "gpu_user_annotation" - 1);
    uint32_t *order = tl_sorted_index(frame->tracks.n, by_ids, frame);
    uint32_t *place = tl_malloc(frame->tracks.n * sizeof *place);
    bool negative = false;

    for (uint32_t i = 0; i < frame->tracks.n; i++)
        place[order[i]] = i;
    TL_EACH (const tl_hta_row, row, frame->rows) {
        const piece p = { row, row->ts, row->ts + row->dur, place[row->track], TL_NO_NAME };
        if (tl_hta_on_device(frame, row))
            tl_vec_push(&c->kernels, p);
        if (row->cat == cat)
            tl_vec_push(&c->notes, p);
        negative |= (tl_hta_on_device(frame, row) || row->cat == cat) && row->dur < 0;
    }
    free(order);
    free(place);
    return negative;
}

/* Gives each kernel the shortest annotation of its track that overlaps it; ties: the later row. */
static void claim_by_track(claims *c)
{
    uint32_t *kernels = tl_sorted_index(c->kernels.n, by_track, c->kernels.v);
    uint32_t *notes = tl_sorted_index(c->notes.n, by_track, c->notes.v);
    TL_VEC(const piece *) open = { 0 }; /* annotations that have begun and may overlap a later kernel */
    size_t next = 0;

    for (size_t i = 0; i < c->kernels.n; i++) {
        piece *kernel = &c->kernels.v[kernels[i]];
        const piece *owner = NULL;
        size_t nopen = 0;
        for (const piece *note; next < c->notes.n; next++) {
            note = &c->notes.v[notes[next]];
            if (note->track > kernel->track || (note->track == kernel->track && !(note->ts < kernel->end)))
                break;
            tl_vec_push(&open, note);
        }
        for (size_t k = 0; k < open.n; k++) {
            const piece *note = open.v[k];
            if (note->track != kernel->track || !(note->end > kernel->ts))
                continue;
            open.v[nopen++] = note;
            if (note->ts < kernel->end && (owner == NULL || note->row->dur < owner->row->dur ||
                                           (note->row->dur == owner->row->dur && note > owner)))
                owner = note;
        }
        open.n = nopen;
        kernel->owner = owner != NULL ? owner->row->name : TL_NO_NAME;
    }
    free(kernels);
    free(notes);
    free(open.v);
}

/* Gives kernels with equal start and end the annotation of the last track that has one. */
static void unify_by_times(claims *c)
{
    const size_t n = c->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_track, c->kernels.v);

    tl_sort_index(order, n, by_times, c->kernels.v);
    TL_GROUPS (from, to, order, n, by_times, c->kernels.v) {
        uint32_t owner = TL_NO_NAME;
        for (size_t i = from; i < to; i++)
            owner = c->kernels.v[order[i]].owner != TL_NO_NAME ? c->kernels.v[order[i]].owner : owner;
        for (size_t i = from; i < to; i++)
            c->kernels.v[order[i]].owner = owner;
    }
    free(order);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static int by_owner(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return tl_hta_by_text(c->frame->symbols, c->kernels.v[a].owner, c->kernels.v[b].owner);
}

/* Writes each kernel; and count and time of the kernels of each annotation, by its name, "" for none. */
static void write_rank(tl_csv *each, tl_csv *sums, const claims *c)
{
    const tl_hta_frame *frame = c->frame;
    const size_t n = c->kernels.n;
    uint32_t *order = tl_sorted_index(n, by_owner, c);

    TL_EACH (const piece, k, c->kernels)
        TL_ROW(each, k->row->index, k->ts, k->row->dur, k->row->stream, tl_hta_tid(frame, k->row->track),
               tl_hta_text(frame->symbols, k->owner), frame->rank);
    TL_GROUPS (from, to, order, n, by_owner, c) {
        double us = 0;
        for (size_t i = from; i < to; i++)
            us += c->kernels.v[order[i]].row->dur;
        TL_ROW(sums, frame->rank, tl_hta_text(frame->symbols, c->kernels.v[order[from]].owner), to - from, us);
    }
    free(order);
}

void tl_hta_kernels_of_annotations(tl_hta_job *job)
{
    tl_csv each = tl_csv_open(&job->out, "gpu_kernels_with_user_annotation.csv",
                              "index,ts,dur,stream,tid,s_user_annotation,rank");
    tl_csv sums = tl_csv_open(&job->out, "gpu_kernels_by_user_annotation.csv", "rank,s_user_annotation,count,sum");
    bool any_notes = false;

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        claims c = { .frame = frame };
        bool negative = collect_pieces(&c);
        any_notes |= c.notes.n > 0;
        if (c.notes.n > 0 && !negative) {
            claim_by_track(&c);
            unify_by_times(&c);
            write_rank(&each, &sums, &c);
        } else if (c.notes.n > 0) {
            tl_hta_note_rank(&job->out, "gpu_kernels_with_user_annotation", frame, "%s",
                             "rounding has made durations negative; HTA gives up the rank");
        }
        free(c.kernels.v);
        free(c.notes.v);
    }
    tl_csv_close_rows(&each);
    tl_csv_close_rows(&sums);
    if (!any_notes)
        tl_hta_note(&job->out,
                    "gpu_kernels_with_user_annotation: no rank has annotations of the device to tell kernels by");
}
