/* json.h - what stands in an object or array of JSON text, one after the other, as it is written.
 *
 *     tl_text rest = tl_json_inside(object), key, value;
 *     while (tl_json_member(&rest, &key, &value))
 *         if (tl_text_is(key, "rf_id"))
 *             ...
 *
 * Looks at brackets and quotes alone: text that is no JSON ends early, or has odd values.
 */
#ifndef TLMPI_TRACE_TEXT_JSON_H
#define TLMPI_TRACE_TEXT_JSON_H

#include "tlmpi/base/text.h"

/* What is between the brackets of an object or array; nothing where the value is none. */
tl_text tl_json_inside(tl_text value);

/* The next member of an object, its key without quotes, escapes as they are written.  False: there is none. */
bool tl_json_member(tl_text *rest, tl_text *key, tl_text *value);

/* The next element of an array. */
bool tl_json_element(tl_text *rest, tl_text *value);

/* The value under the key; empty where it is not there. */
tl_text tl_json_value(tl_text object, const char *key);

/* What a string has between its quotes, escapes as they are written; nothing where the value is none. */
tl_text tl_json_string(tl_text value);

#endif
