/* chance.h - the noise in the lateness of ranks, and the chance that noise alone makes a rank that late.
 *
 * Input is numbers alone: the lateness of members in steps.  Uses no other folder of analysis.
 */
#ifndef TLMPI_ANALYSIS_CHANCE_H
#define TLMPI_ANALYSIS_CHANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the standard deviation of the noise in the lateness of some members: the least of three estimates, from
 * distances to the member's median, from differences of neighbouring steps, and from second differences.  Levels, ramps
 * and switches are not noise; each enlarges only some of these estimates.  x[members * nsteps] by member, NAN if a
 * member has no value in a step.  column: room for all values and nsteps more; one: room for nsteps. */
double tl_noise_of(const double *x, size_t members, size_t nsteps, double *column, double *one);

/* Returns the degrees of freedom of Student's t that is no lighter in the tail than these members' lateness: excess
 * kurtosis is 6 / (degrees - 4), and its upper bound is taken.  The member with the heaviest tail is left out, as it
 * may be late.  At least TL_TAIL_DEGREES.  x[members * nsteps] as above; column: room for nsteps. */
double tl_tail_degrees_of(const double *x, size_t members, size_t nsteps, double *column);

/* The members and steps among which a late member is searched. */
typedef struct tl_chance {
    size_t members, nsteps;
    double tries;   /* number of tested series of steps, over all roles and families */
    double largest; /* number of sorts of such series (role and family); each sort has one latest member */
    double degrees; /* degrees of freedom of the tail of a single value */
} tl_chance;

/* Returns the chance that any member is late by z standard deviations in n effective steps: Bonferroni correction over
 * tries and windows of steps. */
double tl_chance_of(const tl_chance *chance, double z, double n);

/* Returns the lateness of a member, beyond its own median lateness if that is above 0, summed over its `most` worst
 * steps; steps with up[step] do not count.  A member that is usually early (one of two ranks is early while the other
 * is late) is not late in a step in which it is on time.  column: room for nsteps. */
double tl_worst_of(const double *x, size_t nsteps, const bool *up, size_t most, double *column);

/* Returns the chance that the largest of many values stands out by this ratio.  late_ns: the largest, a member's
 * lateness in nup steps; worst[n]: the lateness of each other member in its worst steps; sorted here.  If nup is
 * TL_MEDIAN_LEAST or more, the k largest may stand out together, k less than half of the members: the next value is r
 * times less than the least of the k with chance r^-(k d).  Each k has the share 1 / (k (k + 1)) of the allowed chance;
 * the shares sum up to 1. */
double tl_chance_to_stand_out(const tl_chance *chance, double *worst, size_t n, size_t nup, double late_ns);

/* Returns the chance that some member has at least `own` of `all` events if each event hits any member with equal
 * chance; multiplied by the number of sorts of series. */
double tl_chance_by_turns(const tl_chance *chance, size_t own, size_t all);

/* Returns the chance that Student's t with `degrees` degrees of freedom (any positive real number) exceeds t. */
double tl_student_tail_of(double t, double degrees);

#endif
