/* where.h - a condition on a column, as a user writes it: kind=comm, duration_ns>1ms, name~AllReduce.
 *
 *     COLUMN = VALUE, !=    equal or not, cell by cell; no VALUE: the cells that hold none, or some
 *     COLUMN < VALUE, <=, >, >=   numbers and times; of ns also as 1.5us, 20ms, 1s, of a share as 5%
 *     COLUMN ~ PATTERN, !~  words: what an extended regular expression finds anywhere in them, or not
 *
 * A cell without a value fulfils no condition but that it holds none.
 */
#ifndef TLMPI_APP_WHERE_H
#define TLMPI_APP_WHERE_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/status.h"
#include "tlmpi/store/result.h"
#include <regex.h>

typedef enum tl_where_test {
    TL_IS, TL_IS_NOT, TL_BELOW, TL_AT_MOST, TL_ABOVE, TL_AT_LEAST, TL_FINDS, TL_FINDS_NOT
} tl_where_test;

typedef struct tl_where {
    const tl_field *field;
    tl_where_test test;
    bool none;           /* it asks for the cells without a value, or for those with one */
    int64_t number;      /* of integers, times and labels */
    double real;
    const char *text;    /* of the command line */
    regex_t pattern;     /* where has_pattern */
    bool has_pattern;
    tl_result *result;   /* has the names */
    signed char *known;  /* by name: 0 not asked yet, 1 holds, -1 does not */
    tl_bytes copy;       /* of a text that a pattern is looked for in */
} tl_where;

/* The length of the column's name with which the text begins. */
size_t tl_where_column(const char *text);

/* `rest` is what follows the column's name; it stays the caller's.  TL_EUSAGE: it is no condition for such a column.
 * tl_where_free ends it in any case. */
tl_status tl_where_init(tl_where *w, tl_result *result, const tl_field *field, const char *rest, tl_error *err);
void tl_where_free(tl_where *w);

/* Whether the row fulfils it; *st is TL_ENOMEM when memory is out. */
bool tl_where_holds(tl_where *w, const unsigned char *row);

#endif
