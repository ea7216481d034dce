/* print.c - rows for people: one line per row; each format writes cells in its own way.
 *
 *     TABLE    up to 1,000 rows are buffered, each cell terminated by 0, until the widths of columns are known; a
 *              table with `parent` and `depth` is a tree: its names are indented
 *     CSV      RFC 4180, but with line ends of one byte
 *     JSON     an array of objects, one a line
 *
 *     --unit ms      wall_ns 80432943     wall_ms 80.433 in a table, 80.432943 in CSV and JSON
 *     --unit auto    wall_ns 80432943     wall 80.4 ms; share 0.132 13.2 %
 *
 * auto leaves instants in ns, which need all their digits.
 */
#include "tlmpi/report/format/print.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/format/json_writer.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* HEADING_BYTES: of the longest column head. */
enum { ROWS_AT_ONCE = 1000, GAP = 2, DEEPEST = 64, HEADING_BYTES = 80 };

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

/* Writes the head of a column: its name, with the unit of its times. */
static void heading(char *out, size_t size, const tl_printer *printer, const tl_field *field)
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

typedef enum cell_is {
    CELL_IS_NONE, /* no value */
    CELL_IS_NUMBER,
    CELL_IS_INFINITE, /* a number that JSON cannot represent */
    CELL_IS_TEXT      /* any bytes */
} cell_is;

typedef struct text_cell {
    cell_is is;
    tl_text text; /* points into the row, the names, the labels or `digits`: do not copy the cell */
    char digits[32];
} text_cell;

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
static void put_number(text_cell *cell, const tl_printer *printer, const tl_field *field, const tl_content *value)
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

static void cell_format(text_cell *cell, const tl_printer *printer, const tl_field *field, const unsigned char *row)
{
    const tl_content value = tl_content_of(field, row);
    bool blank = printer->blank != NULL && printer->blank[field - printer->schema->fields];
    bool untold =
        field->type == TL_TYPE_I64 || field->type == TL_TYPE_TIME
            ? printer->unit != TL_UNIT_NS && !printer->signed_times && value.i == -1 && strcmp(field->unit, "ns") == 0
            : false;

    cell->is = blank || untold || value.none ? CELL_IS_NONE : CELL_IS_NUMBER;
    cell->text = (tl_text){ "", 0 };
    if (cell->is == CELL_IS_NONE)
        return;
    if (field->type == TL_TYPE_TEXT || (field->type == TL_TYPE_ENUM && value.text.p != NULL) ||
        (field->type == TL_TYPE_NAME && printer->name != NULL)) {
        cell->is = CELL_IS_TEXT;
        cell->text = field->type == TL_TYPE_NAME ? printer->name(printer->name_arg, (uint32_t)value.i) : value.text;
        return;
    }
    put_number(cell, printer, field, &value);
    if (field->type == TL_TYPE_F64 && isinf(value.d))
        cell->is = CELL_IS_INFINITE;
    cell->text = (tl_text){ cell->digits, strlen(cell->digits) };
}

/* Returns the columns of a terminal that the character takes. */
static size_t char_columns(uint32_t code)
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
        columns += char_columns(tl_char_take(&text).code);
    return columns;
}

/* ------------------------------------------------------------------------------------------------------------ rows */

struct tl_print_wait {
    TL_VEC(char) text;     /* the buffered cells, row after row */
    size_t nrows;          /* buffered rows */
    size_t *widths;        /* of each column, in columns of the terminal */
    const tl_field *depth; /* depth of a tree's rows, which indents names; NULL: no tree */
};

/* Returns the field of the i-th printed column. */
static const tl_field *column_of(const tl_printer *p, size_t i)
{
    return &p->schema->fields[p->columns != NULL ? p->columns[i] : i];
}

static size_t ncolumns_of(const tl_printer *p)
{
    return p->columns != NULL ? p->ncolumns : p->schema->nfields;
}

/* ----------------------------------------------------------------------------------------------------------- table */

/* Returns whether the column's cells are numbers. */
static bool is_number(const tl_printer *printer, const tl_field *field)
{
    return field->type != TL_TYPE_ENUM && field->type != TL_TYPE_TEXT &&
           (field->type != TL_TYPE_NAME || printer->name == NULL);
}

/* Buffers a cell, a name in a tree after two blanks for each level; a text is cut to text_width columns (0: never), and
 * characters that could control a terminal become '?'. */
static void put_table(const tl_printer *p, size_t column, const tl_field *field, const text_cell *cell,
                      const unsigned char *row)
{
    static const char cut_mark[] = "...";
    struct tl_print_wait *wait = p->wait;
    tl_text text = cell->is == CELL_IS_NONE ? TL_TEXT("-") : cell->text;
    const size_t limit = row != NULL && cell->is == CELL_IS_TEXT ? p->text_width : 0, all = tl_text_columns(text),
                 mark = limit > strlen(cut_mark) && all > limit ? strlen(cut_mark) : 0,
                 most = limit > 0 && all > limit ? limit - mark : all;
    size_t kept = 0;
    int32_t depth = 0;
    if (row != NULL && wait->depth != NULL && field->type == TL_TYPE_NAME && strcmp(field->name, "name") == 0)
        memcpy(&depth, row + wait->depth->offset, sizeof depth);
    const size_t indent = 2 * (size_t)(depth < 0 ? 0 : depth < DEEPEST ? depth : DEEPEST);
    for (size_t i = 0; i < indent; i++)
        tl_vec_push(&wait->text, ' ');
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        const bool shows = c.whole && tl_char_shows(c.code);
        if (kept + char_columns(c.code) > most)
            break;
        for (size_t k = 0; k < (shows ? c.bytes.n : 1); k++)
            tl_vec_push(&wait->text, shows ? c.bytes.p[k] : '?');
        kept += char_columns(c.code);
    }
    for (size_t i = 0; i < mark; i++)
        tl_vec_push(&wait->text, cut_mark[i]);
    if (indent + kept + mark > wait->widths[column])
        wait->widths[column] = indent + kept + mark;
    tl_vec_push(&wait->text, 0);
}

