/* alike.h - ranks that hide each other: late in the same steps, so that the repair of one alone gains nothing.
 *
 *     rank                         0     1    2    3    4     5
 *     own, ms                      0.4  51   0.9  0.2  49     0.6     all ideal but this one: longer by so much
 *     gain, repaired alone, ms     0     2    0    0    0     0       the other one is as late
 *     gain of 1 and 4 together           48
 */
#ifndef ANALYSIS_JUDGING_ALIKE_H
#define ANALYSIS_JUDGING_ALIKE_H

#include <stddef.h>
#include <stdint.h>

/* Who is far more of a burden than all the rest, where that are several ranks, and not more than half of all: unit_of
 * is 0 for these; every other rank is a unit of its own, ascending.  own_ns[nranks]: how much longer an ideal job takes
 * with this rank as it is.  Returns the number of units, 0 where there are no such ranks. */
size_t tl_alike_units(const int64_t *own_ns, size_t nranks, uint32_t *unit_of);

#endif
