/* ask.h - the four questions and their answers, for people and for programs.
 *
 * The decisions stand in table culprit.  May use answers and format.
 */
#ifndef TLMPI_REPORT_ASK_H
#define TLMPI_REPORT_ASK_H

#include "tlmpi/report/answers/answers.h"
#include <stdio.h>

/* Prints a paragraph per question: the answer, its evidence with the table to look at, its confidence.  `file` is
 * the path of the result.  Lines are `columns` wide; 0: as many as the terminal has; TL_ONE_LINE: each answer, and each
 * item of its evidence, is one line, which begins with two spaces. */
void tl_print_answers(FILE *out, const tl_answers *answers, const char *file, size_t columns);

/* Prints one object; page json of the manual has its keys. */
void tl_print_answers_json(FILE *out, const tl_answers *answers, const char *file);

#endif
