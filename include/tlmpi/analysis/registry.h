/* registry.h - all analyses, and all tables of a result file.
 *
 * Lists all analyses and tables, in order, from the declarations in the other headers; code that runs analyses knows
 * them from this header alone.  May use time, work, tree, idle, match, wait and culprit.
 */
#ifndef TLMPI_ANALYSIS_REGISTRY_H
#define TLMPI_ANALYSIS_REGISTRY_H

#include "tlmpi/analysis/analysis.h"

/* In the order of the report, NULL-terminated. */
extern const tl_analysis *const tl_analyses[];

/* Every table: `rank`, which the reading itself fills, and the tables of the analyses.  *n is their number. */
const tl_schema *const *tl_all_schemas(size_t *n);

/* Returns what a table or its index is about, as "verdict" or "idle", and sets *place to where it stands in the order
 * of tl_all_schemas, which is by that; "" and SIZE_MAX: there is no such table. */
const char *tl_table_about(const char *name, size_t *place);

/* Returns the schema of a table that is in a file only if it has rows; NULL: there is no such table. */
const tl_schema *tl_rare_schema(const char *name);

#endif
