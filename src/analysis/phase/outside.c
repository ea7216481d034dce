/* outside.c - late for something that no phase covers: what its phases do not tell of how late a rank came to a step. */
#include "tlmpi/analysis/phase.h"
#include "tlmpi/base/stats.h"

void tl_phase_arrive(tl_phase_arrival *arrival, const tl_phase_step *row, tl_phase_holds holds, bool alone)
{
    arrival->phases += !alone;
    arrival->longer_ns = tl_ns_sum(arrival->longer_ns, tl_ns_max(0, row->excess_ns));
    bool may_level = holds != TL_HOLDS_NONE && row->wait_ns < 0 && !alone;
    if (may_level && -row->excess_ns > arrival->late_ns)
        arrival->late_ns = -row->excess_ns;
}

int64_t tl_phase_outside_ns(const tl_phase_arrival *arrival, int64_t before_ns)
{
    return tl_ns_sum(arrival->late_ns, -tl_ns_sum(arrival->longer_ns, before_ns));
}
