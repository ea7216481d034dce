/* decimal.h - reads microseconds as text into nanoseconds as integers, exactly.
 *
 * Kineto writes ts and dur in microseconds with up to three decimals.  An absolute ts has 19 digits and a double about
 * 16: through a double it would be up to 125 ns off, which is longer than a short gap.  So the text is read as an
 * integer of nanoseconds.
 */
#ifndef TLMPI_BASE_DECIMAL_H
#define TLMPI_BASE_DECIMAL_H

#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads all n bytes of text, a decimal number (sign, digits, point, digits, exponent), scales it by 1,000 and rounds to
 * nearest, ties to even.  Returns false if the text is not a number, or the result does not fit; *out is then
 * unchanged. */
bool tl_decimal_us_to_ns(const char *text, size_t n, int64_t *out);

/* As tl_decimal_us_to_ns for milliseconds: scales by 1,000,000. */
bool tl_decimal_ms_to_ns(const char *text, size_t n, int64_t *out);

/* Reads all n bytes of text as an integer; a fraction of zeros and an exponent are allowed ("7", "7.0", "7e2").
 * Returns false if the text is not a number, has a fraction, or does not fit. */
bool tl_decimal_to_int(const char *text, size_t n, int64_t *out);

/* Reads all n bytes as the nearest double, as strtod in the C locale.  Returns false if the text is not a number. */
bool tl_decimal_to_double(const char *text, size_t n, double *out);

/* Removes a number of up to nine digits from the start of the text and returns it; -1: there is none, or it is longer,
 * and the text is unchanged. */
int32_t tl_decimal_take(tl_text *text);

#endif
