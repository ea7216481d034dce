/* phases.h - the four questions where there are only durations of phases, and what these say beside traces. */
#ifndef TLMPI_REPORT_ASK_PHASES_H
#define TLMPI_REPORT_ASK_PHASES_H

#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/json_writer.h"
#include <stdio.h>

/* file: the path, as a word for a shell.  columns: as in ask.h. */
void tl_print_phase_answers(FILE *out, const tl_answers *answers, const char *file, size_t columns);

/* Prints what phases tell as a paragraph after the answers of traces; and puts it as members of their JSON object. */
void tl_print_phases_beside_traces(FILE *out, const tl_answers *answers, const char *file, size_t columns);
void tl_put_phases(tl_json_writer *json, const tl_answers *answers);

/* Their answers as members of the JSON object, where there are no traces. */
void tl_put_phase_answers(tl_json_writer *json, const tl_answers *answers);

#endif
