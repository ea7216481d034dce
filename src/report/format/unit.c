/* unit.c - times in other units than the nanoseconds that tables hold, and shares, for people.
 *
 *     --unit ms      wall_ns 80432943     wall_ms 80.433 in a table, 80.432943 in CSV and JSON
 *     --unit auto    wall_ns 80432943     wall 80.4 ms; share 0.132 13.2 %
 *
 * auto leaves instants as they are: three digits of one tell nothing.
 */
#include "cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *word;
    int digits; /* of a nanosecond behind the point */
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

/* Whether a column is called as the first n bytes of this one's name. */
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

/* Three digits, and the unit with which they are not too small. */
static void put_auto(char *out, size_t size, double ns)
{
    size_t unit = TL_UNIT_NS;
    while (unit < TL_UNIT_S && fabs(ns) >= 999.5 * units[unit].ns)
        unit++;
    double value = ns / units[unit].ns, least = fabs(value);
    int decimals = unit == TL_UNIT_NS || least >= 99.95 ? 0 : least >= 9.995 ? 1 : 2;
    snprintf(out, size, "%.*f %s", decimals, value, units[unit].word);
}

/* Every digit that it has, and no more. */
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

bool tl_unit_put_int(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, int64_t value)
{
    const tl_unit_choice unit = printer->unit;
    if (!is_time(printer, field))
        return false;
    if (unit == TL_UNIT_AUTO)
        put_auto(cell->digits, sizeof cell->digits, (double)value);
    else if (printer->format == TL_FORMAT_TABLE)
        snprintf(cell->digits, sizeof cell->digits, "%.*f", unit == TL_UNIT_S ? 6 : 3, (double)value / units[unit].ns);
    else
        put_exact(cell->digits, sizeof cell->digits, value, units[unit].digits);
    return true;
}

bool tl_unit_put_real(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, double value)
{
    if (is_share(printer, field))
        snprintf(cell->digits, sizeof cell->digits, "%.1f %%", strcmp(field->unit, "%") == 0 ? value : 100 * value);
    else if (!is_time(printer, field))
        return false;
    else if (printer->unit == TL_UNIT_AUTO)
        put_auto(cell->digits, sizeof cell->digits, value);
    else if (printer->format == TL_FORMAT_TABLE)
        snprintf(cell->digits, sizeof cell->digits, "%.6g", value / units[printer->unit].ns);
    else
        tl_double_format(cell->digits, sizeof cell->digits, value / units[printer->unit].ns);
    return true;
}
