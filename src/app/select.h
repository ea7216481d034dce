/* select.h - which rows and columns of a table were asked for, a walk over those rows, and the first of them in an order.
 *
 * A condition, as a user writes it: kind=comm, duration_ns>1ms, name~AllReduce.
 *
 *     COLUMN = VALUE, !=    equal or not, cell by cell; no VALUE: the cells that hold none, or some
 *     COLUMN < VALUE, <=, >, >=   numbers and times; of ns also as 1.5us, 20ms, 1s, of a share as 5%
 *     COLUMN ~ PATTERN, !~  words: what an extended regular expression finds anywhere in them, or not
 *
 * A cell without a value fulfils no condition but that it holds none.
 */
#ifndef TLMPI_APP_SELECT_H
#define TLMPI_APP_SELECT_H

#include "cli.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/store/result.h"
#include <regex.h>

/* ------------------------------------------------------------------------------------------------------ conditions */

typedef struct tl_where {
    const tl_field *field;
    unsigned orders; /* of numbers: 1 below the value, 2 equal, 4 above, each where such a cell fulfils it */
    bool finds;      /* of words: a pattern */
    bool wanted;     /* of words: what is equal, or found; else what is not */
    bool none;       /* it asks for the cells without a value, or for those with one */
    int64_t number;  /* of integers, times and labels */
    double real;
    const char *text; /* of the command line */
    regex_t pattern;  /* where has_pattern */
    bool has_pattern;
    tl_result *result;  /* has the names */
    signed char *known; /* by name: 0 not asked yet, 1 holds, -1 does not */
    tl_bytes copy;      /* of a text that a pattern is looked for in */
} tl_where;

/* The length of the column's name with which the text begins. */
size_t tl_where_column(const char *text);

/* `rest` is what follows the column's name; it stays the caller's.  TL_EUSAGE: it is no condition for such a column.
 * tl_where_free ends it in any case. */
tl_status tl_where_init(tl_where *w, tl_result *result, const tl_field *field, const char *rest, tl_error *err);
void tl_where_free(tl_where *w);

/* Whether the row fulfils it. */
bool tl_where_holds(tl_where *w, const unsigned char *row);

/* ------------------------------------------------------------------------------------------------------------ rows */

typedef struct tl_select {
    tl_result *result;
    const tl_schema *table;
    const tl_ranges *ranks, *steps;
    const tl_field *rank, *step; /* the columns to look at; NULL where all ranks or steps are asked for */
    TL_VEC(tl_where) where;      /* conditions; a row must fulfil all */
    TL_VEC(uint32_t) columns;    /* field numbers, in the order asked for; none for all */
    const tl_field *sort;        /* NULL: rows as they stand */
    bool descending;
    const tl_field *time; /* whose sum is all of the time, for --top P%; NULL where that is not asked for */
} tl_select;

/* Resolves the names on the command line.  TL_EUSAGE: the file has no such table, or the table no such column; the
 * message lists the names that exist.  tl_select_free ends it in any case. */
tl_status tl_select_init(tl_select *select, tl_result *result, const char *table, const tl_cli *cli, tl_error *err);
void tl_select_free(tl_select *select);

/* Hands the rows asked for to `take`, in table order.  take sets *enough to end the walk; what it returns, unless TL_OK,
 * ends the walk too and is returned. */
typedef tl_status tl_take_selected(void *arg, const unsigned char *row, bool *enough, tl_error *err);
tl_status tl_select_walk(tl_select *select, tl_take_selected *take, void *arg, tl_error *err);

/* Warns that no row is of the ranks and steps asked for and fulfils the conditions. */
void tl_select_say_none(const tl_select *select);

/* ------------------------------------------------------------------------------------------------------- first rows */

/* The first N rows in the order of one column, of equals those that came first; no more than twice as many are held, or
 * 1,024.  Set those before `private`, the rest zero; the caller frees `rows`.  Rows may be packed. */
typedef struct tl_top {
    const tl_select *select;                  /* its table, the column to sort by and which way */
    size_t limit;                             /* N, at least 1 */
    void (*drop)(void *arg, const void *row); /* takes each row that is not among the first N, or no longer */
    void *drop_arg;
    /* private: */
    unsigned char *rows;
    size_t n, cap;
} tl_top;

/* Offers a row, which is copied. */
void tl_top_add(tl_top *top, const void *row);

/* Keeps the first N rows, in order: tl_top_row(top, i) for i < top->n. */
void tl_top_sort(tl_top *top);
const void *tl_top_row(const tl_top *top, size_t i);

#endif
