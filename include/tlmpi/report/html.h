/* html.h - a result as one page of HTML: what holds the job up, in words and in pictures.
 *
 * The page stands alone: it asks for nothing outside of itself and runs no script, its pictures are SVG within it.  It
 * is well-formed XML, too, and the same bytes for equal results, but for what these tell of how they were made.  From
 * answers, ask and format, and from rows of tables that may be too long for memory: tl_html_next says which table is
 * wanted, and the caller feeds the table's rows in order.
 *
 *     tl_html *html = tl_html_new(&input);
 *     while ((table = tl_html_next(html)) != NULL)
 *         for each row of the table: st = tl_html_take(html, row, err);
 *     tl_html_write(html, out);
 *     tl_html_free(html);
 *
 * Memory grows with the ranks, not with the steps.  Nothing is decided here: the tables say which ranks are late.
 */
#ifndef TLMPI_REPORT_HTML_H
#define TLMPI_REPORT_HTML_H

#include "tlmpi/base/ranges.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/diff.h"
#include <stdio.h>

/* Everything is borrowed, and must outlive the page. */
typedef struct tl_html_input {
    const char *file; /* path of the result */
    const tl_answers *answers;
    tl_tables *tables;                       /* the tables that the answers were read from, and tl_html_tables */
    tl_text (*name)(void *arg, uint32_t id); /* text of a NAME cell */
    void *name_arg;
    const char *command, *when, *host, *version; /* how the result was made; NULL: it does not tell */
    const tl_ranges *ranks, *steps; /* of the strip (strip.h); NULL: those that matter */
} tl_html_input;

/* The tables that the page reads whole, beside those of the answers; NULL-terminated.  `tables` may lack any. */
const tl_schema *const *tl_html_tables(void);

typedef struct tl_html tl_html;

tl_html *tl_html_new(const tl_html_input *input);
void tl_html_free(tl_html *html); /* NULL is fine */

/* The rows of the table before, if any, are all there; returns the next one whose rows are wanted, NULL: no more.
 * One that the result does not have is passed over. */
const tl_schema *tl_html_next(tl_html *html);

/* Takes a row of that table, as its struct; `html` is void because callers pass this function as a tl_take_row. */
void tl_html_take(void *html, const void *row, tl_error *err);

/* What is drawn as the strip of a step, once all rows are there; as long as the page. */
const struct tl_strip *tl_html_strip(const tl_html *html);

/* Writes the page; the caller, who closes `out`, checks whether writing failed. */
void tl_html_write(tl_html *html, FILE *out);

/* Writes the page of two runs, A and B: what differs, in words; a waterfall from the step of A to that of B; kernels; and
 * the merged tree of call paths. */
void tl_html_write_diff(const tl_diff_words *words, FILE *out);

#endif
