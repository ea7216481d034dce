/* kineto_look.c - is this file a trace, what is its rank, when did it begin?
 *
 *     head    the text up to the first entry that has a ts: enough for most traces, and cheap
 *     tail    the last bytes, where on-demand traces have distributedInfo and some traces baseTimeNanoseconds
 *     rest    the entries after the head, where neither names the rank: arguments of collectives may
 *
 * The first entry stands for the begin of the trace: entries are not in order of time, but runs are further apart.
 */
#include "kineto.h"
#include "entry.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/trace/event/values.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/packing.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdio.h>
#include <string.h>

#define HEAD_MAX         ((uint64_t)64 << 20)
#define HEAD_ENTRIES_MAX 10000u
#define BLOCK            ((size_t)64 << 10)
#define NO_JSON_MAX      ((uint64_t)1 << 20) /* bytes searched for traceEvents in a text that begins as no JSON */

/* A ts from this on is Unix time (it is 2001 then); a smaller one counts from the base time. */
#define UNIX_TIME_NS INT64_C(1000000000000000000)

typedef struct look {
    const char *path;
    bool should_be; /* a trace, by its name */
    tl_look *out;
    tl_source *source;
    tl_split split;
    tl_meta meta;
    tl_yajl_scratch scratch;
    tl_error fault; /* what ended the bytes early */
    bool no_memory;
    bool limit;          /* stopped at HEAD_MAX */
    tl_seen seen;        /* what the entries read up to here show */
    const char *packing; /* what it is packed in besides gzip, NULL: nothing that is known */
} look;

/* The message of a source begins with the path. */
static void say_fault(const look *l)
{
    const char *text = l->fault.text;
    size_t n = strlen(l->path);
    bool has_path = strncmp(text, l->path, n) == 0 && text[n] == ':' && text[n + 1] == ' ';
    tl_look_say(l->out, TL_INPUT_UNREADABLE, text + (has_path ? n + 2 : 0));
}

static void say(const look *l, tl_input_kind kind, const char *reason)
{
    tl_look_say(l->out, kind, reason);
}

/* ------------------------------------------------------------------------------------------------------------ head */

/* The first block of text, which is as long as there is text for it. */
static void note_first(look *l, const char *text, size_t n)
{
    l->packing = tl_packing_of(text, n);
    l->out->origin.head = n > 0 ? tl_hash_bytes(text, n) | 1 : 0;
    const char *packed = tl_source_packing(l->source);
    l->out->origin.packing = packed != NULL ? tl_hash_bytes(packed, strlen(packed)) : 0;
    l->out->origin.extent = tl_source_extent(l->source);
}

/* The next block of text to the splitter, false at the end of the file or of our patience. */
static bool read_block(look *l)
{
    size_t cap, n = 0;
    char *space = tl_split_space(&l->split, &cap);

    if (space == NULL) {
        l->no_memory = true;
        return false;
    }
    l->limit = tl_source_text_bytes(l->source) >= HEAD_MAX;
    if (l->limit)
        return false;
    if (tl_source_read(l->source, space, cap < BLOCK ? cap : BLOCK, &n, &l->fault) != TL_OK)
        n = 0;
    if (tl_source_text_bytes(l->source) == n)
        note_first(l, space, n);
    tl_split_fill(&l->split, n);
    if (n == 0)
        tl_split_eof(&l->split);
    return true;
}

/* An execution trace has no traceEvents and may be large: the keys before them tell. */
static bool is_execution_trace(look *l)
{
    (void)tl_document_read(&l->split, &l->meta, NULL);
    return l->meta.has_schema && l->meta.has_nodes;
}

/* Two bytes a letter, either first. */
static bool is_utf16(const look *l)
{
    const char *doc = l->split.doc;
    return l->split.ndoc > 1 && ((strchr("{[", doc[0]) != NULL && doc[0] != 0 && doc[1] == 0) ||
                                 (doc[0] == 0 && (doc[1] == '{' || doc[1] == '[')));
}

static bool begins_as_no_json(const look *l)
{
    return !l->split.bare && l->split.ndoc > 0 && l->split.doc[0] != '{';
}

/* Whether enough is known. */
static bool take_entry(look *l, tl_text text)
{
    tl_fields f;
    size_t ignored;

    if (tl_seen_enough(&l->seen))
        return true;
    if (!tl_event_read_yajl(&l->scratch, text, &f, &ignored))
        return l->scratch.no_memory;
    bool is_event = tl_entry_see(&l->seen, &f);
    return is_event ? tl_seen_enough(&l->seen) : l->split.bare;
}

/* Forgets what the entries have shown: they belong to something other than a trace. */
static void forget_entries(look *l)
{
    l->seen = (tl_seen){ 0 };
}

