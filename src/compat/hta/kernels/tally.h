/* tally.h - durations by name, with HTA's statistics of them. */
#ifndef COMPAT_HTA_KERNELS_TALLY_H
#define COMPAT_HTA_KERNELS_TALLY_H

#include "tlmpi/compat/hta/frame/job.h"

typedef struct tl_hta_tally {
    const tl_hta_frame *frame;
    tl_text name; /* of the symbols, or "others" */
    double sum, max, min, mean;
    double std; /* 0 of a single one */
} tl_hta_tally;

/* Zero-initialise; free(tallies.v) ends it. */
typedef TL_VEC(tl_hta_tally) tl_hta_tallies;

/* Which rows: those on a stream that are of a class, or those of a category. */
typedef struct tl_hta_choice {
    const tl_hta_symbols *symbols;
    bool by_class;
    tl_hta_class class;
    uint32_t cat; /* a symbol */
} tl_hta_choice;

/* What becomes "others" where there are more names than names_max. */
typedef struct tl_hta_rest {
    size_t names_max;
    double quantile; /* of the running totals */
} tl_hta_rest;

/* Appends the names of the rank's rows in the order of their texts.  Where there are more than rest->names_max, the names
 * that make up the rest become one, "others"; and the statistics of every name become those of its sum. */
void tl_hta_tally_rank(tl_hta_tallies *out, const tl_hta_frame *frame, const tl_hta_choice *choice,
                       const tl_hta_rest *rest);

/* name, sum, max, min, standard deviation and mean. */
#define TL_HTA_TALLY_HEADER "name,sum (us),max (us),min (us),stddev,mean (us)"
void tl_hta_tally_cells(tl_csv *csv, const tl_hta_tally *tally);

#endif
