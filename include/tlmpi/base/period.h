/* period.h - the period of a sequence: after how many events it repeats itself.
 *
 *     a b b c  a b b c  a b b c  a        4
 *
 * A pure function of numbers.
 */
#ifndef TLMPI_BASE_PERIOD_H
#define TLMPI_BASE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number after which n tokens repeat, seen twice and a half at least, but for one in fifty; where they do after
 * less than the times between them do, the number after which both do.  0: none.  times_ns: [n], when each began,
 * ascending. */
void tl_period_of(const uint64_t *tokens, const int64_t *times_ns, size_t n, size_t *period);

#endif
