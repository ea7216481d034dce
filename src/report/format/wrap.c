/* wrap.c - words in lines. */
#include "tlmpi/report/format/wrap.h"
#include "cell.h"

#include "tlmpi/base/log.h"
#include "tlmpi/report/format/terminal.h"
#include <stdarg.h>
#include <string.h>

void tl_wrap_printf(tl_wrap *wrap, const char *format, ...)
{
    char text[1024], safe[sizeof text];
    va_list args;
    va_start(args, format);
    int written = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (written <= 0)
        return;
    tl_printable(safe, sizeof safe, text);

    if (wrap->columns == 0)
        wrap->columns = tl_line_columns(wrap->out);
    size_t n = tl_text_columns((tl_text){ safe, strlen(safe) });
    if (wrap->begun && wrap->column + 1 + n > wrap->columns) {
        fprintf(wrap->out, "\n%*s", (int)wrap->indent, "");
        wrap->column = wrap->indent;
    } else if (wrap->begun) {
        fputc(' ', wrap->out);
        wrap->column++;
    }
    fputs(safe, wrap->out);
    wrap->column += n;
    wrap->begun = true;
}

void tl_wrap_words(tl_wrap *wrap, const char *text)
{
    while (*(text += strspn(text, " ")) != '\0') {
        size_t n = strcspn(text, " ");
        tl_wrap_printf(wrap, "%.*s", n < 1023 ? (int)n : 1023, text);
        text += n;
    }
}

void tl_wrap_end(tl_wrap *wrap)
{
    fputc('\n', wrap->out);
    wrap->column = 0;
    wrap->begun = false;
}