/* Reads on until enough is known; to the end where a nested array may turn out to be none of a trace's. */
static void read_head(look *l)
{
    uint64_t next_check = (uint64_t)64 << 10;
    tl_split_item item;

    while (!l->no_memory && (l->split.nentries < HEAD_ENTRIES_MAX || l->split.nested)) {
        switch (tl_split_next(&l->split, &item)) {
        case TL_SPLIT_MORE:
            if ((begins_as_no_json(l) && tl_source_text_bytes(l->source) >= NO_JSON_MAX) || !read_block(l))
                return;
            if (!l->split.found && tl_source_text_bytes(l->source) >= next_check) {
                next_check *= 4;
                if (is_execution_trace(l))
                    return;
            }
            break;
        case TL_SPLIT_ENTRY:
            if (take_entry(l, item.text) && !l->split.nested)
                return;
            break;
        case TL_SPLIT_CUT:
            if (!l->seen.has_first)
                l->seen.first_is_event = tl_text_has(item.text, "\"ph\"");
            break;
        case TL_SPLIT_BAD:
        case TL_SPLIT_BROKEN:
            if (l->split.bare && !l->seen.has_first)
                return;
            break;
        case TL_SPLIT_TORN:
        case TL_SPLIT_LOOSE:
            break;
        case TL_SPLIT_RESTART:
            forget_entries(l);
            break;
        case TL_SPLIT_END:
            if (!l->split.found)
                forget_entries(l);
            return;
        case TL_SPLIT_NO_MEMORY:
            l->no_memory = true;
        }
    }
}

/* The entries after the head, up to HEAD_MAX: until arguments of a collective tell the rank.  Where all entries have been
 * seen, it is known whether any is device work. */
static void read_rest(look *l)
{
    bool device_work = false;
    tl_split_item item;
    tl_fields f;
    size_t ignored;

    while (!l->no_memory && l->meta.rank < 0) {
        tl_split_result kind = tl_split_next(&l->split, &item);
        if (kind == TL_SPLIT_ENTRY) {
            device_work = device_work || tl_entry_may_be_device_work(item.text);
            if (tl_text_has(item.text, "\"Rank\"") && tl_event_read_yajl(&l->scratch, item.text, &f, &ignored))
                l->meta.rank = tl_entry_rank(&f);
        } else if (kind == TL_SPLIT_END) {
            l->out->origin.no_device_work = !device_work && l->split.complete;
            return;
        } else if (kind == TL_SPLIT_NO_MEMORY || (kind == TL_SPLIT_MORE && !read_block(l))) {
            return;
        }
    }
}

/* Whether the keys of a trace have been seen. */
static bool has_begun(const look *l)
{
    return l->meta.ndevices >= 0 || l->meta.rank >= 0 || l->meta.world_size >= 0 || l->meta.has_base ||
           l->meta.has_trace_keys;
}

/* A document without any entry, and without a word of whose trace it is. */
static bool is_of_nobody(look *l)
{
    if (!l->split.complete || !l->split.found || l->split.nentries > 0)
        return false;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    return !has_begun(l);
}

/* An execution trace names the process that it is of, before its nodes: the text may end among these. */
static void note_process(look *l)
{
    const char *brace = memchr(l->split.doc, '{', l->split.ndoc);
    tl_text rest = { brace + 1, (size_t)(l->split.doc + l->split.ndoc - brace - 1) }, key, value;

    while (tl_json_member(&rest, &key, &value) && !tl_text_is(key, "pid"))
        ;
    if (!tl_text_is(key, "pid") || !tl_decimal_to_int(value.p, value.n, &l->out->origin.pid))
        l->out->origin.pid = 0;
}

/* What the head makes of the file: kind and why. */
static void judge(look *l)
{
    const tl_split *s = &l->split;
    char reason[192];

    if (l->no_memory || l->scratch.no_memory) {
        say(l, TL_INPUT_UNREADABLE, "memory is out");
    } else if (l->packing != NULL) {
        const char *around = tl_source_packing(l->source);
        snprintf(reason, sizeof reason, "expected a trace, found %s%s%s", around != NULL ? around : "",
                 around != NULL ? " with " : "", l->packing);
        say(l, l->should_be ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER, reason);
    } else if (is_of_nobody(l)) {
        say(l, l->should_be ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER, "expected events in traceEvents, found none");
    } else if (tl_seen_is_foreign(&l->seen) && (s->complete || s->nentries >= HEAD_ENTRIES_MAX)) {
        const char *category = l->seen.foreign;
        snprintf(reason, sizeof reason, "expected events of PyTorch's profiler, found others (%s%s%s)",
                 category[0] != '\0' ? "category \"" : "without categories", category, category[0] != '\0' ? "\"" : "");
        say(l, TL_INPUT_OTHER, reason);
    } else if ((s->found && !s->bare) || l->seen.first_is_event) {
        l->out->kind = TL_INPUT_TRACE;
    } else if (l->fault.status != TL_ENOMEM && !s->bare && !begins_as_no_json(l) && is_execution_trace(l)) {
        say(l, TL_INPUT_EXECUTION, "an execution trace (schema, nodes), which holds no times of devices");
        note_process(l);
    } else if (l->fault.status != TL_OK) {
        say_fault(l);
    } else if (s->bare) {
        say(l, TL_INPUT_OTHER, "expected events, found an array of something else");
    } else if (s->ndoc == 0) {
        say(l, TL_INPUT_UNREADABLE, "expected a trace, found an empty file");
    } else if (is_utf16(l)) {
        say(l, l->should_be ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER, "expected UTF-8, found UTF-16");
    } else if (begins_as_no_json(l)) {
        say(l, l->should_be ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER,
            "expected '{' or '[' at byte 0 of the text, found no JSON");
    } else if (s->complete || l->limit || s->fault_at != UINT64_MAX) {
        int n = snprintf(reason, sizeof reason, "expected traceEvents, found none in %llu bytes of text",
                         (unsigned long long)tl_source_text_bytes(l->source));
        if (s->fault_at != UINT64_MAX)
            snprintf(reason + n, sizeof reason - (size_t)n, "; byte %llu: %s", (unsigned long long)s->fault_at,
                     s->fault);
        else if (!s->complete)
            snprintf(reason + n, sizeof reason - (size_t)n, ", and searched no further");
        say(l, !s->complete && (l->should_be || has_begun(l)) ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER, reason);
    } else {
        snprintf(reason, sizeof reason, "cut short at byte %llu of the text, before any traceEvents",
                 (unsigned long long)tl_source_text_bytes(l->source));
        say(l, l->should_be || has_begun(l) ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER, reason);
    }
}

