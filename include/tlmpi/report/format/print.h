/* print.h - rows for people: aligned text, CSV, JSON.
 *
 * The folder format writes rows (print.h), JSON values (json_writer.h), and lines and numbers in a sentence (words.h).
 * It knows no table; it may use base and model only.
 *
 * Driven by the schema: a new table needs no code here.  A printer takes blocks of rows:
 *
 *     tl_printer p = { .out = stdout, .schema = s, .format = TL_FORMAT_CSV, .name = lookup, .name_arg = result };
 *     bool ok = tl_print_begin(&p) && tl_print_rows(&p, rows, n) && ...;
 *     ok = tl_print_end(&p) && ok;
 *
 * Texts come from traces and are not trusted.  TABLE and CSV hold no control bytes (but for line ends and tabs inside a
 * quoted CSV cell), JSON escapes them; bytes that are no UTF-8 become U+FFFD (in TABLE '?').
 */
#ifndef TLMPI_REPORT_FORMAT_PRINT_H
#define TLMPI_REPORT_FORMAT_PRINT_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/schema.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The list of formats. */
#define TL_FORMATS(F)   F(TABLE, table) F(CSV, csv) F(JSON, json)
#define TL_FORMAT_WORDS "table, csv or json"

#define TL_FORMAT_NUMBER(NAME, word) TL_FORMAT_##NAME,
typedef enum tl_format { TL_FORMATS(TL_FORMAT_NUMBER) TL_NFORMATS } tl_format;

/* The unit in which times are printed. */
typedef enum tl_unit_choice { TL_UNIT_NS, TL_UNIT_US, TL_UNIT_MS, TL_UNIT_S, TL_UNIT_AUTO } tl_unit_choice;
#define TL_UNIT_WORDS "ns, us, ms, s, auto"

/* Returns the number of ns in the unit named by a word of n bytes: ns, us, ms or s; 0: another word. */
double tl_unit_named(const char *word, size_t n);

/* Numbers and texts of a cell, which sentences and JSON have, too. */

/* Writes ns with three digits, in the largest suitable unit, at least `least`: "20.4 ms". */
void tl_time_words(char *out, size_t size, double ns, tl_unit_choice least);

/* Writes the shortest text that reads back as the same double. */
void tl_double_format(char *out, size_t n, double value);

/* Returns the columns of a terminal that the text takes: 2 for an East Asian character and a picture, else 1. */
size_t tl_text_columns(tl_text text);

typedef struct tl_printer {
    FILE *out;
    const tl_schema *schema;
    tl_format format;
    const uint32_t *columns; /* field numbers in the order to print; NULL for all */
    size_t ncolumns;
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell; NULL prints the id */
    void *name_arg;
    tl_unit_choice
        unit; /* a time of -1 is no value, except with NS; AUTO (TABLE alone): each time in the unit that suits it,
               * shares in percent */
    bool signed_times; /* a time of -1 is a value with any unit, as of tables of differences */
    const bool *blank; /* by field number: cells without a value, whatever the rows hold; NULL: none */
    size_t text_width; /* TABLE: longer text is cut to text_width characters and ends with "..."; 0: never cut */
    /* private: */
    bool any;                   /* JSON: a row has been printed */
    struct tl_print_wait *wait; /* TABLE: rows buffered until the widths are known */
} tl_printer;

/* TABLE: a header, then aligned columns, numbers right, text left, "-" where there is no value; doubles with 6
 * digits (CSV and JSON: as many digits as read back as the same double).  The widths of columns are found anew for
 * every 1,000 rows and never shrink, so memory does not grow with the table.  CSV: RFC 4180 with a header and "\n"
 * line ends, no value is an empty cell.  JSON: an array of row objects, no value and infinities are null, enums
 * their labels.  No value: a NaN, an unknown time, no name.  Returns false if the stream failed (ferror
 * tells).  Call tl_print_end in any case: it frees the buffers. */
bool tl_print_begin(tl_printer *printer);
bool tl_print_rows(tl_printer *printer, const void *rows, size_t n);
bool tl_print_end(tl_printer *printer);

#endif
