/* join.c - joins slices of one trace, read by several procs; and windows of one process. */
#include "formats.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>
#include <stdlib.h>

/* Whether the next slice begins at the entry that follows the last one of the slice before. */
static bool continues_slice(const tl_read_report *a, const tl_read_report *b)
{
    if (a->bare || a->dropped > 0 || b->dropped > 0 || a->source_fault || b->source_fault)
        return false;
    if (a->closed)
        return b->first_entry == UINT64_MAX;
    return a->stopped_at != UINT64_MAX && a->stopped_at == b->first_entry;
}

/* The ids of a slice, by id: the ids in the whole trace. */
typedef struct renumbering {
    uint32_t *name, *class;
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

/* Tracks, lanes and categories are few: each is searched among those of the whole. */
static void renumber_classes(tl_events *to, const tl_events *from, renumbering *r)
{
    uint32_t *track = tl_malloc((from->tracks.n + 1) * sizeof *track),
             *lane = tl_malloc((from->lanes.n + 1) * sizeof *lane);
    uint16_t *category = tl_malloc((from->categories.n + 1) * sizeof *category);
    for (uint32_t i = 0; i < from->tracks.n; i++) {
        tl_track t = from->tracks.v[i];
        t.pid_text = name_in(r, t.pid_text);
        t.tid_text = name_in(r, t.tid_text);
        track[i] = tl_events_track(to, &t);
    }
    for (uint32_t i = 0; i < from->lanes.n; i++)
        lane[i] = tl_events_lane(to, &from->lanes.v[i]);
    for (uint32_t i = 0; i < from->categories.n; i++)
        category[i] = tl_events_category(to, name_in(r, from->categories.v[i].text));
    r->class = tl_malloc((from->classes.n + 1) * sizeof *r->class);
    for (uint32_t i = 0; i < from->classes.n; i++) {
        const tl_event_class *o = &from->classes.v[i];
        r->class[i] = tl_events_class(to, (tl_event_class){ track[o->track], lane[o->lane], category[o->category], 0 });
    }
    free(track);
    free(lane);
    free(category);
}

/* Appends a side table of events from index `first` on. */
#define APPEND_SIDE(side)                                                                                              \
    for (size_t i = 0; i < from->side.n; i++) {                                                                        \
        tl_vec_push(&to->side, from->side.v[i]);                                                                       \
        to->side.v[to->side.n - 1].event += first;                                                                     \
    }

static void append_sides(tl_events *to, const tl_events *from, uint32_t first, const renumbering *r)
{
    const size_t ncounters = to->counters.n, ncolls = to->colls.n;

    TL_EVENT_SIDES(APPEND_SIDE)
    for (size_t i = ncounters; i < to->counters.n; i++)
        to->counters.v[i].name = name_in(r, to->counters.v[i].name);
    for (size_t i = ncolls; i < to->colls.n; i++) {
        tl_coll_args *c = &to->colls.v[i];
        uint32_t *texts[] = {
            &c->name, &c->dtype, &c->pg_name, &c->pg_desc, &c->pg_ranks, &c->in_split, &c->out_split
        };
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            *texts[k] = name_in(r, *texts[k]);
    }
}

static void append_events(tl_events *to, const tl_events *from, uint32_t first_uid)
{
    renumbering r = { 0 };
    size_t at = to->n;

    tl_events_reserve(to, at + from->n);
    renumber_names(to, from, &r);
    renumber_classes(to, from, &r);
    append_sides(to, from, (uint32_t)at, &r);
    if (from->n > 0) {
        memcpy(to->ts_ns + at, from->ts_ns, from->n * sizeof *to->ts_ns);
        memcpy(to->flags + at, from->flags, from->n * sizeof *to->flags);
    }
    for (size_t i = 0; i < from->n; i++) {
        to->name[at + i] = name_in(&r, from->name[i]);
        to->class[at + i] = r.class[from->class[i]];
        tl_narrow_set(&to->dur_ns, at + i, tl_event_dur_ns(from, i));
        tl_narrow_set(&to->corr, at + i, tl_event_corr(from, i));
        to->uid[at + i] = from->uid[i] + first_uid;
    }
    to->n += from->n;
    free(r.name);
    free(r.class);
}

bool tl_trace_append(tl_trace *ok, const tl_trace *next)
{
    tl_read_report *a = &ok->report;
    const tl_read_report *b = &next->report;

    if (!continues_slice(a, b))
        return false;
    append_events(&ok->events, &next->events, (uint32_t)a->entries);
    if (!a->closed && next->ndoc > 0) { /* after the end of the array, the slice that has it reads on to the end */
        ok->doc = tl_realloc(ok->doc, ok->ndoc + next->ndoc);
        memcpy(ok->doc + ok->ndoc, next->doc, next->ndoc);
        ok->ndoc += next->ndoc;
    }
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
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- windows */

/* Shifts the correlation ids of a window above those of the windows before, if some repeat: a correlation is valid
 * within one recording. */
static void part_correlations(const tl_events *whole, tl_events *next)
{
    int64_t last = 0, first = INT64_MAX;

    for (size_t i = 0; i < whole->n; i++)
        last = whole->flags[i] & TL_EVENT_HAS_CORR ? tl_ns_max(last, tl_event_corr(whole, i)) : last;
    for (size_t i = 0; i < next->n; i++)
        if (next->flags[i] & TL_EVENT_HAS_CORR && tl_event_corr(next, i) > 0)
            first = tl_ns_min(first, tl_event_corr(next, i));
    if (first > last)
        return;
    tl_narrow moved = { .v = next->corr.v }; /* the numbers are written in order */
    for (size_t i = 0; i < next->n; i++) {
        const int64_t corr = tl_event_corr(next, i);
        tl_narrow_set(&moved, i, corr > 0 ? tl_ns_add(corr, last) : corr);
    }
    free(next->corr.wide.v);
    next->corr = moved;
    TL_EACH (tl_wait_args, wait, next->waits)
        wait->wait_on_corr = wait->wait_on_corr > 0 ? tl_ns_add(wait->wait_on_corr, last) : wait->wait_on_corr;
}

static void add_report(tl_read_report *a, const tl_read_report *b)
{
    a->text_bytes += b->text_bytes;
    a->entries += b->entries;
    a->kept += b->kept;
    a->filtered += b->filtered;
    a->dropped += b->dropped;
    a->repaired += b->repaired;
    a->untimed += b->untimed;
    a->cut |= b->cut;
    a->source_fault |= b->source_fault;
    a->gzip |= b->gzip;
    if (a->first_bad[0] == '\0' && b->first_bad[0] != '\0') {
        a->first_bad_byte = b->first_bad_byte;
        memcpy(a->first_bad, b->first_bad, sizeof a->first_bad);
    }
}

/* Puts the window's number before the first fault: the byte offset counts in that window's text. */
static void name_window(tl_read_report *report, int32_t number)
{
    char text[sizeof report->first_bad];
    memcpy(text, report->first_bad, sizeof text);
    if (text[0] != '\0')
        snprintf(report->first_bad, sizeof report->first_bad, "window %d: %.230s", (int)number + 1, text);
}

void tl_trace_add_window(tl_trace *whole, tl_trace *next, const tl_window *window)
{
    const bool first = whole->events.windows.n == 0;
    const tl_read_report so_far = whole->report;
    int64_t base_ns = next->meta.has_base ? next->meta.base_ns : 0, ignored;
    tl_event_window at = { .number = window->number, .more_steps = window->more_steps };

    /* the first window's base is added to all */
    base_ns -= first ? base_ns : whole->meta.has_base ? whole->meta.base_ns : 0;
    for (size_t i = 0; i < next->events.n; i++)
        next->events.ts_ns[i] = tl_ns_between(tl_ns_sum(next->events.ts_ns[i], base_ns), window->closed_ns);
    name_window(&next->report, window->number);
    if (!tl_events_extent(&next->events, &at.begin_ns, &ignored)) {
        add_report(&whole->report, &next->report);
        tl_trace_free(next);
        return;
    }
    if (first) {
        *whole = *next;
    } else {
        at.first_event = (uint32_t)whole->events.n;
        part_correlations(&whole->events, &next->events);
        append_events(&whole->events, &next->events, (uint32_t)so_far.entries);
        whole->meta.rank = whole->meta.rank >= 0 ? whole->meta.rank : next->meta.rank;
        whole->meta.world_size = whole->meta.world_size >= 0 ? whole->meta.world_size : next->meta.world_size;
        if (whole->meta.groups.n == 0) { /* the window before may be truncated */
            free(whole->meta.groups.v);
            whole->meta.groups = next->meta.groups;
            next->meta.groups.v = NULL;
            next->meta.groups.n = 0;
        }
        whole->report = next->report;
        tl_trace_free(next);
    }
    add_report(&whole->report, &so_far);
    tl_vec_push(&whole->events.windows, at);
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
