/* jsonl.c - JSON lines of phases: each line through yajl, and where that refuses it once more after a repair. */
#include "jsonl.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/read/phases.h"
#include "tlmpi/trace/text/repair.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define BLOCK ((size_t)256 << 10)

/* A record is some hundred bytes. */
#define LINE_MAX_BYTES ((size_t)1 << 20)

/* A longer phase is no measurement: a hundred days. */
#define DURATION_MAX_NS (INT64_C(100) * 86400 * 1000000000)

typedef enum key { KEY_NAME, KEY_STEP, KEY_RANK, KEY_DURATION, NKEYS, KEY_OTHER = NKEYS } key;
static const char *const key_words[NKEYS] = { "name", "step", "rank", "duration_ms" };

/* What a line says of one of the keys. */
typedef enum told { TOLD_NOTHING, TOLD_WELL, TOLD_WRONG } told;

typedef struct reading {
    void (*take)(void *arg, const tl_phase_record *record);
    void *arg;
    tl_phases_report *report;
    bool no_memory;

    yajl_handle yajl; /* NULL: a new one is needed */
    unsigned depth;
    bool object;    /* something of the line has been opened and closed */
    bool several;   /* ... and was no object, or not all that the line has */
    key key;        /* of the value to come */
    uint64_t other; /* running hash over the metadata's key and value */
    told told[NKEYS];
    tl_phase_record record;
    char *name, *repaired;
    size_t nname, name_cap, repaired_cap;
} reading;

/* ----------------------------------------------------------------------------------------------- yajl's callbacks */

/* Metadata may come in any order of keys. */
static void end_value(reading *r)
{
    if (r->depth == 1 && r->key == KEY_OTHER)
        r->record.metadata += r->other | 1;
}

static void mix(reading *r, char kind, const char *p, size_t n)
{
    r->other = tl_hash_mix(tl_hash_mix(r->other, (uint64_t)kind), tl_hash_bytes(n > 0 ? p : "", n));
}

static bool take_int(const char *p, size_t n, int32_t *out)
{
    int64_t value;
    bool well = tl_decimal_to_int(p, n, &value) && value >= 0 && value <= INT32_MAX;
    *out = well ? (int32_t)value : -1;
    return well;
}

/* kind: '"' a text, '0' a number, else neither.  Numbers in quotes are numbers. */
static int take_value(reading *r, char kind, const char *p, size_t n)
{
    bool well = false, scalar = kind == '"' || kind == '0';

    if (r->depth == 0) {
        r->several = true;
        return 1;
    }
    if (r->depth > 1 || r->key == KEY_OTHER) {
        mix(r, kind, p, n);
        end_value(r);
        return 1;
    }
    switch (r->key) {
    case KEY_NAME:
        well = kind == '"' && n > 0;
        if (well)
            tl_grow((void **)&r->name, &r->name_cap, n, 1);
        r->no_memory = r->no_memory || (kind == '"' && n > 0 && !well);
        r->nname = well ? n : 0;
        if (well)
            memcpy(r->name, p, n);
        break;
    case KEY_STEP:
        well = scalar && take_int(p, n, &r->record.step);
        break;
    case KEY_RANK:
        well = scalar && take_int(p, n, &r->record.rank);
        break;
    case KEY_DURATION:
        well = scalar && tl_decimal_ms_to_ns(p, n, &r->record.duration_ns) && r->record.duration_ns >= 0 &&
               r->record.duration_ns <= DURATION_MAX_NS;
        break;
    case KEY_OTHER:
        break;
    }
    r->told[r->key] = well ? TOLD_WELL : TOLD_WRONG;
    return !r->no_memory;
}

static int on_null(void *ctx)
{
    return take_value(ctx, 'n', NULL, 0);
}

static int on_boolean(void *ctx, int value)
{
    return take_value(ctx, value ? 't' : 'f', NULL, 0);
}

static int on_number(void *ctx, const char *p, size_t n)
{
    return take_value(ctx, '0', p, n);
}

static int on_string(void *ctx, const unsigned char *p, size_t n)
{
    return take_value(ctx, '"', (const char *)p, n);
}

static int on_key(void *ctx, const unsigned char *p, size_t n)
{
    reading *r = ctx;
    if (r->depth > 1) {
        mix(r, ':', (const char *)p, n);
        return 1;
    }
    r->key = KEY_OTHER;
    for (int k = 0; k < NKEYS; k++)
        if (n == strlen(key_words[k]) && memcmp(p, key_words[k], n) == 0)
            r->key = (key)k;
    r->other = r->key == KEY_OTHER ? tl_hash_bytes(n > 0 ? (const char *)p : "", n) : 0;
    return 1;
}

