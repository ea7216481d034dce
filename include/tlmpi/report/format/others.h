/* others.h - one row for all the kernels that a shortened list leaves out.
 *
 *     place  kind     count  total_ns  mean_ns  share  ...  name
 *         1  compute     20      4000      200    0.5       gemm
 *         -  -          340      1800      5.3    0.2       (12 others)
 *
 * Counts, times and shares are sums, the mean is total_ns / count; the row has no other value.  Shares are of the time
 * of one rank: rows of several ranks have none together.  No kernel's name begins with "(", a number and a word.
 */
#ifndef TLMPI_REPORT_FORMAT_OTHERS_H
#define TLMPI_REPORT_FORMAT_OTHERS_H

#include "tlmpi/report/format/print.h"

typedef struct tl_others {
    int64_t rows; /* number of rows left out; their sums: */
    int64_t count, total_ns;
    double share; /* NaN: of several ranks */
    int64_t rank; /* of the last row */
} tl_others;

/* Adds a row of the table, which may be packed, to the rows left out. */
void tl_others_add(tl_others *others, const tl_schema *table, const unsigned char *row);

/* Prints the rows left out, if any, as one last row. */
void tl_others_print(const tl_others *others, tl_printer *printer);

#endif
