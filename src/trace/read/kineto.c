/* kineto.c - reads a Kineto trace: source, splitter and event readers, put together.
 *
 * An entry goes to the fast reader; an entry that the fast reader does not fully recognise goes to yajl; an entry that
 * yajl rejects is repaired and read again; if it still is not JSON, it is dropped and counted.
 */
#include "formats.h"
#include "tlmpi/trace/event/hook.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdlib.h>

/* Bytes before a slice that are read with it: they determine whether its first brace starts an entry. */
#define LOOK_BACK 256u

#define NO_JSON "expected JSON, found an entry that is none or has no end"

typedef struct reading {
    const tl_read_options *options;
    tl_take_options take;
    tl_trace *trace;
    tl_split split;
    tl_layouts layouts;
    tl_fields fields; /* of the current entry */
    tl_shape_rules shape_rules;
    tl_yajl_scratch scratch;
    tl_bytes repaired;     /* scratch for a repaired entry */
    size_t checked;        /* bytes of events for which there was enough memory */
    tl_error source_error; /* the error that ended the bytes early */
    uint64_t cut_at;       /* offset of the first entry without an end; UINT64_MAX: none */
    uint32_t cut_entries;  /* number of entries begun when the last entry without an end was found */
    size_t nevents;        /* before the last entry, as `before` */
    tl_read_report before; /* its counts of entries, entries_end and fractional_ts alone */
} reading;

/* Callback of the splitter: the fast reader finds the end of a plain entry while it reads it. */
static size_t read_plain(void *arg, const char *p)
{
    reading *r = arg;
    return tl_event_read_fast(p, &r->layouts, r->scratch.key_of, &r->fields);
}

/* ------------------------------------------------------------------------------------------------------- one entry */

/* Reads an entry that the fast reader rejected, after a repair if necessary (*mended).  *fault: offset in the text of
 * the error.  Returns false if the entry is not JSON; the splitter then continues after its beginning. */
static bool read_carefully(reading *r, const tl_split_item *item, bool *mended, uint64_t *fault)
{
    tl_text text = item->text;
    size_t consumed, ignored;

    if (tl_event_read_yajl(&r->scratch, text, &r->fields, &consumed))
        return true;
    *fault = item->offset + consumed;
    if (tl_split_reject(&r->split, item, fault))
        return false;
    tl_grow((void **)&r->repaired.v, &r->repaired.cap, 4 * text.n, 1);
    size_t n = tl_repair_json(text.p, text.n, r->repaired.v);
    *mended = tl_event_read_yajl(&r->scratch, (tl_text){ r->repaired.v, n }, &r->fields, &ignored);
    if (!*mended)
        tl_split_resync(&r->split);
    return *mended;
}

/* Whether the entry is a whole document, as in a file that was written twice. */
static bool is_document(const reading *r, const tl_split_item *item)
{
    return !(r->fields.seen >> TL_KEY_PH & 1) && !(r->fields.seen >> TL_KEY_CAT & 1) &&
           tl_split_is_document(&r->split, item);
}

static void report_dropped(tl_read_report *report, uint64_t fault, const char *expected)
{
    report->dropped++;
    tl_report_bad(report, fault, expected, "dropped that entry");
}

static void copy_counts(tl_read_report *to, const tl_read_report *from)
{
    to->kept = from->kept;
    to->filtered = from->filtered;
    to->dropped = from->dropped;
    to->repaired = from->repaired;
    to->untimed = from->untimed;
    to->entries_end = from->entries_end;
    to->fractional_ts = from->fractional_ts;
}

