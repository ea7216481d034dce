/* print.c - rows for people: one line per row; each format writes cells in its own way.
 *
 *     TABLE    up to 1,000 rows are buffered, each cell terminated by 0, until the widths of columns are known; a
 *              table with `parent` and `depth` is a tree: its names are indented
 *     CSV      RFC 4180, but with line ends of one byte
 *     JSON     an array of objects, one a line
 */
#include "cell.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/report/format/json_writer.h"
#include <stdlib.h>

enum { ROWS_AT_ONCE = 1000, GAP = 2, DEEPEST = 64 };

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

/* Buffers a cell after `indent` blanks, cut to `limit` columns (0: never); characters that could control a terminal
 * become '?'. */
static void put_waiting(struct tl_print_wait *wait, size_t column, size_t indent, tl_text text, size_t limit)
{
    static const char cut_mark[] = "...";
    size_t all = tl_text_columns(text),
           mark = limit > 0 && all > limit && limit > strlen(cut_mark) ? strlen(cut_mark) : 0;
    const size_t most = limit > 0 && all > limit ? limit - mark : all;
    size_t kept = 0;
    for (size_t i = 0; i < indent; i++)
        tl_vec_push(&wait->text, ' ');
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        const bool shows = c.whole && tl_char_shows(c.code);
        if (kept + tl_char_columns(c.code) > most)
            break;
        for (size_t k = 0; k < (shows ? c.bytes.n : 1); k++)
            tl_vec_push(&wait->text, shows ? c.bytes.p[k] : '?');
        kept += tl_char_columns(c.code);
    }
    for (size_t i = 0; i < mark; i++)
        tl_vec_push(&wait->text, cut_mark[i]);
    if (indent + kept + mark > wait->widths[column])
        wait->widths[column] = indent + kept + mark;
    tl_vec_push(&wait->text, 0);
}

static void put_table(const tl_printer *p, size_t column, const tl_field *field, const tl_text_cell *cell,
                      const unsigned char *row)
{
    int32_t depth = 0; /* of a name in a tree: two blanks per level */
    if (row != NULL && p->wait->depth != NULL && field->type == TL_TYPE_NAME && strcmp(field->name, "name") == 0)
        memcpy(&depth, row + p->wait->depth->offset, sizeof depth);
    depth = depth < 0 ? 0 : depth < DEEPEST ? depth : DEEPEST;
    put_waiting(p->wait, column, 2 * (size_t)depth, cell->is == TL_CELL_IS_NONE ? TL_TEXT("-") : cell->text,
                row != NULL && cell->is == TL_CELL_IS_TEXT ? p->text_width : 0);
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

/* CSV cells hold no control characters other than tab and line ends: readers disagree on them, and terminals obey
 * them. */
static bool csv_takes(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code < 0x7F || code >= 0xA0;
}

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
        if (!c.whole || !csv_takes(c.code))
            fputs("\xEF\xBF\xBD", out);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
        if (c.code == '"')
            fputc('"', out);
    }
    fputs(quoted ? "\"" : "", out);
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

static void put_json(FILE *out, const char *name, const tl_text_cell *cell)
{
    tl_json_text(out, tl_text_of(name));
    fputs(": ", out);
    if (cell->is == TL_CELL_IS_NUMBER)
        fwrite(cell->text.p, 1, cell->text.n, out);
    else if (cell->is == TL_CELL_IS_TEXT)
        tl_json_text(out, cell->text);
    else /* no value, or an infinity, which JSON cannot represent */
        fputs("null", out);
}

/* ----------------------------------------------------------------------------------------------------------- lines */

/* Prints a row, or with NULL the names of the columns. */
static void print_line(tl_printer *p, const unsigned char *row)
{
    const size_t n = ncolumns_of(p);
    if (p->format == TL_FORMAT_JSON)
        fputs(p->any ? ",\n{" : "\n{", p->out);
    for (size_t i = 0; i < n; i++) {
        const tl_field *field = column_of(p, i);
        char name[TL_HEADING_BYTES] = "";
        tl_text_cell cell;
        if (row == NULL || p->format == TL_FORMAT_JSON)
            tl_heading(name, sizeof name, p, field);
        cell.is = TL_CELL_IS_TEXT;
        cell.text = tl_text_of(name);
        if (row != NULL)
            tl_cell_format(&cell, p, field, row);
        if (i > 0 && p->format != TL_FORMAT_TABLE)
            fputs(p->format == TL_FORMAT_CSV ? "," : ", ", p->out);
        if (p->format == TL_FORMAT_TABLE)
            put_table(p, i, field, &cell, row);
        else if (p->format == TL_FORMAT_JSON)
            put_json(p->out, name, &cell);
        else if (n == 1 && cell.text.n == 0) /* most readers skip a line with a single empty cell */
            fputs("\"\"", p->out);
        else
            put_csv(p->out, cell.text, row != NULL && cell.is == TL_CELL_IS_TEXT);
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
