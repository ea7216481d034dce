/* text.c - rows as an aligned table.
 *
 * The cells of up to 1,000 rows wait in one buffer, each with a 0 after it, until their widths are known.  A table with
 * `parent` and `depth` is a tree: its names are indented.
 */
#include "cell.h"

#include "tlmpi/base/mem.h"
#include <stdlib.h>

enum { ROWS_AT_ONCE = 1000, GAP = 2, DEEPEST = 64 };

static const char cut_mark[] = "...";

struct tl_print_wait {
    TL_VEC(char) text;     /* the waiting cells, row after row */
    size_t nrows;          /* that wait */
    size_t *widths;        /* of each column, in columns of the terminal */
    const tl_field *depth; /* of a tree, whose names are indented by it; NULL */
};

static void put_byte(struct tl_print_wait *wait, char byte)
{
    tl_vec_push(&wait->text, byte);
}

/* Adds a cell after `indent` blanks, cut to `limit` columns (0: never); a character that a terminal must not see
 * becomes '?'. */
static void put_cell(struct tl_print_wait *wait, size_t column, size_t indent, tl_text text, size_t limit)
{
    size_t all = tl_text_columns(text), most = all, mark = 0, kept = 0;
    if (limit > 0 && all > limit) {
        mark = limit > strlen(cut_mark) ? strlen(cut_mark) : 0;
        most = limit - mark;
    }
    for (size_t i = 0; i < indent; i++)
        put_byte(wait, ' ');
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        bool shows = c.whole && tl_char_shows(c.code);
        size_t columns = tl_char_columns(c.code);
        if (kept + columns > most)
            break;
        for (size_t k = 0; k < (shows ? c.bytes.n : 1); k++)
            put_byte(wait, shows ? c.bytes.p[k] : '?');
        kept += columns;
    }
    for (size_t i = 0; i < mark; i++)
        put_byte(wait, cut_mark[i]);
    if (indent + kept + mark > wait->widths[column])
        wait->widths[column] = indent + kept + mark;
    put_byte(wait, 0);
}

/* Prints one line of cells that stand at `at`; returns where the next line's stand. */
static const char *print_line(const tl_printer *printer, const char *at)
{
    size_t ncolumns = tl_print_ncolumns(printer);
    for (size_t i = 0; i < ncolumns; i++) {
        size_t n = strlen(at);
        size_t pad = printer->wait->widths[i] - tl_text_columns((tl_text){ at, n });
        bool right = tl_field_is_number(printer, tl_print_column(printer, i));
        fprintf(printer->out, "%*s%s", (i > 0 ? GAP : 0) + (right ? (int)pad : 0), "", at);
        if (!right && i + 1 < ncolumns)
            fprintf(printer->out, "%*s", (int)pad, "");
        at += n + 1;
    }
    fputc('\n', printer->out);
    return at;
}

static void flush_rows(tl_printer *printer)
{
    struct tl_print_wait *wait = printer->wait;
    const char *at = wait->text.v;
    for (size_t i = 0; i < wait->nrows; i++)
        at = print_line(printer, at);
    wait->nrows = 0;
    wait->text.n = 0;
}

static void begin(tl_printer *printer)
{
    size_t ncolumns = tl_print_ncolumns(printer);
    struct tl_print_wait *wait = tl_calloc(1, sizeof *wait);
    printer->wait = wait;
    if (tl_schema_field(printer->schema, "parent") != NULL)
        wait->depth = tl_schema_field(printer->schema, "depth");
    wait->widths = tl_calloc(ncolumns + 1, sizeof *wait->widths);
    for (size_t i = 0; i < ncolumns; i++) {
        char name[TL_HEADING_BYTES];
        tl_heading(name, sizeof name, printer, tl_print_column(printer, i));
        put_cell(wait, i, 0, (tl_text){ name, strlen(name) }, 0);
    }
    wait->nrows = 1; /* the header is the first line that waits */
}

/* Returns the blanks before the cell: two for each level, for names of a tree; else 0. */
static size_t indent_of(const tl_printer *printer, const tl_field *field, const unsigned char *row)
{
    int32_t depth = 0;
    if (printer->wait->depth != NULL && field->type == TL_TYPE_NAME && strcmp(field->name, "name") == 0)
        memcpy(&depth, row + printer->wait->depth->offset, sizeof depth);
    return depth <= 0 ? 0 : 2 * (size_t)(depth < DEEPEST ? depth : DEEPEST);
}

/* Takes a row; the widths of columns are decided anew for every ROWS_AT_ONCE rows. */
static void take_row(tl_printer *printer, const unsigned char *row)
{
    for (size_t i = 0; i < tl_print_ncolumns(printer); i++) {
        const tl_field *field = tl_print_column(printer, i);
        tl_text_cell cell;
        tl_cell_format(&cell, printer, field, row);
        tl_text text = cell.is == TL_CELL_IS_NONE ? TL_TEXT("-") : cell.text;
        size_t limit = cell.is == TL_CELL_IS_TEXT ? printer->text_width : 0;
        put_cell(printer->wait, i, indent_of(printer, field, row), text, limit);
    }
    if (++printer->wait->nrows >= ROWS_AT_ONCE)
        flush_rows(printer);
}

static void end(tl_printer *printer)
{
    struct tl_print_wait *wait = printer->wait;
    if (wait == NULL)
        return;
    flush_rows(printer);
    free(wait->widths);
    free(wait->text.v);
    free(wait);
    printer->wait = NULL;
}

const tl_row_writer tl_table_format = { begin, take_row, end };
