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
#include "peaks.h"
#include "series.h"
#include "tlmpi/compat/hta/streams.h"
#include <math.h>
#include <stdlib.h>

/* What one rank has: device rows, and the annotations that may claim them. */
typedef struct claims {
    const tl_hta_frame *frame;
    tl_arena arena;
    const tl_hta_row **kernels, **notes; /* in row order */
    size_t nkernels, nnotes;
    uint32_t *by_track;    /* kernels: by track, ts and end */
    uint32_t *time;        /* of a kernel: one number for those with the same start and end */
    uint32_t *owner;       /* of such a time: symbol of the annotation, or TL_NO_NAME */
    uint32_t *notes_order; /* by track, the last one first; of a track the shortest first */
    tl_hta_peaks ends;     /* of the kernels of one track that nobody has claimed yet */
} claims;

static double end_of(const tl_hta_row *row)
{
    return row->ts + row->dur;
}

static int compare_ids(const tl_hta_frame *frame, int64_t x, uint32_t x_text, int64_t y, uint32_t y_text)
{
    if (x_text == TL_NO_NAME && y_text == TL_NO_NAME)
        return TL_COMPARE(x, y);
    if (x_text == TL_NO_NAME || y_text == TL_NO_NAME)
        return x_text == TL_NO_NAME ? -1 : 1;
    return strcmp(tl_names_text(&frame->track_names, x_text).p, tl_names_text(&frame->track_names, y_text).p);
}

/* By pid, then tid; numbers before texts. */
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
    const tl_hta_row *x = c->kernels[a], *y = c->kernels[b];
    int order = TL_COMPARE(x->ts, y->ts);
    return order != 0 ? order : TL_COMPARE(end_of(x), end_of(y));
}

static int by_track(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return compare_tracks(c->frame, c->kernels[a]->track, c->kernels[b]->track);
}

static int by_track_of_note(const void *context, uint32_t a, uint32_t b)
{
    const claims *c = context;
    return compare_tracks(c->frame, c->notes[b]->track, c->notes[a]->track);
}

/* Device rows and annotations.  *negative: a row of either is shorter than nothing, which HTA cannot hold. */
static bool find_rows(claims *c, const tl_hta_symbols *symbols, bool *negative)
{
    const tl_hta_frame *frame = c->frame;
    const uint32_t cat = tl_names_find(&symbols->texts, "gpu_user_annotation", sizeof "gpu_user_annotation" - 1);

    for (size_t i = 0; i < frame->rows.n; i++) {
        c->nkernels += tl_hta_on_device(&frame->rows.v[i], symbols);
        c->nnotes += frame->rows.v[i].cat == cat;
    }
    c->kernels = tl_arena_take(&c->arena, c->nkernels, sizeof *c->kernels);
    c->notes = tl_arena_take(&c->arena, c->nnotes, sizeof *c->notes);
    if (c->arena.failed)
        return false;
    c->nkernels = c->nnotes = 0;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        bool kernel = tl_hta_on_device(row, symbols), note = row->cat == cat;
        if (kernel)
            c->kernels[c->nkernels++] = row;
        if (note)
            c->notes[c->nnotes++] = row;
        *negative = *negative || ((kernel || note) && row->dur < 0);
    }
    return true;
}

/* Kernels by time, each time with a number, then by track. */
static bool order_kernels(claims *c)
{
    uint32_t ntimes = 0;

    c->by_track = tl_arena_take(&c->arena, c->nkernels, sizeof *c->by_track);
    c->time = tl_arena_take(&c->arena, c->nkernels, sizeof *c->time);
    c->owner = tl_arena_take(&c->arena, c->nkernels, sizeof *c->owner);
    if (c->arena.failed)
        return false;
    for (size_t i = 0; i < c->nkernels; i++) {
        c->by_track[i] = (uint32_t)i;
        c->owner[i] = TL_NO_NAME;
    }
    if (!tl_sort_index(c->by_track, c->nkernels, by_times, c))
        return false;
    for (size_t i = 0; i < c->nkernels; i++) {
        if (i > 0 && by_times(c, c->by_track[i - 1], c->by_track[i]) != 0)
            ntimes++;
        c->time[c->by_track[i]] = ntimes;
    }
    return tl_sort_index(c->by_track, c->nkernels, by_track, c);
}

