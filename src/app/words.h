/* words.h - what a word of a summary, of an answer or of a table means. */
#ifndef TLMPI_APP_WORDS_H
#define TLMPI_APP_WORDS_H

#include <stdbool.h>
#include <stdio.h>

/* Prints each meaning of the word: as a term, a label of an enumeration, a column, a threshold; with `out` NULL nothing.
 * False: the word has none. */
bool tl_describe_word(FILE *out, const char *word);

#endif
