/* shared.h - which transfers share the wires of a rank with others. */
#ifndef ANALYSIS_LINK_SHARED_H
#define ANALYSIS_LINK_SHARED_H

#include "slow_link.h"

/* Sets shared[ncollectives], which is all false, where another transfer was under way at one of its ranks.  False when
 * memory is out. */
bool tl_link_find_shared(const tl_link_input *in, bool *shared);

#endif
