/* kineto_look.c - a quick look: is this file a trace, what is its rank, when did it begin?
 *
 *     head    the text up to the first entry that has a ts: enough for most traces, and cheap
 *     tail    the last bytes, where on-demand traces have distributedInfo and some traces baseTimeNanoseconds
 *     rest    the entries after the head, if neither has the rank: arguments of collectives may have it
 *
 * The first entry stands for the begin of the trace: entries are not in order of time, but runs are further apart than
 * that.
 */
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/event/values.h"
#include "tlmpi/trace/meta.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/source.h"
#include "tlmpi/trace/text/split.h"
#include <stdio.h>
#include <string.h>

#define HEAD_MAX         ((uint64_t)64 << 20)
#define HEAD_ENTRIES_MAX 10000u
#define BLOCK            ((size_t)64 << 10)
#define NO_JSON_MAX      ((uint64_t)1 << 20) /* bytes searched for traceEvents in a text that does not begin as JSON */

/* A ts from here on is Unix time (of 2001 or later); a smaller one counts from the base time. */
#define UNIX_TIME_NS INT64_C(1000000000000000000)

/* --------------------------------------------------------------------------------------------------------- an entry */

/* What the entries read so far have shown. */
typedef struct seen_so_far {
    bool has_first, first_is_event; /* of the first readable entry: an event has a ph */
    bool has_ts;
    int64_t ts_ns;      /* of the first entry with its own time */
    int64_t pid;        /* of the first entry of the host; 0: none */
    bool has_category;  /* some entry has a category of PyTorch's profiler */
    bool has_bare_work; /* some entry with a duration has a name and no category, unlike those of that profiler */
    char foreign[48];   /* first category of another program, printable; empty: none */
} seen_so_far;

/* Sets pid from an entry of the host: entries of a device have the device's number as pid, and others a word. */
static void set_pid(seen_so_far *seen, const tl_fields *f)
{
    const unsigned of_host = TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER) | TL_CAT_BIT(TL_CAT_CPU_OP) |
                             TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_PYTHON) |
                             TL_CAT_BIT(TL_CAT_INSTANT);
    const tl_value *cat = tl_fields_get(f, TL_KEY_CAT);

    if (seen->pid == 0 && cat != NULL && (of_host >> tl_cat_of(cat->text) & 1)) {
        int64_t pid = tl_value_int(tl_fields_get(f, TL_KEY_PID), 0);
        seen->pid = pid > 0 ? pid : 0;
    }
}

/* Flows, counters and metadata may have no category. */
static bool is_bare_work(const tl_fields *f)
{
    const tl_value *ph = tl_fields_get(f, TL_KEY_PH);
    return ph != NULL && (tl_text_is(ph->text, "X") || tl_text_is(ph->text, "B")) &&
           tl_fields_get(f, TL_KEY_NAME) != NULL;
}

static void add_category(seen_so_far *seen, const tl_fields *f)
{
    const tl_value *cat = tl_fields_get(f, TL_KEY_CAT);
    char text[sizeof seen->foreign];

    if (cat == NULL || cat->text.n == 0) {
        seen->has_bare_work = seen->has_bare_work || is_bare_work(f);
        return;
    }
    seen->has_category = seen->has_category || tl_cat_of(cat->text) != TL_CAT_OTHER;
    snprintf(text, sizeof text, "%.*s", cat->text.n < sizeof text ? (int)cat->text.n : (int)sizeof text, cat->text.p);
    if (seen->foreign[0] == '\0' && !seen->has_category)
        tl_printable(seen->foreign, sizeof seen->foreign, text);
}

/* Adds an entry.  Returns whether it is an event.  A metadata entry ("ph": "M") may have a ts, but not one of its
 * own. */
static bool see_entry(seen_so_far *seen, const tl_fields *f)
{
    const tl_value *ph = tl_fields_get(f, TL_KEY_PH), *ts = tl_fields_get(f, TL_KEY_TS);

    if (!seen->has_first)
        seen->first_is_event = ph != NULL;
    seen->has_first = true;
    set_pid(seen, f);
    add_category(seen, f);
    if (ph != NULL && !seen->has_ts && ts != NULL && !tl_text_is(ph->text, "M"))
        seen->has_ts = tl_value_us_to_ns(ts, &seen->ts_ns) && seen->ts_ns >= 0;
    return ph != NULL;
}

