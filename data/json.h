/* json.h - JSON text in one of three layouts, through one buffer, to a file, a gzip file or nowhere. */
#ifndef DATA_JSON_H
#define DATA_JSON_H

#include "kineto.h"

struct json;

/* path NULL: nowhere.  NULL: it cannot be made, errno says why. */
struct json *json_open(const char *path, enum layout layout, bool gzip);

/* False: some byte could not be written. */
bool json_close(struct json *json);

int64_t json_bytes(const struct json *json);

/* Containers; the value of the key just written, or the next element.  `flat` ones stay on their line in LAYOUT_KINETO.
 */
void json_begin(struct json *json, char bracket, bool flat);
void json_end(struct json *json, char bracket);

/* A key; LAYOUT_KINETO begins a new line before it where `line` says so, and always before an object's first key. */
void json_key(struct json *json, const char *key, bool line);

/* Values.  Texts are written as they are: the caller has nothing to escape. */
void json_text(struct json *json, const char *text);
void json_text_number(struct json *json, const char *text, int64_t number);     /* "text" with the number after it */
void json_raw(struct json *json, const char *value);
void json_int(struct json *json, int64_t value);
void json_decimal(struct json *json, int64_t value, int decimals);              /* value / 10^decimals */

#endif
