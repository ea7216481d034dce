/* csv.c - cells, and files that appear whole or not at all. */
#include "tlmpi/compat/csv.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/compat/python.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ cells */

static void append_words(tl_bytes *out, const char *words)
{
    tl_bytes_put(out, words, strlen(words));
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Whether a spreadsheet would take the text for a formula: no sign alone, and no number. */
static bool is_formula(tl_text text)
{
    double number;
    return text.n > 1 && is_one_of(text.p[0], "=+-@\t\r") && !tl_decimal_to_double(text.p, text.n, &number);
}

/* Whether the text is written as it is, by its bytes; of those of two bytes, U+0080 to U+00BF are looked at again. */
static bool is_plain(tl_text text)
{
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char c = (unsigned char)text.p[i];
        if (c < ' ' || c == ',' || c == '"' || c == 0x7f || c == 0xc2)
            return false;
    }
    return !is_formula(text);
}

/* As the other tools write a text, unless it may do harm: U+FFFD replaces a control character, and an apostrophe stands
 * before a text that a spreadsheet would take for a formula. */
static void append_text(tl_bytes *out, tl_text text)
{
    if (is_plain(text)) {
        tl_bytes_put(out, text.p, text.n);
        return;
    }
    bool quoted = false;
    for (size_t i = 0; i < text.n; i++)
        quoted = quoted || is_one_of(text.p[i], ",\"\n\r");
    tl_bytes_put(out, "\"", quoted);
    tl_bytes_put(out, "'", is_formula(text));
    while (text.n > 0) {
        const tl_char c = tl_char_take(&text);
        if (tl_char_controls(c.code))
            tl_bytes_put(out, "\xef\xbf\xbd", 3);
        else
            tl_bytes_put(out, c.bytes.p, c.bytes.n);
        tl_bytes_put(out, "\"", c.code == '"');
    }
    tl_bytes_put(out, "\"", quoted);
}

/* A double has its shortest digits; a whole number no ".0". */
void tl_csv_cells(tl_csv *csv, const tl_cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tl_cell *cell = &cells[i];
        char number[TL_PYTHON_REPR_SIZE] = "";
        if (csv->column > 0)
            tl_bytes_put(&csv->line, ",", 1);
        if (cell->kind == TL_CELL_TEXT)
            append_text(&csv->line, cell->text);
        else if (cell->kind == TL_CELL_INT)
            snprintf(number, sizeof number, "%lld", (long long)cell->number);
        else if (!isnan(cell->real))
            tl_python_repr(number, cell->real);
        const size_t length = strlen(number);
        const bool whole = length > 2 && strcmp(number + length - 2, ".0") == 0;
        tl_bytes_put(&csv->line, number, whole ? length - 2 : length);
        csv->column++;
    }
}

void tl_csv_end_row(tl_csv *csv)
{
    tl_bytes_put(&csv->line, "\n", 1);
    if (csv->file != NULL)
        fwrite(csv->line.v, 1, csv->line.n, csv->file);
    csv->line.n = csv->column = 0;
    csv->nrows++;
}

void tl_csv_head(tl_csv *csv, const char *names)
{
    if (csv->line.n > 0)
        tl_bytes_put(&csv->line, ",", 1);
    append_words(&csv->line, names);
    csv->column++;
}

/* ------------------------------------------------------------------------------------------------------------ files */

tl_csv tl_csv_open(tl_csv_folder *folder, const char *name, const char *header)
{
    const size_t n = strlen(folder->dir) + strlen(name) + sizeof "/";
    tl_csv csv = { .folder = folder, .path = tl_malloc(n), .part = TL_PART_FILE_INIT };

    snprintf(csv.path, n, "%s/%s", folder->dir, name);
    if (!tl_csv_failed(folder) && tl_part_file_begin(&csv.part, csv.path, true, &folder->error) == TL_OK)
        csv.file = tl_part_file_stream(&csv.part, &folder->error);
    if (header != NULL) {
        append_words(&csv.line, header);
        tl_csv_end_row(&csv);
    }
    return csv;
}

tl_csv tl_csv_open_rank(tl_csv_folder *folder, const char *name, int64_t rank, const char *header)
{
    char file[256];
    snprintf(file, sizeof file, "%s_rank%lld.csv", name, (long long)rank);
    return tl_csv_open(folder, file, header);
}

/* errno is 0 if only an earlier write failed: the message then names EIO. */
void tl_csv_end(tl_csv *csv, bool kept)
{
    tl_error *error = &csv->folder->error;
    const bool open = csv->file != NULL, failed_before = tl_csv_failed(csv->folder);
    bool written = open && ferror(csv->file) == 0;

    errno = 0;
    if (open)
        written = fclose(csv->file) == 0 && written;
    if (kept && written && !failed_before)
        (void)tl_part_file_publish(&csv->part, error);
    else if (kept && open && !failed_before)
        tl_fail(error, TL_EOUTPUT, "%s: %s", csv->path, strerror(errno != 0 ? errno : EIO));
    else if (!kept && !failed_before)
        (void)unlink(csv->path);
    tl_part_file_drop(&csv->part);
    free(csv->path);
    tl_bytes_free(&csv->line);
    *csv = (tl_csv){ .part = TL_PART_FILE_INIT };
}

void tl_csv_clear(const char *dir, const char *const *begins)
{
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const size_t n = strlen(entry->d_name);
        for (const char *const *begin = begins; *begin != NULL; begin++)
            if (n > 4 && strcmp(entry->d_name + n - 4, ".csv") == 0 &&
                strncmp(entry->d_name, *begin, strlen(*begin)) == 0)
                (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

/* ------------------------------------------------------------------------------------------------------------ words */

void tl_csv_write_notes(tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open(folder, "notes.txt", NULL);
    if (csv.file != NULL && folder->notes.n > 0)
        fwrite(folder->notes.v, 1, folder->notes.n, csv.file);
    tl_csv_close(&csv);
    tl_bytes_free(&folder->notes);
}

void tl_csv_note(tl_csv_folder *folder, bool warn, const char *format, ...)
{
    char words[2047];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (warn)
        tl_warn("%s", words);
    tl_bytes_say(&folder->notes, "%s\n", words);
}
