#include "tlmpi/compat/python.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/trace/text/json.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tries 15, 16, ... digits until the text reads back as the same double, and cuts trailing zeros: a normal double
 * with a shorter text has that text, and zeros after it, in its 15 digits.  A subnormal double may have fewer exact
 * digits, so its search begins at 1.  Python writes values from 1e-4 to below 1e16 without an exponent, whole
 * numbers with ".0". */
void tl_python_repr(char out[TL_PYTHON_REPR_SIZE], double value)
{
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;

    if (!isfinite(value)) {
        snprintf(out, TL_PYTHON_REPR_SIZE, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(value) < 1e15 && value == floor(value) && !(value == 0 && signbit(value))) {
        snprintf(out, TL_PYTHON_REPR_SIZE, "%lld.0", (long long)value); /* the fast path of most cells */
        return;
    }
    for (;; digits++) {
        snprintf(out, TL_PYTHON_REPR_SIZE, "%.*e", digits - 1, value);
        if (strtod(out, NULL) == value)
            break;
    }
    char *e = strchr(out, 'e'), *end = e;
    const int exponent = (int)strtol(e + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16) {
        while (end[-1] == '0')
            end--;
        end -= end[-1] == '.';
        memmove(end, e, strlen(e) + 1);
    } else {
        snprintf(out, TL_PYTHON_REPR_SIZE, "%.*f", digits - 1 - exponent > 1 ? digits - 1 - exponent : 1, value);
        for (end = out + strlen(out); end[-1] == '0' && end[-2] != '.'; end--)
            end[-1] = '\0';
    }
}

double tl_python_round(double value, int decimals)
{
    char text[400]; /* 309 digits, a sign, a point and decimals */

    if (!isfinite(value))
        return value;
    snprintf(text, sizeof text, "%.*f", decimals, value);
    return strtod(text, NULL);
}

/* Numpy adds pairwise: an array of over 128 numbers is the sum of its halves, cut at a multiple of 8; up to 128 numbers
 * are added in eight lanes, and the lanes then pairwise.  Small differences of large sums depend on the order of
 * additions in their eighth digit. */
#define LANES 8
#define BLOCK 128

double tl_numpy_sum(const double *v, size_t n, size_t stride)
{
    double lane[LANES], sum = 0;
    size_t i = 0;

    if (n > BLOCK) {
        size_t half = n / 2 / LANES * LANES;
        return tl_numpy_sum(v, half, stride) + tl_numpy_sum(v + half * stride, n - half, stride);
    }
    if (n >= LANES) {
        for (; i < LANES; i++)
            lane[i] = v[i * stride];
        for (; i < n / LANES * LANES; i++)
            lane[i % LANES] += v[i * stride];
        sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    for (; i < n; i++)
        sum += v[i * stride];
    return sum;
}

static double value_at(const uint32_t *order, size_t i, const double *first, size_t size)
{
    double x;
    memcpy(&x, (const char *)first + (order != NULL ? order[i] : i) * size, sizeof x);
    return x;
}

double *tl_column(const uint32_t *order, size_t n, const double *first, size_t size)
{
    double *v = tl_malloc(n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = value_at(order, i, first, size);
    return v;
}

/* The sum is compensated (Kahan), as in pandas: HTA rounds sums and means to hundredths. */
tl_real_stats tl_stats_of(const uint32_t *order, size_t n, const double *first, size_t size)
{
    tl_real_stats stats = { .mean = NAN, .std = NAN, .min = NAN, .max = NAN };
    double squares = 0, lost = 0;

    for (size_t i = 0; i < n; i++) {
        const double x = value_at(order, i, first, size), more = (isnan(x) ? 0 : x) - lost, sum = stats.sum + more;
        stats.n += isnan(x) ? 0 : 1;
        lost = sum - stats.sum - more;
        stats.sum = sum;
        stats.min = fmin(stats.min, x); /* fmin and fmax ignore NaN */
        stats.max = fmax(stats.max, x);
    }
    if (stats.n > 0)
        stats.mean = stats.sum / (double)stats.n;
    for (size_t i = 0; i < n; i++) {
        const double off = value_at(order, i, first, size) - stats.mean;
        squares += isnan(off) ? 0 : off * off;
    }
    if (stats.n > 1)
        stats.std = sqrt(squares / (double)(stats.n - 1));
    return stats;
}

TL_SORT_BY(largest_first, tl_sum, DOWN(stats.sum), order[0])

tl_sums tl_sums_of(uint32_t *order, size_t n, tl_compare *compare, const void *rows, const double *first, size_t size)
{
    tl_sums sums = { 0 };

    tl_sort_index(order, n, compare, rows);
    TL_GROUPS (from, to, order, n, compare, rows)
        tl_vec_push(&sums, (tl_sum){ order + from, to - from, tl_stats_of(order + from, to - from, first, size) });
    tl_vec_sort(&sums, largest_first);
    return sums;
}

/* Starts at the nearer of the two neighbouring doubles, as numpy does. */
double tl_real_quantile(const double *ascending, size_t n, double q)
{
    double at = (double)(n - 1) * q, part = at - floor(at);
    double low = ascending[(size_t)at], high = ascending[(size_t)at + 1 < n ? (size_t)at + 1 : n - 1];

    return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

void tl_real_describe(double out[TL_NDESCRIBED], double *v, size_t n)
{
    const tl_real_stats stats = tl_stats_of(NULL, n, v, sizeof *v);

    out[0] = (double)n;
    out[1] = n > 0 ? tl_numpy_sum(v, n, 1) / (double)n : NAN;
    out[2] = stats.std;
    tl_real_sort(v, n);
    for (size_t i = 0; i <= 4; i++)
        out[3 + i] = n > 0 ? tl_real_quantile(v, n, 0.25 * (double)i) : NAN;
}

/* ------------------------------------------------------------------------------------------------------ JSON arrays */

/* The deepest nesting that is converted; a deeper list, or a list with an object in it, is shown as in the trace. */
#define DEEPEST 64

/* Appends the string in single quotes; in double quotes if it has a single quote and no double quote. */
static void put_string(tl_bytes *out, tl_text json)
{
    tl_bytes text = { 0 };

    tl_json_read_string(json, &text);
    const bool single = text.n > 0 && memchr(text.v, '\'', text.n) != NULL;
    const char quote = single && memchr(text.v, '"', text.n) == NULL ? '"' : '\'';
    tl_bytes_put(out, &quote, 1);
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.v[i];
        if (c == '\\' || c == quote)
            tl_bytes_say(out, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            tl_bytes_say(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            tl_bytes_say(out, "\\x%02x", (unsigned)c);
        else
            tl_bytes_put(out, &c, 1);
    }
    tl_bytes_put(out, &quote, 1);
    tl_bytes_free(&text);
}

/* Appends a JSON value, an array in brackets if `list`, else in parentheses.  False: the text is no JSON, has an
 * object, or is nested deeper than DEEPEST. */
static bool put_value(tl_bytes *out, tl_text json, bool list, int depth) /* NOLINT(misc-no-recursion): to DEEPEST */
{
    char text[TL_PYTHON_REPR_SIZE];
    double value;

    if (json.p[0] == '[') {
        tl_text rest = tl_json_inside(json), element;
        size_t n = 0;
        if (depth == DEEPEST || json.n < 2 || json.p[json.n - 1] != ']')
            return false;
        tl_bytes_say(out, "%s", list ? "[" : "(");
        for (; tl_json_element(&rest, &element); n++) {
            tl_bytes_say(out, "%s", n > 0 ? ", " : "");
            if (!put_value(out, element, list, depth + 1))
                return false;
        }
        tl_bytes_say(out, "%s", list ? "]" : n == 1 ? ",)" : ")");
        return true;
    }
    if (json.p[0] == '"') {
        put_string(out, json);
    } else if (json.p[0] == 't' || json.p[0] == 'f' || json.p[0] == 'n') {
        tl_bytes_say(out, "%s", json.p[0] == 't' ? "True" : json.p[0] == 'f' ? "False" : "None");
    } else if (json.p[0] != '{' && memchr(json.p, '.', json.n) == NULL && memchr(json.p, 'e', json.n) == NULL &&
               memchr(json.p, 'E', json.n) == NULL) {
        tl_bytes_put(out, json.p, json.n);
    } else {
        if (!tl_decimal_to_double(json.p, json.n, &value))
            return false;
        tl_python_repr(text, value);
        tl_bytes_say(out, "%s", text);
    }
    return true;
}

void tl_python_list(tl_text json, bool tuple, tl_bytes *out)
{
    const size_t before = out->n;

    if (json.n > 0 && json.p[0] == '[' && put_value(out, json, !tuple, 0))
        return;
    out->n = before;
    tl_bytes_put(out, json.p, json.n);
}
