/* csv.c - cells, and a file that is whole or not there. */
#include "tlmpi/compat/csv.h"
#include "tlmpi/base/leftover.h"
#include "tlmpi/base/log.h"
#include "tlmpi/compat/python.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ cells */

static void put_words(tl_bytes *out, const char *words)
{
    tl_bytes_put(out, words, strlen(words));
}

static bool needs_quotes(tl_text text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == ',' || text.p[i] == '"' || text.p[i] == '\n' || text.p[i] == '\r')
            return true;
    return false;
}

static void put_text(tl_bytes *out, tl_text text)
{
    if (!needs_quotes(text)) {
        tl_bytes_put(out, text.p, text.n);
        return;
    }
    tl_bytes_put(out, "\"", 1);
    for (size_t i = 0; i < text.n; i++)
        tl_bytes_put(out, text.p[i] == '"' ? "\"\"" : &text.p[i], text.p[i] == '"' ? 2 : 1);
    tl_bytes_put(out, "\"", 1);
}

static void put_cell(tl_bytes *out, const tl_cell *cell)
{
    char number[TL_PYTHON_REPR_SIZE] = "";

    if (cell->kind == TL_CELL_TEXT)
        put_text(out, cell->text);
    else if (cell->kind == TL_CELL_INT)
        snprintf(number, sizeof number, "%lld", (long long)cell->number);
    else if (!isnan(cell->real))
        tl_python_repr(number, cell->real);
    put_words(out, number);
}

void tl_csv_cells(tl_csv *csv, const tl_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (csv->column > 0)
            tl_bytes_put(&csv->line, ",", 1);
        put_cell(&csv->line, &cells[i]);
        while (csv->kinds.n <= csv->column)
            tl_vec_push(&csv->kinds, 0);
        csv->kinds.v[csv->column++] |= (unsigned char)cells[i].kind;
    }
}

void tl_csv_end_row(tl_csv *csv)
{
    tl_bytes_put(&csv->line, "\n", 1);
    if (csv->file != NULL)
        fwrite(csv->line.v, 1, csv->line.n, csv->file);
    csv->line.n = csv->column = 0;
}

void tl_csv_head(tl_csv *csv, const char *names)
{
    if (csv->line.n > 0)
        tl_bytes_put(&csv->line, ",", 1);
    put_words(&csv->line, names);
    csv->column++;
}

void tl_csv_end_head(tl_csv *csv)
{
    csv->nhead = csv->line.n + 1;
    tl_csv_end_row(csv);
    csv->kinds.n = 0;
}

/* ------------------------------------------------------------------------------------------------------------- files */

