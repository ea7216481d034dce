/* print.h - rows to people: aligned text, CSV, JSON.
 *
 * The first step of the room format, which writes rows (print.h), JSON values (json_writer.h), lines for the reader's
 * terminal (wrap.h), and numbers and lists in a sentence (words.h).  The room knows no table; it may use base and model
 * alone.
 *
 * Driven by the schema alone, so a new table needs nothing here.  A printer is fed blocks of rows:
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

/* The formats, in a list. */
#define TL_FORMATS(F)   F(TABLE, table) F(CSV, csv) F(JSON, json)
#define TL_FORMAT_WORDS "table, csv or json"

#define TL_FORMAT_NUMBER(NAME, word) TL_FORMAT_##NAME,
typedef enum tl_format { TL_FORMATS(TL_FORMAT_NUMBER) TL_NFORMATS } tl_format;

/* In which unit times are printed. */
typedef enum tl_unit_choice { TL_UNIT_NS, TL_UNIT_US, TL_UNIT_MS, TL_UNIT_S, TL_UNIT_AUTO } tl_unit_choice;
#define TL_UNIT_WORDS "ns, us, ms, s, auto"

/* The unit's word on the command line. */
const char *tl_unit_word(tl_unit_choice unit);

/* Nanoseconds in one unit. */
double tl_unit_ns(tl_unit_choice unit);

/* Nanoseconds in the unit that a word of n bytes names, one of ns, us, ms and s; 0: none of these. */
double tl_unit_named(const char *word, size_t n);

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
    const bool *blank; /* by field number: cells that have no value, whatever stands in the rows; NULL: none */
    size_t text_width; /* TABLE: longer text is cut to text_width characters and ends with "..."; 0: never cut */
    /* private: */
    bool any;                   /* JSON: a row has been printed */
    struct tl_print_wait *wait; /* TABLE: rows that wait until the widths are known */
} tl_printer;

/* TABLE: a header, then aligned columns, numbers right, text left, "-" where there is no value; doubles with 6
 * digits (CSV and JSON: as many digits as read back as the same double).  The widths of columns are found anew for
 * every 1,000 rows and never shrink, so memory does not grow with the table.  CSV: RFC 4180 with a header and "\n"
 * line ends, no value is an empty cell.  JSON: an array of row objects, no value and infinities are null, enums
 * their labels.  No value: a NaN, an unknown time, no name.  False: the stream failed (ferror tells).  tl_print_end is called in any case; it frees what is held. */
bool tl_print_begin(tl_printer *printer);
bool tl_print_rows(tl_printer *printer, const void *rows, size_t n);
bool tl_print_end(tl_printer *printer);

#endif