/* Whether the trace is another program's: no category is the profiler's, and a foreign category, or timed work without
 * a category, was seen. */
static bool is_foreign(const seen_so_far *seen)
{
    return (seen->foreign[0] != '\0' || seen->has_bare_work) && !seen->has_category;
}

/* Whether the begin is known and the events seen are the profiler's. */
static bool knows_enough(const seen_so_far *seen)
{
    return seen->has_ts && !is_foreign(seen);
}

/* Returns element `at` of a list such as "[0, 8, 16]"; -1: the list is shorter, or abridged ("...") before it. */
static int64_t number_at(tl_text list, int64_t at)
{
    int64_t number = -1;
    tl_text item;

    for (int64_t k = 0; k <= at; k++)
        if (!tl_text_next(&list, &item) || !tl_decimal_to_int(item.p, item.n, &number))
            return -1;
    return number;
}

/* Returns the global rank in the arguments of a collective: "Rank" is the index in "Process Group Ranks", or else
 * counts from "Global rank start" by "Global rank stride"; -1: none. */
static int64_t rank_of_entry(const tl_fields *f)
{
    int64_t place = tl_value_int(tl_fields_get(f, TL_KEY_GROUP_RANK), -1), rank;
    if (place < 0 || place > INT32_MAX)
        return -1;
    const tl_value *ranks = tl_fields_get(f, TL_KEY_PG_RANKS);
    rank = ranks != NULL ? number_at(ranks->text, place) : -1;
    if (rank >= 0)
        return rank;
    int64_t start = tl_value_int(tl_fields_get(f, TL_KEY_RANK_START), -1),
            stride = tl_value_int(tl_fields_get(f, TL_KEY_RANK_STRIDE), -1);
    return start < 0 || stride < 1 || start > INT32_MAX || stride > INT32_MAX ? -1 : start + place * stride;
}

