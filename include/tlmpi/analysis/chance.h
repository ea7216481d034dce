/* chance.h - how much do ranks differ by chance, and how likely does that make one of them late?
 *
 * From numbers alone: what some members are late by in some steps.  Uses no other folder of analysis.
 */
#ifndef TLMPI_ANALYSIS_CHANCE_H
#define TLMPI_ANALYSIS_CHANCE_H

#include <stdbool.h>
#include <stddef.h>

/* The noise of what some members are late by: the least of what they scatter by around their middles, and of what
 * neighbouring steps differ by; each is as large as noise, and larger where levels, ramps or switches are in it, which
 * are none.  x[members * nsteps] by member, NAN where a member has no value in a step; column: room for all and nsteps
 * more, one: for nsteps. */
double tl_noise_of(const double *x, size_t members, size_t nsteps, double *column, double *one);

/* Among whom somebody is late. */
typedef struct tl_chance {
    size_t members, nsteps;
    double tries;      /* series of steps that are looked at, in all roles and families */
    double largest;    /* sorts of them: each has one that is later than all others */
    double degrees;    /* of the tail of a single value */
    double efficiency; /* of the noise: it is as sure as one from so much of all values */
} tl_chance;

/* How likely any of them would be late by z scales in as good as n steps: Bonferroni over tries and windows. */
double tl_chance_of(const tl_chance *chance, double z, double n);

/* What a member is late by in its worst steps, no more than `most` of them, in which `up` is not, beyond what it
 * usually is: one that usually is early, as the other one of two is when its peer is late, is not late where it is
 * not.  column: room for nsteps. */
double tl_worst_of(const double *x, size_t nsteps, const bool *up, size_t most, double *column);

/* How often the largest of many would stand out so from the others: late_ns in nup steps; worst[n]: what each of the
 * others is late by in its worst steps, sorted here.  Or, where that is more than a pause now and then, which any may
 * have, the k largest, fewer than half, it among them: the next is r times less than the least of these in 1 of r^(k d)
 * cases; the tries with k are one of k (k + 1), which sums up to all of them. */
double tl_chance_to_stand_out(const tl_chance *chance, double *worst, size_t n, size_t nup, double late_ns);

/* The chance that one of the members has `own` or more of `all` events, when each is as likely to be any member's: told of
 * the member that has most, in whichever sort of series. */
double tl_chance_by_turns(const tl_chance *chance, size_t own, size_t all);

/* How likely Student's t with so many degrees of freedom, which need not be whole, is larger than t. */
double tl_student_tail_of(double t, double degrees);

#endif
