/* idle_stats.h - what is to be said of the lengths of gaps. */
#ifndef TLMPI_ANALYSIS_IDLE_STATS_H
#define TLMPI_ANALYSIS_IDLE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Zeros where n is 0; means are rounded. */
typedef struct tl_idle_stats {
    int64_t total_ns, mean_ns, min_ns, max_ns;
} tl_idle_stats;

tl_idle_stats tl_idle_measure(const int64_t *v, size_t n);

/* The median, of an even count the mean of the middle two, rounded up; and the standard deviation, divided by n.  None
 * of v is negative. */
int64_t tl_idle_median(const int64_t *v, size_t n);
int64_t tl_idle_deviation(const int64_t *v, size_t n);

/* 100 part / whole; NaN where whole is 0. */
double tl_idle_pct(int64_t part, int64_t whole);

#endif