/* By duration, the shortest first: HTA's order is the reverse of it, and the last claim counts there. */
static bool order_notes(claims *c)
{
    double *durs = tl_arena_take(&c->arena, c->nnotes, sizeof *durs);
    c->notes_order = tl_arena_take(&c->arena, c->nnotes, sizeof *c->notes_order);
    uint32_t *group = tl_arena_take(&c->arena, c->nnotes, sizeof *group);
    uint32_t *order = tl_arena_take(&c->arena, c->nnotes, sizeof *order);
    if (c->arena.failed)
        return false;

    for (size_t i = 0; i < c->nnotes; i++)
        group[i] = (uint32_t)i;
    if (!tl_sort_index(group, c->nnotes, by_track_of_note, c))
        return false;
    for (size_t from = 0, to; from < c->nnotes; from = to) {
        for (to = from + 1; to < c->nnotes && c->notes[group[to]]->track == c->notes[group[from]]->track;)
            to++;
        size_t n = to - from;
        for (size_t i = 0; i < n; i++) /* a descending sort is an ascending one of the reversed column */
            durs[i] = c->notes[group[to - 1 - i]]->dur;
        tl_numpy_argsort(order, durs, n);
        for (size_t i = 0; i < n; i++)
            c->notes_order[from + i] = group[to - 1 - order[i]];
    }
    return true;
}

/* The kernels [from, to) of by_track are those of a track.  Each is taken from `ends` when it is claimed. */
static void claim(claims *c, const tl_hta_row *note, size_t from, size_t to)
{
    size_t before = from;
    TL_BISECT(before, to, mid, c->kernels[c->by_track[mid]]->ts < end_of(note));

    for (size_t i; (i = tl_hta_peaks_last(&c->ends, before - from, nextafter(note->ts, INFINITY))) != TL_HTA_NO_PEAK;) {
        uint32_t *owner = &c->owner[c->time[c->by_track[from + i]]];
        if (*owner == TL_NO_NAME)
            *owner = note->name;
        tl_hta_peaks_set(&c->ends, i, -INFINITY);
    }
}

