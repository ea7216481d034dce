/* culprit_table.c - the schema of culprit_table.h, and the words for who it is. */
#include "tlmpi/model/culprit_table.h"

const char *const tl_culprit_kind_labels[] = {
    [TL_CULPRIT_RANK] = "rank",
    [TL_CULPRIT_HOST] = "host",
    [TL_CULPRIT_SEVERAL] = "several",
    [TL_CULPRIT_LINK] = "link",
    [TL_CULPRIT_NOBODY] = "none",
    [TL_CULPRIT_INCONCLUSIVE] = "inconclusive",
    [TL_CULPRIT_UNMATCHED] = "unmatched",
    [TL_CULPRIT_SILENCE] = "no_communication",
    [TL_CULPRIT_ONE_RANK] = "one_rank",
    [TL_CULPRIT_NO_WORK] = "no_device_work",
    NULL,
};

TL_TABLE_DEFINE(
    culprit, TL_CULPRIT_FIELDS, TL_SCOPE_JOB, "who holds the job up",
    "Which rank, host, link, or which ranks together, in which steps, why, at what cost, and how sure is that?");
