/* passed_on.h - whether ranks without a trace pass on delays that no replay sees.
 *
 *     ranks   0  1  2  3     one group, 1 and 2 have no trace: what they are late for when they have waited, all others are
 *                            late for, too.  Nothing is hidden.
 *
 *     ranks   0  1           two groups, rows, and two, columns; 1 has no trace: it waits for 0, and then 3 waits for it.
 *             2  3           That 3 waits for 0 nobody sees.
 */
#ifndef TLMPI_JOB_PASSED_ON_H
#define TLMPI_JOB_PASSED_ON_H

#include "tlmpi/model/table.h"

/* Whether they may: they are met in several groups, or in messages between two ranks.  groups: table group. */
bool tl_passed_on_unseen(const tl_table *groups);

#endif
