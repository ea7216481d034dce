/* cost.c - courses of a job, compared. */
#include "cost.h"
#include "fault.h"
#include "chance.h"
#include <math.h>
#include <stdlib.h>

bool course_of(const struct sim *sim, struct course *course)
{
    const struct job *job = sim_job(sim);
    size_t n = (size_t)all_steps(job), warmup = (size_t)job->warmup;
    int64_t *ends = malloc((n + 1) * sizeof *ends);

    course->step_ns = malloc((size_t)job->steps * sizeof *course->step_ns);
    if (ends == NULL || course->step_ns == NULL) {
        free(ends);
        return false;
    }
    ends[0] = JOB_START_NS + 50 * MS;
    sim_step_ends(sim, ends + 1);
    for (size_t i = warmup; i < n; i++)
        course->step_ns[i - warmup] = ends[i + 1] - ends[i];
    course->start_ns = ends[warmup];
    course->wall_ns = ends[n] - ends[warmup];
    free(ends);
    return true;
}

void course_free(struct course *course)
{
    free(course->step_ns);
    *course = (struct course){ 0 };
}

static bool simulated_course(const struct job *job, struct course *course)
{
    struct sim *sim = sim_new(job);
    bool ok = sim != NULL && course_of(sim, course);
    sim_free(sim);
    return ok;
}

bool healthy_course(const struct job *job, struct course *course)
{
    struct job healthy = *job;
    healthy.fault.rank = -1;
    return simulated_course(&healthy, course);
}

int affected_steps(const struct job *job)
{
    int n = 0;
    for (int i = job->warmup; i < all_steps(job); i++)
        n += fault_step_ns(job, i) > 0;
    return n;
}

double cost_share(const struct job *job, const struct course *with, const struct course *without)
{
    int n = affected_steps(job);
    double step_ns = (double)without->wall_ns / job->steps;
    return n > 0 ? (double)(with->wall_ns - without->wall_ns) / n / step_ns : 0;
}

/* The cost grows with the size, but only from where nothing hides it any more: while there is next to no cost the size
 * is doubled, and then corrected by what is missing. */
bool seek_cost(struct job *job, double share, const struct course *without)
{
    double step_ns = (double)without->wall_ns / job->steps, slope = 1, before = 0, size_before = 0;

    job->fault.ns = llround(share * step_ns);
    for (int i = 0; i < 24; i++) {
        struct course with = { 0 };
        double size = (double)job->fault.ns;
        bool ok = simulated_course(job, &with);
        double cost = ok ? cost_share(job, &with, without) : 0;
        course_free(&with);
        if (!ok)
            return false;
        if (fabs(cost - share) < 0.02 * share)
            break;
        if (cost < 0.2 * share) {
            job->fault.ns = llround(2 * size);
            continue;
        }
        if (before > 0 && size != size_before && cost != before)
            slope = fmin(fmax((cost - before) * step_ns / (size - size_before), 0.3), 3);
        before = cost;
        size_before = size;
        job->fault.ns = llround(fmax(size + (share - cost) * step_ns / slope, fmax(size / 4, 1000)));
    }
    return true;
}
