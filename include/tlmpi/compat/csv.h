/* csv.h - a table as pandas writes it: commas, quotes where needed, the shortest digits that read back as the same
 * double, an empty cell for NaN.  A whole number has no point: 12, where pandas writes 12 or 12.0 by the column's type.
 *
 *     tl_csv csv = tl_csv_open(&folder, "profiler_steps.csv", "step,name");
 *     TL_ROW(&csv, 5, "forward");
 *     tl_csv_close(&csv);
 *
 * No function here returns a failure: the first failure stays in the folder's error, and every later table of that
 * folder is then neither opened nor kept. */
#ifndef TLMPI_COMPAT_CSV_H
#define TLMPI_COMPAT_CSV_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/part_file.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>

/* The folder of the tables of one run.  error.status: TL_OK, or the status of the first failure. */
typedef struct tl_csv_folder {
    const char *dir; /* borrowed */
    tl_error error;
    tl_bytes notes; /* lines; tl_bytes_free ends them */
} tl_csv_folder;

static inline bool tl_csv_failed(const tl_csv_folder *folder)
{
    return folder->error.status != TL_OK;
}

typedef struct tl_csv {
    tl_csv_folder *folder;
    FILE *file; /* NULL: the file could not be opened, and cells are dropped */
    char *path;
    tl_part_file part; /* renamed to `path` at the close */
    tl_bytes line;     /* the current row */
    size_t column;     /* index of the next cell in the row */
    size_t nrows;      /* rows so far, with the header */
} tl_csv;

static inline bool tl_csv_has_rows(const tl_csv *csv)
{
    return csv->nrows > 1;
}

typedef enum tl_cell_kind { TL_CELL_INT, TL_CELL_REAL, TL_CELL_TEXT } tl_cell_kind;

/* A real of NaN is an empty cell. */
typedef struct tl_cell {
    tl_cell_kind kind;
    int64_t number;
    double real;
    tl_text text;
} tl_cell;

static inline tl_cell tl_int(int64_t number)
{
    return (tl_cell){ .kind = TL_CELL_INT, .number = number };
}

static inline tl_cell tl_real(double real)
{
    return (tl_cell){ .kind = TL_CELL_REAL, .real = real };
}

static inline tl_cell tl_count(size_t n)
{
    return tl_int((int64_t)n);
}

static inline tl_cell tl_as_it_is(tl_cell cell)
{
    return cell;
}

static inline tl_cell tl_blank(void)
{
    return tl_real(NAN);
}

static inline tl_cell tl_string(tl_text text)
{
    return (tl_cell){ .kind = TL_CELL_TEXT, .text = text };
}

static inline tl_cell tl_words(const char *words)
{
    return tl_string(tl_text_of(words));
}

/* Returns a view of the bytes, valid until the bytes grow. */
static inline tl_text tl_bytes_text(const tl_bytes *bytes)
{
    return (tl_text){ bytes->n > 0 ? bytes->v : "", bytes->n };
}

static inline tl_cell tl_bytes_cell(const tl_bytes *bytes)
{
    return tl_string(tl_bytes_text(bytes));
}

/* Begins DIR/NAME with a header line; NULL: the caller writes the header as its first row. */
tl_csv tl_csv_open(tl_csv_folder *folder, const char *name, const char *header);

/* Begins DIR/NAME_rankRANK.csv. */
tl_csv tl_csv_open_rank(tl_csv_folder *folder, const char *name, int64_t rank, const char *header);

/* Adds cells to the header row: names with commas between them. */
void tl_csv_head(tl_csv *csv, const char *names);

void tl_csv_cells(tl_csv *csv, const tl_cell *cells, size_t n);
void tl_csv_end_row(tl_csv *csv);

/* TL_CELLS adds cells to the current row; TL_ROW adds cells and ends the row.  At most 16 integers, doubles, C strings,
 * texts or cells. */
#define TL_CELLS(csv, ...)                                                                                             \
    tl_csv_cells(csv, (const tl_cell[]){ TL_CELL_LIST(__VA_ARGS__) },                                                  \
                 sizeof((const tl_cell[]){ TL_CELL_LIST(__VA_ARGS__) }) / sizeof(tl_cell))
#define TL_ROW(csv, ...) (TL_CELLS(csv, __VA_ARGS__), tl_csv_end_row(csv))

