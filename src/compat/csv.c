/* csv.c - cells, and a file that is whole or not there. */
#include "tlmpi/compat/csv.h"
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

static void put_text(tl_bytes *out, tl_text text)
{
    bool quoted = false;

    for (size_t i = 0; i < text.n && !quoted; i++)
        quoted = text.p[i] == ',' || text.p[i] == '"' || text.p[i] == '\n' || text.p[i] == '\r';
    if (!quoted) {
        tl_bytes_put(out, text.p, text.n);
        return;
    }
    tl_bytes_put(out, "\"", 1);
    for (size_t i = 0; i < text.n; i++)
        tl_bytes_put(out, text.p[i] == '"' ? "\"\"" : &text.p[i], text.p[i] == '"' ? 2 : 1);
    tl_bytes_put(out, "\"", 1);
}

void tl_csv_cells(tl_csv *csv, const tl_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tl_cell *cell = &cells[i];
        char number[TL_PYTHON_REPR_SIZE] = "";
        if (csv->column > 0)
            tl_bytes_put(&csv->line, ",", 1);
        if (cell->kind == TL_CELL_TEXT)
            put_text(&csv->line, cell->text);
        else if (cell->kind == TL_CELL_INT)
            snprintf(number, sizeof number, "%lld", (long long)cell->number);
        else if (!isnan(cell->real))
            tl_python_repr(number, cell->real);
        put_words(&csv->line, number);
        while (csv->kinds.n <= csv->column)
            tl_vec_push(&csv->kinds, 0);
        csv->kinds.v[csv->column++] |= (unsigned char)cell->kind;
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

/* The table's file, empty; without one the folder has failed. */
static void begin_file(tl_csv *csv)
{
    csv->part = (tl_part_file)TL_PART_FILE_INIT;
    if (tl_part_file_begin(&csv->part, csv->path, true, &csv->folder->error) == TL_OK)
        csv->file = tl_part_file_stream(&csv->part, &csv->folder->error);
}

tl_csv tl_csv_open(tl_csv_folder *folder, const char *name, const char *header)
{
    const size_t n = strlen(folder->dir) + strlen(name) + sizeof "/";
    tl_csv csv = { .folder = folder, .path = tl_malloc(n), .part = TL_PART_FILE_INIT };

    snprintf(csv.path, n, "%s/%s", folder->dir, name);
    if (!tl_csv_failed(folder))
        begin_file(&csv);
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

static bool is_mixed(const tl_csv *csv, size_t column)
{
    return csv->kinds.v[column] == (TL_CELL_INT | TL_CELL_REAL);
}

/* Copies the table from `in` with integers as doubles in columns that have both. */
static void copy_table(tl_csv *csv, FILE *in)
{
    tl_bytes cell = { 0 };
    bool quoted = false;
    size_t column = 0, at = 0;

    for (int c; (c = getc(in)) != EOF; at++) {
        char byte = (char)c, number[TL_PYTHON_REPR_SIZE];
        quoted = at >= csv->nhead && quoted ^ (c == '"');
        if (at < csv->nhead) {
            putc(c, csv->file);
        } else if (quoted || (c != ',' && c != '\n')) {
            tl_bytes_put(&cell, &byte, 1);
        } else {
            tl_bytes_put(&cell, "", 1);
            if (is_mixed(csv, column) && cell.n > 1 && strspn(cell.v, "-0123456789") == cell.n - 1) {
                tl_python_repr(number, strtod(cell.v, NULL));
                fputs(number, csv->file);
            } else {
                fwrite(cell.v, 1, cell.n - 1, csv->file);
            }
            cell.n = 0;
            putc(c, csv->file);
            column = c == ',' ? column + 1 : 0;
        }
    }
    tl_bytes_free(&cell);
}

/* Ends writing; false where not all could be written. */
static bool close_file(tl_csv *csv)
{
    errno = 0;
    bool written = ferror(csv->file) == 0;
    written = fclose(csv->file) == 0 && written;
    csv->file = NULL;
    if (!written && !tl_csv_failed(csv->folder)) /* a write that failed earlier has left no errno */
        tl_fail(&csv->folder->error, TL_EOUTPUT, "%s: %s", csv->path, strerror(errno != 0 ? errno : EIO));
    return written;
}

/* Writes the part anew with one set of columns: the rows written up to here stay readable as an unnamed file. */
static void unify_columns(tl_csv *csv)
{
    FILE *in = csv->file;

    csv->file = NULL;
    bool kept = fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0;
    if (!kept)
        tl_fail(&csv->folder->error, TL_EOUTPUT, "%s: %s", csv->path, strerror(errno));
    tl_part_file_drop(&csv->part);
    if (kept)
        begin_file(csv);
    if (csv->file != NULL)
        copy_table(csv, in);
    fclose(in);
}

static void forget(tl_csv *csv)
{
    tl_part_file_drop(&csv->part);
    free(csv->path);
    free(csv->kinds.v);
    tl_bytes_free(&csv->line);
    *csv = (tl_csv){ .part = TL_PART_FILE_INIT };
}

void tl_csv_close(tl_csv *csv)
{
    bool mixed = false;

    if (tl_csv_failed(csv->folder)) {
        tl_csv_drop(csv);
        return;
    }
    for (size_t i = 0; i < csv->kinds.n && !csv->as_is; i++)
        mixed |= is_mixed(csv, i);
    if (mixed)
        unify_columns(csv);
    if (csv->file != NULL && close_file(csv))
        (void)tl_part_file_publish(&csv->part, &csv->folder->error);
    forget(csv);
}

void tl_csv_drop(tl_csv *csv)
{
    if (!tl_csv_failed(csv->folder))
        (void)unlink(csv->path);
    if (csv->file != NULL)
        fclose(csv->file);
    forget(csv);
}

/* ------------------------------------------------------------------------------------------------------------- words */

void tl_csv_write_notes(tl_csv_folder *folder, const tl_bytes *lines)
{
    tl_csv csv = tl_csv_open(folder, "notes.txt", NULL);
    if (csv.file != NULL && lines->n > 0)
        fwrite(lines->v, 1, lines->n, csv.file);
    tl_csv_close(&csv);
}

void tl_csv_note(tl_bytes *notes, bool warn, const char *format, ...)
{
    char words[2047];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (warn)
        tl_warn("%s", words);
    tl_bytes_say(notes, "%s\n", words);
}
