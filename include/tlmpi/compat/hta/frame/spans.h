/* spans.h - HTA's merged rows: where anything of a class was on a stream, in doubles of microseconds. */
#ifndef TLMPI_COMPAT_HTA_FRAME_SPANS_H
#define TLMPI_COMPAT_HTA_FRAME_SPANS_H

#include "tlmpi/compat/hta/frame/frame.h"

typedef struct tl_hta_span {
    double ts, end;
} tl_hta_span;

/* Zero-initialise; free(spans.v) ends it. */
typedef TL_VEC(tl_hta_span) tl_hta_spans;

#define TL_HTA_ANY_CLASS TL_HTA_NCLASSES

/* The rows of the class that are on a stream, merged where they overlap or touch; ascending. */
tl_hta_spans tl_hta_spans_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_hta_class class);

/* Sum of the ends less sum of the starts, which is how HTA has the time of the breakdown.  HTA's overlap rests on the
 * sum of the lengths, which differs in the last digits. */
double tl_hta_spans_total(const tl_hta_spans *spans);
double tl_hta_spans_lengths(const tl_hta_spans *spans);

/* The time in which both are active. */
double tl_hta_spans_overlap(const tl_hta_spans *a, const tl_hta_spans *b);

#endif
