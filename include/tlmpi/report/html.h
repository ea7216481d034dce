/* html.h - a result as one page of HTML: what holds the job up, in words and in pictures.
 *
 * The page is self-contained: no external resource, no script, inline SVG pictures.  It
 * is well-formed XML, and the same bytes for equal results, except for the part on how a result was made.  May use
 * answers, ask and format.  Short tables are in memory; each row of a long table is read once.
 *
 * Memory grows with the ranks, not with the steps.  Which ranks are late is read from the tables.
 */
#ifndef TLMPI_REPORT_HTML_H
#define TLMPI_REPORT_HTML_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/diff.h"
#include <stdio.h>

/* Takes a row (its table's struct), which is valid during the call only. */
typedef void tl_html_take(void *arg, const void *row);

/* Everything is borrowed. */
typedef struct tl_html_input {
    const char *file; /* path of the result */
    const tl_answers *answers;
    tl_tables *tables;                          /* the tables that the answers were read from, and tl_html_tables */
    void *result;                               /* first argument of the functions that follow */
    tl_text (*name)(void *result, uint32_t id); /* returns the text of a NAME cell */
    /* Hands each row of a table, in order, to take, with arg; no row if the result lacks the table. */
    tl_status (*each)(void *result, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err);
    const char *command, *when, *host, *version; /* how the result was made; NULL: unknown */
} tl_html_input;

/* Returns the tables that the page reads whole, besides those of the answers; NULL-terminated.  `tables` may lack
 * any. */
const tl_schema *const *tl_html_tables(void);

/* Writes the page; the caller, who closes `out`, checks whether writing failed.  Fails as input->each does. */
tl_status tl_html_write(const tl_html_input *input, FILE *out, tl_error *err);

/* Writes the page of two runs, A and B: the differences in words; a waterfall from the step of A to that of B; kernels;
 * and the merged tree of call paths. */
void tl_html_write_diff(const tl_diff_words *words, FILE *out);

#endif