static void add_entry(reading *r, const tl_split_item *item)
{
    tl_read_report *report = &r->trace->report;
    tl_events *events = &r->trace->events;
    bool mended = false;
    uint64_t fault = item->offset;
    const char *why = "";

    r->nevents = events->n;
    copy_counts(&r->before, report);
    bool fast = item->probed || (!r->options->yajl_only && r->split.probe(r, item->text.p) == item->text.n);
    if (!fast && !read_carefully(r, item, &mended, &fault)) {
        report_dropped(report, fault, NO_JSON);
        return;
    }
    if (is_document(r, item)) {
        report_dropped(report, item->offset, "expected an entry, found the beginning of a document");
        tl_split_resync(&r->split);
        return;
    }
    report->entries_end = item->offset + item->text.n;
    tl_taken taken = tl_events_take(events, &r->take, &r->fields, item->uid, &report->fractional_ts, &why);
    bool bad;
    if (tl_report_taken(report, taken, &bad))
        tl_args_take(events, &r->fields, r->options->columns_alone, &r->shape_rules);
    if (taken == TL_TAKEN_BAD) {
        tl_report_bad(report, item->offset, why, "dropped that entry");
    } else if (mended) {
        report->repaired += !bad;
        tl_report_bad(report, fault, "expected JSON, found an entry that is almost JSON", "repaired it");
    } else if (bad) {
        tl_report_bad(report, item->offset, why, "kept that entry");
    }
}

/* Handles a missing comma, or one brace too many, after the last entry. */
static void close_array(reading *r, const tl_split_item *item)
{
    tl_read_report *report = &r->trace->report;

    if (report->dropped == r->before.dropped && report->repaired == r->before.repaired)
        report->repaired++;
    if (item->text.p[0] == '{')
        tl_report_bad(report, item->fault, "expected ',' or ']' after an entry, found another one", "kept both");
    else
        tl_report_bad(report, item->fault, "expected ',' or ']' after an entry, found '}'", "kept the entry");
}

/* ----------------------------------------------------------------------------------------------------- all entries */

/* Drops all events and faults: the array read was not the trace's. */
static void restart(reading *r)
{
    const bool no_memory = r->trace->report.no_memory, over_limit = r->trace->report.over_limit;

    tl_trace_free(r->trace);
    *r->trace = (tl_trace)TL_TRACE_INIT;
    r->trace->report.no_memory = no_memory;
    r->trace->report.over_limit = over_limit;
    r->cut_at = UINT64_MAX;
    r->shape_rules.n = 0;
}

static void read_entries(reading *r, tl_source *source)
{
    tl_read_report *report = &r->trace->report;
    tl_split_item item;

    while (!report->no_memory) {
        switch (tl_split_next(&r->split, &item)) {
        case TL_SPLIT_MORE:
            if (r->options->tick != NULL)
                r->options->tick(r->options->tick_arg);
            (void)tl_split_read(&r->split, source, SIZE_MAX, &r->source_error);
            (void)tl_report_room(r->trace, &r->checked);
            break;
        case TL_SPLIT_ENTRY:
            add_entry(r, &item);
            break;
        case TL_SPLIT_BAD:
            report->dropped++;
            tl_report_bad(report, item.fault, "expected an entry of traceEvents, found something else",
                          "passed over it to the next entry");
            break;
        case TL_SPLIT_BROKEN:
            report_dropped(report, item.fault, NO_JSON);
            break;
        case TL_SPLIT_CUT:
            report->dropped++;
            r->cut_at = item.offset < r->cut_at ? item.offset : r->cut_at;
            r->cut_entries = r->split.nentries;
            break;
        case TL_SPLIT_TORN:
            tl_events_truncate(&r->trace->events, r->nevents);
            copy_counts(report, &r->before);
            report_dropped(report, item.fault, "expected ',' or ']' after an entry, found it torn");
            break;
        case TL_SPLIT_LOOSE:
            close_array(r, &item);
            break;
        case TL_SPLIT_RESTART:
            restart(r);
            break;
        case TL_SPLIT_END:
            return;
        }
    }
}

/* Returns the offset of the first byte that is read for the slice. */
static uint64_t first_byte(const tl_read_range *range)
{
    return range != NULL && range->from > LOOK_BACK ? range->from - LOOK_BACK : 0;
}

