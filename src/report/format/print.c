/* print.c - the face of the three formats. */
#include "tlmpi/report/format/print.h"

#include "cell.h"

bool tl_print_begin(tl_printer *printer)
{
    printer->any = false;
    printer->wait = NULL;
    switch (printer->format) {
    case TL_FORMAT_TABLE:
        return tl_text_begin(printer);
    case TL_FORMAT_CSV:
        tl_csv_begin(printer);
        break;
    case TL_FORMAT_JSON:
        tl_json_begin(printer);
        break;
    }
    return !ferror(printer->out);
}

bool tl_print_rows(tl_printer *printer, const void *rows, size_t n)
{
    const unsigned char *row = rows;
    if (printer->format == TL_FORMAT_TABLE)
        return tl_text_rows(printer, row, n) && !ferror(printer->out);

    for (size_t i = 0; i < n; i++, row += printer->schema->row_size) {
        if (printer->format == TL_FORMAT_CSV)
            tl_csv_row(printer, row);
        else
            tl_json_row(printer, row);
    }
    return !ferror(printer->out);
}

bool tl_print_end(tl_printer *printer)
{
    bool ok = true;
    if (printer->format == TL_FORMAT_TABLE)
        ok = tl_text_end(printer);
    else if (printer->format == TL_FORMAT_JSON)
        tl_json_end(printer);
    return fflush(printer->out) == 0 && !ferror(printer->out) && ok;
}