/* -------------------------------------------------------------------------------------------------- the whole look */

/* Unix time of the first entry, or -1. */
static int64_t begin_of(const look *l)
{
    int64_t begin;
    if (!l->seen.has_ts || __builtin_add_overflow(l->seen.ts_ns, l->meta.base_ns, &begin))
        return -1;
    return l->meta.has_base || begin >= UNIX_TIME_NS ? begin : -1;
}

/* The group's mark; of members in whichever order the same. */
static tl_group_mark mark_of(const tl_pg_config *group)
{
    const char *name = group->name != NULL ? group->name : "";
    tl_group_mark mark = { .key = tl_hash_bytes(name, strlen(name)) };
    int32_t first = group->ranks[0];

    for (size_t i = 0; i < group->nranks; i++) {
        first = group->ranks[i] < first ? group->ranks[i] : first;
        mark.members += tl_hash_mix(0, (uint64_t)group->ranks[i]);
    }
    mark.key = tl_hash_mix(mark.key, (uint64_t)first);
    return mark;
}

static void note_origin(look *l)
{
    tl_origin *o = &l->out->origin;

    o->pid = l->seen.pid;
    o->gpu = l->meta.device[0] != 0 ? tl_hash_bytes(l->meta.device, strlen(l->meta.device)) | 1 : 0;
    snprintf(o->host, sizeof o->host, "%.*s", (int)sizeof o->host - 1, l->meta.host);
    for (size_t i = 0; i < l->meta.groups.n && o->ngroups < TL_GROUP_MARKS; i++) {
        const tl_pg_config *group = &l->meta.groups.v[i];
        if (group->nranks > 0 && (int64_t)group->nranks != l->meta.world_size)
            o->groups[o->ngroups++] = mark_of(group);
    }
}

static void read_tail(look *l)
{
    tl_tail_read(l->path, l->source, (tl_text){ l->split.buf + l->split.at, l->split.end - l->split.at }, &l->meta);
}

/* The document anew, now that the splitter has all of it; the rank of some arguments counts where it names none. */
static void read_document_again(look *l)
{
    int64_t rank = l->meta.rank;
    tl_meta_free(&l->meta);
    l->meta = (tl_meta)TL_META_INIT;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    l->meta.rank = l->meta.rank >= 0 ? l->meta.rank : rank;
}

/* The tail of a plain file costs one read; a packed one is inflated up to there, and entries are seen on the way. */
static void look_deeper(look *l)
{
    bool packed = tl_source_packing(l->source) != NULL, bare = l->split.bare;

    if (!packed && !bare && !l->split.complete)
        read_tail(l);
    if (l->meta.rank < 0)
        read_rest(l);
    if (l->split.complete && !bare)
        read_document_again(l);
    else if (packed && !bare)
        read_tail(l);
}

static void look_inside(look *l, bool deep)
{
    read_head(l);
    judge(l);
    if (l->out->kind != TL_INPUT_TRACE)
        return;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    if (deep && (l->meta.rank < 0 || begin_of(l) < 0))
        look_deeper(l);
    l->out->rank = l->meta.rank;
    l->out->world_size = l->meta.world_size;
    l->out->begin_ns = begin_of(l);
    note_origin(l);
}

void tl_kineto_look(const char *path, bool deep, bool should_be, tl_look *out)
{
    look l = { .path = path, .should_be = should_be, .out = out, .meta = TL_META_INIT };

    tl_split_init(&l.split);
    if (tl_source_open(path, &l.source, &l.fault) == TL_OK)
        look_inside(&l, deep);
    else
        say_fault(&l);
    tl_source_close(l.source);
    tl_split_free(&l.split);
    tl_meta_free(&l.meta);
    tl_yajl_scratch_free(&l.scratch);
}
