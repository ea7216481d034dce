/* splice.c - a copy of a trace with more events in it. */
#include "tlmpi/trace_out/splice.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/split.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK ((size_t)256 << 10)

typedef struct copying {
    const char *path;
    const tl_splice_edit *edit; /* NULL outside of the entries */
    tl_split split;             /* of the entries, if they are edited */
    bool any;                   /* an edited entry has been written */
    tl_source *source;
    tl_sink *sink;
    tl_error fault; /* the error that ended the text early */
    uint64_t at;    /* offset of buf[0] in the text */
    size_t n, used; /* bytes in buf; bytes of them that have been copied or skipped */
    char last;      /* the last byte copied other than white space */
    char buf[BLOCK];
} copying;

tl_splice tl_splice_of(const tl_read_report *r)
{
    tl_splice s = { .text_bytes = r->text_bytes, .copy_to = r->text_bytes, .position = TL_BEHIND_BEGIN };

    s.entries_at = r->array_begin;
    s.insert_at = r->array_begin;
    if (r->entries_end > r->array_begin) {
        s.position = TL_BEHIND_ENTRY;
        s.insert_at = r->entries_end;
    } else if (r->array_end != UINT64_MAX) {
        s.position = TL_BEFORE_END;
        s.insert_at = r->array_end;
    }
    if (s.position == TL_BEHIND_BEGIN && r->whole_to == 0)
        return s; /* the end of the last complete part is unknown: no byte is dropped */
    if (!r->closed) {
        s.copy_to = s.insert_at;
        snprintf(s.closing, sizeof s.closing, "\n%s\n", r->closing);
    } else if (r->cut && r->whole_to > 0) {
        s.copy_to = r->whole_to;
        snprintf(s.closing, sizeof s.closing, "%s\n", r->closing);
    }
    return s;
}

/* Reads the next block of text into the buffer, if that is used up.  Returns false at the end, which in a damaged file
 * is early. */
static bool refill(copying *c)
{
    if (c->used < c->n)
        return true;
    c->at += c->n;
    c->used = c->n = 0;
    return tl_source_read(c->source, c->buf, sizeof c->buf, &c->n, &c->fault) == TL_OK && c->n > 0;
}

static void note_last(copying *c, const char *p, size_t n)
{
    while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\n' || p[n - 1] == '\r' || p[n - 1] == '\t'))
        n--;
    if (n > 0)
        c->last = p[n - 1];
}

static tl_status fail_changed(const copying *c, tl_error *err)
{
    if (c->fault.status != TL_OK)
        return tl_fail(err, c->fault.status, "%s", c->fault.text);
    return tl_fail(err, TL_EINPUT, "%s: has changed since it was read, at byte %llu of the text", c->path,
                   (unsigned long long)(c->at + c->used));
}

static void put(tl_sink *sink, const char *word)
{
    (void)tl_sink_put(sink, word, strlen(word));
}

/* Writes what the edit keeps of an entry. */
static void put_entry(copying *c, const tl_split_item *item)
{
    const tl_splice_edit *edit = c->edit;
    const uint8_t fate = item->uid < edit->n ? edit->fate[item->uid] : TL_ENTRY_KEPT;
    const char *from = item->text.p, *end = from + item->text.n;

    if (fate == TL_ENTRY_DROPPED)
        return;
    put(c->sink, c->any ? ",\n" : "\n");
    c->any = true;
    const tl_text args = fate == TL_ENTRY_MARKED ? tl_json_value(item->text, "args") : TL_TEXT("");
    if (args.n > 1 && *args.p == '{') {
        const char *rest = args.p + 1, *member = rest + strspn(rest, " \n\r\t");
        (void)tl_sink_put(c->sink, from, (size_t)(rest - from));
        put(c->sink, edit->mark);
        (void)tl_sink_put(c->sink, rest, (size_t)(member - rest));
        put(c->sink, *member != '}' ? ", " : "");
        from = member;
    }
    (void)tl_sink_put(c->sink, from, (size_t)(end - from));
}