static int on_open(reading *r, bool object)
{
    if (r->depth == 0) {
        r->several |= r->object || !object;
    } else if (r->depth == 1 && r->key != KEY_OTHER) {
        r->told[r->key] = TOLD_WRONG;
    } else {
        mix(r, object ? '{' : '[', NULL, 0);
    }
    r->depth++;
    return 1;
}

static int on_start_map(void *ctx)
{
    return on_open(ctx, true);
}

static int on_start_array(void *ctx)
{
    return on_open(ctx, false);
}

static int on_end(void *ctx)
{
    reading *r = ctx;
    r->depth--;
    if (r->depth > 0)
        mix(r, ']', NULL, 0);
    end_value(r);
    r->object = r->object || r->depth == 0;
    return 1;
}

/* ------------------------------------------------------------------------------------------------------------ a line */

/* Whether the line is one JSON object.  yajl reads one after the other with one handle, as long as all are well. */
static bool parse(reading *r, const char *text, size_t n)
{
    static const yajl_callbacks callbacks = { on_null,      on_boolean, NULL,   NULL,           on_number, on_string,
                                              on_start_map, on_key,     on_end, on_start_array, on_end };

    r->depth = 0;
    r->object = r->several = false;
    r->key = KEY_OTHER;
    memset(r->told, 0, sizeof r->told);
    r->record = (tl_phase_record){ .step = -1, .rank = -1 };
    if (r->yajl == NULL) {
        yajl_alloc_funcs memory = { tl_mem_get, tl_mem_resize, tl_mem_drop, NULL };
        r->yajl = yajl_alloc(&callbacks, &memory, r);
        yajl_config(r->yajl, yajl_allow_multiple_values, 1);
    }
    bool well = yajl_parse(r->yajl, (const unsigned char *)text, n) == yajl_status_ok && r->depth == 0 && r->object &&
                !r->several;
    if (!well) {
        yajl_free(r->yajl);
        r->yajl = NULL;
    }
    return well;
}

static bool parse_repaired(reading *r, const char *text, size_t n)
{
    if (r->no_memory || text[0] != '{' || text[n - 1] != '}')
        return false;
    tl_grow((void **)&r->repaired, &r->repaired_cap, 4 * n, 1);
    return parse(r, r->repaired, tl_repair_json(text, n, r->repaired));
}

static void say_bad(reading *r, uint64_t offset, const char *what)
{
    if (r->report->first_bad_byte >= 0)
        return;
    r->report->first_bad_byte = (int64_t)offset;
    snprintf(r->report->first_bad, sizeof r->report->first_bad, "byte %llu of the text: %s; left that line out",
             (unsigned long long)offset, what);
}

