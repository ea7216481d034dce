/* csv.c - rows as RFC 4180 writes them, but for line ends of one byte. */
#include "cell.h"

/* Controls other than tab and line ends have no place in a CSV file: readers do not agree on them, terminals obey them.
 */
static bool csv_takes(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code < 0x7F || code >= 0xA0;
}

/* A text that a spreadsheet would take for a formula gets an apostrophe before it. */
static void put_text(FILE *out, tl_text text, bool formula)
{
    bool quoted = text.n > 0 && (text.p[0] == ' ' || text.p[text.n - 1] == ' ');
    for (size_t i = 0; i < text.n && !quoted; i++)
        quoted = strchr(",\"\r\n", text.p[i]) != NULL && text.p[i] != 0;

    if (quoted)
        fputc('"', out);
    if (formula && text.n > 0 && strchr("=+-@\t\r", text.p[0]) != NULL && text.p[0] != 0)
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
    if (quoted)
        fputc('"', out);
}

static void begin(tl_printer *printer)
{
    for (size_t i = 0; i < tl_print_ncolumns(printer); i++) {
        char name[TL_HEADING_BYTES];
        tl_heading(name, sizeof name, printer, tl_print_column(printer, i));
        if (i > 0)
            fputc(',', printer->out);
        put_text(printer->out, (tl_text){ name, strlen(name) }, false);
    }
    fputc('\n', printer->out);
}

static void put_row(tl_printer *printer, const unsigned char *row)
{
    size_t n = tl_print_ncolumns(printer);
    for (size_t i = 0; i < n; i++) {
        tl_text_cell cell;
        tl_cell_format(&cell, printer, tl_print_column(printer, i), row);
        if (i > 0)
            fputc(',', printer->out);
        /* A line that holds one empty cell and nothing else would be skipped by most readers. */
        if (n == 1 && cell.text.n == 0)
            fputs("\"\"", printer->out);
        else
            put_text(printer->out, cell.text, cell.is == TL_CELL_IS_TEXT);
    }
    fputc('\n', printer->out);
}

static void end(tl_printer *printer)
{
    (void)printer;
}

const tl_row_writer tl_csv_format = { begin, put_row, end };
