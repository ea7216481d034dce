/* cell.h - numbers and characters of a cell, which rows and sentences share. */
#ifndef TLMPI_REPORT_FORMAT_CELL_H
#define TLMPI_REPORT_FORMAT_CELL_H

#include "tlmpi/report/format/print.h"

/* Writes ns with three digits, in the largest suitable unit, at least `least`: "20.4 ms". */
void tl_time_words(char *out, size_t size, double ns, tl_unit_choice least);

/* Writes the shortest text that reads back as the same double. */
void tl_double_format(char *out, size_t n, double value);

/* Returns the columns of a terminal that the text takes: 2 for a character of East Asian scripts and a picture, else 1. */
size_t tl_text_columns(tl_text text);

#endif
