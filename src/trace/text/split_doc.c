/* split_doc.c - reads the text around the array, which is small, byte by byte.
 *
 *     DOC    while the text is JSON; the array is the value of the document's key traceEvents
 *     LOST   after an invalid byte: quotes and brackets no longer count, only keys do
 *
 *     {"schemaVersion": 1, "note": "un"quoted", "traceEvents": [ {...}, {...} ], "traceName": "t"}   ,{...}, {...} ]}
 *     DOC ----------------------------^ LOST                  ^               ^ DOC               ^  ^ LOST: entries
 */
#include "internal.h"
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------- faults */

static uint64_t offset_of(const tl_split *s, size_t i)
{
    return s->base + i;
}

/* Keeps the first fault of the document. */
static void note_fault(tl_split *s, uint64_t at, const char *expected, const char *found)
{
    if (at >= s->fault_at)
        return;
    s->fault_at = at;
    snprintf(s->fault, sizeof s->fault, "expected %s, found %s", expected, found);
}

static void note_byte(tl_split *s, const char *expected)
{
    unsigned char c = (unsigned char)s->buf[s->scan];
    char found[16];

    snprintf(found, sizeof found, c > ' ' && c < 0x7f ? "'%c'" : "byte 0x%02x", (unsigned)c);
    note_fault(s, offset_of(s, s->scan), expected, found);
}

/* In a document that is not closed, a key of the document that is nested too deep shows where a bracket is missing. */
static void note_unclosed(tl_split *s)
{
    if (s->misplaced_at == UINT64_MAX)
        return;
    note_fault(s, s->misplaced_at, "a closing bracket", "a key of the document");
    s->nested = false;
}

/* Ends valid JSON at scan, where `expected` is missing, and goes to state LOST. */
static int go_lost(tl_split *s, const char *expected)
{
    note_byte(s, expected);
    if (s->nested)
        note_unclosed(s);
    s->complete = false;
    s->state = LOST;
    s->at = s->scan;
    s->restart_at = tl_split_restart_near(s, s->scan, s->scan > LOOK_BEHIND ? s->scan - LOOK_BEHIND : 0);
    return STEP_ON;
}

/* -------------------------------------------------------------------------------------------------------- the text */

/* Appends c, in place of the byte at scan, to the text around the array; drops it above TL_DOC_MAX bytes. */
static void append_to_doc(tl_split *s, char c)
{
    if (s->ndoc >= TL_DOC_MAX) {
        s->full_at = s->full_at == UINT64_MAX ? offset_of(s, s->scan) : s->full_at;
        return;
    }
    if (s->ndoc == s->doc_cap)
        tl_grow((void **)&s->doc, &s->doc_cap, s->ndoc + 1, 1);
    s->doc[s->ndoc++] = c;
}

static void keep_byte(tl_split *s)
{
    char c = s->buf[s->scan];

    if (!tl_split_is_space(c))
        s->solid = c;
    append_to_doc(s, c);
    s->scan++;
}

/* ------------------------------------------------------------------------------------------------ where it is JSON */

void tl_split_enter_array(tl_split *s)
{
    const char *way = s->bare ? "[" : "{\"\":[";

    tl_grammar_reset(&s->outer);
    (void)tl_grammar_run(&s->outer, way, strlen(way));
}

static int begin_array(tl_split *s)
{
    bool restart = s->nested;

    s->found = true;
    s->closed = s->nested = false;
    s->array_begin = s->whole_to = offset_of(s, s->scan);
    s->whole_depth = s->outer.depth;
    s->array_end = UINT64_MAX;
    s->state = GAP;
    s->after = AFTER_NOTHING;
    s->at = s->scan;
    s->nkey = 0;
    if (restart) {
        s->nentries = 0;
        s->first_entry = UINT64_MAX;
    }
    return restart ? TL_SPLIT_RESTART : STEP_ON;
}

void tl_split_end_array(tl_split *s)
{
    note_byte(s, "']'");
    if (s->outer.depth == 0)
        tl_split_enter_array(s);
    for (const char *c = "],"; *c != 0; c++) {
        (void)tl_grammar_step(&s->outer, *c);
        append_to_doc(s, *c);
    }
    s->closed = true;
    s->state = DOC;
}

/* Handles an outermost '['.  If a document follows, the '[' is an extra byte. */
static int begin_bare(tl_split *s)
{
    if (!tl_split_sees(s, s->scan))
        return STEP_MORE;
    size_t to = tl_split_horizon(s, s->scan), next = tl_split_skip(s, s->scan + 1, to);
    if (next < to && s->buf[next] == '{' && tl_split_key_at(s, next + 1, to, tl_document_keys) == TL_SIGHT_YES) {
        note_byte(s, "'{'");
        s->scan++;
        return STEP_ON;
    }
    s->bare = true;
    s->scan++;
    tl_split_enter_array(s);
    return begin_array(s);
}

static bool key_is(const tl_split *s, const char *word)
{
    size_t n = strlen(word);
    return s->nkey == n && memcmp(s->key, word, n) == 0;
}

