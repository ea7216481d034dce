/* sequence_period.h - the period of a sequence: after how many events it repeats itself.
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

/* Finds the number of tokens after which the sequence repeats: it must repeat two and a half times at least, with
 * one exception in fifty tokens at most.  Where the tokens repeat sooner than the times between them, finds the
 * number after which both repeat.  0: no period.  times_ns: [n], begin of each token, ascending. */
void tl_sequence_period(const uint64_t *tokens, const int64_t *times_ns, size_t n, size_t *period);

#endif
