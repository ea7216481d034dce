/* phases.c - reads JSON lines of phases, each through the grammar. */
#include "tlmpi/trace/read/phases.h"
#include "formats.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/table.h"
#include "tlmpi/trace/text/grammar.h"
#include "tlmpi/trace/text/json.h"
#include "tlmpi/trace/text/source.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK ((size_t)256 << 10)

/* Largest length of a line; a record has some hundred bytes. */
#define LINE_MAX_BYTES ((size_t)1 << 20)

/* Largest duration of a phase, ns: a hundred days; a longer one is not a measurement. */
#define DURATION_MAX_NS (INT64_C(100) * 86400 * 1000000000)

typedef struct reading {
    void (*take)(void *arg, const tl_phase_record *record);
    void *arg;
    tl_side_file *row;
    int32_t named_rank;
    bool cut, fault; /* the last line is not whole; the compressed stream is damaged */
    tl_grammar grammar;
    tl_phase_record record; /* of the current line; step, rank, duration_ns -1: none that is valid */
    bool rank_told;
    tl_bytes name; /* empty: none */
} reading;

/* ----------------------------------------------------------------------------------------------------------- a line */

/* Returns the number; -1: not one from 0 to INT32_MAX. */
static int32_t int_of(tl_text text)
{
    int64_t value;
    return tl_decimal_to_int(text.p, text.n, &value) && value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

/* Reads a key.  Numbers in quotes count as numbers.  The hash of metadata does not depend on the order of keys. */
static void read_member(reading *r, tl_text key, tl_text value)
{
    tl_phase_record *record = &r->record;
    tl_text number = *value.p == '"' ? tl_json_string(value) : value;

    if (tl_text_is(key, "name")) {
        r->name.n = 0;
        tl_json_read_string(value, &r->name);
    } else if (tl_text_is(key, "step")) {
        record->step = int_of(number);
    } else if (tl_text_is(key, "rank")) {
        record->rank = int_of(number);
        r->rank_told = true;
    } else if (tl_text_is(key, "duration_ms")) {
        if (!tl_decimal_ms_to_ns(number.p, number.n, &record->duration_ns) || record->duration_ns < 0 ||
            record->duration_ns > DURATION_MAX_NS)
            record->duration_ns = -1;
    } else {
        record->metadata += tl_hash_mix(tl_hash_bytes(key.p, key.n), tl_hash_bytes(value.p, value.n)) | 1;
    }
}

/* Whether the line is one JSON object, or can be repaired to one. */
static bool parse(reading *r, tl_text line)
{
    tl_text key, value, rest;

    tl_grammar_reset(&r->grammar);
    if (*line.p != '{' || tl_grammar_run(&r->grammar, line.p, line.n) != line.n || !tl_grammar_is_over(&r->grammar))
        return false;
    r->name.n = 0;
    r->rank_told = false;
    r->record = (tl_phase_record){
        .step = -1, .rank = r->named_rank, .duration_ns = -1, .line = tl_hash_bytes(line.p, line.n)
    };
    rest = tl_json_inside(line);
    while (tl_json_member(&rest, &key, &value))
        read_member(r, key, value);
    return true;
}

static void lose_line(reading *r, uint64_t offset, const char *what)
{
    r->row->lost++;
    if (r->row->error[0] != '\0')
        return;
    snprintf(r->row->error, sizeof r->row->error, "byte %llu of the text: %s; left that line out",
             (unsigned long long)offset, what);
}

/* Reads a line.  at: its offset in the text; whole: it ends with an end of line. */
static void read_line(reading *r, tl_text line, uint64_t at, bool whole)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark, as some editors write it */
    tl_side_file *row = r->row;
    size_t skip = at == 0 && tl_text_starts(line, mark) ? sizeof mark - 1 : 0;

    while (line.n > skip && strchr("\r \t", line.p[line.n - 1]) != NULL && line.p[line.n - 1] != 0)
        line.n--;
    while (skip < line.n && strchr(" \t", line.p[skip]) != NULL) /* or 0: a hole left by a crash */
        skip++;
    line = (tl_text){ line.p + skip, line.n - skip };
    at += skip;
    if (line.n == 0)
        return;
    if (!parse(r, line)) {
        r->cut |= !whole;
        lose_line(r, at,
                  whole ? "expected a JSON object on a line" : "expected the rest of the last line, found the end");
    } else if (r->name.n == 0 || r->record.step < 0 || r->record.rank < 0) {
        lose_line(r, at,
                  r->name.n == 0       ? "expected a name of the phase"
                  : r->record.step < 0 ? "expected a step from 0 to 2147483647"
                  : r->rank_told       ? "expected a rank from 0 to 2147483647"
                                       : "expected a rank in the line, or in the file's name");
    } else if (r->record.duration_ns < 0) {
        lose_line(r, at, "expected a duration_ms from 0 to a hundred days");
    } else {
        row->rank = row->entries++ == 0 || row->rank == r->record.rank ? r->record.rank : -1;
        r->record.name = (tl_text){ r->name.v, r->name.n };
        r->take(r->arg, &r->record);
    }
}

