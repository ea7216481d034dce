/* registry.h - all analyses, and all tables of a result file. */
#ifndef TLMPI_ANALYSIS_REGISTRY_H
#define TLMPI_ANALYSIS_REGISTRY_H

#include "tlmpi/analysis/analysis.h"

/* In the order of the report, NULL-terminated. */
extern const tl_analysis *const tl_analyses[];

/* Every table: `rank`, which the reading itself fills, and those of the analyses.  *n is their number. */
const tl_schema *const *tl_all_schemas(size_t *n);

#endif
