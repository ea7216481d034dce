/* describe.h - the words of tlmpi describe beside the columns: pages of their own, and notes on tables.
 *
 * Each line is a paragraph; one with a tab is a term and its meaning.
 */
#ifndef TLMPI_APP_DESCRIBE_H
#define TLMPI_APP_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct tl_manual_page {
    const char *name, *title;
    const char *const *lines; /* NULL-terminated */
} tl_manual_page;

/* What a result file holds beside tables: *n pages. */
const tl_manual_page *tl_manual_pages(size_t *n);

/* What the columns of a table leave to be said, NULL-terminated; NULL: nothing. */
const char *const *tl_manual_notes(const char *table);

/* Why a table of that name has no rows, or is not in a file, where not every trace has what it is of; NULL: for none of
 * these reasons. */
const char *tl_why_empty(const char *table);

/* Returns what replaced a table that result files no longer have; NULL: there was no table of that name. */
const char *tl_instead_of(const char *table);

/* Prints each meaning of the word: as a term, a label of an enumeration, a column, a threshold; with `out` NULL nothing.
 * False: the word has none. */
bool tl_describe_word(FILE *out, const char *word);

#endif
