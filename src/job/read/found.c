/* found.c - what there is of steps and of time, in words. */
#include "tlmpi/base/stats.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/report/format/words.h"
#include <stdio.h>

void tl_found_words(const tl_found *found, const tl_selection *selection, char *out, size_t n)
{
    char steps[80] = "no steps";
    size_t used = 0;

    *out = '\0';
    if (found->steps.n > 0) {
        size_t named = (size_t)snprintf(steps, sizeof steps, "steps ");
        tl_ranges_text(&found->steps, steps + named, sizeof steps - named);
    }
    if (selection->steps->n > 0)
        used = (size_t)snprintf(out, n, "%s%s", steps, selection->times->n > 0 ? "; " : "");
    if (selection->times->n > 0 && used < n)
        snprintf(out + used, n - used, "events from %.6g to %.6g ms",
                 (double)tl_ns_between(found->first_ns, selection->origin_ns) / 1e6,
                 (double)tl_ns_between(found->last_ns, selection->origin_ns) / 1e6);
}
