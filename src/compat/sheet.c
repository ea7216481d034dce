/* sheet.c - cells, and a file that is whole or not there. */
#include "tlmpi/compat/sheet.h"
#include "tlmpi/base/leftover.h"
#include "tlmpi/compat/python.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* "a" + "b" + "c" in memory of its own; NULL when it is out. */
static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = tl_malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

tl_status tl_sheet_open(tl_sheet *sheet, const char *dir, const char *name, const char *header, tl_error *err)
{
    tl_status st;

    *sheet = (tl_sheet){ .path = joined(dir, "/", name) };
    if (sheet->path != NULL)
        sheet->part = joined(sheet->path, ".part", "");
    if (sheet->part == NULL) {
        st = tl_fail_memory(err, "the path of a table");
        goto fail;
    }
    tl_leftover_add(sheet->part);
    sheet->file = fopen(sheet->part, "wb");
    if (sheet->file == NULL) {
        st = tl_fail(err, TL_EOUTPUT, "%s: %s", sheet->part, strerror(errno));
        goto fail;
    }
    if (header != NULL)
        fprintf(sheet->file, "%s\n", header);
    return TL_OK;

fail:
    tl_sheet_abandon(sheet);
    return st;
}

void tl_sheet_look(tl_sheet *sheet)
{
    sheet->looking = true;
    sheet->real.n = 0;
}

void tl_sheet_write(tl_sheet *sheet)
{
    sheet->looking = false;
}

/* Notes the kind of a cell; true when it is to be written. */
static bool begin_cell(tl_sheet *sheet, bool real)
{
    size_t at = sheet->column++;

    if (!sheet->looking) {
        if (sheet->in_row)
            fputc(',', sheet->file);
        sheet->in_row = true;
        return true;
    }
    if (at == sheet->real.n) {
        sheet->no_memory = sheet->no_memory || !tl_vec_room(&sheet->real);
        if (sheet->no_memory)
            return false;
        sheet->real.v[sheet->real.n++] = false;
    }
    if (at < sheet->real.n)
        sheet->real.v[at] |= real;
    return false;
}

/* Whether the column of the cell that has just begun is one of doubles. */
static bool is_real(const tl_sheet *sheet)
{
    return sheet->column <= sheet->real.n && sheet->real.v[sheet->column - 1];
}

static bool needs_quotes(tl_text text)
{
    return memchr(text.p, ',', text.n) != NULL || memchr(text.p, '"', text.n) != NULL ||
           memchr(text.p, '\n', text.n) != NULL || memchr(text.p, '\r', text.n) != NULL;
}

void tl_sheet_joined(tl_sheet *sheet, const tl_text *texts, size_t n, char between)
{
    bool quote = false;

    if (!begin_cell(sheet, false))
        return;
    for (size_t k = 0; k < n && !quote; k++)
        quote = needs_quotes(texts[k]);
    if (quote)
        fputc('"', sheet->file);
    for (size_t k = 0; k < n; k++) {
        if (k > 0)
            fputc(between, sheet->file);
        if (!quote)
            fwrite(texts[k].p, 1, texts[k].n, sheet->file);
        for (size_t i = 0; quote && i < texts[k].n; i++) {
            if (texts[k].p[i] == '"')
                fputc('"', sheet->file);
            fputc(texts[k].p[i], sheet->file);
        }
    }
    if (quote)
        fputc('"', sheet->file);
}

void tl_sheet_text(tl_sheet *sheet, tl_text text)
{
    tl_sheet_joined(sheet, &text, 1, '\0');
}

void tl_sheet_words(tl_sheet *sheet, const char *words)
{
    tl_sheet_text(sheet, (tl_text){ words, strlen(words) });
}

void tl_sheet_head(tl_sheet *sheet, const char *names)
{
    if (begin_cell(sheet, false))
        fputs(names, sheet->file);
}

static void put_real(tl_sheet *sheet, double value)
{
    char text[TL_PYTHON_REPR_SIZE];

    if (isnan(value))
        return;
    tl_python_repr(text, value);
    fputs(text, sheet->file);
}

void tl_sheet_int(tl_sheet *sheet, int64_t value)
{
    if (!begin_cell(sheet, false))
        return;
    if (is_real(sheet))
        put_real(sheet, (double)value);
    else
        fprintf(sheet->file, "%lld", (long long)value);
}

void tl_sheet_real(tl_sheet *sheet, double value)
{
    if (begin_cell(sheet, true))
        put_real(sheet, value);
}

void tl_sheet_number(tl_sheet *sheet, double value, bool whole)
{
    if (!begin_cell(sheet, !whole || !isfinite(value)))
        return;
    if (!whole || !isfinite(value) || is_real(sheet))
        put_real(sheet, value);
    else
        fprintf(sheet->file, "%.0f", value + 0.0); /* an integer has no negative zero */
}

void tl_sheet_blank(tl_sheet *sheet)
{
    (void)begin_cell(sheet, true);
}

void tl_sheet_no_memory(tl_sheet *sheet)
{
    sheet->no_memory = true;
}

void tl_sheet_end_row(tl_sheet *sheet)
{
    if (!sheet->looking)
        fputc('\n', sheet->file);
    sheet->in_row = false;
    sheet->column = 0;
}

static void forget(tl_sheet *sheet)
{
    if (sheet->part != NULL)
        tl_leftover_done(sheet->part);
    free(sheet->path);
    free(sheet->part);
    free(sheet->real.v);
    *sheet = (tl_sheet){ 0 };
}

/* A write may fail as late as in fclose; only after it the table gets its name. */
tl_status tl_sheet_close(tl_sheet *sheet, tl_error *err)
{
    if (sheet->no_memory) {
        tl_sheet_abandon(sheet);
        return tl_fail_memory(err, "the columns of a table");
    }
    errno = 0;
    bool written = fflush(sheet->file) == 0 && !ferror(sheet->file) && fsync(fileno(sheet->file)) == 0;
    int cause = errno != 0 ? errno : EIO; /* a write that failed earlier has left no errno */

    if (fclose(sheet->file) != 0 && written) {
        written = false;
        cause = errno;
    }
    sheet->file = NULL;
    if (written && rename(sheet->part, sheet->path) != 0) {
        written = false;
        cause = errno;
    }
    tl_status st = written ? TL_OK : tl_fail(err, TL_EOUTPUT, "%s: %s", sheet->path, strerror(cause));
    if (!written)
        unlink(sheet->part);
    forget(sheet);
    return st;
}

void tl_sheet_abandon(tl_sheet *sheet)
{
    if (sheet->file != NULL)
        fclose(sheet->file);
    if (sheet->file != NULL && sheet->part != NULL)
        unlink(sheet->part);
    forget(sheet);
}

void tl_sheet_drop(tl_sheet *sheet)
{
    if (sheet->path != NULL)
        (void)unlink(sheet->path);
    tl_sheet_abandon(sheet);
}