/* ----------------------------------------------------------------------------------------------------------- a file */

/* Reads the lines of the source; a line too long for a record is dropped without being held. */
static void read_lines(reading *r, tl_source *source, char *buf, tl_error *fault)
{
    size_t held = 0, got = 1; /* held: bytes of a line that has begun */
    uint64_t at = 0;          /* offset of buf in the text */
    bool skipping = false;

    while (got > 0) {
        size_t from = 0;
        if (tl_source_read(source, buf + held, BLOCK, &got, fault) != TL_OK) {
            r->fault = true;
            got = 0;
        }
        size_t end = held + got;
        for (char *newline; (newline = memchr(buf + from, '\n', end - from)) != NULL;) {
            size_t n = (size_t)(newline - (buf + from));
            if (!skipping)
                read_line(r, (tl_text){ buf + from, n }, at + from, true);
            skipping = false;
            from += n + 1;
        }
        held = end - from;
        if (held > LINE_MAX_BYTES) {
            if (!skipping)
                lose_line(r, at + from, "expected a line of at most 1 MiB");
            skipping = true;
            from = end;
            held = 0;
        }
        if (held > 0 && from > 0)
            memmove(buf, buf + from, held);
        at += from;
    }
    if (held > 0 && !skipping)
        read_line(r, (tl_text){ buf, held }, at, false);
}

static tl_side_status status_of(const reading *r)
{
    const tl_side_file *row = r->row;
    if (row->entries + row->lost == 0 && !r->fault)
        return TL_SIDE_EMPTY;
    if (r->fault || row->lost > r->cut)
        return TL_SIDE_DAMAGED;
    return r->cut ? TL_SIDE_CUT : TL_SIDE_OK;
}

void tl_phases_read(const char *path, int32_t named_rank, void (*take)(void *arg, const tl_phase_record *record),
                    void *arg, tl_side_file *row)
{
    reading r = { .take = take, .arg = arg, .row = row, .named_rank = named_rank };
    tl_source *source = NULL;
    tl_error fault = { 0 };

    row->rank = -1;
    if (tl_source_open(path, &source, &fault) != TL_OK) {
        row->status = TL_SIDE_UNREADABLE;
        tl_cell_text(row->error, sizeof row->error, fault.text, strlen(fault.text));
        return;
    }
    char *buf = tl_malloc(LINE_MAX_BYTES + BLOCK + 1);
    read_lines(&r, source, buf, &fault);
    row->status = (uint8_t)status_of(&r);
    if (r.fault && row->error[0] == '\0') {
        snprintf(row->error, sizeof row->error, "%.200s; kept every whole line", tl_source_reason(source, &fault));
    } else if (row->status == TL_SIDE_EMPTY) {
        snprintf(row->error, sizeof row->error, "expected records of phases, found none");
    }
    tl_grammar_free(&r.grammar);
    tl_bytes_free(&r.name);
    free(buf);
    tl_source_close(source);
}

/* ------------------------------------------------------------------------------------------------------- the format */

static const char *const endings[] = { ".jsonl", ".jsonl.gz", ".jsonl.zst", NULL };

static bool claims(const char *path, tl_text head)
{
    (void)head;
    return tl_name_has_ending(path, endings);
}

/* Looks for duration_ms in the head of the file: JSON lines without it are another program's, unless the file's name
 * has a rank (should_be).  A file that cannot be opened, or is empty, passes; reading it reports the error. */
static void look(const char *path, tl_text head, bool deep, bool should_be, tl_look *out)
{
    (void)path;
    (void)deep;
    out->kind = TL_INPUT_PHASES;
    if (head.n > 0 && !should_be && !tl_text_has(head, "\"duration_ms\""))
        tl_look_say(out, TL_INPUT_OTHER, "expected JSON lines with duration_ms, found others");
}

const tl_reader tl_phases_reader = { .name = "jsonl",
                                     .kind = TL_INPUT_PHASES,
                                     .endings = endings,
                                     .by_name = true,
                                     .claims = claims,
                                     .look = look,
                                     .reason = "a file of phases, which holds no events" };
