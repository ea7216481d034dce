/* health.h - what is wrong with the recording itself, in sentences: table health.  */
#ifndef TLMPI_REPORT_ANSWERS_HEALTH_H
#define TLMPI_REPORT_ANSWERS_HEALTH_H

#include "tlmpi/model/health_table.h"
#include "tlmpi/report/answers/words.h"

/* "15 of 48 launches of rank 1 in steps 12-13 were not recorded, or not whole: ...", of all rows with the defect
 * together, without a full stop.  False where there are none. */
bool tl_health_in_words(const tl_table *health, tl_defect defect, tl_phrase *out);

#endif
