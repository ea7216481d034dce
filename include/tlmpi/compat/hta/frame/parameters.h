/* parameters.h - what HTA's functions take, under its names.  Of several functions that take one of the same name it is
 * that of the tables named here; the rest has HTA's default. */
#ifndef TLMPI_COMPAT_HTA_FRAME_PARAMETERS_H
#define TLMPI_COMPAT_HTA_FRAME_PARAMETERS_H

#include "tlmpi/base/ranges.h"

typedef struct tl_hta_parameters {
    /* kernel_breakdown_default: names of a class that keep a line of their own; and of the running totals of their
     * times the quantile above which names are others. */
    int64_t num_kernels;
    double duration_ratio;

    int64_t consecutive_kernel_delay;            /* idle_time_breakdown, idle_interval_stats: us */
    int64_t runtime_cutoff, launch_delay_cutoff; /* launch_stats_summary: us */
    int64_t max_queue_length;                    /* time_blocked_on_full_queue; 0: three of them */

    /* potential_stragglers: how many, and of which steps; without a range of all. */
    int64_t num_candidates;
    tl_ranges profiler_steps;

    /* frequent_patterns, patterns_overlay: an operator; NULL: some that are common, and of those a length of 1, too. */
    const char *operator_name;
    int64_t min_pattern_len, top_k;
} tl_hta_parameters;

/* HTA's own. */
extern const tl_hta_parameters tl_hta_defaults;

#endif
