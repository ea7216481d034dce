/* phases.h - the four questions where there are only durations of phases. */
#ifndef TLMPI_REPORT_ASK_PHASES_H
#define TLMPI_REPORT_ASK_PHASES_H

#include "tlmpi/report/answers/phases.h"
#include <stdio.h>

/* file: the path, as a word for a shell. */
void tl_print_phase_answers(FILE *out, const tl_answers *answers, const char *file);

/* As tl_print_answers_json. */
void tl_print_phase_answers_json(FILE *out, const tl_answers *answers, const char *file);

#endif
