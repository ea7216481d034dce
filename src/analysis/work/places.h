/* places.h - rows by name in the order of their time. */
#ifndef ANALYSIS_WORK_PLACES_H
#define ANALYSIS_WORK_PLACES_H

#include "tlmpi/model/names.h"
#include "tlmpi/model/table.h"

/* Puts the rows of a rank, which are those from `first` on and have a name, in order, and numbers them from 1 in column
 * place: those with the most of a measure, an I64, come first; of equals those with the most of the next one, then the
 * first by name, one without a name last, then by kind where there is one.  There are one or two measures and a NULL.
 */
void tl_places_number(tl_table *table, size_t first, const tl_names *names, const char *const *measures);

#endif
