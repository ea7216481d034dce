/* decimal.c - converts decimal text of any length to integers and doubles, exactly.
 *
 * A number is scanned once into its digits (from the first that is not 0) and the position of its point:
 *
 *     "-0012.340e1"    minus 0.12340 * 10^3      digits "12340", point 3
 *     "0.00120"        0.120 * 10^-2             digits "120", point -2
 *
 * Scaling by 10^k adds k to `point`.  An integer is then the first `point` digits, and the rest decides the rounding;
 * no intermediate value overflows, so a number of a million digits or an exponent of 10^18 costs no more than reading
 * its text.
 */
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/text.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
    const char *p, *end; /* the digits, with the point among them; p == end for zero */
    int64_t point;       /* the value is 0.digits * 10^point */
    bool minus;
} number;

/* Limit of an exponent: no text is long enough to compensate it, and sums with a length cannot overflow. */
#define EXPONENT_MOST (INT64_MAX / 4)

/* Reads [eE][sign]digits, which must be the rest of the text. */
static bool scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    int64_t value = 0;
    bool minus = false;

    p++;
    if (p < end && (*p == '-' || *p == '+'))
        minus = *p++ == '-';
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (!tl_is_digit(*p))
            return false;
        if (value < EXPONENT_MOST / 16)
            value = value * 10 + (*p - '0');
        else
            value = EXPONENT_MOST;
    }
    *exponent = minus ? -value : value;
    return true;
}

static bool scan(const char *text, size_t n, number *out)
{
    const char *p = text, *end = text + n, *point = NULL, *first = NULL;
    int64_t exponent = 0;
    bool digits = false;

    out->minus = false;
    if (p < end && (*p == '-' || *p == '+'))
        out->minus = *p++ == '-';
    for (; p < end; p++) {
        if (tl_is_digit(*p)) {
            digits = true;
            if (first == NULL && *p != '0')
                first = p;
        } else if (*p == '.' && point == NULL) {
            point = p;
        } else {
            break;
        }
    }
    const char *mantissa_end = p;
    if (!digits || (p < end && ((*p != 'e' && *p != 'E') || !scan_exponent(p, end, &exponent))))
        return false;

    if (point == NULL)
        point = mantissa_end;
    if (first == NULL)
        first = mantissa_end;
    out->p = first;
    out->end = mantissa_end;
    out->point = exponent + (first < point ? (int64_t)(point - first) : -(int64_t)(first - point - 1));
    if (first == mantissa_end)
        out->point = 0;
    return true;
}

/* Returns the next digit of the number; 0 after the last one. */
static unsigned next_digit(number *x)
{
    if (x->p < x->end && *x->p == '.')
        x->p++;
    return x->p < x->end ? (unsigned)(*x->p++ - '0') : 0;
}

/* Whether any unread digit is not 0. */
static bool more_than_zeros(const number *x)
{
    for (const char *p = x->p; p < x->end; p++)
        if (*p != '0' && *p != '.')
            return true;
    return false;
}

/* Reads the integer part, as a magnitude; false: it is far too large for an int64_t. */
static bool integer_part(number *x, uint64_t *out)
{
    uint64_t value = 0;

    if (x->point > 19)
        return false;
    for (int64_t i = 0; i < x->point; i++)
        value = value * 10 + next_digit(x);
    *out = value;
    return true;
}

static bool with_sign(uint64_t magnitude, bool minus, int64_t *out)
{
    if (magnitude > (uint64_t)INT64_MAX + (minus ? 1 : 0))
        return false;
    *out = minus ? -(int64_t)(magnitude / 2) - (int64_t)(magnitude - magnitude / 2) : (int64_t)magnitude;
    return true;
}

/* Returns the rest of the number, 0.digits * 10^point with point <= 0, rounded to 0 or 1: to nearest; a tie goes to the
 * even one of value and value + 1. */
static unsigned round_up(number *x, uint64_t value)
{
    if (x->point < 0)
        return 0;
    unsigned digit = next_digit(x);
    if (digit != 5)
        return digit > 5;
    return more_than_zeros(x) || (value & 1) != 0;
}

/* Computes the number times 10^places, rounded. */
static bool scaled(const char *text, size_t n, int places, int64_t *out)
{
    number x;
    uint64_t value;

    if (!scan(text, n, &x))
        return false;
    if (x.p < x.end)
        x.point += places;
    if (!integer_part(&x, &value))
        return false;
    if (x.point > 0)
        x.point = 0;
    return with_sign(value + round_up(&x, value), x.minus, out);
}

bool tl_decimal_us_to_ns(const char *text, size_t n, int64_t *out)
{
    return scaled(text, n, 3, out);
}

bool tl_decimal_ms_to_ns(const char *text, size_t n, int64_t *out)
{
    return scaled(text, n, 6, out);
}

bool tl_decimal_to_int(const char *text, size_t n, int64_t *out)
{
    number x;
    uint64_t value;

    return scan(text, n, &x) && integer_part(&x, &value) && !more_than_zeros(&x) && with_sign(value, x.minus, out);
}

/* At most 767 digits distinguish a double from its neighbours; of later digits it only matters whether one is not 0. */
#define DIGITS_MOST 800

/* Reads the number with strtod, from digits and an exponent: without a point, which depends on the locale, and without
 * irrelevant digits. */
static double value_by_strtod(number x)
{
    char text[DIGITS_MOST + 32];
    size_t n = 0;
    int64_t point = x.point < -9999 ? -9999 : x.point > 9999 ? 9999 : x.point;

    while (x.p < x.end && n < DIGITS_MOST) {
        if (*x.p != '.')
            text[n++] = *x.p;
        x.p++;
    }
    if (more_than_zeros(&x))
        text[n++] = '1';
    snprintf(text + n, sizeof text - n, "e%d", (int)(point - (int64_t)n));

    int saved = errno;
    double value = strtod(text, NULL);
    errno = saved;
    return value;
}

bool tl_decimal_to_double(const char *text, size_t n, double *out)
{
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    number x;
    double value;

    if (!scan(text, n, &x))
        return false;

    uint64_t mantissa = 0;
    int64_t ndigits = 0;
    for (const char *p = x.p; p < x.end && ndigits < 20; p++) {
        if (*p == '.')
            continue;
        if (ndigits < 19)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        ndigits++;
    }

    /* An integer below 2^53 and a power of ten up to 10^22 are exact doubles, and one operation on them rounds once. */
    int64_t scale = x.point - ndigits;
    bool exact = FLT_EVAL_METHOD == 0 && ndigits < 20 && mantissa <= UINT64_C(1) << 53 && scale >= -22 && scale <= 22;
    if (x.p == x.end)
        value = 0.0;
    else if (exact)
        value = scale < 0 ? (double)mantissa / powers[-scale] : (double)mantissa * powers[scale];
    else
        value = value_by_strtod(x);
    *out = x.minus ? -value : value;
    return true;
}

int32_t tl_decimal_take(tl_text *text)
{
    size_t n = 0;
    int64_t value = -1;

    while (n < text->n && tl_is_digit(text->p[n]))
        n++;
    if (n == 0 || n > 9 || !tl_decimal_to_int(text->p, n, &value))
        return -1;
    *text = (tl_text){ text->p + n, text->n - n };
    return (int32_t)value;
}
