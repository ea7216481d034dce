/* cell.c - one cell of a row as text, and the columns of a terminal that a text takes.
 *
 *     --unit ms      wall_ns 80432943     wall_ms 80.433 in a table, 80.432943 in CSV and JSON
 *     --unit auto    wall_ns 80432943     wall 80.4 ms; share 0.132 13.2 %
 *
 * auto leaves instants in ns, which need all their digits.
 */
#include "cell.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- units */

static const struct {
    const char *word;
    int digits; /* decimals that represent a nanosecond */
    double ns;
} units[] = { [TL_UNIT_NS] = { "ns", 0, 1 },
              [TL_UNIT_US] = { "us", 3, 1e3 },
              [TL_UNIT_MS] = { "ms", 6, 1e6 },
              [TL_UNIT_S] = { "s", 9, 1e9 },
              [TL_UNIT_AUTO] = { "auto", 0, 1 } };

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

void tl_heading(char *out, size_t size, const tl_printer *printer, const tl_field *field)
{
    size_t n = strlen(field->name);
    bool changes = is_time(printer, field) && n > 3 && strcmp(field->name + n - 3, "_ns") == 0;
    snprintf(out, size, "%.*s", (int)(changes ? n - 3 : n), field->name);
    if (changes && printer->unit != TL_UNIT_AUTO)
        snprintf(out + n - 3, size - (n - 3), "_%s", units[printer->unit].word);
    else if (changes && tl_schema_field(printer->schema, out) != NULL) /* "wall" is a column itself */
        snprintf(out + n - 3, size - (n - 3), "_time");
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

/* ----------------------------------------------------------------------------------------------------------- cells */

/* The shortest text that reads back as the same double: %.15g if it reads back, except for subnormal numbers, which may
 * need fewer digits. */
void tl_double_format(char *out, size_t n, double value)
{
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do
        snprintf(out, n, "%.*g", digits, value);
    while (digits++ < DBL_DECIMAL_DIG && strtod(out, NULL) != value);
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

/* Writes a number into the cell's digits, times in the requested unit. */
static void put_number(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, const tl_content *value)
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

void tl_cell_format(tl_text_cell *cell, const tl_printer *printer, const tl_field *field, const unsigned char *row)
{
    const tl_content value = tl_content_of(field, row);
    bool blank = printer->blank != NULL && printer->blank[field - printer->schema->fields];
    bool untold = field->type == TL_TYPE_I64 || field->type == TL_TYPE_TIME
                      ? printer->unit != TL_UNIT_NS && value.i == -1 && strcmp(field->unit, "ns") == 0
                      : false;

    cell->is = blank || untold || value.none ? TL_CELL_IS_NONE : TL_CELL_IS_NUMBER;
    cell->text = (tl_text){ "", 0 };
    if (cell->is == TL_CELL_IS_NONE)
        return;
    if (field->type == TL_TYPE_TEXT || (field->type == TL_TYPE_ENUM && value.text.p != NULL) ||
        (field->type == TL_TYPE_NAME && printer->name != NULL)) {
        cell->is = TL_CELL_IS_TEXT;
        cell->text = field->type == TL_TYPE_NAME ? printer->name(printer->name_arg, (uint32_t)value.i) : value.text;
        return;
    }
    put_number(cell, printer, field, &value);
    if (field->type == TL_TYPE_F64 && isinf(value.d))
        cell->is = TL_CELL_IS_INFINITE;
    cell->text = (tl_text){ cell->digits, strlen(cell->digits) };
}

size_t tl_char_columns(uint32_t code)
{
    static const uint32_t wide[][2] = {
        { 0x1100, 0x115F },                         /* Hangul, leading consonants */
        { 0x2E80, 0x303E },                         /* radicals, punctuation */
        { 0x3041, 0xA4CF },                         /* kana, bopomofo, ideographs, Yi */
        { 0xA960, 0xA97F },                         /* Hangul, more consonants */
        { 0xAC00, 0xD7A3 },                         /* Hangul syllables */
        { 0xF900, 0xFAFF },                         /* ideographs, compatible */
        { 0xFE30, 0xFE6F },                         /* forms of punctuation */
        { 0xFF01, 0xFF60 },                         /* full width */
        { 0xFFE0, 0xFFE6 },                         /* full-width signs */
        { 0x1F300, 0x1F64F },                       /* pictures */
        { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD }, /* ideographs */
    };
    for (size_t i = 0; i < sizeof wide / sizeof wide[0] && code >= wide[i][0]; i++)
        if (code <= wide[i][1])
            return 2;
    return 1;
}

size_t tl_text_columns(tl_text text)
{
    size_t columns = 0;
    while (text.n > 0)
        columns += tl_char_columns(tl_char_take(&text).code);
    return columns;
}
