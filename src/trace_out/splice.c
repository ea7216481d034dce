/* splice.c - a copy of a trace with more events in it. */
#include "tlmpi/trace_out/splice.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK ((size_t)256 << 10)

/* The state of an edit within the entries. */
typedef struct editor {
    const tl_splice_edit *edit;
    uint64_t nentries; /* number of entries that have begun */
    tl_entry_fate fate;
    size_t depth;   /* number of open brackets, including the entry's own */
    size_t matched; /* number of characters that a string has in common with "args"; above 4: another string */
    bool in_string, escaped;
    bool is_args, colon; /* the previous string was "args"; a colon has followed */
    bool comma;          /* the mark has been written, and a comma is due where a member follows */
    bool any;            /* an entry has been written */
} editor;

typedef struct copying {
    const char *path;
    editor editor;
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

/* Processes a character outside of strings; returns whether it opens the args of an entry that is to be marked. */
static bool process_char(editor *e, char ch)
{
    bool opens_args = ch == '{' && e->depth == 1 && e->is_args && e->colon;

    e->colon = ch == ':' && e->is_args && !e->colon;
    e->is_args = e->colon;
    e->in_string = ch == '"';
    e->matched = 0;
    if (ch == '{' || ch == '[')
        e->depth++;
    else if (ch == '}' || ch == ']')
        e->depth--;
    return opens_args && e->fate == TL_ENTRY_MARKED;
}

static void take_in_string(editor *e, char ch)
{
    static const char word[] = "args";

    e->is_args = false;
    if (!e->escaped && ch == '"') {
        e->in_string = false;
        e->is_args = e->matched == sizeof word - 1 && e->depth == 1;
    } else {
        e->matched = e->matched < sizeof word - 1 && ch == word[e->matched] ? e->matched + 1 : sizeof word;
        e->escaped = !e->escaped && ch == '\\';
    }
}

/* Writes what the edit keeps of a part of the entries. */
static void edit_text(copying *c, const char *p, size_t n)
{
    editor *e = &c->editor;
    size_t from = 0; /* start of the text that is to be written */

    for (size_t i = 0; i < n; i++) {
        if (e->in_string) {
            take_in_string(e, p[i]);
            continue;
        }
        if (strchr(" \n\r\t", p[i]) != NULL && p[i] != '\0')
            continue;
        if (e->depth == 0) {
            from = i;
            if (p[i] != '{' && p[i] != '[')
                continue;
            e->fate = e->nentries < e->edit->n ? e->edit->fate[e->nentries] : TL_ENTRY_KEPT;
            e->nentries++;
            if (e->fate != TL_ENTRY_DROPPED)
                put(c->sink, e->any ? ",\n" : "\n");
            e->any = e->any || e->fate != TL_ENTRY_DROPPED;
        }
        if (e->comma && p[i] != '}') {
            (void)tl_sink_put(c->sink, p + from, i - from);
            put(c->sink, ", ");
            from = i;
        }
        e->comma = process_char(e, p[i]);
        if (e->comma || (e->depth == 0 && e->fate != TL_ENTRY_DROPPED)) {
            (void)tl_sink_put(c->sink, p + from, i + 1 - from);
            put(c->sink, e->comma ? e->edit->mark : "");
            from = i + 1;
        }
    }
    if (e->depth > 0 && e->fate != TL_ENTRY_DROPPED)
        (void)tl_sink_put(c->sink, p + from, n - from);
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
            if (c->editor.edit != NULL)
                edit_text(c, c->buf + c->used, n);
            if (!tl_sink_put(sink, c->buf + c->used, c->editor.edit == NULL ? n : 0))
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
        w.after_entry = c->editor.any;
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
    c->editor.edit = splice->edit;
    if (st == TL_OK)
        st = copy_to(c, splice->insert_at, sink, err);
    c->editor.edit = NULL;
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
    tl_source_close(c->source);
    free(c);
    return st;
}
