/* json_writer.h - a JSON object, a value at a time: a key a line.
 *
 *     tl_json_writer j = { .out = out };
 *     tl_put_begin(&j, NULL, '{');
 *     tl_put_int(&j, "ranks", 8);
 *     tl_put_end(&j, '}');
 *
 * Keys are ours: they need no escapes.  `name` is NULL in an array.
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
    bool first; /* nothing stands in this object or array yet */
    bool flat;  /* all on one line */
} tl_json_writer;

/* A text in quotes, as JSON wants it. */
void tl_json_text(FILE *out, tl_text text);

/* What follows is in an object '{' or an array '['. */
void tl_put_begin(tl_json_writer *j, const char *name, char bracket);
void tl_put_end(tl_json_writer *j, char bracket);

/* What follows is in an array on one line, of values without parts; tl_put_end ends the array. */
void tl_put_begin_line(tl_json_writer *j, const char *name);

void tl_put_null(tl_json_writer *j, const char *name);
void tl_put_bool(tl_json_writer *j, const char *name, bool value);
void tl_put_int(tl_json_writer *j, const char *name, int64_t value);

/* As tl_put_int, but a number below 0 stands for none: null. */
void tl_put_known(tl_json_writer *j, const char *name, int64_t value);

/* A double; null where the value is no number. */
void tl_put_double(tl_json_writer *j, const char *name, double value);

/* ns / of_ns, 0 to 1; null where either is not known. */
void tl_put_share(tl_json_writer *j, const char *name, int64_t ns, int64_t of_ns);

/* A cell of `size` bytes, which may fill it; a word.  Empty ones are null. */
void tl_put_cell(tl_json_writer *j, const char *name, const char *cell, size_t size);
void tl_put_word(tl_json_writer *j, const char *name, const char *word);

/* Puts the cells of a row under the names of their columns, as "rank? defect count"; a number below 0 is null where "?"
 * follows the name of its column.  The schema must have the columns. */
void tl_put_columns(tl_json_writer *j, const tl_schema *schema, const void *row, const char *columns);

/* An array of the words up to a NULL, in one line. */
void tl_put_words(tl_json_writer *j, const char *name, const char *const *words);

#endif
