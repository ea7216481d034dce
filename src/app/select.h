/* select.h - the selection of rows and columns of a table, a walk over the selected rows, and the first of them in an
 * order.
 *
 * A condition as a user writes it: kind=comm, duration_ns>1ms, name~AllReduce.
 *
 *     COLUMN = VALUE, !=    equal or not, cell by cell; without VALUE: cells without a value, or with one
 *     COLUMN < VALUE, <=, >, >=   numbers and times; ns also as 1.5us, 20ms, 1s, a share as 5%
 *     COLUMN ~ PATTERN, !~  words: an extended regular expression matches a part of them, or does not
 *
 * A cell without a value fulfils no condition other than the one for such cells.
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
    unsigned orders; /* of numbers: bits of the orders that fulfil the condition: 1 below the value, 2 equal, 4 above */
    bool finds;      /* of words: a pattern */
    bool wanted;     /* of words: true for = and ~, false for != and !~ */
    bool none;       /* the condition is on cells without a value */
    int64_t number;  /* value for integers, times and labels */
    double real;
    const char *text; /* value on the command line */
    regex_t pattern;  /* valid if has_pattern */
    bool has_pattern;
    tl_result *result;  /* has the names */
    signed char *known; /* by name: 0 not examined yet, 1 fulfils the condition, -1 does not */
    tl_bytes copy;      /* buffer for a text, with a 0, for regexec */
} tl_where;

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Rows [first, first + n) of the table. */
typedef struct tl_select_span {
    uint64_t first, n;
} tl_select_span;

typedef struct tl_select {
    tl_result *result;
    const tl_schema *table;
    const tl_ranges *ranks, *steps;
    const tl_field *rank, *step; /* columns to filter by; NULL: all ranks or steps are selected */
    TL_VEC(tl_where) where;      /* conditions; a row must fulfil all */
    TL_VEC(uint32_t) columns;    /* field numbers, in the order selected; empty: all */
    const tl_field *sort;        /* NULL: rows in table order */
    bool descending;
    const tl_field *time;         /* the column whose sum is the whole time, for --top P%; NULL: not requested */
    TL_VEC(tl_select_span) spans; /* private: where rows that are asked for may stand */
} tl_select;

/* Resolves the names on the command line.  TL_EUSAGE: the file has no such table, or the table no such column; the
 * message lists the existing names.  tl_select_free ends it in any case. */
tl_status tl_select_init(tl_select *select, tl_result *result, const char *table, const tl_cli *cli, tl_error *err);
void tl_select_free(tl_select *select);

/* Hands the rows asked for to `take`, in table order.  take sets *enough to end the walk; what it returns, unless
 * TL_OK, ends the walk too and is returned. */
typedef tl_status tl_take_selected(void *arg, const unsigned char *row, bool *enough, tl_error *err);
tl_status tl_select_walk(tl_select *select, tl_take_selected *take, void *arg, tl_error *err);

#endif
