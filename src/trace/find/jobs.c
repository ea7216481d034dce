/* jobs.c - which traces that know their rank are of one job.
 *
 * Traces that tell the world size come first: each joins the job that it does not contradict, or begins a new one.
 * The other traces then join the nearest job in time that they do not contradict.
 */
#include "decide.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

typedef struct jobs {
    tl_common *v;
    size_t n;
    tl_map groups;
} jobs;

static int by_job_and_time(const void *a, const void *b)
{
    const tl_input *x = *(tl_input *const *)a, *y = *(tl_input *const *)b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Whether the trace may be of the job.  One that does not tell the world size has to be of its time, too. */
static bool may_be_of(const jobs *j, const tl_common *job, const tl_input *t)
{
    return !tl_common_contradicts(job, &j->groups, t) &&
           (t->world_size >= 0 || job->world_size < 0 || !tl_common_is_far(job, t));
}

static void place(jobs *j, tl_input *t)
{
    size_t nearest = j->n;

    for (size_t k = 0; k < j->n; k++)
        if (may_be_of(j, &j->v[k], t) &&
            (nearest == j->n || tl_common_distance(&j->v[k], t) < tl_common_distance(&j->v[nearest], t)))
            nearest = k;
    if (nearest == j->n) {
        j->v[j->n] = TL_COMMON(j->n);
        j->n++;
    }
    t->job = (int32_t)nearest;
    tl_common_add(&j->v[nearest], &j->groups, t);
}

void tl_jobs_part(tl_input **known, size_t n)
{
    jobs j = { .v = tl_calloc(n + 1, sizeof *j.v) };

    for (size_t i = 0; i < n; i++)
        if (known[i]->world_size >= 0)
            place(&j, known[i]);
    for (size_t i = 0; i < n; i++)
        if (known[i]->world_size < 0)
            place(&j, known[i]);
    if (n > 0)
        qsort(known, n, sizeof *known, by_job_and_time);
    tl_map_free(&j.groups);
    free(j.v);
}
