/* view.c - looking things up in the view of a rank. */
#include "tlmpi/model/view.h"

int32_t tl_step_at(const tl_step_window *steps, size_t n, int64_t at_ns)
{
    size_t low = 0, high = n;
    while (low < high) { /* the first step that starts after the instant */
        size_t mid = low + (high - low) / 2;
        if (steps[mid].start_ns <= at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && at_ns < steps[low - 1].end_ns ? steps[low - 1].number : -1;
}
