/* json.h - a JSON value of the caller's, written as the rest of a line is. */
#ifndef TLMPI_RECORD_JSON_H
#define TLMPI_RECORD_JSON_H

#include "text.h"

/* Adds it with ", " and ": " and no other space, all of it ASCII; NaN and Infinity, which json.dumps writes, are null.
 * Numbers, escapes and the order of keys stay as they are: what json.dumps(sort_keys=True) has written is added as it
 * is.  False where it is no JSON, or something is in more than TL_RECORD_JSON_DEEPEST lists and objects: then a part may
 * have been added. */
enum { TL_RECORD_JSON_DEEPEST = 64 };
bool tl_record_json_add(tl_record_text *text, const char *json);

#endif
