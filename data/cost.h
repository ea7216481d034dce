/* cost.h - what a fault costs: the same job with it and without it. */
#ifndef DATA_COST_H
#define DATA_COST_H

#include "sim.h"

/* How the recorded steps went.  A step ends when its last rank has ended it; it begins where the one before ended. */
struct course {
    int64_t *step_ns;           /* by recorded step */
    int64_t start_ns;           /* when the first begins */
    int64_t wall_ns;            /* of all recorded steps */
};

/* False when memory is out.  course_free ends it in any case. */
bool course_of(const struct sim *sim, struct course *course);
void course_free(struct course *course);

/* Without the fault.  False when memory is out. */
bool healthy_course(const struct job *job, struct course *course);

/* Recorded steps in which the fault acts. */
int affected_steps(const struct job *job);

/* What the fault costs of each step that it acts in, as a part of a step without it: 0.05 = 5 %. */
double cost_share(const struct job *job, const struct course *with, const struct course *without);

/* Sets fault.ns so that the fault costs that part of a step, as nearly as can be.  False when memory is out. */
bool seek_cost(struct job *job, double share, const struct course *without);

#endif
