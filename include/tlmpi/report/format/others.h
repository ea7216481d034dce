/* others.h - what a list of kernels, cut short, leaves out, as one row.
 *
 *     place  kind     count  total_ns  mean_ns  std_ns  ...  name
 *         1  compute     20      4000      200      12       gemm
 *         -  -          340      1800      5.3     2.1       (12 others)
 *
 * What is known of all their runs together is computed from what is known of each: counts and sums are sums, the mean is
 * the sum / the count, the deviation that of all runs around that mean.  Quartiles are not known.  The row has no place,
 * and a name that is none: no kernel's name begins with "(", a number and a word.
 */
#ifndef TLMPI_REPORT_FORMAT_OTHERS_H
#define TLMPI_REPORT_FORMAT_OTHERS_H

#include "tlmpi/report/format/print.h"

/* tl_others_init begins it. */
typedef struct tl_others {
    const tl_schema *table;
    int64_t rows, count, total_ns, least_ns, most_ns;
    double share;
    double runs, mean_ns, squares; /* of the runs so far: how many, their mean, squared distances from it */
    unsigned char *first;          /* row: NULL before the first */
    bool one_rank, one_kind, one_class;
} tl_others;

/* Of a table with columns count and total_ns, and what is there of mean_ns, std_ns, min_ns, max_ns, share, rank, kind,
 * unclassified, name; any other is not known. */
void tl_others_init(tl_others *others, const tl_schema *table);

/* Another row, which may be packed, is left out. */
void tl_others_add(tl_others *others, const unsigned char *row);

/* Prints them, where there are any, as the last row.  False: as tl_print_rows. */
bool tl_others_print(const tl_others *others, tl_printer *printer);

void tl_others_free(tl_others *others);

#endif
