/* idle_part.h - idle time of a rank's devices, cut by what the host did instead of feeding them.
 *
 *     host    ..[launch a][synchronize   ]....[launch b][ gc.collect        ]..[launch c]...
 *     device  ............[    a     ]..............[ b ].......................[ c ]
 *                                    |ssssssssssssss|   |ggggggggggggggggggggggh|
 *
 * For comparing ranks: a coarse cut of all idle time, to the nanosecond, by the first that holds
 *
 *     device       the work that ends the gap was launched before the gap: nothing was late on the host; so, too,
 *                  without any launch
 *     gc           a garbage collection on a thread that launches
 *     input        such a thread waits for the data loader
 *     allocator    it allocates or frees device memory
 *     sync         it waits for the device; and then the short gaps until launches are ahead of the device again
 *     host         all else
 */
#ifndef TLMPI_ANALYSIS_IDLE_PART_H
#define TLMPI_ANALYSIS_IDLE_PART_H

#include "tlmpi/analysis/activity.h"
#include "tlmpi/base/mem.h"

/* The activity of a view, all its devices together, its idle time divided so; needs what the host did.  False when
 * memory is out. */
bool tl_activity_find(tl_activity *activity, const tl_rank_view *view);

/* What a call, operator or frame of this name says about idle time under it: GC, INPUT, ALLOCATOR or SYNC; HOST for all
 * others. */
tl_part tl_idle_part_of_call(tl_text name);
tl_part tl_idle_part_of_op(tl_text name);

#endif
