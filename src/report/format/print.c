/* print.c - the face of all formats. */
#include "tlmpi/report/format/print.h"

#include "cell.h"

#define ITS_WRITER(NAME, word) [TL_FORMAT_##NAME] = &tl_##word##_format,
#define ITS_WORD(NAME, word)   [TL_FORMAT_##NAME] = #word,

static const tl_row_writer *const writers[] = { TL_FORMATS(ITS_WRITER) };
static const char *const words[] = { TL_FORMATS(ITS_WORD) };

const char *tl_format_word(tl_format format)
{
    return words[format];
}

bool tl_print_begin(tl_printer *printer)
{
    printer->any = false;
    printer->wait = NULL;
    writers[printer->format]->begin(printer);
    return !ferror(printer->out);
}

bool tl_print_rows(tl_printer *printer, const void *rows, size_t n)
{
    const unsigned char *row = rows;

    for (size_t i = 0; i < n; i++, row += printer->schema->row_size)
        writers[printer->format]->row(printer, row);
    return !ferror(printer->out);
}

bool tl_print_end(tl_printer *printer)
{
    writers[printer->format]->end(printer);
    return fflush(printer->out) == 0 && !ferror(printer->out);
}
