/* hta_csv.h - a table as pandas writes it: commas, quotes where needed, the shortest digits that read back as the same
 * double, nothing for NaN.
 *
 *     tl_hta_csv csv;
 *     st = tl_hta_csv_open(&csv, dir, "profiler_steps.csv", "step", err);
 *     tl_hta_csv_int(&csv, 5);
 *     tl_hta_csv_end_row(&csv);
 *     st = tl_hta_csv_close(&csv, err);
 *
 * A cell cannot fail; what went wrong is kept and told by the close.
 */
#ifndef TLMPI_COMPAT_HTA_CSV_H
#define TLMPI_COMPAT_HTA_CSV_H

#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tl_hta_csv {
    FILE *file;
    char *path, *part;          /* the table, and the file that becomes it at the end */
    bool in_row;
} tl_hta_csv;

/* Begins DIR/NAME with the header, a line without its newline; NULL for none.  On failure there is nothing to close. */
tl_status tl_hta_csv_open(tl_hta_csv *csv, const char *dir, const char *name, const char *header, tl_error *err);

void tl_hta_csv_text(tl_hta_csv *csv, tl_text text);
void tl_hta_csv_int(tl_hta_csv *csv, int64_t value);
void tl_hta_csv_real(tl_hta_csv *csv, double value);
/* A number of a column that HTA holds as integers (whole) or as doubles. */
void tl_hta_csv_number(tl_hta_csv *csv, double value, bool whole);
void tl_hta_csv_blank(tl_hta_csv *csv);
void tl_hta_csv_end_row(tl_hta_csv *csv);

/* Gives the table its name when every byte of it is on disk; else it leaves nothing behind and returns TL_EOUTPUT. */
tl_status tl_hta_csv_close(tl_hta_csv *csv, tl_error *err);

/* Gives up the table. */
void tl_hta_csv_abandon(tl_hta_csv *csv);

/* The double as Python's repr writes it ("0.1", "1e+16", "-0.0", "inf", "nan"). */
#define TL_HTA_REPR_SIZE 32
void tl_hta_repr(char out[TL_HTA_REPR_SIZE], double value);

/* Half to even at the second decimal, by way of the scaled double, as numpy does. */
double tl_hta_round2(double value);

#endif