#define TL_CELL(x)                                                                                                     \
    _Generic((x), tl_cell: tl_as_it_is, double: tl_real, char *: tl_words, const char *: tl_words, tl_text: tl_string, \
             tl_bytes *: tl_bytes_cell, const tl_bytes *: tl_bytes_cell, size_t: tl_count, default: tl_int)(x)
#define TL_CELL_LIST(...)                                                                                              \
    TL_CELL_NTH(__VA_ARGS__, TL_CELLS_16, TL_CELLS_15, TL_CELLS_14, TL_CELLS_13, TL_CELLS_12, TL_CELLS_11,             \
                TL_CELLS_10, TL_CELLS_9, TL_CELLS_8, TL_CELLS_7, TL_CELLS_6, TL_CELLS_5, TL_CELLS_4, TL_CELLS_3,       \
                TL_CELLS_2, TL_CELLS_1, 0)                                                                             \
    (__VA_ARGS__)
#define TL_CELL_NTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, nth, ...) nth
#define TL_CELLS_1(x) TL_CELL(x)
#define TL_CELLS_2(x, ...) TL_CELL(x), TL_CELLS_1(__VA_ARGS__)
#define TL_CELLS_3(x, ...) TL_CELL(x), TL_CELLS_2(__VA_ARGS__)
#define TL_CELLS_4(x, ...) TL_CELL(x), TL_CELLS_3(__VA_ARGS__)
#define TL_CELLS_5(x, ...) TL_CELL(x), TL_CELLS_4(__VA_ARGS__)
#define TL_CELLS_6(x, ...) TL_CELL(x), TL_CELLS_5(__VA_ARGS__)
#define TL_CELLS_7(x, ...) TL_CELL(x), TL_CELLS_6(__VA_ARGS__)
#define TL_CELLS_8(x, ...) TL_CELL(x), TL_CELLS_7(__VA_ARGS__)
#define TL_CELLS_9(x, ...) TL_CELL(x), TL_CELLS_8(__VA_ARGS__)
#define TL_CELLS_10(x, ...) TL_CELL(x), TL_CELLS_9(__VA_ARGS__)
#define TL_CELLS_11(x, ...) TL_CELL(x), TL_CELLS_10(__VA_ARGS__)
#define TL_CELLS_12(x, ...) TL_CELL(x), TL_CELLS_11(__VA_ARGS__)
#define TL_CELLS_13(x, ...) TL_CELL(x), TL_CELLS_12(__VA_ARGS__)
#define TL_CELLS_14(x, ...) TL_CELL(x), TL_CELLS_13(__VA_ARGS__)
#define TL_CELLS_15(x, ...) TL_CELL(x), TL_CELLS_14(__VA_ARGS__)
#define TL_CELLS_16(x, ...) TL_CELL(x), TL_CELLS_15(__VA_ARGS__)

/* Ends a table.  If `kept`, the table gets its name once all its bytes are on disk; after a failed write no part of it
 * remains.  If not `kept`, the table is dropped, and an older file of its name is removed. */
void tl_csv_end(tl_csv *csv, bool kept);

static inline void tl_csv_close(tl_csv *csv)
{
    tl_csv_end(csv, true);
}

/* Ends a table that is kept if it has rows; returns whether it has. */
static inline bool tl_csv_close_rows(tl_csv *csv)
{
    const bool kept = tl_csv_has_rows(csv);
    tl_csv_end(csv, kept);
    return kept;
}

/* Removes the .csv files of the folder whose names begin with one of the words in `begins`, a list that ends with
 * NULL. */
void tl_csv_clear(const char *dir, const char *const *begins);

/* Writes the notes as DIR/notes.txt, and frees them. */
void tl_csv_write_notes(tl_csv_folder *folder);

/* Adds a line to the notes, cut after 2,046 bytes.  If `warn`, the line also goes to stderr. */
void tl_csv_note(tl_csv_folder *folder, bool warn, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends a text, after `between` unless the bytes are empty. */
static inline void tl_bytes_join(tl_bytes *bytes, const char *between, tl_text text)
{
    tl_bytes_put(bytes, between, bytes->n > 0 ? strlen(between) : 0);
    tl_bytes_put(bytes, text.p, text.n);
}

#endif
