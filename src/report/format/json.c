/* json.c - rows as an array of objects, one a line. */
#include "cell.h"

void tl_json_text(FILE *out, tl_text text)
{
    fputc('"', out);
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        if (!c.whole)
            fputs("\\ufffd", out);
        else if (c.code == '"' || c.code == '\\')
            fprintf(out, "\\%c", (int)c.code);
        else if (c.code == '\n')
            fputs("\\n", out);
        else if (c.code == '\t')
            fputs("\\t", out);
        else if (!tl_char_shows(c.code))
            fprintf(out, "\\u%04x", (unsigned)c.code);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
    }
    fputc('"', out);
}

static void begin(tl_printer *printer)
{
    fputc('[', printer->out);
}

static void put_row(tl_printer *printer, const unsigned char *row)
{
    fputs(printer->any ? ",\n{" : "\n{", printer->out);
    printer->any = true;
    for (size_t i = 0; i < tl_print_ncolumns(printer); i++) {
        const tl_field *field = tl_print_column(printer, i);
        char name[TL_HEADING_BYTES];
        tl_text_cell cell;
        tl_heading(name, sizeof name, printer, field);
        tl_cell_format(&cell, printer, field, row);
        if (i > 0)
            fputs(", ", printer->out);
        tl_json_text(printer->out, (tl_text){ name, strlen(name) });
        fputs(": ", printer->out);
        switch (cell.is) {
        case TL_CELL_IS_NUMBER:
            fwrite(cell.text.p, 1, cell.text.n, printer->out);
            break;
        case TL_CELL_IS_TEXT:
            tl_json_text(printer->out, cell.text);
            break;
        case TL_CELL_IS_NONE:
        case TL_CELL_IS_INFINITE:
            fputs("null", printer->out);
            break;
        }
    }
    fputc('}', printer->out);
}

static void end(tl_printer *printer)
{
    fputs(printer->any ? "\n]\n" : "]\n", printer->out);
}

const tl_row_writer tl_json_format = { begin, put_row, end };
