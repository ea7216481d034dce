/* split_gap.c - handles text in the array between two elements.
 *
 * An entry is complete if a comma, the end of the array or the end of the text follows.  If anything else follows,
 * bytes are missing or extra at an unknown place:
 *
 *     {..., "dur": 12}}, {...            torn: an extra bracket, so the entry may have lost one of its own before
 *     {..., "args": {...}}}, {...        complete, and an extra bracket follows: the entry has all of its own
 *     {..., "dur": 12}, "args": {...     torn: its members go on
 *     {..., "dur": 12} 34 {...           torn: its last value is a number, which may be the beginning of a longer one
 *     {..., "dur": 12} {...              complete, without its comma
 *     {..., "dur": 12} ; {...            complete, followed by something that is not an entry
 *     {..., "name": "a"} 34 {...         complete, followed by no entry: a string with both quotes is not truncated
 *     {..., "dur": 12}}                  complete, and so is the document except for the end of the array
 */
#include "internal.h"

#define ELEMENT_MAX ((size_t)64 << 10)

static tl_split_item one_byte(const tl_split *s)
{
    return (tl_split_item){ { s->buf + s->scan, 1 }, s->base + s->scan, s->base + s->scan, s->nentries - 1, false };
}

/* Reports a part that is not an entry, from scan to `end`; end 0: unknown. */
static int report_bad(tl_split *s, size_t end, tl_split_item *item)
{
    s->nentries++;
    s->after = AFTER_NOTHING;
    *item = one_byte(s);
    if (end > 0)
        s->scan = end;
    else
        tl_split_seek_from(s, s->scan + 1);
    return TL_SPLIT_BAD;
}

/* Whether the entry continues after its apparent end with the byte c, so that its content is not reliable. */
static bool is_torn(const tl_split *s, char c)
{
    if (c == '}')
        return !s->args_end;
    return s->bare_end && (tl_is_digit(c) || (c != 0 && strchr("\".eE+-", c) != NULL));
}

/* Handles the byte at scan after an entry that is followed by neither a comma nor the end of the array. */
static int handle_missing_comma(tl_split *s, char c, tl_split_item *item)
{
    if (c == '}' && !s->bare) {
        if (!tl_split_sees(s, s->scan))
            return STEP_MORE;
        if (s->eof && tl_split_skip(s, s->scan + 1, s->end) == s->end) {
            tl_split_end_array(s);
            return STEP_ON;
        }
    }
    bool torn = is_torn(s, c), brace = c == '}' && !torn;

    s->after = brace ? AFTER_ENTRY : AFTER_NOTHING;
    *item = one_byte(s);
    if (torn)
        tl_split_seek_from(s, s->scan + 1);
    s->scan += brace;
    return torn ? (int)TL_SPLIT_TORN : brace || c == '{' ? (int)TL_SPLIT_LOOSE : STEP_ON;
}

/* -------------------------------------------------------------------------------------------------------- elements */

static int entry_begins(tl_split *s, tl_split_item *item)
{
    if (s->base + s->scan >= s->stop_at) {
        s->stopped = true;
        s->last_start = s->base + s->scan;
        return STEP_ON;
    }
    if (s->first_entry == UINT64_MAX)
        s->first_entry = s->base + s->scan;
    s->after = AFTER_NOTHING;
    s->nentries++;
    if (s->doomed.n > 0 && tl_split_is_doomed(s, s->scan)) {
        *item = one_byte(s);
        item->fault = s->doomed_by;
        tl_split_seek_from(s, s->scan + 1);
        return TL_SPLIT_BROKEN;
    }
    size_t n = s->probe != NULL ? s->probe(s->probe_arg, s->buf + s->scan) : 0;
    if (n > 0 && n <= TL_ENTRY_MAX) {
        s->scan += n;
        return tl_split_give(s, true, item);
    }
    s->state = ENTRY;
    s->entry_depth = 0;
    s->in_string = s->escaped = false;
    s->checking = s->broken_lately > 0;
    s->broken_lately -= s->broken_lately > 0;
    tl_grammar_reset(&s->inner);
    return STEP_ON;
}

/* Whether the ']' at scan can be the end of the array: it is, unless another entry follows. */
static bool may_end_array(const tl_split *s)
{
    size_t to = tl_split_horizon(s, s->scan), next = tl_split_skip(s, s->scan + 1, to);
    bool brace = !s->bare && next < to && s->buf[next] == '}';

    if (brace)
        next = tl_split_skip(s, next + 1, to);
    if (next == to)
        return true; /* of the text, or far away */
    size_t after_comma = s->buf[next] == ',' ? tl_split_skip(s, next + 1, to) : to;
    bool entry = after_comma < to && s->buf[after_comma] == '{' &&
                 tl_split_key_at(s, after_comma + 1, to, tl_entry_keys) != TL_SIGHT_NO;
    return !entry && (brace || s->bare || s->buf[next] == ',');
}

