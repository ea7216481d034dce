/* markup.h - text in a page of HTML, or in a picture of SVG.
 *
 * Good between tags and for a value in quotes: & < > " ' are escaped.  A character that does not show (a control, what
 * turns the direction of text), one that XML forbids, and a byte that is no UTF-8, are U+FFFD each: a name out of a
 * trace can be read, and does nothing.
 */
#ifndef TLMPI_REPORT_FORMAT_MARKUP_H
#define TLMPI_REPORT_FORMAT_MARKUP_H

#include "tlmpi/base/text.h"
#include <stdio.h>

void tl_put_markup(FILE *out, tl_text text);

/* The same of a text up to its 0, and of a cell of `size` bytes, which may fill it. */
void tl_put_markup_word(FILE *out, const char *word);
void tl_put_markup_cell(FILE *out, const char *cell, size_t size);

#endif
