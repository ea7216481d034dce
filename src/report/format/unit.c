/* unit.c - times in units other than the nanoseconds of tables, and shares in percent.
 *
 *     --unit ms      wall_ns 80432943     wall_ms 80.433 in a table, 80.432943 in CSV and JSON
 *     --unit auto    wall_ns 80432943     wall 80.4 ms; share 0.132 13.2 %
 *
 * auto leaves instants in ns, which need all their digits.
 */
#include "cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *word;
    int digits; /* decimals that represent a nanosecond */
    double ns;
} units[] = { [TL_UNIT_NS] = { "ns", 0, 1 },
              [TL_UNIT_US] = { "us", 3, 1e3 },
              [TL_UNIT_MS] = { "ms", 6, 1e6 },
              [TL_UNIT_S] = { "s", 9, 1e9 },
              [TL_UNIT_AUTO] = { "auto", 0, 1 } };

const char *tl_unit_word(tl_unit_choice unit)
{
    return units[unit].word;
}

double tl_unit_ns(tl_unit_choice unit)
{
    return units[unit].ns;
}

double tl_unit_named(const char *word, size_t n)
{
    for (int unit = TL_UNIT_NS; unit <= TL_UNIT_S; unit++)
        if (strlen(units[unit].word) == n && memcmp(word, units[unit].word, n) == 0)
            return units[unit].ns;
    return 0;
}

static bool is_time(const tl_printer *printer, const tl_field *field)
{
    bool instant = field->type == TL_TYPE_TIME;
    return printer->unit != TL_UNIT_NS && strcmp(field->unit, "ns") == 0 && !(instant && printer->unit == TL_UNIT_AUTO);
}

static bool is_share(const tl_printer *printer, const tl_field *field)
{
    size_t n = strlen(field->name);
    bool named = strncmp(field->name, "share", 5) == 0 || (n > 6 && strcmp(field->name + n - 6, "_share") == 0) ||
                 strcmp(field->unit, "%") == 0;
    return named && printer->unit == TL_UNIT_AUTO && field->type == TL_TYPE_F64;
}

/* Returns whether a column is named as the first n bytes of this column's name. */
static bool is_another(const tl_printer *printer, const tl_field *field, size_t n)
{
    for (size_t i = 0; i < printer->schema->nfields; i++) {
        const char *name = printer->schema->fields[i].name;
        if (strlen(name) == n && memcmp(name, field->name, n) == 0)
            return true;
    }
    return false;
}

void tl_heading(char *out, size_t size, const tl_printer *printer, const tl_field *field)
{
    size_t n = strlen(field->name);
    bool changes = is_time(printer, field) && n > 3 && strcmp(field->name + n - 3, "_ns") == 0;
    if (!changes)
        snprintf(out, size, "%s", field->name);
    else if (printer->unit == TL_UNIT_AUTO)
        snprintf(out, size, "%.*s%s", (int)(n - 3), field->name, is_another(printer, field, n - 3) ? "_time" : "");
    else
        snprintf(out, size, "%.*s%s", (int)(n - 2), field->name, units[printer->unit].word);
}

void tl_time_words(char *out, size_t size, double ns, tl_unit_choice least)
{
    size_t unit = least;
    while (unit < TL_UNIT_S && fabs(ns) >= 999.5 * units[unit].ns)
        unit++;
    double value = ns / units[unit].ns, size_of = fabs(value);
    int decimals = unit == TL_UNIT_NS || size_of >= 99.95 ? 0 : size_of >= 9.995 ? 1 : 2;
    snprintf(out, size, "%.*f %s", decimals, value, units[unit].word);
}

/* Writes ns exactly, without trailing zeros. */
static void put_exact(char *out, size_t size, int64_t ns, int digits)
{
    uint64_t all = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, of = 1;
    for (int i = 0; i < digits; i++)
        of *= 10;
    int n = snprintf(out, size, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", all / of, digits, all % of);
    while (n > 0 && out[n - 1] == '0')
        out[--n] = '\0';
    if (n > 0 && out[n - 1] == '.')
        out[n - 1] = '\0';
}

void tl_number_put(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, const tl_content *value)
{
    const bool real = field->type == TL_TYPE_F64, table = printer->format == TL_FORMAT_TABLE,
               time = is_time(printer, field);
    const double number = real ? value->d : (double)value->i, scaled = time ? number / units[printer->unit].ns : number,
                 size_of = fabs(number);
    char *out = cell->digits;
    const size_t n = sizeof cell->digits;
    if (is_share(printer, field))
        snprintf(out, n, "%.1f %%", strcmp(field->unit, "%") == 0 ? number : 100 * number);
    else if (time && printer->unit == TL_UNIT_AUTO)
        tl_time_words(out, n, number, TL_UNIT_NS);
    else if (real && table) /* a large value: no decimals in a table, and no exponent yet */
        snprintf(out, n, !time && size_of >= 1e5 && size_of < 1e15 ? "%.0f" : "%.6g", scaled);
    else if (real)
        tl_double_format(out, n, scaled);
    else if (!time)
        snprintf(out, n, "%" PRId64, value->i);
    else if (table)
        snprintf(out, n, "%.*f", printer->unit == TL_UNIT_S ? 6 : 3, scaled);
    else
        put_exact(out, n, value->i, units[printer->unit].digits);
}
