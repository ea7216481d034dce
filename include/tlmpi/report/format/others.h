/* others.h - one row for all the kernels that a shortened list leaves out.
 *
 *     place  kind     count  total_ns  mean_ns  std_ns  ...  name
 *         1  compute     20      4000      200      12       gemm
 *         -  -          340      1800      5.3     2.1       (12 others)
 *
 * The values of the row are computed from the values of the rows left out: counts and sums are sums, the mean is the
 * sum / the count, the deviation is over all runs around that mean.  Quartiles are not known.  The row has no place,
 * and its name is no kernel's: no kernel's name begins with "(", a number and a word.
 */
#ifndef TLMPI_REPORT_FORMAT_OTHERS_H
#define TLMPI_REPORT_FORMAT_OTHERS_H

#include "tlmpi/report/format/print.h"

/* Begun by tl_others_init. */
typedef struct tl_others {
    const tl_schema *table;
    int64_t rows;                  /* number of rows left out */
    unsigned char *row;            /* owned: their sums */
    bool *blank;                   /* owned, by column: the row has no value */
    double runs, mean_ns, squares; /* of the runs added: their number, mean, and sum of squared distances from the
                                    * mean */
} tl_others;

/* Begins a row of a table with columns count and total_ns.  The row has mean_ns, std_ns, min_ns, max_ns, share,
 * rank, kind, unclassified and name where the table does; any other column is not known. */
void tl_others_init(tl_others *others, const tl_schema *table);

/* Adds a row, which may be packed, to the rows left out. */
void tl_others_add(tl_others *others, const unsigned char *row);

/* Prints the rows left out, if any, as one last row. */
void tl_others_print(const tl_others *others, tl_printer *printer);

void tl_others_free(tl_others *others);

#endif
