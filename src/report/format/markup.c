/* markup.c - text in a page. */
#include "tlmpi/report/format/markup.h"

#include "cell.h"

/* Returns the escape of the character; NULL: it needs none. */
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
    bool forbidden = (code & 0xFFFEu) == 0xFFFEu; /* the last two code points of each plane are no characters */
    return !tl_char_shows(code) || forbidden || code == TL_REPLACEMENT ? "\xEF\xBF\xBD" : NULL;
}

void tl_put_markup(FILE *out, tl_text text)
{
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        const char *escape = escape_of(c.code);
        if (escape != NULL)
            fputs(escape, out);
        else
            fwrite(c.bytes.p, 1, c.bytes.n, out);
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
