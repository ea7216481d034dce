/* sequence_period.h - finds the period of a sequence: the number of tokens after which it repeats.
 *
 *     a b b c  a b b c  a b b c  a        4
 *
 * A pure function of numbers.
 */
#ifndef TLMPI_BASE_SEQUENCE_PERIOD_H
#define TLMPI_BASE_SEQUENCE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the number of tokens after which the sequence repeats: at least two and a half times, with at most one
 * exception in fifty tokens.  If the tokens repeat sooner than the times between them, finds the number after which
 * both repeat.  *period 0: none.  times_ns[n]: begin of each token, ascending. */
void tl_sequence_period(const uint64_t *tokens, const int64_t *times_ns, size_t n, size_t *period);

#endif
