/* answers_find.h - who holds the job up: the part of the answers that goes through the charges. */
#ifndef TLMPI_REPORT_ANSWERS_FIND_H
#define TLMPI_REPORT_ANSWERS_FIND_H

#include "tlmpi/report/answers.h"

/* Fills culprits and waiters, which tl_answers_free ends; trust, wall and losses have been found.  TL_ENOMEM. */
tl_status tl_culprits_find(tl_tables *tables, tl_answers *out, tl_error *err);

#endif
