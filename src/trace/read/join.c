#include "tlmpi/trace/read/join.h"
#include "report.h"
#include <stdio.h>
#include <stdlib.h>

bool tl_trace_continues(const tl_trace *ok, const tl_trace *next)
{
    const tl_read_report *a = &ok->report, *b = &next->report;

    if (a->bare || a->dropped > 0 || b->dropped > 0 || a->source_fault || b->source_fault)
        return false;
    if (a->closed)
        return b->first_entry == UINT64_MAX;
    return a->stopped_at != UINT64_MAX && a->stopped_at == b->first_entry;
}

/* What the ids of a slice are in the whole. */
typedef struct renumbering {
    uint32_t *name, *track, *lane;
    uint16_t *category;
} renumbering;

static uint32_t name_in(const renumbering *r, uint32_t id)
{
    return id == TL_NO_NAME ? TL_NO_NAME : r->name[id];
}

static void renumber_names(tl_events *to, const tl_events *from, renumbering *r)
{
    r->name = tl_malloc((from->names.n + 1) * sizeof *r->name);
    for (uint32_t i = 0; i < from->names.n; i++) {
        tl_text text = tl_names_text(&from->names, i);
        r->name[i] = tl_names_intern(&to->names, text.p, text.n);
    }
}

/* Tracks, lanes and categories are few: each is looked for among those of the whole. */
static bool renumber_tracks(tl_events *to, const tl_events *from, renumbering *r)
{
    r->track = tl_malloc((from->tracks.n + 1) * sizeof *r->track);
    for (uint32_t i = 0; i < from->tracks.n; i++) {
        tl_track t = from->tracks.v[i];
        t.pid_text = name_in(r, t.pid_text);
        t.tid_text = name_in(r, t.tid_text);
        r->track[i] = tl_events_track(to, &t);
    }
    r->lane = tl_malloc((from->lanes.n + 1) * sizeof *r->lane);
    for (uint32_t i = 0; i < from->lanes.n; i++)
        r->lane[i] = tl_events_lane(to, &from->lanes.v[i]);
    r->category = tl_malloc((from->categories.n + 1) * sizeof *r->category);
    for (uint32_t i = 0; i < from->categories.n; i++) {
        r->category[i] = tl_events_category(to, name_in(r, from->categories.v[i].text));
        if (r->category[i] == UINT16_MAX)
            return false;
    }
    return true;
}

static void append_sides(tl_events *to, const tl_events *from, uint32_t first, const renumbering *r)
{
    for (size_t i = 0; i < from->copies.n; i++) {
        tl_vec_room(&to->copies);
        to->copies.v[to->copies.n] = from->copies.v[i];
        to->copies.v[to->copies.n++].event += first;
    }
    for (size_t i = 0; i < from->waits.n; i++) {
        tl_vec_room(&to->waits);
        to->waits.v[to->waits.n] = from->waits.v[i];
        to->waits.v[to->waits.n++].event += first;
    }
    for (size_t i = 0; i < from->grids.n; i++) {
        tl_vec_room(&to->grids);
        to->grids.v[to->grids.n] = from->grids.v[i];
        to->grids.v[to->grids.n++].event += first;
    }
    for (size_t i = 0; i < from->memory.n; i++) {
        tl_vec_room(&to->memory);
        to->memory.v[to->memory.n] = from->memory.v[i];
        to->memory.v[to->memory.n++].event += first;
    }
    for (size_t i = 0; i < from->shapes.n; i++) {
        tl_vec_room(&to->shapes);
        to->shapes.v[to->shapes.n] = from->shapes.v[i];
        to->shapes.v[to->shapes.n++].event += first;
    }
    for (size_t i = 0; i < from->counters.n; i++) {
        const tl_counter_arg *c = &from->counters.v[i];
        tl_vec_room(&to->counters);
        to->counters.v[to->counters.n++] = (tl_counter_arg){ c->event + first, name_in(r, c->name), c->value };
    }
    for (size_t i = 0; i < from->colls.n; i++) {
        tl_vec_room(&to->colls);
        tl_coll_args *c = &to->colls.v[to->colls.n++];
        *c = from->colls.v[i];
        c->event += first;
        uint32_t *texts[] = {
            &c->name, &c->dtype, &c->pg_name, &c->pg_desc, &c->pg_ranks, &c->in_split, &c->out_split
        };
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            *texts[k] = name_in(r, *texts[k]);
    }
}

