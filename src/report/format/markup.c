/* markup.c - text in a page. */
#include "tlmpi/report/format/markup.h"

#include "cell.h"

/* What stands for the character; NULL: it stands for itself. */
static const char *escape_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        break;
    }
    bool forbidden = (code & 0xFFFEu) == 0xFFFEu; /* the last two of each plane are no characters */
    return !tl_char_shows(code) || forbidden || code == TL_REPLACEMENT ? "\xEF\xBF\xBD" : NULL;
}

void tl_put_markup(FILE *out, tl_text text)
{
    while (text.n > 0) {
        uint32_t code;
        bool whole;
        size_t n = tl_char_next(text, &code, &whole);
        const char *escape = escape_of(code);
        if (escape != NULL)
            fputs(escape, out);
        else
            fwrite(text.p, 1, n, out);
        text = (tl_text){ text.p + n, text.n - n };
    }
}

void tl_put_markup_word(FILE *out, const char *word)
{
    tl_put_markup(out, (tl_text){ word, strlen(word) });
}

void tl_put_markup_cell(FILE *out, const char *cell, size_t size)
{
    tl_put_markup(out, (tl_text){ cell, strnlen(cell, size) });
}