/* Writes what the edit keeps of the complete entries that the splitter has. */
static void put_entries(copying *c)
{
    tl_split_result found;
    tl_split_item item;

    while ((found = tl_split_next(&c->split, &item)) != TL_SPLIT_MORE && found != TL_SPLIT_END)
        if (found == TL_SPLIT_ENTRY)
            put_entry(c, &item);
}

/* Passes a part of the entries to the splitter. */
static void edit_text(copying *c, const char *p, size_t n)
{
    size_t room;

    for (size_t taken; n > 0; p += taken, n -= taken) {
        char *space = tl_split_space(&c->split, &room);
        taken = n < room ? n : room;
        memcpy(space, p, taken);
        tl_split_fill(&c->split, taken);
        put_entries(c);
    }
}

/* Copies, edits, or with `sink` NULL skips, the text up to an offset. */
static tl_status copy_to(copying *c, uint64_t to, tl_sink *sink, tl_error *err)
{
    while (c->at + c->used < to) {
        if (!refill(c))
            return fail_changed(c, err);
        uint64_t left = to - (c->at + c->used);
        size_t here = c->n - c->used, n = left < here ? (size_t)left : here;
        if (sink != NULL) {
            note_last(c, c->buf + c->used, n);
            if (c->edit != NULL)
                edit_text(c, c->buf + c->used, n);
            if (!tl_sink_put(sink, c->buf + c->used, c->edit == NULL ? n : 0))
                return tl_sink_end(sink, err);
        }
        c->used += n;
    }
    return TL_OK;
}

/* Returns whether the text at the position is what it was when the trace was read. */
static bool is_unchanged(copying *c, tl_splice_position position)
{
    if (position == TL_BEFORE_END)
        return refill(c) && c->buf[c->used] == ']';
    return position == TL_BEHIND_BEGIN || c->last == '}';
}

static tl_status add_events(copying *c, const tl_splice *splice, tl_splice_add *add, void *arg, uint64_t *nevents,
                            tl_error *err)
{
    tl_out_writer w = { .sink = c->sink, .after_entry = splice->position == TL_BEHIND_ENTRY };
    if (!is_unchanged(c, splice->position))
        return fail_changed(c, err);
    if (splice->position == TL_BEFORE_END) /* there may be text that is no entry */
        w.after_entry = c->last != '[' && c->last != ',';
    if (splice->edit != NULL)
        w.after_entry = c->any;
    tl_status st = add(arg, &w, err);
    if (w.nevents > 0 && splice->position == TL_BEFORE_END)
        (void)tl_sink_put(c->sink, "\n", 1);
    *nevents = w.nevents;
    return st;
}

tl_status tl_splice_copy(const char *path, const tl_splice *splice, tl_sink *sink, tl_splice_add *add, void *arg,
                         uint64_t *nevents, tl_error *err)
{
    uint64_t added = 0;
    copying *c = tl_calloc(1, sizeof *c);
    c->path = path;
    c->sink = sink;

    tl_status st = tl_source_open(path, &c->source, err);
    if (st == TL_OK)
        st = copy_to(c, splice->entries_at, sink, err);
    c->edit = splice->edit;
    tl_split_init(&c->split);
    if (c->edit != NULL)
        edit_text(c, "[", 1); /* the text of the entries as an array by itself */
    if (st == TL_OK)
        st = copy_to(c, splice->insert_at, sink, err);
    if (c->edit != NULL) {
        tl_split_eof(&c->split);
        put_entries(c);
    }
    c->edit = NULL;
    if (st == TL_OK)
        st = add_events(c, splice, add, arg, &added, err);
    if (st == TL_OK)
        st = copy_to(c, splice->copy_to, sink, err);
    if (st == TL_OK)
        (void)tl_sink_put(sink, splice->closing, strlen(splice->closing));
    if (st == TL_OK)
        st = copy_to(c, splice->text_bytes, NULL, err);
    if (st == TL_OK && refill(c))
        st = fail_changed(c, err);
    if (st == TL_OK)
        st = tl_sink_end(sink, err);
    if (nevents != NULL)
        *nevents = added;
    tl_split_free(&c->split);
    tl_source_close(c->source);
    free(c);
    return st;
}