/* Whether the text of an entry, not yet parsed, may be device work: it contains such a category in quotes. */
static bool may_be_device_work(tl_text entry)
{
    static const char *const categories[] = { "\"kernel\"",     "\"Kernel\"", "\"gpu_memcpy\"",     "\"Memcpy\"",
                                              "\"gpu_memset\"", "\"Memset\"", "\"mtia_ccp_events\"" };
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (tl_text_has(entry, categories[i]))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- a look */

typedef struct look {
    const char *path;
    bool should_be; /* a trace, by its name */
    tl_look *out;
    tl_source *source;
    tl_split split;
    tl_meta meta;
    tl_yajl_scratch scratch;
    tl_error fault;      /* the error that ended the bytes early */
    bool limit;          /* stopped at HEAD_MAX */
    seen_so_far seen;    /* from the entries read so far */
    const char *packing; /* compression besides gzip; NULL: none known */
} look;

/* ------------------------------------------------------------------------------------------------------------ head */

/* Passes the next block of text to the splitter; false if HEAD_MAX bytes have been read.  The first block determines
 * the file's origin: it is filled as far as there is text. */
static bool read_block(look *l)
{
    tl_origin *origin = &l->out->origin;
    const char *packed = tl_source_packing(l->source);

    l->limit = tl_source_text_bytes(l->source) >= HEAD_MAX;
    if (l->limit)
        return false;
    size_t n = tl_split_read(&l->split, l->source, BLOCK, &l->fault);
    if (tl_source_text_bytes(l->source) == n) {
        const char *text = l->split.buf + l->split.end - n;
        l->packing = tl_packing_of(text, n);
        origin->head = n > 0 ? tl_hash_bytes(text, n) | 1 : 0;
        origin->packing = packed != NULL ? tl_hash_bytes(packed, strlen(packed)) : 0;
        origin->extent = tl_source_extent(l->source);
    }
    return true;
}

/* Whether the text has two bytes per letter, in either order. */
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

/* Adds an entry.  Returns whether enough is known. */
static bool look_at_entry(look *l, tl_text text)
{
    tl_fields f;
    size_t ignored;

    if (knows_enough(&l->seen))
        return true;
    if (!tl_event_read_yajl(&l->scratch, text, &f, &ignored))
        return false;
    bool is_event = see_entry(&l->seen, &f);
    return is_event ? knows_enough(&l->seen) : l->split.bare;
}

/* Reads until enough is known; to the end if a nested array may turn out not to be the trace's. */
static void read_head(look *l)
{
    tl_split_item item;

    while (l->split.nentries < HEAD_ENTRIES_MAX || l->split.nested) {
        switch (tl_split_next(&l->split, &item)) {
        case TL_SPLIT_MORE:
            if ((begins_as_no_json(l) && tl_source_text_bytes(l->source) >= NO_JSON_MAX) || !read_block(l))
                return;
            break;
        case TL_SPLIT_ENTRY:
            if (look_at_entry(l, item.text) && !l->split.nested)
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
        case TL_SPLIT_RESTART: /* the entries seen belong to something other than a trace */
            l->seen = (seen_so_far){ 0 };
            break;
        case TL_SPLIT_END:
            if (!l->split.found)
                l->seen = (seen_so_far){ 0 };
            return;
        }
    }
}

/* Reads the entries after the head, up to HEAD_MAX, until arguments of a collective give the rank.  If all entries have
 * been seen, it is known whether any is device work. */
static void read_rest(look *l)
{
    bool device_work = false;
    tl_split_item item;
    tl_fields f;
    size_t ignored;

    while (l->meta.rank < 0) {
        tl_split_result kind = tl_split_next(&l->split, &item);
        if (kind == TL_SPLIT_ENTRY) {
            device_work = device_work || may_be_device_work(item.text);
            if (tl_text_has(item.text, "\"Rank\"") && tl_event_read_yajl(&l->scratch, item.text, &f, &ignored))
                l->meta.rank = rank_of_entry(&f);
        } else if (kind == TL_SPLIT_END) {
            l->out->origin.no_device_work = !device_work && l->split.complete;
            return;
        } else if (kind == TL_SPLIT_MORE && !read_block(l)) {
            return;
        }
    }
}

/* Whether keys of a trace have been seen. */
static bool has_begun(const look *l)
{
    return l->meta.ndevices >= 0 || l->meta.rank >= 0 || l->meta.world_size >= 0 || l->meta.has_base ||
           l->meta.has_trace_keys;
}

/* Whether the document has no entry, and no key of a trace's metadata. */
static bool is_empty_document(look *l)
{
    if (!l->split.complete || !l->split.found || l->split.nentries > 0)
        return false;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    return !has_begun(l);
}

/* Returns the kind of a text without traceEvents, up to its end or the search limit: a trace by its keys, or by the
 * file's name if more may follow. */
static tl_input_kind kind_by_keys(look *l)
{
    (void)tl_document_read(&l->split, &l->meta, NULL);
    return (l->should_be && !l->split.complete) || has_begun(l) ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER;
}

/* Sets kind and why, from the head. */
static void set_kind(look *l)
{
    const tl_split *s = &l->split;
    const tl_input_kind unlike =
        l->should_be ? TL_INPUT_UNREADABLE : TL_INPUT_OTHER; /* a trace from its first byte on */
    const unsigned long long bytes = tl_source_text_bytes(l->source);
    const char *around = tl_source_packing(l->source), *category = l->seen.foreign;
    char reason[192];

    if (l->packing != NULL) {
        snprintf(reason, sizeof reason, "expected a trace, found %s%s%s", around != NULL ? around : "",
                 around != NULL ? " with " : "", l->packing);
        tl_look_say(l->out, unlike, reason);
    } else if (is_empty_document(l)) {
        tl_look_say(l->out, unlike, "expected events in traceEvents, found none");
    } else if (is_foreign(&l->seen) && (s->complete || s->nentries >= HEAD_ENTRIES_MAX)) {
        snprintf(reason, sizeof reason, "expected events of PyTorch's profiler, found others (%s%s%s)",
                 category[0] != '\0' ? "category \"" : "without categories", category, category[0] != '\0' ? "\"" : "");
        tl_look_say(l->out, TL_INPUT_OTHER, reason);
    } else if ((s->found && !s->bare) || l->seen.first_is_event) {
        l->out->kind = TL_INPUT_TRACE;
    } else if (l->fault.status != TL_OK) {
        tl_look_say(l->out, TL_INPUT_UNREADABLE, tl_source_reason(l->source, &l->fault));
    } else if (s->bare) {
        tl_look_say(l->out, TL_INPUT_OTHER, "expected events, found an array of something else");
    } else if (s->ndoc == 0) {
        tl_look_say(l->out, TL_INPUT_UNREADABLE, "expected a trace, found an empty file");
    } else if (is_utf16(l)) {
        tl_look_say(l->out, unlike, "expected UTF-8, found UTF-16");
    } else if (begins_as_no_json(l)) {
        tl_look_say(l->out, unlike, "expected '{' or '[' at byte 0 of the text, found no JSON");
    } else if (s->complete || l->limit || s->fault_at != UINT64_MAX) {
        int n = snprintf(reason, sizeof reason, "expected traceEvents, found none in %llu bytes of text", bytes);
        if (s->fault_at != UINT64_MAX)
            snprintf(reason + n, sizeof reason - (size_t)n, "; byte %llu: %s", (unsigned long long)s->fault_at,
                     s->fault);
        else if (!s->complete)
            snprintf(reason + n, sizeof reason - (size_t)n, ", and searched no further");
        tl_look_say(l->out, kind_by_keys(l), reason);
    } else {
        snprintf(reason, sizeof reason, "cut short at byte %llu of the text, before any traceEvents", bytes);
        tl_look_say(l->out, kind_by_keys(l), reason);
    }
}

/* -------------------------------------------------------------------------------------------------- the whole look */

/* Returns the Unix time of the first entry, ns; -1: unknown. */
static int64_t begin_of(const look *l)
{
    int64_t begin;
    if (!l->seen.has_ts || __builtin_add_overflow(l->seen.ts_ns, l->meta.base_ns, &begin))
        return -1;
    return l->meta.has_base || begin >= UNIX_TIME_NS ? begin : -1;
}

/* Returns the group's mark; it does not depend on the order of members. */
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

static void fill_origin(look *l)
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

/* Reads the document again, now that the splitter has all of it; the rank from arguments counts if it has none. */
static void read_document_again(look *l)
{
    int64_t rank = l->meta.rank;
    tl_meta_free(&l->meta);
    l->meta = (tl_meta)TL_META_INIT;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    l->meta.rank = l->meta.rank >= 0 ? l->meta.rank : rank;
}

/* Reads the tail, then the rest.  The tail of an uncompressed file costs one read; a compressed one is inflated up to
 * there, and entries are seen on the way. */
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
    set_kind(l);
    if (l->out->kind != TL_INPUT_TRACE)
        return;
    (void)tl_document_read(&l->split, &l->meta, NULL);
    if (deep && (l->meta.rank < 0 || begin_of(l) < 0))
        look_deeper(l);
    l->out->rank = l->meta.rank;
    l->out->world_size = l->meta.world_size;
    l->out->begin_ns = begin_of(l);
    fill_origin(l);
}

void tl_kineto_look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    look l = { .path = path, .should_be = should_be, .out = out, .meta = TL_META_INIT };

    (void)head;
    tl_split_init(&l.split);
    if (tl_source_open(path, &l.source, &l.fault) == TL_OK)
        look_inside(&l, deep);
    else
        tl_look_say(out, TL_INPUT_UNREADABLE, tl_error_reason(&l.fault, path));
    tl_source_close(l.source);
    tl_split_free(&l.split);
    tl_meta_free(&l.meta);
    tl_yajl_scratch_free(&l.scratch);
}
