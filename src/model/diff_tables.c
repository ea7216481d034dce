/* diff_tables.c - the schemas of diff_tables.h, and the words of their enums. */
#include "tlmpi/model/diff_tables.h"

TL_LABELS_DEFINE(diff_part, TL_DIFF_PART_VALUES);
TL_LABELS_DEFINE(diff_change, TL_DIFF_CHANGE_VALUES);

TL_TABLE_DEFINE_AS(diff_found, "diff", TL_DIFF_FOUND_FIELDS, TL_SCOPE_JOB, "two runs compared",
                   "Is the second run slower or faster than the first, and what makes it so?");
TL_TABLE_DEFINE(diff_run, TL_DIFF_RUN_FIELDS, TL_SCOPE_JOB, "what two runs are",
                "How do two runs differ apart from their times, and what does the comparison rest on?");
TL_TABLE_DEFINE(diff_step, TL_DIFF_STEP_FIELDS, TL_SCOPE_JOB, "two runs: parts of the step",
                "Which parts of a step make up the difference of its time?");
TL_TABLE_DEFINE(diff_breakdown, TL_DIFF_BREAKDOWN_FIELDS, TL_SCOPE_JOB, "two runs: parts of the step by rank",
                "Which ranks spend more or less time, and on what?");
TL_TABLE_DEFINE(diff_kernel, TL_DIFF_WORK_FIELDS, TL_SCOPE_JOB, "two runs: device work by name",
                "Which kernels, copies and memsets are new, gone or replaced, and which take longer?");

/* Tables that have the columns of diff_kernel. */
#define AS_KERNEL(table, title, question)                                                                              \
    const tl_schema tl_##table##_schema = { #table,                                                                    \
                                            title,                                                                     \
                                            question,                                                                  \
                                            TL_SCOPE_JOB,                                                              \
                                            tl_diff_kernel_fields,                                                     \
                                            sizeof tl_diff_kernel_fields / sizeof tl_diff_kernel_fields[0],            \
                                            sizeof(tl_diff_kernel),                                                    \
                                            false }
AS_KERNEL(diff_operator, "two runs: operators",
          "Which operators are new, gone or replaced, and which take the host longer?");
AS_KERNEL(diff_call_path, "two runs: call trees merged",
          "On which call paths did the work on the device change?");
AS_KERNEL(diff_collective, "two runs: collectives", "Which collectives wait or transfer for longer?");
AS_KERNEL(diff_idle, "two runs: idle time by its reasons", "For which reason are devices idle for longer?");
