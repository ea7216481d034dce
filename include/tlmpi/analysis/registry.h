/* registry.h - all analyses, and all tables of a result file.
 *
 * Answers which there are, and in which order, from what the other headers declare; whoever runs analyses knows them
 * from here alone.  May use time, work, tree, idle, match, wait and culprit.
 */
#ifndef TLMPI_ANALYSIS_REGISTRY_H
#define TLMPI_ANALYSIS_REGISTRY_H

#include "tlmpi/analysis/analysis.h"

/* In the order of the report, NULL-terminated. */
extern const tl_analysis *const tl_analyses[];

/* Every table: `rank`, which the reading itself fills, and those of the analyses.  *n is their number. */
const tl_schema *const *tl_all_schemas(size_t *n);

/* That of a table which is in a file only where it has rows; NULL: there is no such table. */
const tl_schema *tl_rare_schema(const char *name);

/* values.c: the meaning of each of the labels of an enumeration of some table, in their order, to a NULL; NULL: its table
 * explains them itself. */
const char *const *tl_values_of(const char *const *labels);

#endif