static bool claim_all(claims *c)
{
    for (size_t k = 0, end; k < c->nnotes; k = end) {
        const uint32_t track = c->notes[c->notes_order[k]]->track;
        size_t from = 0, to;
        TL_BISECT(from, c->nkernels, mid, compare_tracks(c->frame, c->kernels[c->by_track[mid]]->track, track) < 0);
        to = from;
        TL_BISECT(to, c->nkernels, mid, compare_tracks(c->frame, c->kernels[c->by_track[mid]]->track, track) <= 0);
        if (!tl_hta_peaks_make(&c->ends, to - from))
            return false;
        for (size_t i = from; i < to; i++)
            tl_hta_peaks_set(&c->ends, i - from, end_of(c->kernels[c->by_track[i]]));
        for (end = k; end < c->nnotes && c->notes[c->notes_order[end]]->track == track; end++)
            claim(c, c->notes[c->notes_order[end]], from, to);
        tl_hta_peaks_free(&c->ends);
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- tables */

typedef struct annotation_tables {
    tl_hta_job *job;
    tl_sheet kernels, sums;
    bool any, any_notes;      /* a rank could be told; has annotations */
    bool ts_whole, dur_whole; /* in all ranks, for a column has one type */
} annotation_tables;

static uint32_t owner_of(const claims *c, uint32_t kernel)
{
    return c->owner[c->time[kernel]];
}

static void write_kernels(annotation_tables *t, const claims *c)
{
    for (size_t i = 0; i < c->nkernels; i++) {
        const tl_hta_row *row = c->kernels[i];
        tl_sheet_int(&t->kernels, row->index);
        tl_sheet_number(&t->kernels, row->ts, t->ts_whole);
        tl_sheet_number(&t->kernels, row->dur, t->dur_whole);
        tl_sheet_int(&t->kernels, row->stream);
        tl_hta_write_tid(&t->kernels, c->frame, row->track);
        tl_sheet_text(&t->kernels, tl_names_text(&t->job->symbols.texts, owner_of(c, (uint32_t)i)));
        tl_sheet_int(&t->kernels, c->frame->rank);
        tl_sheet_end_row(&t->kernels);
    }
}

typedef struct named_claims {
    const claims *claims;
    const tl_names *texts;
} named_claims;

static int by_owner(const void *context, uint32_t a, uint32_t b)
{
    const named_claims *o = context;
    uint32_t x = owner_of(o->claims, a), y = owner_of(o->claims, b);
    return x == y ? 0 : strcmp(tl_names_text(o->texts, x).p, tl_names_text(o->texts, y).p);
}

/* Kernels of an annotation, and how long they ran; ascending by its name, "" for none. */
static bool write_sums(annotation_tables *t, claims *c)
{
    const named_claims by = { c, &t->job->symbols.texts };
    uint32_t *order = tl_arena_take(&c->arena, c->nkernels, sizeof *order);
    double *durs = tl_arena_take(&c->arena, c->nkernels, sizeof *durs);
    if (c->arena.failed)
        return false;

    for (size_t i = 0; i < c->nkernels; i++)
        order[i] = (uint32_t)i;
    if (!tl_sort_index(order, c->nkernels, by_owner, &by))
        return false;
    for (size_t from = 0, to; from < c->nkernels; from = to) {
        for (to = from; to < c->nkernels && by_owner(&by, order[from], order[to]) == 0; to++)
            durs[to - from] = c->kernels[order[to]]->dur;
        tl_sheet_int(&t->sums, c->frame->rank);
        tl_sheet_text(&t->sums, tl_names_text(by.texts, owner_of(c, order[from])));
        tl_sheet_int(&t->sums, (int64_t)(to - from));
        tl_sheet_number(&t->sums, tl_pandas_sum(durs, to - from), t->dur_whole);
        tl_sheet_end_row(&t->sums);
    }
    return true;
}

static tl_status take_rank(annotation_tables *t, const tl_hta_frame *frame, tl_error *err)
{
    claims c = { .frame = frame };
    bool negative = false;
    tl_status st = TL_OK;

    bool ok = find_rows(&c, &t->job->symbols, &negative);
    t->any_notes = t->any_notes || c.nnotes > 0;
    if (ok && c.nnotes > 0 && negative) {
        st = tl_hta_job_note(t->job, err,
                             "gpu_kernels_with_user_annotation: rank %lld: rounding has made durations negative; HTA "
                             "gives up the rank",
                             (long long)frame->rank);
    } else if (ok && c.nnotes > 0) {
        t->any = true;
        ok = order_kernels(&c) && order_notes(&c) && claim_all(&c);
        if (ok)
            write_kernels(t, &c);
        ok = ok && write_sums(t, &c);
    }
    if (!ok)
        st = tl_fail_memory(err, "the annotations of a rank");
    tl_arena_free(&c.arena);
    return st;
}

tl_status tl_hta_kernels_of_annotations(tl_hta_job *job, const char *dir, tl_error *err)
{
    annotation_tables t = { .job = job, .ts_whole = true, .dur_whole = true };

    tl_status st = tl_sheet_open(&t.kernels, dir, "gpu_kernels_with_user_annotation.csv",
                                 "index,ts,dur,stream,tid,s_user_annotation,rank", err);
    if (st == TL_OK)
        st = tl_sheet_open(&t.sums, dir, "gpu_kernels_by_user_annotation.csv", "rank,s_user_annotation,count,sum", err);
    for (size_t i = 0; i < job->frames.n; i++) {
        t.ts_whole = t.ts_whole && job->frames.v[i].ts_whole;
        t.dur_whole = t.dur_whole && job->frames.v[i].dur_whole;
    }
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = take_rank(&t, &job->frames.v[i], err);
    if (st == TL_OK && t.any)
        st = tl_sheet_close(&t.kernels, err);
    if (st == TL_OK && t.any)
        st = tl_sheet_close(&t.sums, err);
    if (st == TL_OK && !t.any_notes)
        st = tl_hta_job_note(job, err,
                             "gpu_kernels_with_user_annotation: no rank has annotations of the device to "
                             "tell kernels by");
    tl_sheet_drop(&t.kernels);
    tl_sheet_drop(&t.sums);
    return st;
}
