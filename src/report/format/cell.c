/* cell.c - one cell of a row as text, and the columns of a terminal that a text takes. */
#include "cell.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The shortest text that reads back as the same double: %.15g if it reads back, except for subnormal numbers, which may
 * need fewer digits. */
void tl_double_format(char *out, size_t n, double value)
{
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do
        snprintf(out, n, "%.*g", digits, value);
    while (digits++ < DBL_DECIMAL_DIG && strtod(out, NULL) != value);
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
    tl_number_put(cell, printer, field, &value);
    if (field->type == TL_TYPE_F64 && isinf(value.d))
        cell->is = TL_CELL_IS_INFINITE;
    cell->text = (tl_text){ cell->digits, strlen(cell->digits) };
}

bool tl_field_is_number(const tl_printer *printer, const tl_field *field)
{
    return field->type != TL_TYPE_ENUM && field->type != TL_TYPE_TEXT &&
           (field->type != TL_TYPE_NAME || printer->name == NULL);
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