/* Prints the buffered rows, numbers to the right, texts to the left; column widths are computed for each ROWS_AT_ONCE
 * rows. */
static void flush_rows(const tl_printer *p)
{
    struct tl_print_wait *wait = p->wait;
    const char *at = wait->text.v;
    const size_t n = ncolumns_of(p);
    for (size_t row = 0; row < wait->nrows; row++) {
        for (size_t i = 0; i < n; i++) {
            const int pad = (int)(wait->widths[i] - tl_text_columns(tl_text_of(at)));
            const bool right = is_number(p, column_of(p, i));
            fprintf(p->out, "%*s%s", (i > 0 ? GAP : 0) + (right ? pad : 0), "", at);
            if (!right && i + 1 < n)
                fprintf(p->out, "%*s", pad, "");
            at += strlen(at) + 1;
        }
        fputc('\n', p->out);
    }
    wait->nrows = 0;
    wait->text.n = 0;
}

/* ------------------------------------------------------------------------------------------------------------- CSV */

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* A text that a spreadsheet would read as a formula is preceded by an apostrophe. */
static void put_csv(FILE *out, tl_text text, bool formula)
{
    bool quoted = text.n > 0 && (text.p[0] == ' ' || text.p[text.n - 1] == ' ');
    for (size_t i = 0; i < text.n && !quoted; i++)
        quoted = is_one_of(text.p[i], ",\"\r\n");

    fputs(quoted ? "\"" : "", out);
    if (formula && text.n > 0 && is_one_of(text.p[0], "=+-@\t\r"))
        fputc('\'', out);
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        if (!c.whole || tl_char_controls(c.code)) /* readers disagree on control characters, and terminals obey them */
            fputs("\xEF\xBF\xBD", out);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
        if (c.code == '"')
            fputc('"', out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

static void put_json(FILE *out, const char *name, const text_cell *cell)
{
    tl_json_text(out, tl_text_of(name));
    fputs(": ", out);
    if (cell->is == CELL_IS_NUMBER)
        fwrite(cell->text.p, 1, cell->text.n, out);
    else if (cell->is == CELL_IS_TEXT)
        tl_json_text(out, cell->text);
    else /* no value, or an infinity, which JSON cannot represent */
        fputs("null", out);
}

/* Prints a row, or with NULL the names of the columns. */
static void print_line(tl_printer *p, const unsigned char *row)
{
    const size_t n = ncolumns_of(p);
    if (p->format == TL_FORMAT_JSON)
        fputs(p->any ? ",\n{" : "\n{", p->out);
    for (size_t i = 0; i < n; i++) {
        const tl_field *field = column_of(p, i);
        char name[HEADING_BYTES] = "";
        text_cell cell;
        if (row == NULL || p->format == TL_FORMAT_JSON)
            heading(name, sizeof name, p, field);
        cell.is = CELL_IS_TEXT;
        cell.text = tl_text_of(name);
        if (row != NULL)
            cell_format(&cell, p, field, row);
        if (i > 0 && p->format != TL_FORMAT_TABLE)
            fputs(p->format == TL_FORMAT_CSV ? "," : ", ", p->out);
        if (p->format == TL_FORMAT_TABLE)
            put_table(p, i, field, &cell, row);
        else if (p->format == TL_FORMAT_JSON)
            put_json(p->out, name, &cell);
        else if (n == 1 && cell.text.n == 0) /* most readers skip a line with a single empty cell */
            fputs("\"\"", p->out);
        else
            put_csv(p->out, cell.text, row != NULL && cell.is == CELL_IS_TEXT);
    }
    if (p->format == TL_FORMAT_TABLE && ++p->wait->nrows >= ROWS_AT_ONCE)
        flush_rows(p);
    if (p->format != TL_FORMAT_TABLE)
        fputs(p->format == TL_FORMAT_CSV ? "\n" : "}", p->out);
    p->any |= row != NULL;
}

bool tl_print_begin(tl_printer *p)
{
    p->any = false;
    p->wait = NULL;
    if (p->format == TL_FORMAT_TABLE) {
        p->wait = tl_calloc(1, sizeof *p->wait);
        p->wait->widths = tl_calloc(ncolumns_of(p) + 1, sizeof *p->wait->widths);
        if (tl_schema_field(p->schema, "parent") != NULL)
            p->wait->depth = tl_schema_field(p->schema, "depth");
    }
    if (p->format == TL_FORMAT_JSON)
        fputc('[', p->out);
    else
        print_line(p, NULL);
    return !ferror(p->out);
}

bool tl_print_rows(tl_printer *p, const void *rows, size_t n)
{
    const unsigned char *row = rows;
    for (size_t i = 0; i < n; i++)
        print_line(p, row + i * p->schema->row_size);
    return !ferror(p->out);
}

bool tl_print_end(tl_printer *p)
{
    if (p->format == TL_FORMAT_JSON)
        fputs(p->any ? "\n]\n" : "]\n", p->out);
    if (p->wait != NULL) {
        flush_rows(p);
        free(p->wait->widths);
        free(p->wait->text.v);
        free(p->wait);
        p->wait = NULL;
    }
    return fflush(p->out) == 0 && !ferror(p->out);
}
