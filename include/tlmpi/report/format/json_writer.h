/* json_writer.h - writes a JSON object, value by value, one key per line.
 *
 *     tl_json_writer j = { .out = out };
 *     tl_put_begin(&j, NULL, '{');
 *     tl_put_int(&j, "ranks", 8);
 *     tl_put_end(&j, '}');
 *
 * Keys are constants that need no escapes.  `name` is NULL in an array.
 */
#ifndef TLMPI_REPORT_FORMAT_JSON_WRITER_H
#define TLMPI_REPORT_FORMAT_JSON_WRITER_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

void tl_put_null(tl_json_writer *j, const char *name);
void tl_put_bool(tl_json_writer *j, const char *name, bool value);
void tl_put_int(tl_json_writer *j, const char *name, int64_t value);

/* As tl_put_int, but a number below 0 becomes null. */
void tl_put_known(tl_json_writer *j, const char *name, int64_t value);

/* Writes a double; null if the value is not finite. */
void tl_put_double(tl_json_writer *j, const char *name, double value);

/* Writes ns / of_ns, 0 to 1; null if either is unknown. */
void tl_put_share(tl_json_writer *j, const char *name, int64_t ns, int64_t of_ns);

/* Writes a cell of `size` bytes (no final 0 if full), or a word; null if empty. */
void tl_put_cell(tl_json_writer *j, const char *name, const char *cell, size_t size);
void tl_put_word(tl_json_writer *j, const char *name, const char *word);

/* Writes the cells of a row under the names of their columns, listed as "rank? defect count"; "?": a number below 0 is
 * null.  The schema must have the columns. */
void tl_put_columns(tl_json_writer *j, const tl_schema *schema, const void *row, const char *columns);

/* Writes an array of words on one line; words is NULL-terminated. */
void tl_put_words(tl_json_writer *j, const char *name, const char *const *words);

#endif
