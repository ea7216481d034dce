/* markup.h - text escaped for a page of HTML or a picture of SVG.
 *
 * For use between tags and in quoted values: & < > " ' are escaped.  An invisible character (a control, a change
 * of text direction), one that XML forbids, and a byte that is no UTF-8 become U+FFFD each: a name from a
 * trace is readable and harmless.
 */
#ifndef TLMPI_REPORT_FORMAT_MARKUP_H
#define TLMPI_REPORT_FORMAT_MARKUP_H

#include "tlmpi/base/text.h"
#include <stdio.h>

void tl_put_markup(FILE *out, tl_text text);

/* The same for a text up to its 0, and for a cell of `size` bytes (no final 0 if full). */
void tl_put_markup_word(FILE *out, const char *word);
void tl_put_markup_cell(FILE *out, const char *cell, size_t size);

#endif