/* "a" + "b" + "c" in memory of its own. */
static char *joined(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = tl_malloc(size);
    snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

static void fail(tl_csv *csv, const char *path, int cause)
{
    if (!tl_csv_failed(csv->folder))
        tl_fail(&csv->folder->error, TL_EOUTPUT, "%s: %s", path, strerror(cause));
}

tl_csv tl_csv_open(tl_csv_folder *folder, const char *name, const char *header)
{
    tl_csv csv = { .folder = folder, .path = joined(folder->dir, "/", name) };

    csv.part = joined(csv.path, ".part", "");
    if (!tl_csv_failed(folder)) {
        tl_leftover_add(csv.part);
        csv.file = fopen(csv.part, "w+b");
        if (csv.file == NULL)
            fail(&csv, csv.part, errno);
    }
    if (header != NULL) {
        put_words(&csv.line, header);
        tl_csv_end_head(&csv);
    }
    return csv;
}

tl_csv tl_csv_open_rank(tl_csv_folder *folder, const char *name, int64_t rank, const char *header)
{
    char file[256];
    snprintf(file, sizeof file, "%s_rank%lld.csv", name, (long long)rank);
    return tl_csv_open(folder, file, header);
}

static bool has_mixed_columns(const tl_csv *csv)
{
    for (size_t i = 0; i < csv->kinds.n && !csv->as_is; i++)
        if (csv->kinds.v[i] == (TL_CELL_INT | TL_CELL_REAL))
            return true;
    return false;
}

static bool is_integer(const tl_bytes *cell)
{
    bool digits = cell->n > 0;
    for (size_t i = 0; i < cell->n; i++)
        digits = digits && ((cell->v[i] >= '0' && cell->v[i] <= '9') || (i == 0 && cell->v[i] == '-'));
    return digits;
}

static void copy_cell(FILE *out, tl_bytes *cell, bool as_double)
{
    char number[TL_PYTHON_REPR_SIZE];

    if (as_double && is_integer(cell)) {
        tl_bytes_put(cell, "", 1);
        tl_python_repr(number, strtod(cell->v, NULL));
        fputs(number, out);
    } else if (cell->n > 0) {
        fwrite(cell->v, 1, cell->n, out);
    }
    cell->n = 0;
}

/* Copies the table from `in` with integers as doubles in columns that have both. */
static void copy_table(tl_csv *csv, FILE *in)
{
    tl_bytes cell = { 0 };
    bool quoted = false;
    size_t column = 0, at = 0;

    for (int c; (c = getc(in)) != EOF; at++) {
        char byte = (char)c;
        quoted ^= c == '"';
        if (at < csv->nhead) {
            putc(c, csv->file);
            quoted = false;
        } else if (quoted || (c != ',' && c != '\n')) {
            tl_bytes_put(&cell, &byte, 1);
        } else {
            copy_cell(csv->file, &cell, csv->kinds.v[column] == (TL_CELL_INT | TL_CELL_REAL));
            putc(c, csv->file);
            column = c == ',' ? column + 1 : 0;
        }
    }
    tl_bytes_free(&cell);
}

/* Writes the part anew with one set of columns: the rows written up to here stay readable as an unnamed file. */
static void unify_columns(tl_csv *csv)
{
    FILE *in = csv->file;

    csv->file = NULL;
    if (fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0 && unlink(csv->part) == 0)
        csv->file = fopen(csv->part, "w+b");
    if (csv->file != NULL)
        copy_table(csv, in);
    else
        fail(csv, csv->part, errno);
    fclose(in);
}

static void forget(tl_csv *csv)
{
    tl_leftover_done(csv->part);
    free(csv->path);
    free(csv->part);
    free(csv->kinds.v);
    tl_bytes_free(&csv->line);
    *csv = (tl_csv){ 0 };
}

/* A write may fail as late as in fclose; only after it the table gets its name. */
static void publish(tl_csv *csv)
{
    errno = 0;
    bool written = fflush(csv->file) == 0 && !ferror(csv->file) && fsync(fileno(csv->file)) == 0;
    int cause = errno != 0 ? errno : EIO; /* a write that failed earlier has left no errno */

    if (fclose(csv->file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written && rename(csv->part, csv->path) == 0)
        return;
    fail(csv, csv->path, written ? errno : cause);
    unlink(csv->part);
}

void tl_csv_close(tl_csv *csv)
{
    if (tl_csv_failed(csv->folder)) {
        tl_csv_drop(csv);
        return;
    }
    if (has_mixed_columns(csv))
        unify_columns(csv);
    if (csv->file != NULL)
        publish(csv);
    forget(csv);
}

void tl_csv_drop(tl_csv *csv)
{
    if (!tl_csv_failed(csv->folder))
        (void)unlink(csv->path);
    if (csv->file != NULL) {
        fclose(csv->file);
        unlink(csv->part);
    }
    forget(csv);
}

/* ------------------------------------------------------------------------------------------------------------- notes */

void tl_csv_write_notes(tl_csv_folder *folder, const tl_bytes *lines)
{
    tl_csv csv = tl_csv_open(folder, "notes.txt", NULL);
    if (csv.file != NULL && lines->n > 0)
        fwrite(lines->v, 1, lines->n, csv.file);
    tl_csv_close(&csv);
}

void tl_csv_note(tl_bytes *notes, bool warn, const char *format, ...)
{
    char line[2047];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (warn)
        tl_warn("%s", line);
    put_words(notes, line);
    tl_bytes_put(notes, "\n", 2); /* with a 0 after the last line, which does not count */
    notes->n--;
}
