/* chance.h - how much do ranks differ by chance, and how likely does that make one of them late?
 *
 * From numbers alone: what some members are late by in some steps.  Uses no other folder of analysis.
 */
#ifndef TLMPI_ANALYSIS_CHANCE_H
#define TLMPI_ANALYSIS_CHANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the scale of the noise in the lateness of some members: the least of three estimates, from the distance of
 * values from their member's median, from differences of neighbouring steps, and from second differences.  Levels,
 * ramps and switches are no noise: each of them enlarges only some of these estimates.  x[members * nsteps] by member,
 * NAN where a member has no value in a step; column: room for all and nsteps more, one: for nsteps. */
double tl_noise_of(const double *x, size_t members, size_t nsteps, double *column, double *one);

/* The members and steps among which a late member is sought. */
typedef struct tl_chance {
    size_t members, nsteps;
    double tries;      /* series of steps that are tested, over all roles and families */
    double largest;    /* sorts of such series (role and family): each sort has one latest member */
    double degrees;    /* degrees of freedom of the tail of a single value */
    double efficiency; /* of the noise scale: it is as sure as one from this share of all values */
} tl_chance;

/* Returns the chance that any member is late by z scales in n effective steps: Bonferroni over tries and windows. */
double tl_chance_of(const tl_chance *chance, double z, double n);

/* Returns the lateness of a member in its worst steps, `most` of them at most and none in which `up` is set, beyond its
 * own median lateness, if that is above 0.  A member that is usually early, as one of two ranks is while the other is
 * late, is not late in a step in which it is on time.  column: room for nsteps. */
double tl_worst_of(const double *x, size_t nsteps, const bool *up, size_t most, double *column);

/* Returns the chance that the largest of many stands out this far from the others.  late_ns: its lateness in nup steps;
 * worst[n]: the lateness of each of the others in its worst steps, sorted here.  If nup exceeds an occasional pause,
 * which any member may have, the k largest may stand out together, fewer than half and the largest among them: the next
 * value is r times less than the least of the k in 1 of r^(k d) cases.  Each k has the share 1 / (k (k + 1)) of the
 * allowed chance; these shares sum up to 1. */
double tl_chance_to_stand_out(const tl_chance *chance, double *worst, size_t n, size_t nup, double late_ns);

/* Returns the chance that one of the members has `own` or more of `all` events if each event is equally likely to be
 * any member's: for the member that has most, over all sorts of series. */
double tl_chance_by_turns(const tl_chance *chance, size_t own, size_t all);

/* Returns the chance that Student's t with `degrees` degrees of freedom, any real number, exceeds t. */
double tl_student_tail_of(double t, double degrees);

#endif
