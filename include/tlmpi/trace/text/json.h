/* json.h - iterates over the members or elements of JSON text, unparsed.
 *
 *     tl_text rest = tl_json_inside(object), key, value;
 *     while (tl_json_member(&rest, &key, &value))
 *         if (tl_text_is(key, "rf_id"))
 *             ...
 *
 * Looks only at brackets and quotes: in text that is not JSON, iteration ends early or values are arbitrary.
 */
#ifndef TLMPI_TRACE_TEXT_JSON_H
#define TLMPI_TRACE_TEXT_JSON_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"
#include <stddef.h>

/* White space as in yajl: with \v and \f. */
static inline bool tl_json_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the text between the brackets of an object or array; empty: the value is neither. */
tl_text tl_json_inside(tl_text value);

/* Takes the next member of an object; the key has no quotes, and escapes are not resolved.  Returns false if there is
 * none. */
bool tl_json_member(tl_text *rest, tl_text *key, tl_text *value);

/* Takes the next element of an array.  Returns false if there is none. */
bool tl_json_element(tl_text *rest, tl_text *value);

/* Returns the value of the key; empty: there is none. */
tl_text tl_json_value(tl_text object, const char *key);

/* Returns the text between the quotes of a string, escapes not resolved; empty: the value is not a string. */
tl_text tl_json_string(tl_text value);

/* Appends the text of a string, escapes resolved and repaired as the text of an event is; nothing if the value is not a
 * string. */
void tl_json_read_string(tl_text value, tl_bytes *out);

/* Repairs the most common ways in which Kineto's text is not JSON, in one entry or in the document around the entries:
 * copies n bytes of text to out, which has room for 4 * n bytes, and returns the number of bytes written.  In strings:
 * control bytes become blanks, bytes that are not UTF-8 become U+FFFD, a backslash before a character that cannot be
 * escaped is doubled.  Outside of strings: bare words other than true, false and null (NaN, inf, -inf, Infinity, N/A
 * ...) become null, a plus before a number and a comma before a closing bracket are removed.  Strings with a bare quote
 * inside cannot be repaired. */
size_t tl_repair_json(const char *text, size_t n, char *out);

#endif