/* Whether a key of the document may have a value that begins with c. */
static bool is_of_document(const tl_split *s, char c)
{
    static const struct {
        const char *key, *begins;
    } words[] = {
        { "traceEvents", "[" },      { "distributedInfo", "{" },        { "baseTimeNanoseconds", "\"0123456789" },
        { "deviceProperties", "[" }, { "schemaVersion", "0123456789" }, { "displayTimeUnit", "\"" },
        { "traceName", "\"" },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (key_is(s, words[i].key))
            return strchr(words[i].begins, c) != NULL;
    return false;
}

/* Handles the first byte of a member's value. */
static int value_has_begun(tl_split *s, char c)
{
    bool bracket = c == '[' || c == '{';
    uint64_t depth = s->outer.depth - bracket;
    bool events = c == '[' && key_is(s, "traceEvents");

    if (depth == 1 && key_is(s, "baseTimeNanoseconds"))
        s->base_at = offset_of(s, s->scan - 1);
    if (depth != 1 && s->misplaced_at == UINT64_MAX && is_of_document(s, c))
        s->misplaced_at = s->key_at;
    if (events && depth == 1) {
        s->misplaced_at = UINT64_MAX; /* all brackets before it are balanced */
        return begin_array(s);
    }
    if (events && !s->found) {
        (void)begin_array(s);
        s->nested = true;
    }
    return STEP_ON;
}

/* Replaces \u00XX of an ASCII character at the end of the key by the character. */
static void decode_key_end(tl_split *s)
{
    char end[7], *stop;

    if (s->nkey < 6 || s->nkey > sizeof s->key || (s->nkey > 6 && s->key[s->nkey - 7] == '\\'))
        return;
    memcpy(end, s->key + s->nkey - 6, 6);
    end[6] = '\0';
    unsigned long c = strtoul(end + 4, &stop, 16);
    if (strncmp(end, "\\u00", 4) != 0 || stop != end + 6 || c >= 0x80)
        return;
    s->nkey -= 5;
    s->key[s->nkey - 1] = (char)c;
}

/* Collects the bytes of a key; those that do not fit are dropped. */
static void follow_key(tl_split *s, tl_grammar_state before, char c)
{
    if (s->outer.state == TL_IN_STRING && (before == TL_WANT_FIRST_KEY || before == TL_WANT_KEY)) {
        s->nkey = 0;
        s->key_at = offset_of(s, s->scan - 1);
    } else if (s->outer.key && (s->outer.state == TL_IN_STRING || s->outer.state == TL_IN_ESCAPE)) {
        if (s->nkey < sizeof s->key)
            s->key[s->nkey] = c;
        s->nkey += s->nkey <= sizeof s->key;
        decode_key_end(s);
    }
}

/* Whether the key is traceEvents except for one place where letters are missing or extra. */
static bool is_like_events(const tl_split *s)
{
    static const char word[] = "traceEvents";
    const size_t n = sizeof word - 1, lost = 2, more = 4;
    size_t same = 0, same_end = 0;

    if (s->nkey + lost < n || s->nkey > n + more)
        return false;
    while (same < n && same < s->nkey && s->key[same] == word[same])
        same++;
    while (same_end < n - same && same_end < s->nkey - same && s->key[s->nkey - 1 - same_end] == word[n - 1 - same_end])
        same_end++;
    return same + same_end + lost >= n;
}

/* Whether entries begin at scan although traceEvents has lost its bracket, or letters; moves scan to the first
 * entry. */
static bool begins_damaged(tl_split *s, char c)
{
    static const char *const ph[] = { "ph", NULL };
    size_t to = tl_split_horizon(s, s->scan), next = c == '[' ? tl_split_skip(s, s->scan + 1, to) : s->scan;
    bool entry = next < to && s->buf[next] == '{' && tl_split_key_at(s, next + 1, to, ph) == TL_SIGHT_YES;

    if (!entry)
        return false;
    if (c == '{')
        note_byte(s, "'['");
    else
        note_fault(s, s->key_at, "the key traceEvents", "one like it");
    s->scan = next;
    return true;
}

/* After a byte of the document: sets whole_to if the document could end here except for open brackets.  A number may
 * continue until a comma. */
static void note_whole(tl_split *s, char c)
{
    tl_grammar_state state = s->outer.state;
    bool opened = state == TL_WANT_FIRST || state == TL_WANT_FIRST_KEY;
    bool comma = c == ',' && (state == TL_WANT_KEY || state == TL_WANT_ELEMENT);

    if (!opened && !comma && state != TL_WANT_COMMA)
        return;
    s->whole_to = offset_of(s, s->scan) - comma;
    s->whole_depth = s->outer.depth;
}

/* Handles one byte of a text that has been valid JSON so far. */
static int read_document_byte(tl_split *s)
{
    tl_grammar_state before = s->outer.state;
    char c = s->buf[s->scan];

    bool named = key_is(s, "traceEvents");
    if (before == TL_WANT_VALUE && s->outer.depth == 1 &&
        (c == '{' ? named : c == '[' && !named && is_like_events(s))) {
        if (!tl_split_sees(s, s->scan))
            return STEP_MORE;
        if (begins_damaged(s, c)) {
            tl_split_enter_array(s);
            return begin_array(s);
        }
    }
    if (!tl_grammar_step(&s->outer, c))
        return go_lost(s, tl_grammar_wants(&s->outer));
    keep_byte(s);
    s->complete = tl_grammar_is_over(&s->outer);
    note_whole(s, c);
    follow_key(s, before, c);
    return before == TL_WANT_VALUE && s->outer.state != TL_WANT_VALUE ? value_has_begun(s, c) : STEP_ON;
}

int tl_split_doc(tl_split *s)
{
    int taken = STEP_ON;

    while (taken == STEP_ON && s->state == DOC && s->scan < s->end) {
        char c = s->buf[s->scan];
        bool first = s->outer.depth == 0 && s->outer.state == TL_WANT_VALUE;
        bool over = tl_grammar_is_over(&s->outer);
        if (over && (tl_split_is_space(c) || c == 0))
            s->scan++;
        else if (over)
            taken = go_lost(s, "the end of the file");
        else if (first && (tl_split_is_space(c) || (offset_of(s, s->scan) < 3 && (c & 0x80))))
            s->scan++; /* white space and a byte order mark before the document */
        else if (first && c == '[')
            taken = begin_bare(s);
        else if (first && c != '{')
            taken = go_lost(s, "'{' or '['");
        else
            taken = read_document_byte(s);
    }
    s->at = s->scan;
    return taken == STEP_ON && s->state == DOC ? STEP_MORE : taken;
}

/* ------------------------------------------------------------------------------------------------- where it is not */

/* Returns the index after `"traceEvents": [` at i; 0: it is not at i. */
static size_t after_events_key(const tl_split *s, size_t i, size_t to)
{
    static const char word[] = "\"traceEvents\"";
    const size_t n = sizeof word - 1;

    if (to - i < n || memcmp(s->buf + i, word, n) != 0)
        return 0;
    i = tl_split_skip(s, i + n, to);
    if (i == to || s->buf[i] != ':')
        return 0;
    i = tl_split_skip(s, i + 1, to);
    return i < to && s->buf[i] == '[' ? i + 1 : 0;
}

/* Whether "ph" occurs in quotes between i and `to`.  No byte is searched twice. */
static bool has_ph(tl_split *s, size_t i, size_t to)
{
    size_t known = s->ph_free_to > s->base + i ? (size_t)(s->ph_free_to - s->base) : i;
    if (known >= to || tl_text_has((tl_text){ s->buf + known, to - known }, "\"ph\""))
        return known < to;
    s->ph_free_to = s->base + to - (to - i < 3 ? to - i : 3);
    return false;
}

/* Whether an entry certainly starts at i: other objects have keys like name and id as well. */
static bool is_surely_entry(tl_split *s, size_t i, size_t to)
{
    char before = tl_split_before(s, i);
    return (before == ',' || before == '[') && tl_split_key_at(s, i + 1, to, tl_entry_keys) == TL_SIGHT_YES &&
           has_ph(s, i, to);
}

/* Whether the invalid byte belongs to the beginning of an entry; moves scan to the entry. */
static bool begins_here(tl_split *s)
{
    size_t i = (size_t)(s->restart_at - s->base), to = tl_split_horizon(s, i);
    bool entry = tl_split_key_at(s, i + 1, to, tl_entry_keys) == TL_SIGHT_YES && has_ph(s, i, to);
    s->restart_at = UINT64_MAX;
    if (entry)
        s->scan = i;
    return entry;
}

int tl_split_lost(tl_split *s)
{
    if (s->restart_at != UINT64_MAX) { /* only just lost */
        if (!tl_split_sees(s, s->scan))
            return STEP_MORE;
        if (begins_here(s)) {
            tl_split_enter_array(s);
            return begin_array(s);
        }
    }
    for (; s->scan < s->end && tl_split_sees(s, s->scan); s->at = s->scan) {
        char c = s->buf[s->scan];
        size_t to = tl_split_horizon(s, s->scan);
        size_t after = c == '"' ? after_events_key(s, s->scan, to) : 0;
        bool entry = c == '{' && is_surely_entry(s, s->scan, to);
        do {
            if (!entry)
                keep_byte(s);
        } while (s->scan < after);
        if (entry || after > 0) {
            tl_split_enter_array(s);
            return begin_array(s);
        }
    }
    return STEP_MORE;
}

/* --------------------------------------------------------------------------------------------------------- the end */

void tl_split_finish(tl_split *s)
{
    bool in_document = s->state == DOC || s->state == LOST;
    bool whole = s->state == DOC && tl_grammar_is_over(&s->outer);

    if (s->nested && whole)
        s->found = s->nested = false; /* the array belonged to another object */
    else if (s->found && !s->stopped && !whole)
        note_unclosed(s);
    /* The balance of brackets in a damaged document is unknown: the document counts as complete if it ends with a
     * bracket, else as truncated. */
    if (in_document && s->closed && s->fault_at != UINT64_MAX && (s->solid == '}' || s->solid == ']') &&
        (s->state == LOST || s->outer.state == TL_WANT_COMMA))
        s->complete = true;
}