static bool append_events(tl_events *to, const tl_events *from, uint32_t first_uid)
{
    renumbering r = { 0 };
    size_t at = to->n;
    bool ok = at + from->n < UINT32_MAX;
    if (ok) {
        renumber_names(to, from, &r);
        ok = renumber_tracks(to, from, &r);
        if (ok) {
            append_sides(to, from, (uint32_t)at, &r);
            ok = tl_events_reserve(to, at + from->n);
        }
    }

    if (ok && from->n > 0) {
        memcpy(to->ts_ns + at, from->ts_ns, from->n * sizeof *to->ts_ns);
        memcpy(to->dur_ns + at, from->dur_ns, from->n * sizeof *to->dur_ns);
        memcpy(to->corr + at, from->corr, from->n * sizeof *to->corr);
        memcpy(to->flags + at, from->flags, from->n * sizeof *to->flags);
        for (size_t i = 0; i < from->n; i++) {
            to->name[at + i] = name_in(&r, from->name[i]);
            to->track[at + i] = r.track[from->track[i]];
            to->lane[at + i] = r.lane[from->lane[i]];
            to->category[at + i] = r.category[from->category[i]];
            to->uid[at + i] = from->uid[i] + first_uid;
        }
        to->n += from->n;
    }
    free(r.name);
    free(r.track);
    free(r.lane);
    free(r.category);
    return ok;
}

static void append_doc(tl_trace *ok, const tl_trace *next)
{
    size_t cap = ok->ndoc;
    if (ok->report.closed || next->ndoc == 0) {
        /* after the end of the array the slice that has it read on to the end */
        return;
    }
    tl_grow((void **)&ok->doc, &cap, ok->ndoc + next->ndoc, 1);
    memcpy(ok->doc + ok->ndoc, next->doc, next->ndoc);
    ok->ndoc += next->ndoc;
}

tl_status tl_trace_append(tl_trace *ok, const tl_trace *next, tl_error *err)
{
    tl_read_report *a = &ok->report;
    const tl_read_report *b = &next->report;

    if (!append_events(&ok->events, &next->events, (uint32_t)a->entries))
        return tl_fail_memory(err, "joining the pieces of a trace");
    append_doc(ok, next);
    a->entries += b->entries;
    a->kept += b->kept;
    a->filtered += b->filtered;
    a->repaired += b->repaired;
    a->untimed += b->untimed;
    a->fractional_ts |= b->fractional_ts;
    if (a->first_bad_byte < 0 && b->first_bad_byte >= 0 && !a->closed) {
        a->first_bad_byte = b->first_bad_byte;
        memcpy(a->first_bad, b->first_bad, sizeof a->first_bad);
    }
    if (!a->closed) {
        a->base_at = b->base_at != UINT64_MAX ? b->base_at : a->base_at;
        a->cut = b->cut;
        a->stopped_at = b->stopped_at;
        a->closed = b->closed;
    }
    return TL_OK;
}

void tl_trace_complete(tl_trace *ok)
{
    tl_read_report *report = &ok->report;
    tl_error err = { 0 };

    report->text_bytes = report->file_bytes;
    if (tl_meta_parse(ok->doc != NULL ? ok->doc : "", ok->ndoc, &ok->meta, &err) != TL_OK && !report->cut) {
        report->source_fault = true;
        if (report->first_bad_byte < 0) {
            report->first_bad_byte = 0;
            snprintf(report->first_bad, sizeof report->first_bad,
                     "byte 0 of the text: %.150s; kept what was read before it", err.text);
        }
    }
    tl_report_meta(report, &ok->meta);
    free(ok->doc);
    ok->doc = NULL;
    ok->ndoc = 0;
}
