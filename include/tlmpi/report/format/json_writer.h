/* json_writer.h - writes a JSON object, value by value, one key per line.
 *
 *     tl_json_writer j = { .out = out };
 *     tl_put_begin(&j, NULL, '{');
 *     tl_put_all(&j, tl_json_int("ranks", 8), tl_json_word("host", "node0"));
 *     tl_put_end(&j, '}');
 *
 * Keys are constants that need no escapes.  `name` is NULL in an array.
 */
#ifndef TLMPI_REPORT_FORMAT_JSON_WRITER_H
#define TLMPI_REPORT_FORMAT_JSON_WRITER_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct tl_json_writer {
    FILE *out;
    int depth;
    bool first; /* the object or array is empty so far */
    bool flat;  /* written on one line */
} tl_json_writer;

/* Writes a text in quotes, escaped. */
void tl_json_text(FILE *out, tl_text text);

/* Begins an object '{' or an array '['. */
void tl_put_begin(tl_json_writer *j, const char *name, char bracket);
void tl_put_end(tl_json_writer *j, char bracket);

/* Begins an array of plain values on one line; tl_put_end ends the array. */
void tl_put_begin_line(tl_json_writer *j, const char *name);

/* A value, and its name. */
typedef struct tl_json_item {
    const char *name;
    enum { TL_JSON_NULL, TL_JSON_INT, TL_JSON_REAL, TL_JSON_BOOL, TL_JSON_TEXT } is;
    int64_t i; /* of an integer, and of a bool */
    double d;
    tl_text text;
} tl_json_item;

static inline tl_json_item tl_json_int(const char *name, int64_t value)
{
    return (tl_json_item){ .name = name, .is = TL_JSON_INT, .i = value };
}

/* An integer; null if it is below 0. */
static inline tl_json_item tl_json_known(const char *name, int64_t value)
{
    return (tl_json_item){ .name = name, .is = value >= 0 ? TL_JSON_INT : TL_JSON_NULL, .i = value };
}

static inline tl_json_item tl_json_bool(const char *name, bool value)
{
    return (tl_json_item){ .name = name, .is = TL_JSON_BOOL, .i = value };
}

/* A double; null if it is not finite. */
static inline tl_json_item tl_json_real(const char *name, double value)
{
    return (tl_json_item){ .name = name, .is = isfinite(value) ? TL_JSON_REAL : TL_JSON_NULL, .d = value };
}

/* ns / of_ns, 0 to 1; null if either is unknown. */
static inline tl_json_item tl_json_share(const char *name, int64_t ns, int64_t of_ns)
{
    return tl_json_real(name, ns >= 0 && of_ns > 0 ? (double)ns / (double)of_ns : NAN);
}

/* A text; null if it is empty. */
static inline tl_json_item tl_json_text_of(const char *name, tl_text text)
{
    return (tl_json_item){ .name = name, .is = text.n > 0 ? TL_JSON_TEXT : TL_JSON_NULL, .text = text };
}

/* A cell of `size` bytes (no final 0 if full), and a word; null if empty. */
static inline tl_json_item tl_json_cell(const char *name, const char *cell, size_t size)
{
    return tl_json_text_of(name, (tl_text){ cell, strnlen(cell, size) });
}

static inline tl_json_item tl_json_word(const char *name, const char *word)
{
    return tl_json_text_of(name, tl_text_of(word));
}

void tl_put_value(tl_json_writer *j, tl_json_item value);

/* Writes values, or an object of them; all further arguments are tl_json_items. */
#define tl_put_all(j, ...)                                                                                             \
    tl_put_values(j, (const tl_json_item[]){ __VA_ARGS__ },                                                            \
                  sizeof((const tl_json_item[]){ __VA_ARGS__ }) / sizeof(tl_json_item))
#define tl_put_object(j, name, ...) (tl_put_begin(j, name, '{'), tl_put_all(j, __VA_ARGS__), tl_put_end(j, '}'))
void tl_put_values(tl_json_writer *j, const tl_json_item *values, size_t n);

/* Writes the cells of a row under the names of their columns, listed as "rank? defect count"; "?": a number below 0 is
 * null.  The schema must have the columns. */
void tl_put_columns(tl_json_writer *j, const tl_schema *schema, const void *row, const char *columns);

/* Writes an array of words on one line; words is NULL-terminated. */
void tl_put_words(tl_json_writer *j, const char *name, const char *const *words);

#endif
