/* change.h - where does a series of numbers change its level?
 *
 *     |            _______
 *     |           |       |
 *     |___________|       |________       starts: 0, 11, 19
 *
 * The cut into runs that minimises the sum of distances from each run's median, plus a penalty for each run: exact, by
 * dynamic programming, O(n^2 log n).
 */
#ifndef ANALYSIS_OUTLIER_CHANGE_H
#define ANALYSIS_OUTLIER_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the first index of each run to starts[n], ascending, the first 0, and their number to *nruns (0 for n = 0). Of
 * equal costs the one with fewer and longer first runs.  False when memory is out. */
bool tl_change_points(const double *x, size_t n, double penalty, size_t *starts, size_t *nruns);

#endif
