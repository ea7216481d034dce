/* doubt.h - what speaks against each of the four answers, and so how far each is to be trusted. */
#ifndef TLMPI_REPORT_ANSWERS_DOUBT_H
#define TLMPI_REPORT_ANSWERS_DOUBT_H

#include "tlmpi/report/answers/answers.h"

/* Whether arrivals that clocks cannot tell apart may hide 1 % of the time. */
bool tl_answers_blurred(const tl_answers *answers);

/* From everything else in *answers: rank, phase, waiting and persistence, each with its doubts, and how far it is to be
 * trusted. */
void tl_answers_doubt(tl_answers *answers);

#endif
