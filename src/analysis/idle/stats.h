/* stats.h - what is to be said of the lengths of gaps. */
#ifndef ANALYSIS_IDLE_STATS_H
#define ANALYSIS_IDLE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Zeros where n is 0; the mean is rounded, and so is, upwards, the median of an even count, the mean of the middle two.
 */
typedef struct tl_idle_stats {
    int64_t total_ns, mean_ns, min_ns, max_ns, median_ns;
} tl_idle_stats;

/* None of v is negative; it has other values afterwards. */
tl_idle_stats tl_idle_measure(int64_t *v, size_t n);

/* The standard deviation, divided by n, rounded. */
int64_t tl_idle_deviation(const int64_t *v, size_t n);

/* 100 part / whole; NaN where whole is 0. */
double tl_idle_pct(int64_t part, int64_t whole);

#endif
