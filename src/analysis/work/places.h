/* places.h - rows by name in the order of their time. */
#ifndef ANALYSIS_WORK_PLACES_H
#define ANALYSIS_WORK_PLACES_H

#include "tlmpi/model/names.h"
#include "tlmpi/model/table.h"

/* Sorts the named rows of a rank, from `first` on, and numbers them from 1 in column place: descending by one or two
 * measures (I64 columns, ended by NULL), then by name, no name last, then by kind where the table has one. */
void tl_places_number(tl_table *table, size_t first, const tl_names *names, const char *const *measures);

#endif
