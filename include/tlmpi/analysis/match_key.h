/* match_key.h - which participants belong together: those of one key. */
#ifndef TLMPI_ANALYSIS_MATCH_KEY_H
#define TLMPI_ANALYSIS_MATCH_KEY_H

#include "tlmpi/analysis/groups.h"

/* Sets key and rule of a participant by the first rule that applies to it; key 0 and no rule where only its end can
 * tell. */
void tl_match_key(tl_participant *p, const tl_fate *fate);

/* A key that no other participant has; its group must be the number in the job. */
uint64_t tl_lone_key(const tl_participant *p);

/* What stands for the participant among the sightings of its membership (groups.h), or 0: its launch is not known. */
uint64_t tl_sighting_item(const tl_participant *p);

#endif
