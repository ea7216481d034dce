/* path_tables.c - the schemas of path_tables.h, and the words of their enumeration. */
#include "tlmpi/model/path_tables.h"

const char *const tl_bound_labels[] = { TL_BOUND_VALUES(TL_VALUE_LABEL) NULL };

TL_TABLE_DEFINE(path_sum, TL_PATH_SUM_FIELDS, TL_SCOPE_JOB, "critical path of each rank",
                "By what was the time of each rank bound, step by step?");
TL_TABLE_DEFINE_RARE_AS(rank_path_row, "path", TL_RANK_PATH_FIELDS, TL_SCOPE_JOB,
                        "critical path of each rank, piece by piece",
                        "What was each rank's time bound by, instant by instant?");
