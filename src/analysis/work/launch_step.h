/* launch_step.h - what one launch cost, and those of each step together. */
#ifndef ANALYSIS_WORK_LAUNCH_STEP_H
#define ANALYSIS_WORK_LAUNCH_STEP_H

#include "tlmpi/analysis/config.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"

typedef struct tl_call_cost {
    int64_t host_ns, delay_ns;
    bool is_short, is_slow, is_late; /* by the thresholds */
} tl_call_cost;

/* Returns the cost of a call whose work takes device_ns in all and begins at first_ns. */
static inline tl_call_cost tl_call_cost_of(const tl_launch *call, int64_t device_ns, int64_t first_ns,
                                           const tl_launch_config *c)
{
    int64_t host_ns = call->end_ns - call->start_ns, delay_ns = tl_ns_max(tl_ns_between(first_ns, call->end_ns), 0);
    return (tl_call_cost){ host_ns, delay_ns, host_ns <= c->runtime_ns && device_ns<host_ns, host_ns> c->runtime_ns,
                           delay_ns > c->delay_ns };
}

/* Adds a row for each step of the rank, and for the calls that are in none; device_ns, first_ns: by launch. */
void tl_launch_steps_add(const tl_rank_view *view, const tl_launch_config *config, const int64_t *device_ns,
                         const int64_t *first_ns, tl_table *table);

#endif
