/* cell.h - one cell of a row as text, and one character of a text: shared by all formats. */
#ifndef TLMPI_REPORT_FORMAT_CELL_H
#define TLMPI_REPORT_FORMAT_CELL_H

#include "tlmpi/model/table.h"
#include "tlmpi/report/format/print.h"

typedef enum tl_cell_is {
    TL_CELL_IS_NONE, /* no value */
    TL_CELL_IS_NUMBER,
    TL_CELL_IS_INFINITE, /* a number that JSON cannot represent */
    TL_CELL_IS_TEXT      /* any bytes */
} tl_cell_is;

typedef struct tl_text_cell {
    tl_cell_is is;
    tl_text text; /* points into the row, the names, the labels or `digits`: do not copy the cell */
    char digits[32];
} tl_text_cell;

/* Formats the field's cell of a row; the row may be packed, its cells unaligned. */
void tl_cell_format(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, const unsigned char *row);

/* Writes the head of a column: its name, with the unit of its times. */
void tl_heading(char *out, size_t size, const tl_printer *printer, const tl_field *field);

/* Writes ns with three digits, in the largest suitable unit, at least `least`: "20.4 ms". */
void tl_time_words(char *out, size_t size, double ns, tl_unit_choice least);

/* Bytes of the longest column head. */
enum { TL_HEADING_BYTES = 80 };

/* Writes the shortest text that reads back as the same double. */
void tl_double_format(char *out, size_t n, double value);

/* Returns the columns of a terminal that the character takes: 2 for East Asian scripts and pictures, else 1. */
size_t tl_char_columns(uint32_t code);

/* Returns the columns of a terminal that the text takes. */
size_t tl_text_columns(tl_text text);

#endif
