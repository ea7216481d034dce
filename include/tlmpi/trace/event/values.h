/* values.h - conversion of an entry's values to numbers or kept texts, for the columns and for hooks; and the side
 * tables of rare values. */
#ifndef TLMPI_TRACE_EVENT_VALUES_H
#define TLMPI_TRACE_EVENT_VALUES_H

#include "tlmpi/base/decimal.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"
#include <math.h>
#include <string.h>

/* Largest kept length of a text, bytes, and of a text that lists a number per rank: names of kernels reach some 10 KB;
 * the ranks of a group of 100,000 fit.  So memory grows with the number of events, not with the length of their
 * texts. */
#define TL_TEXT_MAX ((size_t)64 << 10)
#define TL_LIST_MAX ((size_t)1 << 20)

/* Returns the names id of the text, truncated to `most` bytes. */
uint32_t tl_value_keep(tl_events *e, tl_text t, size_t most);

/* Returns an integer, from a number or a text; `absent` if there is none. */
static inline int64_t tl_value_int(const tl_value *v, int64_t absent)
{
    int64_t x;
    if (v == NULL)
        return absent;
    if (v->digits != TL_DIGITS_UNREAD && v->ndecimals == 0)
        return (int64_t)v->digits;
    return tl_decimal_to_int(v->text.p, v->text.n, &x) ? x : absent;
}

/* Converts microseconds to nanoseconds; false: not a number. */
static inline bool tl_value_us_to_ns(const tl_value *v, int64_t *ns)
{
    static const uint64_t scale[] = { 1000, 100, 10, 1 };
    return v->digits != TL_DIGITS_UNREAD ? !__builtin_mul_overflow(v->digits, scale[v->ndecimals], ns)
                                         : tl_decimal_us_to_ns(v->text.p, v->text.n, ns);
}

/* Returns the names id of a string or number; TL_NO_NAME: none. */
static inline uint32_t tl_value_name(tl_events *e, const tl_value *v)
{
    return v == NULL || v->type == TL_VALUE_OTHER ? TL_NO_NAME : tl_value_keep(e, v->text, TL_TEXT_MAX);
}

static inline uint32_t tl_value_list(tl_events *e, const tl_value *v)
{
    return v == NULL || v->type == TL_VALUE_OTHER ? TL_NO_NAME : tl_value_keep(e, v->text, TL_LIST_MAX);
}

static inline double tl_value_double(const tl_value *v)
{
    double x;
    return v != NULL && tl_decimal_to_double(v->text.p, v->text.n, &x) ? x : NAN;
}

static inline bool tl_value_has_fraction(const tl_value *v)
{
    const tl_text t = v->text;
    if (v->digits != TL_DIGITS_UNREAD)
        return v->ndecimals > 0;
    return memchr(t.p, '.', t.n) != NULL || memchr(t.p, 'e', t.n) != NULL || memchr(t.p, 'E', t.n) != NULL;
}

/* Copies rare arguments to their side tables. */
void tl_events_take_side(tl_events *e, const tl_fields *f, uint32_t event);

#endif
