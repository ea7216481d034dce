/* span.h - a set of instants, kept as sorted, disjoint, half-open spans.
 *
 * A span is [start_ns, end_ns).  The instant end_ns belongs to whatever comes next, so two kernels that touch do not
 * overlap and no gap has length zero.  A set is always normalised: sorted, disjoint, nothing empty, nothing touching.
 *
 *     tl_spans_subtract(&outside, &of_steps, &of_times);
 *     ns = tl_spans_total(&outside);
 */
#ifndef TLMPI_BASE_SPAN_H
#define TLMPI_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tl_span {
    int64_t start_ns, end_ns;
} tl_span;

/* Zero-initialise; tl_spans_free ends it.  Read v[0..n), write only through the calls below. */
typedef struct tl_spans {
    tl_span *v;
    size_t n, cap;
} tl_spans;

void tl_spans_free(tl_spans *set);

/* Adds [start_ns, end_ns) to a set that is filled in order of start; an empty span adds nothing.  A span that overlaps
 * or touches the last one extends it. */
void tl_spans_add(tl_spans *set, int64_t start_ns, int64_t end_ns);

/* Adds n spans in any order to an empty set; sorts v by start. */
void tl_spans_add_all(tl_spans *set, tl_span *v, size_t n);

/* out = a without b, in O(|a| + |b|).  out is overwritten and is neither a nor b. */
void tl_spans_subtract(tl_spans *out, const tl_spans *a, const tl_spans *b);

/* out = the part of a inside [from_ns, to_ns). */
void tl_spans_clip(tl_spans *out, const tl_spans *a, int64_t from_ns, int64_t to_ns);

/* Returns the time covered, ns: exact, so it may be summed in any order. */
int64_t tl_spans_total(const tl_spans *set);

#endif
