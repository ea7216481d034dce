/* select.h - which rows and columns of a table were asked for, and a walk over those rows. */
#ifndef TLMPI_APP_SELECT_H
#define TLMPI_APP_SELECT_H

#include "cli.h"
#include "tlmpi/store/result.h"
#include "where.h"

typedef struct tl_select {
    tl_result *result;
    const tl_schema *table;
    const tl_ranges *ranks, *steps;
    const tl_field *rank, *step;        /* the columns to look at; NULL where all ranks or steps are asked for */
    TL_VEC(tl_where) where;             /* conditions; a row must fulfil all */
    TL_VEC(uint32_t) columns;           /* field numbers, in the order asked for; none for all */
    const tl_field *sort;               /* NULL: rows as they stand */
    bool descending;
    const tl_field *time;               /* whose sum is all of the time, for --top P%; NULL where that is not asked for */
} tl_select;

/* Resolves the names on the command line.  TL_EUSAGE: the file has no such table, or the table no such column; the
 * message lists the names that exist.  tl_select_free ends it in any case. */
tl_status tl_select_init(tl_select *select, tl_result *result, const char *table, const tl_cli *cli, tl_error *err);
void tl_select_free(tl_select *select);

/* Calls take(arg, rows, n) with the rows asked for, block by block, in table order.  take sets *enough to end
 * the walk; what it returns, unless TL_OK, ends it too and is returned. */
typedef tl_status tl_take_rows(void *arg, const unsigned char *rows, size_t n, bool *enough, tl_error *err);
tl_status tl_select_walk(tl_select *select, tl_take_rows *take, void *arg, tl_error *err);

/* Says on stderr that no row is of the ranks and steps asked for, and which ranks the table has; or that no row fulfils
 * the conditions.  Says nothing where the command line asks for neither. */
tl_status tl_select_say_none(const tl_select *select, tl_error *err);

#endif
