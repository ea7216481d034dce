/* decimal.h - microseconds as text to nanoseconds as integers, exactly.
 *
 * Kineto writes ts and dur in microseconds with up to three decimals.  An absolute ts has 19 digits and a double about
 * 16: through a double it would be up to 125 ns off, which is longer than a short gap.  So the text is read as an
 * integer of nanoseconds.
 */
#ifndef TLMPI_BASE_DECIMAL_H
#define TLMPI_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads all n bytes of text, a decimal number (sign, digits, point, digits, exponent), scales it by 1,000 and rounds
 * what is finer than that to nearest, ties to even.  False when the text is no number, or the result does not fit;
 * *out is then untouched. */
bool tl_decimal_us_to_ns(const char *text, size_t n, int64_t *out);

/* The same of milliseconds: scales by 1,000,000. */
bool tl_decimal_ms_to_ns(const char *text, size_t n, int64_t *out);

/* Reads all n bytes of text as an integer; a fraction of zeros and an exponent are allowed ("7", "7.0", "7e2").  False
 * when it is no number, has a fraction, or does not fit. */
bool tl_decimal_to_int(const char *text, size_t n, int64_t *out);

/* Reads all n bytes as the nearest double, as strtod would in the C locale.  False when the text is no number. */
bool tl_decimal_to_double(const char *text, size_t n, double *out);

#endif
