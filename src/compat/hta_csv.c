/* hta_csv.c - cells, and a file that is whole or not there. */
#include "hta_csv.h"
#include "tlmpi/base/leftover.h"
#include "tlmpi/base/mem.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes value as d.ddd...e+XX with the fewest digits that read back as the same double.  A normal double that any 15
 * digits or fewer stand for is given back by its 15 digits, zeros behind them; a subnormal one has fewer to go by. */
static void shortest(char *out, size_t size, double value)
{
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(out, size, "%.*e", digits - 1, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

/* Python writes 1e-4 up to below 1e16 without an exponent, and a whole number with ".0". */
void tl_hta_repr(char out[TL_HTA_REPR_SIZE], double value)
{
    static const char zeros[] = "0000000000000000";
    const char *sign = signbit(value) ? "-" : "";
    char text[TL_HTA_REPR_SIZE], digits[TL_HTA_REPR_SIZE] = "0";
    int n = 0, exponent;

    if (!isfinite(value)) {
        snprintf(out, TL_HTA_REPR_SIZE, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    shortest(text, sizeof text, fabs(value));
    for (const char *p = text; *p != 'e'; p++)
        if (*p != '.')
            digits[n++] = *p;
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;

    int whole = exponent + 1;       /* digits before the point */
    if (exponent < -4 || exponent >= 16)
        snprintf(out, TL_HTA_REPR_SIZE, "%s%c%s%.*se%c%02d", sign, digits[0], n > 1 ? "." : "", n - 1, digits + 1,
                 exponent < 0 ? '-' : '+', abs(exponent));
    else if (whole <= 0)
        snprintf(out, TL_HTA_REPR_SIZE, "%s0.%.*s%.*s", sign, -whole, zeros, n, digits);
    else if (n <= whole)
        snprintf(out, TL_HTA_REPR_SIZE, "%s%.*s%.*s.0", sign, n, digits, whole - n, zeros);
    else
        snprintf(out, TL_HTA_REPR_SIZE, "%s%.*s.%.*s", sign, whole, digits, n - whole, digits + whole);
}

double tl_hta_round2(double value)
{
    return rint(value * 100) / 100;
}

/* "a" + "b" + "c" in memory of its own; NULL when it is out. */
static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = tl_malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

tl_status tl_hta_csv_open(tl_hta_csv *csv, const char *dir, const char *name, const char *header, tl_error *err)
{
    tl_status st;

    *csv = (tl_hta_csv){ .path = joined(dir, "/", name) };
    if (csv->path != NULL)
        csv->part = joined(csv->path, ".part", "");
    if (csv->part == NULL) {
        st = tl_fail_memory(err, "the path of a table");
        goto fail;
    }
    tl_leftover_add(csv->part);
    csv->file = fopen(csv->part, "wb");
    if (csv->file == NULL) {
        st = tl_fail(err, TL_EOUTPUT, "%s: %s", csv->part, strerror(errno));
        goto fail;
    }
    if (header != NULL)
        fprintf(csv->file, "%s\n", header);
    return TL_OK;

fail:
    tl_hta_csv_abandon(csv);
    return st;
}

static void begin_cell(tl_hta_csv *csv)
{
    if (csv->in_row)
        fputc(',', csv->file);
    csv->in_row = true;
}

void tl_hta_csv_text(tl_hta_csv *csv, tl_text text)
{
    bool quote = memchr(text.p, ',', text.n) != NULL || memchr(text.p, '"', text.n) != NULL ||
                 memchr(text.p, '\n', text.n) != NULL || memchr(text.p, '\r', text.n) != NULL;

    begin_cell(csv);
    if (!quote) {
        fwrite(text.p, 1, text.n, csv->file);
        return;
    }
    fputc('"', csv->file);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            fputc('"', csv->file);
        fputc(text.p[i], csv->file);
    }
    fputc('"', csv->file);
}

void tl_hta_csv_int(tl_hta_csv *csv, int64_t value)
{
    begin_cell(csv);
    fprintf(csv->file, "%lld", (long long)value);
}

void tl_hta_csv_real(tl_hta_csv *csv, double value)
{
    char text[TL_HTA_REPR_SIZE];

    begin_cell(csv);
    if (isnan(value))
        return;
    tl_hta_repr(text, value);
    fputs(text, csv->file);
}

void tl_hta_csv_number(tl_hta_csv *csv, double value, bool whole)
{
    if (!whole || !isfinite(value)) {
        tl_hta_csv_real(csv, value);
        return;
    }
    begin_cell(csv);
    fprintf(csv->file, "%.0f", value + 0.0);        /* an integer has no negative zero */
}

void tl_hta_csv_blank(tl_hta_csv *csv)
{
    begin_cell(csv);
}

void tl_hta_csv_end_row(tl_hta_csv *csv)
{
    fputc('\n', csv->file);
    csv->in_row = false;
}

static void forget(tl_hta_csv *csv)
{
    if (csv->part != NULL)
        tl_leftover_done(csv->part);
    free(csv->path);
    free(csv->part);
    *csv = (tl_hta_csv){ 0 };
}

/* A write may fail as late as in fclose; only after it the table gets its name. */
tl_status tl_hta_csv_close(tl_hta_csv *csv, tl_error *err)
{
    errno = 0;
    bool written = fflush(csv->file) == 0 && !ferror(csv->file) && fsync(fileno(csv->file)) == 0;
    int cause = errno != 0 ? errno : EIO;       /* a write that failed earlier has left no errno */

    if (fclose(csv->file) != 0 && written) {
        written = false;
        cause = errno;
    }
    csv->file = NULL;
    if (written && rename(csv->part, csv->path) != 0) {
        written = false;
        cause = errno;
    }
    tl_status st = written ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", csv->path, strerror(cause));
    if (!written)
        unlink(csv->part);
    forget(csv);
    return st;
}

void tl_hta_csv_abandon(tl_hta_csv *csv)
{
    if (csv->file != NULL)
        fclose(csv->file);
    if (csv->file != NULL && csv->part != NULL)
        unlink(csv->part);
    forget(csv);
}
