/* sheet.h - a table as pandas writes it: commas, quotes where needed, the shortest digits that read back as the same
 * double, nothing for NaN.
 *
 *     tl_sheet sheet;
 *     st = tl_sheet_open(&sheet, dir, "profiler_steps.sheet", "step", err);
 *     tl_sheet_int(&sheet, 5);
 *     tl_sheet_end_row(&sheet);
 *     st = tl_sheet_close(&sheet, err);
 *
 * A cell cannot fail; what went wrong is kept and told by the close.
 *
 * To pandas a column of integers becomes one of doubles by a single cell that is empty or a double: 12 is then 12.0.
 * Where that can be, the rows are given twice:
 *
 *     tl_sheet_look(&sheet);      give all rows: nothing is written, kinds of cells are noted
 *     tl_sheet_write(&sheet);     give all rows
 */
#ifndef TLMPI_COMPAT_SHEET_H
#define TLMPI_COMPAT_SHEET_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tl_sheet {
    FILE *file;
    char *path, *part; /* the table, and the file that becomes it at the end */
    bool in_row;
    bool looking, no_memory;
    size_t column;     /* of the next cell */
    TL_VEC(bool) real; /* columns seen to be none of integers alone; those after have not been looked at */
} tl_sheet;

/* Begins DIR/NAME with the header, a line without its newline; NULL for none.  On failure there is nothing to close. */
tl_status tl_sheet_open(tl_sheet *sheet, const char *dir, const char *name, const char *header, tl_error *err);

/* Cells of a header made bit by bit: names with commas between them. */
void tl_sheet_head(tl_sheet *sheet, const char *names);

void tl_sheet_text(tl_sheet *sheet, tl_text text);
/* One cell: the texts with that character between each two. */
void tl_sheet_joined(tl_sheet *sheet, const tl_text *texts, size_t n, char between);
void tl_sheet_words(tl_sheet *sheet, const char *words);
void tl_sheet_int(tl_sheet *sheet, int64_t value);
void tl_sheet_real(tl_sheet *sheet, double value);
/* A number that is an integer to Python (whole) or a double. */
void tl_sheet_number(tl_sheet *sheet, double value, bool whole);
void tl_sheet_blank(tl_sheet *sheet);
void tl_sheet_end_row(tl_sheet *sheet);

/* Whoever makes a cell had no memory for it: the close will fail. */
void tl_sheet_no_memory(tl_sheet *sheet);

void tl_sheet_look(tl_sheet *sheet);
void tl_sheet_write(tl_sheet *sheet);

/* Gives the table its name when every byte of it is on disk; else it leaves nothing behind and returns TL_EOUTPUT or
 * TL_ENOMEM. */
tl_status tl_sheet_close(tl_sheet *sheet, tl_error *err);

/* Gives up the table; one of its name that was there stays. */
void tl_sheet_abandon(tl_sheet *sheet);

/* There is no such table: it is not there afterwards, nor is an older one of its name. */
void tl_sheet_drop(tl_sheet *sheet);

#endif
