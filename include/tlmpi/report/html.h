/* html.h - a result as one page of HTML: what holds the job up, in words and in pictures.
 *
 * The page stands alone: it asks for nothing outside of itself and runs no script, its pictures are SVG within it.  It
 * is well-formed XML, too, and the same bytes for equal results, but for what these tell of how they were made.  From
 * answers, ask and format, and from tables: short ones are in memory, of long ones each row is asked for once.
 *
 * Memory grows with the ranks, not with the steps.  Nothing is decided here: the tables say which ranks are late.
 */
#ifndef TLMPI_REPORT_HTML_H
#define TLMPI_REPORT_HTML_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/answers.h"
#include "tlmpi/report/diff.h"
#include <stdio.h>

/* Takes a row, as its table's struct, which is gone after the call. */
typedef void tl_html_take(void *arg, const void *row, tl_error *err);

/* Everything is borrowed. */
typedef struct tl_html_input {
    const char *file; /* path of the result */
    const tl_answers *answers;
    tl_tables *tables; /* the tables that the answers were read from, and tl_html_tables */
    void *result;      /* first argument of the functions that follow */
    tl_text (*name)(void *result, uint32_t id); /* returns the text of a NAME cell */
    /* Hands take, with arg, each row of a table in order; no row where the result lacks the table. */
    tl_status (*each)(void *result, const tl_schema *table, tl_html_take *take, void *arg, tl_error *err);
    const char *command, *when, *host, *version; /* how the result was made; NULL: it does not tell */
} tl_html_input;

/* The tables that the page reads whole, beside those of the answers; NULL-terminated.  `tables` may lack any. */
const tl_schema *const *tl_html_tables(void);

/* Writes the page; the caller, who closes `out`, checks whether writing failed.  Fails as input->each does. */
tl_status tl_html_write(const tl_html_input *input, FILE *out, tl_error *err);

/* Writes the page of two runs, A and B: what differs, in words; a waterfall from the step of A to that of B; kernels;
 * and the merged tree of call paths. */
void tl_html_write_diff(const tl_diff_words *words, FILE *out);

#endif
