/* spans.h - times covered by rows, in doubles of us, as the tables of other programs measure them; and how long the
 * classes of the rows ran, alone and over each other.
 *
 *     class 0     ....[######]......[##)
 *     class 1     .......[######]......
 *     set 3              [##)               sets of classes as bits: 1, 2, and 3 for both
 */
#ifndef TLMPI_COMPAT_SPANS_H
#define TLMPI_COMPAT_SPANS_H

#include "tlmpi/base/mem.h"

typedef struct tl_real_span {
    double ts, end;
} tl_real_span;

/* Zero-initialise; free(spans.v) ends it. */
typedef TL_VEC(tl_real_span) tl_real_spans;

/* Sorts spans by start, and joins those that overlap or touch; a span alone keeps its length, even 0 or below. */
void tl_real_spans_join(tl_real_spans *spans);

/* Returns the sum of the spans' lengths, us. */
double tl_real_spans_total(const tl_real_spans *spans);

/* Sets us[set], for each set of the n <= 3 classes, to the time in which exactly the classes of that set run, us; NaN:
 * the set never runs.  spans[k]: joined spans of class 1 << k.  With `whole`, each piece between two edges is truncated
 * to whole us.  A span of negative length ends before it starts, so a class that does not run may be counted, as in
 * HTA. */
enum { TL_NSETS = 8 };
void tl_real_spans_overlap(const tl_real_spans *spans, size_t n, bool whole, double us[TL_NSETS]);

#endif