/* Completes the report at the end of the file. */
static void read_end(reading *r, const tl_source *source)
{
    tl_read_report *report = &r->trace->report;
    tl_error err = { 0 };

    if (!r->split.found)
        restart(r);
    report->text_bytes = first_byte(r->options->range) + tl_source_text_bytes(source);
    tl_report_end(report, &r->split, source, &r->source_error);
    /* More entries after one without an end: then the file is not truncated. */
    if (r->cut_at != UINT64_MAX && (!report->cut || r->split.nentries > r->cut_entries))
        tl_report_bad(report, r->cut_at, "expected the end of an entry, found the end of the file",
                      "dropped that entry");
    if (report->over_limit) {
        report->first_bad_byte = -1; /* only the end is reported */
        tl_report_bad(report, report->entries_end, TL_OVER_LIMIT, "kept every entry before it");
    } else if (report->cut)
        tl_report_bad(report, report->text_bytes, "expected the end of the document, found the end of the file",
                      "kept every whole entry before it");
    if (r->options->range != NULL) { /* the whole document is joined first */
        r->trace->doc = r->split.doc;
        r->trace->ndoc = r->split.ndoc;
        r->split.doc = NULL;
        r->split.ndoc = r->split.doc_cap = 0;
        return;
    }
    tl_status st = tl_document_read(&r->split, &r->trace->meta, &err);
    if (st != TL_OK && !report->cut && r->split.full_at == UINT64_MAX) {
        report->source_fault = true;
        tl_report_bad(report, 0, err.text, "kept what was read before it");
    }
    tl_report_meta(report, &r->trace->meta);
}

static tl_status read_trace(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    reading r = { .options = options,
                  .take = { options->keep, options->hook },
                  .trace = out,
                  .cut_at = UINT64_MAX,
                  .scratch.key_of = options->hook != NULL ? options->hook->key_of : NULL };
    const tl_read_range whole = { 0, UINT64_MAX }, *range = options->range != NULL ? options->range : &whole;
    tl_source *source;

    if (options->hook != NULL && options->range != NULL) /* slices are joined without the hook's data */
        return tl_fail(err, TL_EINTERNAL, "%s: a piece cannot be read with a hook", path);
    tl_status st = tl_source_open(path, &source, err);
    if (st != TL_OK)
        return st;
    tl_split_init(&r.split);
    r.split.stop_at = range->to;
    if (range->from > 0) {
        tl_split_begin_inside(&r.split, first_byte(range), (size_t)(range->from - first_byte(range)));
        st = tl_source_seek(source, first_byte(range), err);
    }
    if (!options->yajl_only) {
        r.split.probe = read_plain;
        r.split.probe_arg = &r;
    }
    if (st == TL_OK) {
        read_entries(&r, source);
        read_end(&r, source);
    }
    tl_source_close(source);
    tl_split_free(&r.split);
    tl_yajl_scratch_free(&r.scratch);
    tl_bytes_free(&r.repaired);
    free(r.shape_rules.v);

    const unsigned long long bytes = out->report.text_bytes;
    if (st == TL_OK && out->report.no_memory && (!out->report.over_limit || options->range != NULL))
        return tl_fail(err, TL_EINPUT, "%s: more than memory has room for, after %llu bytes of text", path, bytes);
    if (st == TL_OK && !out->report.has_events)
        return tl_fail(err, TL_EINPUT, "%s: expected traceEvents, found none in %llu bytes of text%s%s", path, bytes,
                       out->report.first_bad[0] ? "; " : "", out->report.first_bad);
    return st;
}

/* Accepts any file, as the last reader: its messages say best why a file is not a trace. */
static bool claims(const char *path, tl_text head)
{
    (void)path;
    (void)head;
    return true;
}

static const char *const endings[] = { ".json", ".json.gz", ".json.zst", NULL };

const tl_reader tl_kineto_reader = {
    .name = "kineto", .endings = endings, .claims = claims, .look = tl_kineto_look, .read = read_trace
};
