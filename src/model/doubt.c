/* doubt.c - the words for confidence and doubts, one by one and as a set. */
#include "tlmpi/model/doubt.h"
#include <string.h>

const char *const tl_confidence_labels[] = { "high", "medium", "low", NULL };

const char *const tl_doubt_labels[] = {
    [TL_DOUBT_ONE_STEP] = "one_step",
    [TL_DOUBT_FEW_STEPS] = "few_steps",
    [TL_DOUBT_CHANCE] = "chance",
    [TL_DOUBT_ELSEWHERE] = "gain_in_other_steps",
    [TL_DOUBT_HARDLY_MATCHED] = "hardly_matched",
    [TL_DOUBT_COMM_UNKNOWN] = "communication_unknown",
    [TL_DOUBT_OUTSIDE] = "outside_steps",
    [TL_DOUBT_CLOCKS] = "clocks",
    [TL_DOUBT_HIDDEN] = "waits_hidden",
    [TL_DOUBT_MISSING] = "ranks_missing",
    [TL_DOUBT_DAMAGED] = "traces_damaged",
    [TL_DOUBT_UNTIMED] = "events_without_duration",
    [TL_DOUBT_SIZES] = "sizes_differ",
    [TL_DOUBT_DUPLICATES] = "duplicate_ranks",
    [TL_DOUBT_NO_WORK] = "ranks_without_device_work",
    [TL_DOUBT_NO_LAUNCHES] = "ranks_without_launches",
    [TL_DOUBT_LOST] = "work_lost",
    [TL_DOUBT_TAKEN] = "unnamed_comm",
    [TL_DOUBT_UNMARKED] = "steps_unmarked",
    [TL_DOUBT_FOLLOWING] = "steps_of_others",
    [TL_DOUBT_NOT_REPLAYED] = "not_replayed",
    [TL_DOUBT_GAIN] = "gain_unlike_wait",
    [TL_DOUBT_UNEXPLAINED] = "unexplained",
    [TL_DOUBT_EXCESS] = "excess",
    [TL_DOUBT_ENDS] = "ends_unknown",
    [TL_DOUBT_OTHER_STAGES] = "other_stages",
    [TL_DOUBT_HALF] = "half_of_ranks",
    [TL_DOUBT_MIXED] = "mixed_cause",
    [TL_DOUBT_UNKNOWN] = "unknown_cause",
    [TL_DOUBT_NO_PLACE] = "no_place",
    [TL_DOUBT_CHARGES] = "other_charges",
    [TL_DOUBT_NO_VERDICT] = "no_verdict",
    NULL,
};

void tl_doubts_text(unsigned doubts, char *cell, size_t size)
{
    size_t used = 0;

    memset(cell, 0, size);
    for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++) {
        size_t n = strlen(tl_doubt_labels[doubt]), gap = used > 0;
        if ((doubts & 1u << doubt) == 0 || used + gap + n > size)
            continue;
        if (gap > 0)
            cell[used++] = ' ';
        memcpy(cell + used, tl_doubt_labels[doubt], n);
        used += n;
    }
}

unsigned tl_doubts_of_text(const char *cell, size_t size)
{
    unsigned doubts = 0;

    size = strnlen(cell, size);
    for (size_t at = 0, n; at < size; at += n + 1) {
        const char *end = memchr(cell + at, ' ', size - at);
        n = end != NULL ? (size_t)(end - (cell + at)) : size - at;
        for (unsigned doubt = 0; doubt < TL_NDOUBTS; doubt++)
            if (strlen(tl_doubt_labels[doubt]) == n && memcmp(tl_doubt_labels[doubt], cell + at, n) == 0)
                doubts |= 1u << doubt;
    }
    return doubts;
}