static int array_ends(tl_split *s, tl_split_item *item)
{
    if (!tl_split_sees(s, s->scan))
        return STEP_MORE;
    if (!may_end_array(s))
        return report_bad(s, s->scan + 1, item);
    if (s->outer.depth == 0)
        tl_split_enter_array(s);
    s->closed = true;
    s->array_end = s->base + s->scan;
    s->state = DOC;
    if (s->bare) { /* of a bare array nothing is kept */
        s->complete = tl_grammar_step(&s->outer, ']');
        s->solid = ']';
        s->scan++;
    }
    return STEP_ON;
}

/* Handles a number or word in place of an entry. */
static int bare_element(tl_split *s, tl_split_item *item)
{
    if (!tl_split_sees(s, s->scan))
        return STEP_MORE;
    size_t to = tl_split_horizon(s, s->scan), i = s->scan;
    while (i < to &&
           ((s->buf[i] >= '0' && s->buf[i] <= '9') || (s->buf[i] >= 'a' && s->buf[i] <= 'z') ||
            (s->buf[i] >= 'A' && s->buf[i] <= 'Z') || s->buf[i] == '-' || s->buf[i] == '+' || s->buf[i] == '.'))
        i++;
    size_t next = tl_split_skip(s, i, to);
    bool over = next < to && (s->buf[next] == ',' || s->buf[next] == ']');
    return report_bad(s, i > s->scan && over ? i : 0, item);
}

/* Handles a string or array in place of an entry.  A bracket right before an entry is an extra one. */
static int element_begins(tl_split *s, tl_split_item *item)
{
    if (!tl_split_sees(s, s->scan))
        return STEP_MORE;
    size_t to = tl_split_horizon(s, s->scan), next = tl_split_skip(s, s->scan + 1, to);
    if (s->buf[s->scan] == '[' && next < to && s->buf[next] == '{' && tl_split_entry_at(s, next, to) == TL_SIGHT_YES)
        return report_bad(s, s->scan + 1, item);
    if (!s->bare && tl_split_key_at(s, s->scan, to, tl_document_keys) == TL_SIGHT_YES) {
        tl_split_end_array(s);
        return STEP_ON;
    }
    s->state = ELEMENT;
    tl_grammar_reset(&s->inner);
    return STEP_ON;
}

/* Handles the end of an element, which reaches from `at` to `scan`. */
static int element_ends(tl_split *s, tl_split_item *item)
{
    size_t end = s->scan, to = tl_split_horizon(s, end), next = tl_split_skip(s, end, to);
    char c = next < to ? s->buf[next] : ',';
    bool holds = false;

    s->state = GAP;
    if (c == ':' && s->buf[s->at] == '"' && s->after == AFTER_COMMA) {
        s->after = AFTER_NOTHING;
        s->scan = s->at;
        *item = one_byte(s);
        tl_split_seek_from(s, end);
        return TL_SPLIT_TORN;
    }
    if (s->buf[s->at] == '[')
        tl_split_doom(s, end, false, &holds);
    s->scan = s->at;
    s->state = GAP;
    return report_bad(s, (c == ',' || c == ']') && !holds ? end : 0, item);
}

int tl_split_element(tl_split *s, tl_split_item *item)
{
    size_t most = s->end - s->at < ELEMENT_MAX ? s->end : s->at + ELEMENT_MAX;

    s->scan += tl_grammar_run(&s->inner, s->buf + s->scan, most - s->scan);
    if (tl_grammar_is_over(&s->inner) && !tl_split_sees(s, s->scan))
        return STEP_MORE;
    if (tl_grammar_is_over(&s->inner))
        return element_ends(s, item);
    if (s->scan == s->end && s->scan < s->at + ELEMENT_MAX && !s->eof)
        return STEP_MORE;
    s->scan = s->at; /* it has no end */
    s->state = GAP;
    return report_bad(s, 0, item);
}

/* --------------------------------------------------------------------------------------------------------- the gap */

int tl_split_gap(tl_split *s, tl_split_item *item)
{
    if (s->stopped)
        return TL_SPLIT_END;
    while ((s->scan = tl_split_skip(s, s->scan, s->end)) < s->end) {
        char c = s->buf[s->scan];
        if (c == ',') {
            s->after = s->after == AFTER_ENTRY ? AFTER_COMMA : s->after;
            s->scan++;
            continue;
        }
        s->at = s->scan;
        if (s->after == AFTER_ENTRY && c != ']')
            return handle_missing_comma(s, c, item);
        switch (c) {
        case '{':
            return entry_begins(s, item);
        case ']':
            return array_ends(s, item);
        case '"':
        case '[':
            return element_begins(s, item);
        default:
            return bare_element(s, item);
        }
    }
    s->at = s->scan;
    return STEP_MORE;
}