/* at: where it begins in the text.  whole: an end of line stands after it. */
static void take_line(reading *r, const char *text, size_t n, uint64_t at, bool whole)
{
    static const char mark[] = "\xef\xbb\xbf"; /* that the text is UTF-8, as some editors put before it */
    if (at == 0 && n >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        n -= sizeof mark - 1;
        at = sizeof mark - 1;
    }
    while (n > 0 && (text[n - 1] == '\r' || text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    for (; n > 0 && (*text == ' ' || *text == '\t' || *text == '\0'); n--, at++) /* 0: a hole that a crash has left */
        text++;
    if (n == 0)
        return;
    r->report->lines++;
    if (!parse(r, text, n) && !parse_repaired(r, text, n)) {
        r->report->cut = r->report->cut || !whole;
        r->report->no_json++;
        say_bad(r, at,
                whole ? "expected a JSON object on a line" : "expected the rest of the last line, found the end");
        return;
    }
    if (r->told[KEY_NAME] != TOLD_WELL || r->told[KEY_STEP] != TOLD_WELL || r->told[KEY_RANK] == TOLD_WRONG) {
        r->report->no_key++;
        say_bad(r, at,
                r->told[KEY_NAME] != TOLD_WELL   ? "expected a name of the phase"
                : r->told[KEY_STEP] != TOLD_WELL ? "expected a step from 0 to 2147483647"
                                                 : "expected a rank from 0 to 2147483647");
        return;
    }
    if (r->told[KEY_DURATION] != TOLD_WELL) {
        r->report->no_duration++;
        say_bad(r, at, "expected a duration_ms from 0 to a hundred days");
        return;
    }
    r->report->records++;
    r->record.name = (tl_text){ r->name, r->nname };
    r->record.line = tl_hash_bytes(text, n);
    if (!r->no_memory)
        r->take(r->arg, &r->record);
}

/* ------------------------------------------------------------------------------------------------------------ a file */

/* Lines of the source; one too long to be a record is lost without being held. */
static void read_lines(reading *r, tl_source *source, char *buf, tl_error *fault)
{
    size_t held = 0, got = 1; /* of a line that has begun */
    uint64_t at = 0;          /* of buf in the text */
    bool skipping = false;

    while (!r->no_memory && got > 0) {
        size_t from = 0;
        if (tl_source_read(source, buf + held, BLOCK, &got, fault) != TL_OK) {
            r->report->fault = true;
            got = 0;
        }
        size_t end = held + got;
        for (char *newline; !r->no_memory && (newline = memchr(buf + from, '\n', end - from)) != NULL;) {
            size_t n = (size_t)(newline - (buf + from));
            if (!skipping)
                take_line(r, buf + from, n, at + from, true);
            skipping = false;
            from += n + 1;
        }
        held = end - from;
        if (held > LINE_MAX_BYTES) {
            r->report->lines += !skipping;
            r->report->no_json += !skipping;
            if (!skipping)
                say_bad(r, at + from, "expected a line of at most 1 MiB");
            skipping = true;
            from = end;
            held = 0;
        }
        if (held > 0 && from > 0)
            memmove(buf, buf + from, held);
        at += from;
    }
    if (held > 0 && !skipping && !r->no_memory)
        take_line(r, buf, held, at, false);
}

tl_status tl_phases_read(const char *path, void (*take)(void *arg, const tl_phase_record *record), void *arg,
                         tl_phases_report *out, tl_error *err)
{
    reading r = { .take = take, .arg = arg, .report = out };
    tl_source *source = NULL;
    tl_error fault = { 0 };

    *out = (tl_phases_report){ .first_bad_byte = -1 };
    tl_status st = tl_source_open(path, &source, err);
    if (st != TL_OK)
        return st;
    char *buf = tl_malloc(LINE_MAX_BYTES + BLOCK + 1);
    r.no_memory = false;
    read_lines(&r, source, buf, &fault);
    out->file_bytes = (int64_t)tl_source_file_size(source);
    if (out->fault && out->first_bad_byte < 0) {
        out->first_bad_byte = (int64_t)tl_source_text_bytes(source);
        snprintf(out->first_bad, sizeof out->first_bad, "%.200s; kept every whole line",
                 tl_source_reason(source, &fault));
    }
    if (r.yajl != NULL)
        yajl_free(r.yajl);
    free(r.name);
    free(r.repaired);
    free(buf);
    tl_source_close(source);
    return r.no_memory ? tl_fail_memory(err, path) : TL_OK;
}

/* ---------------------------------------------------------------------------------------------------------- the format */

static const char *const endings[] = { ".jsonl", ".jsonl.gz", ".jsonl.zst", NULL };

static bool claims(const char *path, tl_text head)
{
    (void)head;
    return tl_name_has_ending(path, endings);
}

/* Looks for a duration_ms in the head of the file: JSON lines without one are another program's, unless the file's name
 * tells a rank (should_be).  A file that cannot be opened, or is empty, passes; reading it reports that. */
static void look(const char *path, bool deep, bool should_be, tl_look *out)
{
    char head[4096];
    size_t n = 0;

    (void)deep;
    out->kind = TL_INPUT_PHASES;
    if (tl_source_head(path, head, sizeof head, &n) && n > 0 && !should_be &&
        !tl_text_has((tl_text){ head, n }, "\"duration_ms\""))
        tl_look_say(out, TL_INPUT_OTHER, "expected JSON lines with duration_ms, found others");
}

static tl_status refuse(const char *path, const tl_read_options *options, tl_trace *out, tl_error *err)
{
    (void)options;
    return tl_trace_refuse(path, "a file of phases, which holds no events", out, err);
}

const tl_reader tl_jsonl_reader = { .name = "jsonl",
                                    .kind = TL_INPUT_PHASES,
                                    .endings = endings,
                                    .by_name = true,
                                    .claims = claims,
                                    .look = look,
                                    .read = refuse };
